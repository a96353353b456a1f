"""fab_sim FILE: what it prints and writes, for a network whose times are easily computed."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = sys.argv.pop()
NETWORK = {"L_ns": 1000, "o_ns": 100, "g_ns": 50, "G_ns_per_byte": 0}


class FabSim(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        self.network = self.path / "network.json"
        self.network.write_text(json.dumps({"same_node": NETWORK, "same_switch": NETWORK, "far": NETWORK}))

    def tearDown(self):
        self.folder.cleanup()

    def run_tool(self, *arguments):
        return subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True, check=False)

    def rows(self, *arguments):
        done = self.run_tool(*arguments, "--network", self.network, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["rows"]

    def test_times_follow_the_model(self):
        rows = self.rows("bcast", "-a", "binary", "-n", "2,4,131072", "-b", "8")
        self.assertEqual([row["ranks"] for row in rows], [2, 4, 1 << 17])
        self.assertAlmostEqual(rows[0]["time_us"], 1.2)
        self.assertAlmostEqual(rows[1]["time_us"], 2.4)
        self.assertGreater(rows[2]["time_us"], 17 * 1.2)
        self.assertLess(rows[2]["time_us"], 17 * 1.3)
        self.assertEqual(rows[2]["most_messages_of_a_rank"], 2)

    def test_traffic_of_each_rank(self):
        (row,) = self.rows("neighbor_xchg", "-n", "8", "--grid", "2,4", "-b", "10", "--per-rank")
        self.assertEqual([(rank["messages"], rank["bytes"]) for rank in row["per_rank"]], [(4, 40)] * 8)
        self.assertEqual(row["messages_per_rank"], 4)

    def test_the_table_says_the_same(self):
        done = self.run_tool("bcast", "-a", "binary", "-n", "2", "--network", self.network)
        head, row = done.stdout.splitlines()
        self.assertEqual(head.split()[:4], ["collective", "algorithm", "ranks", "bytes"])
        self.assertEqual(row.split()[:5], ["bcast", "binary", "2", "8", "1.200"])

    def test_goal(self):
        file = self.path / "bcast.goal"
        done = self.run_tool("bcast", "-a", "binary", "-n", "2", "-b", "5", "--goal", file)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(
            file.read_text(),
            "num_ranks 2\n\nrank 0 {\nl1: send 5b to 1 tag 0\n}\n\nrank 1 {\nl1: recv 5b from 0 tag 0\n}\n",
        )

    def test_the_printed_network_can_be_read(self):
        first = self.run_tool("--print-network").stdout
        self.network.write_text(first)
        self.assertEqual(self.run_tool("--print-network", "--network", self.network).stdout, first)

    def test_errors_are_named(self):
        for arguments, message in (
            (("bcas",), "no collective 'bcas'"),
            (("bcast", "-a", "x"), "no collective 'bcast' with an algorithm 'x'"),
            (("bcast", "-n", "4", "--root", "4"), "--root 4; there are 4 ranks"),
            (("neighbor_xchg", "-n", "4", "--grid", "3"), "--grid 3: not of 4 ranks"),
            (("bcast", "-a", "binary", "-n", "4,8", "--goal", self.path / "x"), "make a file"),
            (("bcast", "-a", "binary", "--goal", self.path / "no" / "x"), "No such file"),
        ):
            done = self.run_tool(*arguments)
            self.assertNotEqual(done.returncode, 0, arguments)
            self.assertIn(message, done.stderr)
            self.assertEqual(done.stdout.count("\n"), 2 if "No such" in message else 0, done.stdout)


unittest.main()
