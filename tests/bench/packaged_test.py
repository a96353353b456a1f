"""What bench/programs reads from the outputs of Debian's programs, short samples in the form of each, and what it says
of their times."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "packaged"))
import outputs  # noqa: E402
import report  # noqa: E402

# PETSc's -log_view: event, count, its ratio, seconds of the slowest rank, and figures that are not read.
EVENTS = """\
VecNorm               42 1.0 9.0000e-03 1.2 1.00e+06 1.0 0.0e+00 0.0e+00 4.2e+01  2  5  0  0 40   2  5  0  0 40   222
VecScatterBegin       41 1.0 1.2500e-03 1.1 0.00e+00 0.0 8.2e+01 7.2e+03 1.0e+00  0  0 95 99  1   0  0 95 99  1     0
VecScatterEnd         41 1.0 2.5000e-02 2.6 0.00e+00 0.0 0.0e+00 0.0e+00 0.0e+00  5  0  0  0  0   5  0  0  0  0     0
KSPSolve               1 1.0 5.0000e-01 1.0 9.00e+07 1.0 8.0e+01 7.3e+03 8.2e+01 70 95 93 98 79  70 95 93 98 79   360
"""
DOLFINX = """\
Number of Krylov iterations: 61
Solution norm:  12.3457
ZZZ Assemble                                       |     1  0.250000  0.250000
ZZZ Solve                                          |     1  0.750000  0.750000
""" + EVENTS
EX45 = """\
Linear solve converged due to CONVERGED_RTOL iterations 118
Residual norm 3.49e-05
""" + EVENTS
EX2 = "Norm of error 0.0125 iterations 402\n" + EVENTS
TRANSFORM = "transforms 0.523400 s, energy 1.234567890123e+05, error small\n"
ESPRESSO = """\
     total energy              =     -22.00000000 Ry
     convergence has been achieved in   7 iterations
!    total energy              =     -22.43210987 Ry
          total   stress  (Ry/bohr**3)                   (kbar)     P=       -12.34
     electrons    :      1.02s CPU      1.10s WALL (       1 calls)
     fft_scatt_xy :      0.11s CPU      0.12s WALL (    2100 calls)
     fft_scatt_yz :      0.20s CPU      0.25s WALL (    2100 calls)
"""
LAMMPS = """\
   Step          Temp          E_pair         E_mol          TotEng         Press
         0   1.44          -6.7733681      0             -4.6134356     -5.0197073
        50   0.7012345     -5.6612345      0             -4.6093456      0.7712345
       100   0.6912345     -5.6462345      0             -4.6093111      0.8012345
Loop time of 0.5625 on 2 procs for 100 steps with 55296 atoms
Pair    | 0.4        | 0.41       | 0.42       |   0.5 | 73.00
Comm    | 0.03       | 0.0425     | 0.055      |   1.2 |  7.50
"""
TABLE = """\
fab: MPI's collectives under libfab_dropin, all 2 ranks together (FAB_STATS=0: no table)
function                   carried   passed on       MiB   s in fab  passed on because of
bcast                          196           4       0.0      0.002  early 4
allreduce                        0         200       0.0      0.000  early 4, slower 196
neighbor_alltoallv            9200           8     123.4     12.345  early 8
completion calls                40                            0.001
"""
PAGE = """\
fab: statistics of 2 of 2 ranks, over shared memory (process 1) at rank 0 (FAB_STATS=0: no page)
operation, all ranks    algorithm                calls  MiB sent  packed    longer    waited    median   99 % to   longest  most
calls                              201           201           201       0
"""

# Of each reader: a sample, its counts, its values, seconds of its own part, seconds of its communication.
SAMPLES = {
    "dolfinx": (outputs.DOLFINX, DOLFINX, ["61"], ["12.3457"], 0.75, 0.02625),
    "ex45": (outputs.PETSC, EX45, ["118"], ["3.49e-05"], 0.5, 0.02625),
    "ex2": (outputs.PETSC, EX2, ["402"], ["0.0125"], 0.5, 0.02625),
    "mpi4py-fft": (outputs.TRANSFORM, TRANSFORM, ["small"], ["1.234567890123e+05"], 0.5234, None),
    "pw.x": (outputs.ESPRESSO, ESPRESSO, ["7"], ["-22.43210987", "-12.34"], 1.1, 0.37),
    "lammps": (outputs.LAMMPS, LAMMPS, ["100", "55296"],
               ["0.7012345", "-5.6612345", "-4.6093456", "0.7712345", "0.6912345", "-5.6462345", "-4.6093111",
                "0.8012345"], 0.5625, 0.0425),
}


class Outputs(unittest.TestCase):
    def test_times_of_a_minute_and_more(self):
        long = ESPRESSO.replace("1.10s WALL", "1m 3.10s WALL").replace("0.12s WALL", "1h 2m WALL")
        self.assertAlmostEqual(outputs.seconds(outputs.ESPRESSO.work, long), 63.1)
        self.assertAlmostEqual(outputs.seconds(outputs.ESPRESSO.communication, long), 3720.25)

    def test_results(self):
        for name, (reader, text, counts, values, _, _) in SAMPLES.items():
            with self.subTest(name):
                self.assertEqual(outputs.results(reader, text), (counts, values))

    def test_times(self):
        for name, (reader, text, _, _, work, communication) in SAMPLES.items():
            with self.subTest(name):
                for patterns, known in ((reader.work, work), (reader.communication, communication)):
                    read = outputs.seconds(patterns, text)
                    self.assertEqual(read if read is None else round(read, 9), known)

    def test_a_program_that_told_nothing(self):
        for name, (reader, *_) in SAMPLES.items():
            with self.subTest(name):
                self.assertIsNone(outputs.results(reader, "Segmentation fault\n"))
                self.assertIsNone(outputs.seconds(reader.work, "Segmentation fault\n"))

    def test_results_lack_a_kind(self):
        """Counts without values, or values without counts, are no results."""
        self.assertIsNone(outputs.results(outputs.DOLFINX, "Number of Krylov iterations: 61\n"))
        self.assertIsNone(outputs.results(outputs.DOLFINX, "Solution norm: 12.3457\n"))

    def test_a_time_whose_event_is_missing(self):
        """The sum of some events would be too small."""
        without_end = "".join(line for line in EVENTS.splitlines(True) if not line.startswith("VecScatterEnd"))
        self.assertIsNone(outputs.seconds(outputs.SCATTERS, without_end))

    def test_times_of_all_matches_are_added(self):
        self.assertAlmostEqual(outputs.seconds(outputs.PETSC.work, EVENTS + EVENTS), 1)

    def test_an_error_that_is_not_small(self):
        text = TRANSFORM.replace("error small", "error 0.25")
        self.assertIsNone(outputs.results(outputs.TRANSFORM, text))


class Differences(unittest.TestCase):
    def differ(self, reader, text, old, new):
        self.assertIn(old, text)
        return outputs.difference(reader, outputs.results(reader, text),
                                  outputs.results(reader, text.replace(old, new)))

    def test_the_same(self):
        for name, (reader, text, *_) in SAMPLES.items():
            with self.subTest(name):
                self.assertEqual(self.differ(reader, text, text, text), "")

    def test_counts(self):
        self.assertEqual(self.differ(outputs.PETSC, EX45, "iterations 118", "iterations 119"),
                         "without fab 118, with fab 119")
        self.assertEqual(self.differ(outputs.DOLFINX, DOLFINX, "iterations: 61", "iterations: 62"),
                         "without fab 61, with fab 62")

    def test_values(self):
        self.assertEqual(self.differ(outputs.DOLFINX, DOLFINX, "12.3457", "12.3458"), "")
        self.assertEqual(self.differ(outputs.DOLFINX, DOLFINX, "12.3457", "12.3467"),
                         "without fab 12.3457, with fab 12.3467")

    def test_missing_values(self):
        self.assertEqual(self.differ(outputs.ESPRESSO, ESPRESSO, "P=       -12.34", ""),
                         "without fab 2 values, with fab 1")


class Carried(unittest.TestCase):
    ROWS = {"bcast": {"carried": 196, "passed": 4, "seconds": 0.002},
            "allreduce": {"carried": 0, "passed": 200, "seconds": 0.0},
            "neighbor_alltoallv": {"carried": 9200, "passed": 8, "seconds": 12.345}}

    def test_the_table(self):
        self.assertEqual(outputs.carried(TABLE), self.ROWS)

    def test_rows_of_the_page_are_none_of_the_table(self):
        self.assertEqual(outputs.carried(TABLE + PAGE), self.ROWS)

    def test_no_call(self):
        self.assertEqual(outputs.carried("".join(TABLE.splitlines(True)[:2])), {})

    def test_no_table(self):
        self.assertIsNone(outputs.carried(PAGE))


def rounds(*times):
    """Pairs of rows from (seconds without fab, seconds with it)."""
    return [({"whole": without}, {"whole": with_fab}) for without, with_fab in times]


class Noise(unittest.TestCase):
    def test_where_the_median_lies(self):
        # 2 * (1 + 8) / 2^8 > 0.05 >= 2 / 2^8, and 2 * (1 + 9) / 2^9 <= 0.05
        self.assertEqual(report.certain([8, 1, 2, 3, 4, 5, 6, 7]), (1, 8))
        self.assertEqual(report.certain([9, 8, 1, 2, 3, 4, 5, 6, 7]), (2, 8))
        self.assertIsNone(report.certain([1, 2, 3, 4, 5]))

    def test_the_shortest_times(self):
        self.assertEqual(report.least(rounds((3, 5), (2, 4), (8, 9))), 0.5)

    def test_what_is_sure(self):
        same = [(1, 1)] * 5
        scenes = {("node", 2, "gains"): rounds((1.2, 1.1), *[(1.1, 1)] * 5),
                  ("tcp", 4, "loses"): rounds((1.1, 1.2), *[(1, 1.1)] * 5),
                  ("tcp", 2, "varies"): rounds((1, 2), (2, 1), *[(1, 1.1)] * 4),
                  ("wire", 2, "had one bad run"): rounds((1, 1.5), *same)}
        self.assertEqual(report.verdict(scenes), "Surely faster with fab: gains (node, 2 ranks).\n"
                                                 "Surely slower with fab: loses (tcp, 4 ranks).")

    def test_a_loss_by_the_medians_alone_is_not_sure(self):
        late = rounds(*[(1, 1.1)] * 7, (1.05, 1))
        self.assertIn("slower with fab: none", report.verdict({("node", 2, "late"): late}))

    def test_few_rounds(self):
        scenes = {("node", 2, "ex2"): rounds(*[(1, 2)] * 5), ("tcp", 2, "ex2"): rounds(*[(2, 1)] * 6)}
        self.assertEqual(report.verdict(scenes), "Surely faster with fab: ex2 (tcp, 2 ranks).\n"
                                                 "Surely slower with fab: none.\n"
                                                 "1 of 2 rows have fewer than six rounds, too few to be sure of.")


if __name__ == "__main__":
    unittest.main()
