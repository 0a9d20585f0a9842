# SPDX-License-Identifier: MIT
"""Collectives on NumPy arrays between processes, without MPI.

All ranks make the same calls in the same order. A method returns a new array; with ``out`` the result is written there and
nothing is copied, ``out=array`` is in place. Methods that begin with ``i`` only start the collective and return a
:class:`Request`: the arrays must not be touched until its ``wait()`` has returned, which gives the result.
"""

from __future__ import annotations

from typing import Any, Optional

try:
    import numpy as np
except ModuleNotFoundError:
    raise ModuleNotFoundError("chasqui's collectives run on NumPy arrays: install NumPy for this Python (Debian: python3-numpy, "
                              "pip install numpy)", name="numpy") from None

from chasqui import _native

_OPERATIONS = {name: number for number, name in enumerate(("sum", "product", "min", "max", "and", "or", "xor", "average"))}


def _operation(name: str) -> int:
    if name not in _OPERATIONS:
        raise ValueError(f"'{name}' is no operation: use one of {', '.join(_OPERATIONS)}")
    return _OPERATIONS[name]


def _source(array: Any) -> np.ndarray:
    source = np.asarray(array, order="C")
    if source.dtype.hasobject:
        raise TypeError("arrays of Python objects cannot be sent: give them a numeric type")
    return source


def _target(out: Optional[np.ndarray], like: np.ndarray, shape: Any) -> np.ndarray:
    if out is None:
        return np.empty(shape, like.dtype)
    if out.dtype != like.dtype or out.shape != tuple(shape):
        raise ValueError(f"out is {out.dtype}{list(out.shape)}: it must be {like.dtype}{list(shape)}")
    return _writable(out, "out")


def _writable(array: np.ndarray, name: str) -> np.ndarray:
    if not isinstance(array, np.ndarray) or not array.flags.c_contiguous or not array.flags.writeable:
        raise ValueError(f"{name} must be a contiguous NumPy array that can be written to")
    return array


class Request:
    """A collective that was started."""

    def __init__(self, native: Any, result: Optional[np.ndarray]) -> None:
        self._native = native
        self._result = result

    def test(self) -> bool:
        """Is it complete? Moves it on."""
        return self._native.test()

    def wait(self) -> Optional[np.ndarray]:
        """Comes back when it is complete, with its result."""
        self._native.wait()
        return self._result


class Comm:
    """A communicator: this process is its rank ``rank`` of ``size``. Used by one thread at a time."""

    def __init__(self, native: Any) -> None:
        self._native = native
        self.rank: int = native.rank()
        self.size: int = native.size()

    def __repr__(self) -> str:
        return f"<rank {self.rank} of {self.size}>"

    def barrier(self) -> None:
        """Nobody goes on before all have come."""
        self._native.barrier(False)

    def ibarrier(self) -> Request:
        return Request(self._native.barrier(True), None)

    def broadcast(self, array: np.ndarray, root: int = 0) -> np.ndarray:
        """The root's array, in everybody's: in place."""
        self._native.broadcast(False, _writable(array, "array"), root)
        return array

    def ibroadcast(self, array: np.ndarray, root: int = 0) -> Request:
        return Request(self._native.broadcast(True, _writable(array, "array"), root), array)

    def allreduce(self, array: Any, op: str = "sum", out: Optional[np.ndarray] = None) -> np.ndarray:
        """The fold of all arrays, at every rank. ``op``: sum, product, min, max, and, or, xor, average."""
        return self._allreduce(False, array, op, out)

    def iallreduce(self, array: Any, op: str = "sum", out: Optional[np.ndarray] = None) -> Request:
        return self._allreduce(True, array, op, out)

    def _allreduce(self, start: bool, array: Any, op: str, out: Optional[np.ndarray]) -> Any:
        source = _source(array)
        result = _target(out, source, source.shape)
        return self._ended(self._native.allreduce(start, source, result, _operation(op)), result)

    def reduce(self, array: Any, op: str = "sum", root: int = 0, out: Optional[np.ndarray] = None) -> Optional[np.ndarray]:
        """The fold of all arrays, at the root; None elsewhere."""
        return self._reduce(False, array, op, root, out)

    def ireduce(self, array: Any, op: str = "sum", root: int = 0, out: Optional[np.ndarray] = None) -> Request:
        return self._reduce(True, array, op, root, out)

    def _reduce(self, start: bool, array: Any, op: str, root: int, out: Optional[np.ndarray]) -> Any:
        source = _source(array)
        result = _target(out, source, source.shape) if self.rank == root else None
        return self._ended(self._native.reduce(start, source, result, _operation(op), root), result)

    def scan(self, array: Any, op: str = "sum", exclusive: bool = False, out: Optional[np.ndarray] = None) -> np.ndarray:
        """At rank i the fold of ranks 0 to i; exclusive: to i - 1, and rank 0 keeps what ``out`` held."""
        return self._scan(False, array, op, exclusive, out)

    def iscan(self, array: Any, op: str = "sum", exclusive: bool = False, out: Optional[np.ndarray] = None) -> Request:
        return self._scan(True, array, op, exclusive, out)

    def _scan(self, start: bool, array: Any, op: str, exclusive: bool, out: Optional[np.ndarray]) -> Any:
        source = _source(array)
        result = _target(out, source, source.shape)
        return self._ended(self._native.scan(start, source, result, _operation(op), exclusive), result)

    def allgather(self, array: Any, out: Optional[np.ndarray] = None) -> np.ndarray:
        """The arrays of all ranks, one below the other: the result has a first dimension of ``size``."""
        return self._allgather(False, array, out)

    def iallgather(self, array: Any, out: Optional[np.ndarray] = None) -> Request:
        return self._allgather(True, array, out)

    def _allgather(self, start: bool, array: Any, out: Optional[np.ndarray]) -> Any:
        source = _source(array)
        result = _target(out, source, (self.size,) + source.shape)
        return self._ended(self._native.allgather(start, source, result), result)

    def alltoall(self, array: Any, out: Optional[np.ndarray] = None) -> np.ndarray:
        """``array[r]`` goes to rank r; row r of the result is what rank r had for this one. The first dimension is ``size``."""
        return self._alltoall(False, array, out)

    def ialltoall(self, array: Any, out: Optional[np.ndarray] = None) -> Request:
        return self._alltoall(True, array, out)

    def _alltoall(self, start: bool, array: Any, out: Optional[np.ndarray]) -> Any:
        source = self._rows(array)
        result = _target(out, source, source.shape)
        return self._ended(self._native.alltoall(start, source, result, self.size), result)

    def reduce_scatter(self, array: Any, op: str = "sum", out: Optional[np.ndarray] = None) -> np.ndarray:
        """Rank r gets the fold of everybody's ``array[r]``. The first dimension is ``size``."""
        return self._reduce_scatter(False, array, op, out)

    def ireduce_scatter(self, array: Any, op: str = "sum", out: Optional[np.ndarray] = None) -> Request:
        return self._reduce_scatter(True, array, op, out)

    def _reduce_scatter(self, start: bool, array: Any, op: str, out: Optional[np.ndarray]) -> Any:
        source = self._rows(array)
        result = _target(out, source, source.shape[1:])
        return self._ended(self._native.reduce_scatter(start, source, result, _operation(op)), result)

    def _rows(self, array: Any) -> np.ndarray:
        source = _source(array)
        if source.ndim == 0 or source.shape[0] != self.size:
            raise ValueError(f"array has the shape {list(source.shape)}: its first dimension must be {self.size}, one row for each rank")
        return source

    def gather(self, array: Any, root: int = 0, out: Optional[np.ndarray] = None) -> Optional[np.ndarray]:
        """The arrays of all ranks, one below the other, at the root; None elsewhere."""
        return self._gather(False, array, root, out)

    def igather(self, array: Any, root: int = 0, out: Optional[np.ndarray] = None) -> Request:
        return self._gather(True, array, root, out)

    def _gather(self, start: bool, array: Any, root: int, out: Optional[np.ndarray]) -> Any:
        source = _source(array)
        result = _target(out, source, (self.size,) + source.shape) if self.rank == root else None
        return self._ended(self._native.gather(start, source, result, root), result)

    def scatter(self, out: np.ndarray, array: Any = None, root: int = 0) -> np.ndarray:
        """Rank i gets the root's ``array[i]`` in ``out``; ``array`` counts at the root only."""
        return self._scatter(False, out, array, root)

    def iscatter(self, out: np.ndarray, array: Any = None, root: int = 0) -> Request:
        return self._scatter(True, out, array, root)

    def _scatter(self, start: bool, out: np.ndarray, array: Any, root: int) -> Any:
        result = _writable(out, "out")
        source = None
        if self.rank == root:
            source = _source(array)
            if source.dtype != result.dtype or source.shape != (self.size,) + result.shape:
                raise ValueError(f"array is {source.dtype}{list(source.shape)}: the root gives "
                                 f"{result.dtype}{[self.size, *result.shape]}")
        return self._ended(self._native.scatter(start, source, result, root), result)

    def split(self, colour: int, key: int = 0) -> Optional["Comm"]:
        """A communicator of the ranks with the same colour, ordered by key; None for a negative colour."""
        part = self._native.split(colour, key)
        return None if part is None else Comm(part)

    def set_timeout(self, seconds: float) -> None:
        """From now on a call in which nothing moves for so long fails; 0: never."""
        self._native.set_timeout(seconds)

    def set_reproducible(self, on: bool = True) -> None:
        """From now on folds have the same bits whatever the size, the timing and the method. On all ranks."""
        self._native.set_reproducible(on)

    def leave(self, why: str) -> None:
        """This rank will not come back: whoever waits for it gets an error that says why."""
        self._native.leave(why)

    def close(self) -> None:
        """Gives it back, when what was started is complete."""
        self._native.close()

    def __enter__(self) -> "Comm":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if error is not None:
            self.leave(f"{kind.__name__}: {error}" if str(error) else kind.__name__)
        self.close()

    @staticmethod
    def _ended(request: Any, result: Optional[np.ndarray]) -> Any:
        return result if request is None else Request(request, result)


def join(rank: int = -1, size: int = -1, rendezvous: Optional[str] = None, secret: Optional[str] = None,
         timeout: float = 60, patience: float = 0, reproducible: bool = False) -> Comm:
    """Comes back when all ranks are there; without arguments as ``chasqui launch``, torchrun, mpirun or srun say.

    ``rendezvous`` is "/path", "unix:@name", "fd:7" or "tcp://127.0.0.1:4711"; ``timeout`` the seconds until all must be there,
    ``patience`` those after which a call in which nothing moves fails (0: never).
    """
    return Comm(_native.join(rank, size, rendezvous, secret, timeout, patience, reproducible))
