"""Runs a program once, on a link, with or without fab."""

import dataclasses
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

import clock
import outputs

HERE = pathlib.Path(__file__).parent
NOT_PERMITTED = 77  # exit status of tests/rig/cluster
LINKS = ["node", "tcp", "wire"]
WIRE_RATE = "1gbit"


@dataclasses.dataclass(frozen=True)
class Tools:
    root: pathlib.Path
    build: pathlib.Path
    carry: str  # FAB_DROPIN
    limit_s: int
    folder: pathlib.Path  # in which programs run

    @property
    def fab_run(self):
        return self.build / "bindings" / "fab_run"


class Failed(Exception):
    pass


class NotPermitted(Exception):
    pass


def launch(tools, link, ranks):
    """Up to the program. Both sides of a pair get the same MPI by the same options, so that the calls that fab passes
    on, and the program's own messages, take the same way."""
    common = ["-x", "OMP_NUM_THREADS=1", "-n", str(ranks)]
    if link == "wire":
        return [str(tools.root / "tests" / "rig" / "cluster"), "run", "--divide", "--rate", WIRE_RATE, "--", *common]
    roomy = ranks <= len(os.sched_getaffinity(0))
    placed = ["--bind-to", "core"] if roomy else ["--oversubscribe", "--bind-to", "none"]
    way = ["--mca", "btl", "tcp,self", "-x", "FAB_LOCAL=off"] if link == "tcp" else []
    return [shutil.which("mpirun.openmpi") or "mpirun", *placed, *way, *common]


def ending(tools, command, environment=None):
    """(exit status, stdout, stderr) of a launch; the status is None if it did not end within the limit."""
    if os.geteuid() == 0:
        environment = {**(environment or {}), "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    process = subprocess.Popen(command, cwd=tools.folder, env={**os.environ, **(environment or {})}, text=True,
                               errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, start_new_session=True)
    passed = clock.Clock(process.pid)
    try:
        while passed.tick() < tools.limit_s:
            try:
                out, err = process.communicate(timeout=1)
                return process.returncode, out, err
            except subprocess.TimeoutExpired:
                pass
        return None, *end(process)
    finally:
        end(process)


def execute(tools, command, environment=None):
    """(stdout, stderr) of a launch that ended well."""
    status, out, err = ending(tools, command, environment)
    if status is None:
        raise Failed(f"not done within {tools.limit_s} s")
    if status == NOT_PERMITTED:
        raise NotPermitted(err.strip()[:300])
    if status != 0:
        raise Failed(f"exit status {status}: {(err or out).strip()[:600]}")
    return out, err


def end(process):
    """What it wrote. A launcher that is told to end takes its ranks along, unless they do not listen."""
    if process.poll() is not None:
        return "", ""
    process.terminate()
    try:
        return process.communicate(timeout=15)
    except subprocess.TimeoutExpired:
        end_session(process.pid)
        return process.communicate()


def end_session(session):
    for process in clock.members(session):
        try:
            os.kill(int(process.name), signal.SIGKILL)
        except ProcessLookupError:
            pass  # it has ended since


def with_fab(tools):
    return [str(tools.fab_run), "--carry", tools.carry, "--stats"]


def run(tools, program, link, ranks, fab):
    """A row; raises Failed or NotPermitted."""
    with tempfile.TemporaryDirectory() as times:
        words = [str(HERE / "timed"), times, *(with_fab(tools) if fab else []), *program.command]
        out, err = execute(tools, [*launch(tools, link, ranks), *words])
        wholes = [float(file.read_text()) for file in pathlib.Path(times).iterdir()]
    results = outputs.results(program.reader, out)
    if results is None:
        raise Failed(f"it told no results: {out.strip()[-300:]}")
    carried = outputs.carried(err)
    if fab and carried is None:
        raise Failed("fab wrote no table: the drop-in library was not active")
    return {"program": program.name, "link": link, "ranks": ranks, "fab": fab, "whole": max(wholes),
            "work": outputs.seconds(program.reader.work, out),
            "communication": outputs.seconds(program.reader.communication, out), "results": results, "carried": carried}
