"""What is read from the programs' outputs: results, which must be the same with fab, and times."""

import dataclasses
import math
import re

NUMBER = r"([-+]?\d[\d.]*(?:[eE][-+]?\d+)?)"
# Quantum ESPRESSO's wall-clock times: "12.34s", from a minute on "1m 2.34s", from an hour on "1h 2m".
WALL = r"CPU +((?:\d+h)? *(?:\d+m)? *(?:[\d.]+s)?) WALL"
FAB_ROW = re.compile(r"^(\w+) +(\d+) +(\d+) +[\d.]+ +([\d.]+)", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Reader:
    """Patterns whose groups are numbers. All matches of a pattern count."""

    same: tuple  # counts, which are equal
    close: tuple  # values, which are equal to `tolerance`
    tolerance: float
    work: tuple = ()  # seconds of the part that the program times itself, added
    communication: tuple = ()  # seconds of the operations that wait for others, added


def petsc_event(name):
    return rf"^{name} +\d+ [\d.]+ {NUMBER}"


# The scatters of vectors. Dot products and norms are no part of it: their events hold the computation too.
SCATTERS = tuple(petsc_event(event) for event in ("VecScatterBegin", "VecScatterEnd"))
DOLFINX = Reader(
    same=(rf"Number of Krylov iterations: {NUMBER}",),
    close=(rf"Solution norm: +{NUMBER}",),
    tolerance=1e-5,  # six digits are printed
    work=(rf"^ZZZ Solve .*\| +\d+ +{NUMBER}",),
    communication=SCATTERS,
)
PETSC = Reader(
    same=(rf"iterations {NUMBER}",),
    close=(rf"^Residual norm {NUMBER}", rf"^Norm of error {NUMBER}"),
    tolerance=1e-4,
    work=(petsc_event("KSPSolve"),),
    communication=SCATTERS,
)
TRANSFORM = Reader(
    same=(r"error (small)",),
    close=(rf"energy {NUMBER}",),
    tolerance=1e-11,
    work=(rf"transforms {NUMBER} s",),
)
ESPRESSO = Reader(
    same=(rf"convergence has been achieved in +{NUMBER} iterations",),
    close=(rf"^! +total energy += +{NUMBER} Ry", rf"P= +{NUMBER}"),
    tolerance=1e-6,
    work=(rf"^ +electrons .*{WALL}",),
    communication=(rf"^ +fft_scatt_xy .*{WALL}", rf"^ +fft_scatt_yz .*{WALL}"),
)
LAMMPS = Reader(
    same=(rf"procs for {NUMBER} steps with", rf"steps with {NUMBER} atoms"),
    close=(rf"^ +(?:50|100) +{NUMBER} +{NUMBER} +0 +{NUMBER} +{NUMBER}",),
    tolerance=1e-5,
    work=(rf"^Loop time of {NUMBER}",),
    communication=(rf"^Comm +\| +[\d.]+ +\| +{NUMBER}",),
)


def found(patterns, text):
    """All groups of all matches, in order; None if a pattern is nowhere."""
    values = []
    for pattern in patterns:
        matches = list(re.finditer(pattern, text, re.MULTILINE))
        if not matches:
            return None
        values += [value for match in matches for value in match.groups()]
    return values


def any_found(patterns, text):
    return [value for pattern in patterns for value in found((pattern,), text) or ()]


def results(reader, text):
    """(counts, values), or None if the program did not tell them."""
    same, close = any_found(reader.same, text), any_found(reader.close, text)
    return (same, close) if same and close else None


def difference(reader, without, with_fab):
    """In words; empty if the results are the same."""
    if without[0] != with_fab[0]:
        return f"without fab {' '.join(without[0])}, with fab {' '.join(with_fab[0])}"
    if len(without[1]) != len(with_fab[1]):
        return f"without fab {len(without[1])} values, with fab {len(with_fab[1])}"
    for one, other in zip(without[1], with_fab[1]):
        if not math.isclose(float(one), float(other), rel_tol=reader.tolerance, abs_tol=1e-14):
            return f"without fab {one}, with fab {other}"
    return ""


def in_seconds(time):
    """Of "1.5", or of "1h 2m 1.5s" in which parts may be missing."""
    parts = re.findall(r"([\d.]+(?:[eE][-+]?\d+)?)([hms]?)", time)
    return sum(float(number) * {"h": 3600, "m": 60}.get(unit, 1) for number, unit in parts)


def seconds(patterns, text):
    values = found(patterns, text) if patterns else None
    return sum(map(in_seconds, values)) if values else None


def carried(text):
    """{function: {carried, passed, seconds}} of fab's table."""
    if "under libfab_dropin" not in text:
        return None
    table = text.partition("fab: statistics of")[0]
    return {row[1]: {"carried": int(row[2]), "passed": int(row[3]), "seconds": float(row[4])}
            for row in FAB_ROW.finditer(table)}
