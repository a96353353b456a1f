"""Runs jobs in rounds and gathers the rows that they write."""

import dataclasses
import json
import os
import signal
import subprocess
import time

NOT_PERMITTED = 77  # exit status of tests/rig/two-hosts


@dataclasses.dataclass
class Gathered:
    rows: list = dataclasses.field(default_factory=list)
    left_out: list = dataclasses.field(default_factory=list)  # {what, why}
    failed: list = dataclasses.field(default_factory=list)  # {what, why}


def run(jobs, rounds, folder):
    """Rounds over all jobs, so that the batches of each are spread over the whole time. A job that is not permitted or
    that fails is not run again."""
    folder.mkdir(parents=True, exist_ok=True)
    gathered = Gathered()
    clock = Clock(len(jobs) * rounds)
    skipped = set()
    for round_number in range(rounds):
        for number, job in enumerate(jobs):
            if number in skipped:
                clock.passed_over()
                continue
            clock.announce(f"round {round_number + 1} of {rounds}: {job.title}")
            rows, verdict, why = run_one(job, folder / f"{number:02}-{round_number}.json")
            clock.ended("" if rows is not None else f"{verdict}: {why}")
            if rows is None:
                skipped.add(number)
                getattr(gathered, verdict).append({"what": job.title, "why": why})
                continue
            gathered.rows.extend({**row, **job.fields, "round": round_number, "job": job.title} for row in rows)
    return gathered


def run_one(job, file):
    """(rows, "", "") or (None, "left_out" or "failed", why)."""
    file.unlink(missing_ok=True)
    status, output = execute([*job.command, "--json", str(file)], job.environment, job.limit_s)
    if status == 0:
        try:
            return json.loads(file.read_text()), "", ""
        except (OSError, ValueError) as error:
            return None, "failed", f"no rows: {error}"
    if status is None:
        return None, "failed", f"not done within {job.limit_s} s"
    return None, "left_out" if status == NOT_PERMITTED else "failed", reason(output, status)


def execute(command, variables, limit_s):
    """(exit status, or None when it took too long; output). A launcher that is told to end takes its ranks along."""
    environment = {**os.environ, **variables}
    if os.geteuid() == 0:
        environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    try:
        process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
    except OSError as error:
        return 127, str(error)
    try:
        output, _ = process.communicate(timeout=limit_s)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        process.terminate()
        try:
            process.communicate(timeout=15)
        except subprocess.TimeoutExpired:
            end_session(process)
        return None, ""
    except BaseException:  # interrupted: nothing is left behind
        process.terminate()
        try:
            process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            end_session(process)
        raise


def end_session(process):
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def reason(output, status):
    """The line in which a program or the rig says what is wrong."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    told = [line for line in lines if line.startswith(("fab_", "mpich_", "two-hosts:"))]
    return (told or lines or [f"exit status {status}"])[0][:300]


class Clock:
    """Tells how far the work is."""

    def __init__(self, jobs):
        self.jobs = jobs
        self.done = 0
        self.spent_s = 0.0
        self.begun_s = 0.0

    def announce(self, what):
        left = ""
        if self.done:
            left_s = self.spent_s / self.done * (self.jobs - self.done)
            left = f", about {left_s / 60:.0f} min left" if left_s >= 60 else f", about {left_s:.0f} s left"
        print(f"[{self.done + 1}/{self.jobs}{left}] {what}", end="", flush=True)
        self.begun_s = time.monotonic()

    def ended(self, problem):
        took_s = time.monotonic() - self.begun_s
        self.spent_s += took_s
        self.done += 1
        print(f": {took_s:.1f} s" if not problem else f": {problem}", flush=True)

    def passed_over(self):
        self.jobs -= 1
