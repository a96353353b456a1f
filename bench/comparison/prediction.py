"""bench/predict: fab_sim's predictions of collectives over the number of ranks, against their algorithms' formulas."""

import argparse
import dataclasses
import json
import pathlib
import shutil
import subprocess
import tempfile
from collections.abc import Callable

import ending
import plots

# One cost for all messages, LogGP's: nanoseconds, and nanoseconds per byte.
L, O, GAP, G, WORK = 1800.0, 300.0, 100.0, 0.04, 0.1
LINK = {"L_ns": L, "o_ns": O, "g_ns": GAP, "G_ns_per_byte": G}
NETWORK = {"ranks_per_node": 1, "same_node": LINK, "same_switch": LINK, "far": LINK, "work_ns_per_byte": WORK,
           "eager_bytes": 1 << 30}
TOLERANCE = 0.01
MOST_RANKS = 1 << 20


def step(size):
    """A message of so many bytes, from the sender's start to the receiver's end."""
    return L + 2 * O + G * max(0, size - 1)


def combined(size):
    return step(size) + WORK * size


def rounds(ranks):
    return (ranks - 1).bit_length()


def halving(ranks, size):
    """Each round moves and combines half of what is left; the same in reverse collects the parts."""
    halves = [size / 2 ** (i + 1) for i in range(rounds(ranks))]
    return sum(map(combined, halves)) + sum(map(step, halves))


@dataclasses.dataclass(frozen=True)
class Case:
    collective: str
    algorithm: str
    size: int
    formula: str
    time_ns: Callable  # of ranks and bytes; ranks are powers of two
    most_ranks: int = MOST_RANKS

    @property
    def name(self):
        return f"{self.collective} {self.algorithm}" + (f", {self.size} bytes" if self.size else "")


LOGARITHM = "⌈log₂ P⌉"
CASES = [
    Case("barrier", "dissemination", 0, f"{LOGARITHM} (L + 2o)", lambda ranks, size: rounds(ranks) * step(size)),
    Case("bcast", "binomial", 8, f"{LOGARITHM} (L + 2o + 7G)", lambda ranks, size: rounds(ranks) * step(size)),
    Case("allreduce", "recursive_doubling", 8, f"{LOGARITHM} (L + 2o + 7G + 8w)",
         lambda ranks, size: rounds(ranks) * combined(size)),
    Case("bcast", "binomial", 1 << 16, f"{LOGARITHM} (L + 2o + (n-1) G)", lambda ranks, size: rounds(ranks) * step(size)),
    Case("allreduce", "recursive_doubling", 1 << 16, f"{LOGARITHM} (L + 2o + (n-1) G + n w)",
         lambda ranks, size: rounds(ranks) * combined(size)),
    # As long as every rank has a part of the vector.
    Case("allreduce", "rabenseifner", 1 << 16, f"2 {LOGARITHM} (L + 2o) + n (1 - 1/P) (2G + w)", halving, 1 << 13),
]


@dataclasses.dataclass(frozen=True)
class Point:
    ranks: int
    predicted_us: float
    formula_us: float

    @property
    def deviation(self):
        return self.predicted_us / self.formula_us - 1


def predict(sim, case, network, most_ranks):
    counts = [1 << i for i in range(2, min(most_ranks, case.most_ranks).bit_length(), 2)]
    command = [sim, case.collective, "-a", case.algorithm, "-n", ",".join(map(str, counts)), "-b", str(case.size), "--network",
               network, "--json"]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)["rows"]
    return [Point(row["ranks"], row["time_us"], case.time_ns(row["ranks"], case.size) / 1000) for row in found]


def draw(found, file):
    script = plots.Script(file, 1080, 560)
    script.add("set logscale y", "set xlabel 'ranks'", "set ylabel 'us'", "set key outside right vertical noenhanced",
               "set title 'predictions (points) and formulas (lines)'", "set format x '2^{%L}'", "set xtics 4 norotate",
               "set encoding utf8")
    colours = [plots.COLOURS[name] for name in ("fab", "native", "Open MPI", "MPICH", "MPICH by hand", "limit")]
    lines = []
    for (case, points), colour in zip(found, colours):
        lines.append((case.name, [(point.ranks, point.predicted_us) for point in points], f"pt 7 ps 0.6 lc rgb '{colour}'",
                      "points"))
        lines.append((case.formula, [(point.ranks, point.formula_us) for point in points], f"lw 1.5 lc rgb '{colour}'", "lines"))
    script.plot(lines)
    script.run()


def main(arguments):
    parser = ending.Parser(
        prog="bench/predict",
        description="Predicts the time of collectives on 4 to a million ranks of a LogGP network with fab_sim, prints it beside "
        "the formula of each algorithm, and draws both (predictions.svg). Fails when one differs from the other by more than "
        f"{TOLERANCE:.0%}. Installs what is missing and builds first, unless --build DIR names a build of the tree.")
    parser.add_argument("--most", metavar="RANKS", type=int, default=MOST_RANKS, help="largest number of ranks (2^20)")
    parser.add_argument("--out", metavar="DIR", type=pathlib.Path, help="folder of predictions.svg and predictions.json "
                        "(build/report)")
    parser.add_argument("--sim", required=True, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as network:
        json.dump(NETWORK, network)
        network.flush()
        found = [(case, predict(options.sim, case, network.name, options.most)) for case in CASES]
    worst = 0.0
    for case, points in found:
        print(f"== {case.name}: {case.formula}\n{'ranks':>8}  {'fab_sim us':>10}  {'formula us':>10}  {'':>7}")
        for point in points:
            print(f"{point.ranks:>8}  {point.predicted_us:>10.2f}  {point.formula_us:>10.2f}  {point.deviation:>+7.1%}")
            worst = max(worst, abs(point.deviation))
    rows = [{"collective": case.collective, "algorithm": case.algorithm, "bytes": case.size, **dataclasses.asdict(point)}
            for case, points in found for point in points]
    (options.out / "predictions.json").write_text(json.dumps(rows, indent=1) + "\n")
    if shutil.which("gnuplot"):
        draw(found, options.out / "predictions.svg")
        print(f"plot: {options.out / 'predictions.svg'}")
    print(f"largest deviation: {worst:.1%}")
    return 0 if worst <= TOLERANCE else 1


if __name__ == "__main__":
    ending.end_with("bench/predict", main)
