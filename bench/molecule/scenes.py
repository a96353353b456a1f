"""What is run: the same calculation in several scenes, in each with fab, under fab_run and with Open MPI alone."""

import dataclasses
import os

import jobs

NODE, WIRE = "node", "wire"
FAB, DROP_IN, OPEN_MPI = "fab", "fab_run", "Open MPI"
WAYS = [FAB, DROP_IN, OPEN_MPI]
EXPLAINED = {
    FAB: "fab's persistent exchange, MPI_Neighbor_xchgv_init",
    DROP_IN: "the program's MPI_Ineighbor_alltoallv, which fab_run lets fab carry; the program does not know of fab",
    OPEN_MPI: "the same program's MPI_Ineighbor_alltoallv, by Open MPI itself",
}
LIMIT_S = 180
# The table of `fab_run --stats` with a call that fab carried.
CARRIED = r"^neighbor_alltoallv +[1-9]"


@dataclasses.dataclass(frozen=True)
class Problem:
    """What is computed. Equal problems have equal energies."""

    molecule: str
    states: int
    spacing_bohr: float
    iterations: int

    @property
    def title(self):
        return "lowest state" if self.states == 1 else f"{self.states} states"

    def options(self):
        """A fixed number of iterations: there is as much to time on every machine."""
        return [self.molecule, "--states", str(self.states), "--spacing", str(self.spacing_bohr), "--tolerance", "0",
                "--max-iterations", str(self.iterations), "--quiet"]


@dataclasses.dataclass(frozen=True)
class Scene:
    """Where a problem is computed."""

    problem: Problem
    link: str  # NODE or WIRE
    ranks: int
    rate: str = ""  # of the wire, as tc(8) has it

    @property
    def where(self):
        return f"wire, {self.rate}" if self.link == WIRE else "node"

    @property
    def title(self):
        return f"{self.problem.title}, {self.where}, {self.ranks} rank{'s' if self.ranks > 1 else ''}"

    @property
    def is_oversubscribed(self):
        return self.ranks > len(os.sched_getaffinity(0))


@dataclasses.dataclass(frozen=True)
class Programs:
    tools: jobs.Tools
    realspace: str  # with fab
    realspace_mpi: str  # does not know of fab
    fab_run: str
    fab_trace: str

    @staticmethod
    def found(root, build):
        applications, tools = build / "bench" / "apps", build / "bindings"
        return Programs(jobs.Tools.found(root, build), str(applications / "realspace"), str(applications / "realspace_mpi"),
                        str(tools / "fab_run"), str(tools / "fab_trace"))


def serial_job(programs, problem, picture=None):
    return jobs.Job(
        title=f"{problem.title}, serial",
        fields={"problem": dataclasses.asdict(problem)},
        command=[programs.realspace_mpi, *problem.options(), "--serial", *(["--image", str(picture)] if picture else [])],
        environment={},
        limit_s=LIMIT_S,
    )


def job(programs, scene, number, way):
    command, environment = jobs.launch(programs.tools, "Open MPI", scene.link, scene.ranks, scene.rate)
    program = {FAB: [programs.realspace], DROP_IN: [programs.fab_run, "--stats", programs.realspace_mpi],
               OPEN_MPI: [programs.realspace_mpi]}[way]
    return jobs.Job(
        title=f"{scene.title}, {way}",
        fields={"scene": number, "way": way},
        command=[*command, *program, *scene.problem.options()],
        environment=environment,
        limit_s=LIMIT_S,
        # With one rank there is nothing to carry.
        must_print=CARRIED if way == DROP_IN and scene.ranks > 1 else "",
    )


def traced_job(programs, scene, trace):
    """Once more with fab, whose ranks write what they do, and when."""
    command, environment = jobs.launch(programs.tools, "Open MPI", scene.link, scene.ranks, scene.rate)
    return jobs.Job(
        title=f"{scene.title}, {FAB}, traced",
        fields={},
        command=[*command, "-x", f"FAB_TRACE={trace}", programs.realspace, *scene.problem.options()],
        environment=environment,
        limit_s=LIMIT_S,
    )


def motion_job(programs, molecule, steps, spectrum):
    """Some states of a molecule after a kick, and the spectrum of their motion."""
    command, environment = jobs.launch(programs.tools, "Open MPI", NODE, 2)
    return jobs.Job(
        title=f"motion of water's electrons, node, 2 ranks, {FAB}",
        fields={},
        command=[*command, programs.realspace, str(molecule), "--spacing", "0.4", "--states", "5", "--tolerance", "1e-5", "--kick",
                 "0.01", "--time-step", "0.1", "--time-steps", str(steps), "--quiet", "--spectrum", str(spectrum)],
        environment=environment,
        limit_s=LIMIT_S,
    )


def jobs_of(programs, scenes):
    """In turns: the three ways of a scene follow each other."""
    return [job(programs, scene, number, way) for number, scene in enumerate(scenes) for way in WAYS]
