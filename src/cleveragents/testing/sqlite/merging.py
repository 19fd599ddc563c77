"""What a `SnapshotStore` must do when it merges databases, and when it takes single ones.

Part of `store.CONTRACT`, which explains the functions.
"""

from __future__ import annotations

from collections.abc import Callable

from cleveragents.domain.errors import BusinessRuleViolation
from cleveragents.domain.sandboxes.merge import ConflictKind, MergeReport, MergeStrategy
from cleveragents.testing.expectations import expect, expect_error
from cleveragents.testing.snapshots.merging import NAMES
from cleveragents.testing.sqlite.workspace import DatabaseWorkspace, MakeDatabaseWorkspace


def databases_are_merged_whole(make_place: MakeDatabaseWorkspace) -> None:
    """Theirs is taken if mine is as it was, and nothing is done if theirs is."""
    work = make_place()
    base, then = work.store(), work.dump()
    work.run("INSERT INTO t VALUES (3, 'theirs')")
    theirs, after = work.store(), work.dump()
    for strategy in MergeStrategy:
        work.restore(base)
        expect(_merge(work, base, base, base, strategy), _report())
        expect(work.dump(), then)
        expect(_merge(work, base, base, theirs, strategy), _report(work.path.name))
        expect(work.dump(), after)
        expect(_merge(work, theirs, base, theirs, strategy), _report())
        expect(work.dump(), after)


def written_databases_are_in_conflict(make_place: MakeDatabaseWorkspace) -> None:
    """Where both have written, mine stays, or theirs is taken where theirs count."""
    work = make_place()
    base = work.store()
    work.run("INSERT INTO t VALUES (3, 'theirs')")
    theirs, after = work.store(), work.dump()
    work.restore(base)
    work.run("INSERT INTO t VALUES (3, 'mine')")
    mine, before = work.store(), work.dump()
    for strategy in MergeStrategy:
        work.restore(mine)
        report = _merge(work, mine, base, theirs, strategy)
        if strategy.prefers_theirs:
            expect(report, _report(work.path.name))
            expect(work.dump(), after)
        else:
            (conflict,) = report.conflicts
            found = (conflict.path, conflict.kind, conflict.marked, report.merged)
            expect(found, (work.path.name, ConflictKind.DATABASE, False, ()))
            (change,) = work.acts().changes(mine, theirs)
            expect((conflict.mine, conflict.theirs), (change.before, change.after))
            expect(work.dump(), before)


def what_is_no_database_is_not_merged(make_place: MakeDatabaseWorkspace) -> None:
    """What is not a file is in no snapshot: theirs is not taken, and mine is not touched."""
    work = make_place()
    base, then = work.store(), work.dump()
    work.path.unlink()
    deleted = work.store()
    work.path.mkdir()
    other = work.store()
    (conflict,) = _merge(work, other, base, deleted, MergeStrategy.LAST_WINS).conflicts
    expect((conflict.mine, conflict.theirs), (None, None))
    expect(list(work.acts().marked([work.path.name])), [])
    expect(work.path.is_dir(), True)
    name = work.path.name
    expect_error(BusinessRuleViolation, lambda: work.acts().restore_paths(base, [name]))
    work.path.rmdir()
    work.restore(base)
    expect(_merge(work, base, base, other, MergeStrategy.LAST_WINS), _report())
    expect(work.dump(), then)


def databases_are_taken(make_place: MakeDatabaseWorkspace) -> None:
    """A database that is named becomes what a snapshot has, and only then."""
    work = make_place()
    base, then = work.store(), work.dump()
    work.run("DROP TABLE t")
    other, now = work.store(), work.dump()
    acts, name = work.acts(), work.path.name
    acts.restore_paths(base, ["other"])
    expect(work.dump(), now)
    acts.restore_paths(base, [name])
    expect(work.dump(), then)
    acts.restore_paths(other, [f"./{name}"])
    expect(work.dump(), now)


def _merge(
    work: DatabaseWorkspace, mine: str, base: str, theirs: str, strategy: MergeStrategy
) -> MergeReport:
    return work.acts().merge(mine, base, theirs, strategy, NAMES)


def _report(*merged: str) -> MergeReport:
    return MergeReport(merged=merged, conflicts=())


CONTRACT: tuple[Callable[[MakeDatabaseWorkspace], None], ...] = (
    databases_are_merged_whole,
    written_databases_are_in_conflict,
    what_is_no_database_is_not_merged,
    databases_are_taken,
)
