"""fab_tune_test.py FAB_TUNE FAB_INFO FAB_SIM [MPIRUN...]: rules files, and what is chosen by them."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TUNE, INFO, SIM, *MPIRUN = sys.argv[1:]
del sys.argv[1:]


class FabTune(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.file = pathlib.Path(self.folder.name) / "rules.json"

    def tearDown(self):
        self.folder.cleanup()

    def run_tool(self, *command, rules=None):
        environment = dict(os.environ) | ({"FAB_RULES": str(rules)} if rules else {})
        return subprocess.run([*map(str, command)], capture_output=True, text=True, check=False, env=environment)

    def choices(self, *arguments, rules=None):
        done = self.run_tool(INFO, "--choose", *arguments, "--json", rules=rules)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def fastest(self, *arguments):
        done = self.run_tool(SIM, *arguments, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [row for row in json.loads(done.stdout)["rows"] if not row["algorithm"].startswith("hypercube")]
        return min(rows, key=lambda row: row["time_us"])["algorithm"]

    def test_simulated_rules_choose_what_is_fastest(self):
        sizes = ("8", "1k", "64k")
        network = ("--network", "omni-path-100")
        grid = ("--ppn", "4", "-n", "32")
        done = self.run_tool(TUNE, "simulate", "-c", "bcast,gather", *network, *grid, "-b", ",".join(sizes),
                             "--within", "1", "-o", self.file)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        for collective in ("bcast", "gather"):
            for size in sizes:
                (choice,) = self.choices(collective, *grid, "-b", size, rules=self.file)
                self.assertEqual(choice["rules"], str(self.file))
                self.assertEqual(choice["algorithm"], self.fastest(collective, *network, *grid, "-b", size))
        (elsewhere,) = self.choices("bcast", "-n", "32", "-b", "8", rules=self.file)
        self.assertEqual((elsewhere["algorithm"], elsewhere["by"]), ("binomial", "rule"))
        (built_in,) = self.choices("bcast", "-n", "32", "-b", "8")
        self.assertGreater(elsewhere["rule"]["number"], built_in["rule"]["number"], "behind the new rules")

    def test_measured_rules_cover_what_was_measured(self):
        if not MPIRUN:
            self.skipTest("without MPI's launcher")
        done = self.run_tool(*MPIRUN, "2", TUNE, "measure", "-c", "allreduce,barrier", "-b", "8,64k", "--seconds", "0.2",
                             "--memory", "1M", "-o", self.file)
        self.assertEqual(done.returncode, 0, done.stderr)
        rules = json.loads(self.file.read_text())["rules"]
        first = [(rule["collective"], rule.get("where")) for rule in rules[:2]]
        self.assertIn(first[0], [("allreduce", "node"), ("barrier", "node")])
        self.assertEqual({name for name, _ in first} | {"allreduce", "barrier"}, {"allreduce", "barrier"})
        (choice,) = self.choices("allreduce", "-n", "2", "--ppn", "2", "-b", "64k", rules=self.file)
        self.assertEqual(choice["by"], "rule")
        self.assertLessEqual(choice["rule"]["number"], 3)
        running = self.run_tool(*MPIRUN, "2", INFO, "--statistics", rules=self.file)
        self.assertEqual(running.returncode, 0, running.stderr)

    def test_measured_lengths_are_those_of_this_processor(self):
        if not MPIRUN:
            self.skipTest("without MPI's launcher")
        other = {"processor": "another one", "program": {"unknown": 300, "changing": 400, "constant": 200},
                 "fab": {"unknown": 150, "changing": 160, "constant": 128}}
        before = pathlib.Path(self.folder.name) / "before.json"
        before.write_text(json.dumps({"rules": [], "lengths": [other]}))
        measure = (TUNE, "measure", "-c", "barrier", "--seconds", "0.2", "--memory", "1M")
        done = self.run_tool(*MPIRUN, "3", *measure, "-o", self.file, rules=before)
        self.assertEqual(done.returncode, 0, done.stderr)
        kept, measured = json.loads(self.file.read_text())["lengths"]
        self.assertEqual(kept, other)
        self.assertNotEqual(measured["processor"], other["processor"])
        done = self.run_tool(INFO, "--json", rules=self.file)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["lengths"], {"by": "FAB_RULES"} | measured)
        self.assertIn("of up to so many bytes (FAB_RULES; " + measured["processor"] + ")",
                      self.run_tool(INFO, rules=self.file).stdout)
        self.assertEqual(json.loads(self.run_tool(INFO, "--json", rules=before).stdout)["lengths"]["by"], "built-in")
        for memory in ("program", "fab"):
            values = measured[memory]
            self.assertGreaterEqual(min(values.values()), 128, values)
            self.assertLessEqual(max(values["unknown"], values["constant"]), 65536 + 64, values)
            self.assertLessEqual(values["changing"], 1 << 20, values)
            self.assertLessEqual(min(values["changing"], values["constant"]), values["unknown"])
        done = self.run_tool(*MPIRUN, "2", "env", "FAB_LOCAL=off", *measure, "-o", self.file)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("lengths", json.loads(self.file.read_text()))

    def test_choices_tell_what_was_passed_over(self):
        self.file.write_text(json.dumps({"rules": [{"collective": "allreduce", "algorithm": "ring"}]}))
        (choice,) = self.choices("allreduce", "-n", "8", "-b", "1M", "--ordered", rules=self.file)
        self.assertEqual((choice["algorithm"], choice["by"]), ("recursive_doubling", "first"))
        (passed_over,) = choice["passed_over"]
        self.assertEqual((passed_over["algorithm"], passed_over["rule"]["number"]), ("ring", 1))
        done = self.run_tool(INFO, "--choose", "allreduce", "-n", "8", "-b", "1M", rules=self.file)
        head, line = done.stdout.splitlines()
        self.assertEqual(head.split(), ["collective", "ranks", "ranks/node", "size", "algorithm", "by"])
        self.assertEqual(line.split()[:6], ["allreduce", "8", "1", "1", "MiB", "ring"])
        self.assertIn("rule 1 of " + str(self.file), line)

    def test_ranks_that_are_dealt_have_rules_of_their_own(self):
        grid = ("allgather", "-n", "64", "--ppn", "16", "-b", "64k")
        (in_order,) = self.choices(*grid)
        (dealt,) = self.choices(*grid, "--dealt")
        self.assertEqual((in_order["dealt"], dealt["dealt"]), (False, True))
        self.assertEqual((in_order["algorithm"], dealt["algorithm"]), ("ring", "leaders"))
        self.assertIn("dealt to in turn", dealt["rule"]["covers"])
        (one_node,) = self.choices("allgather", "-n", "16", "--ppn", "16", "-b", "64k", "--dealt")
        self.assertNotIn("dealt", one_node["rule"]["covers"])

    def test_nodes_that_tcp_joins_have_rules_of_their_own(self):
        grid = ("allgather", "-n", "64", "--ppn", "16", "-b", "64k")
        (card,) = self.choices(*grid)
        (tcp,) = self.choices(*grid, "--tcp")
        self.assertEqual((card["tcp"], tcp["tcp"]), (False, True))
        self.assertEqual((card["algorithm"], tcp["algorithm"]), ("ring", "leaders"))
        self.assertIn("joined by TCP", tcp["rule"]["covers"])
        one_node = ("allgather", "-n", "16", "--ppn", "16", "-b", "64k")
        self.assertEqual(self.choices(*one_node, "--tcp")[0]["rule"], self.choices(*one_node)[0]["rule"])

    def test_nodes_of_fewer_processors_than_ranks_have_rules_of_their_own(self):
        grid = ("alltoall", "-n", "8", "--ppn", "8", "-b", "64k")
        (spacious,) = self.choices(*grid)
        self.assertEqual(self.choices(*grid, "--processors", "8"), [spacious])
        (crowded,) = self.choices(*grid, "--processors", "7")
        self.assertEqual((spacious["algorithm"], crowded["algorithm"]), ("pairwise", "linear"))
        self.assertIn("fewer processors", crowded["rule"]["covers"])
        between = ("alltoall", "-n", "8", "--ppn", "4", "-b", "64k")
        self.assertEqual(self.choices(*between, "--processors", "1"), self.choices(*between))
        done = self.run_tool(INFO, "--choose", "bcast", "--processors", "0")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("--processors 0: a number from 1 on is valid", done.stderr)

    def test_neighbor_exchanges_go_by_nodes_where_it_pays(self):
        rows = self.choices("neighbor", "--ppn", "4", "--edges", "4", "-b", "8,64k")
        self.assertEqual([row["network"] for row in rows], ["kernel", "card"] * 4)
        self.assertEqual([row["algorithm"] for row in rows], ["by_node"] * 4 + ["direct", "direct", "by_node", "direct"])
        self.assertEqual([row["value_bytes"] for row in rows[::2]], [128, 32, 1 << 20, 1 << 18])
        for row in rows:
            self.assertEqual((row["messages"], row["by"]), (16, "model"))
            self.assertEqual(row["algorithm"] == "by_node", row["by_node_us"] < row["direct_us"])
        done = self.run_tool(INFO, "--choose", "neighbor", "--ppn", "4", "-b", "8")
        head, line = done.stdout.splitlines()[1:3]
        self.assertEqual(line.split()[:10], ["TCP", "4", "4", "8", "B", "own", "by_node", "16", "48.04", "128"])
        self.assertEqual(head.index("by node us") + len("by node us"), line.index("  model"))

    def test_faults_are_named(self):
        self.file.write_text('{"rules": [{"collective": "bcast", "algorithm": "magic"}]}')
        for command, fault in (
            ((INFO, "--choose", "bcast"), f'FAB_RULES: {self.file}: rule 1: algorithm is "magic"; those of bcast are'),
            ((TUNE, "simulate", "-c", "bcst"), '--collective "bcst": valid are barrier, bcast'),
            ((TUNE, "simulate", "--network", "none"), "names are ethernet-1g, infiniband-edr, infiniband-ndr, omni-path-100"),
            ((TUNE, "measure", "-b", "8"), "a job of one rank has nothing to measure"),
            ((TUNE, "guess"), "guess"),
            ((INFO, "--choose", "neighbor", "--ppn", "4", "--dealt"), "--dealt is for collectives"),
            ((INFO, "--choose", "neighbor", "--processors", "2"), "--processors is for collectives"),
            ((INFO, "--choose", "neighbor", "--tcp"), "--tcp is for collectives"),
            ((INFO, "--choose", "bcast", "--dealt"), "--dealt requires --nodes or --ppn"),
        ):
            rules = self.file if command[0] == INFO else None
            done = self.run_tool(*command, rules=rules)
            self.assertNotEqual(done.returncode, 0, command)
            self.assertIn(fault, done.stderr)


if __name__ == "__main__":
    unittest.main()
