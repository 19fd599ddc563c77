"""What forking must do for SQLite databases, as functions that raise if it does not.

Each takes `make_family`, which gives a sandbox whose path is a database with the table
`t(a, b)`, and forks of it. `CONTRACT` lists them all.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from cleveragents.application.ports.sandboxes import Sandboxes
from cleveragents.domain.errors import SnapshotMissingError
from cleveragents.domain.sandboxes.merge import MergeReport, MergeStrategy
from cleveragents.domain.sandboxes.sandbox import Resource
from cleveragents.testing.expectations import expect, expect_error
from cleveragents.testing.snapshots.merging import NAMES
from cleveragents.testing.snapshots.workspace import UNKNOWN
from cleveragents.testing.sqlite.workspace import DatabaseWorkspace


@dataclass(frozen=True)
class DatabaseFamily:
    """A sandbox with a database, and what forks it takes."""

    parent: DatabaseWorkspace
    sandboxes: Sandboxes
    resource: Callable[[str], Resource]

    def fork(self, plan_id: str, snapshot_id: str) -> DatabaseWorkspace:
        made = self.sandboxes.fork(
            f"SANDBOX-{plan_id}", plan_id, self.resource(plan_id), self.parent.sandbox, snapshot_id
        )
        self.sandboxes.check(made)
        return DatabaseWorkspace(made, self.parent.open_store)


MakeDatabaseFamily = Callable[[], DatabaseFamily]


def databases_are_forked(make_family: MakeDatabaseFamily) -> None:
    """A fork has the rows, the permission bits and the journal mode, and is apart."""
    family = make_family()
    parent = family.parent
    parent.run("PRAGMA journal_mode=WAL", "INSERT INTO t VALUES (3, 'more')")
    parent.path.chmod(0o640)
    kept, before = parent.store(), parent.dump()
    child = family.fork("CHILD", kept)
    expect(child.path.name, parent.path.name)
    expect(child.dump(), before)
    expect(child.run("PRAGMA journal_mode"), [("wal",)])
    expect(child.path.stat().st_mode, parent.path.stat().st_mode)
    expect(child.store(), kept)
    child.run("DELETE FROM t")
    expect(parent.dump(), before)


def databases_are_forked_as_they_were(make_family: MakeDatabaseFamily) -> None:
    """Later changes of the source do not count, not even its removal."""
    family = make_family()
    parent = family.parent
    kept, before = parent.store(), parent.dump()
    parent.run("DELETE FROM t")
    expect(family.fork("CHILD1", kept).dump(), before)
    family.sandboxes.remove(parent.sandbox)
    expect(family.fork("CHILD2", kept).dump(), before)
    again = family.fork("CHILD2", kept)
    expect(again.store(), kept)
    expect_error(SnapshotMissingError, lambda: family.fork("CHILD3", UNKNOWN))


def missing_databases_are_forked(make_family: MakeDatabaseFamily) -> None:
    """Where there was none, a fork has none."""
    family = make_family()
    family.parent.path.unlink()
    child = family.fork("CHILD", family.parent.store())
    expect(os.path.lexists(child.path), False)
    expect(child.path.parent.is_dir(), True)


def forked_databases_are_merged(make_family: MakeDatabaseFamily) -> None:
    """What a fork has come to is taken into its source, and single databases of it are."""
    family = make_family()
    parent = family.parent
    base, then = parent.store(), parent.dump()
    child = family.fork("CHILD", base)
    child.run("INSERT INTO t VALUES (3, 'theirs')")
    theirs, acts = child.store(), parent.acts()
    report = acts.merge(base, base, theirs, MergeStrategy.GIT_THREE_WAY, NAMES)
    expect(report, MergeReport(merged=(parent.path.name,), conflicts=()))
    expect(parent.dump(), child.dump())
    parent.restore(base)
    expect(parent.dump(), then)
    acts.restore_paths(theirs, [parent.path.name])
    expect(parent.dump(), child.dump())


CONTRACT: tuple[Callable[[MakeDatabaseFamily], None], ...] = (
    databases_are_forked,
    databases_are_forked_as_they_were,
    missing_databases_are_forked,
    forked_databases_are_merged,
)
