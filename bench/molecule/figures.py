"""What the rows of all runs tell of each scene."""

import statistics

import rows
import scenes

TOLERANCE = 1e-10  # of energies, relative
WHOLE, COMMUNICATION = "whole", "communication"


def seconds(row, part):
    """The whole is set-up and iterations. Communication is exchanges and sums over the ranks, with the waiting in them:
    those of the iterations."""
    return row["setup_s"] + row["steps_s"] if part == WHOLE else row["exchange_s"] + row["sum_s"]


def difference(row, reference):
    """The largest relative one of all energies; of missing or other numbers of energies, infinite."""
    ours, theirs = row["energies_hartree"], reference["energies_hartree"]
    if len(ours) != len(theirs):
        return float("inf")
    differences = [abs(one - other) / abs(other) for one, other in zip(ours, theirs)]
    return max(differences) if all(each == each for each in differences) else float("inf")


class SceneFigures:
    """A scene's runs by way and round, and the serial run of its problem."""

    def __init__(self, scene, number, all_rows, reference):
        self.scene = scene
        self.reference = reference
        self.runs = {way: {row["round"]: row for row in all_rows if row["scene"] == number and row["way"] == way}
                     for way in scenes.WAYS}

    @property
    def is_empty(self):
        return not any(self.runs.values())

    def any_run(self):
        return next(iter(run for runs in self.runs.values() for run in runs.values()))

    def spread(self, way, value):
        """`value` of a row, over all rounds; None without one."""
        sample = [value(row) for row in self.runs[way].values()]
        return rows.Spread.of(sample) if sample else None

    def median(self, way, value):
        spread = self.spread(way, value)
        return spread.median if spread else None

    def ratio(self, way, part):
        """Open MPI's time over that of `way`, of runs of the same round; None without such runs, or without any
        communication."""
        pairs = [(seconds(self.runs[scenes.OPEN_MPI][number], part), seconds(row, part))
                 for number, row in self.runs[way].items() if number in self.runs[scenes.OPEN_MPI]]
        ratios = [other / own for other, own in pairs if own > 0]
        return rows.Spread.of(ratios) if ratios and self.scene.ranks > 1 else None

    def largest_difference(self):
        return max(difference(row, self.reference) for runs in self.runs.values() for row in runs.values())

    def compute_ms(self):
        """From one exchange to the next, without communication: what an exchange can hide behind."""
        row = statistics.median_low(
            (row["steps_s"] - seconds(row, COMMUNICATION)) / max(1, row["exchanges"])
            for row in self.runs[scenes.OPEN_MPI].values()) if self.runs[scenes.OPEN_MPI] else None
        return None if row is None else 1000 * row

    def serial_speedup(self, way):
        own = self.median(way, lambda row: row["steps_s"])
        return self.reference["steps_s"] / own if own else None
