#!/usr/bin/env python3
"""perf_test.py FAB_PERF FORBIDDING LAUNCHER...: every subcommand in small jobs; what its options refuse, and what it
writes. Timings of such short runs mean nothing."""

import csv
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TIME_LIMIT_S = 60 * int(os.environ.get("TEST_TIME_FACTOR", "1"))  # see tests/cmake/time_limits.cmake
SHORT = ["--batches", "2", "-n", "2"]
program = ""
forbidding = ""
launcher = []


def run(arguments, ranks=0, under=()):
    """Without a launcher where no ranks are asked for. `under`: a command that starts the program of each rank."""
    command = [*launcher, str(ranks), *under, program] if ranks else [program]
    return subprocess.run([*command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=TIME_LIMIT_S, check=False, stdin=subprocess.DEVNULL)


def ways_of_sizes():
    """Of messages of 8, 1 Ki and 64 Ki bytes within a node, by the command that starts the program."""
    return {(): ["cell", "ring", "kernel"], (forbidding,): ["cell", "ring", "chunks"]}


class Measures(unittest.TestCase):
    def rows(self, ranks, *arguments, under=()):
        """What a job writes; its table has a line for each."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "rows.json"
            done = run([*arguments, "--json", str(file)], ranks, under)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.table = done.stdout
            return json.loads(file.read_text())

    def assert_times(self, rows, field="us"):
        self.assertTrue(rows)
        for row in rows:
            self.assertEqual(len(row[field]), 2)
            self.assertTrue(all(math.isfinite(value) and value > 0 for value in row[field]), row)
            self.assertLessEqual(row[f"{field}_quartiles"][0], row[f"{field}_median"])

    def test_neighbor_measures_graphs_and_faces(self):
        for options, neighbors in (
            (["grid", "--grid", "2x2"], 4), (["grid", "--grid", "4x1", "--open"], 1), (["random", "--degree", "3"], 3),
            (["faces", "--grid", "2x2"], 4), (["faces", "--open"], 6)):
            with self.subTest(pattern=options):
                rows = self.rows(4, "neighbor", "--form", "blocking", "-m", "512", *SHORT, "--pattern", *options)
                self.assert_times(rows)
                self.assertEqual({row["neighbors"] for row in rows}, {neighbors})
                self.assertIn("MPI", {row["library"] for row in rows})

    def test_neighbor_tells_the_way_by_size(self):
        rows = self.rows(2, "neighbor", "-m", "8,1k,64k", *SHORT, "--form", "blocking", "--explain", "--against", "none")
        self.assertEqual({row["library"] for row in rows}, {"fab", "native"})
        self.assertEqual([row["way"] for row in rows if row["library"] == "fab"], ["cell", "ring", "kernel"])
        self.assert_observed(rows, ["cell", "ring", "kernel"], [False] * 3)
        self.assertNotIn("differs", self.table)
        rows = self.rows(2, "neighbor", "-m", "64k", *SHORT, "--memory", "fab", "--explain", "--against", "none")
        self.assertEqual({row["way"] for row in rows}, {"mapped"})
        self.assert_observed(rows, ["mapped"] * 3, [False] * 3)

    def test_neighbor_may_write_its_messages_anew(self):
        for how in ("fill", "update"):
            # Between 96 and 256 KiB the way depends on whether the sender waits when its receiver comes.
            rows = self.rows(2, "neighbor", "-m", "20000,64k,512k", *SHORT, "--rewrite", how, "--form", "blocking",
                             "--explain", "--against", "none")
            self.assertEqual({row["rewrite"] for row in rows}, {how})
            self.assert_observed(rows, ["ring", "ring", "kernel"], [False] * 3)
            self.assertIn(f"before each call: {how}", self.table)
        self.assertNotEqual(run(["neighbor", "--rewrite", "fill", "--threads", "2"]).returncode, 0)

    def assert_observed(self, rows, ways, differ):
        """Of the native calls, whose statistics are looked at."""
        observed = [row for row in rows if "way_observed" in row]
        self.assertEqual({row["library"] for row in observed}, {"native"})
        self.assertEqual([row["way_observed"] for row in observed], ways)
        self.assertEqual([row["way_differs"] for row in observed], differ)

    def test_neighbor_marks_a_way_that_differs(self):
        """The kernel refuses to copy between processes, of which the rules know nothing."""
        rows = self.rows(2, "neighbor", "-m", "8,64k", *SHORT, "--form", "blocking", "--explain", "--against", "none",
                         under=[forbidding])
        self.assertEqual([row["way"] for row in rows if row["library"] == "native"], ["cell", "kernel"])
        self.assert_observed(rows, ["cell", "chunks"], [False, True])
        marked = [line.split() for line in self.table.splitlines() if "differs" in line]
        self.assertEqual([(line[0], line[-3:]) for line in marked], [("65536", ["kernel", "chunks", "differs"])])

    def test_percentiles_are_in_order(self):
        for row in self.rows(2, "collective", "-c", "bcast", "-m", "8", *SHORT, "--percentiles"):
            self.assertLessEqual(row["us_p50"], row["us_p90"])
            self.assertLessEqual(row["us_p90"], row["us_p99"])
        self.assertIn("fab P50", self.table)

    def test_collective_names_the_algorithm(self):
        rows = self.rows(2, "collective", "-c", "barrier,allreduce", "-m", "8:64:8", *SHORT, "--form", "blocking")
        self.assert_times(rows)
        self.assertEqual([(row["collective"], row["bytes"]) for row in rows if row["library"] == "fab"],
                         [("barrier", 0), ("allreduce", 8), ("allreduce", 64)])
        self.assertTrue(all(row["algorithm"] in self.table for row in rows if row["library"] == "fab"))

    def test_all_libraries_make_as_many_calls_in_a_batch(self):
        """However long each of them takes for one."""
        rows = self.rows(2, "collective", "-c", "alltoall", "-m", "8,64k", "--flat", "--batches", "2",
                         "--batch-ms", "1")
        counts = {length: {row["calls_per_batch"] for row in rows if row["bytes"] == length} for length in (8, 65536)}
        self.assertEqual([len(each) for each in counts.values()], [1, 1], counts)

    def test_collective_takes_the_least_work_where_ranks_outnumber_processors(self):
        rows = self.rows(5, "collective", "-c", "bcast", "-m", "1m", *SHORT, "--form", "blocking", "--against", "none")
        crowded = os.sysconf("SC_NPROCESSORS_ONLN") < 5
        self.assertEqual([row["algorithm"] for row in rows], ["linear" if crowded else "chain"])

    def test_collective_names_the_ways_that_were_counted(self):
        """Rank 0 sends nothing in a reduce to it, so the ways are those of all ranks; the rows of MPI have none."""
        rows = self.rows(2, "collective", "-m", "8", *SHORT, "--explain", "--flat")
        ways = {(row["collective"], row["form"], row["library"]): row.get("way") for row in rows}
        self.assertEqual(len(ways), 10 * 2 * 3)
        for (_, _, library), way in ways.items():
            self.assertEqual(way, None if library == "MPI" else "cell")
        self.assertRegex(self.table, "fab's algorithm +fab's way +flat us +flat/fab +flat's way")
        for under, expected in ways_of_sizes().items():
            with self.subTest(under=under), tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder) / "rows.csv"
                rows = self.rows(2, "collective", "-c", "alltoall", "-m", "8,1k,64k", *SHORT, "-t", "2", "--explain",
                                 "--form", "nonblocking", "--against", "none", "--csv", str(file), under=under)
                with open(file, newline="", encoding="utf-8") as lines:
                    self.assertEqual([line["way"] for line in csv.DictReader(lines)], expected)
                self.assertEqual([row["way"] for row in rows], expected)
                self.assertEqual([line.split()[-1] for line in self.table.splitlines() if "alltoall" in line], expected)
        rows = self.rows(2, "collective", "-c", "alltoall", "-m", "64k", *SHORT, "--memory", "fab", "--explain")
        self.assertEqual([row["way"] for row in rows if row["library"] == "fab"], ["mapped"] * 2)
        self.assertNotIn("way", self.rows(2, "collective", "-c", "bcast", "-m", "8", *SHORT)[0])

    def test_overlap_names_the_ways_that_were_counted(self):
        for subject in ((), ("--pattern", "random", "--degree", "1"), ("-c", "alltoall")):
            for under, expected in ways_of_sizes().items():
                with self.subTest(subject=subject, under=under), tempfile.TemporaryDirectory() as folder:
                    file = pathlib.Path(folder) / "rows.csv"
                    rows = self.rows(2, "overlap", "-m", "8,1k,64k", *SHORT, *subject, "--explain", "--csv", str(file),
                                     under=under)
                    self.assertEqual([row.get("way") for row in rows],
                                     [way for each in expected for way in (each, None)])
                    with open(file, newline="", encoding="utf-8") as lines:
                        self.assertEqual([line["way"] for line in csv.DictReader(lines) if line["library"] == "fab"],
                                         expected)
                    lines = [line.split() for line in self.table.splitlines() if re.match(r" *[0-9]+ +fab", line)]
                    self.assertEqual([line[-1] for line in lines], expected)
        rows = self.rows(2, "overlap", "-c", "reduce", "-m", "8", *SHORT, "--explain", "--same-computation")
        self.assertEqual([row.get("way") for row in rows], ["cell", None])
        self.assertRegex(self.table, "MPI/fab overall +fab's way")
        self.assertNotIn("way", self.rows(2, "overlap", "-m", "8", *SHORT)[0])

    def test_overlap_has_the_parts_of_the_time(self):
        rows = self.rows(2, "overlap", "-m", "4k", *SHORT, "--same-computation")
        self.assertEqual([row["library"] for row in rows], ["fab", "MPI"])
        for field in ("pure_us", "compute_us", "overall_us", "wait_us"):
            self.assert_times(rows, field)
        self.assertIn("MPI/fab overall", self.table)

    def test_overlap_has_percentiles_of_the_overall_time(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "rows.csv"
            rows = self.rows(2, "overlap", "-m", "4k,8k", *SHORT, "--percentiles", "--csv", str(file))
            with open(file, newline="", encoding="utf-8") as lines:
                read = list(csv.DictReader(lines))
        self.assertRegex(self.table, "library +overall us +overall P50 +P90 +P99 us +compute us")
        self.assertEqual(len(read), len(rows))
        for line, row in zip(read, rows):
            shares = [row[f"overall_us_p{share}"] for share in (50, 90, 99)]
            self.assertEqual(shares, sorted(shares))
            # A batch is the mean of 2 of a rank's 4 calls, and the 99th percentile is close to the longest.
            self.assertLess(min(row["overall_us"]) / 2, shares[2])
            self.assertEqual([float(line[f"overall_us_p{share}"]) for share in (50, 90, 99)], shares)
        row = self.rows(2, "overlap", "-m", "4k", *SHORT, "--against", "none")[0]
        self.assertNotIn("overall_us_p50", row)
        self.assertNotIn("P50", self.table)

    def test_halo_fills_squares_and_cubes(self):
        for options, face in ((["--dims", "2"], 8 * 8), (["--grid", "2x1x1", "--open"], 8 * 8 * 8)):
            with self.subTest(options=options):
                rows = self.rows(2, "halo", "-m", "8", *SHORT, "--explain", *options)
                self.assert_times(rows)
                self.assertEqual({row["bytes"] for row in rows}, {face})
                self.assertEqual([row["way_differs"] for row in rows if row["library"] == "fab"], [False])
                self.assertEqual([row["library"] for row in rows], ["fab", "MPI", "MPI", "by hand", "by hand"])

    def test_messages_of_one_thread_and_of_several(self):
        for threads in ("1", "2"):
            with self.subTest(threads=threads):
                rows = self.rows(2, "p2p", "-m", "8,64k", *SHORT, "--threads", threads, "--explain")
                self.assert_times(rows)
                self.assertEqual([row["way"] for row in rows if row["library"] == "fab"], ["cell", "kernel"])
                for row in rows:
                    self.assertAlmostEqual(row["megabytes_per_s"], row["bytes"] * int(threads) / row["us_median"])
                rows = self.rows(2, "rate", "-m", "8", *SHORT, "-t", threads, "-w", "4", "--pattern", "ring")
                self.assert_times(rows)
                for row in rows:
                    self.assertAlmostEqual(row["messages_per_s"] * row["us_median"] / 1e6, 2 * 4 * int(threads))

    def test_messages_name_the_way_that_they_took(self):
        """By the rules alone, messages of 64 KiB are `rendezvous` on every way; the last column is the counted one."""
        for under, expected in ways_of_sizes().items():
            with self.subTest(under=under):
                rows = self.rows(2, "p2p", "-m", "8,1k,64k", *SHORT, "--explain", under=under)
                of_fab = [row for row in rows if row["library"] == "fab"]
                self.assertEqual([row["way"] for row in of_fab], expected)
                self.assertEqual([row["protocol"] for row in of_fab], ["eager", "eager", "rendezvous"])
                self.assertTrue(all("way" not in row for row in rows if row["library"] == "MPI"))
                lines = [line.split() for line in self.table.splitlines() if re.match(r" *[0-9]", line)]
                self.assertEqual([(int(line[0]), line[-1]) for line in lines], list(zip((8, 1024, 65536), expected)))
        rows = self.rows(2, "p2p", "-m", "64k", *SHORT, "--memory", "fab", "--explain", "--against", "none")
        self.assertEqual([row["way"] for row in rows], ["mapped"])
        rows = self.rows(2, "rate", "-m", "8", *SHORT, "-t", "2", "--explain", "--against", "none")
        self.assertEqual([row["way"] for row in rows], ["cell"])

    def test_messages_to_oneself_are_told_by_rule(self):
        rows = self.rows(1, "rate", "-m", "8", *SHORT, "--pattern", "ring", "--explain", "--against", "none")
        self.assertEqual([(row["way"], row["protocol"]) for row in rows], [("eager, by rule", "eager")])

    def assert_threads(self, rows, threads, engines):
        self.assert_times(rows)
        for row in rows:
            self.assertEqual((row["threads"], row["engines"]), (threads, engines))
            self.assertAlmostEqual(row["calls_per_s"] * row["us_median"] / 1e6, threads)
        self.assertIn(f"{rows[0]['ranks']} ranks of {threads} thread(s)", self.table)
        self.assertEqual("k/s" in self.table, threads > 1)

    def test_exchanges_of_one_thread_and_of_several(self):
        for threads, engines in ((1, 1), (2, 1), (3, 2)):
            options = ["-t", str(threads), "--engines", str(engines), *SHORT]
            with self.subTest(threads=threads, engines=engines):
                rows = self.rows(2, "neighbor", "-m", "8,64k", "--explain", *options)
                self.assert_threads(rows, threads, engines)
                forms = ["blocking", "nonblocking", "persistent"]
                for library, its in (("fab", forms), ("native", forms), ("MPI", forms[:2]), ("by hand", forms[1:])):
                    self.assertEqual([row["form"] for row in rows if row["library"] == library], 2 * its)
                self.assert_observed(rows, 3 * ["cell"] + 3 * ["kernel"], 6 * [False])
                rows = self.rows(2, "halo", "--dims", "2", "-m", "8", *options)
                self.assert_threads(rows, threads, engines)
                rows = self.rows(2, "collective", "-m", "64", *options, "--flat")
                self.assert_threads(rows, threads, engines)
                self.assertEqual(len(rows), 10 * 2 * 3)

    def test_threads_have_engines_of_their_own(self):
        """The statistics have the number of the engine behind a communicator; the file is that of the MPI binding's
        context, which closes last."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "statistics.json"
            self.rows(2, "neighbor", "-m", "8", "-t", "2", "--engines", "2", *SHORT, "--form", "blocking",
                      under=["env", f"FAB_STATS={file}"])
            rank = json.loads(file.read_text())["statistics"][0]
        its = [each["communicator"] for each in rank["operations"] if each["operation"] == "neighbor_xchg"]
        self.assertEqual([name.endswith("@1") for name in sorted(its, key=lambda name: "@" in name)], [False, True])

    def test_csv_has_the_threads(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "rows.csv"
            rows = self.rows(2, "neighbor", "-m", "8", "-t", "2", *SHORT, "--percentiles", "--csv", str(file))
            with open(file, newline="", encoding="utf-8") as lines:
                read = list(csv.DictReader(lines))
        self.assertEqual([line["threads"] for line in read], ["2"] * len(rows))
        self.assertEqual([float(line["calls_per_s"]) for line in read], [row["calls_per_s"] for row in rows])

    def test_discover_takes_every_way(self):
        rows = self.rows(3, "discover", "-m", "8,1k", "-d", "5", *SHORT)
        self.assert_times(rows)
        self.assertEqual([row["library"] for row in rows if row["bytes"] == 8],
                         ["fab auto", "fab nbx", "fab census", "fab exchange", "MPI alltoall", "MPI census", "MPI nbx"])
        self.assertEqual({row["destinations"] for row in rows}, {2})
        self.assertIn("MPI/fab", self.table)

    def test_start_needs_no_launcher(self):
        rows = self.rows(0, "start", *SHORT)
        self.assert_times(rows, "ns")
        self.assertEqual(len(rows), 4)

    def test_first_takes_every_library(self):
        for library in ("fab", "native", "MPI"):
            rows = self.rows(3, "first", "--library", library)
            self.assertEqual([row["library"] for row in rows], [library])
            for field in ("grid_us", "first_us", "second_us"):
                self.assertGreater(rows[0][field], 0)

    def test_footprint_starts_no_mpi(self):
        rows = self.rows(2, "footprint", "--seconds", "0.1")
        self.assertEqual([row["state"] for row in rows], ["idle", "receive pending"])
        self.assertTrue(all(row["cpu_percent_mean"] <= row["cpu_percent_largest"] for row in rows))
        rows = self.rows(3, "footprint", "--memory", "--exchanges", "2")
        self.assertEqual([row["state"] for row in rows], ["context open", "ring, exchanged"])
        for row in rows:
            self.assertEqual((row["ranks"], row["bytes"]), (3, 1024))
            self.assertLess(0, row["fab_bytes_mean"])
            self.assertLessEqual(row["fab_bytes_mean"], row["fab_bytes_largest"])
        self.assertLess(rows[0]["fab_bytes_largest"], rows[1]["fab_bytes_largest"])

    def test_reduce_times_every_kernel(self):
        rows = self.rows(2, "reduce", "-m", "8k", *SHORT)
        self.assert_times(rows)
        names = {row["what"] for row in rows}
        self.assertEqual(len(names), 11)
        for name in names:
            forms = [row["form"] for row in rows if row["what"] == name]
            self.assertIn(forms, (["loop", "generic"], ["loop", "generic", "avx2"]))
            self.assertIn(name, self.table)
        for row in rows:
            self.assertAlmostEqual(row["megabytes_per_s"], row["bytes"] / row["us_median"])
        rows = self.rows(0, "reduce", "-m", "64,128", *SHORT, "--only", "xor")
        self.assertEqual({(row["what"], row["bytes"]) for row in rows}, {("bit_xor of int", 64), ("bit_xor of int", 128)})

    def test_limits_need_no_launcher(self):
        rows = self.rows(0, "limits", "-m", "64,4k", *SHORT, "--rewrite")
        self.assert_times(rows)
        self.assertEqual([(row["form"], row["bytes"]) for row in rows],
                         [(form, 64) for form in ("cells", "mapped", "kernel", "ring")] +
                         [(form, 4096) for form in ("mapped", "kernel", "ring")])
        self.assertTrue(all(row["rewritten"] for row in rows))

    def test_csv_has_the_scalars_of_the_rows(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "rows.csv"
            rows = self.rows(2, "neighbor", "-m", "8,16", *SHORT, "--csv", str(file))
            with open(file, newline="", encoding="utf-8") as lines:
                read = list(csv.DictReader(lines))
        self.assertEqual(len(read), len(rows))
        for line, row in zip(read, rows):
            self.assertEqual(line["library"], row["library"])
            self.assertEqual(line["timed"], row["timed"])
            self.assertEqual(float(line["us_median"]), row["us_median"])
            self.assertEqual(float(line["us_upper_quartile"]), row["us_quartiles"][1])
            self.assertNotIn("us", line)


class Refuses(unittest.TestCase):
    def refused(self, arguments, *told, ranks=0):
        done = run(arguments, ranks)
        self.assertNotEqual(done.returncode, 0)
        for text in told:
            self.assertIn(text, done.stderr)
        return done

    def test_names_option_value_and_what_is_valid(self):
        self.refused([], "a subcommand is missing", "valid are neighbor, halo")
        self.refused(["nonsense"], '"nonsense" is no subcommand', "valid are neighbor, halo")
        self.refused(["neighbor", "-m", "8:x"], "--sizes", '"8:x"', "FIRST:LAST[:FACTOR]")
        self.refused(["neighbor", "-m", "64:8"], "--sizes", "the last size is below the first")
        self.refused(["neighbor", "-m", "8:64:1"], "--sizes", "the factor is below 2")
        self.refused(["neighbor", "-m", "2G"], "--sizes", '"2G"', "1073741824")
        self.refused(["neighbor", "--pattern", "star"], "--pattern", '"star"', "ring,pair,grid,random,faces")
        self.refused(["neighbor", "--against", "x"], "--against", '"x"', "mpi,none")
        self.refused(["rate", "-w", "0"], "--window", "0", "1 to 4096")
        self.refused(["p2p", "--threads", "x"], "--threads", "x")
        for subcommand in ("neighbor", "halo", "collective"):
            self.refused([subcommand, "-t", "0"], "--threads", "0", "1 to 1024")
            self.refused([subcommand, "--engines", "65"], "--engines", "65", "1 to 64")
        self.refused(["halo", "--dims", "4"], "--dims", "4", "2 to 3")
        self.refused(["collective", "-c", "broadcast"], "--collective", '"broadcast"', "bcast")
        self.refused(["collective", "--mpi-only", "--explain"], "--mpi-only", "--explain")
        self.refused(["reduce", "--only", "quad"], "--only", '"quad"', "sum of double, sum of float")
        self.refused(["limits", "-m", "x"], "--sizes", '"x"', "FIRST:LAST[:FACTOR]")
        self.refused(["limits", "-m", "8", "--json", "/nowhere/rows"], "fab_perf limits", "--json", "/nowhere/rows")
        self.refused(["footprint", "--seconds", "-1"], "--seconds", "-1")
        self.refused(["footprint", "--memory", "--json", "/nowhere/rows"], "fab_perf", "--json", "/nowhere/rows")
        self.refused(["neighbor", "--no-such-option"], "--no-such-option")

    def test_names_what_does_not_fit_the_job(self):
        self.refused(["neighbor", "--pattern", "grid", "--grid", "4x2"], "--grid 4x2", "8 places", "2 ranks", ranks=2)
        self.refused(["neighbor", "--open"], "--open", "grid and faces", ranks=2)
        self.refused(["p2p"], "--pattern pair", "even numbers", ranks=3)
        self.refused(["neighbor", "--pattern", "faces", "-m", "100"], "100 bytes", "512", ranks=1)
        self.refused(["neighbor", "--json", "/nowhere/rows"], "--json", "/nowhere/rows", ranks=1)
        self.refused(["collective", "--mpi-only", "--engines", "2"], "--engines 2", "--mpi-only", "1 is valid", ranks=1)

    def test_one_rank_tells(self):
        done = self.refused(["neighbor", "-m", "x"], "--sizes", ranks=3)
        self.assertEqual(done.stderr.count("FIRST:LAST"), 1)


class Help(unittest.TestCase):
    def test_one_rank_prints_help_and_version(self):
        done = run(["--version"], 2)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"\Afab_perf \d+\.\d+\.\d+\n\Z")
        done = run(["rate", "--help"], 2)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("--window"), 1)


if __name__ == "__main__":
    program, forbidding, *launcher = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
