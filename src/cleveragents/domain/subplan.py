"""Subplans: the part of a plan that other plans do, and in which order those run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

SPAWN_SUBPLAN = "spawn-subplan"
"""The tool of a step that has subplans."""


class SubplanMode(StrEnum):
    """How the subplans of one step run beside or after each other."""

    SEQUENTIAL = "sequential"
    """One after the other; each starts from what the one before it left."""
    PARALLEL = "parallel"
    """At once, all from the same state."""
    DEPENDENCY_ORDERED = "dependency_ordered"
    """Each once all that it depends on is done, and starting from that."""


def waves(mode: SubplanMode, depends_on: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Returns the names in the waves they run in; those of one wave run at once.

    Args:
        mode: How they run.
        depends_on: What each subplan waits for, in the order of the plan file.

    Raises:
        CircularDependency: some wait for each other.
    """
    names = list(depends_on)
    if mode is SubplanMode.SEQUENTIAL:
        return [[name] for name in names]
    if mode is SubplanMode.PARALLEL:
        return [names] if names else []
    found: list[list[str]] = []
    done: set[str] = set()
    while waiting := [name for name in names if name not in done]:
        ready = [name for name in waiting if done.issuperset(depends_on[name])]
        if not ready:
            raise CircularDependency(waiting)
        found.append(ready)
        done.update(ready)
    return found


class CircularDependency(ValueError):
    """Subplans that wait for each other, so that none of them could begin."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(", ".join(names))
        self.names = list(names)
