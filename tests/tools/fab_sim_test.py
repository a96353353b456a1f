"""fab_sim FILE: what it prints and writes, for a network whose times are easily computed."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import loggops

TOOL = sys.argv.pop()
CALLS = [
    (collective, "-a", algorithm)
    for collective, algorithm in (
        ("barrier", "dissemination"),
        ("bcast", "chain"),
        ("bcast", "scatter_allgather"),
        ("reduce", "linear"),
        ("allreduce", "rabenseifner"),
        ("gather", "binomial"),
        ("scatter", "linear"),
        ("allgather", "ring"),
        ("allgather", "array_1d"),
        ("alltoall", "pairwise"),
        ("alltoall", "linear"),
        ("reduce_scatter", "pairwise"),
        ("scan", "linear"),
        ("neighbor_xchg", "direct"),
    )
]
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
        done = self.run_tool("bcast", "-a", "binary", "-n", "2", "-b", "8,64k", "--network", self.network)
        head, short, long = done.stdout.splitlines()
        self.assertEqual(head.split()[:6], ["collective", "algorithm", "ranks", "size", "time", "us"])
        self.assertEqual(short.split()[:6], ["bcast", "binary", "2", "8", "B", "1.200"])
        self.assertEqual(long.split()[3:5], ["64", "KiB"])
        self.assertEqual(len(head), len(short))
        self.assertEqual(done.stderr, "")

    def test_ranks_of_a_node_share_its_card(self):
        self.network.write_text(
            json.dumps({"far": NETWORK, "same_switch": NETWORK, "same_node": NETWORK, "node_card": {"g_ns": 1000}})
        )
        arguments = ("barrier", "-a", "recursive_doubling", "-n", "8", "-b", "0")
        times = [self.rows(*arguments, "--ppn", per_node)[0]["time_us"] for per_node in (1, 4, 8)]
        # Three steps of 1.2 us; the last one of four ranks a node has three more gaps of the card, the same both ways.
        self.assertEqual([round(time, 3) for time in times], [3.6, 6.6, 3.6])

    def test_networks_have_names(self):
        names = [line.split()[0] for line in self.run_tool("--list-networks").stdout.splitlines()]
        self.assertEqual(names, ["ethernet-1g", "infiniband-edr", "infiniband-ndr", "omni-path-100"])
        for name in names:
            done = self.run_tool("--network", name, "--print-network")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertGreater(json.loads(done.stdout)["node_card"]["g_ns"], 0)
        self.assertIn("names are ethernet-1g, ", self.run_tool("bcast", "--network", "none").stderr)

    def test_suffixes(self):
        rows = self.rows("bcast", "-a", "binomial", "-n", "4,1k", "-b", "0,8,8k,8K,1MiB,64KiB,3B,1G")
        self.assertEqual([row["ranks"] for row in rows], [4] * 8 + [1024] * 8)
        self.assertEqual([row["bytes"] for row in rows[:8]], [0, 8, 8192, 8192, 1 << 20, 1 << 16, 3, 1 << 30])

    def test_what_takes_too_long_is_named(self):
        (ring, few) = self.rows("bcast", "-a", "scatter_allgather", "-n", "1M,64k", "-b", "64k", "--limit", "1M")
        for row in (ring, few):
            self.assertIs(row["simulated"], False)
            self.assertNotIn("time_us", row)
        self.assertAlmostEqual(ring["estimated_messages"] / (2**16 * 2**20), 1, delta=0.01)
        self.assertIn("some 1.37e+11 operations (--limit 1M)", ring["why"])
        done = self.run_tool("bcast", "-a", "scatter_allgather", "-n", "1M", "-b", "64k")
        self.assertIn("64 KiB   not simulated: some 1.37e+11 operations (--limit 64M)", done.stdout)
        self.assertEqual(done.returncode, 0)

    def test_many_ranks_with_little_to_do(self):
        rows = self.rows("bcast", "-a", "scatter_allgather", "-n", "64k", "-b", "8")
        self.assertAlmostEqual(rows[0]["messages_per_rank"], 9, delta=0.001)
        (row,) = self.rows("gather", "-a", "linear", "-n", "128k", "-b", "8")
        self.assertEqual(row["most_messages_of_a_rank"], 1)

    def test_the_limit_is_on_what_is_done(self):
        for limit, simulated in (("30", True), ("29", False)):
            (row,) = self.rows("bcast", "-a", "linear", "-n", "16", "--limit", limit)
            self.assertIs(row["simulated"], simulated)

    def test_goal(self):
        file = self.path / "bcast.goal"
        done = self.run_tool("bcast", "-a", "binary", "-n", "2", "-b", "5", "--goal", file)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(
            file.read_text(),
            "num_ranks 2\n\nrank 0 {\nl1: send 5b to 1 tag 0\n}\n\nrank 1 {\nl1: recv 5b from 0 tag 0\n}\n",
        )

    def test_goal_of_one_rank(self):
        file = self.path / "one.goal"
        done = self.run_tool("bcast", "-a", "binary", "-n", "1", "--goal", file)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(file.read_text(), "num_ranks 1\n\nrank 0 {\nl1: calc 0\n}\n")

    def test_who_pays_for_bytes(self):
        """The figures are LogGOPSim's where processors pay, with its default network."""
        cost = {"L_ns": 2500, "o_ns": 1500, "g_ns": 1000, "G_ns_per_byte": 6}
        self.network.write_text(
            json.dumps({"work_ns_per_byte": 0, "same_node": cost, "same_switch": cost, "far": cost})
        )
        for call, card, processor in (
            (("alltoall", "-a", "pairwise", "-n", 64, "-b", 512), 554.336, 690.836),
            (("bcast", "-a", "binary", "-n", 64, "-b", "1M"), 15798.4, 27222.99),
            (("bcast", "-a", "binomial", "-n", 64, "-b", "1M"), 37781.7, 37781.7),
        ):
            (row,) = self.rows(*call)
            self.assertAlmostEqual(row["time_us"], card)
            (row,) = self.rows(*call, "--receiver-pays", "processor")
            self.assertAlmostEqual(row["time_us"], processor)

    def test_predictions_are_those_of_loggopsim(self):
        costs = {"L": 2500, "o": 1500, "g": 1000, "G": 6}
        cost = {"L_ns": 2500, "o_ns": 1500, "g_ns": 1000, "G_ns_per_byte": 6, "receiver_pays_G": "processor"}
        self.network.write_text(
            json.dumps({"work_ns_per_byte": 0, "same_node": cost, "same_switch": cost, "far": cost})
        )
        file = self.path / "schedule.goal"
        for call in CALLS:
            for ranks, size in ((7, 1000), (16, 70000)):
                with self.subTest(call=call, ranks=ranks, bytes=size):
                    (row,) = self.rows(*call, "-n", ranks, "-b", size, "--goal", file)
                    self.assertAlmostEqual(
                        1000 * row["time_us"], loggops.time_of(file.read_text(), costs, 65536), places=3
                    )

    def test_the_printed_network_can_be_read(self):
        first = self.run_tool("--print-network").stdout
        self.network.write_text(first)
        self.assertEqual(self.run_tool("--print-network", "--network", self.network).stdout, first)

    def test_output_that_is_lost_is_an_error(self):
        for arguments in (("bcast", "-n", "2"), ("bcast", "-n", "2", "--json"), ("--list",), ("--help",)):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([TOOL, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual(done.returncode, 1, arguments)
            self.assertIn("No space left", done.stderr)
        done = self.run_tool("bcast", "-a", "binary", "-n", "2", "--goal", "/dev/full")
        self.assertEqual(done.returncode, 1)
        self.assertIn("--goal", done.stderr)

    def test_input_is_quoted_shortly_and_harmlessly(self):
        done = self.run_tool("\x1b[2J" * 1000)
        self.assertEqual(done.returncode, 1)
        self.assertNotIn("\x1b", done.stderr)
        self.assertIn("...\" (4000 bytes)", done.stderr)
        done = self.run_tool("bcast", "--\x1b[2J")
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn("\x1b", done.stderr)

    def test_errors_are_named(self):
        for arguments, message in (
            (("bcas",), 'no collective "bcas"'),
            (("bcast", "-a", "x"), 'no collective "bcast" with an algorithm "x"'),
            (("bcast", "-b", "8x"), '--bytes "8x": a number from 0 to'),
            (("bcast", "-b", "5000P"), '--bytes "5000P"'),
            (("bcast", "-b", "4611686018427387905"), "from 0 to 4611686018427387904"),
            (("bcast", "-b", "18446744073709551616"), "from 0 to 4611686018427387904"),
            (("bcast", "-b", "4E"), '--bytes "4E"'),
            (("bcast", "-b", "4194304T"), "with 16 ranks at most 288230376151711744"),
            (("bcast", "-b", "-1"), '--bytes "-1"'),
            (("bcast", "-b", "\x1b[2J" + 100 * "x"), '--bytes "\\x1b[2Jxxxxx'),
            (("bcast", "-n", "0"), '--ranks "0": a number from 1 to 268435456'),
            (("bcast", "-n", "1G"), '--ranks "1G"'),
            (("bcast", "--limit", "many"), '--limit "many"'),
            (("bcast", "--receiver-pays", "me"), "--receiver-pays"),
            (("bcast", "-n", "4", "--root", "4"), "--root 4: valid are 0 to 3"),
            (("neighbor_xchg", "-n", "4", "--grid", "3"), "--grid 3: the grid is not of 4 ranks"),
            (("bcast", "-a", "binary", "-n", "4,8", "--goal", self.path / "x"), "a file holds one schedule"),
            (("bcast", "-a", "binary", "--goal", self.path / "no" / "x"), "No such file"),
        ):
            done = self.run_tool(*arguments)
            self.assertNotEqual(done.returncode, 0, arguments)
            self.assertIn(message, done.stderr)
            self.assertEqual(done.stdout.count("\n"), 2 if "No such" in message else 0, done.stdout)

    def test_errors_in_the_network_are_named(self):
        self.network.write_text(json.dumps({"far": {"receiver_pays_G": "me"}}))
        done = self.run_tool("bcast", "--network", self.network)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('far has receiver_pays_G = "me"; "card" and "processor" are valid', done.stderr)

    def test_times_beyond_what_can_be_counted(self):
        for arguments in (("-b", "262144T"), ("-b", "4096T")):
            done = self.run_tool("bcast", "-a", "linear", "-n", "16", *arguments)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("takes longer than 53 days", done.stderr)

    def test_output_that_cannot_be_written(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([TOOL, "bcast"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("No space left on device", done.stderr)
        done = self.run_tool("bcast", "-a", "binary", "--goal", "/dev/full")
        self.assertEqual(done.returncode, 1)
        self.assertIn("--goal /dev/full", done.stderr)


unittest.main()
