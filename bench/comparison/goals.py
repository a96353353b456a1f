"""The aims, each judged by the rows alone."""

import dataclasses
import statistics

import jobs
import rows
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
                points.append(Point(hidden, f"{scene.key.pattern}, {texts.size(size)}"))
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


def mean_of(goal, points, wanted=1):
    """Their geometric mean must reach `wanted`."""
    if not points:
        return Verdict(goal, OPEN, "")
    mean = statistics.geometric_mean(point.value for point in points)
    slower = sum(point.value < 1 for point in points)
    worst = min(points, key=lambda point: point.value)
    detail = f"{mean:.2f} times; fab is slower at {slower} of {len(points)} points, most: {worst.value:.2f} times ({worst.where})"
    return Verdict(goal, MET if mean >= wanted else MISSED, detail)


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


def below(goal, wanted, points, unit):
    """Every point must be below `wanted`."""
    if not points:
        return Verdict(goal, OPEN, "")
    worst = max(points, key=lambda point: point.value)
    reached = sum(point.value < wanted for point in points)
    return Verdict(goal, MET if reached == len(points) else MISSED,
                   f"at {reached} of {len(points)} points; most: {worst.value:.4f} {unit} ({worst.where})")


def idle(rows):
    """Processor time of the rank that takes most."""
    return [Point(row["cpu_percent_largest"], f"{row['state']}, {texts.TRANSPORTS[row['transport']]}")
            for row in rows if "cpu_percent_largest" in row]


def memory_growth(rows):
    """Of a rank in a ring that exchanged, from the smallest job to the largest: fab's own, in %."""
    held = {}
    for row in rows:
        if row["state"] == "ring, exchanged":
            held.setdefault(row["ranks"], []).append(row["fab_bytes_mean"])
    if len(held) != 2:
        return []
    (few, least), (many, most) = sorted((ranks, statistics.median(counts)) for ranks, counts in held.items())
    return [Point(100 * (most / least - 1), f"{least:.0f} bytes with {few} ranks, {most:.0f} with {many}")]


def footprint(rows):
    """The verdicts on it."""
    return [
        below("A processor, idle or with a receive pending for 10 s: below 0.1 %", 0.1, idle(rows), "%"),
        # A table of 16 bytes for each rank of the job would be 0.6 %.
        below("Memory per rank in a ring, mean of 64 ranks against 32: less than 0.5 % more", 0.5, memory_growth(rows), "%"),
    ]


def first(found):
    """The verdicts on the first contact, by the medians of launches. The launcher's part is not in it."""
    def points(transports, contestants=("fab", "native"), us=rows.first_contact_us):
        return [Point(statistics.median(us(row) for row in launches) / 1000,
                      f"{who}, {texts.TRANSPORTS[transport]}, {ranks} ranks")
                for (transport, ranks), by_whom in found.items() if transport in transports
                for who, launches in by_whom.items() if who in contestants]

    return [
        below("Opening and the first exchange, within a node: at most 5 ms", 5, points(["node"]), "ms"),
        below("A grid and the first exchange in an open context, within a node: at most 1 ms", 1,
              points(["node"], ("native",), rows.first_exchange_us), "ms"),
        below("Opening and the first exchange, over TCP: at most 20 ms", 20, points(["tcp", "wire"]), "ms"),
    ]


def collectives(scenes):
    """The verdicts on them."""
    verdicts = []
    for transport in ("node", "tcp"):
        for ranks in (2, 4):
            points = leads(find(scenes, bench="collectives", transport=transport, ranks=ranks), ("Open MPI",))
            for form in ("blocking", "nonblocking"):
                verdicts.append(mean_of(f"Collectives, {texts.TRANSPORTS[transport]}, {ranks} ranks, {form}: on (geometric) "
                                        "average no slower than Open MPI",
                                        [point for point in points if point.where.startswith(f"{form},")]))
    names = jobs.OVERLAPPED.split(",")
    hidden = [scene for scene in find(scenes, bench="overlap", transport="wire") if scene.key.pattern in names]
    verdicts.append(at_least(f"Overlap of {', '.join(names)} on a wire of 1 Gbit/s: 85 % from 64 KiB on", 85,
                             overlaps(hidden, 64 << 10), "%"))
    return verdicts


def clusters(scenes):
    """The verdicts on what fab's knowledge of nodes gains."""
    verdicts = []
    for transport in jobs.CLUSTERS:
        found = find(scenes, bench="collectives", transport=transport)
        gains = [Point(gain.median, f"{form}, {texts.size(size)}, {scene.key.pattern}") for scene in found
                 for size in scene.sizes for form in scene.forms if (gain := scene.gain(size, form))]
        where = texts.TRANSPORTS[transport]
        verdicts.append(at_least(f"{where}: fab's choice is never slower than its flat algorithms", 1, gains))
        verdicts.append(mean_of(f"{where}: on (geometric) average 1.5 times faster than the better of Open MPI's "
                                "collectives, with and without HAN", leads(found, ("Open MPI", "Open MPI HAN")), 1.5))
    return verdicts


def judge(scenes, footprint_rows=(), first_rows=None):
    node = find(scenes, transport="node", ranks=2, pattern="ring")
    tcp = find(scenes, transport="tcp", ranks=2, pattern="ring")
    single = find(scenes, transport="tcp", ranks=2, pattern="pair")
    own_memory = find(scenes, transport="node", ranks=2, pattern="ring", memory="fab")
    crowd = find(scenes, ranks=8, transport="node")
    wire = find(scenes, bench="overlap", transport="wire", pattern="ring")
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
                 overall(find(scenes, bench="overlap", pattern="ring"))),
        at_least("8 ranks, shared memory: no slower than Open MPI", 1, leads(crowd, ("Open MPI",))),
        *collectives(scenes),
        *clusters(scenes),
        *footprint(footprint_rows),
        *first(first_rows or {}),
    ]
