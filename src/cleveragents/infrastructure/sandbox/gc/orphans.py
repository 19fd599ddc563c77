"""What a store holds for plans that no record names: snapshots, branches, sandboxes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from cleveragents.domain.health.maintenance import KnownRecords
from cleveragents.infrastructure.sandbox.git.command import Git, git_on_mirror

_SNAPSHOT = re.compile(r"refs/cleveragents/snapshots/([0-9A-Za-z]+)/[^/]+/([0-9a-f]{40})")
_OF_PLAN = re.compile(
    r"refs/(?:cleveragents/(?:applies|base|begun|brought|forks|included|starts|unapplies)/|heads/cleveragents/plan-)"
    r"([0-9A-Za-z]+)(?:/.+)?"
)
_BRANCH = "refs/heads/"
"""A plan has one branch, that of its sandbox, with which it goes."""
_WORKTREE = re.compile(r"([0-9A-Za-z]+)-([0-9A-Za-z_].*)", re.DOTALL)
_REMOVED = re.compile(r"\.(.+)\.removed", re.DOTALL)


@dataclass(frozen=True)
class Orphans:
    """What may go because no record leads to it."""

    refs: Mapping[str, str]
    """Name and the object it points to."""
    snapshots: int
    sandboxes: tuple[Path, ...]
    directories: tuple[Path, ...]
    """The sandboxes, what belongs to them, and what is left of others, each for `remove_tree`."""
    unknown_plans: tuple[str, ...]
    """Plans that stay although no record names them: the records may be the wrong ones."""


def refs_of(git: Git) -> dict[str, str]:
    listing = os.fsdecode(git.run("for-each-ref", "--format=%(objectname) %(refname)"))
    pairs = (line.partition(" ") for line in listing.split("\n") if line)
    return {name: object_id for object_id, _, name in pairs}


def plans_of(git: Git, store: Path) -> set[str]:
    """Returns the plans that the store holds anything of."""
    if not store.is_dir():
        return set()
    refs = refs_of(git_on_mirror(git, store))
    return {*filter(None, map(_plan_of, refs)), *(plan for plan, _ in _worktrees(store))}


def find_orphans(git: Git, store: Path, sandboxes: Path, named: KnownRecords) -> Orphans:
    """Sorts out what no record names.

    What the records do not know of a plan that they do not know stays: it may be the only copy of
    a user's work. Where the records are older than the store, everything stays.
    """
    plans = plans_of(git, store)
    doubtful = plans - named.plans
    if named.doubted:
        return Orphans({}, 0, (), (), tuple(sorted(doubtful)))
    present = refs_of(git_on_mirror(git, store)) if store.is_dir() else dict[str, str]()
    refs = {
        name: object_id
        for name, object_id in present.items()
        if _plan_of(name) not in doubtful and _is_orphan(name, named)
    }
    of_git = set(_worktrees(store))
    found = {item for item in named.given_up if os.path.lexists(sandboxes.joinpath(*item))}
    lost = sorted(
        (plan, resource)
        for plan, resource in (of_git | found) - named.sandboxes
        if plan not in doubtful
    )
    places = [sandboxes / plan / resource for plan, resource in lost]
    admins = [
        store / "worktrees" / f"{plan}-{resource}"
        for plan, resource in lost
        if (plan, resource) in of_git
    ]
    # A removal that was killed left its trash and nothing under the name of the directory.
    begun = [*_half_removed(store / "worktrees")]
    for plan in sorted(plans - doubtful):
        begun += _half_removed(sandboxes / plan)
    return Orphans(
        refs=refs,
        snapshots=sum(_SNAPSHOT.fullmatch(name) is not None for name in refs),
        sandboxes=tuple(places),
        directories=tuple(dict.fromkeys((*places, *admins, *begun))),
        unknown_plans=tuple(sorted(doubtful)),
    )


def _half_removed(place: Path) -> Iterator[Path]:
    """Yields the directories whose removal was begun and killed."""
    for name in _names(place):
        found = _REMOVED.fullmatch(name)
        if found is not None and not os.path.lexists(place / found[1]):
            yield place / found[1]


def _is_orphan(name: str, named: KnownRecords) -> bool:
    snapshot = _SNAPSHOT.fullmatch(name)
    if snapshot is not None:
        return (snapshot[1], snapshot[2]) not in named.snapshots
    plan = _plan_of(name)
    if plan is not None and name.startswith(_BRANCH):
        return all(owner != plan for owner, _ in named.sandboxes)
    return plan is not None and plan not in named.plans


def _plan_of(name: str) -> str | None:
    found = _SNAPSHOT.fullmatch(name) or _OF_PLAN.fullmatch(name)
    return None if found is None else found[1]


def _worktrees(store: Path) -> list[tuple[str, str]]:
    """Returns plan and resource of each sandbox that git in the store knows of."""
    found = (_WORKTREE.fullmatch(name) for name in _names(store / "worktrees"))
    return [(match[1], match[2]) for match in found if match is not None]


def _names(place: Path) -> list[str]:
    return sorted(os.listdir(place)) if place.is_dir() and not place.is_symlink() else []
