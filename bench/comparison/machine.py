"""What the figures were measured on."""

import datetime
import os
import platform
import re
import subprocess


def output_of(*command, cwd=None):
    """What a command prints; empty where it is missing or fails."""
    try:
        return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True, timeout=20).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def field(text, pattern):
    found = re.search(pattern, text, re.MULTILINE)
    return found.group(1).strip() if found else ""


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def describe(root):
    """A dictionary of texts, in the order in which they are shown; what cannot be found out is left out."""
    cpu = output_of("lscpu")
    threads = field(cpu, r"^Thread.*per core:\s+(.*)$")
    memory_kib = field(read("/proc/meminfo"), r"^MemTotal:\s+(\d+)")
    commit = output_of("git", "rev-parse", "--short", "HEAD", cwd=root)
    dirty = output_of("git", "status", "--porcelain", "--untracked-files=no", cwd=root)
    found = {
        "date": datetime.datetime.now().astimezone().isoformat(timespec="minutes"),
        "processor": field(cpu, r"^Model name:\s+(.*)$") or platform.machine(),
        "processors": f"{len(os.sched_getaffinity(0))} usable, {threads} thread(s) a core",
        "hypervisor": field(cpu, r"^Hypervisor vendor:\s+(.*)$"),
        "memory": f"{int(memory_kib) / (1 << 20):.1f} GiB" if memory_kib else "",
        "system": field(read("/etc/os-release"), r'^PRETTY_NAME="?([^"\n]*)'),
        "kernel": platform.release(),
        "compiler": output_of("g++", "--version").partition("\n")[0],
        "libfabric": output_of("pkg-config", "--modversion", "libfabric"),
        "PMIx": output_of("pkg-config", "--modversion", "pmix"),
        "Open MPI": output_of("pkg-config", "--modversion", "ompi"),
        "MPICH": output_of("pkg-config", "--modversion", "mpich"),
        "fab": commit + (" with changes" if commit and dirty else ""),
        "load before": " ".join(read("/proc/loadavg").split()[:3]),
    }
    return {name: text for name, text in found.items() if text}
