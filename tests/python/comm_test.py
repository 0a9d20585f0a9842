# SPDX-License-Identifier: MIT
"""Collectives on NumPy arrays: every one, on every type, new and in place, started and waited for; what is refused."""
import gc
import os
import sys
import time
import unittest

import numpy as np

import chasqui
import ranks

TYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]


def everything(rank, size, place):
    with chasqui.join(rank, size, place, timeout=300, patience=300) as comm:
        assert (comm.rank, comm.size) == (rank, size)
        for name in TYPES:
            for shape in ((), (1,), (3, 5), (4099,)):
                give = [(np.arange(int(np.prod(shape))) % 5 + r + 1).astype(name).reshape(shape) for r in range(size)]
                mine = give[rank].copy()
                np.testing.assert_array_equal(comm.allreduce(mine), sum(give).astype(name))
                np.testing.assert_array_equal(mine, give[rank])
                np.testing.assert_array_equal(comm.allreduce(mine, "max"), give[-1])
                assert comm.allreduce(mine, "min", out=mine) is mine
                np.testing.assert_array_equal(mine, give[0])
                gathered = comm.allgather(give[rank])
                np.testing.assert_array_equal(gathered, np.stack(give))
                at_root = comm.gather(give[rank], root=size - 1)
                assert (at_root is not None) == (rank == size - 1)
                if at_root is not None:
                    np.testing.assert_array_equal(at_root, np.stack(give))
                part = np.empty(shape, name)
                comm.scatter(part, gathered if rank == 0 else None)
                np.testing.assert_array_equal(part, give[rank])
                folded = comm.reduce(give[rank], root=0)
                if rank == 0:
                    np.testing.assert_array_equal(folded, sum(give).astype(name))
                np.testing.assert_array_equal(comm.scan(give[rank]), sum(give[: rank + 1]).astype(name))
                kept = np.zeros(shape, name)
                np.testing.assert_array_equal(comm.scan(give[rank], exclusive=True, out=kept), sum(give[:rank], kept * 0).astype(name))
                rows = np.stack([give[(rank + r) % size] for r in range(size)])
                wanted = np.stack([give[(r + rank) % size] for r in range(size)])
                np.testing.assert_array_equal(comm.alltoall(rows), wanted)
                np.testing.assert_array_equal(comm.reduce_scatter(rows), sum(wanted).astype(name))
                assert comm.alltoall(rows, out=rows) is rows
                np.testing.assert_array_equal(rows, wanted)
                sent = give[1].copy() if rank == 1 else np.zeros(shape, name)
                np.testing.assert_array_equal(comm.broadcast(sent, root=1), give[1])
        assert comm.allreduce(rank == 0, "or") and not comm.allreduce(rank == 0, "and")
        assert comm.allreduce(np.float64(rank), "average") == (size - 1) / 2
        assert comm.allreduce(1 << rank, "xor") == (1 << size) - 1
        assert comm.allreduce(rank + 1, "product") == np.prod(range(1, size + 1))
        every_second = np.arange(10.0)[::2]
        np.testing.assert_array_equal(comm.allreduce(every_second), every_second * size)
        started(comm)
        parts(comm)
        refused(comm)
        comm.barrier()


def started(comm):
    first = comm.iallreduce(np.full(1000, comm.rank, "float32"))
    second = comm.iallgather(np.int64(comm.rank))
    third = comm.ibroadcast(np.full(7, comm.rank), root=1)
    fourth = comm.ibarrier()
    assert list(second.wait()) == list(range(comm.size))
    while not fourth.test():
        pass
    assert (third.wait() == 1).all()
    assert (first.wait() == sum(range(comm.size))).all()
    assert first.test() and (first.wait() == sum(range(comm.size))).all()
    comm.iscan(np.ones(5))  # forgotten: its arrays stay until it is complete
    gc.collect()
    out = np.empty(3)
    comm.iscatter(out, np.ones((comm.size, 3)) if comm.rank == 0 else None).wait()
    assert (out == 1).all()
    assert (comm.ireduce(np.ones(2), root=0).wait() is None) == (comm.rank != 0)
    assert (comm.ialltoall(np.full((comm.size, 2), comm.rank)).wait()[:, 0] == np.arange(comm.size)).all()
    assert (comm.ireduce_scatter(np.full((comm.size, 2), 1.5)).wait() == 1.5 * comm.size).all()
    assert (comm.igather(np.ones(2), root=0).wait() is None) == (comm.rank != 0)


def parts(comm):
    half = comm.split(comm.rank % 2, -comm.rank)
    members = [r for r in range(comm.size) if r % 2 == comm.rank % 2]
    assert half.size == len(members) and half.rank == members[::-1].index(comm.rank)
    assert half.allreduce(comm.rank) == sum(members)
    assert comm.split(-1 if comm.rank == 0 else 0) is None or comm.rank != 0
    half.set_reproducible()
    x = np.float32(0.1) * np.arange(1, 100, dtype="float32") * (comm.rank + 1)
    whole = half.allreduce(x)
    for i in range(0, 99, 33):
        np.testing.assert_array_equal(half.allreduce(x[i : i + 33]), whole[i : i + 33])
    half.close()
    try:
        half.barrier()
        raise AssertionError("a closed communicator was used")
    except chasqui.ChasquiError as error:
        assert "closed" in str(error)


def refused(comm):
    read_only = np.ones(3)
    read_only.flags.writeable = False
    for error, words, call in [
        (ValueError, "no operation: use one of sum", lambda: comm.allreduce(1, "plus")),
        (ValueError, r"out is float64\[2\]: it must be float64\[3\]", lambda: comm.allreduce(np.ones(3), out=np.ones(2))),
        (ValueError, "contiguous", lambda: comm.allreduce(np.ones(3), out=np.ones(6)[::2])),
        (ValueError, "written to", lambda: comm.broadcast(read_only)),
        (ValueError, "first dimension must be", lambda: comm.alltoall(np.ones(comm.size + 1))),
        (TypeError, "Python objects", lambda: comm.allreduce([None])),
        (chasqui.ChasquiError, "complex128 cannot be reduced", lambda: comm.allreduce(np.ones(2, "complex128"))),
        (chasqui.ChasquiError, "another order", lambda: comm.allreduce(np.ones(2, np.dtype("f8").newbyteorder("S")))),
    ]:
        try:
            call()
        except error as said:
            unittest.TestCase().assertRegex(str(said), words)
        else:
            raise AssertionError("not refused: " + words)


def one_leaves(rank, size, place):
    try:
        with chasqui.join(rank, size, place, timeout=300, patience=300) as comm:
            comm.barrier()
            if rank == 1:
                raise KeyError("bad luck")
            comm.allreduce(np.ones(10))
    except KeyError:
        assert rank == 1
    except chasqui.ChasquiError as error:
        assert "KeyError: 'bad luck'" in str(error), error
    else:
        raise AssertionError("nobody left")


def one_leaves_in_the_midst(rank, size, place):
    """What was started and not waited for when the communicator is closed is complete then, or has failed."""
    request = None
    try:
        with chasqui.join(rank, size, place, timeout=300, patience=300) as comm:
            data = np.ones(100000)
            first = comm.iallreduce(data)
            if rank == 0:
                time.sleep(0.2)
            request = comm.iallreduce(data) if rank == 1 else None
            if rank == 1:
                raise KeyError("bad luck")
            assert (first.wait() == size).all()
            comm.allreduce(data)
    except (KeyError, chasqui.ChasquiError) as error:
        assert "bad luck" in str(error), error
    if rank != 1:
        return
    assert first.wait() is not None and (first.wait() == size).all() and first.test()
    for call in (request.wait, request.test):
        try:
            call()
        except chasqui.ChasquiError:
            pass
        else:
            raise AssertionError("a call that failed brought a result")


def a_child_leaves(rank, size, place):
    """A process that a rank forks ends by an exception, as sys.exit() is, with all that it was given."""
    with chasqui.join(rank, size, place, timeout=300, patience=300) as comm:
        comm.barrier()
        if rank == 0:
            time.sleep(0.2)
        request = comm.iallreduce(np.full(1000, rank + 1.0))
        child = os.fork() if rank == 1 else -1
        if child == 0:
            sys.exit()  # ranks.run ends this process
        if rank == 1:
            assert os.waitpid(child, 0)[1] != 0  # by an exception
            time.sleep(0.2)
        assert (request.wait() == 3).all()
        assert comm.allreduce(1) == size


def nobody_comes():
    chasqui.join(0, 2, ranks.meeting(), timeout=0.2)


class Collectives(unittest.TestCase):
    def test_everything(self):
        for size in (2, 3):
            ranks.run(size, everything, ranks.meeting())

    def test_one_rank_alone(self):
        with chasqui.join(0, 1, ranks.meeting()) as comm:
            self.assertEqual(comm.allreduce(7), 7)
            self.assertEqual(repr(comm), "<rank 0 of 1>")

    def test_a_rank_that_fails_ends_the_calls_of_others(self):
        ranks.run(2, one_leaves, ranks.meeting())

    def test_what_was_started_ends_with_the_communicator(self):
        ranks.run(2, one_leaves_in_the_midst, ranks.meeting())

    def test_a_child_that_ends_is_no_rank_that_leaves(self):
        ranks.run(2, a_child_leaves, ranks.meeting())

    def test_a_rank_that_never_comes_is_missed(self):
        with self.assertRaises(chasqui.ChasquiError):
            nobody_comes()


if __name__ == "__main__":
    if sys.argv[1:] == ["--launched"]:
        everything(int(os.environ["CHASQUI_RANK"]), int(os.environ["CHASQUI_SIZE"]), None)
    else:
        unittest.main()
