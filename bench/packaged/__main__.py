"""Programs of Debian's with and without fab: runs them in turns, compares their results, writes a report."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import catalogue
import outputs
import report
import runs
import sf_tests


def options():
    parser = argparse.ArgumentParser(prog="bench/programs", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer and smaller programs, two rounds: minutes")
    parser.add_argument("--only", action="append", metavar="NAME",
                        help="programs or tests whose name has NAME in it; may be repeated")
    parser.add_argument("--links", default=",".join(runs.LINKS), help="of node,tcp,wire (default: all)")
    parser.add_argument("--ranks", default="2", help="numbers of ranks, such as 2,4 (default: 2)")
    parser.add_argument("--rounds", type=int, help="pairs of runs of each program (default: 2 if quick, otherwise 5)")
    parser.add_argument("--carry", default="auto", help="FAB_DROPIN of the runs with fab (default: auto)")
    parser.add_argument("--limit", type=int, metavar="SECONDS",
                        help="for one run (default: 60 if quick, otherwise 300)")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the rows to FILE too")
    parser.add_argument("--from", dest="rows", type=pathlib.Path, metavar="FILE", help="make the report of FILE's rows")
    parser.add_argument("--check", action="store_true", help="measure nothing: PETSc's tests of its scatters under fab")
    parser.add_argument("--build", type=pathlib.Path, required=True,
                        help="built there with fab_run (default: the release preset)")
    parser.add_argument("--root", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=pathlib.Path, help="folder of the report (default: build/report/programs)")
    chosen = parser.parse_args()
    chosen.links = chosen.links.split(",")
    if unknown := set(chosen.links) - set(runs.LINKS):
        parser.error(f"--links: {', '.join(sorted(unknown))}: valid are {', '.join(runs.LINKS)}")
    try:
        chosen.ranks = [int(word) for word in chosen.ranks.split(",")]
    except ValueError:
        parser.error(f"--ranks: {chosen.ranks}: numbers with commas between them are valid")
    chosen.rounds = chosen.rounds or (2 if chosen.quick else 5)
    chosen.limit = chosen.limit or (60 if chosen.quick else 300)
    chosen.out = (chosen.out or chosen.root / "build" / "report" / "programs").resolve()
    return parser, chosen


def selected(parser, chosen):
    everything = catalogue.programs(chosen.quick)
    found = [program for program in everything
             if (any(name in program.name for name in chosen.only) if chosen.only
                 else program.quick or not chosen.quick)]
    if not found:
        parser.error(f"--only: valid are parts of {', '.join(program.name for program in everything)}")
    return found


class NoReference(Exception):
    """The program fails by itself."""


class Evidence:
    def __init__(self):
        self.rows, self.failed, self.left_out = [], [], []

    def pair(self, tools, program, link, ranks, round_number):
        """One run with fab and one without; which is first changes from round to round."""
        rows = {}
        for fab in ((False, True), (True, False))[round_number % 2]:
            try:
                rows[fab] = {**runs.run(tools, program, link, ranks, fab), "round": round_number}
            except runs.Failed as why:
                raise why if fab else NoReference(f"without fab: {why}") from why
        if different := outputs.difference(program.reader, rows[False]["results"], rows[True]["results"]):
            raise runs.Failed(f"the results differ: {different}")
        self.rows += [rows[False], rows[True]]
        return rows[False]["whole"], rows[True]["whole"]


def gathered(chosen, evidence):
    return {"carry": chosen.carry, "quick": chosen.quick, "rounds": chosen.rounds, "rows": evidence.rows,
            "failed": evidence.failed, "left_out": evidence.left_out}


def measure(tools, programs, chosen):
    """A program that failed on a link is not run there again. Each pair of runs is kept at once, in rows.json."""
    evidence, skipped = Evidence(), set()
    scenes = [(program, link, ranks) for ranks in chosen.ranks for link in chosen.links for program in programs]
    begun_s, total = time.monotonic(), len(scenes) * chosen.rounds
    for number, (round_number, (program, link, ranks)) in enumerate(
            (round_number, scene) for round_number in range(chosen.rounds) for scene in scenes):
        if (program.name, link, ranks) in skipped or link in skipped:
            continue
        what = f"{program.name}, {link}, {ranks} ranks"
        left_s = (time.monotonic() - begun_s) / number * (total - number) if number else 0
        print(f"[{number + 1}/{total}{f', about {left_s:.0f} s left' if number else ''}] {what}: ", end="", flush=True)
        try:
            without, with_fab = evidence.pair(tools, program, link, ranks, round_number)
            print(f"{without:.2f} s, with fab {with_fab:.2f} s", flush=True)
        except runs.NotPermitted as why:
            skipped.add(link)
            evidence.left_out.append({"what": link, "why": str(why)})
            print(f"left out: {why}", flush=True)
        except NoReference as why:
            evidence.left_out.append({"what": f"{what}, round {round_number + 1}", "why": str(why)})
            print(f"left out: {why}", flush=True)
        except runs.Failed as why:
            skipped.add((program.name, link, ranks))
            evidence.failed.append({"what": what, "why": str(why)})
            print(f"FAILED: {why}", flush=True)
        (chosen.out / "rows.json").write_text(json.dumps(gathered(chosen, evidence), indent=1))
    return gathered(chosen, evidence)


def main():
    parser, chosen = options()
    if chosen.rows:
        return report.write(json.loads(chosen.rows.read_text()), chosen.out)
    programs = [] if chosen.check else selected(parser, chosen)
    subprocess.run([str(pathlib.Path(__file__).parent / "install-packages"), "programs"], check=True)
    work = chosen.out / "work"
    catalogue.prepare(work)
    tools = runs.Tools(chosen.root.resolve(), chosen.build.resolve(), chosen.carry, chosen.limit, work)
    if not os.access(tools.fab_run, os.X_OK):
        parser.error(f"--build: {tools.fab_run} does not exist")
    if chosen.check:
        return sf_tests.run(tools, chosen)
    rows = measure(tools, programs, chosen)
    if chosen.json:
        chosen.json.write_text(json.dumps(rows, indent=1))
    return report.write(rows, chosen.out)


sys.exit(main())
