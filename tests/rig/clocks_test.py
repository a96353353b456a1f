"""clocks_test.py CLUSTER FAB_TRACE LATE_PROGRAM: traces of two hosts whose clocks differ, brought onto one clock.

The second host's ranks live in a namespace of time, whose CLOCK_MONOTONIC is OFFSET_S ahead. So the true place of each
record on the first host's clock is known to the nanosecond. Exit status: 77 where namespaces are not permitted.
"""

import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest

CLUSTER, TRACE, PROGRAM = sys.argv[1:]
del sys.argv[1:]

OFFSET_S = 7
OFFSET_NS = OFFSET_S * 10**9
EXCHANGES = 300
FACTOR = int(os.environ.get("TEST_TIME_FACTOR", "1"))
NAMESPACE = ["unshare", "--time", "--monotonic", str(OFFSET_S)]
# Node 2 alone enters the namespace, which all its ranks share.
RANK = """case $(hostname) in *-2) exec nsenter --time="$0" "$@" ;; esac; exec "$@\""""
START, END = 1, 7  # core::TraceEvent
BY_MESSAGES = re.compile(r"clocks of \S+-1 and \S+-2: by (\d+) messages there and (\d+) back, to ([0-9.]+) us; "
                         r"drift ([-0-9.]+) ppm")
ROUNDED = 1e-9  # a drift is written to a thousandth of a ppm


class RawTrace:
    """A rank's file, by the rank's own clock: `exchanges` are pairs of start and end in nanoseconds, by start."""

    def __init__(self, file):
        data = pathlib.Path(file).read_bytes()
        head_bytes, records = struct.unpack_from("=QQ", data, 16)
        self.head = json.loads(data[32:32 + head_bytes])
        starts, self.exchanges = {}, []
        for i in range(records):
            time, _, details, exchange, _ = struct.unpack_from("=QQQIi", data, 32 + head_bytes + 32 * i)
            if details >> 60 == START:
                starts[exchange] = time
            elif details >> 60 == END:
                self.exchanges.append((starts[exchange], time))
        self.exchanges.sort()


def ahead(raw, trace):
    """How far a rank's clock is ahead of rank 0's, in nanoseconds."""
    return OFFSET_NS if trace.head["clock"] != raw[0].head["clock"] else 0


class TwoClocks(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.file = pathlib.Path(self.folder.name) / "trace"
        self.holder = subprocess.Popen([*NAMESPACE, "sh", "-c", "echo && exec sleep infinity"], stdout=subprocess.PIPE)
        self.holder.stdout.readline()

    def tearDown(self):
        self.holder.kill()
        self.holder.communicate()
        self.folder.cleanup()

    def merge(self, ranks, exchanges):
        """Runs the job, half of its ranks on each host. The raw trace of each rank, and the merged one."""
        command = [CLUSTER, "run", "--", "-n", str(ranks), "--map-by", f"ppr:{ranks // 2}:node", "sh", "-c", RANK,
                   f"/proc/{self.holder.pid}/ns/time_for_children", PROGRAM, "-1", str(exchanges)]
        done = subprocess.run(command, capture_output=True, text=True, check=False,
                              env=dict(os.environ) | {"FAB_TRACE": str(self.file)})
        if done.returncode == 77:
            self.skipTest(done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)
        raw = [RawTrace(f"{self.file}.{rank}") for rank in range(ranks)]
        clocks = [trace.head["clock"] for trace in raw]
        self.assertEqual(len(set(clocks)), 2)
        self.assertEqual(clocks, sorted(clocks, key=clocks.index), "ranks of a host have one clock")
        out = self.file.with_suffix(".json")
        subprocess.run([TRACE, "merge", self.file, "-o", out], check=True, capture_output=True)
        return raw, json.loads(out.read_text())

    def exchanges_of(self, merged, rank):
        """Pairs of start and duration in nanoseconds, by start."""
        return sorted((round(1000 * each["ts"]), round(1000 * each["dur"])) for each in merged["traceEvents"]
                      if each["ph"] == "X" and each["pid"] == rank and "step" in each["args"] and each["tid"] >= 3)

    def check_exchanges(self, raw, merged, drift=0.0):
        """Of each exchange the duration, up to the drift that was found, and that the clock of its host is shifted. The
        largest error of a start, in ns."""
        found = [self.exchanges_of(merged, rank) for rank in range(len(raw))]
        zero = raw[0].exchanges[0][0] - found[0][0][0]
        error = 0
        for rank, trace in enumerate(raw):
            shift = ahead(raw, trace)
            self.assertEqual(len(found[rank]), len(trace.exchanges))
            for (start, end), (at, took) in zip(trace.exchanges, found[rank]):
                self.assertAlmostEqual(took, end - start, delta=drift * (end - start) + 2 if shift else 0)
                off = abs(at - (start - shift - zero))
                self.assertLessEqual(off, OFFSET_NS / 10 if shift else 0)
                error = max(error, off)
        return error

    def check_messages(self, merged):
        begins = {each["id"]: each["ts"] for each in merged["traceEvents"] if each["ph"] == "s"}
        ends = {each["id"]: each["ts"] for each in merged["traceEvents"] if each["ph"] == "f"}
        self.assertEqual(begins.keys(), ends.keys())
        for number, begin in begins.items():
            self.assertLess(begin, ends[number])
        return len(begins)

    def test_messages_both_ways_tell_the_offset(self):
        raw, merged = self.merge(4, EXCHANGES)
        notes = merged["otherData"]["notes"]
        self.assertEqual(len(notes), 1, notes)  # in particular no arrival was moved
        there, back, width_us, ppm = BY_MESSAGES.match(notes[0]).groups()
        self.assertGreaterEqual(min(int(there), int(back)), 2 * EXCHANGES)
        self.assertGreaterEqual(self.check_messages(merged), 4 * 2 * EXCHANGES)
        drift = abs(float(ppm)) * 1e-6 + ROUNDED
        error = self.check_exchanges(raw, merged, drift)
        # The clocks have no drift, so the one that was found adds its part over the trace.
        times = [time - ahead(raw, trace) for trace in raw for time in trace.exchanges[0] + trace.exchanges[-1]]
        self.assertLessEqual(error, 1000 * float(width_us) + drift * (max(times) - min(times)) + 2)
        self.assertLess(float(width_us), 1000 * FACTOR)  # of the fastest of many messages

    def test_the_time_of_day_decides_where_messages_go_one_way(self):
        raw, merged = self.merge(2, 0)
        notes = merged["otherData"]["notes"]
        self.assertRegex(notes[0], "messages went one way, which only bounds the offset; by the time of day")
        self.assertEqual(len(notes), 1, notes)
        self.assertEqual(self.check_messages(merged), 1)  # that of the broadcast which makes the communicator
        self.check_exchanges(raw, merged)


if __name__ == "__main__":
    permitted = subprocess.run([*NAMESPACE, "true"], capture_output=True, text=True, check=False)
    if permitted.returncode != 0:
        print(f"a namespace of time is not permitted here: {permitted.stderr}", file=sys.stderr)
        sys.exit(77)
    tests = unittest.main(exit=False)
    sys.exit(77 if tests.result.skipped else not tests.result.wasSuccessful())
