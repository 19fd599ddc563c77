"""What is on disk of plans, whatever the database knows: to name it, and to adopt it."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from msgspec.structs import replace

from cleveragents.domain.errors import SnapshotError
from cleveragents.domain.plans.origin import (
    FoundPlan,
    FoundSandbox,
    SandboxOrigin,
    StoredSnapshot,
)
from cleveragents.domain.sandboxes.resource import ResourceType, SandboxStrategy
from cleveragents.domain.sandboxes.sandbox import SandboxRef, SandboxState
from cleveragents.infrastructure.sandbox.create.origins import read_origin
from cleveragents.infrastructure.sandbox.create.worktree import branch_of
from cleveragents.infrastructure.sandbox.files.overlay_mounts import layers_of
from cleveragents.infrastructure.sandbox.gc.disk_use import removable_bytes
from cleveragents.infrastructure.sandbox.gc.orphans import refs_of
from cleveragents.infrastructure.sandbox.gc.unrecorded import directories
from cleveragents.infrastructure.sandbox.git.command import Git, git_on_mirror
from cleveragents.infrastructure.sandbox.git.repository import store_key
from cleveragents.infrastructure.sandbox.store.blobs import blob_reader

_SNAPSHOT = re.compile(
    r"refs/cleveragents/snapshots/([0-9A-HJKMNP-TV-Z]{26})/([^/]+)/([0-9a-f]{40})"
)
_STATE_HASH = re.compile(rb"^State-Hash: ([0-9a-f]{64})$", re.MULTILINE)
_OF_FILES = re.compile(rb"^Ignored: ", re.MULTILINE)
"""Snapshots of files have this line; those of databases do not."""
_TYPES = {
    SandboxStrategy.GIT_WORKTREE: ResourceType.GIT_CHECKOUT,
    SandboxStrategy.FILESYSTEM_COPY: ResourceType.FS_DIRECTORY,
    SandboxStrategy.OVERLAY: ResourceType.FS_DIRECTORY,
    SandboxStrategy.TRANSACTION_ROLLBACK: ResourceType.SQLITE,
}


class PlansOnDisk:
    """One look at all mirrors and sandboxes of a home."""

    def __init__(self, git: Git, home: Path, projects: Iterable[str]) -> None:
        """Args: `projects` are paths that a sandbox without a note may have been made of."""
        self._git = git
        self._home = home
        self._projects = list(dict.fromkeys(projects))

    @cached_property
    def _sandboxes(self) -> Mapping[str, Sequence[str]]:
        return directories(self._home / "sandboxes")

    @cached_property
    def _refs(self) -> Mapping[tuple[str, str], tuple[Path, list[str]]]:
        """Returns the mirror and the snapshots of each sandbox, by plan and resource."""
        found: dict[tuple[str, str], tuple[Path, list[str]]] = {}
        for store in sorted((self._home / "mirrors").glob("*.git")):
            names: Collection[str] = ()
            with suppress(SnapshotError):  # A damaged mirror is reported as such.
                names = refs_of(git_on_mirror(self._git, store))
            for name in names:
                if match := _SNAPSHOT.fullmatch(name):
                    found.setdefault((match[1], match[2]), (store, []))[1].append(match[3])
        return found

    def plans(self) -> list[str]:
        return sorted({*self._sandboxes, *(plan for plan, _ in self._refs)})

    def find(self, plan_id: str) -> FoundPlan:
        names = {*self._sandboxes.get(plan_id, ()), *(n for p, n in self._refs if p == plan_id)}
        found = tuple(self._sandbox(plan_id, name) for name in sorted(names))
        return FoundPlan(plan_id=plan_id, sandboxes=found)

    def _sandbox(self, plan_id: str, resource: str) -> FoundSandbox:
        place = self._home / "sandboxes" / plan_id / resource
        kept = self._refs.get((plan_id, resource))
        store, ids = kept if kept is not None else (None, list[str]())
        origin = read_origin(place)
        commits = self._commits(store, ids) if store is not None else {}
        sandbox, project = None, None
        if origin is not None and store is not None:
            sandbox = _moved(origin, place, store)
            project = origin.resource.path
        elif store is not None and commits:
            sandbox, project = self._guessed(plan_id, place, store, next(iter(commits.values())))
        return FoundSandbox(
            resource=resource,
            path=str(place),
            origin=origin,
            sandbox=sandbox,
            project=project,
            snapshots=tuple(_snapshots(store, plan_id, resource, commits)) if store else (),
            is_there=place.is_dir() and not place.is_symlink(),
            size_bytes=removable_bytes(place) + removable_bytes(layers_of(place)),
        )

    def _commits(self, store: Path, ids: Collection[str]) -> dict[str, bytes]:
        with blob_reader(git_on_mirror(self._git, store)) as reader:
            found: dict[str, bytes] = {}
            for snapshot_id in ids:
                # One that is damaged cannot be restored, and the others can.
                with suppress(SnapshotError):
                    found[snapshot_id] = reader.read(snapshot_id)
        return found

    def _guessed(
        self, plan_id: str, place: Path, store: Path, commit: bytes
    ) -> tuple[SandboxRef | None, str | None]:
        """Returns what the disk tells of a sandbox without a note, and its project."""
        refs = refs_of(git_on_mirror(self._git, store))
        base = refs.get(f"refs/cleveragents/base/{plan_id}/{place.name}")
        strategy = _strategy(plan_id, place, store, commit, has_base=base is not None)
        project = self._project_of(store, _TYPES[strategy], place)
        if project is None:
            return None, None
        is_database = strategy is SandboxStrategy.TRANSACTION_ROLLBACK
        git = strategy is SandboxStrategy.GIT_WORKTREE
        sandbox = SandboxRef(
            id="",
            plan_id=plan_id,
            resource_id="",
            resource=place.name,
            strategy=strategy,
            path=str(place / Path(project).name if is_database else place),
            branch=branch_of(plan_id) if git else None,
            store=str(store),
            base_commit=base if git else None,
            state=SandboxState.ACTIVE,
            created_at=datetime.now(UTC),
        )
        return sandbox, project

    def _project_of(self, store: Path, kind: ResourceType, place: Path) -> str | None:
        """The key of a mirror is made from the path, so a path can be checked, not computed."""
        names = [path.name for path in place.glob("*")] if kind is ResourceType.SQLITE else []
        for known in self._projects:
            for path in (known, *(f"{known}/{name}" for name in names)):
                if store_key(Path(path), kind) == store.stem:
                    return path
        return None


def _moved(origin: SandboxOrigin, place: Path, store: Path) -> SandboxRef:
    """Returns the noted record; the home may have been moved since."""
    noted = Path(origin.sandbox.path)
    has_own_name = origin.sandbox.strategy in (
        SandboxStrategy.TRANSACTION_ROLLBACK,
        SandboxStrategy.PRIVATE_VIEW,
    )
    path = place / noted.name if has_own_name else place
    return replace(
        origin.sandbox, path=str(path), store=str(store), state=SandboxState.ACTIVE, home_id=None
    )


def _strategy(
    plan_id: str, place: Path, store: Path, commit: bytes, *, has_base: bool
) -> SandboxStrategy:
    if has_base or (store / "worktrees" / f"{plan_id}-{place.name}").is_dir():
        return SandboxStrategy.GIT_WORKTREE
    if _OF_FILES.search(commit) is None:
        return SandboxStrategy.TRANSACTION_ROLLBACK
    is_overlay = layers_of(place).is_dir()
    return SandboxStrategy.OVERLAY if is_overlay else SandboxStrategy.FILESYSTEM_COPY


def _snapshots(
    store: Path, plan_id: str, resource: str, commits: Mapping[str, bytes]
) -> Iterator[StoredSnapshot]:
    """Yields the snapshots, oldest first: their commits have no date, but their refs have one."""
    times: dict[str, tuple[bool, float]] = {}
    for snapshot_id in commits:
        name = store / f"refs/cleveragents/snapshots/{plan_id}/{resource}/{snapshot_id}"
        try:
            times[snapshot_id] = True, name.stat().st_mtime
        except OSError:
            times[snapshot_id] = False, os.stat(store / "packed-refs").st_mtime
    for snapshot_id in sorted(times, key=lambda item: (*times[item], item)):
        found = _STATE_HASH.search(commits[snapshot_id])
        if found is not None:
            yield StoredSnapshot(
                id=snapshot_id,
                state_hash=found[1].decode(),
                stored_at=datetime.fromtimestamp(times[snapshot_id][1], UTC),
            )
