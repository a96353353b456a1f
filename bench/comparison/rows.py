"""Rows of many jobs as samples of one thing, and what is computed from them."""

import dataclasses
import statistics

import jobs

FORMS = ["blocking", "nonblocking", "persistent"]
PEERS = ["Open MPI", "Open MPI HAN", "MPICH"]
TRANSPORTS = ["node", "tcp", "wire", *jobs.CLUSTERS]
PATTERNS = ["ring", "pair", "faces", "barrier", "bcast", "reduce", "allreduce", "gather", "scatter", "allgather", "alltoall",
            "reduce_scatter_block", "scan"]
# In the order of tables and plots. "flat": fab without what it knows of nodes. "by hand":
# Isend and Irecv, or the same as persistent requests.
CONTESTANTS = ["fab", "native", "flat", "Open MPI", "Open MPI by hand", "Open MPI HAN", "MPICH", "MPICH by hand"]
NETWORK_LIMITS = ["TCP", "libfabric"]
NODE_LIMITS = ["cells", "mapped", "kernel", "ring"]
# Nothing that a user's own buffers allow is faster; `kernel` and `ring` are ways, not limits.
LIMITS = ["cells", "mapped", "TCP"]


@dataclasses.dataclass(frozen=True)
class Spread:
    lower: float
    median: float
    upper: float

    @staticmethod
    def of(sample):
        """Quartiles between neighbouring values linearly, as the programs compute them."""
        if len(sample) == 1:
            return Spread(sample[0], sample[0], sample[0])
        lower, median, upper = statistics.quantiles(sample, n=4, method="inclusive")
        return Spread(lower, median, upper)


def contestant(row):
    """Who a row is about: one of CONTESTANTS, NETWORK_LIMITS or NODE_LIMITS."""
    if row["library"] == "limit":
        return row["form"]
    if row["library"] == "MPI":
        return row["implementation"]
    if row["library"] == "by hand":
        return f"{row['implementation']} by hand"
    return row["library"]


def form(row):
    return "blocking" if row["library"] == "limit" else row["form"]


@dataclasses.dataclass(frozen=True, order=True)
class SceneKey:
    """What is compared with each other: everything else is equal."""

    bench: str  # "neighbor", "overlap" or "collectives"
    transport: str
    pattern: str  # of neighbours, or a collective
    ranks: int
    memory: str


class Scene:
    """Samples by size, contestant and form; each is a value for each batch of each round."""

    def __init__(self, key):
        self.key = key
        self.samples = {}  # (bytes, contestant, form) -> round -> row
        self.misplaced = set()  # calls that put blocks into each other's places
        self.algorithms = {}  # fab's, by size

    def add(self, row):
        self.samples.setdefault((row["bytes"], contestant(row), form(row)), {})[row["round"]] = row
        if row["library"] == "fab" and "algorithm" in row:
            self.algorithms[row["bytes"]] = row["algorithm"]
        if not row.get("in_place", True):
            self.misplaced.add(f"{row['mpi'].partition(',')[0]}: {row['timed'].partition(' ')[0]}")

    @property
    def sizes(self):
        return sorted({size for size, _, _ in self.samples})

    @property
    def forms(self):
        return [one for one in FORMS if any(one == kind for _, _, kind in self.samples)]

    def contestants(self, names=tuple(CONTESTANTS)):
        present = {name for _, name, _ in self.samples}
        return [name for name in names if name in present]

    @property
    def fab(self):
        """Which of fab's APIs is compared: the MPI binding, where it has the operation."""
        return "fab" if "fab" in self.contestants() else "native"

    def spread(self, size, name, kind, field="us"):
        """Over all batches of all rounds; None if it was not measured."""
        rows = self.samples.get((size, name, kind))
        return Spread.of([value for row in rows.values() for value in row[field]]) if rows else None

    def median(self, size, name, kind, field="us"):
        spread = self.spread(size, name, kind, field)
        return spread.median if spread else None

    def ratio(self, size, numerator, denominator, kind, field="us"):
        """Of batches that ran next to each other: in one job alternately, or in jobs of one round that follow each
        other. None without such batches."""
        above = self.samples.get((size, numerator, kind), {})
        below = self.samples.get((size, denominator, kind), {})
        pairs = [pair for number in above if number in below
                 for pair in zip(above[number][field], below[number][field])]
        return Spread.of([one / other for one, other in pairs]) if pairs else None

    def fastest(self, size, kind, names, field="us"):
        """The contestant with the least median; None if none of them was measured."""
        measured = [(self.median(size, name, kind, field), name) for name in names]
        return min(((median, name) for median, name in measured if median is not None), default=(None, None))[1]

    def peers(self, only=tuple(PEERS)):
        return [name for peer in only for name in (peer, f"{peer} by hand")]

    def lead(self, size, kind, only=tuple(PEERS), of=None):
        """How many times faster fab is than the fastest of the others' ways of the same form: (Spread, its name), or
        None."""
        peer = self.fastest(size, kind, self.peers(only))
        ratio = self.ratio(size, peer, of or self.fab, kind) if peer else None
        return (ratio, peer) if ratio else None

    def gain(self, size, kind):
        """The time of fab's flat algorithms over that of its choice, or None."""
        return self.ratio(size, "flat", self.fab, kind)

    def limit(self, size):
        """(the least time that the machine allowed, by which way), or None."""
        name = self.fastest(size, "blocking", LIMITS)
        return (self.median(size, name, "blocking"), name) if name else None


def footprint(rows):
    """The rows about what fab costs while it is idle. No other library has such rows."""
    return [row for row in rows if row["bench"] == "footprint"]


def first(rows):
    """Those about the first exchange of a process: {(transport, ranks): {who: [row of a launch]}}."""
    found = {}
    for row in rows:
        if row["bench"] == "first":
            found.setdefault((row["transport"], row["ranks"]), {}).setdefault(contestant(row), []).append(row)
    return {key: found[key] for key in sorted(found, key=lambda key: (TRANSPORTS.index(key[0]), key[1]))}


def first_contact_us(row):
    """Opening and the first exchange together; a native program also makes its grid through fab."""
    return row["first_us"] + (row["open_us"] + row["grid_us"] if row["library"] == "native" else 0)


def first_exchange_us(row):
    """Where a context is open: of a native program, its grid included."""
    return row["grid_us"] + row["first_us"]


def scenes(rows):
    """All scenes of the other rows, in order. MPICH has no row in fab's memory: its rows in the user's stand there."""
    found = {}
    for row in rows:
        if row["bench"] in ("footprint", "first"):
            continue
        bench = {"overlap": "overlap", "collective": "collectives"}.get(row["bench"], "neighbor")
        pattern = row["collective"] if "collective" in row else row["pattern"]
        key = SceneKey(bench, row["transport"], pattern, row["ranks"], row["memory"])
        found.setdefault(key, Scene(key)).add(row)
    for key, scene in found.items():
        user = found.get(dataclasses.replace(key, memory="user"))
        if user is None or user is scene:
            continue
        for (size, name, kind), samples in user.samples.items():
            if name.startswith("MPICH") or name in NODE_LIMITS:
                scene.samples.setdefault((size, name, kind), samples)
    return sorted(found.values(), key=lambda scene: (
        scene.key.bench, TRANSPORTS.index(scene.key.transport), scene.key.ranks, PATTERNS.index(scene.key.pattern),
        scene.key.memory != "user"))
