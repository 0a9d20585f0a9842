# SPDX-License-Identifier: MIT
# Collectives as mpi4py programs use them: pickled objects and buffers, on the world, a split and a duplicate.
import array

from mpi4py import MPI


def check(comm):
    rank, size = comm.Get_rank(), comm.Get_size()
    for root in range(size):
        thing = {"root": root, "text": "x" * 50 * root, "list": list(range(root))}
        assert comm.bcast(thing if rank == root else None, root) == thing
        assert comm.scatter([(root, r) for r in range(size)] if rank == root else None, root) == (root, rank)
        got = comm.gather([rank] * rank, root)
        assert got == ([[r] * r for r in range(size)] if rank == root else None)
        assert comm.reduce(rank + 1, MPI.PROD, root) == (product(size) if rank == root else None)
    assert comm.allgather(str(rank)) == [str(r) for r in range(size)]
    assert comm.allreduce(rank, MPI.SUM) == size * (size - 1) // 2
    assert comm.allreduce([rank], lambda a, b: a + b) == list(range(size))
    assert comm.scan(rank) == rank * (rank + 1) // 2
    assert comm.exscan(rank) == (rank * (rank - 1) // 2 if rank > 0 else None)
    for count in (1, 3, 100, 3000):
        mine = array.array("d", [rank * 0.5 + i for i in range(count)])
        out = array.array("d", [0.0] * count)
        comm.Allreduce(mine, out, MPI.SUM)
        assert all(out[i] == size * i + 0.25 * size * (size - 1) for i in range(count))
        comm.Allreduce(MPI.IN_PLACE, mine, MPI.MAX)
        assert mine[-1] == (size - 1) * 0.5 + count - 1
        block = array.array("i", [rank * count + i for i in range(count)])
        together = array.array("i", [0] * count * size)
        comm.Allgather(block, together)
        assert list(together) == list(range(count * size))
        comm.Bcast(together, root=size - 1)
        back = array.array("i", [0] * count)
        comm.Scatter(together, back, root=0)
        assert back == block
        comm.Reduce_scatter_block(array.array("i", [rank] * count * size), back, MPI.SUM)
        assert list(back) == [size * (size - 1) // 2] * count
    request = comm.Ibarrier()
    comm.Barrier()
    request.Wait()


def product(n):
    result = 1
    for i in range(1, n + 1):
        result *= i
    return result


world = MPI.COMM_WORLD
half = world.Split(world.Get_rank() % 2, -world.Get_rank())
twin = world.Dup()
for comm in (world, half, twin, MPI.COMM_SELF):
    for _ in range(3):
        check(comm)
half.Free()
twin.Free()
if world.Get_rank() == 0:
    print("mpi4py: right on", world.Get_size())
