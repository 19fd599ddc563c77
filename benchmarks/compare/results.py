"""What a comparison finds out: plain records, so that judging and printing need no disk."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum


class Scenario(StrEnum):
    """What is done to a tree and measured, in the order of the tables."""

    NOTHING = "checkpoint, nothing changed"
    ONE = "checkpoint, 1 file changed"
    HUNDRED = "checkpoint, 100 files changed"
    RESTORE_ONE = "restore 1 file"
    RESTORE_MANY = "restore 5,000 files"
    FIRST = "first snapshot"


class Role(StrEnum):
    """Whose technique it is."""

    IN_PLAN = "ours, inside a running plan"
    NEW_PROCESS = "ours, from a new process"
    PRIVATE_VIEW = "ours, private view, from a new process"
    PEER = "peer"


class Standing(IntEnum):
    """How far a technique's restores can be trusted, best first."""

    EXACT = 0
    NEAR_EXACT = 1
    """Nothing but full permission bits and empty directories was wrong."""
    INEXACT = 2

    def __str__(self) -> str:
        return self.name.lower().replace("_", "-")


@dataclass(frozen=True)
class Tree:
    """The size of a tree, which is all that tells one from another."""

    files: int
    ignored: int = 0

    def __str__(self) -> str:
        ignored = f" + {self.ignored:,} ignored" if self.ignored else ""
        return f"{self.files:,} files{ignored}"


@dataclass(frozen=True)
class Measured:
    """One technique on one tree."""

    name: str
    role: Role
    watches: bool = False
    """Whether changes are reported as they happen, instead of being searched for."""
    standing: Standing | None = None
    """None: no restore was tried."""
    seconds: Mapping[Scenario, Sequence[float]] = field(default_factory=dict[Scenario, list[float]])
    notes: Sequence[str] = ()

    def median(self, scenario: Scenario) -> float | None:
        found = self.seconds.get(scenario)
        return statistics.median(found) if found else None

    @property
    def counts(self) -> bool:
        """Whether ours is held against it; one that does not bring the files back is not."""
        return self.standing is not Standing.INEXACT


@dataclass(frozen=True)
class OnTree:
    """Every technique on one tree."""

    tree: Tree
    techniques: Sequence[Measured]
    rollback: Sequence[float] = ()
    """Seconds of `plan rollback`, which does more than any peer: shown, not judged."""
    closing: Sequence[float] = ()
    """Seconds a new process takes afterwards to let go of its files."""

    def ours(self, role: Role) -> Measured | None:
        return next((each for each in self.techniques if each.role is role), None)

    @property
    def peers(self) -> list[Measured]:
        return [each for each in self.techniques if each.role is Role.PEER]


@dataclass(frozen=True)
class Restored:
    """How well one kind of change was taken back, and brought again."""

    back: Standing
    again: Standing | None
    """None: the technique has no way to bring it again."""
    failure: str = ""
    """What the tool said where it could not."""


@dataclass(frozen=True)
class KindsRestored:
    """What one technique did with each kind of change."""

    name: str
    kinds: Mapping[str, Restored]


@dataclass(frozen=True)
class Check:
    """A number with a limit of its own, which no peer has a part in."""

    name: str
    value: float
    unit: str
    limit: float | None
    """None: for information."""
    remark: str = ""

    @property
    def kept(self) -> bool:
        return self.limit is None or self.value <= self.limit

    @property
    def measured(self) -> str:
        digits = 2 if self.value >= 0.1 or not self.value else 4
        return f"{self.value:,.{digits}f} {self.unit}".strip()


@dataclass(frozen=True)
class Machine:
    """What the numbers depend on, without saying whose machine it is."""

    facts: Mapping[str, str]


@dataclass(frozen=True)
class Comparison:
    """One run."""

    machine: Machine
    trees: Sequence[OnTree]
    checks: Sequence[Check]
    notes: Sequence[str] = ()
    """What was left out, and why."""
    kinds: Sequence[KindsRestored] = ()
