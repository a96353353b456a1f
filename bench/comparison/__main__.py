"""bench/compare: runs the jobs, gathers their rows and writes the report."""

import argparse
import json
import pathlib

import ending
import jobs
import machine
import report
import runner


def parse(arguments):
    parser = ending.Parser(
        prog="bench/compare",
        description="Neighbour exchanges and collectives of fab against Open MPI, MPICH and the machine's limits. Installs what is "
        "missing, builds, measures, and writes tables (report.txt, report.md), rows (report.json) and plots on one page "
        "(index.html). A part that this machine does not permit is left out, with the reason in the report.",
    )
    effort = parser.add_mutually_exclusive_group()
    effort.add_argument("--quick", action="store_true", help="about ten minutes, sizes growing by 4 (the default)")
    effort.add_argument("--full", action="store_true", help="most of an hour, every power of two")
    parser.add_argument(
        "--only", metavar="PARTS", type=parts, default=jobs.USUAL_PARTS,
        help=f"of {','.join(jobs.PARTS)}, with commas between; clusters, some seven minutes a round, only when it is named"
    )
    parser.add_argument("--rounds", type=positive, help="how often all jobs run (2; with --full 3)")
    parser.add_argument("--out", metavar="DIR", type=pathlib.Path, help="the report's folder (build/report)")
    parser.add_argument("--from", dest="source", metavar="FILE", type=pathlib.Path,
                        help="write the report of this report.json again; nothing is measured")
    parser.add_argument("--build", metavar="DIR", type=pathlib.Path,
                        help="a finished build of the tree: nothing is installed or built")
    parser.add_argument("--root", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def parts(text):
    chosen = text.split(",")
    unknown = [part for part in chosen if part not in jobs.PARTS]
    if unknown:
        raise argparse.ArgumentTypeError(f"{unknown[0]} is none of {', '.join(jobs.PARTS)}")
    return chosen


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text}: at least 1")
    return number


def measure(options, folder):
    effort = jobs.FULL if options.full else jobs.QUICK
    rounds = options.rounds or effort.rounds
    tools = jobs.Tools.found(options.root, options.build)
    planned, left_out = jobs.plan(options.only, effort, tools)
    described = machine.describe(options.root)
    gathered = runner.run(planned, rounds, folder / "jobs")
    return {
        "machine": described,
        "effort": {"name": effort.name, "rounds": rounds, "batches": effort.batches, "batch_ms": effort.batch_ms},
        "commands": [{"job": job.title, "command": job.shown()} for job in planned],
        "left_out": left_out + gathered.left_out,
        "failed": gathered.failed,
        "remarks": gathered.remarks,
        "rows": gathered.rows,
    }


def main(arguments):
    options = parse(arguments)
    folder = options.out or options.root / "build" / "report"
    folder.mkdir(parents=True, exist_ok=True)
    if options.source:
        data = json.loads(options.source.read_text())
    else:
        data = measure(options, folder)
        (folder / "report.json").write_text(json.dumps(data, indent=1) + "\n")
    text = report.write(data, folder)
    print(text)
    print(f"page: {folder / 'index.html'}")
    print(f"rows: {options.source or folder / 'report.json'}")
    return 1 if data["failed"] else 0


if __name__ == "__main__":
    ending.end_with("bench/compare", main)
