"""What the figures say: tables, and a few sentences."""

import re

import figures
import scenes
import tables
import texts

UNITS = {"gbit": 1e9, "mbit": 1e6, "kbit": 1e3}
HOW_TO_READ = "Every ratio is Open MPI's time over the other's time: above 1 fab is faster."


def bits_per_s(rate):
    """None for a rate with other units than bits."""
    found = re.fullmatch(r"([\d.]+)(gbit|mbit|kbit)", rate)
    return float(found[1]) * UNITS[found[2]] if found else None


def transfer_ms(one):
    """How long the wire needs for what a rank sends in an exchange; None where there is no wire."""
    speed = bits_per_s(one.scene.rate)
    return one.any_run()["exchange_bytes"] * 8 / speed * 1000 if speed else None


def size(count):
    return f"{count / 1024:.0f} KiB" if count >= 1024 else f"{count:.0f} B"


def seconds(one, way, value):
    return texts.number(one.median(way, value))


def losses_of(lines, ratios, first_column):
    return {(len(lines), first_column + i) for i, ratio in enumerate(ratios) if ratio and ratio.median < 1}


def whole(found):
    heads = ["job", "where", "ranks", "points", "fab s", "fab_run s", "Open MPI s", "Open MPI/fab", "Open MPI/fab_run",
             "serial/fab", "energies", ""]
    lines, losses = [], set()
    for one in found:
        ratios = [one.ratio(way, figures.WHOLE) for way in (scenes.FAB, scenes.DROP_IN)]
        losses |= losses_of(lines, ratios, 7)
        error = one.largest_difference()
        lines.append([one.scene.problem.title, one.scene.where, str(one.scene.ranks), str(one.reference["grid_points"]),
                      *(seconds(one, way, lambda row: figures.seconds(row, figures.WHOLE)) for way in scenes.WAYS), *map(texts.spread, ratios),
                      texts.number(one.serial_speedup(scenes.FAB)),
                      f"{'equal' if error <= figures.TOLERANCE else 'WRONG'}, {error:.0e}",
                      "oversubscribed" if one.scene.is_oversubscribed else ""])
    told = [f"Seconds of set-up (below) and iterations, median over rounds. {HOW_TO_READ} In brackets: quartiles over the rounds.",
            "energies: the largest relative difference from those of the serial run; at most 1e-10 is equal.",
            "serial/fab: the serial run's iterations over fab's. oversubscribed: more ranks than processors, so times say little."]
    return tables.Table("The whole job", told, heads, lines, losses)


def communication(found):
    heads = ["job", "where", "ranks", "exchanges", "sent in one", "wire ms", "compute ms", "fab s", "fab_run s", "Open MPI s",
             "Open MPI/fab", "Open MPI/fab_run"]
    lines, losses = [], set()
    for one in found:
        if one.scene.ranks == 1:
            continue
        ratios = [one.ratio(way, figures.COMMUNICATION) for way in (scenes.FAB, scenes.DROP_IN)]
        losses |= losses_of(lines, ratios, 10)
        run = one.any_run()
        talk = [seconds(one, way, lambda row: figures.seconds(row, figures.COMMUNICATION)) for way in scenes.WAYS]
        lines.append([one.scene.problem.title, one.scene.where, str(one.scene.ranks), str(run["exchanges"]),
                      size(run["exchange_bytes"]), texts.number(transfer_ms(one)), texts.number(one.compute_ms()), *talk,
                      *map(texts.spread, ratios)])
    told = ["Seconds in exchanges of ghost values and in sums over the ranks, with the waiting in them; mean over the ranks.",
            "sent in one: by a rank in one exchange. wire: how long the link takes for that. compute: the computation "
            "between two exchanges, half or more of which (the points that need no ghosts) an exchange can hide behind."]
    return tables.Table("Communication", told, heads, lines, losses)


def set_up(found):
    heads = ["job", "where", "ranks", *(f"{way} ms" for way in scenes.WAYS)]
    lines = [[one.scene.problem.title, one.scene.where, str(one.scene.ranks),
              *(seconds(one, way, lambda row: 1000 * row["setup_s"]) for way in scenes.WAYS)]
             for one in found if one.scene.ranks > 1]
    told = ["Milliseconds, once for each job, of the slowest rank: the communicator, opening fab, and the first six "
            "exchanges. Part of the whole job, and no part of the communication above."]
    return tables.Table("Set-up", told, heads, lines, set())


def verdict(one):
    """A sentence about a scene with several ranks."""
    ratio = one.ratio(scenes.FAB, figures.WHOLE)
    if ratio is None:
        return ""
    text = f"{one.scene.title}: {ratio.median:.2f} times as fast with fab as with Open MPI"
    wire, compute = transfer_ms(one), one.compute_ms()
    if wire is None:
        return f"{text}."
    sent = size(one.any_run()["exchange_bytes"])
    return (f"{text}. An exchange is {sent}, {texts.number(wire)} ms on the wire, beside {texts.number(compute)} ms of "
            "computation.")


WHEN = ("When to expect a gain: when an exchange takes a time on the wire that the computation beside it can hide, and is "
        "too long for the kernel's socket buffers (some 100 KiB), which hide short ones with any library. fab goes on while "
        "the program computes; Open MPI's collective waits for the next call. If the wire needs much less time than the "
        "computation, or the ranks share a node's memory, there is little to gain.")


def other_work(machine):
    """A warning, if other programs were running before."""
    load = float(machine.get("load before", "0").split()[0])
    return f"Other programs were running (load {load:g}): run it again on a quiet machine before you trust the times." if load > 1 else ""


def sentences(found, machine):
    by_gain = sorted(found, key=lambda one: -getattr(one.ratio(scenes.FAB, figures.WHOLE), "median", 0))
    return [*filter(None, [other_work(machine), *map(verdict, by_gain)]), WHEN]
