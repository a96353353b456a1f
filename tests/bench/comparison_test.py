"""The report of bench/compare from rows that are made up: what it computes, judges and shows, and how jobs may end."""

import contextlib
import io
import os
import pathlib
import re
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "comparison"))
import goals  # noqa: E402
import jobs  # noqa: E402
import report  # noqa: E402
import rows  # noqa: E402
import runner  # noqa: E402
import tables  # noqa: E402
import texts  # noqa: E402

TIME_FACTOR = int(os.environ.get("TEST_TIME_FACTOR", "1"))  # see tests/cmake/time_limits.cmake


def row(library, form, us, **fields):
    return {"bench": "neighbor", "implementation": "Open MPI", "transport": "node", "pattern": "ring",
            "memory": "user", "ranks": 2, "round": 0, "mpi": "Open MPI v0, x=y", "timed": "call + wait", "bytes": 8,
            "library": library, "form": form, "us": us, **fields}


def overlap(library, percent, **fields):
    return row(library, "nonblocking", [], bench="overlap", transport="wire", bytes=1 << 16,
               overlap_percent=[percent], overall_us=[10.0 if library == "fab" else 9.0], **fields)


def made_up():
    """At 8 B fab is 4 times faster than MPICH, the better one; at 1 MiB it is slower than Open MPI by a fifth."""
    return [
        row("fab", "blocking", [1.0, 2.0]), row("fab", "blocking", [1.0, 2.0], round=1),
        row("MPI", "blocking", [5.0, 10.0]), row("MPI", "blocking", [5.0, 10.0], round=1),
        row("MPI", "blocking", [4.0, 8.0], implementation="MPICH"),
        row("MPI", "blocking", [4.0, 8.0], implementation="MPICH", round=1),
        row("fab", "blocking", [100.0], bytes=1 << 20), row("MPI", "blocking", [80.0], bytes=1 << 20),
        row("fab", "nonblocking", [1.5]), row("MPI", "nonblocking", [9.0], in_place=False),
        row("by hand", "nonblocking", [6.0]),
        row("limit", "cells", [0.5], bench="limits"), row("limit", "kernel", [0.1], bench="limits"),
        row("native", "blocking", [3.0], pattern="faces", bytes=512), row("MPI", "blocking", [6.0], pattern="faces", bytes=512),
        overlap("fab", 95.0), overlap("MPI", 12.0),
    ]


def data(found):
    return {"machine": {"processor": "a <fast> one"}, "effort": {"name": "quick", "rounds": 2, "batches": 2, "batch_ms": 1},
            "commands": [{"job": "a job", "command": "mpirun program"}], "failed": [], "remarks": [], "rows": found,
            "left_out": [{"what": "wire", "why": "no namespaces"}]}


def scene(found, **wanted):
    return next(one for one in rows.scenes(found) if all(getattr(one.key, k) == v for k, v in wanted.items()))


class Arithmetic(unittest.TestCase):
    def setUp(self):
        self.ring = scene(made_up(), pattern="ring", bench="neighbor")

    def test_batches_of_all_rounds_make_one_spread(self):
        self.assertEqual(self.ring.spread(8, "fab", "blocking"), rows.Spread(1.0, 1.5, 2.0))

    def test_the_lead_is_over_the_better_library_in_batches_side_by_side(self):
        self.assertEqual(self.ring.lead(8, "blocking"), (rows.Spread(4.0, 4.0, 4.0), "MPICH"))
        self.assertEqual(self.ring.lead(8, "blocking", ("Open MPI",)), (rows.Spread(5.0, 5.0, 5.0), "Open MPI"))
        self.assertAlmostEqual(self.ring.lead(1 << 20, "blocking")[0].median, 0.8)

    def test_what_is_written_by_hand_counts_as_the_librarys(self):
        self.assertEqual(self.ring.lead(8, "nonblocking"), (rows.Spread(4.0, 4.0, 4.0), "Open MPI by hand"))

    def test_rounds_in_which_one_is_missing_are_not_compared(self):
        found = [row("fab", "blocking", [1.0]), row("MPI", "blocking", [7.0], round=1)]
        self.assertIsNone(scene(found).lead(8, "blocking"))

    def test_a_way_is_no_limit(self):
        self.assertEqual(self.ring.limit(8), (0.5, "cells"))
        self.assertIsNone(self.ring.limit(1 << 20))

    def test_memory_of_fabs_is_compared_with_mpich_in_the_users(self):
        found = made_up() + [row("fab", "blocking", [0.5, 1.0], memory="fab"), row("MPI", "blocking", [9.0, 9.0], memory="fab")]
        own = scene(found, memory="fab")
        self.assertEqual(own.lead(8, "blocking"), (rows.Spread(8.0, 8.0, 8.0), "MPICH"))
        self.assertEqual(own.median(8, "Open MPI", "blocking"), 9.0)


class Aims(unittest.TestCase):
    def verdict(self, found, words):
        return next(one for one in goals.judge(rows.scenes(found)) if words in one.goal)

    def test_met_at_all_points(self):
        verdict = self.verdict(made_up(), "3 times faster")
        self.assertEqual(verdict.state, goals.MET)
        self.assertIn("2 of 2 points", verdict.detail)

    def test_missed_by_how_much(self):
        verdict = self.verdict(made_up(), "2 ranks: never slower at any size")
        self.assertEqual(verdict.state, goals.MISSED)
        self.assertIn("at 2 of 3 points; least: 0.80 times (blocking, 1 MiB, ring, against Open MPI), a factor of 1.25 short",
                      verdict.detail)

    def test_what_was_not_measured_is_neither(self):
        self.assertEqual(self.verdict(made_up(), "fab's memory").state, goals.OPEN)

    def test_clusters(self):
        cluster = {"bench": "collective", "collective": "bcast", "transport": "cluster-2x4", "ranks": 8}
        found = [row(library, "blocking", [us], implementation=implementation, **cluster) for library, us, implementation in
                 (("fab", 2.0, "Open MPI"), ("flat", 1.0, "Open MPI"), ("MPI", 8.0, "Open MPI"), ("MPI", 4.0, "Open MPI HAN"))]
        flat = self.verdict(found, "2 nodes of 4 ranks, links of 1 Gbit/s: fab's choice")
        self.assertEqual(flat.state, goals.MISSED)
        self.assertIn("0.50 times", flat.detail)
        others = self.verdict(found, "2 nodes of 4 ranks, links of 1 Gbit/s: on (geometric) average 1.5")
        self.assertEqual(others.state, goals.MET)
        self.assertIn("2.00 times", others.detail)
        self.assertIn("Open MPI HAN", tables.latency(scene(found)).plain())
        self.assertIn((0, tables.latency(scene(found)).heads.index("flat/fab")), tables.latency(scene(found)).losses)

    def test_limits(self):
        found = [row(one, "blocking", [us], transport="tcp", pattern="pair") for one, us in (("fab", 6.0), ("TCP", 4.0))]
        verdict = self.verdict(found, "bare socket")
        self.assertEqual(verdict.state, goals.MISSED)
        self.assertIn("most: 1.50 limits", verdict.detail)
        self.assertIn("a factor of 1.20 over", verdict.detail)
        found[0]["us"] = [5.0]
        self.assertEqual(self.verdict(found, "bare socket").state, goals.MET)

    def test_overlap(self):
        self.assertEqual(self.verdict(made_up(), "90 %").state, goals.MET)
        self.assertEqual(self.verdict([overlap("fab", 80.0)], "90 %").state, goals.MISSED)
        self.assertEqual(self.verdict([overlap("fab", 80.0) | {"bytes": 4096}], "90 %").state, goals.OPEN)
        self.assertEqual(self.verdict(made_up(), "no longer").state, goals.MISSED)


class Footprint(unittest.TestCase):
    IDLE, MEMORY = "A processor, idle", "Memory per rank"

    def verdict(self, found, words):
        return next(one for one in goals.judge([], rows.footprint(found)) if one.goal.startswith(words))

    def use(self, percent, **fields):
        return {"bench": "footprint", "state": "idle", "transport": "tcp", "ranks": 2, "round": 0,
                "cpu_percent_largest": percent, **fields}

    def held(self, ranks, count):
        return {"bench": "footprint", "state": "ring, exchanged", "transport": "node", "ranks": ranks, "round": 0,
                "fab_bytes_mean": count}

    def test_processor_time(self):
        self.assertEqual(self.verdict([self.use(0.05)], self.IDLE).state, goals.MET)
        both = self.verdict([self.use(0.05), self.use(0.1, state="receive pending")], self.IDLE)
        self.assertEqual(both.state, goals.MISSED)
        self.assertEqual(both.detail, "at 1 of 2 points; most: 0.1000 % (receive pending, TCP on the loopback interface)")

    def test_memory(self):
        self.assertEqual(self.verdict([self.held(32, 1000), self.held(64, 1004)], self.MEMORY).state, goals.MET)
        self.assertEqual(self.verdict([self.held(32, 1000), self.held(64, 1006)], self.MEMORY).state, goals.MISSED)
        self.assertEqual(self.verdict([self.held(32, 1000)], self.MEMORY).state, goals.OPEN)

    def test_is_no_scene(self):
        self.assertEqual(rows.scenes([self.use(0.05)]), [])


class FirstContact(unittest.TestCase):
    def launch(self, library, first_us, **fields):
        return {"bench": "first", "library": library, "implementation": "Open MPI", "transport": "node", "ranks": 2,
                "round": 0, "open_us": 0, "grid_us": 300.0, "first_us": first_us, "second_us": 1.0, **fields}

    def verdict(self, found, words):
        return next(one for one in goals.judge([], [], rows.first(found)) if words in one.goal)

    def test_is_judged_by_the_median_of_launches(self):
        found = [self.launch("fab", us) for us in (1000.0, 2000.0, 90000.0)] + [self.launch("MPI", 90000.0)]
        self.assertEqual(self.verdict(found, "Opening and the first exchange, within a node").state, goals.MET)
        self.assertEqual(self.verdict(found, "over TCP").state, goals.OPEN)

    def test_of_a_native_program_is_its_opening_and_its_grid_too(self):
        verdict = self.verdict([self.launch("native", 100.0, open_us=4700.0)],
                               "Opening and the first exchange, within a node")
        self.assertEqual(verdict.state, goals.MISSED)
        self.assertIn("5.1000 ms (native, shared memory, 2 ranks)", verdict.detail)

    def test_in_an_open_context_is_the_grid_and_the_exchange(self):
        for first_us, state in ((600.0, goals.MET), (800.0, goals.MISSED)):
            verdict = self.verdict([self.launch("native", first_us, open_us=4000.0)], "in an open context")
            self.assertEqual(verdict.state, state)

    def test_stands_in_a_table_and_is_no_scene(self):
        found = [self.launch("fab", 1500.0), self.launch("MPI", 10.0)]
        self.assertEqual(rows.scenes(found), [])
        lines = tables.first(rows.first(found)).lines
        self.assertEqual([line[2] for line in lines], ["fab", "Open MPI"])
        self.assertEqual(lines[0][-2:], ["1.50 (1.50-1.50)", "1"])
        self.assertIsNone(tables.first({}))


class Report(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.text = report.write(data(made_up()), self.folder)

    def lines(self, start):
        return [line for line in self.text.splitlines() if line.strip().startswith(start)]

    def test_losses_stand_in_the_table(self):
        self.assertRegex(self.lines("1048576")[0], r"0\.80 \(0\.80-0\.80\)\s+fab slower$")
        self.assertNotIn("slower", self.lines("8  ")[0])
        self.assertIn("**0.80 (0.80-0.80)**", (self.folder / "report.md").read_text())

    def test_the_page_for_the_documents_says_who_wrote_it(self):
        page = (self.folder / "report.md").read_text()
        self.assertTrue(page.startswith("<!-- Written by bench/compare: do not edit. -->\n# "))
        self.assertIn("`bench/compare --quick --rounds 2`", page)

    def test_blocks_in_wrong_places_are_told(self):
        self.assertIn("Open MPI v0: call", self.text)

    def test_the_page_has_everything(self):
        page = (self.folder / "index.html").read_text()
        for wanted in ("<table>", '<td class="loss">0.80 (0.80-0.80)</td>', "MPICH", "no namespaces", "mpirun program",
                       "a &lt;fast&gt; one", 'class="missed"', 'class="met"', 'class="open"'):
            self.assertIn(wanted, page)
        self.assertEqual(page.count("data:image/svg+xml;base64,"), 3)
        self.assertEqual(page.count("<table"), page.count("</table>"))

    def test_plots_have_a_line_for_each_contestant(self):
        plot = (self.folder / "neighbor-node-ring-2-user.svg").read_text()
        for name in ("fab", "Open MPI", "Open MPI by hand", "MPICH", "limit"):
            self.assertIn(f">{name}<", re.sub(r"<title>[^<]*</title>", "", plot))

    def test_nothing_measured_is_a_report_too(self):
        report.write(data([]), self.folder)
        self.assertIn("not measured", (self.folder / "index.html").read_text())


class Numbers(unittest.TestCase):
    def test_four_digits(self):
        self.assertEqual([texts.number(one) for one in (0.0544, 1.23456, 12.3456, 1234.56, 123456.7, None)],
                         ["0.054", "1.235", "12.35", "1235", "123457", "-"])


class Running(unittest.TestCase):
    def run_jobs(self, *scripts, rounds=1, limit_s=20, may_hang=False):
        limit_s *= TIME_FACTOR
        planned = [jobs.Job(f"job {i}", {"transport": "node"}, ["sh", "-c", script, "sh"], {"NUMBER": "7"}, limit_s, may_hang)
                   for i, script in enumerate(scripts)]
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()) as told:
            gathered = runner.run(planned, rounds, pathlib.Path(folder))
        return gathered, told.getvalue()

    def test_rows_of_all_rounds_are_gathered(self):
        gathered, told = self.run_jobs('echo "[{\\"bytes\\": $NUMBER}]" > "$2"', rounds=2)
        self.assertEqual([(one["bytes"], one["round"], one["transport"]) for one in gathered.rows],
                         [(7, 0, "node"), (7, 1, "node")])
        self.assertIn("[2/2, about 0 s left] round 2 of 2: job 0", told)

    def test_what_is_not_permitted_is_left_out_and_what_fails_is_told(self):
        gathered, _ = self.run_jobs("echo 'cluster: making namespaces is not permitted' >&2; exit 77",
                                    "echo noise; echo 'fab_x: rank 0: wrong data'; exit 3", "exec sleep 600", "true",
                                    rounds=2, limit_s=1)
        self.assertEqual(gathered.left_out,
                         [{"what": "job 0", "why": "cluster: making namespaces is not permitted"}])
        self.assertEqual([(one["what"], one["why"].partition(":")[0]) for one in gathered.failed],
                         [("job 1", "fab_x"), ("job 2", f"not done within {TIME_FACTOR} s"), ("job 3", "no rows")])
        self.assertIn("wrong data", gathered.failed[0]["why"])

    def test_who_hangs_after_its_work_has_worked(self):
        work = 'echo "[{\\"bytes\\": 7}]" > "$2"; exec sleep 600'
        gathered, _ = self.run_jobs(work, "exec sleep 600", limit_s=1, may_hang=True)
        self.assertEqual([one["bytes"] for one in gathered.rows], [7])
        self.assertEqual([one["what"] for one in gathered.remarks], ["job 0"])
        self.assertEqual([one["what"] for one in gathered.left_out], ["job 1"])

    def test_mpich_is_left_out_where_it_is_missing(self):
        tools = jobs.Tools(pathlib.Path("build"), pathlib.Path("cluster"), pathlib.Path("switch"), "mpirun", None)
        planned, left_out = jobs.plan(jobs.PARTS, jobs.QUICK, tools)
        self.assertIn({"what": "MPICH", "why": "mpiexec.mpich was not found"}, left_out)
        self.assertFalse([job for job in planned if "mpich" in job.shown()])

    def test_distance_is_left_out_where_the_switch_is_missing(self):
        with tempfile.NamedTemporaryFile() as switch:
            for program, far in (("/no/switch", False), (switch.name, True)):
                tools = jobs.Tools(pathlib.Path("build"), pathlib.Path("cluster"), pathlib.Path(program), "mpirun", None)
                planned, left_out = jobs.plan(["clusters"], jobs.QUICK, tools)
                self.assertEqual(any("--delay 500" in job.shown() for job in planned), far)
                self.assertEqual("nodes at a distance" in [one["what"] for one in left_out], not far)


if __name__ == "__main__":
    unittest.main()
