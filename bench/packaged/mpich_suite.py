"""MPICH's own tests: its sources from Debian, their build against Open MPI, and the lists of what they run."""

import collections
import dataclasses
import os
import pathlib
import re
import subprocess

VERSION = "4.0.2"
ARCHIVE = f"mpich_{VERSION}.orig.tar.xz"
MIRROR = "http://deb.debian.org/debian bookworm main"
KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"
FOLDERS = ["coll", "topo", "comm", "attr", "pt2pt", "datatype", "errhan", "group", "init",
           "threads/coll", "threads/comm", "threads/pt2pt",
           *(f"{language}/{folder}" for language in ("f77", "f90", "f08") for folder in ("coll", "topo"))]
# Folders without tests, which the tests are linked with.
HELPERS = ["util", "dtpools"]
# The suite's configure trusts only MPICH to have mpi_f08, and leaves the object out of the library for its tests.
F08_LIBRARY = ["libmtest_f08.la", "libmtest_f08_la_OBJECTS=mtest_f08.lo"]
CONFIGURE = ["./configure", "--with-mpi=/usr", "--disable-spawn", "--disable-ft-tests", "--disable-perftest",
             "--enable-threads=multiple", "--disable-romio", "--disable-cxx", "--enable-strictmpi", "CC=gcc",
             "MPICC=mpicc.openmpi", "MPIFC=mpifort.openmpi", "MPIF77=mpifort.openmpi", "MPIEXEC=mpirun.openmpi",
             "FFLAGS=-fallow-argument-mismatch", "FCFLAGS=-fallow-argument-mismatch"]
FLAGS = "-O1 -std=gnu99 -w"
# Open MPI 4.1 has the persistent collectives of MPI-4 in a header and by names of their own.
PERSISTENT = [f"{name}_init" for name in (
    "Allgather", "Allgatherv", "Allreduce", "Alltoall", "Alltoallv", "Alltoallw", "Barrier", "Bcast", "Exscan",
    "Gather", "Gatherv", "Reduce", "Reduce_scatter", "Reduce_scatter_block", "Scan", "Scatter", "Scatterv",
    "Neighbor_allgather", "Neighbor_allgatherv", "Neighbor_alltoall", "Neighbor_alltoallv", "Neighbor_alltoallw")]
# Open MPI 4.1 lacks these names of MPI-1, which the suite's helper for datatypes uses.
REMOVED = re.compile(r"\bMPI_Type_(hvector|hindexed)\(")

NO_ERRORS = re.compile(r"^\s*(No [Ee]rrors|Test Passed)\s*$", re.MULTILINE)
MOST_RANKS = 12
# Of the list with random datatypes: entries of each program, and counts that take minutes.
MOST_DATATYPES, LONG_COUNT = 4, "262144"
LEFT_OUT = {"init/timeout": "it tests the time limit of the launcher, and takes five minutes"}


@dataclasses.dataclass(frozen=True)
class Test:
    folder: str
    program: str
    ranks: int
    arguments: tuple = ()
    fails: bool = False  # it is right if its exit status is not 0

    @property
    def title(self):
        return " ".join([f"{self.folder}/{self.program}", str(self.ranks), *self.arguments])

    @property
    def command(self):
        return [f"./{self.program}", *self.arguments]

    def place(self, work):
        return root(work) / self.folder

    def right(self, status, out, _, __):
        """By the rules of the suite's own script, except that it allows no other output."""
        return status != 0 if self.fails else status == 0 and NO_ERRORS.search(out) is not None


def root(work):
    return work / f"mpich-{VERSION}" / "test" / "mpi"


def download(work):
    """By apt, which checks signatures, with a list of sources and a cache in `work`: the system's stay as they are."""
    apt = work / "apt"
    for folder in ("lists/partial", "cache/archives/partial"):
        (apt / folder).mkdir(parents=True, exist_ok=True)
    (apt / "sources.list").write_text(f"deb-src [signed-by={KEYS}] {MIRROR}\n")
    settings = {"Dir::Etc::SourceList": apt / "sources.list", "Dir::Etc::SourceParts": "-",
                "Dir::State::Lists": apt / "lists", "Dir::Cache": apt / "cache", "APT::Sandbox::User": ""}
    apt_get = ["apt-get", "-q", *(word for name, value in settings.items() for word in ("-o", f"{name}={value}"))]
    subprocess.run([*apt_get, "update"], check=True)
    subprocess.run([*apt_get, "source", "--download-only", f"mpich={VERSION}-3"], check=True, cwd=work)


def replace_removed_names(tests):
    file = tests / "dtpools" / "src" / "dtpools_custom.c"
    file.write_text(REMOVED.sub(r"MPI_Type_create_\1(", file.read_text()))


def flags(folder):
    if folder != "coll":
        return FLAGS
    names = " ".join(f"-DMPI_{name}=MPIX_{name}" for name in PERSISTENT)
    return f"{FLAGS} -include mpi.h -include mpi-ext.h {names}"


def build(work):
    """Once. A test that Open MPI 4.1 cannot build is not built, and not run."""
    tests, done = root(work), work / "built"
    if done.exists():
        return
    work.mkdir(parents=True, exist_ok=True)
    if not (work / ARCHIVE).exists():
        print(f"downloading MPICH {VERSION}", flush=True)
        download(work)
    subprocess.run(["tar", "-xf", ARCHIVE], check=True, cwd=work)
    replace_removed_names(tests)
    with open(work / "build.log", "w") as log:
        print(f"configuring its tests (log: {log.name})", flush=True)
        subprocess.run(CONFIGURE, check=True, cwd=tests, stdout=log, stderr=log)
        folders = HELPERS + FOLDERS
        for number, folder in enumerate(folders):
            print(f"[{number + 1}/{len(folders)}] building {folder}", flush=True)
            words = ["make", "-k", f"-j{len(os.sched_getaffinity(0))}", f"CFLAGS={flags(folder)}"]
            subprocess.run(words, check=folder in HELPERS, cwd=tests / folder, stdout=log, stderr=log)
            if folder == "util":
                subprocess.run(["make", *F08_LIBRARY], check=True, cwd=tests / folder, stdout=log, stderr=log)
    done.touch()


def parsed(folder, line):
    """A line of a list: the program, its ranks, and options such as arg=-count=10, env=... and timeLimit=420."""
    words = line.split()
    if len(words) < 2 or words[0].startswith("#"):
        return None
    arguments = tuple(word.removeprefix("arg=") for word in words[2:] if word.startswith("arg="))
    fails = any(word in ("resultTest=TestStatus", "resultTest=TestErrFatal") for word in words[2:])
    return Test(folder, words[0], int(words[1]), arguments, fails)


def listed(folder, text, datatypes=False):
    """Tests of a list. Entries that differ in variables of MPICH's are one test."""
    found = dict.fromkeys(filter(None, (parsed(folder, line) for line in text.splitlines())))
    if not datatypes:
        return list(found)
    taken, counted = [], collections.Counter()
    for test in found:
        if not any(LONG_COUNT in word for word in test.arguments) and counted[test.program] < MOST_DATATYPES:
            counted[test.program] += 1
            taken.append(test)
    return taken


def tests(work, only):
    """([test], {test's title: why it is left out}); `only` has parts of titles."""
    taken, left_out = [], {}
    for folder in FOLDERS:
        path = root(work) / folder
        entries = [test for name in ("testlist", "testlist.dtp") if (path / name).exists()
                   for test in listed(folder, (path / name).read_text(), name.endswith("dtp"))]
        for test in dict.fromkeys(entries):
            if only and not any(word in test.title for word in only):
                continue
            if why := reason_against(path, test):
                left_out[test.title] = why
            else:
                taken.append(test)
    return taken, left_out


def reason_against(path, test):
    if why := LEFT_OUT.get(f"{test.folder}/{test.program}"):
        return why
    if test.ranks > MOST_RANKS:
        return f"more than {MOST_RANKS} ranks"
    return "" if os.access(path / test.program, os.X_OK) else "Open MPI 4.1 does not build it"
