# SPDX-License-Identifier: MIT
"""Collectives as fast as the machine allows: planned, checked, drawn, played and run.

The planner: :func:`plan`, :func:`bound`, :func:`verify`, :func:`simulate`, :func:`draw`.
Collectives on NumPy arrays between processes: :func:`join` gives a :class:`Comm`.
``import chasqui.torch`` makes "chasqui" a backend of torch.distributed.
"""

from typing import TYPE_CHECKING, Any, List

from chasqui._native import ChasquiError, version
from chasqui.planner import Claim, Picture, Report, Schedule, Violation, bound, draw, plan, simulate, verify

if TYPE_CHECKING:
    from chasqui.comm import Comm, Request, join

__version__ = version()

__all__ = [
    "ChasquiError", "Claim", "Comm", "Picture", "Report", "Request", "Schedule", "Violation",
    "bound", "draw", "join", "plan", "simulate", "verify", "version",
]


def __getattr__(name: str) -> Any:  # the planner does without NumPy
    if name in ("Comm", "Request", "join"):
        from chasqui import comm

        return getattr(comm, name)
    raise AttributeError(f"module 'chasqui' has no attribute '{name}'")


def __dir__() -> List[str]:
    return sorted({*globals(), *__all__})
