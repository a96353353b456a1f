"""Time that a launched job could use: on a loaded machine, a job that waits for processors is not late by itself."""

import os
import pathlib
import time


def fields(folder):
    """Of a process or a thread, from its state on: state, parent, group, session."""
    return (folder / "stat").read_text().rpartition(")")[2].split()


def members(session):
    """The processes of a session, as folders of /proc. Open MPI's ranks have process groups of their own, but the
    launcher's session."""
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if int(fields(process)[3]) == session:
                yield process
        except OSError:
            pass  # it has ended since


def threads_of(processes):
    for process in processes:
        try:
            yield from process.glob("task/*")
        except OSError:
            pass  # it has ended since


def threads(session):
    """{thread: (nanoseconds that it ran, whether it runs or waits for a processor now)}."""
    found = {}
    for thread in threads_of(members(session)):
        try:
            found[thread.name] = int((thread / "schedstat").read_text().split()[0]), fields(thread)[0] == "R"
        except (OSError, ValueError):
            pass  # it has ended since, or the kernel does not count
    return found


def share(before, after, elapsed_ns, processors):
    """Of the processors that the threads could have used in the time, the part that they got; 1 if they sleep."""
    ran = sum(ran_ns - before.get(thread, (0, 0))[0] for thread, (ran_ns, _) in after.items())
    ready = sum(ready for _, ready in after.values())
    return min(1, ran / (min(ready, processors) * elapsed_ns)) if ready else 1


class Clock:
    """Seconds that the session could use, counted in slices of at most a second. Time in which this process is
    suspended with the job does not count, either."""

    def __init__(self, session):
        self.session, self.seconds = session, 0
        self.threads, self.now_ns = {}, time.monotonic_ns()

    def tick(self):
        now, now_ns = threads(self.session), time.monotonic_ns()
        elapsed_ns = now_ns - self.now_ns
        self.seconds += min(1, elapsed_ns / 1e9) * share(self.threads, now, elapsed_ns, len(os.sched_getaffinity(0)))
        self.threads, self.now_ns = now, now_ns
        return self.seconds
