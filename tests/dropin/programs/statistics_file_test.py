"""statistics_file_test.py FAB_RUN LATE PASSED_ON STARTS MPIRUN...: the table of libfab_dropin and its file agree."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

RUN, LATE, PASSED_ON, STARTS, *MPIRUN = sys.argv[1:]
del sys.argv[1:]

RANKS = 3
EXCHANGES = 20
FUNCTION = re.compile(r"^(\w+) +(\d+) +(\d+) +(\d+\.\d) +(\d+\.\d{3})  (.*)$", re.MULTILINE)
COMPLETIONS = re.compile(r"^completion calls +(\d+) +(\d+\.\d{3})$", re.MULTILINE)


class TableAndFile(unittest.TestCase):
    def run_job(self, carry, *program, file=None):
        """(stderr, the file's content or None)."""
        with tempfile.TemporaryDirectory() as folder:
            written = pathlib.Path(file or f"{folder}/statistics.json")
            done = subprocess.run([*MPIRUN, str(RANKS), RUN, "--carry", carry, *program], capture_output=True, text=True,
                                  check=False, env=dict(os.environ) | {"FAB_STATS": str(written)})
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stderr, json.loads(written.read_text()) if written.exists() else None

    def check_agreement(self, table, dropin):
        """Every row, to the digits that the table has."""
        self.assertIn(f"all {dropin['ranks']} ranks together", table)
        self.assertEqual(dropin["ranks"], RANKS)
        rows = [(name, int(carried), int(passed), mib, seconds, reasons.strip())
                for name, carried, passed, mib, seconds, reasons in FUNCTION.findall(table)]
        self.assertTrue(rows, table)
        self.assertEqual(rows, [
            (one["function"], one["carried"], one["passed_on"], f"{one['bytes'] / 2**20:.1f}",
             f"{one['in_fab_ns'] / 1e9:.3f}",
             ", ".join(f"{name} {calls}" for name, calls in one["passed_on_because_of"].items()))
            for one in dropin["functions"]])
        for one in dropin["functions"]:
            self.assertEqual(sum(one["passed_on_because_of"].values()), one["passed_on"])
        completions = dropin["completion_calls"]
        shown = [(str(completions["calls"]), f"{completions['in_fab_ns'] / 1e9:.3f}")] if completions["calls"] else []
        self.assertEqual(COMPLETIONS.findall(table), shown)

    def functions_of(self, job):
        return {one["function"]: one for one in job["dropin"]["functions"]}

    def test_all_carried(self):
        table, job = self.run_job("all", LATE, "-1", str(EXCHANGES))
        self.check_agreement(table, job["dropin"])
        self.assertEqual((job["version"], job["silent"], len(job["statistics"])), (1, [], RANKS))
        exchange = self.functions_of(job)["neighbor_alltoall"]
        self.assertEqual((exchange["carried"], exchange["passed_on"]), (RANKS * EXCHANGES, 0))
        self.assertEqual(exchange["bytes"], RANKS * EXCHANGES * 2 * 8)
        self.assertGreater(exchange["in_fab_ns"], 0)
        self.assertNotIn("fab: statistics of", table)  # the page: the file stands for it

    def test_some_passed_on(self):
        table, job = self.run_job("barrier", PASSED_ON, "by-itself")
        self.check_agreement(table, job["dropin"])
        # Ten each, and two within MPI_Finalize.
        self.assertEqual(self.functions_of(job)["allreduce"]["passed_on_because_of"], {"off": RANKS * 12})

    def test_requests_that_are_completed(self):
        table, job = self.run_job("all", STARTS)
        self.check_agreement(table, job["dropin"])
        self.assertGreater(job["dropin"]["completion_calls"]["calls"], 0)

    def test_fab_is_never_opened(self):
        table, job = self.run_job("off", LATE, "-1", str(EXCHANGES))
        self.check_agreement(table, job["dropin"])
        self.assertEqual((job["silent"], job["statistics"]), (list(range(RANKS)), []))

    def test_fab_is_opened_within_mpi_finalize(self):
        table, job = self.run_job("all", PASSED_ON, "at-the-end")
        self.check_agreement(table, job["dropin"])
        functions = self.functions_of(job)
        self.assertEqual((functions["allreduce"]["carried"], functions["bcast"]["carried"]), (RANKS, RANKS))
        self.assertEqual((job["silent"], len(job["statistics"])), ([], RANKS))

    def test_calls_are_passed_on_within_mpi_finalize(self):
        table, job = self.run_job("off", PASSED_ON, "at-the-end")
        self.check_agreement(table, job["dropin"])
        self.assertEqual(self.functions_of(job)["allreduce"]["passed_on_because_of"], {"off": RANKS})
        self.assertEqual((job["silent"], job["statistics"]), (list(range(RANKS)), []))

    def test_a_file_that_cannot_be_written(self):
        for carry in ("all", "off"):
            table, job = self.run_job(carry, LATE, "-1", str(EXCHANGES), file="/nowhere/statistics.json")
            self.assertIsNone(job)
            self.assertRegex(table, FUNCTION)
            self.assertIn("the file /nowhere/statistics.json cannot be written", table)


if __name__ == "__main__":
    unittest.main()
