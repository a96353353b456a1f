"""children.py LIBFAB_MPI: Python's ways to make processes, on two ranks, while exchanges of theirs are active."""

import ctypes
import multiprocessing
import os
import subprocess
import sys

INTS = 100_000
fab = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)  # brings the MPI library along
fab.fab_alloc.restype = ctypes.c_void_p
process = ctypes.CDLL(None)


def handle(name):
    """One of Open MPI's constants, which are the addresses of objects."""
    return ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(process, name)))


def call(name, *arguments):
    result = getattr(process, name)(*arguments)
    if result != 0:
        sys.exit(f"{name}: {result}")


def shared_ints(count):
    return (ctypes.c_int * count).from_address(fab.fab_alloc(ctypes.c_size_t(4 * count)))


def child_that_writes():
    for buffer in (out, received):
        ctypes.memset(buffer, 7, ctypes.sizeof(buffer))


def read_in_a_child(place):
    return out[place]


def pool():
    with multiprocessing.get_context("fork").Pool(2) as workers:
        if workers.map(read_in_a_child, range(4)) != list(out[:4]):
            sys.exit("a child of a pool reads something else")


def fork_process():
    child = multiprocessing.get_context("fork").Process(target=child_that_writes)
    child.start()
    child.join()
    if child.exitcode != 0:
        sys.exit(f"the child ended with {child.exitcode}")


def bare_fork():
    child = os.fork()
    if child == 0:
        child_that_writes()
        os._exit(0)
    if os.waitpid(child, 0)[1] != 0:
        sys.exit("the child failed")


def spawned(**options):
    done = subprocess.run(["echo", "out"], stdout=subprocess.PIPE, check=True, **options)
    if done.stdout != b"out\n":
        sys.exit(f"echo wrote {done.stdout}")


def with_forked_exec():
    spawned(preexec_fn=child_that_writes)


call("MPI_Init", None, None)
world = handle("ompi_mpi_comm_world")
rank = ctypes.c_int()
call("MPI_Comm_rank", world, ctypes.byref(rank))
ring = ctypes.c_void_p()
call("MPI_Cart_create", world, 1, (ctypes.c_int * 1)(2), (ctypes.c_int * 1)(1), 0, ctypes.byref(ring))
out = shared_ints(2 * INTS)
received = shared_ints(2 * INTS)
request = ctypes.c_void_p()
integer = handle("ompi_mpi_int")

for number, children in enumerate((spawned, with_forked_exec, fork_process, bare_fork, pool) * 2):
    own, its = (number * 10 + rank.value, number * 10 + 1 - rank.value)
    out[:] = [own] * (2 * INTS)
    received[:] = [-1] * (2 * INTS)
    call("MPI_Ineighbor_xchg", out, INTS, integer, received, INTS, integer, ring, ctypes.byref(request))
    children()
    call("MPI_Wait", ctypes.byref(request), None)
    if list(received) != [its] * (2 * INTS) or list(out) != [own] * (2 * INTS):
        sys.exit(f"rank {rank.value}: wrong data beside {children.__name__}")
call("MPI_Finalize")
print(f"rank {rank.value}: right data beside all children")
