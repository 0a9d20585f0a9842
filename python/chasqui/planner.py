# SPDX-License-Identifier: MIT
"""Plans as Python values. Options are those of the command line (``chasqui plan --help``), as keywords:
``--non-commutative`` is ``non_commutative=True``."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any, List, Mapping, Optional, Tuple, Union, overload

from chasqui import _native

Option = Union[bool, int, float, str, List[str], None]


def _answer(function: Any, subject: str, options: Mapping[str, Option]) -> Tuple[str, str]:
    return function(subject, json.dumps(options))


@dataclass(frozen=True)
class Claim:
    """How good a plan is, and who says so."""

    finish: int  #: when everybody has what was promised
    bound: int  #: no legal schedule finishes earlier
    optimal: bool  #: proved: the two are equal
    gap: int
    bound_source: str
    construction: str
    asked: Mapping[str, Any]  #: the collective, the machine and what else was asked for

    def __str__(self) -> str:
        verdict = "optimal" if self.optimal else f"at most {self.gap} above the optimum"
        return f"finish {self.finish} ({verdict}), bound {self.bound}: {self.bound_source}"


@dataclass(frozen=True)
class Violation:
    """One broken rule of the model, docs/model.md."""

    rule: int
    name: str
    text: str
    time: Optional[int] = None
    rank: Optional[int] = None
    message: Optional[int] = None

    def __str__(self) -> str:
        return f"rule {self.rule}, {self.name}: {self.text}"


@dataclass(frozen=True)
class Report:
    """What the verifier says; true where the schedule is legal."""

    legal: bool
    finish: int
    violations: Tuple[Violation, ...]
    omitted: int
    rules: str

    def __bool__(self) -> bool:
        return self.legal

    def __str__(self) -> str:
        return "legal" if self.legal else "\n".join(str(violation) for violation in self.violations)


_NOT_DRAWN = (".svgz", ".png", ".pdf", ".jpg", ".jpeg", ".gif", ".eps", ".ps", ".webp", ".html")


class Picture:
    """A drawing: SVG in notebooks, text in terminals."""

    def __init__(self, schedule: str, options: Mapping[str, Option]) -> None:
        self._schedule = schedule
        self._options = {name: value for name, value in options.items() if name != "ascii"}
        self.text, self.remarks = _answer(_native.draw, schedule, options)  #: for terminals; what does not hold of the file

    @property
    def svg(self) -> str:
        return _answer(_native.draw, self._schedule, {**self._options, "format": "svg"})[0]

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes SVG, or text where the name does not end in .svg."""
        name, ending = os.path.splitext(os.fspath(path))
        if ending.lower() in _NOT_DRAWN:
            raise _native.ChasquiError(f"{os.fspath(path)}: pictures are drawn as SVG: save {name}.svg, and convert it with rsvg-convert or a browser")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg if ending.lower() == ".svg" else self.text)

    def _repr_svg_(self) -> str:
        return self.svg

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__


class Schedule:
    """A schedule: its file's text, and what the file says. Shown as a picture in notebooks."""

    def __init__(self, text: str) -> None:
        #: The schedule file, docs/model.md.
        self.text = text
        self._value = json.loads(text)

    @classmethod
    def read(cls, path: Union[str, "os.PathLike[str]"]) -> "Schedule":
        with open(path, encoding="utf-8") as file:
            return cls(file.read())

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.text)

    @property
    def machine(self) -> Mapping[str, int]:
        """P, L, o and g."""
        return self._value["machine"]

    @property
    def problem(self) -> Mapping[str, Any]:
        """The kind of collective, its root, its items."""
        return self._value["problem"]

    @property
    def finish(self) -> int:
        """When everybody has what was promised."""
        return self._value["finish"]

    @property
    def bound(self) -> int:
        """No legal schedule finishes earlier."""
        return self._value["bound"]

    @property
    def optimal(self) -> bool:
        """Proved, not hoped."""
        return self.finish == self.bound

    @property
    def sends(self) -> List[Mapping[str, Any]]:
        """The messages: t, from, to, and what they carry."""
        return self._value["sends"]

    def verify(self, **options: Option) -> Report:
        return verify(self, **options)

    def simulate(self, **options: Option) -> Mapping[str, Any]:
        return simulate(self, **options)

    def draw(self, what: Optional[str] = None, **options: Option) -> Picture:
        return draw(self, what, **options)

    def _repr_svg_(self) -> str:
        return self.draw().svg

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schedule) and self._value == other._value

    def __hash__(self) -> int:
        return hash(self.text)

    def __len__(self) -> int:
        return len(self.sends)

    def __repr__(self) -> str:
        machine = ", ".join(f"{name}={value}" for name, value in self.machine.items())
        return f"<{self.problem['kind']} on {machine}: {len(self)} messages, finish {self.finish}, bound {self.bound}>"


def _text(schedule: Union[Schedule, str]) -> str:
    return schedule.text if isinstance(schedule, Schedule) else schedule


@overload
def plan(collective: str, *, rank: None = None, **options: Option) -> Schedule: ...
@overload
def plan(collective: str, *, rank: int, **options: Option) -> Mapping[str, Any]: ...
def plan(collective: str, *, rank: Optional[int] = None, **options: Option) -> Union[Schedule, Mapping[str, Any]]:
    """The best schedule known for a collective on the machine ``P``, ``L``, ``o``, ``g``.

    With ``rank=R`` only what that rank does, as a dictionary, for any number of processors.

    >>> plan("broadcast", P=8, L=6, o=2, g=4)
    <broadcast on P=8, L=6, o=2, g=4: 7 messages, finish 24, bound 24>
    """
    text = _answer(_native.plan, collective, {**options, "rank": rank})[0]
    return Schedule(text) if rank is None else json.loads(text)


def bound(collective: str, **options: Option) -> Claim:
    """How good :func:`plan` is, without building the schedule.

    >>> print(bound("broadcast", P="10^9", L=5000, o=200, g=400))
    finish 59200 (optimal), bound 59200: universal tree: no rank can be reached earlier
    """
    value = json.loads(_answer(_native.bound, collective, options)[0])
    known = {name: value.pop(name) for name in list(value) if name in Claim.__dataclass_fields__}
    return Claim(asked=value, **known)


def verify(schedule: Union[Schedule, str], **options: Option) -> Report:
    """Is a schedule (or the text of its file) legal? ``buffered=True`` lets messages wait at the receiver.

    >>> bool(verify(plan("scan", P=9, L=2)))
    True
    """
    value = json.loads(_answer(_native.verify, _text(schedule), options)[0])
    value["violations"] = tuple(Violation(**one) for one in value["violations"])
    return Report(**value)


def simulate(schedule: Union[Schedule, str], **options: Option) -> Mapping[str, Any]:
    """Plays a schedule: once, ``runs`` times, or against ``adversary="worst"``.

    >>> simulate(plan("broadcast", P=8, L=6, o=2, g=4), latency="uniform:1:6", mode="event", runs=100)["max"] <= 24
    True
    """
    return json.loads(_answer(_native.simulate, _text(schedule), options)[0])


def draw(schedule: Union[Schedule, str], what: Optional[str] = None, **options: Option) -> Picture:
    """A picture of a schedule: ``what`` is tree, chart, table or summary. Notebooks show SVG, terminals text.

    >>> print(draw(plan("broadcast", P=3, L=2), "tree"))  # doctest: +ELLIPSIS
    broadcast ...
    """
    return Picture(_text(schedule), {**options, "what": what})
