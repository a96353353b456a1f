"""bench/run: the main job with fab, under fab_run and with Open MPI, on a node and between two nodes."""

import argparse
import dataclasses
import json
import pathlib
import sys

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "comparison"))
import ending  # noqa: E402
import machine  # noqa: E402
import runner  # noqa: E402

import document  # noqa: E402
import figures  # noqa: E402
import pictures  # noqa: E402
import scenes  # noqa: E402
import timeline  # noqa: E402
import told  # noqa: E402

DEFAULT_SPACING = 0.3  # bohr
BENZENE_PAIRS = 21  # of its 42 electrons


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text}: at least 1")
    return number


def numbers(text):
    return [positive(word) for word in text.replace(",", " ").split()]


def links(text):
    chosen = text.split(",")
    if unknown := [link for link in chosen if link not in (scenes.NODE, scenes.WIRE)]:
        raise argparse.ArgumentTypeError(f"{unknown[0]} is none of {scenes.NODE}, {scenes.WIRE}")
    return chosen


def parse(arguments):
    parser = ending.Parser(
        prog="bench/run",
        description="Finds the lowest states of a molecule on a real-space grid, on this node and between two nodes that a link of "
        "limited rate joins (network namespaces; needs root), in each with fab, under fab_run and with Open MPI alone. Installs what "
        "is missing and builds first. Writes tables (results.txt), rows (results.json), pictures and one page (index.html). Fails "
        "when an energy differs from the serial run's by more than 1e-10 relative. `bench/run --compare` is bench/compare.",
    )
    parser.add_argument("--ranks", metavar="LIST", type=numbers, default=[1, 2, 4], help='on the node ("1 2 4")')
    parser.add_argument("--links", metavar="LIST", type=links, default=[scenes.NODE, scenes.WIRE], help="of node,wire (both)")
    parser.add_argument("--rate", default="1gbit", help="of the wire, each way, as tc(8) has it (1gbit)")
    parser.add_argument("--molecule", metavar="FILE.xyz", type=pathlib.Path, help="benzene")
    parser.add_argument("--states", type=positive, default=BENZENE_PAIRS, help="lowest states to find (21, benzene's electron pairs)")
    parser.add_argument("--spacing", metavar="BOHR", type=float, default=DEFAULT_SPACING, help="of the grid (0.3)")
    parser.add_argument("--iterations", type=positive, default=6, help="of each run with several states (6)")
    parser.add_argument("--rounds", type=positive, default=3, help="how often all jobs run (3)")
    parser.add_argument("--quick", action="store_true", help="one round of small jobs, to see whether all works")
    parser.add_argument("--results", metavar="DIR", type=pathlib.Path, help="build/release/results")
    parser.add_argument("--build", metavar="DIR", type=pathlib.Path, help="a finished build: nothing is installed or built")
    parser.add_argument("--from", dest="source", metavar="FILE", type=pathlib.Path,
                        help="write the report of this results.json again; nothing is measured")
    parser.add_argument("--root", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def planned(options):
    molecule = str(options.molecule or options.root / "bench" / "apps" / "realspace" / "benzene.xyz")
    spacing = 2 * options.spacing if options.quick else options.spacing
    several = scenes.Problem(molecule, options.states, spacing, 2 if options.quick else options.iterations)
    single = scenes.Problem(molecule, 1, spacing, 20 if options.quick else 300)
    found = []
    if scenes.NODE in options.links:
        found += [scenes.Scene(several, scenes.NODE, ranks) for ranks in options.ranks]
    if scenes.WIRE in options.links:
        found += [scenes.Scene(problem, scenes.WIRE, 2, options.rate) for problem in (single, several)]
    return found


def measure(options, folder):
    programs = scenes.Programs.found(options.root, options.build)
    chosen = planned(options)
    problems = list(dict.fromkeys(scene.problem for scene in chosen))
    described = machine.describe(options.root)
    serial = [scenes.serial_job(programs, problem, folder / "density.raw.png" if problem == problems[0] else None)
              for problem in problems]
    print(f"serial runs of {len(serial)} problems, then {options.rounds} rounds of {len(chosen)} scenes, three ways each", flush=True)
    references = runner.run(serial, 1, folder / "jobs" / "serial")
    planned_jobs = scenes.jobs_of(programs, chosen)
    gathered = runner.run(planned_jobs, 1 if options.quick else options.rounds, folder / "jobs")
    water = options.root / "bench" / "apps" / "realspace" / "water.xyz"
    motion_job = scenes.motion_job(programs, water, 40 if options.quick else 600, folder / "spectrum.txt")
    motion = runner.run([motion_job], 1, folder / "jobs" / "motion")
    others = [motion]
    shown_jobs = [*serial, *planned_jobs, motion_job]
    if traced := timeline.scene_of(chosen):
        traced_job, gathered_trace = timeline.draw(programs, traced, folder / "timeline.svg", folder / "jobs" / "timeline")
        others.append(gathered_trace)
        shown_jobs.append(traced_job)
    return {
        "machine": described,
        "rounds": 1 if options.quick else options.rounds,
        "scenes": [dataclasses.asdict(scene) for scene in chosen],
        "commands": [{"job": one.title, "command": one.shown()} for one in shown_jobs],
        "serial": references.rows,
        "rows": gathered.rows,
        "motion": motion.rows,
        "failed": sum((one.failed for one in (references, gathered, *others)), []),
        "left_out": sum((one.left_out for one in (references, gathered, *others)), []),
    }


def scenes_of(data):
    """Figures of the scenes that have runs."""
    found = []
    for number, fields in enumerate(data["scenes"]):
        scene = scenes.Scene(**{**fields, "problem": scenes.Problem(**fields["problem"])})
        reference = next((row for row in data["serial"] if row["problem"] == fields["problem"]), None)
        one = figures.SceneFigures(scene, number, data["rows"], reference)
        if reference and not one.is_empty:
            found.append(one)
    return found


def draw(data, found, folder):
    if why := pictures.missing():
        data["left_out"].append({"what": "pictures", "why": why})
        return {}
    drawn = {}
    if found:
        drawn["bars"] = folder / "times.svg"
        pictures.bars(found, drawn["bars"])
    raw = folder / "density.raw.png"
    if raw.exists() and data["serial"]:
        drawn["density"] = folder / "density.png"
        pictures.density(raw, pictures.size_px(raw), data["serial"][0]["picture_bohr_per_px"], data["caption"], drawn["density"])
    if data["motion"]:
        drawn["spectrum"] = folder / "spectrum.png"
        pictures.spectrum(folder / "spectrum.txt", drawn["spectrum"])
    return drawn


def caption(data):
    if not data["serial"]:
        return ""
    run = data["serial"][0]
    states = "the lowest state" if run["states"] == 1 else f"the {run['states']} lowest states"
    return (f"{pathlib.Path(run['molecule']).stem.capitalize()}: density of {states} in the molecular plane, "
            f"{run['grid_points']} grid points {run['spacing_bohr']:g} bohr apart")


def report(data, folder):
    """Writes all files; returns the text for the terminal."""
    data["caption"] = caption(data)
    found = scenes_of(data)
    tables = [table(found) for table in (told.whole, told.communication, told.set_up)] if found else []
    picture = folder / "timeline.svg"
    drawn = draw(data, found, folder)
    text = "\n\n".join([
        "\n".join(["== Machine", *(f"{name}: {text}" for name, text in data["machine"].items())]),
        *(table.plain() for table in tables),
        *(["\n".join(told.sentences(found, data["machine"]))] if found else []),
        *(f"{title.replace('_', ' ')}: {entry['what']}: {entry['why']}" for title in ("failed", "left_out") for entry in data[title]),
    ])
    (folder / "results.txt").write_text(text + "\n")
    (folder / "index.html").write_text(
        document.render(data, found, tables, drawn, picture.read_text() if picture.exists() else None))
    return text, found


def main(arguments):
    options = parse(arguments)
    folder = (options.results or options.root / "build" / "release" / "results").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if options.source:
        data = json.loads(options.source.read_text())
    else:
        data = measure(options, folder)
        (folder / "results.json").write_text(json.dumps(data, indent=1) + "\n")
    text, found = report(data, folder)
    print(f"\n{text}\n\npage:    {folder / 'index.html'}\nrows:    {options.source or folder / 'results.json'}\n"
          f"picture: {folder / 'density.png'}")
    wrong = [one.scene.title for one in found if one.largest_difference() > figures.TOLERANCE]
    for title in wrong:
        print(f"bench/run: {title}: energies differ from the serial run's by more than {figures.TOLERANCE:.0e} relative",
              file=sys.stderr)
    return 1 if wrong or data["failed"] or not found else 0


if __name__ == "__main__":
    ending.end_with("bench/run", main)
