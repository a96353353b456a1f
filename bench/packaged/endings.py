"""Endings of a program's runs with and without fab, and the verdict on them."""

TIMED_OUT, FAILED, OK = "timed out", "failed", "ok"
WORTH = [TIMED_OUT, FAILED, OK]  # the worst first
SAME, BETTER, WORSE, FLAKY = "same", "better", "worse", "flaky"

REPEATS = 3  # pairs of runs of a program that ended differently
SEARCH = 20  # more runs without fab of one that fab ends differently now and then only


def verdict(without, with_fab):
    """Of the endings of all runs. FLAKY: it ends in several ways without fab."""
    if len(set(without)) > 1:
        return FLAKY
    if set(with_fab) == set(without):
        return SAME
    return WORSE if min(map(WORTH.index, with_fab)) < WORTH.index(without[0]) else BETTER


def judged(first, run_without, run_with_fab):
    """(verdict, endings without fab, endings with it). `first` ended a run without fab; the functions run the program
    once more and return its ending."""
    without, with_fab = [first], [run_with_fab()]
    if without == with_fab:
        return SAME, without, with_fab
    for _ in range(REPEATS):
        without.append(run_without())
        with_fab.append(run_with_fab())
    # With fab it ends like that now and then only. Perhaps without fab, too.
    searched = 0
    while verdict(without, with_fab) == WORSE and without[0] in with_fab and searched < SEARCH:
        without.append(run_without())
        searched += 1
    return verdict(without, with_fab), without, with_fab
