"""What is run: each job is one launch of one program."""

import dataclasses
import os
import pathlib
import shlex
import shutil

USUAL_PARTS = ["node", "tcp", "wire", "overlap", "collectives", "footprint", "first"]
PARTS = [*USUAL_PARTS, "clusters"]
# What makes the first exchange of a process; each needs processes of its own.
FIRST_BY = ["fab", "native", "MPI"]
OVERLAPPED = "bcast,allreduce,alltoall"
WIRE_RATE = "1gbit"


@dataclasses.dataclass(frozen=True)
class Cluster:
    """Nodes of tests/rig/cluster, with links of WIRE_RATE."""

    nodes: int
    per_node: int
    delay_us: int = 0  # of the switch

    @property
    def ranks(self):
        return self.nodes * self.per_node


CLUSTERS = {
    "cluster-2x4": Cluster(2, 4),
    "cluster-2x4-far": Cluster(2, 4, delay_us=500),
    "cluster-4x2": Cluster(4, 2),
    "cluster-4x2-far": Cluster(4, 2, delay_us=500),
}
# In a batch. Calls that wait for nothing overlap on a long way, so jobs compare only with as many in a row.
CALLS_FAR_AWAY = 10
HAN = ["--mca", "coll_han_priority", "100"]  # Open MPI's collectives that know of nodes; it has them off
# The memories that buffers are taken from, by part; elsewhere the user's own.
MEMORIES = {"node": ["user", "fab"]}


@dataclasses.dataclass(frozen=True)
class Effort:
    name: str
    rounds: int
    batches: int
    batch_ms: int
    factor: int
    max_bytes: int
    limit_s: int  # for one job
    first_contacts: int  # in one round, by each library

    def sizes(self, low, high, factor=None):
        return ["--sizes", f"{low}:{min(high, self.max_bytes)}:{factor or self.factor}"]

    def batch_options(self):
        return ["--batches", str(self.batches), "--batch-ms", str(self.batch_ms)]


QUICK = Effort("quick", rounds=2, batches=5, batch_ms=2, factor=4, max_bytes=2 << 20, limit_s=180, first_contacts=4)
FULL = Effort("full", rounds=3, batches=15, batch_ms=5, factor=2, max_bytes=4 << 20, limit_s=600, first_contacts=7)


@dataclasses.dataclass(frozen=True)
class Tools:
    """Launchers by their full names: `mpirun` and `mpiexec` may be either library's."""

    build: pathlib.Path
    cluster: pathlib.Path
    switch: pathlib.Path
    openmpi: str
    mpich: str | None

    @staticmethod
    def found(root, build):
        return Tools(
            build=build / "bench",
            cluster=root / "tests" / "rig" / "cluster",
            switch=build / "tests" / "rig" / "fab_rig_switch",
            openmpi=shutil.which("mpirun.openmpi") or "mpirun",
            mpich=shutil.which("mpiexec.mpich"),
        )


@dataclasses.dataclass(frozen=True)
class Job:
    title: str
    fields: dict  # of every row, beside those that the program writes
    command: list  # the file for the rows is added to it
    environment: dict
    limit_s: int
    may_hang: bool = False  # no fault of fab's
    must_print: str = ""  # a pattern that a line of its output begins with

    def shown(self):
        variables = [f"{name}={value}" for name, value in self.environment.items()]
        return shlex.join(variables + [os.path.relpath(word) if os.path.isabs(word) else word for word in self.command])


# How each library is told to take a transport: (arguments of its launcher, environment).
OPENMPI = {"node": ([], {}), "tcp": (["--mca", "btl", "tcp,self", "-x", "FAB_LOCAL=off"], {})}
MPICH = {"node": ([], {}), "tcp": ([], {"MPIR_CVAR_NOLOCAL": "1", "UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "lo"})}


def rig(tools, cluster, *arguments):
    delay = ["--delay", str(cluster.delay_us), "--switch", str(tools.switch)] if cluster.delay_us else []
    dealt = ["--map-by", f"ppr:{cluster.per_node}:node"]  # ranks in order, as launchers do by themselves
    return [str(tools.cluster), "run", "--divide", "--nodes", str(cluster.nodes), "--rate", WIRE_RATE, *delay, "--", *dealt,
            *arguments, "-n", str(cluster.ranks)]


def launch(tools, implementation, transport, ranks, rate=WIRE_RATE):
    """The command up to the program, and the environment. `rate` is the wire's."""
    if transport in CLUSTERS:
        return rig(tools, CLUSTERS[transport], *(HAN if implementation == "Open MPI HAN" else [])), {}
    if transport == "wire":
        mpich = ["--mpich"] if implementation == "MPICH" else []
        return [str(tools.cluster), "run", "--divide", "--rate", rate, *mpich, "--", "-n", str(ranks)], {}
    arguments, environment = (MPICH if implementation == "MPICH" else OPENMPI)[transport]
    if implementation == "MPICH":
        return [tools.mpich, "-n", str(ranks), *(["-bind-to", "core"] if ranks == 2 else []), *arguments], environment
    placed = ["--bind-to", "core"] if ranks == 2 else ["--oversubscribe", "--bind-to", "none"]
    return [tools.openmpi, "-n", str(ranks), *placed, *arguments], environment


def value_of(options, name):
    return options[options.index(name) + 1]


def subject_of(options):
    for name in ("--pattern", "--collective"):
        if name in options:
            return value_of(options, name)
    return "all"


def memory_of(options):
    return value_of(options, "--memory") if "--memory" in options else "user"


def exchange_job(tools, effort, implementation, subcommand, transport, ranks, options):
    """`options` are the subcommand's; what they name is in the rows as well."""
    command, environment = launch(tools, implementation, transport, ranks)
    if memory_of(options) == "fab":
        environment = {**environment, "FAB_LOCAL_LONG": "map"}
    binary = tools.build / ("mpich_perf" if implementation == "MPICH" else "fab_perf")
    who = implementation if implementation != "Open MPI" else "fab and Open MPI"
    what = f"{subject_of(options)}, {memory_of(options)} memory"
    return Job(
        title=f"{subcommand}, {transport}, {what}, {ranks} ranks, {who}",
        fields={"implementation": implementation, "transport": transport},  # of MPI, not of a row's own library
        command=[*command, str(binary), subcommand, *options, *effort.batch_options()],
        environment=environment,
        limit_s=effort.limit_s,
        # MPICH 4.0.2 over UCX 1.13's TCP: with more ranks than processors some wait in MPI_Finalize for ever.
        may_hang=implementation == "MPICH",
    )


def cluster_jobs(tools, effort):
    """fab's choice, its flat algorithms and Open MPI in one job; Open MPI with HAN in the next."""
    found = []
    for transport, cluster in CLUSTERS.items():
        if cluster.delay_us and not tools.switch.exists():
            continue
        options = [*effort.sizes(8, 1 << 20), *(["-n", str(CALLS_FAR_AWAY)] if cluster.delay_us else [])]
        for implementation, who in (("Open MPI", ["--flat"]), ("Open MPI HAN", ["--mpi-only"])):
            job = exchange_job(tools, effort, implementation, "collective", transport, cluster.ranks, [*options, *who])
            found.append(dataclasses.replace(job, limit_s=2 * job.limit_s) if cluster.delay_us else job)
    return found


def limits_job(tools, effort):
    return Job(
        title="limits of the node",
        fields={"implementation": "limit", "transport": "node", "pattern": "ring", "memory": "user"},
        command=[str(tools.build / "fab_perf"), "limits", *effort.sizes(8, 4 << 20), *effort.batch_options()],
        environment={},
        limit_s=effort.limit_s,
    )


def footprint_job(tools, effort, transport, ranks, options):
    command, environment = launch(tools, "Open MPI", transport, ranks)
    return Job(
        title=f"footprint, {transport}, {' '.join(options)}, {ranks} ranks",
        fields={"transport": transport},
        command=[*command, str(tools.build / "fab_perf"), "footprint", *options],
        environment=environment,
        limit_s=effort.limit_s,
    )


def footprint_jobs(tools, effort):
    """Of fab alone. The few and the many ranks of the ring have as many neighbours."""
    return [footprint_job(tools, effort, transport, 2, ["--seconds", "10"]) for transport in ("node", "tcp")] + [
        footprint_job(tools, effort, "node", ranks, ["--memory"]) for ranks in (32, 64)]


def first_job(tools, effort, transport, ranks, library, number):
    command, environment = launch(tools, "Open MPI", transport, ranks)
    return Job(
        title=f"first contact, {transport}, {ranks} ranks, {library}, launch {number + 1}",
        fields={"implementation": "Open MPI", "transport": transport},
        command=[*command, str(tools.build / "fab_perf"), "first", "--library", library],
        environment=environment,
        limit_s=effort.limit_s,
    )


def first_jobs(tools, effort):
    """Each is one sample. The many ranks take long to launch."""
    few = [(transport, 2, number) for number in range(effort.first_contacts) for transport in ("node", "tcp", "wire")]
    return [first_job(tools, effort, transport, ranks, library, number)
            for transport, ranks, number in [*few, ("node", 64, 0)] for library in FIRST_BY]


def scenes(part, effort):
    """(subcommand, transport, ranks, its options) of one part."""
    everything = effort.sizes(8, 4 << 20)
    crowded = effort.sizes(8, 256 << 10)
    faces = ["--pattern", "faces", *effort.sizes(512, 128 << 10, factor=4)]  # edges of 8 to 128, doubling
    if part == "overlap":
        sizes = effort.sizes(4 << 10, 4 << 20)
        long = ["--collective", OVERLAPPED, *effort.sizes(64 << 10, 1 << 20, factor=4)]
        return [("overlap", transport, 2, ["--pattern", "ring", *sizes]) for transport in ("node", "tcp", "wire")] + [
            ("overlap", "wire", 2, long)]
    if part == "collectives":
        return [("collective", transport, ranks, effort.sizes(8, 1 << 20)) for transport in ("node", "tcp")
                for ranks in (2, 4)]
    found = []
    for memory in MEMORIES.get(part, ["user"]):
        found.append(("neighbor", part, 2, ["--pattern", "ring", "--memory", memory, *everything]))
        found.append(("neighbor", part, 2, [*faces, "--memory", memory]))
    if part != "node":
        found.append(("neighbor", part, 2, ["--pattern", "pair", *everything]))
    if part != "wire":
        for ranks in (4, 8):
            found.append(("neighbor", part, ranks, ["--pattern", "ring", *crowded]))
        found.append(("neighbor", part, 8, faces))
    return found


def plan(parts, effort, tools):
    """All jobs of one round, and those left out from the start: [{what, why}]. MPICH's job follows the one that
    it is compared with, so that a drift of the machine meets both."""
    jobs, left_out = [], []
    mpich = tools.mpich and (tools.build / "mpich_perf").exists()
    if not mpich:
        why = "mpiexec.mpich was not found" if not tools.mpich else "the build has no mpich_perf"
        left_out.append({"what": "MPICH", "why": why})
    for part in parts:
        if part == "node":
            jobs.append(limits_job(tools, effort))
        if part == "footprint":
            jobs += footprint_jobs(tools, effort)
            continue
        if part == "clusters":
            if not tools.switch.exists():
                left_out.append({"what": "nodes at a distance", "why": "the build has no fab_rig_switch"})
            jobs += cluster_jobs(tools, effort)
            continue
        if part == "first":
            jobs += first_jobs(tools, effort)
            continue
        for subcommand, transport, ranks, options in scenes(part, effort):
            jobs.append(exchange_job(tools, effort, "Open MPI", subcommand, transport, ranks, options))
            if mpich and memory_of(options) == "user":  # fab's is compared with MPICH in the user's
                jobs.append(exchange_job(tools, effort, "MPICH", subcommand, transport, ranks, options))
    return jobs, left_out
