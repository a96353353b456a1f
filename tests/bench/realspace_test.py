"""realspace_test.py REALSPACE REALSPACE_MPI FAB_RUN LAUNCHER...: energies on all numbers of ranks, states against what
is known of them, motion in time, checkpoints, what the programs refuse, and which libraries they are linked with."""

import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOLECULES = ROOT / "bench" / "apps" / "realspace"
TIME_LIMIT_S = 60 * int(os.environ.get("TEST_TIME_FACTOR", "1"))  # see tests/cmake/time_limits.cmake
TOLERANCE = 1e-10  # of energies, relative
with_fab, without_fab, fab_run, launcher = "", "", "", []


class Runs(unittest.TestCase):
    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = pathlib.Path(made.name)

    def run_it(self, ranks, *options, molecule=MOLECULES / "water.xyz", program=None, under=()):
        """ranks: 0 for a serial run. program: realspace, unless it is named."""
        words = [program or with_fab, str(molecule), *map(str, options)]
        command = [*launcher, str(ranks), *under, *words] if ranks else [*words, "--serial"]
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=TIME_LIMIT_S,
                              check=False, stdin=subprocess.DEVNULL)

    def summary(self, ranks, *options, **more):
        file = self.folder / "summary.json"
        done = self.run_it(ranks, *options, "--quiet", "--json", file, **more)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(file.read_text())[0]

    def refused(self, ranks, *options, **more):
        done = self.run_it(ranks, *options, **more)
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    def assert_energies(self, summary, energies, tolerance=TOLERANCE):
        self.assertEqual(len(summary["energies_hartree"]), len(energies))
        for one, other in zip(summary["energies_hartree"], energies):
            self.assertLessEqual(abs(one - other), tolerance * abs(other), (one, other))


SMALL = ["--spacing", "0.6", "--radius", "4"]


class Energies(Runs):
    def test_all_ranks_and_ways_have_those_of_the_serial_run(self):
        for states in (1, 6):
            options = [*SMALL, "--states", states, "--tolerance", "1e-6"]
            serial = self.summary(0, *options)["energies_hartree"]
            self.assertEqual(serial, sorted(serial))
            for ranks in (1, 2, 5):
                for program, transport in ((with_fab, "fab"), (with_fab, "mpi"), (without_fab, "mpi")):
                    with self.subTest(states=states, ranks=ranks, program=program, transport=transport):
                        run = self.summary(ranks, *options, "--transport", transport, program=program)
                        self.assert_energies(run, serial)
                        self.assertEqual(run["transport"], transport)
                        self.assertEqual(run["ranks"], ranks)
                        self.assertEqual(run["ghost_points"] > 0, ranks > 1)

    def test_the_lowest_of_several_is_the_one_that_is_found_alone(self):
        alone = self.summary(0, *SMALL, "--tolerance", "1e-6")["energy_hartree"]
        several = self.summary(2, *SMALL, "--states", "3", "--tolerance", "1e-6")
        self.assert_energies({"energies_hartree": several["energies_hartree"][:1]}, [alone])
        self.assertAlmostEqual(several["energy_hartree"], sum(several["energies_hartree"]), delta=1e-12)

    def test_an_oscillator_has_its_energies(self):
        """The states of a harmonic potential lie at (n + 3/2) omega, (n + 1) (n + 2) / 2 of them at each."""
        run = self.summary(2, "--spacing", "0.4", "--radius", "5", "--harmonic", "1", "--states", "10", "--tolerance", "1e-6")
        self.assert_energies(run, [1.5] + 3 * [2.5] + 6 * [3.5], 1e-3)

    def test_an_energy_that_is_not_the_expected_one_is_a_failure(self):
        self.assertIn("differs from the expected", self.refused(0, *SMALL, "--check-energy", "-1"))

    def test_fab_run_carries_its_exchanges(self):
        serial = self.summary(0, *SMALL, "--states", "2", "--tolerance", "1e-6")["energies_hartree"]
        file = self.folder / "summary.json"
        done = self.run_it(2, *SMALL, "--states", "2", "--tolerance", "1e-6", "--json", file, program=without_fab,
                           under=(fab_run, "--stats"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_energies(json.loads(file.read_text())[0], serial)
        self.assertRegex(done.stdout + done.stderr, re.compile(r"^neighbor_alltoallv +[1-9]", re.MULTILINE))


class Programs(Runs):
    def libraries(self, program):
        """Of fab, of those that the loader maps with the program."""
        told = subprocess.run(["ldd", program], stdout=subprocess.PIPE, text=True, timeout=TIME_LIMIT_S, check=True).stdout
        self.assertIn("libmpi", told)
        return re.findall(r"^\s*(libfab(?:_\w+)?)\.so", told, re.MULTILINE)

    def test_one_is_linked_with_fab_and_one_is_not(self):
        self.assertEqual(sorted(self.libraries(with_fab)), ["libfab", "libfab_mpi"])
        self.assertEqual(self.libraries(without_fab), [])

    def test_the_default_is_fab_where_the_program_has_it(self):
        for program, transport in ((with_fab, "fab"), (without_fab, "mpi")):
            self.assertEqual(self.summary(2, *SMALL, "--tolerance", "1e-3", program=program)["transport"], transport)

    def test_fab_is_refused_where_the_program_lacks_it(self):
        self.assertIn("--transport: fab not in {mpi}", self.refused(2, *SMALL, "--transport", "fab", program=without_fab))


class Motions(Runs):
    KICK = 0.01

    def columns(self, file):
        lines = [line for line in file.read_text().splitlines() if not line.startswith("#")]
        return [tuple(map(float, line.split())) for line in lines]

    def test_an_oscillator_swings_and_absorbs_at_its_frequency(self):
        """x(t) = kick / omega sin(omega t); one electron has the oscillator strength 1."""
        dipole, spectrum = self.folder / "dipole", self.folder / "spectrum"
        run = self.summary(2, "--spacing", "0.4", "--radius", "4.5", "--harmonic", "1", "--tolerance", "1e-7", "--kick", self.KICK,
                           "--kick-axis", "y", "--time-step", "0.1", "--time-steps", "400", "--dipole", dipole,
                           "--spectrum", spectrum)
        self.assertLess(run["norm_error"], 1e-11)
        positions = self.columns(dipole)
        self.assertEqual(len(positions), 401)
        for time, position in positions:
            self.assertAlmostEqual(position, self.KICK * math.sin(time), delta=0.02 * self.KICK)
        points = self.columns(spectrum)
        peak = max(points, key=lambda point: point[1])
        self.assertAlmostEqual(peak[0], 1, delta=0.02)
        width = points[1][0] - points[0][0]
        self.assertAlmostEqual(sum(strength for _, strength in points) * width, 1, delta=0.03)

    def test_it_is_the_same_on_all_ranks(self):
        found = []
        for ranks in (0, 3):
            file = self.folder / f"dipole{ranks}"
            self.summary(ranks, *SMALL, "--states", "3", "--tolerance", "1e-6", "--kick", self.KICK, "--time-steps", "20", "--dipole", file)
            found.append(self.columns(file))
        self.assertGreater(abs(found[0][-1][1] - found[0][0][1]), 1e-4 * self.KICK)
        for (_, one), (_, other) in zip(*found):
            self.assertAlmostEqual(one, other, delta=1e-6 * self.KICK)


class Checkpoints(Runs):
    OPTIONS = [*SMALL, "--states", "3", "--tolerance", "1e-6"]

    def saved(self, ranks, *options):
        file = self.folder / "states"
        return file, self.summary(ranks, *self.OPTIONS, "--checkpoint", file, *options)

    def test_a_run_goes_on_with_other_ranks(self):
        file, before = self.saved(2)
        for ranks in (0, 1, 3):
            after = self.summary(ranks, *self.OPTIONS, "--restart", file)
            self.assertLessEqual(after["iterations"], 1)
            self.assert_energies(after, before["energies_hartree"])

    def test_an_unfinished_run_goes_on(self):
        done, file = self.saved(2)[1], self.folder / "states"
        stopped = self.run_it(3, *self.OPTIONS, "--max-iterations", "3", "--checkpoint", file, "--checkpoint-interval", "1")
        self.assertIn("not converged", stopped.stderr)
        after = self.summary(2, *self.OPTIONS, "--restart", file)
        self.assertLess(after["iterations"], done["iterations"])
        self.assert_energies(after, done["energies_hartree"])

    def test_more_states_may_be_asked_for(self):
        file, _ = self.saved(2)
        options = [*SMALL, "--states", "6", "--tolerance", "1e-6"]
        self.assert_energies(self.summary(2, *options, "--restart", file), self.summary(0, *options)["energies_hartree"])

    def test_other_files_and_grids_are_refused(self):
        file, _ = self.saved(2)
        for options, told in ((["--spacing", "0.7"], "another --spacing"), (["--radius", "4.5"], "another --radius")):
            self.assertIn(told, self.refused(0, *self.OPTIONS, "--restart", file, *options))
        self.assertIn("another molecule", self.refused(0, *self.OPTIONS, "--restart", file, molecule=MOLECULES / "benzene.xyz"))
        content = file.read_bytes()
        for wrong in (content[:-8], content + b"8 bytes.", content[:40], b"", b"another text"):
            file.write_bytes(wrong)
            self.assertIn("not a checkpoint of realspace", self.refused(0, *self.OPTIONS, "--restart", file))
        self.assertIn("cannot read", self.refused(2, *self.OPTIONS, "--restart", self.folder / "missing"))

    def test_a_folder_that_does_not_exist_is_an_error(self):
        told = self.refused(2, *self.OPTIONS, "--checkpoint", self.folder / "missing" / "states")
        self.assertIn("cannot write the checkpoint", told)


class Refusals(Runs):
    def test_values_that_no_run_can_use(self):
        for options, told in ((["--states", "0"], "--states is 0"), (["--states", "200", "--spacing", "3"], "too many for"),
                              (["--degree", "1"], "--degree is 1"), (["--harmonic", "0"], "--harmonic is 0"),
                              (["--time-steps", "0"], "--time-steps is 0"), (["--kick-axis", "w"], "--kick-axis")):
            with self.subTest(options=options):
                self.assertIn(told, self.refused(0, *options))


if __name__ == "__main__":
    with_fab, without_fab, fab_run, *launcher = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
