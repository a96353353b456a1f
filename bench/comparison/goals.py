"""The aims, each judged by the rows alone."""

import dataclasses

import texts

MET, MISSED, OPEN = "met", "missed", "not measured"


@dataclasses.dataclass(frozen=True)
class Verdict:
    goal: str
    state: str  # MET, MISSED or OPEN
    detail: str


@dataclasses.dataclass(frozen=True)
class Point:
    """One figure that a goal is about; `value` must reach the goal's `wanted`."""

    value: float
    where: str


def find(scenes, **wanted):
    wanted = {"bench": "neighbor", "memory": "user", **wanted}
    return [scene for scene in scenes if all(getattr(scene.key, name) == value for name, value in wanted.items())]


def leads(scenes, only=("Open MPI", "MPICH"), largest=None, smallest=0):
    """How many times faster fab is, for each form and size."""
    points = []
    for scene in scenes:
        for size in scene.sizes:
            if size < smallest or (largest is not None and size > largest):
                continue
            for form in scene.forms:
                lead = scene.lead(size, form, only)
                if lead:
                    where = f"{form}, {texts.size(size)}, {scene.key.pattern}"
                    points.append(Point(lead[0].median, f"{where}, against {lead[1]}"))
    return points


def near_limits(scenes, form):
    """The limit's time over fab's."""
    points = []
    for scene in scenes:
        for size in scene.sizes:
            limit, own = scene.limit(size), scene.median(size, scene.fab, form)
            if limit and own:
                points.append(Point(limit[0] / own, f"{form}, {texts.size(size)}, against {limit[1]}"))
    return points


def overlaps(scenes, smallest):
    points = []
    for scene in scenes:
        for size in scene.sizes:
            hidden = scene.median(size, "fab", "nonblocking", "overlap_percent")
            if size >= smallest and hidden is not None:
                points.append(Point(hidden, texts.size(size)))
    return points


def overall(scenes):
    """Open MPI's overall time over fab's."""
    points = []
    for scene in scenes:
        for size in scene.sizes:
            ratio = scene.ratio(size, "Open MPI", "fab", "nonblocking", "overall_us")
            if ratio:
                points.append(Point(ratio.median, f"{texts.TRANSPORTS[scene.key.transport]}, {texts.size(size)}"))
    return points


def at_least(goal, wanted, points, unit="times"):
    """Every point must reach `wanted`."""
    if not points:
        return Verdict(goal, OPEN, "")
    worst = min(points, key=lambda point: point.value)
    reached = sum(point.value >= wanted for point in points)
    counted = f"at {reached} of {len(points)} points; least: {worst.value:.2f} {unit} ({worst.where})"
    if reached == len(points):
        return Verdict(goal, MET, counted)
    short = f"{wanted - worst.value:.0f} points short" if unit == "%" else f"a factor of {wanted / worst.value:.2f} short" \
        if worst.value > 0 else "out of reach"
    return Verdict(goal, MISSED, f"{counted}, {short}")


def at_most(goal, wanted, points):
    """The points are limits over times: each time must be at most `wanted` limits."""
    if not points:
        return Verdict(goal, OPEN, "")
    worst = min(points, key=lambda point: point.value)
    reached = sum(point.value >= 1 / wanted for point in points)
    counted = f"at {reached} of {len(points)} points; most: {1 / worst.value:.2f} limits ({worst.where})"
    if reached == len(points):
        return Verdict(goal, MET, counted)
    return Verdict(goal, MISSED, f"{counted}, a factor of {1 / worst.value / wanted:.2f} over")


def judge(scenes):
    node = find(scenes, transport="node", ranks=2, pattern="ring")
    tcp = find(scenes, transport="tcp", ranks=2, pattern="ring")
    single = find(scenes, transport="tcp", ranks=2, pattern="pair")
    own_memory = find(scenes, transport="node", ranks=2, pattern="ring", memory="fab")
    crowd = find(scenes, ranks=8, transport="node")
    wire = find(scenes, bench="overlap", transport="wire")
    kib = 1 << 10
    return [
        at_least("Shared memory, 2 ranks, user's buffers: 3 times faster than the better of Open MPI and MPICH up to "
                 "256 KiB", 3, leads(node, largest=256 * kib)),
        at_least("Shared memory, 2 ranks: never slower at any size", 1, leads(node)),
        at_most("Persistent exchange in fab's memory: within twice the limit", 2, near_limits(own_memory, "persistent")),
        at_least("TCP, two small blocks to one peer (up to 4 KiB): 1.7 times faster than Open MPI", 1.7,
                 leads(tcp, ("Open MPI",), largest=4 * kib)),
        at_least("TCP, 2 ranks: never slower than Open MPI at any size", 1, leads(tcp, ("Open MPI",))),
        at_most("TCP, one message each way: within 1.25 times a bare socket", 1.25, near_limits(single, "blocking")),
        at_least("Overlap on a wire of 1 Gbit/s: 90 % from 64 KiB on", 90, overlaps(wire, 64 * kib), "%"),
        at_least("Exchange and computation together: no longer than with Open MPI, on every transport", 1,
                 overall(find(scenes, bench="overlap"))),
        at_least("8 ranks, shared memory: no slower than Open MPI", 1, leads(crowd, ("Open MPI",))),
    ]
