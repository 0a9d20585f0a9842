# SPDX-License-Identifier: MIT
# Every collective of mpi4py that the drop-in library interposes, with buffers: blocking and non-blocking, in place,
# uneven, derived datatypes, an operation that does not commute, inter-communicators.
from array import array

from mpi4py import MPI

INT, IN_PLACE = MPI.INT, MPI.IN_PLACE
composed = MPI.Op.Create(lambda a, b, _: compose(a, b), commute=False)


def ints(values):
    return array("i", values)


def compose(left, right):
    """Pairs (a, b) stand for x -> a x + b modulo 97; first the left one."""
    f, g = memoryview(left).cast("i"), memoryview(right).cast("i")
    for i in range(0, len(f), 2):
        a, b = f[i] * g[i] % 97, (g[i] * f[i + 1] + g[i + 1]) % 97
        g[i], g[i + 1] = a, b


def composition(upto):
    a, b = 1, 0
    for r in range(upto):
        c, d = r + 2, 3 * r + 1
        a, b = a * c % 97, (c * b + d) % 97
    return [a, b]


def blocks(comm, count):
    """Rank r has count + r % 2 ints of its own; a gap of one between blocks."""
    counts = [count + r % 2 for r in range(comm.size)]
    places = [sum(counts[:r]) + r for r in range(comm.size)]
    wanted = [-1] * (sum(counts) + comm.size)
    for r in range(comm.size):
        for i in range(counts[r]):
            wanted[places[r] + i] = 100 * r + i
    return counts, places, wanted


def run(comm, name, *arguments):
    """The blocking form, then the non-blocking one with the same arguments."""
    getattr(comm, name)(*arguments)
    yield
    request = getattr(comm, "I" + name[0].lower() + name[1:])(*arguments)
    request.Wait()
    yield


def moves(comm, count):
    rank, size = comm.rank, comm.size
    own = [100 * rank + i for i in range(count)]
    everyone = [100 * r + i for r in range(size) for i in range(count)]
    counts, places, wanted = blocks(comm, count)
    mine = ints(range(100 * rank, 100 * rank + counts[rank]))
    for root in (0, size - 1):
        data = ints(own if rank == root else [0] * count)
        for _ in run(comm, "Bcast", [data, INT], root):
            assert list(data) == [100 * root + i for i in range(count)]
            if rank != root:
                data[0] = -1
        out = ints([0] * count * size)
        for _ in run(comm, "Gather", [ints(own), INT], [out, INT] if rank == root else None, root):
            assert rank != root or list(out) == everyone
        back = ints([0] * count)
        for _ in run(comm, "Scatter", [ints(everyone), INT] if rank == root else None, [back, INT], root):
            assert list(back) == own
        uneven = ints([-1] * len(wanted))
        for _ in run(comm, "Gatherv", [mine, INT], [uneven, counts, places, INT] if rank == root else None, root):
            assert rank != root or list(uneven) == wanted
        some = ints([0] * counts[rank])
        for _ in run(comm, "Scatterv", [ints(wanted), counts, places, INT] if rank == root else None, [some, INT], root):
            assert some == mine
    out = ints([0] * count * size)
    for _ in run(comm, "Allgather", [ints(own), INT], [out, INT]):
        assert list(out) == everyone
    uneven = ints([-1] * len(wanted))
    for _ in run(comm, "Allgatherv", [mine, INT], [uneven, counts, places, INT]):
        assert list(uneven) == wanted
    uneven = ints(wanted[i] if places[rank] <= i < places[rank] + counts[rank] else -1 for i in range(len(wanted)))
    comm.Allgatherv(IN_PLACE, [uneven, counts, places, INT])
    assert list(uneven) == wanted
    sent = [1000 * rank + 10 * r + i % 10 for r in range(size) for i in range(count)]
    gotten = [1000 * r + 10 * rank + i % 10 for r in range(size) for i in range(count)]
    for _ in run(comm, "Alltoall", [ints(sent), INT], [out, INT]):
        assert list(out) == gotten
    even, firsts = [count] * size, [count * r for r in range(size)]
    for _ in run(comm, "Alltoallv", [ints(sent), even, firsts, INT], [out, even, firsts[::-1], INT]):
        assert list(out) == [gotten[count * (size - 1 - r) + i] for r in range(size) for i in range(count)]
    in_bytes, types = [first * INT.Get_size() for first in firsts], [INT] * size
    for _ in run(comm, "Alltoallw", [ints(sent), even, in_bytes, types], [out, even, in_bytes, types]):
        assert list(out) == gotten
    every_second = INT.Create_vector(count, 1, 2).Commit()
    spread = ints([7, 8] * count if rank == 0 else [0] * 2 * count)
    for _ in run(comm, "Bcast", [spread, 1, every_second], 0):
        assert list(spread) == [7, 8 if rank == 0 else 0] * count
    every_second.Free()
    for _ in run(comm, "Barrier"):
        pass


def folds(comm, count):
    rank, size = comm.rank, comm.size
    pairs = ints([rank + 2, 3 * rank + 1] * count)
    pair = INT.Create_contiguous(2).Commit()
    whole, out = composition(size) * count, ints([0] * 2 * count)
    for _ in run(comm, "Allreduce", [pairs, count, pair], [out, count, pair], composed):
        assert list(out) == whole
    for _ in run(comm, "Reduce", [pairs, count, pair], [out, count, pair] if rank == 0 else None, composed, 0):
        assert rank != 0 or list(out) == whole
    for _ in run(comm, "Scan", [pairs, count, pair], [out, count, pair], composed):
        assert list(out) == composition(rank + 1) * count
    for _ in run(comm, "Exscan", [pairs, count, pair], [out, count, pair], composed):
        assert rank == 0 or list(out) == composition(rank) * count
    pair.Free()
    sums = ints([rank] * count)
    comm.Allreduce(IN_PLACE, [sums, INT], MPI.SUM)
    assert list(sums) == [size * (size - 1) // 2] * count
    shares = [count + r % 2 for r in range(size)]
    mine, part = ints([rank + 1] * sum(shares)), ints([0] * shares[rank])
    for _ in run(comm, "Reduce_scatter", [mine, INT], [part, INT], shares, MPI.SUM):
        assert list(part) == [size * (size + 1) // 2] * shares[rank]
    block = ints([0] * count)
    for _ in run(comm, "Reduce_scatter_block", [ints([rank] * count * size), INT], [block, INT], MPI.MAX):
        assert list(block) == [size - 1] * count


def between():
    world = MPI.COMM_WORLD
    side = world.rank % 2
    half = world.Split(side, world.rank)
    inter = half.Create_intercomm(0, world, 1 - side, 5)
    others = inter.remote_size
    assert inter.allreduce(1) == others
    assert inter.allgather(world.rank) == list(range(1 - side, world.size, 2))
    inter.Barrier()
    root = MPI.ROOT if half.rank == 0 else MPI.PROC_NULL
    got = inter.bcast("message" if side == 0 and half.rank == 0 else None, root if side == 0 else 0)
    assert side == 0 or got == "message"
    inter.Free()
    half.Free()


world = MPI.COMM_WORLD
twin, half = world.Dup(), world.Split(world.rank % 2, -world.rank)
for comm in (world, twin, half):
    for count in (1, 5, 600):
        moves(comm, count)
        folds(comm, count)
if world.size > 1:
    between()
twin.Free()
half.Free()
composed.Free()
if world.rank == 0:
    print("mpi4py, every call: right on", world.size)
