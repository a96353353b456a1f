"""Runs jobs in rounds and gathers the rows that they write."""

import dataclasses
import json
import os
import re
import signal
import subprocess
import tempfile
import time

NOT_PERMITTED = 77  # exit status of tests/rig/cluster
HUNG = None
LOOK_S = 2  # how often a job that may hang is looked after
GRACE_S = 5


@dataclasses.dataclass
class Gathered:
    rows: list = dataclasses.field(default_factory=list)
    left_out: list = dataclasses.field(default_factory=list)  # {what, why}
    failed: list = dataclasses.field(default_factory=list)  # {what, why}
    remarks: list = dataclasses.field(default_factory=list)  # {what, why}


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
            clock.ended("" if rows is not None else verdict, why)
            if rows is None:
                skipped.add(number)
                getattr(gathered, verdict).append({"what": job.title, "why": why})
                continue
            if why and (remark := {"what": job.title, "why": why}) not in gathered.remarks:
                gathered.remarks.append(remark)
            gathered.rows.extend({**row, **job.fields, "round": round_number, "job": job.title} for row in rows)
    return gathered


def run_one(job, file):
    """(rows, "", "") or (None, "left_out" or "failed", why). If rows have a reason, they are complete, and the job had
    to be ended."""
    file.unlink(missing_ok=True)
    status, output = execute(job, file)
    if status == 0 or (status is HUNG and rows_in(file)):
        rows = rows_in(file)
        if rows is None:
            return None, "failed", "no rows"
        if not re.search(job.must_print, output, re.MULTILINE):
            return None, "failed", f"no line of its output begins with {job.must_print}"
        return rows, "", "" if status == 0 else "complete, but then it did not end by itself"
    if status is HUNG:
        return None, "left_out" if job.may_hang else "failed", f"not done within {job.limit_s} s"
    return None, "left_out" if status == NOT_PERMITTED else "failed", reason(output, status)


def rows_in(file):
    """None until they are complete: programs begin with an empty list."""
    try:
        return json.loads(file.read_text()) or None
    except (OSError, ValueError):
        return None


def execute(job, file):
    """(exit status, or HUNG; output)."""
    environment = {**os.environ, **job.environment}
    if os.geteuid() == 0:
        environment |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    with tempfile.TemporaryFile("w+", errors="replace") as output:
        try:
            process = subprocess.Popen([*job.command, "--json", str(file)], env=environment, stdin=subprocess.DEVNULL,
                                       stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        except OSError as error:
            return 127, str(error)
        try:
            status = outcome(process, job, file)
        finally:  # also when interrupted: nothing is left behind
            end(process)
        output.seek(0)
        return status, output.read()


def outcome(process, job, file):
    """Waits for the end, or for the time at which no end is to be expected any more."""
    deadline_s = time.monotonic() + job.limit_s
    complete_s = None
    while (now_s := time.monotonic()) < deadline_s:
        try:
            return process.wait(timeout=min(deadline_s - now_s, LOOK_S))
        except subprocess.TimeoutExpired:
            if not job.may_hang or rows_in(file) is None:
                continue
            complete_s = complete_s or now_s
            if now_s - complete_s > GRACE_S:
                break
    return HUNG


def end(process):
    """A launcher that is told to end takes its ranks along."""
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(timeout=15)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def reason(output, status):
    """The line in which a program or the rig says what is wrong."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    told = [line for line in lines if line.startswith(("fab_", "mpich_", "cluster:", "realspace:"))]
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

    def ended(self, verdict, why):
        took_s = time.monotonic() - self.begun_s
        self.spent_s += took_s
        self.done += 1
        told = ": ".join(part.replace("_", " ") for part in (verdict, why) if part)
        print(f": {took_s:.1f} s{', ' if told else ''}{told}", flush=True)

    def passed_over(self):
        self.jobs -= 1
