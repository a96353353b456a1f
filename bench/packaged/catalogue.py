"""The programs, how they are started, and what they tell."""

import dataclasses
import gzip
import pathlib
import shutil
import subprocess

import outputs

INPUTS = pathlib.Path(__file__).parent / "inputs"
PETSC = pathlib.Path("/usr/share/petsc/3.18/share/petsc/examples/src")
PSEUDOPOTENTIAL = pathlib.Path("/usr/share/doc/quantum-espresso/examples/EPW/diamond/pp/C_3.98148.UPF.gz")
PYTHON = "/usr/bin/python3"  # the one that Debian's modules are for
MPICC = ["mpicc.openmpi", "-O2"]


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    command: list
    reader: outputs.Reader
    quick: bool = True  # part of a quick run


# With more threads PT-Scotch calls MPI from two at once, although the program has asked for none: now and then its
# ranks wait for each other inside Open MPI for ever, with fab and without.
def dolfinx(problem, method, unknowns):
    return ["env", "SCOTCH_PTHREAD_NUMBER=1", "dolfinx-scaling-test", "--problem_type", problem, "--scaling_type",
            "strong", "--ndofs", str(unknowns), "-ksp_type", method, "-pc_type", "jacobi", "-sf_type",
            "neighbor", "-log_view"]


def ex45(edge, scatter):
    sizes = [word for axis in "xyz" for word in (f"-da_grid_{axis}", str(edge))]
    return ["./ex45", *sizes, "-ksp_type", "cg", "-pc_type", "jacobi", "-ksp_rtol", "1e-6", "-ksp_converged_reason",
            "-sf_type", scatter, "-log_view"]


def ex2(edge, scatter):
    return ["./ex2", "-m", str(edge), "-n", str(edge), "-ksp_type", "cg", "-pc_type", "jacobi", "-sf_type", scatter,
            "-log_view"]


def programs(quick):
    unknowns, edge, plane, cube, box = (30000, 91, 450, 96, 24) if quick else (100000, 121, 700, 128, 40)
    return [
        Program("poisson cg", dolfinx("poisson", "cg", unknowns), outputs.DOLFINX),
        Program("poisson pipecg", dolfinx("poisson", "pipecg", unknowns), outputs.DOLFINX, quick=False),
        Program("elasticity cg", dolfinx("elasticity", "cg", unknowns), outputs.DOLFINX, quick=False),
        Program("elasticity pipecg", dolfinx("elasticity", "pipecg", unknowns), outputs.DOLFINX),
        Program("ex45 neighbor", ex45(edge, "neighbor"), outputs.PETSC),
        Program("ex45 basic", ex45(edge, "basic"), outputs.PETSC),
        Program("ex2 neighbor", ex2(plane, "neighbor"), outputs.PETSC),
        Program("ex2 basic", ex2(plane, "basic"), outputs.PETSC, quick=False),
        Program("mpi4py-fft", [PYTHON, "transform.py", str(cube), "40"], outputs.TRANSFORM),
        Program("pw.x", ["pw.x", "-in", "diamond.pw"], outputs.ESPRESSO),
        Program("lammps", ["lmp", "-in", "melt.lmp", "-var", "edge", str(box), "-log", "none"], outputs.LAMMPS),
    ]


def compile_petsc(source, binary):
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "PETSc"], check=True, capture_output=True, text=True)
    subprocess.run([*MPICC, "-o", str(binary), str(PETSC / source), *flags.stdout.split()], check=True,
                   stderr=subprocess.DEVNULL)


def prepare(folder):
    """Lays the inputs and what is compiled into `folder`, in which the programs run."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in INPUTS.iterdir():
        shutil.copy(file, folder)
    (folder / PSEUDOPOTENTIAL.stem).write_bytes(gzip.decompress(PSEUDOPOTENTIAL.read_bytes()))
    for name in ("ex45", "ex2"):
        compile_petsc(f"ksp/ksp/tutorials/{name}.c", folder / name)
