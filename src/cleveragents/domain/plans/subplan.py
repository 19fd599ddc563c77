"""Subplans: parts of a plan that run as plans of their own, and the order they run in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

SPAWN_SUBPLAN = "spawn-subplan"
"""The tool of a step with subplans."""


class SubplanMode(StrEnum):
    """In which order the subplans of one step run."""

    SEQUENTIAL = "sequential"
    """One after the other; each starts from the result of the one before it."""
    PARALLEL = "parallel"
    """All at the same time, from the same state."""
    DEPENDENCY_ORDERED = "dependency_ordered"
    """Each after all subplans it depends on, starting from their result."""


def waves(mode: SubplanMode, depends_on: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Returns the names in waves; the subplans of one wave run at the same time.

    Args:
        mode: How they run.
        depends_on: What each subplan depends on, in the order of the plan file.

    Raises:
        CircularDependency: some depend on each other.
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
    """Subplans that depend on each other, so that none of them could start."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(", ".join(names))
        self.names = list(names)
