#!/usr/bin/env python3
"""Calls collectives from mpi4py; knows nothing of fab. What has to arrive is computed by hand.

program.py [heap]: "heap" says that large blocks of the program lie in fab's memory.
"""
import ctypes
import sys
from array import array

from mpi4py import MPI

world = MPI.COMM_WORLD.Dup()
rank = world.Get_rank()
ranks = world.Get_size()
root = ranks - 1
failures = 0


def expect(right, what):
    global failures
    if not right:
        print(f"rank {rank}: wrong: {what}", file=sys.stderr)
        failures += 1


def wait(request):
    request.Wait()


def test(request):
    while not request.Test():
        pass


def wait_all(request):
    MPI.Request.Waitall([request])


def wait_any(request):
    expect(MPI.Request.Waitany([MPI.REQUEST_NULL, request]) == 1, "the index of Waitany")


def test_some(request):
    requests = [request]
    while True:
        indices = MPI.Request.Testsome(requests)
        if indices is None or len(indices) > 0:
            return


def test_all(request):
    while not MPI.Request.Testall([MPI.REQUEST_NULL, request]):
        pass


def test_any(request):
    index, complete = MPI.UNDEFINED, False
    while not complete:
        index, complete = MPI.Request.Testany([request, MPI.REQUEST_NULL])
    expect(index == 0, "the index of Testany")


def wait_some(request):
    expect(MPI.Request.Waitsome([MPI.REQUEST_NULL, request]) == [1], "the indices of Waitsome")


ways = [wait, test, wait_all, wait_any, wait_some, test_all, test_any, test_some]


def ints(*values):
    return array("i", values)


def sent(source, count):
    return array("i", (100 * source + i for i in range(count)))


def compare(comm, name, send, recv, right, *rest):
    """The blocking and the non-blocking form, completed in each way. `recv` is what it was before."""
    before = array("i", recv)
    arguments = [each for each in (send, recv) if each is not None]
    for start in [name] + [f"I{name.lower()}"] * len(ways):
        recv[:] = before
        request = getattr(comm, start)(*arguments, *rest)
        if start != name:
            ways[compare.turn](request)
            expect(request == MPI.REQUEST_NULL, f"the request of {start}")
            compare.turn = (compare.turn + 1) % len(ways)
        expect(recv == right, f"{start}: {recv} instead of {right}")


compare.turn = 0


def upper_case():
    each = range(ranks)
    mine = sent(rank, 2 * ranks)
    none = ints(*[-1] * 2 * ranks)
    block = ints(-1, -1)
    firsts = array("i", [number for other in each for number in sent(other, 2)])
    to_me = array("i", [number for other in each for number in sent(other, 2 * ranks)[2 * rank:2 * rank + 2]])
    sums = array("i", [sum(100 * other + i for other in each) for i in range(2 * ranks)])
    compare(world, "Bcast", None, array("i", mine) if rank == root else array("i", none), sent(root, 2 * ranks), root)
    compare(world, "Gather", sent(rank, 2), array("i", none), firsts if rank == root else none, root)
    compare(world, "Scatter", mine, array("i", block), sent(root, 2 * ranks)[2 * rank:2 * rank + 2], root)
    compare(world, "Allgather", sent(rank, 2), array("i", none), firsts)
    compare(world, "Alltoall", mine, array("i", none), to_me)
    compare(world, "Reduce", mine, array("i", none), sums if rank == root else none, MPI.SUM, root)
    compare(world, "Allreduce", mine, array("i", none), sums)
    compare(world, "Reduce_scatter_block", mine, array("i", block), sums[2 * rank:2 * rank + 2])
    compare(world, "Reduce_scatter", mine, array("i", block), sums[2 * rank:2 * rank + 2], [2] * ranks)
    compare(world, "Scan", ints(rank + 1), ints(-1), ints((rank + 1) * (rank + 2) // 2))
    compare(world, "Exscan", ints(rank + 1), ints(-1), ints(rank * (rank + 1) // 2 if rank > 0 else -1))


def in_place():
    each = range(ranks)
    mine = sent(rank, 2 * ranks)
    none = ints(*[-1] * 2 * ranks)
    own = array("i", none)
    own[2 * rank:2 * rank + 2] = sent(rank, 2)
    firsts = array("i", [number for other in each for number in sent(other, 2)])
    to_me = array("i", [number for other in each for number in sent(other, 2 * ranks)[2 * rank:2 * rank + 2]])
    sums = array("i", [sum(100 * other + i for other in each) for i in range(2 * ranks)])
    if rank == root:
        compare(world, "Gather", MPI.IN_PLACE, own, firsts, root)
        compare(world, "Reduce", MPI.IN_PLACE, array("i", mine), sums, MPI.SUM, root)
    else:
        compare(world, "Gather", sent(rank, 2), array("i", none), none, root)
        compare(world, "Reduce", mine, array("i", none), none, MPI.SUM, root)
    own[:] = none
    own[2 * rank:2 * rank + 2] = sent(rank, 2)
    compare(world, "Allgather", MPI.IN_PLACE, own, firsts)
    compare(world, "Alltoall", MPI.IN_PLACE, array("i", mine), to_me)
    compare(world, "Allreduce", MPI.IN_PLACE, array("i", mine), sums)
    combined = array("i", mine)  # its first block becomes the result
    combined[:2] = sums[2 * rank:2 * rank + 2]
    compare(world, "Reduce_scatter_block", MPI.IN_PLACE, array("i", mine), combined)
    compare(world, "Reduce_scatter", MPI.IN_PLACE, array("i", mine), combined, [2] * ranks)
    for scatter in world.Scatter, lambda *given: wait_all(world.Iscatter(*given)):
        block = ints(-1, -1)
        scatter(mine if rank == root else None, MPI.IN_PLACE if rank == root else block, root)
        expect(rank == root or block == sent(root, 2 * ranks)[2 * rank:2 * rank + 2], "Scatter in place")
    compare(world, "Scan", MPI.IN_PLACE, ints(rank + 1), ints((rank + 1) * (rank + 2) // 2))
    compare(world, "Exscan", MPI.IN_PLACE, ints(rank + 1), ints(rank * (rank + 1) // 2 if rank > 0 else 1))


def with_counts():
    """Rank r has r + 1 numbers for all, which lie in the opposite order of ranks."""
    each = range(ranks)
    counts = [other + 1 for other in each]
    places = [sum(counts[other + 1:]) for other in each]
    size = sum(counts)
    mine = sent(rank, rank + 1)
    none = ints(*[-1] * size)
    parts = [sent(other, other + 1) for other in reversed(each)]
    all_parts = array("i", [number for part in parts for number in part])
    into = array("i", none)
    for gather in world.Allgatherv, lambda *given: wait(world.Iallgatherv(*given)):
        into[:] = none
        gather(mine, [into, counts, places, MPI.INT])
        expect(into == all_parts, "Allgatherv")
    into[:] = none
    world.Gatherv(mine, [into, counts, places, MPI.INT], root)
    expect(into == (all_parts if rank == root else none), "Gatherv")
    own = ints(*[-1] * (rank + 1))
    world.Scatterv([all_parts, counts, places, MPI.INT], own, root)
    expect(own == mine, "Scatterv")
    from_all = array("i", [-1] * ranks * (rank + 1))
    for alltoall in world.Alltoallv, lambda *given: test(world.Ialltoallv(*given)):
        alltoall([all_parts, counts, places, MPI.INT], [from_all, [rank + 1] * ranks])
        expect(from_all == mine * ranks, "Alltoallv")
    # In place each pair of ranks swaps blocks of one size: here as many numbers as the sum of the two.
    swapped = [rank + other for other in each]
    starts = [sum(swapped[:other]) for other in each]
    swap = array("i", [100 * rank + other for other in each for _ in range(swapped[other])])
    right = array("i", [100 * other + rank for other in each for _ in range(swapped[other])])
    for alltoall in world.Alltoallv, lambda *given: test(world.Ialltoallv(*given)):
        block = array("i", swap)
        alltoall(MPI.IN_PLACE, [block, swapped, starts, MPI.INT])
        expect(block == right, "Alltoallv in place")
    from_all = array("i", [-1] * ranks * (rank + 1))
    types = [MPI.INT] * ranks
    world.Alltoallw([all_parts, counts, [4 * place for place in places], types],
                    [from_all, [rank + 1] * ranks, [4 * (rank + 1) * other for other in each], types])
    expect(from_all == mine * ranks, "Alltoallw")
    world.Barrier()
    wait(world.Ibarrier())


def lower_case():
    """Pickled objects, whose sizes ranks do not know beforehand."""
    each = range(ranks)
    expect(world.bcast({"from": rank}, root) == {"from": root}, "bcast")
    expect(world.gather("x" * rank, root) == (["x" * other for other in each] if rank == root else None), "gather")
    expect(world.scatter([[other] * 1000 for other in each], root) == [rank] * 1000, "scatter")
    expect(world.allgather((rank, "y" * rank)) == [(other, "y" * other) for other in each], "allgather")
    expect(world.alltoall([(rank, other) for other in each]) == [(other, rank) for other in each], "alltoall")
    expect(world.allreduce(rank + 0.5, MPI.MAX) == ranks - 0.5, "allreduce")
    expect(world.reduce([rank], MPI.SUM, root) == (list(each) if rank == root else None), "reduce")
    expect(world.scan(1) == rank + 1, "scan")
    expect(world.exscan(1) == (rank if rank > 0 else None), "exscan")
    world.barrier()


def with_operation_of_the_program():
    def largest(one, other, datatype):
        left, right = memoryview(one).cast("i"), memoryview(other).cast("i")
        for i, number in enumerate(left):
            right[i] = max(number, right[i])

    operation = MPI.Op.Create(largest, commute=True)
    compare(world, "Allreduce", ints(rank, -rank), ints(-1, -1), ints(ranks - 1, 0), operation)
    operation.Free()


def neighbors_of_a_grid():
    ring = world.Create_cart([ranks], periods=[True])
    left, right = ring.Shift(0, 1)
    mine = ints(10 * rank, 10 * rank + 1)
    compare(ring, "Neighbor_alltoall", mine, ints(-1, -1), ints(10 * left + 1, 10 * right))
    compare(ring, "Neighbor_allgather", ints(rank), ints(-1, -1), ints(left, right))
    into = ints(-1, -1, -1)
    for alltoall in ring.Neighbor_alltoallv, lambda *given: wait_all(ring.Ineighbor_alltoallv(*given)):
        alltoall([mine, [1, 1], [1, 0], MPI.INT], [into, [1, 1], [2, 0], MPI.INT])
        expect(into == ints(10 * right + 1, -1, 10 * left), "Neighbor_alltoallv")
    expect(ring.neighbor_alltoall(["to left", "to right"]) == ["to right", "to left"], "neighbor_alltoall")
    expect(ring.neighbor_allgather(rank) == [left, right], "neighbor_allgather")
    ring.Free()


def neighbors_of_a_graph():
    """Each rank sends to the next two and receives from the two before."""
    before = [(rank - 1) % ranks, (rank - 2) % ranks]
    after = [(rank + 1) % ranks, (rank + 2) % ranks]
    graph = world.Create_dist_graph_adjacent(before, after)
    into = ints(-1, -1)
    for gather in graph.Neighbor_allgatherv, lambda *given: test(graph.Ineighbor_allgatherv(*given)):
        gather(ints(rank), [into, [1, 1], [1, 0], MPI.INT])
        expect(into == ints(before[1], before[0]), "Neighbor_allgatherv")
    types = [MPI.INT, MPI.INT]
    for alltoall in graph.Neighbor_alltoallw, lambda *given: wait_any(graph.Ineighbor_alltoallw(*given)):
        into = ints(-1, -1)
        alltoall([ints(rank, rank + 50), [1, 1], [0, 4], types], [into, [1, 1], [0, 4], types])
        expect(into == ints(before[0], before[1] + 50), "Neighbor_alltoallw")
    graph.Free()


def many_at_once():
    sums = [ints(rank + k) for k in range(8)]
    MPI.Request.Waitall([world.Iallreduce(MPI.IN_PLACE, each) for each in sums])
    expect([each[0] for each in sums] == [k * ranks + ranks * (ranks - 1) // 2 for k in range(8)], "many at once")
    data = [bytearray([k if rank == k % ranks else 255]) * 5000 for k in range(8)]
    MPI.Request.Waitall([world.Ibcast(each, k % ranks) for k, each in enumerate(data)])
    expect(data == [bytearray([k]) * 5000 for k in range(8)], "many broadcasts at once")


def is_fabs(address):
    with open("/proc/self/maps") as maps:
        files = [line for line in maps
                 if int(line.split("-")[0], 16) <= address < int(line.split("-")[1].split()[0], 16)]
    return len(files) == 1 and "fab-memory" in files[0]  # "fab" alone can be digits of an address


def memory():
    memory = MPI.Alloc_mem(100_000)
    expect(is_fabs(memory.address), "the memory of Alloc_mem")
    memory[:] = bytes([rank]) * 100_000
    world.Allreduce(MPI.IN_PLACE, [memory, MPI.BYTE], MPI.BOR)
    highest = 0
    for other in range(ranks):
        highest |= other
    expect(memory.tobytes() == bytes([highest]) * 100_000, "a reduction of that memory")
    MPI.Free_mem(memory)


def memory_of_the_program():
    """NumPy has its arrays from the same functions of the C library as Python its large objects."""
    data = bytearray([rank]) * 1_000_000
    on = sys.argv[1:] == ["heap"]
    expect(is_fabs(ctypes.addressof(ctypes.c_char.from_buffer(data))) == on, "where large objects lie")
    for bcast in world.Bcast, lambda *given: wait(world.Ibcast(*given)):
        data[:] = bytes([rank]) * len(data)
        bcast(data, root)
        expect(data == bytes([root]) * len(data), "a broadcast of that memory")


def errors():
    try:
        world.Bcast(ints(1), ranks)
        expect(False, "the error of a root that is no rank")
    except MPI.Exception as error:
        expect(error.Get_error_class() == MPI.ERR_ROOT, "the class of that error")
    expect(world.allreduce(1) == ranks, "the communicator after an error")


upper_case()
in_place()
with_counts()
lower_case()
with_operation_of_the_program()
neighbors_of_a_grid()
neighbors_of_a_graph()
many_at_once()
memory()
memory_of_the_program()
errors()
failures = MPI.COMM_WORLD.allreduce(failures)
world.Free()
sys.exit(1 if failures else 0)
