"""statistics_test.py FAB_INFO NATIVE_PROGRAM MPI_PROGRAM DROPIN_PROGRAM FAB_RUN MPIRUN...: FAB_STATS of whole jobs."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

INFO, NATIVE, MPI, DROPIN, RUN, *MPIRUN = sys.argv[1:]
del sys.argv[1:]

EXCHANGES = 60
LATE_S = 0.005
PEER = re.compile(r"^rank (\d+) was waited for ([0-9.]+) s, in (\d+) of (\d+) calls of other ranks", re.MULTILINE)


class WholeJobs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.file = pathlib.Path(self.folder.name) / "statistics.json"

    def tearDown(self):
        self.folder.cleanup()

    def run_job(self, ranks, *command, stats="1", options=(), status=0):
        environment = dict(os.environ) | {"FAB_STATS": str(stats)}
        done = subprocess.run([*MPIRUN, str(ranks), *options, *map(str, command)], capture_output=True, text=True,
                              check=False, env=environment)
        if status is not None:
            self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr

    def check_page(self, page, late_rank, ranks=3):
        """The late rank is the first of those that were waited for, in most of the others' exchanges."""
        self.assertIn(f"fab: statistics of {ranks} of 3 ranks", page)
        rank, seconds, times, calls = PEER.search(page).groups()
        self.assertEqual(int(rank), late_rank, page)
        self.assertGreaterEqual(int(times), (ranks - 1) * EXCHANGES // 2, page)
        self.assertGreaterEqual(int(calls), (ranks - 1) * EXCHANGES, page)
        self.assertGreaterEqual(float(seconds), int(times) * LATE_S / 2, page)

    def check_ranks(self, job, operation, late_rank):
        for statistics in job["statistics"]:
            counted = {row["operation"]: row for row in statistics["operations"]}[operation]
            self.assertEqual(counted["calls"], EXCHANGES)
            self.assertEqual(counted["sent"], {"messages": 2 * EXCHANGES, "bytes": 16 * EXCHANGES})
            self.assertEqual(counted["received"], counted["sent"])
            self.assertEqual(sum(counted["waited"]["by_length"]), counted["waited"]["waits"])
            self.assertEqual(statistics["counters"]["late_wake_ups"], 0)
            if statistics["rank"] == late_rank:
                continue
            self.assertGreater(counted["waited"]["median_ns"], LATE_S * 1e9 / 4)
            longest = max(statistics["peers"], key=lambda peer: peer["waited_ns"])
            self.assertEqual(longest["rank"], late_rank)

    def test_the_page_names_the_late_rank(self):
        for late_rank in (0, 2):
            self.check_page(self.run_job(3, NATIVE, late_rank, EXCHANGES), late_rank)

    def test_the_file_has_all_of_all_ranks(self):
        page = self.run_job(3, NATIVE, 2, EXCHANGES, stats=self.file)
        self.assertNotIn("fab: statistics", page)
        job = json.loads(self.file.read_text())
        self.assertEqual((job["version"], job["silent"]), (1, []))
        self.assertEqual([statistics["rank"] for statistics in job["statistics"]], [0, 1, 2])
        self.check_ranks(job, "neighbor_xchg", 2)
        ways = [way for statistics in job["statistics"] for peer in statistics["peers"] for way in peer["ways"]]
        self.assertGreaterEqual(sum(way["messages"] for way in ways), 3 * 2 * EXCHANGES)

    def test_one_rank_alone(self):
        page = self.run_job(1, NATIVE, -1, EXCHANGES)
        self.assertIn("fab: statistics of 1 of 1 ranks", page)
        self.assertRegex(page, rf"neighbor_xchg +- +{EXCHANGES} ")
        self.assertNotIn("was waited for", page)

    def test_without_the_variable_nothing_is_shown(self):
        self.assertNotIn("statistics", self.run_job(2, NATIVE, -1, EXCHANGES, stats="0"))

    def test_a_rank_that_was_killed_tells_nothing(self):
        page = self.run_job(3, NATIVE, 2, EXCHANGES, 1, options=("--enable-recovery",), status=None)
        self.assertIn("rank 1 did not answer", page)
        self.assertIn("fab: statistics of 2 of 3 ranks", page)

    def test_a_file_that_cannot_be_written(self):
        page = self.run_job(2, NATIVE, -1, 1, stats="/nowhere/statistics.json")
        self.assertIn("FAB_STATS: the file /nowhere/statistics.json cannot be written", page)

    def test_no_such_value(self):
        self.assertIn("FAB_STATS: the value \"yes\" is not valid", self.run_job(1, NATIVE, stats="yes", status=None))

    def test_the_mpi_binding(self):
        self.check_page(self.run_job(3, MPI, 2, EXCHANGES), 2)
        self.run_job(3, MPI, 1, EXCHANGES, stats=self.file)
        self.check_ranks(json.loads(self.file.read_text()), "neighbor_xchg", 1)

    def test_a_rank_of_mpi_that_never_calls_fab(self):
        page = self.run_job(3, MPI, 2, EXCHANGES, 1)
        self.assertIn("rank 1 did not answer", page)
        self.check_page(page, 2, ranks=2)

    def test_the_drop_in_shows_its_table_too(self):
        page = self.run_job(3, RUN, "--stats", "--carry", "all", DROPIN, 2, EXCHANGES)
        self.assertRegex(page, rf"(?m)^neighbor_alltoall +{3 * EXCHANGES} +0 ")
        self.check_page(page, 2)

    def test_fab_info_shows_a_page(self):
        done = subprocess.run([*MPIRUN, "2", INFO, "--statistics"], capture_output=True, text=True, check=True)
        self.assertRegex(done.stdout, r"neighbor_xchg +- +2000 ")
        done = subprocess.run([*MPIRUN, "2", INFO, "--statistics", "--json"], capture_output=True, text=True, check=True)
        self.assertEqual(len(json.loads(done.stdout)["statistics"]), 2)

    def test_what_came_from_peers_is_what_they_sent(self):
        """Within a node every message is one of a way, and fab sends nothing else in these exchanges."""
        self.run_job(3, NATIVE, -1, EXCHANGES, stats=self.file)
        ranks = {each["rank"]: each for each in json.loads(self.file.read_text())["statistics"]}
        for rank, statistics in ranks.items():
            for peer in statistics["peers"]:
                back = next(each for each in ranks[peer["rank"]]["peers"] if each["rank"] == rank)
                for field in ("messages", "bytes"):
                    self.assertEqual(peer["received"][field], sum(way[field] for way in back["ways"]), (rank, peer))

    def test_fab_info_describes_every_figure(self):
        """The rows of --counters are the numbers that a file has, and no others."""
        self.run_job(2, NATIVE, -1, EXCHANGES, stats=self.file)
        rank = json.loads(self.file.read_text())["statistics"][0]
        rows = json.loads(subprocess.run([INFO, "--counters", "--json"], capture_output=True, text=True, check=True).stdout)
        peer = rank["peers"][0]
        for of, found in (("rank", rank["counters"]), ("operation", rank["operations"][0]), ("peer", peer),
                          ("way to a peer", peer["ways"][0])):
            numbers = {f"{name}/{inner}" if inner else name for name, value in found.items()
                       for inner in (value if isinstance(value, dict) else [""])
                       if name not in ("ranks", "rank", "ways") and not isinstance(value, str)}
            self.assertEqual({row["name"] for row in rows if row["of"] == of}, numbers)
        self.assertTrue(all(row["meaning"] and row["unit"] in ("", "bytes", "ns") for row in rows))
        variables = [row["variable"] for row in rows if row["variable"]]
        self.assertIn("fab_waited_ns", variables)
        self.assertEqual(len(set(variables)), len(variables))
        text = subprocess.run([INFO, "--counters"], capture_output=True, text=True, check=True).stdout
        for row in rows:
            self.assertRegex(text, rf"(?m)^  {re.escape(row['name'])} .*{re.escape(row['meaning'])}$")


if __name__ == "__main__":
    unittest.main()
