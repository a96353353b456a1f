"""otf2_test.py FAB_TRACE OTF2_PRINT NATIVE_PROGRAM MESSAGES_PROGRAM MPIRUN...: archives of fab_trace otf2, as
otf2-print reads them."""

import collections
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TRACE, OTF2_PRINT, NATIVE, MESSAGES, *MPIRUN = sys.argv[1:]
del sys.argv[1:]

EXCHANGES = 20
ROUNDS = 4
SIZES = (8, 8000, 400000)


class Archive:
    """What otf2-print shows of an archive: locations as {number: name}, events as (kind, location, time, rest)."""

    def __init__(self, folder):
        file = str(folder / "traces.otf2")
        self.ask("--silent", "-Werror", file)
        self.locations = {}
        for line in self.ask("--show-global-defs", file).splitlines():
            found = re.match(r"LOCATION +(\d+) +Name: \"([^\"]*)\".*# Events: (\d+), Group: \"([^\"]*)\"", line)
            if found:
                self.locations[int(found[1])] = (found[2], found[4], int(found[3]))
        self.events = []
        for line in self.ask(file).splitlines():
            found = re.match(r"(ENTER|LEAVE|MPI_\w+) +(\d+) +(\d+)  (.*)", line)
            if found:
                self.events.append((found[1], int(found[2]), int(found[3]), found[4]))

    @staticmethod
    def ask(*arguments):
        done = subprocess.run([OTF2_PRINT, *arguments], capture_output=True, text=True, check=False)
        if done.returncode != 0 or done.stderr:
            raise AssertionError(f"otf2-print {arguments}: {done.returncode}: {done.stderr}")
        return done.stdout

    def count(self, kind, pattern=""):
        return len([event for event in self.events if event[0] == kind and re.search(pattern, event[3])])

    def messages(self, kind, peer):
        """{(source, destination, tag): (time, bytes)}; no two have the same key."""
        found = {}
        for event in self.events:
            if event[0] != kind:
                continue
            other, tag, length = (int(re.search(rf"{field}: (\d+)", event[3])[1]) for field in (peer, "Tag", "Length"))
            key = (event[1], other, tag) if kind == "MPI_ISEND" else (other, event[1], tag)
            if key in found:
                raise AssertionError(f"two messages {key}")
            found[key] = (event[2], length)
        return found


class Archives(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.file = pathlib.Path(self.folder.name) / "trace"
        self.out = pathlib.Path(self.folder.name) / "archive"

    def tearDown(self):
        self.folder.cleanup()

    def run_job(self, ranks, *command):
        environment = dict(os.environ) | {"FAB_TRACE": str(self.file)}
        done = subprocess.run([*MPIRUN, str(ranks), *map(str, command)], capture_output=True, text=True, check=False,
                              env=environment)
        self.assertEqual(done.returncode, 0, done.stderr)

    def tool(self, *arguments, status=0):
        done = subprocess.run([TRACE, *map(str, arguments)], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout if status == 0 else done.stderr

    def archive(self, *files):
        self.assertEqual(self.tool("otf2", self.out, *(files or [self.file])), "")
        return Archive(self.out)

    def check_events(self, archive):
        """Times ascend on each location, regions nest, and each location has as many events as it says."""
        stacks = collections.defaultdict(list)
        last = collections.defaultdict(int)
        counted = collections.Counter()
        for kind, location, time, rest in archive.events:
            self.assertGreaterEqual(time, last[location])
            last[location] = time
            counted[location] += 1
            region = re.search(r"Region: \"([^\"]*)\"", rest)
            if kind == "ENTER":
                stacks[location].append(region[1])
            elif kind == "LEAVE":
                self.assertEqual(stacks[location].pop(), region[1])
        self.assertFalse(any(stacks.values()))
        for number, (_, _, events) in archive.locations.items():
            self.assertEqual(counted[number], events)

    def check_messages(self, archive, report):
        """Each message has both ends, its tag and length at both, and arrives after it was sent."""
        self.assertEqual(report["lonely_ends"], 0)
        sent = archive.messages("MPI_ISEND", "Receiver")
        received = archive.messages("MPI_RECV", "Sender")
        self.assertEqual(len(sent), report["messages"])
        self.assertEqual(sent.keys(), received.keys())
        for key, (time, length) in sent.items():
            self.assertLess(time, received[key][0])
            self.assertEqual(length, received[key][1])
        return sent

    def check_counts(self, archive, report):
        starts = collections.Counter()
        for row in report["operations"]:
            starts[row["operation"]] += row["starts"]
        for operation, count in starts.items():
            self.assertEqual(archive.count("ENTER", rf"Region: \"{operation}\b"), count, operation)
        self.assertEqual(archive.count("ENTER", r"Region: \"wait\b"), sum(rank["waits"] for rank in report["ranks"]))

    def test_it_has_what_the_timeline_has(self):
        self.run_job(3, NATIVE, 2, EXCHANGES)
        report = json.loads(self.tool("report", "--json", self.file))
        archive = self.archive()
        for rank in range(3):
            self.assertEqual(archive.locations[rank][:2], (f"rank {rank}", f"rank {rank}"))
        names = {(name, rank) for name, rank, _ in archive.locations.values()}
        for rank in range(3):
            self.assertIn(("progress thread", f"rank {rank}"), names)
        self.check_events(archive)
        self.check_messages(archive, report)
        self.check_counts(archive, report)
        self.assertEqual(archive.count("ENTER", "Region: \"neighbor_xchg"), 3 * EXCHANGES)

    def test_messages_from_rank_to_rank(self):
        self.run_job(2, MESSAGES, ROUNDS)
        report = json.loads(self.tool("report", "--json", self.file))
        archive = self.archive()
        self.check_events(archive)
        sent = self.check_messages(archive, report)
        self.check_counts(archive, report)
        lengths = collections.Counter((source, length) for (source, _, _), (_, length) in sent.items())
        self.assertEqual(lengths, {(rank, bytes_): ROUNDS for rank in (0, 1) for bytes_ in SIZES})
        self.assertEqual(archive.count("MPI_ISEND_COMPLETE"), len(sent))

    def test_ranks_without_a_file_keep_their_numbers(self):
        self.run_job(3, NATIVE, 2, EXCHANGES)
        archive = self.archive(f"{self.file}.0", f"{self.file}.2")
        self.assertEqual(archive.locations[1], ("rank 1", "rank 1", 0))
        self.check_events(archive)
        sent = archive.messages("MPI_ISEND", "Receiver")
        received = archive.messages("MPI_RECV", "Sender")
        with_both_ends = [key for key in sent if key[:2] in ((0, 2), (2, 0))]
        self.assertGreaterEqual(len(with_both_ends), 2 * EXCHANGES)
        self.assertTrue(all(key in received for key in with_both_ends))
        self.assertGreaterEqual(len([key for key in received if key[0] == 1]), 2 * EXCHANGES)

    def test_folders_that_cannot_be(self):
        self.run_job(1, NATIVE, -1, 1)
        self.archive()
        self.assertIn(f"otf2: the folder \"{self.out}\" is not empty", self.tool("otf2", self.out, self.file, status=1))
        self.assertIn("Not a directory", self.tool("otf2", f"{self.file}.0", self.file, status=1))
        self.assertIn("No such file", self.tool("otf2", "/proc/none", self.file, status=1))
        self.assertIn("cannot be read", self.tool("otf2", "elsewhere", "none", status=1))
        self.assertFalse(pathlib.Path("elsewhere").exists())


if __name__ == "__main__":
    unittest.main()
