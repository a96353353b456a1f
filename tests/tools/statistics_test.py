"""statistics_test.py FAB_INFO NATIVE_PROGRAM MPI_PROGRAM DROPIN_PROGRAM UNEQUAL_PROGRAM FAB_RUN MPIRUN...: FAB_STATS of
whole jobs."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

INFO, NATIVE, MPI, DROPIN, UNEQUAL, RUN, *MPIRUN = sys.argv[1:]
del sys.argv[1:]

EXCHANGES = 60
LATE_S = 0.005
UNEQUAL_SENT = [(2, 8), (20, 20000), (7, 400000)]  # by rank: messages to the next rank, and the bytes of each
UNEQUAL_LATE, UNEQUAL_LATE_S = 1, 0.01
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
            self.assertEqual(counted["ways"], [{"way": "cell"} | counted["sent"]])
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

    def rows_of(self, page):
        """The table of each rank's figures: by title the least, the median and the most as text, and the rank."""
        lines = page.partition("of each rank ")[2].partition("\n\n")[0].splitlines()[1:]
        return {line[:24].rstrip(): (*line[24:66].split(), int(line[66:])) for line in lines}

    def test_the_page_of_ranks_that_differ(self):
        page = self.run_job(3, UNEQUAL)
        rows = self.rows_of(page)
        calls = [UNEQUAL_SENT[rank][0] + UNEQUAL_SENT[rank - 1][0] for rank in range(3)]
        for title, values, decimals in (
            ("messages sent", [count for count, _ in UNEQUAL_SENT], 0), ("calls", calls, 0),
            ("sent, MiB", [count * size / 2**20 for count, size in UNEQUAL_SENT], 3)):
            known = [f"{value:.{decimals}f}" for value in sorted(values)]
            self.assertEqual(rows[title], (*known, values.index(max(values))), page)
        for title, unit_s in (("waited, s", 1), ("longest wait, ms", 1e-3)):
            least, median, most, _ = rows[title]
            self.assertLessEqual(float(least), float(median), page)
            self.assertLessEqual(float(median), float(most), page)
            self.assertGreater(float(most) * unit_s, UNEQUAL_LATE_S / 4, page)
        self.assertEqual(rows["waited, s"][-1], UNEQUAL_LATE + 1, page)
        messages = sum(count for count, _ in UNEQUAL_SENT)
        mib = sum(count * size for count, size in UNEQUAL_SENT) / 2**20
        self.assertRegex(page, rf"(?m)^send +- +{messages} +{mib:.2f} ")
        self.assertRegex(page, rf"(?m)^send +- +kernel +{UNEQUAL_SENT[2][0] + UNEQUAL_SENT[1][0]} ")
        self.assertRegex(page, rf"(?m)^send +- +cell +{UNEQUAL_SENT[0][0]} ")
        self.assertRegex(page, rf"(?m)^recv +- +{messages} +0\.00 .* {UNEQUAL_LATE + 1}$")
        last = re.search(r"rank (\d+) was waited for .* in \d+ of (\d+) calls .* longest by rank (\d+)", page)
        self.assertEqual(list(map(int, last.groups())),
                         [UNEQUAL_LATE, sum(calls) - calls[UNEQUAL_LATE], UNEQUAL_LATE + 1], page)

    def test_the_file_of_ranks_that_differ(self):
        self.run_job(3, UNEQUAL, stats=self.file)
        for rank, statistics in enumerate(json.loads(self.file.read_text())["statistics"]):
            (sent, size), (received, its_size) = UNEQUAL_SENT[rank], UNEQUAL_SENT[rank - 1]
            operations = {row["operation"]: row for row in statistics["operations"]}
            self.assertEqual((operations["send"]["calls"], operations["recv"]["calls"]), (sent, received))
            self.assertEqual(operations["send"]["sent"], {"messages": sent, "bytes": sent * size})
            self.assertEqual(sum(way["messages"] for way in operations["send"]["ways"]), sent)
            peers = {peer["rank"]: peer for peer in statistics["peers"]}
            self.assertEqual(peers[(rank - 1) % 3]["received"], {"messages": received, "bytes": received * its_size})
            self.assertEqual(peers.get((rank + 1) % 3, {}).get("received", {"messages": 0})["messages"], 0)
            if rank == UNEQUAL_LATE + 1:
                longest = max(statistics["peers"], key=lambda peer: peer["waited_ns"])
                self.assertEqual(longest["rank"], UNEQUAL_LATE)

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
        job = json.loads(self.file.read_text())
        self.check_ranks(job, "neighbor_xchg", 1)
        self.assertNotIn("dropin", job)

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
        exchange = next(each for each in rank["operations"] if each["operation"] == "neighbor_xchg")
        for of, found in (("rank", rank["counters"]), ("operation", exchange), ("operation's way", exchange["ways"][0]),
                          ("peer", peer), ("way to a peer", peer["ways"][0])):
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
