"""trace_test.py FAB_TRACE NATIVE_PROGRAM MPI_PROGRAM DROPIN_PROGRAM MESSAGES_PROGRAM FAB_RUN MPIRUN...: FAB_TRACE of
whole jobs."""

import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

TRACE, NATIVE, MPI, DROPIN, MESSAGES, RUN, *MPIRUN = sys.argv[1:]
del sys.argv[1:]

EXCHANGES = 40
SVG = "{http://www.w3.org/2000/svg}"


class WholeJobs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.file = pathlib.Path(self.folder.name) / "trace"

    def tearDown(self):
        self.folder.cleanup()

    def run_job(self, ranks, *command, options=(), status=0, **variables):
        environment = dict(os.environ) | {"FAB_TRACE": str(self.file)} | variables
        done = subprocess.run([*MPIRUN, str(ranks), *options, *map(str, command)], capture_output=True, text=True,
                              check=False, env=environment)
        if status is not None:
            self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr

    def tool(self, *arguments, status=0):
        done = subprocess.run([TRACE, *map(str, arguments)], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout if status == 0 else done.stderr

    def report(self, *files):
        return json.loads(self.tool("report", "--json", "--waits", 100000, *(files or [self.file])))

    def check_report(self, report, operation, late_rank):
        """The late rank is named as the one that most waits of the others were for, since it started late."""
        self.assertEqual(report["job_ranks"], 3)
        self.assertEqual([rank["rank"] for rank in report["ranks"]], [0, 1, 2])
        self.assertEqual(report["lonely_ends"], 0)
        self.assertEqual(report["notes"], [])
        rows = {row["rank"]: row for row in report["operations"] if row["operation"] == operation}
        for rank in range(3):
            self.assertEqual(rows[rank]["starts"], EXCHANGES)
            self.assertEqual(rows[rank]["failed"], 0)
            self.assertGreaterEqual(rows[rank]["overlap"], 0)
            self.assertLessEqual(rows[rank]["overlap"], 1)
        of_others = [wait for wait in report["waits"]
                     if wait["rank"] != late_rank and wait.get("operation") == operation]
        named = [wait for wait in of_others if wait["reason"] == "started late" and wait["for_rank"] == late_rank]
        self.assertGreaterEqual(len(named), EXCHANGES, of_others)  # half of the two others' exchanges
        self.assertGreater(len({wait["step"] for wait in named}), EXCHANGES // 2)
        late = collections.Counter(wait["for_rank"] for wait in report["waits"] if wait["reason"] == "started late")
        self.assertEqual(late.most_common(1)[0][0], late_rank)
        self.assertGreaterEqual(report["ranks"][late_rank]["kept_waits"], len(named))

    def test_the_report_names_the_late_rank(self):
        for late_rank in (0, 2):
            self.run_job(3, NATIVE, late_rank, EXCHANGES)
            self.check_report(self.report(), "neighbor_xchg", late_rank)
        self.assertRegex(self.tool("report", self.file),
                         r"step \d+ of neighbor_xchg on \S+: rank [01] waited [0-9.]+ ms for rank 2, which started")

    def test_the_mpi_binding(self):
        self.run_job(3, MPI, 1, EXCHANGES)
        self.check_report(self.report(), "neighbor_xchg", 1)

    def test_the_drop_in(self):
        self.run_job(3, RUN, "--carry", "all", DROPIN, 2, EXCHANGES)
        self.check_report(self.report(), "neighbor_alltoall", 2)

    def test_messages_from_rank_to_rank(self):
        """Short, announced and long ones: the report has each start, and both ends of each message find each other."""
        rounds, sizes = 5, [8, 8000, 400000]
        self.run_job(2, MESSAGES, rounds)
        report = self.report()
        starts = {(row["operation"], row["rank"]): row["starts"] for row in report["operations"]}
        self.assertEqual(starts, {(name, rank): rounds * len(sizes) for name in ("send", "recv") for rank in (0, 1)})
        self.assertTrue(all(row["failed"] == 0 for row in report["operations"]))
        self.assertEqual((report["messages"], report["lonely_ends"]), (2 * rounds * len(sizes), 0))
        for wait in report["waits"]:
            self.assertIn(wait["operation"], ("send", "recv"))
            self.assertNotEqual(wait.get("for_rank"), wait["rank"])
        out = pathlib.Path(self.folder.name) / "merged.json"
        self.tool("merge", self.file, "-o", out)
        events = json.loads(out.read_text())["traceEvents"]
        begins = {event["id"]: event for event in events if event["ph"] == "s"}
        ends = {event["id"]: event for event in events if event["ph"] == "f"}
        self.assertEqual(begins.keys(), ends.keys())
        ways = collections.Counter()
        for number, begin in begins.items():
            self.assertEqual(ends[number]["pid"], 1 - begin["pid"])
            self.assertGreaterEqual(ends[number]["ts"], begin["ts"])
            self.assertEqual(ends[number]["args"]["bytes"], begin["args"]["bytes"])
            ways[(begin["pid"], begin["args"]["bytes"], begin["args"]["way"])] += 1
        # A rank's first message may leave before its receiver's address is known, and so its way.
        for rank in (0, 1):
            firsts = ways.pop((rank, sizes[0], "unknown"), 0)
            self.assertLessEqual(firsts, 1)
            ways[(rank, sizes[0], "cell")] += firsts
        expected = dict(zip(sizes, ("cell", "ring", "kernel")))
        self.assertEqual(ways, {(rank, size, expected[size]): rounds for rank in (0, 1) for size in sizes})

    def test_viewers_get_both_ends_of_each_message(self):
        self.run_job(3, NATIVE, 2, EXCHANGES)
        out = pathlib.Path(self.folder.name) / "merged.json"
        self.tool("merge", self.file, "-o", out)
        trace = json.loads(out.read_text())
        events = trace["traceEvents"]
        slices = [event for event in events if event["ph"] == "X"]
        self.assertGreaterEqual(len([each for each in slices if each["name"] == "neighbor_xchg"]), 3 * EXCHANGES)
        self.assertTrue(all(each["dur"] >= 0 and each["ts"] >= 0 for each in slices))
        names = {(event["pid"], event["args"]["name"]) for event in events if event["ph"] == "M" and "name" in event["args"]}
        for rank in range(3):
            self.assertIn((rank, "waits"), names)
            self.assertIn((rank, "progress thread"), names)
        begins = {event["id"]: event for event in events if event["ph"] == "s"}
        ends = {event["id"]: event for event in events if event["ph"] == "f"}
        self.assertEqual(begins.keys(), ends.keys())
        self.assertGreaterEqual(len(begins), 3 * 2 * EXCHANGES)
        self.assertEqual(len([event for event in events if event["ph"] in "sf"]), 2 * len(begins))
        for number, begin in begins.items():
            self.assertGreaterEqual(ends[number]["ts"], begin["ts"])
            for end in (begin, ends[number]):
                self.assertTrue(any(each["pid"] == end["pid"] and each["tid"] == end["tid"] and
                                    each["ts"] <= end["ts"] <= each["ts"] + each["dur"] + 1e-3 for each in slices))
        for track in {(each["pid"], each["tid"]) for each in slices}:
            self.check_nesting(sorted((each["ts"], -each["dur"]) for each in slices if (each["pid"], each["tid"]) == track))

    def check_nesting(self, slices):
        """Slices of a track contain each other, or do not meet."""
        open_ends = []
        for begin, minus_duration in slices:
            end = begin - minus_duration
            while open_ends and open_ends[-1] <= begin + 1e-3:
                open_ends.pop()
            if open_ends:
                self.assertLessEqual(end, open_ends[-1] + 1e-3)
            open_ends.append(end)

    def test_a_picture_of_some_steps(self):
        self.run_job(3, NATIVE, 2, EXCHANGES)
        picture = xml.fromstring(self.tool("svg", self.file, "--operation", "neighbor_xchg", "--steps", "10:12"))
        self.assertEqual(picture.tag, SVG + "svg")
        titles = [title.text for title in picture.iter(SVG + "title")]
        steps = [title for title in titles if title.startswith("neighbor_xchg")]
        self.assertEqual(len([title for title in steps if ", step 11:" in title]), 3)
        self.assertEqual(len([title for title in titles if title.startswith("rank 0 to 1:")]) >= 3, True)
        texts = {text.text for text in picture.iter(SVG + "text")}
        self.assertLessEqual({"rank 0", "rank 1", "rank 2", "a caller waits", "progress thread awake"}, texts)
        self.assertFalse([each for each in picture.iter() if any("href" in name for name in each.attrib)])

    def test_a_picture_of_a_time(self):
        self.run_job(2, NATIVE, -1, EXCHANGES)
        picture = xml.fromstring(self.tool("svg", self.file, "--from", "0ms", "--to", "2s", "--ranks", "1"))
        texts = {text.text for text in picture.iter(SVG + "text")}
        self.assertIn("rank 1", texts)
        self.assertNotIn("rank 0", texts)

    def test_pictures_that_cannot_be(self):
        self.run_job(1, NATIVE, -1, EXCHANGES)
        self.assertIn("no steps 90:91 of \"neighbor_xchg\"; there are",
                      self.tool("svg", self.file, "--operation", "neighbor_xchg", "--steps", "90:91", status=1))
        self.assertIn("--steps needs --operation", self.tool("svg", self.file, "--steps", "1", status=1))
        self.assertIn("--steps \"2:1\"", self.tool("svg", self.file, "--operation", "x", "--steps", "2:1", status=1))
        self.assertIn("--ranks 3: the job has the ranks 0 to 0", self.tool("svg", self.file, "--ranks", "3", status=1))
        self.assertIn("the end must be later", self.tool("svg", self.file, "--from", "2s", "--to", "1s", status=1))

    def test_a_ring_that_wraps_keeps_the_newest(self):
        self.run_job(3, NATIVE, 2, EXCHANGES, FAB_TRACE_EVENTS="64")
        report = self.report()
        for rank in report["ranks"]:
            self.assertGreater(rank["lost"], 0)
        steps = {wait["step"] for wait in report["waits"] if wait.get("operation") == "neighbor_xchg"}
        self.assertEqual(max(steps), EXCHANGES)
        self.assertIn("has lost its first", self.tool("report", self.file))

    def test_without_the_variable_nothing_is_written(self):
        self.run_job(2, NATIVE, -1, EXCHANGES, FAB_TRACE="")
        self.assertEqual(list(pathlib.Path(self.folder.name).iterdir()), [])

    def test_a_rank_that_was_killed_writes_nothing(self):
        self.run_job(3, NATIVE, 2, EXCHANGES, 1, options=("--enable-recovery",), status=None)
        files = [f"{self.file}.{rank}" for rank in (0, 2)]
        self.assertTrue(all(pathlib.Path(file).exists() for file in files))
        self.assertFalse(pathlib.Path(f"{self.file}.1").exists())
        report = self.report(*files)
        self.assertEqual([rank["rank"] for rank in report["ranks"]], [0, 2])
        self.assertGreater(report["lonely_ends"], 0)

    def test_a_file_that_cannot_be_written(self):
        self.assertIn("FAB_TRACE: the file /nowhere/trace.0 cannot be written",
                      self.run_job(1, NATIVE, -1, 1, FAB_TRACE="/nowhere/trace"))

    def test_files_that_are_no_traces(self):
        self.assertIn("cannot be read", self.tool("report", self.file, status=1))
        self.file.write_text("FABTRACE and then something else that is long enough")
        self.assertIn("version", self.tool("report", self.file, status=1))
        self.file.write_text("something else")
        self.assertIn("no trace of fab's", self.tool("merge", self.file, status=1))

    def test_help_and_version(self):
        self.assertRegex(self.tool("--version"), r"^fab_trace \d+\.\d+")
        for command in ("merge", "svg", "report"):
            self.assertIn("--out", self.tool(command, "--help"))
        self.assertIn("folder", self.tool("otf2", "--help"))


if __name__ == "__main__":
    unittest.main()
