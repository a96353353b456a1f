"""MPICH's own tests, built against Open MPI, and benchmarks of Debian's: runs them as they are, without and with fab,
and tells which of them end differently."""

import argparse
import dataclasses
import datetime
import json
import os
import pathlib
import platform
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import benchmarks
import endings
import mpich_suite
import outputs
import runs
import suites_report

LINKS = ["node", "tcp"]


def options():
    parser = argparse.ArgumentParser(prog="bench/suites", description=__doc__)
    parser.add_argument("--only", action="append", metavar="NAME",
                        help="tests and benchmarks whose title has NAME in it, such as coll/ or hpcc; may be repeated")
    parser.add_argument("--links", default=",".join(LINKS), help="of node,tcp (default: both)")
    parser.add_argument("--carry", action="append", metavar="WHAT",
                        help="FAB_DROPIN of runs with fab; may be repeated (default: all and auto)")
    parser.add_argument("--limit", type=int, default=30, metavar="SECONDS",
                        help="for one run of a test; one that takes longer has timed out (default: 30)")
    parser.add_argument("--continue", dest="goes_on", action="store_true",
                        help="keep the results of a run that was cut off, and run what is missing")
    parser.add_argument("--work", type=pathlib.Path, help="the suite is built there once (default: build/suites)")
    parser.add_argument("--out", type=pathlib.Path, help="folder of the report (default: build/report/suites)")
    parser.add_argument("--summary", type=pathlib.Path, metavar="FILE", help="write the report to FILE too")
    parser.add_argument("--from", dest="rows", type=pathlib.Path, metavar="FILE", help="make the report of FILE's rows")
    parser.add_argument("--build", type=pathlib.Path, required=True,
                        help="built there with fab_run (default: the release preset)")
    parser.add_argument("--root", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    chosen.links, chosen.carry = chosen.links.split(","), chosen.carry or ["all", "auto"]
    if unknown := set(chosen.links) - set(LINKS):
        parser.error(f"--links: {', '.join(sorted(unknown))}: valid are {', '.join(LINKS)}")
    chosen.work = (chosen.work or chosen.root / "build" / "suites").resolve()
    chosen.out = (chosen.out or chosen.root / "build" / "report" / "suites").resolve()
    return parser, chosen


class Subject:
    """A test or a benchmark, and what its runs with fab told last."""

    def __init__(self, tools, program, work):
        limit = getattr(program, "limit_s", tools.limit_s)
        self.tools = dataclasses.replace(tools, folder=program.place(work), limit_s=limit)
        self.program, self.work = program, work
        self.carried = 0

    def run(self, link, carry=None):
        """The ending of a run; with fab if `carry` says what it carries."""
        fab = runs.with_fab(dataclasses.replace(self.tools, carry=carry)) if carry else []
        command = [*runs.launch(self.tools, link, self.program.ranks), *fab, *self.program.command]
        status, out, err = runs.ending(self.tools, command)
        if carry:
            self.carried = sum(row["carried"] for row in (outputs.carried(err) or {}).values())
        right = self.program.right(status, out, err, self.work)
        if status is None:
            return endings.TIMED_OUT
        return endings.OK if right else endings.FAILED

    def rows(self, link, carries):
        """A row for each of `carries`, all compared with one first run without fab."""
        first = self.run(link)
        for carry in carries:
            verdict, without, with_fab = endings.judged(
                first, lambda: self.run(link), lambda carry=carry: self.run(link, carry))
            yield {"folder": self.program.folder, "title": self.program.title, "link": link, "carry": carry,
                   "verdict": verdict, "without": without, "with_fab": with_fab, "carried": self.carried}


def key(row):
    return row["title"], row["link"], row["carry"]


class Rows:
    """A file with a line for each row, so that a run which was cut off can go on."""

    def __init__(self, file, goes_on):
        file.parent.mkdir(parents=True, exist_ok=True)
        self.rows = [json.loads(line) for line in file.read_text().splitlines()] if goes_on and file.exists() else []
        self.done = {key(row) for row in self.rows}
        self.file = open(file, "a" if goes_on else "w")

    def add(self, row):
        self.rows.append(row)
        print(json.dumps(row), file=self.file, flush=True)


def measure(tools, programs, chosen):
    rows = Rows(chosen.out / "rows.jsonl", chosen.goes_on)
    scenes = [(program, link, carries) for program in programs for link in chosen.links
              if (carries := [carry for carry in chosen.carry if (program.title, link, carry) not in rows.done])]
    begun_s = time.monotonic()
    for number, (program, link, carries) in enumerate(scenes):
        left_s = (time.monotonic() - begun_s) / number * (len(scenes) - number) if number else 0
        left = f", about {left_s:.0f} s left" if number else ""
        print(f"[{number + 1}/{len(scenes)}{left}] {program.title}, {link}:", end="", flush=True)
        for row in Subject(tools, program, chosen.work).rows(link, carries):
            rows.add(row)
            print(f" {suites_report.in_words(row)}", end="", flush=True)
        print(flush=True)
    return rows.rows


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def processor():
    names = [line.partition(":")[2].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
             if line.startswith("model name")]
    return names[0] if names else platform.machine()


def circumstances(tools, chosen):
    fab_info = tools.build / "bindings" / "fab_info"
    return {"date": datetime.date.today().isoformat(), "fab": output(fab_info, "--version").replace("fab_info", "fab"),
            "mpi": f"Open MPI {output('mpirun.openmpi', '--version').split()[2]}",
            "suite": f"MPICH {mpich_suite.VERSION}",
            "packages": output("dpkg-query", "-W", "-f", "${Package} ${Version}\n", "hpcc", "netpipe-openmpi"),
            "system": f"{len(os.sched_getaffinity(0))} processors ({processor()}), Linux {platform.release()}",
            "links": chosen.links, "carry": chosen.carry, "limit": chosen.limit}


def main():
    parser, chosen = options()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if chosen.rows:
        return suites_report.write(json.loads(chosen.rows.read_text()), chosen)
    subprocess.run([str(pathlib.Path(__file__).parent / "install-packages"), "suites"], check=True)
    tools = runs.Tools(chosen.root.resolve(), chosen.build.resolve(), "", chosen.limit, chosen.work)
    if not os.access(tools.fab_run, os.X_OK):
        parser.error(f"--build: {tools.fab_run} does not exist")
    mpich_suite.build(chosen.work)
    tests, left_out = mpich_suite.tests(chosen.work, chosen.only)
    programs = [*tests, *benchmarks.prepared(chosen.work, chosen.only)]
    if not programs:
        parser.error("--only: no test and no benchmark has such a title")
    cut_off = False
    try:
        measure(tools, programs, chosen)
    except KeyboardInterrupt:
        cut_off = True
    # Of the file, which also has what an interrupted run did.
    rows = [json.loads(line) for line in (chosen.out / "rows.jsonl").read_text().splitlines()]
    gathered = {**circumstances(tools, chosen), "programs": len(programs), "left_out": left_out, "rows": rows,
                "cut_off": cut_off}
    (chosen.out / "rows.json").write_text(json.dumps(gathered, indent=1))
    return suites_report.write(gathered, chosen)


sys.exit(main())
