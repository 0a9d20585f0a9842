# SPDX-License-Identifier: MIT
"""Collectives as fast as the machine allows: planned, checked, drawn, played and run.

The planner: :func:`plan`, :func:`bound`, :func:`verify`, :func:`simulate`, :func:`draw`.
"""

from chasqui._native import ChasquiError, version
from chasqui.planner import Claim, Picture, Report, Schedule, Violation, bound, draw, plan, simulate, verify

__version__ = version()

__all__ = [
    "ChasquiError", "Claim", "Picture", "Report", "Schedule", "Violation",
    "bound", "draw", "plan", "simulate", "verify", "version",
]
