"""Benchmarks of Debian's that check their own results."""

import dataclasses
import pathlib
import re
import shutil
from typing import Callable

INPUT = pathlib.Path(__file__).parent / "inputs" / "hpccinf.txt"


@dataclasses.dataclass(frozen=True)
class Benchmark:
    name: str
    command: list
    ranks: int
    wrong: Callable  # (its output, folder) -> str, empty if all its checks passed
    limit_s: int = 300
    folder: str = "benchmarks"

    @property
    def title(self):
        return f"{self.name} {self.ranks}"

    def place(self, work):
        return work / f"{self.name}-{self.ranks}"

    def right(self, status, out, err, work):
        wrong = self.wrong(out + err, self.place(work))  # of a run that failed, too: this clears its results away
        return status == 0 and not wrong


# Of the summary of the HPC Challenge, and what each figure must be.
FIGURES = {"Success": lambda value: value == 1, "PTRANS_residual": lambda value: value < 16,
           "MPIRandomAccess_Errors": lambda value: value == 0, "MPIRandomAccess_LCG_Errors": lambda value: value == 0,
           "MPIFFT_maxErr": lambda value: value < 1e-12, "MaxPingPongLatency_usec": lambda value: value > 0,
           "RandomlyOrderedRingBandwidth_GBytes": lambda value: value > 0}


def wrong_in_summary(text):
    """Of hpccoutf.txt."""
    if "FAILED" in text or any(int(count) for count in re.findall(r"(\d+) tests completed and failed", text)):
        return "a residual is too large"
    if "PASSED" not in text:
        return "no residual was computed"
    values = dict(re.findall(r"^(\w+)=(\S+)$", text, re.MULTILINE))
    for name, holds in FIGURES.items():
        if name not in values or not holds(float(values[name])):
            return f"{name} is {values.get(name, 'missing')}"
    return "" if "End of HPC Challenge tests." in text else "it did not reach its end"


def wrong_with_hpcc(_, folder):
    """It adds to its file: each run begins without one."""
    file = folder / "hpccoutf.txt"
    if not file.exists():
        return "it wrote no results"
    text = file.read_text()
    file.unlink()
    return wrong_in_summary(text)


def wrong_with_netpipe(said, _):
    sizes, passed = said.count("-->"), said.count("Integrity check passed")
    return "" if sizes == passed > 0 else f"{passed} of {sizes} integrity checks passed"


# NetPIPE is for two ranks: with four it stops after the first size, without fab too.
BENCHMARKS = [
    Benchmark("hpcc", ["hpcc"], 2, wrong_with_hpcc),
    Benchmark("hpcc", ["hpcc"], 4, wrong_with_hpcc),
    Benchmark("netpipe", ["NPopenmpi", "-i", "-n", "20", "-u", "65536", "-o", "np.out"], 2, wrong_with_netpipe),
]


def prepared(work, only):
    """Those whose titles have a part of `only`: each gets a folder with its input."""
    chosen = [one for one in BENCHMARKS if not only or any(word in one.title for word in only)]
    for benchmark in chosen:
        folder = benchmark.place(work)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        text = INPUT.read_text().replace("{rows}", str(benchmark.ranks // 2)).replace("{columns}", "2")
        (folder / INPUT.name).write_text(text)
    return chosen
