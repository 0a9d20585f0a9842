# SPDX-License-Identifier: MIT
"""The backend of torch.distributed: every collective equals gloo's; work handles, sub-groups, timeouts; training."""
import importlib.util
import os
import signal
import socket
import sys
import tempfile
import threading
import time
import traceback
import unittest
from datetime import timedelta

if importlib.util.find_spec("torch") is None or importlib.util.find_spec("chasqui._torch") is None:
    print("skipped: no torch, or chasqui was built without its headers (apt install python3-torch libtorch-dev)")
    sys.exit(77)

import torch
import torch.distributed as dist

import chasqui.torch
import ranks

torch.set_num_threads(1)
TYPES = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32, torch.float64]


def fails(words, call):
    try:
        call()
    except Exception as error:
        assert words in str(error), error
    else:
        raise AssertionError("not refused: " + words)


def with_group(function):
    """function(rank, size) in a process group of this backend."""

    def body(rank, size, path, *arguments):
        dist.init_process_group("chasqui", init_method="file://" + path, rank=rank, world_size=size, timeout=timedelta(seconds=300))
        function(rank, size, *arguments)
        dist.barrier()
        dist.destroy_process_group()

    return body


def numbers(rank, kind, count=37):
    return ((torch.arange(count) * 7 + rank * 3) % 11 + 1).to(kind)


@with_group
def collectives(rank, size):
    gloo = dist.new_group(backend="gloo")
    both = [dist.group.WORLD, gloo]

    def equal(make, kind, *names):
        """What the collective leaves in its tensors, by both backends."""
        ours, theirs = [make(group) for group in both]
        for mine, other in zip(ours, theirs):
            assert mine.dtype == kind and torch.equal(mine, other), (kind, names, mine, other)

    for kind in TYPES:
        # Gloo has no all-reduce of these: their sums are small whole numbers and exact.
        missing = kind in (torch.int16, torch.bfloat16)
        for operation in (dist.ReduceOp.SUM, dist.ReduceOp.MAX, dist.ReduceOp.MIN, dist.ReduceOp.PRODUCT):
            x, wanted = numbers(rank, kind), numbers(rank, torch.int64 if missing else kind)
            dist.all_reduce(x, operation)
            dist.all_reduce(wanted, operation, group=gloo)
            if missing and wanted.max() > 256:
                continue
            assert torch.equal(x, wanted.to(kind)), (kind, operation)
            y = numbers(rank, kind)
            dist.reduce(y, size - 1, operation)
            assert rank != size - 1 or torch.equal(y, wanted.to(kind)), (kind, operation)

        def broadcast(group):
            x = numbers(rank, kind)
            dist.broadcast(x, 1, group=group)
            return [x]

        def all_gather(group):
            out = [torch.empty(37, dtype=kind) for _ in range(size)]
            dist.all_gather(out, numbers(rank, kind), group=group)
            return out

        def gather(group):
            out = [torch.empty(37, dtype=kind) for _ in range(size)]
            dist.gather(numbers(rank, kind), out if rank == 0 else None, 0, group=group)
            return out if rank == 0 else []

        def scatter(group):
            out = torch.empty(37, dtype=kind)
            dist.scatter(out, [numbers(r, kind) for r in range(size)] if rank == 1 else None, 1, group=group)
            return [out]

        if kind not in (torch.int16, torch.bfloat16):
            for make in (broadcast, all_gather, gather, scatter):
                equal(make, kind, make.__name__)
        else:
            assert torch.equal(broadcast(None)[0], numbers(1, kind)) and torch.equal(scatter(None)[0], numbers(rank, kind))
            assert all(torch.equal(part, numbers(r, kind)) for r, part in enumerate(all_gather(None)))
    base = torch.empty(size * 37)
    dist._all_gather_base(base, numbers(rank, torch.float32))
    assert torch.equal(base, torch.cat([numbers(r, torch.float32) for r in range(size)]))
    given = torch.cat([numbers(rank + r, torch.float32) for r in range(size)])
    wanted = sum(numbers(r + rank, torch.float32) for r in range(size))
    kept = torch.empty(37)
    dist._reduce_scatter_base(kept, given)
    assert torch.equal(kept, wanted)
    kept.zero_()
    dist.reduce_scatter(kept, [part.clone() for part in given.chunk(size)])
    assert torch.equal(kept, wanted)
    swapped = torch.empty(size * 3, 2)
    dist.all_to_all_single(swapped, torch.full((size * 3, 2), float(rank)))
    assert torch.equal(swapped[:, 0], torch.arange(size).repeat_interleave(3).float())
    # Rank s sends s + r rows to rank r.
    out = torch.empty(sum(s + rank for s in range(size)))
    dist.all_to_all_single(out, torch.full((sum(rank + r for r in range(size)),), float(rank)),
                           [s + rank for s in range(size)], [rank + r for r in range(size)])
    assert torch.equal(out, torch.cat([torch.full((s + rank,), float(s)) for s in range(size)]))
    parts = [torch.empty(s + 1) for s in range(size)]
    dist.all_to_all(parts, [torch.full((rank + 1,), float(10 * rank + r)) for r in range(size)])
    assert all(torch.equal(part, torch.full((s + 1,), float(10 * s + rank))) for s, part in enumerate(parts))
    x = numbers(rank, torch.float32)
    dist.all_reduce(x, dist.ReduceOp.AVG)
    assert torch.allclose(x, sum(numbers(r, torch.float32) for r in range(size)) / size)
    mask = torch.tensor([1 << rank, 3])
    dist.all_reduce(mask, dist.ReduceOp.BOR)
    assert mask.tolist() == [(1 << size) - 1, 3]
    coalesced = [torch.ones(3), torch.ones(2, 2)]
    dist.all_reduce_coalesced(coalesced)
    assert all((tensor == size).all() for tensor in coalesced)
    objects = [None] * size
    dist.all_gather_object(objects, {"rank": rank})
    assert [one["rank"] for one in objects] == list(range(size))
    pairs = torch.full((3,), complex(rank, 1))
    dist.all_reduce(pairs)
    assert (pairs == complex(sum(range(size)), size)).all()
    dist.all_reduce(torch.empty(0))


@with_group
def handles(rank, size):
    tensors = [torch.full((100,), float(rank + i)) for i in range(20)]
    works = [dist.all_reduce(tensor, async_op=True) for tensor in tensors]
    works[-1].wait()
    assert all(work.is_completed() for work in works)
    for i, (work, tensor) in enumerate(zip(works, tensors)):
        work.wait()
        assert (tensor == sum(r + i for r in range(size))).all()
        assert work.result()[0] is tensor or torch.equal(work.result()[0], tensor)
    # What nobody waits for runs all the same.
    alone = torch.ones(5)
    work = dist.all_reduce(alone, async_op=True)
    while not work.is_completed():
        time.sleep(0.001)
    assert (alone == size).all()
    time.sleep(0.05)  # longer than the group's thread stays awake
    seen = []
    future = dist.all_reduce(torch.ones(5), async_op=True).get_future().then(lambda f: seen.append(f.value()[0].sum().item()))
    future.wait()
    assert seen == [5.0 * size]
    # Ranks start in different order on two groups, which only works if starting does not wait.
    groups = [dist.new_group(), dist.new_group()]
    x = [torch.ones(1), torch.full((1,), 2.0)]
    order = [0, 1] if rank == 0 else [1, 0]
    works = [dist.all_reduce(x[i], group=groups[i], async_op=True) for i in order]
    for work in works:
        work.wait(timedelta(seconds=300))
    assert x[0].item() == size and x[1].item() == 2 * size
    threads = [threading.Thread(target=lambda i=i: [dist.all_reduce(torch.ones(8), group=groups[i]) for _ in range(50)]) for i in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@with_group
def groups(rank, size):
    pairs = [dist.new_group([0, 1]), dist.new_group([1, 2]), dist.new_group([0, 2])]
    for members, group in zip(([0, 1], [1, 2], [0, 2]), pairs):
        if rank in members:
            x = torch.tensor([float(rank)])
            dist.all_reduce(x, group=group)
            assert x.item() == sum(members)
            y = torch.tensor([float(rank)])
            dist.broadcast(y, members[1], group=group)
            assert y.item() == members[1]


@with_group
def forks(rank, size):
    """A process that a rank forks, as the workers of a DataLoader are, has no thread that could end a call."""
    pending = dist.all_reduce(torch.ones(1), async_op=True)
    pending.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # a child that hangs is a failure
        try:
            fails("forked by a rank", lambda: dist.all_reduce(torch.ones(1)))
            fails("forked by a rank", lambda: dist.all_reduce(torch.ones(1), async_op=True))
            dist.destroy_process_group()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        del pending
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    x = torch.ones(1)
    dist.all_reduce(x)
    assert x.item() == size


@with_group
def refusals(rank, size):
    fails("new_group(backend=\"gloo\")", lambda: dist.send(torch.ones(1), 0))
    fails("new_group(backend=\"gloo\")", lambda: dist.recv(torch.ones(1), 0))
    fails("contiguous", lambda: dist.all_reduce(torch.ones(4, 4).t()[1:]))
    fails("dense", lambda: dist.all_reduce(torch.ones(2, 2).to_sparse()))
    fails("equal parts", lambda: dist.all_to_all_single(torch.ones(size * 2 + 1), torch.ones(size * 2 + 1)))


def late(rank, size, path):
    dist.init_process_group("chasqui", init_method="file://" + path, rank=rank, world_size=size, timeout=timedelta(seconds=300))
    group = dist.new_group(timeout=timedelta(seconds=0.3))
    if rank == 0:
        fails("chasqui", lambda: dist.all_reduce(torch.ones(4), group=group))
        work = dist.all_reduce(torch.ones(4), async_op=True)
        fails("did not end within 100 ms", lambda: work.wait(timedelta(milliseconds=100)))
        os._exit(0)
    time.sleep(1.5)


class Store(dist.Store):
    """One whose keys and values a test sees on their way: on_set(key, value) says what is kept."""

    def __init__(self, path, on_set):
        super().__init__()
        self.store, self.on_set = dist.FileStore(path, 2), on_set
        self.store.set_timeout(timedelta(seconds=300))

    def set(self, key, value):
        self.store.set(key, self.on_set(key, value))

    def get(self, key):
        return self.store.get(key)

    def wait(self, keys, timeout=timedelta(seconds=300)):
        self.store.wait(keys, timeout)


def join_from_two_hosts(rank, path, on_set=lambda key, value: value):
    """Rank 1 says that it is on another host."""
    store = Store(path, lambda key, value: "elsewhere" if key == "chasqui/1" else on_set(key, value))
    return chasqui._torch.make_group(store, rank, 2, timedelta(seconds=300))


def no_address(rank, size, path, variables, words):
    for name in ("MASTER_ADDR", "CHASQUI_ADDRESS"):
        os.environ.pop(name, None)
    os.environ.update(variables)
    fails(words, lambda: join_from_two_hosts(rank, path))


def held_port(rank, size, path, address):
    os.environ["CHASQUI_ADDRESS"] = address

    def on_set(key, value):
        if key == "chasqui":
            place = value.decode().split("//")[1].split(":")
            with socket.socket() as other:
                fails("in use", lambda: other.bind((place[0], int(place[1]))))
        return value

    join_from_two_hosts(rank, path, on_set)


def own_address():
    """One that other hosts may reach; empty: there is none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 1))  # sends nothing
            return probe.getsockname()[0]
        except OSError:
            return ""


def train(backend, path, rank, size, report):
    dist.init_process_group(backend, init_method="file://" + path, rank=rank, world_size=size, timeout=timedelta(seconds=300))
    torch.manual_seed(5)
    model = torch.nn.Sequential(torch.nn.Linear(10, 32), torch.nn.Tanh(), torch.nn.BatchNorm1d(32), torch.nn.Linear(32, 1))
    ddp = torch.nn.parallel.DistributedDataParallel(model, bucket_cap_mb=0.001)
    optimiser = torch.optim.SGD(ddp.parameters(), lr=0.05, momentum=0.9)
    torch.manual_seed(100 + rank)
    for _ in range(20):
        optimiser.zero_grad()
        x = torch.randn(16, 10)
        ((ddp(x) - x.sum(1, keepdim=True)) ** 2).mean().backward()
        optimiser.step()
    if rank == 0:
        torch.save([p.detach() for p in model.parameters()], report)
    dist.barrier()
    dist.destroy_process_group()


class Column(torch.autograd.Function):
    """The identity forwards; backwards the sum over the ranks that have the columns."""

    @staticmethod
    def forward(context, x):
        return x

    @staticmethod
    def backward(context, gradient):
        gradient = gradient.contiguous()
        dist.all_reduce(gradient)
        return gradient


class Row(torch.autograd.Function):
    """The sum over the ranks that have the rows; backwards the identity."""

    @staticmethod
    def forward(context, x):
        x = x.contiguous()
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(context, gradient):
        return gradient


@with_group
def tensor_parallel(rank, size):
    torch.manual_seed(1)
    first, second, x = torch.randn(8 * size, 6), torch.randn(4, 8 * size), torch.randn(5, 6)
    whole_x = x.clone().requires_grad_()
    whole = torch.relu(whole_x @ first.t()) @ second.t()
    whole.sum().backward()
    own_first = first.chunk(size)[rank].contiguous()
    own_second = second.chunk(size, 1)[rank].contiguous()
    own_x = x.clone().requires_grad_()
    own = Row.apply(torch.relu(Column.apply(own_x) @ own_first.t()) @ own_second.t())
    own.sum().backward()
    assert torch.allclose(own, whole, atol=1e-4)
    assert torch.allclose(own_x.grad, whole_x.grad, atol=1e-4)


def launched():
    """Two ranks on each of two hosts, started by chasqui launch (tests/group/hosts.sh)."""
    rank, size = int(os.environ["CHASQUI_RANK"]), int(os.environ["CHASQUI_SIZE"])
    os.environ["MASTER_ADDR"] = os.environ["CHASQUI_RENDEZVOUS"].split("/")[2].split(":")[0]
    store = "tcp://{}:29777".format(os.environ["MASTER_ADDR"])
    dist.init_process_group("chasqui", init_method=store, rank=rank, world_size=size, timeout=timedelta(seconds=300))
    for kind in (torch.float32, torch.bfloat16, torch.int64):
        for count in (1, 1000, 100000):
            x = torch.full((count,), rank + 1, dtype=kind)
            dist.all_reduce(x)
            assert (x == size * (size + 1) // 2).all()
    for members in ([1, 3], [2, 3]):  # on both hosts; on the second
        group = dist.new_group(members)
        if rank in members:
            parts = [torch.zeros(2) for _ in members]
            dist.all_gather(parts, torch.full((2,), float(rank)), group=group)
            assert [int(part[0]) for part in parts] == members
    dist.barrier()
    dist.destroy_process_group()


class Backend(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name="store"):
        return os.path.join(self.folder.name, name)

    def test_collectives_equal_those_of_gloo(self):
        ranks.run(3, collectives, self.path())

    def test_work_handles(self):
        ranks.run(2, handles, self.path())

    def test_sub_groups(self):
        ranks.run(3, groups, self.path())

    def test_forked_processes(self):
        ranks.run(2, forks, self.path())

    def test_refusals(self):
        ranks.run(2, refusals, self.path())

    def test_a_late_rank_is_an_error(self):
        ranks.run(2, late, self.path())

    def test_all_ranks_hear_why_there_is_no_place(self):
        for i, (variables, words) in enumerate([({}, "set CHASQUI_ADDRESS"), ({"MASTER_ADDR": "127.0.1.1"}, "set CHASQUI_ADDRESS"),
                                                ({"CHASQUI_ADDRESS": "203.0.113.9"}, "203.0.113.9 is no IPv4 address")]):
            ranks.run(2, no_address, self.path(str(i)), variables, words)

    def test_nobody_else_gets_the_port(self):
        address = own_address()
        if not address or address.startswith("127."):
            self.skipTest("this host has no address but its own")
        ranks.run(2, held_port, self.path(), address)

    def test_training_equals_that_of_gloo(self):
        for backend in ("gloo", "chasqui"):
            ranks.run(2, lambda rank, size: train(backend, self.path(backend), rank, size, self.path(backend + ".pt")))
        ours, theirs = [torch.load(self.path(backend + ".pt")) for backend in ("chasqui", "gloo")]
        for mine, other in zip(ours, theirs):
            self.assertTrue(torch.equal(mine, other))  # of two numbers there is one sum

    def test_tensor_parallel_linear_layers(self):
        ranks.run(2, tensor_parallel, self.path())


if __name__ == "__main__":
    launched() if sys.argv[1:] == ["--launched"] else unittest.main()
