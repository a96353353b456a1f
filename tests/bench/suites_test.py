"""How bench/suites judges endings, reads the lists of MPICH's tests and the results of benchmarks, and reports."""

import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "packaged"))
import benchmarks  # noqa: E402
import clock  # noqa: E402
import endings  # noqa: E402
import mpich_suite  # noqa: E402
import suites_report  # noqa: E402
from endings import BETTER, FAILED, FLAKY, OK, SAME, TIMED_OUT, WORSE  # noqa: E402

LIST = """\
# A comment
allred 4 arg=-count=10
allred 4 arg=-count=10 env=MPIR_CVAR_X=1
errfatal 1 resultTest=TestErrFatal

bcast 10 timeLimit=600
"""
SUMMARY = """\
||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=        0.0107220 ...... PASSED
              0 tests completed and failed residual checks,
Success=1
PTRANS_residual=0
MPIRandomAccess_LCG_Errors=0
MPIRandomAccess_Errors=0
MPIFFT_maxErr=1.04738e-15
MaxPingPongLatency_usec=1885.54
RandomlyOrderedRingBandwidth_GBytes=0.672136
End of HPC Challenge tests.
"""


class Script:
    """Runs that end as told, one after the other, and then always as the last of them."""

    def __init__(self, *ends):
        self.ends, self.runs = list(ends), 0

    def __call__(self):
        self.runs += 1
        return self.ends.pop(0) if len(self.ends) > 1 else self.ends[0]


class Judged(unittest.TestCase):
    def judge(self, first, without, with_fab):
        self.without, self.with_fab = Script(*without), Script(*with_fab)
        return endings.judged(first, self.without, self.with_fab)[0]

    def test_one_run_suffices_for_the_same(self):
        for ending in endings.WORTH:
            self.assertEqual(self.judge(ending, [FAILED], [ending]), SAME)
            self.assertEqual((self.without.runs, self.with_fab.runs), (0, 1))

    def test_always_worse(self):
        self.assertEqual(self.judge(OK, [OK], [FAILED]), WORSE)
        self.assertEqual((self.without.runs, self.with_fab.runs), (endings.REPEATS, endings.REPEATS + 1))
        self.assertEqual(self.judge(FAILED, [FAILED], [TIMED_OUT]), WORSE)

    def test_now_and_then_worse(self):
        self.assertEqual(self.judge(OK, [OK], [TIMED_OUT, OK]), WORSE)
        self.assertEqual(self.without.runs, endings.REPEATS + endings.SEARCH)

    def test_better(self):
        self.assertEqual(self.judge(FAILED, [FAILED], [OK]), BETTER)
        self.assertEqual(self.judge(TIMED_OUT, [TIMED_OUT], [FAILED, OK]), BETTER)

    def test_flaky(self):
        self.assertEqual(self.judge(FAILED, [OK], [OK]), FLAKY)

    def test_flaky_is_found_late(self):
        self.assertEqual(self.judge(OK, [OK] * (endings.REPEATS + 5) + [FAILED], [FAILED, OK]), FLAKY)
        self.assertEqual(self.without.runs, endings.REPEATS + 6)


class Share(unittest.TestCase):
    """Of two processors, in a second."""

    def share(self, *after):
        """Of threads by the seconds that they ran and whether they would run on."""
        now = {thread: (int(ran * 1e9), ready) for thread, (ran, ready) in enumerate(after)}
        return clock.share({0: (0, True)}, now, int(1e9), 2)

    def test_of_threads_that_sleep(self):
        self.assertEqual(self.share((0, False), (0.01, False)), 1)

    def test_of_threads_that_have_the_processors(self):
        self.assertEqual(self.share((1, True), (1, True)), 1)
        self.assertEqual(self.share((0.5, True), (0.5, True), (0.5, True), (0.5, False)), 1)

    def test_of_threads_that_others_keep_waiting(self):
        self.assertAlmostEqual(self.share((0.25, True), (0, False)), 0.25)
        self.assertAlmostEqual(self.share((0.1, True), (0.1, True), (0, True)), 0.1)

    def test_of_this_session(self):
        found = clock.threads(os.getsid(0))
        if not found:
            self.skipTest("the kernel does not count the times of threads")
        self.assertTrue(found[str(os.getpid())][1])

    def test_of_processes_that_end_meanwhile(self):
        class Ended:
            def glob(self, _):
                raise FileNotFoundError("task")

        lasts = clock.pathlib.Path("/proc/self")
        self.assertTrue(list(clock.threads_of([Ended(), lasts, Ended()])))


class Lists(unittest.TestCase):
    def test_entries(self):
        tests = mpich_suite.listed("coll", LIST)
        titles = ["coll/allred 4 -count=10", "coll/errfatal 1", "coll/bcast 10"]
        self.assertEqual([test.title for test in tests], titles)
        self.assertEqual([test.fails for test in tests], [False, True, False])

    def test_datatypes(self):
        text = "".join(f"bcast 4 arg=-seed={seed}\n" for seed in range(9)) + "reduce 4 arg=-count=262144\n"
        self.assertEqual(len(mpich_suite.listed("coll", text, datatypes=True)), mpich_suite.MOST_DATATYPES)

    def test_verdict_of_the_suite(self):
        normal, fails = mpich_suite.Test("coll", "a", 2), mpich_suite.Test("init", "b", 2, fails=True)
        for test, status, out, right in ((normal, 0, " No Errors\n", True), (normal, 0, "No errors\n", True),
                                         (normal, 1, " No Errors\n", False), (normal, 0, "Found 3 errors\n", False),
                                         (fails, 1, "", True), (fails, 0, " No Errors\n", False)):
            self.assertEqual(test.right(status, out, "", None), right, (test, status, out))

    def test_names_that_were_removed(self):
        replaced = mpich_suite.REMOVED.sub(r"MPI_Type_create_\1(", "MPI_Type_hvector(a); MPI_Type_create_hindexed(b)")
        self.assertEqual(replaced, "MPI_Type_create_hvector(a); MPI_Type_create_hindexed(b)")


class Benchmarks(unittest.TestCase):
    def test_hpcc(self):
        self.assertEqual(benchmarks.wrong_in_summary(SUMMARY), "")
        for old, new in (("PASSED", "FAILED"), ("0 tests completed and f", "1 tests completed and f"), ("PASSED", ""),
                         ("Success=1", "Success=0"), ("1.04738e-15", "1.04738e-05"), ("MaxPing", "MinPing"),
                         ("Access_Errors=0", "Access_Errors=3"), ("End of", "")):
            self.assertIn(old, SUMMARY)
            self.assertNotEqual(benchmarks.wrong_in_summary(SUMMARY.replace(old, new)), "", new)

    def test_netpipe(self):
        size = "  0:       5 bytes     20 times -->  Integrity check "
        self.assertEqual(benchmarks.wrong_with_netpipe(f"{size}passed\n{size}passed\n", None), "")
        self.assertNotEqual(benchmarks.wrong_with_netpipe(f"{size}passed\n{size}failed\n", None), "")
        self.assertNotEqual(benchmarks.wrong_with_netpipe("", None), "")


class Report(unittest.TestCase):
    def row(self, title, verdict, without, with_fab):
        return {"folder": title.partition("/")[0], "title": title, "link": "node", "carry": "all", "verdict": verdict,
                "without": without, "with_fab": with_fab, "carried": 7}

    def test_counts_and_names(self):
        rows = [self.row("coll/a 2", SAME, [OK], [OK]), self.row("coll/b 2", SAME, [FAILED], [FAILED]),
                self.row("coll/c 2", WORSE, [OK] * 4, [TIMED_OUT] * 4)]
        gathered = {"date": "2026-01-02", "fab": "0.1.0", "mpi": "Open MPI", "suite": "MPICH", "packages": "hpcc 1",
                    "system": "2 processors", "programs": 4, "limit": 60, "cut_off": False, "rows": rows,
                    "left_out": {"coll/d 33": "more than 12 ranks"}}
        text = suites_report.text(gathered)
        for part in ("| coll | 3 | 2 | 1 | 0 | 1 | 0 | 21 |",
                     "- `coll/c 2`: node, all: without fab 4 ok; with fab 4 timed out", "with it\n\n`coll/b 2`.",
                     "- more than 12 ranks: `coll/d 33`"):
            self.assertIn(part, text)


if __name__ == "__main__":
    unittest.main()
