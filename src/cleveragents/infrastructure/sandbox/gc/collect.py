"""Removing from a mirror what nothing needs.

Nobody else may use the store meanwhile, and the records are asked only then,
so what they do not name, nobody is about to name. Order: temporary files,
refs, sandboxes, then objects: first the new pack with all that is needed,
durable, and only then the old ones go. A kill leaves more than is needed,
never less.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from cleveragents.application.ports.maintenance import RecordLookup
from cleveragents.domain.errors import CleverAgentsError, GitCommandError
from cleveragents.domain.health.maintenance import CollectedStore, StoreFindings
from cleveragents.infrastructure.sandbox.create.overlays import remove_sandbox
from cleveragents.infrastructure.sandbox.gc.leftovers import leftovers, notes_left_over
from cleveragents.infrastructure.sandbox.gc.objects import (
    ObjectOutcome,
    carry_out,
    foresee,
    plan_objects,
)
from cleveragents.infrastructure.sandbox.gc.orphans import (
    Orphans,
    find_orphans,
    plans_of,
    refs_of,
)
from cleveragents.infrastructure.sandbox.git.command import PRIVATE, Git, git_on_mirror
from cleveragents.infrastructure.sandbox.store.directories import (
    remove_entirely,
    remove_notes,
    remove_tree,
    trash_path,
)
from cleveragents.infrastructure.sandbox.store.packs import (
    not_a_directory,
    tree_bytes,
)
from cleveragents.infrastructure.sandbox.store.refs import alone
from cleveragents.infrastructure.sandbox.store.repacking import room_of

_PATIENCE = 24 * 3600.0
_NO_ORPHANS = Orphans({}, 0, (), (), ())


def collect(
    git: Git, store: Path, sandboxes: Path, naming: RecordLookup, *, dry_run: bool
) -> CollectedStore:
    """Takes out what no record names and nothing leads to, or says what would be taken out.

    A store in use is left alone. Whatever fails, the store is whole afterwards and
    the result says what the problem was.
    """
    try:
        with _by_itself(store):
            return _collect(replace(git, patience=_PATIENCE), store, sandboxes, naming, dry_run)
    except _LeftAloneError as reason:
        return _untouched(store, reason)


def look(git: Git, store: Path, sandboxes: Path, naming: RecordLookup) -> StoreFindings:
    """Says what no record names and what killed processes left; changes nothing."""
    try:
        with _by_itself(store):
            orphans, temporary = _search(git, store, sandboxes, naming)
            trash = [path for path in map(trash_path, orphans.directories) if path.exists()]
    except _LeftAloneError as reason:
        return _findings(store, _NO_ORPHANS, (), reason)
    return _findings(store, orphans, (*temporary, *trash), None)


def _findings(
    store: Path, orphans: Orphans, temporary: Iterable[Path], reason: _LeftAloneError | None
) -> StoreFindings:
    return StoreFindings(
        project_key=store.stem,
        path=str(store),
        refs=tuple(orphans.refs),
        sandboxes=tuple(map(str, orphans.sandboxes)),
        temporary_files=tuple(map(str, temporary)),
        unknown_plans=orphans.unknown_plans,
        busy=reason is not None and reason.busy,
        problem=None if reason is None else str(reason),
    )


class _LeftAloneError(Exception):
    """Why nothing can be done to a store."""

    def __init__(self, problem: str, *, busy: bool = False) -> None:
        super().__init__(problem)
        self.busy = busy


@contextmanager
def _by_itself(store: Path) -> Generator[None]:
    """Keeps others out of a store while the block runs; whatever prevents it is one error."""
    try:
        with alone(store) as is_free:
            if not is_free:
                raise _LeftAloneError("it is in use", busy=True)
            yield
    except (GitCommandError, OSError) as error:
        raise _LeftAloneError(_sentence(error)) from error


def _search(
    git: Git, store: Path, sandboxes: Path, naming: RecordLookup
) -> tuple[Orphans, list[Path]]:
    """Returns what no record names, and what killed processes left."""
    place = not_a_directory(store) if store.is_dir() else None
    if place is not None:
        raise _LeftAloneError(f"its `{place}` is not a directory")
    plans = plans_of(git, store)
    named = naming(plans)
    if named.holder is not None:
        raise _LeftAloneError(f"one of its plans is held by {named.holder}", busy=True)
    if named.lost:
        raise _LeftAloneError(
            "some checkpoints have lost the refs that keep their snapshots; "
            "`agents doctor` lists them"
        )
    orphans = find_orphans(git, store, sandboxes, named)
    return orphans, [*leftovers(store), *notes_left_over(sandboxes, plans & named.plans)]


def _collect(
    git: Git, store: Path, sandboxes: Path, naming: RecordLookup, dry_run: bool
) -> CollectedStore:
    orphans, temporary = _search(git, store, sandboxes, naming)
    before = occupied(store, (*orphans.directories, *temporary))
    if dry_run:
        freed, outcome = _foresee(git, store, orphans, temporary)
        after = before - freed
    else:
        _remove(git, store, orphans, temporary)
        outcome = _remove_objects(git, store, orphans)
        after = occupied(store, (*orphans.directories, *temporary))
    return CollectedStore(
        project_key=store.stem,
        path=str(store),
        bytes_before=before,
        bytes_after=after,
        snapshots_removed=orphans.snapshots,
        objects_removed=outcome.removed,
        temporary_files_removed=len(temporary),
        sandboxes_removed=tuple(map(str, orphans.sandboxes)),
        unknown_plans=orphans.unknown_plans,
        busy=False,
        problem=outcome.problem,
    )


def occupied(store: Path, others: Sequence[Path] = ()) -> int:
    """Returns what a store takes on disk, with what is being prepared for it, and others."""
    draft = store.with_name(f"{store.name}.new")
    places = (store, store.with_suffix(PRIVATE), room_of(store), draft)
    outside = [
        path for path in others if path not in places and set(places).isdisjoint(path.parents)
    ]
    return sum(map(tree_bytes, (*places, *outside, *map(trash_path, outside))))


def _untouched(store: Path, reason: _LeftAloneError) -> CollectedStore:
    size = occupied(store)
    return CollectedStore(
        project_key=store.stem,
        path=str(store),
        bytes_before=size,
        bytes_after=size,
        snapshots_removed=0,
        objects_removed=0,
        temporary_files_removed=0,
        sandboxes_removed=(),
        unknown_plans=(),
        busy=reason.busy,
        problem=str(reason),
    )


def _foresee(
    git: Git, store: Path, orphans: Orphans, temporary: Sequence[Path]
) -> tuple[int, ObjectOutcome]:
    """Returns the bytes that would be given back, and how many objects would go."""
    places = (*temporary, *orphans.directories, *map(trash_path, orphans.directories))
    freed = sum(map(tree_bytes, places)) + sum(tree_bytes(store / name) for name in orphans.refs)
    if not store.is_dir():
        return freed, ObjectOutcome(0)
    try:
        plan = plan_objects(git, store, _kept(git, store, orphans), temporary)
        freed += foresee(git, store, plan)
    except GitCommandError as error:
        return freed, _failed(error)
    return freed, ObjectOutcome(plan.gone_at_once + plan.gone_by_rewriting)


def _remove(git: Git, store: Path, orphans: Orphans, temporary: Iterable[Path]) -> None:
    for path in temporary:
        remove_entirely(path)
    commands = [f"delete {name} {object_id}\n" for name, object_id in orphans.refs.items()]
    if commands:
        git_on_mirror(git, store).run("update-ref", "--stdin", stdin="".join(commands).encode())
    for directory in orphans.directories:
        # A sandbox may be mounted: through the mount one would reach what it was made of.
        (remove_sandbox if directory in orphans.sandboxes else remove_tree)(directory)
    for sandbox in orphans.sandboxes:
        remove_notes(sandbox)


def _remove_objects(git: Git, store: Path, orphans: Orphans) -> ObjectOutcome:
    if not store.is_dir():
        return ObjectOutcome(0)
    try:
        plan = plan_objects(git, store, _kept(git, store, orphans), ())
        return carry_out(git, store, plan)
    except (GitCommandError, OSError) as error:
        return _failed(error)


def _kept(git: Git, store: Path, orphans: Orphans) -> list[str]:
    refs = refs_of(git_on_mirror(git, store))
    return [object_id for name, object_id in refs.items() if name not in orphans.refs]


def _failed(error: Exception) -> ObjectOutcome:
    return ObjectOutcome(0, f"unreachable objects could not be removed: {_sentence(error)}")


def _sentence(error: Exception) -> str:
    return error.message if isinstance(error, CleverAgentsError) else str(error)
