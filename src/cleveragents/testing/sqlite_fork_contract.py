"""What forking and merging must do for SQLite databases, as functions that raise if it does not.

Each takes `make_family`, which gives a sandbox whose path is a database with the table
`t(a, b)`, and forks of it. `CONTRACT` lists them all.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from cleveragents.application.ports import Sandboxes
from cleveragents.domain.errors import BusinessRuleViolation, SnapshotMissingError
from cleveragents.domain.merge import ConflictKind, MergeReport, MergeStrategy
from cleveragents.domain.sandbox import Resource
from cleveragents.testing.merge_contract import NAMES
from cleveragents.testing.sqlite_store_contract import DatabasePlace
from cleveragents.testing.workplace import UNKNOWN, expect, expect_error


@dataclass(frozen=True)
class DatabaseFamily:
    """A sandbox with a database, and what forks it takes."""

    parent: DatabasePlace
    sandboxes: Sandboxes
    resource: Callable[[str], Resource]

    def fork(self, plan_id: str, snapshot_id: str) -> DatabasePlace:
        made = self.sandboxes.fork(
            f"SANDBOX-{plan_id}", plan_id, self.resource(plan_id), self.parent.sandbox, snapshot_id
        )
        self.sandboxes.check(made)
        return DatabasePlace(made, self.parent.open_store)


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
    """What became of the source meanwhile does not count, not even that it is gone."""
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


def databases_are_merged_whole(make_family: MakeDatabaseFamily) -> None:
    """Theirs is taken if mine is as it was, and nothing is done if theirs is."""
    family = make_family()
    parent = family.parent
    base, then = parent.store(), parent.dump()
    child = family.fork("CHILD", base)
    child.run("INSERT INTO t VALUES (3, 'theirs')")
    theirs, after = child.store(), child.dump()
    for strategy in MergeStrategy:
        expect(_merge(parent, base, base, base, strategy), _report())
        expect(parent.dump(), then)
        expect(_merge(parent, base, base, theirs, strategy), _report(parent.path.name))
        expect(parent.dump(), after)
        expect(_merge(parent, theirs, base, theirs, strategy), _report())
        parent.restore(base)


def written_databases_are_in_conflict(make_family: MakeDatabaseFamily) -> None:
    """Where both have written, mine stays, or theirs is taken where theirs count."""
    family = make_family()
    parent = family.parent
    base = parent.store()
    child = family.fork("CHILD", base)
    child.run("INSERT INTO t VALUES (3, 'theirs')")
    parent.run("INSERT INTO t VALUES (3, 'mine')")
    mine, before, theirs = parent.store(), parent.dump(), child.store()
    for strategy in MergeStrategy:
        report = _merge(parent, mine, base, theirs, strategy)
        if strategy.prefers_theirs:
            expect(report, _report(parent.path.name))
            expect(parent.dump(), child.dump())
        else:
            (conflict,) = report.conflicts
            found = (conflict.path, conflict.kind, conflict.marked, report.merged)
            expect(found, (parent.path.name, ConflictKind.DATABASE, False, ()))
            (change,) = parent.open_store().changes(parent.sandbox, mine, theirs)
            expect((conflict.mine, conflict.theirs), (change.before, change.after))
            expect(parent.dump(), before)
        parent.restore(mine)


def other_things_are_not_merged(make_family: MakeDatabaseFamily) -> None:
    """What is no file is in no snapshot: theirs is not taken, and mine is not touched."""
    family = make_family()
    parent = family.parent
    base = parent.store()
    child = family.fork("CHILD", base)
    child.path.unlink()
    child.path.mkdir()
    nothing = child.store()
    expect(_merge(parent, base, base, nothing, MergeStrategy.LAST_WINS), _report())
    child.path.rmdir()
    deleted = child.store()
    parent.path.unlink()
    parent.path.mkdir()
    mine = parent.store()
    (conflict,) = _merge(parent, mine, base, deleted, MergeStrategy.LAST_WINS).conflicts
    expect((conflict.mine, conflict.theirs), (None, None))
    expect(parent.path.is_dir(), True)
    place = parent.open_store().place
    expect_error(BusinessRuleViolation, lambda: place(parent.sandbox, base, [parent.path.name]))


def databases_are_taken(make_family: MakeDatabaseFamily) -> None:
    """A database that is named becomes what a snapshot has, its own or that of a fork."""
    family = make_family()
    parent = family.parent
    base, then = parent.store(), parent.dump()
    child = family.fork("CHILD", base)
    child.run("DROP TABLE t")
    store, name = parent.open_store(), parent.path.name
    store.place(parent.sandbox, child.store(), [name])
    expect(parent.dump(), child.dump())
    store.place(parent.sandbox, base, ["other"])
    expect(parent.dump(), child.dump())
    store.place(parent.sandbox, base, [name])
    expect(parent.dump(), then)


def _merge(
    place: DatabasePlace, mine: str, base: str, theirs: str, strategy: MergeStrategy
) -> MergeReport:
    return place.open_store().merge(place.sandbox, mine, base, theirs, strategy, NAMES)


def _report(*merged: str) -> MergeReport:
    return MergeReport(merged=merged, conflicts=())


CONTRACT: tuple[Callable[[MakeDatabaseFamily], None], ...] = (
    databases_are_forked,
    databases_are_forked_as_they_were,
    missing_databases_are_forked,
    databases_are_merged_whole,
    written_databases_are_in_conflict,
    other_things_are_not_merged,
    databases_are_taken,
)
