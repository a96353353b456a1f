#!/usr/bin/env python3
"""Completes fab's requests from mpi4py on two ranks; the shim makes them. Usage: program.py SHIM fab|mpi [FAB]

fab: fab's functions have to be reached; mpi: they are not, and persistent exchanges have to be refused. FAB is a
libfab_mpi that is loaded before the shim, with its symbols visible to all libraries.
"""
import ctypes
import sys

from mpi4py import MPI

late_fab = ctypes.CDLL(sys.argv[3], mode=ctypes.RTLD_GLOBAL) if len(sys.argv) > 3 else None
shim = ctypes.CDLL(sys.argv[1])
completed_by = sys.argv[2]
MPI_LIBRARY = next(line.split()[-1] for line in open("/proc/self/maps") if "/libmpi.so" in line)
world = MPI.COMM_WORLD
rank = world.Get_rank()
failures = 0


def expect(right, what):
    global failures
    if not right:
        print(f"rank {rank}: wrong: {what}", file=sys.stderr)
        failures += 1


def begin(ints, function="shim_start", kind=MPI.Request):
    assert shim.shim_prepare(ints) == 0
    request = kind()
    code = getattr(shim, function)(ctypes.c_void_p(MPI._addressof(request)))
    return request, code


def wait_one_by_one(requests):
    for request in requests:
        request.Wait()


def test_one_by_one(requests):
    for request in requests:
        while not request.Test():
            pass


def test_all(requests):
    while not MPI.Request.Testall(requests):
        pass


def wait_any(requests):
    while MPI.Request.Waitany(requests) != MPI.UNDEFINED:
        pass


def wait_some(requests):
    while MPI.Request.Waitsome(requests) is not None:
        pass


def get_status(requests):
    while not requests[0].Get_status():
        pass
    MPI.Request.Waitall(requests)


def lower_case(requests):
    MPI.Request.waitall(requests)


def wait_in(library):
    """By an address that the program asks the linker for, which no library can see beforehand."""
    def wait(requests):
        for request in requests:
            assert library.MPI_Wait(ctypes.c_void_p(MPI._addressof(request)), None) == MPI.SUCCESS
    wait.__name__ = f"MPI_Wait of {library._name}"
    return wait


ways = [wait_one_by_one, test_one_by_one, MPI.Request.Waitall, test_all, wait_any, wait_some, get_status, lower_case]
if completed_by == "mpi":
    ways.append(wait_in(ctypes.CDLL(MPI_LIBRARY)))
ways.append(wait_in(late_fab if late_fab is not None else shim))

assert world.Get_size() == 2
for ints in (3, 200_000):
    for complete in ways:
        for turn in range(5):
            request, code = begin(ints)
            assert code == MPI.SUCCESS
            received = bytearray(1)
            own = [world.Irecv(received, 1 - rank), world.Isend(bytes([turn]), 1 - rank)]
            complete([request] + own)
            expect(shim.shim_wrong() == 0, f"{complete.__name__} of {ints} ints")
            expect(received[0] == turn, f"{complete.__name__}: a message of MPI's own")

    # Rank 1 starts when rank 0 says so.
    if rank == 1:
        world.recv(source=0)
    request, code = begin(ints)
    if rank == 0:
        expect(not any(request.Test() for _ in range(100)), "Test before the other rank has started")
        world.send(None, dest=1)
    request.Wait()
    expect(shim.shim_wrong() == 0, "Wait after the other rank has started")

    assert shim.shim_prepare(ints) == 0 and shim.shim_run() == MPI.SUCCESS
    expect(shim.shim_wrong() == 0, "a blocking exchange")

    persistent, code = begin(ints, "shim_make", MPI.Prequest)
    if completed_by == "mpi":
        expect(code != MPI.SUCCESS, "the refusal of a persistent exchange")
        continue
    assert code == MPI.SUCCESS
    for turn in range(5):
        assert shim.shim_prepare(ints) == 0
        persistent.Start()
        persistent.Wait()
        expect(shim.shim_wrong() == 0, "a persistent exchange")
    persistent.Free()

shim.shim_end()
failures = world.allreduce(failures)
if rank == 0 and failures == 0:
    print("all requests were complete when they were said to be")
sys.exit(1 if failures else 0)
