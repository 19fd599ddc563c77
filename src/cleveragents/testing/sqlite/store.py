"""What a `SnapshotStore` must do for SQLite databases, as functions that raise if it does not.

Each takes `make_place`, which gives a store and a sandbox of its own whose path
is a database with the table `t(a, b)`. `CONTRACT` lists them all. A database is
compared by what a reader finds in it, and by its files where those matter.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from cleveragents.domain.errors import (
    BusinessRuleViolation,
    ConflictError,
    SandboxMissingError,
    SnapshotError,
    SnapshotMissingError,
    UsageError,
)
from cleveragents.domain.sandboxes.change import ChangeOperation
from cleveragents.domain.sandboxes.sandbox import ChangeAction, FileChange
from cleveragents.testing.expectations import ContractError, expect, expect_error
from cleveragents.testing.snapshots.workspace import UNKNOWN
from cleveragents.testing.sqlite import merging
from cleveragents.testing.sqlite.workspace import DatabaseWorkspace, MakeDatabaseWorkspace
from cleveragents.testing.trees import differing, read_tree

__all__ = [
    "CONTRACT",
    "LEAVES_A_JOURNAL",
    "LEAVES_A_LOG",
    "DatabaseWorkspace",
    "MakeDatabaseWorkspace",
]

LEAVES_A_JOURNAL = """
import os, signal, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA cache_size=2")
connection.execute("BEGIN")
connection.execute("INSERT INTO t SELECT value, zeroblob(3000) FROM json_each(?)",
                   ("[" + ",".join(["1"] * 500) + "]",))
os.kill(os.getpid(), signal.SIGKILL)
"""
LEAVES_A_LOG = """
import os, signal, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA journal_mode=WAL")
connection.execute("INSERT INTO t VALUES (7, 'in the log')")
os.kill(os.getpid(), signal.SIGKILL)
"""


def rows_come_back(make_place: MakeDatabaseWorkspace) -> None:
    """Rows, tables, indexes, views, triggers and the user's version are what they were."""
    work = make_place()
    work.run(
        "CREATE INDEX i ON t(a)",
        "CREATE VIEW v AS SELECT a FROM t",
        "CREATE TRIGGER g AFTER DELETE ON t BEGIN SELECT 1; END",
        "PRAGMA user_version=42",
    )
    before, kept = work.dump(), work.store()
    work.run("DELETE FROM t", "DROP VIEW v", "CREATE TABLE u(x)", "PRAGMA user_version=43")
    work.restore(kept)
    expect(work.dump(), before)
    expect(work.run("PRAGMA user_version"), [(42,)])
    expect(work.run("PRAGMA integrity_check"), [("ok",)])


def equal_content_is_one_snapshot(make_place: MakeDatabaseWorkspace) -> None:
    """Writing what was there already, and reading, give the identical snapshot at no cost."""
    work = make_place()
    first = work.acts().snapshot()
    work.run("UPDATE t SET a = a", "PRAGMA user_version=0", "SELECT * FROM t")
    second = work.acts().snapshot()
    expect((second.snapshot_id, second.state_hash), (first.snapshot_id, first.state_hash))
    expect(second.size_bytes, 0)


def taking_one_changes_nothing(make_place: MakeDatabaseWorkspace) -> None:
    """No byte of the sandbox changes, whatever a killed program has left there."""
    for leave in (LEAVES_A_JOURNAL, LEAVES_A_LOG):
        work = make_place()
        work.die(leave)
        shared = Path(f"{work.path}-shm")
        shared.unlink(missing_ok=True)
        before = read_tree(work.path.parent)
        work.store()
        expect(differing(read_tree(work.path.parent), before), [])


def unfinished_transactions_are_left_out(make_place: MakeDatabaseWorkspace) -> None:
    """A transaction that a killed program or an open connection did not end is not captured."""
    work = make_place()
    before, clean = work.dump(), work.store()
    with closing(work.connect()) as other:
        other.execute("BEGIN")
        other.execute("INSERT INTO t VALUES (8, 'not committed')")
        expect(work.store(), clean)
        other.execute("ROLLBACK")
    work.die(LEAVES_A_JOURNAL)
    kept = work.store()
    work.run("DELETE FROM t")
    work.restore(kept)
    expect(work.dump(), before)


def write_ahead_logs_are_captured(make_place: MakeDatabaseWorkspace) -> None:
    """What is only in the log counts, of an open connection as of a killed program."""
    work = make_place()
    work.die(LEAVES_A_LOG)
    kept = work.store()
    with closing(work.connect()) as other:
        other.execute("PRAGMA wal_autocheckpoint=0")
        other.execute("INSERT INTO t VALUES (9, 'still open')")
        newer = work.store()
    before = work.dump()
    work.restore(kept)
    expect(work.run("SELECT b FROM t WHERE a IN (7, 9)"), [("in the log",)])
    work.restore(newer)
    expect(work.dump(), before)


def open_connections_see_a_restore(make_place: MakeDatabaseWorkspace) -> None:
    """To a connection that stays open a restore is one transaction of somebody else."""
    for mode in ("DELETE", "WAL"):
        work = make_place()
        work.run(f"PRAGMA journal_mode={mode}")
        kept = work.store()
        with closing(work.connect()) as other:
            other.execute("INSERT INTO t VALUES (5, 'later')")
            other.execute("CREATE TABLE later(x)")
            work.restore(kept)
            expect(other.execute("SELECT count(*) FROM t WHERE a = 5").fetchall(), [(0,)])
            expect(other.execute("SELECT name FROM sqlite_master").fetchall(), [("t",)])
            other.execute("INSERT INTO t VALUES (6, 'goes on')")
        expect(work.run("SELECT b FROM t WHERE a = 6"), [("goes on",)])


def locked_databases_are_refused(make_place: MakeDatabaseWorkspace) -> None:
    """While another process holds a lock nothing is captured, restored or changed."""
    work = make_place()
    kept = work.store()
    work.run("INSERT INTO t VALUES (5, 'later')")
    before = work.dump()
    with closing(work.connect()) as other:
        other.execute("BEGIN EXCLUSIVE")
        expect_error(ConflictError, work.store)
        expect_error(ConflictError, lambda: work.restore(kept))
    with closing(work.connect()) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM t").fetchall()
        expect_error(ConflictError, lambda: work.restore(kept))
    expect(work.dump(), before)
    work.restore(kept)


def journal_modes_come_back(make_place: MakeDatabaseWorkspace) -> None:
    """A database in write-ahead mode is in it again, and one that was not is not."""
    work = make_place()
    plain = work.store()
    work.run("PRAGMA journal_mode=WAL", "INSERT INTO t VALUES (5, 'later')")
    logged = work.store()
    work.restore(plain)
    expect(work.run("PRAGMA journal_mode"), [("delete",)])
    work.restore(logged)
    expect(work.run("PRAGMA journal_mode"), [("wal",)])
    work.run("PRAGMA journal_mode=DELETE")
    work.restore(logged)
    expect(work.run("PRAGMA journal_mode"), [("wal",)])


def other_journals_need_to_be_alone(make_place: MakeDatabaseWorkspace) -> None:
    """Leaving write-ahead mode while somebody reads is refused, and the content stays."""
    work = make_place()
    plain = work.store()
    work.run("PRAGMA journal_mode=WAL", "INSERT INTO t VALUES (5, 'later')")
    before = work.dump()
    with closing(work.connect()) as reader:
        reader.execute("SELECT * FROM t").fetchall()
        expect_error(ConflictError, lambda: work.restore(plain))
    expect(work.dump(), before)
    work.restore(plain)
    expect(work.run("PRAGMA journal_mode"), [("delete",)])


def page_sizes_come_back(make_place: MakeDatabaseWorkspace) -> None:
    """A database whose pages got another size has the old one again, also in write-ahead mode."""
    work = make_place()
    work.run("PRAGMA journal_mode=WAL")
    kept, before = work.store(), work.dump()
    work.run("PRAGMA journal_mode=DELETE", "PRAGMA page_size=16384")
    with closing(work.connect()) as connection:
        connection.execute("PRAGMA page_size=16384")
        connection.execute("VACUUM")
        connection.execute("PRAGMA journal_mode=WAL")
    expect(work.run("PRAGMA page_size"), [(16384,)])
    work.restore(kept)
    expect(work.run("PRAGMA page_size"), [(4096,)])
    expect((work.run("PRAGMA journal_mode"), work.dump()), ([("wal",)], before))


def permission_bits_come_back(make_place: MakeDatabaseWorkspace) -> None:
    """The bits of the file are what they were."""
    work = make_place()
    work.path.chmod(0o640)
    kept = work.store()
    work.path.chmod(0o600)
    work.restore(kept)
    expect(work.path.stat().st_mode & 0o7777, 0o640)


def any_file_comes_back(make_place: MakeDatabaseWorkspace) -> None:
    """A database may vanish, become empty or be damaged: each state is kept and comes back."""
    work = make_place()
    states: list[tuple[str, bytes | None]] = []
    before, kept = work.dump(), work.store()
    for content in (b"", b"no database at all" * 9000, None):
        if content is None:
            work.path.unlink()
        else:
            work.path.write_bytes(content)
        states.append((work.store(), content))
    for snapshot, content in (*states, *reversed(states)):
        work.restore(snapshot)
        expect(work.path.read_bytes() if work.path.exists() else None, content)
        work.restore(kept)
        expect(work.dump(), before)


def logs_of_others_are_not_applied(make_place: MakeDatabaseWorkspace) -> None:
    """A log that belongs to a database that has gone does not get into the one that comes back."""
    work = make_place()
    before, kept = work.dump(), work.store()
    work.die(LEAVES_A_LOG)
    work.path.write_bytes(b"damaged" * 3000)
    report = work.restore(kept)
    expect(work.dump(), before)
    expect(report.changes, (FileChange(file=work.path.name, action=ChangeAction.RESTORED),))


def what_is_no_file_is_left_alone(make_place: MakeDatabaseWorkspace) -> None:
    """A directory in the place of the database is named, not captured, and not removed."""
    work = make_place()
    kept = work.store()
    work.path.unlink()
    work.path.mkdir()
    made = work.acts().snapshot()
    expect([item.path for item in made.not_captured], [work.path.name])
    expect_error(BusinessRuleViolation, lambda: work.restore(kept))
    work.path.rmdir()
    work.restore(kept)
    expect_error(BusinessRuleViolation, lambda: work.restore(made.snapshot_id))


def a_rollback_can_be_undone(make_place: MakeDatabaseWorkspace) -> None:
    """The state before a rollback comes back like any other."""
    work = make_place()
    kept = work.store()
    work.run("INSERT INTO t VALUES (5, 'later')")
    later, saved = work.dump(), work.store()
    work.restore(kept)
    work.restore(saved)
    expect(work.dump(), later)


def previews_come_true(make_place: MakeDatabaseWorkspace) -> None:
    """A preview changes nothing and lists what the restore then does."""
    work = make_place()
    kept = work.store()
    expect(work.acts().preview(kept).changes, ())
    work.run("INSERT INTO t VALUES (5, 'later')")
    before = read_tree(work.path.parent)
    preview = work.acts().preview(kept)
    expect(work.acts().preview(kept, [work.path.name]), preview)
    expect(work.acts().preview(kept, ["another"]).changes, ())
    changes = work.acts().changes_since(kept)
    expect(differing(read_tree(work.path.parent), before), [])
    expect(list(work.acts().ids()), [kept])
    expect(changes, work.acts().changes(kept, work.store()))
    report = work.restore(kept)
    expect((report.changes, report.left_alone), (preview.changes, preview.left_alone))
    expect([change.file for change in preview.changes], [work.path.name])


def files_beside_it_are_left_alone(make_place: MakeDatabaseWorkspace) -> None:
    """Other files in the sandbox are named as not captured, and stay as they are."""
    work = make_place()
    kept = work.acts().snapshot()
    expect(kept.not_captured, ())
    beside = work.path.with_name("notes.txt")
    beside.write_text("mine")
    made = work.acts().snapshot()
    expect(
        [(item.path, item.reason) for item in made.not_captured],
        [("notes.txt", "not part of the database")],
    )
    expect(made.snapshot_id, kept.snapshot_id)
    work.run("DELETE FROM t")
    report = work.restore(kept.snapshot_id)
    expect([item.path for item in report.left_alone], ["notes.txt"])
    expect(beside.read_text(), "mine")


def cost_follows_the_change(make_place: MakeDatabaseWorkspace) -> None:
    """One changed row of a large database costs little, and the large one comes back whole."""
    work = make_place()
    work.run(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20) "
        "INSERT INTO t SELECT i, randomblob(1000000) FROM n"
    )
    first = work.acts().snapshot()
    before = work.dump()
    work.run("UPDATE t SET b = 'small' WHERE a = 1")
    second = work.acts().snapshot()
    if second.size_bytes * 20 > first.size_bytes:
        raise ContractError(f"{second.size_bytes} bytes for one row")
    work.restore(first.snapshot_id)
    expect(work.dump(), before)


def snapshots_stand_alone(make_place: MakeDatabaseWorkspace) -> None:
    """Dropping one leaves the others, and dropping it again is fine."""
    work = make_place()
    first = work.store()
    work.run("INSERT INTO t VALUES (5, 'later')")
    second, later = work.store(), work.dump()
    for _ in range(2):
        work.acts().delete([first])
    expect(work.acts().ids(), [second])
    work.run("DELETE FROM t")
    work.restore(second)
    expect(work.dump(), later)
    work.acts().verify(second)


def unknown_snapshots_are_missing(make_place: MakeDatabaseWorkspace) -> None:
    """What was never stored cannot be verified, previewed, restored or compared."""
    work = make_place()
    kept, acts = work.store(), work.acts()
    expect_error(SnapshotMissingError, lambda: acts.verify(UNKNOWN))
    expect_error(SnapshotMissingError, lambda: acts.preview(UNKNOWN))
    expect_error(SnapshotMissingError, lambda: acts.restore(UNKNOWN))
    expect_error(SnapshotMissingError, lambda: acts.diff(kept, UNKNOWN))


def missing_sandboxes_are_refused(make_place: MakeDatabaseWorkspace) -> None:
    """A sandbox whose directory is gone is neither stored nor made again."""
    work = make_place()
    kept = work.store()
    work.path.parent.rename(work.path.parent.with_name("elsewhere"))
    expect_error(SandboxMissingError, work.store)
    expect_error(SandboxMissingError, lambda: work.restore(kept))
    expect(work.path.parent.exists(), False)


def repeated_rollbacks_find_nothing_to_do(make_place: MakeDatabaseWorkspace) -> None:
    """A rollback to where one is changes nothing and says so."""
    work = make_place()
    kept = work.store()
    work.run("DELETE FROM t")
    work.restore(kept)
    before = read_tree(work.path.parent)
    report = work.restore(kept)
    expect(report.changes, ())
    expect(differing(read_tree(work.path.parent), before), [])


def differences_are_told(make_place: MakeDatabaseWorkspace) -> None:
    """Two snapshots are compared by table, and by their rows."""
    work = make_place()
    work.run("CREATE TABLE same(x)", "CREATE TABLE swapped(x)", "INSERT INTO swapped VALUES (1)")
    old = work.store()
    work.run(
        "INSERT INTO t VALUES (5, 'later')",
        "UPDATE swapped SET x = 2",
        'CREATE TABLE "odd "" name"(x)',
        'CREATE TABLE "@@ line\n@@ name"(x)',
    )
    new = work.store()
    found = work.acts().diff(old, new, 'in "b/')
    path = f'in "b/{work.path.name}'
    expect([(item.path, item.status) for item in found.files], [(path, "modified")])
    expect([item.path for item in found.patches], [path])
    quoted = f'in \\"b/{work.path.name}"'
    expect(found.patch.split("\n")[0], f'diff --git "a/{quoted} "b/{quoted}')
    expect("\n@@ name" in found.patch, False)
    for line in ("@@ t @@", "-2 rows", "+3 rows", "+0 rows", " 1 row with different content"):
        if line not in found.patch.splitlines():
            raise ContractError(f"{line!r} is not in {found.patch!r}")
    if "@@ same @@" in found.patch:
        raise ContractError("a table that is the same is listed")
    expect(work.acts().diff(old, old).files, ())


def coming_and_going_are_told(make_place: MakeDatabaseWorkspace) -> None:
    """A database that appears, vanishes or gets other permission bits is compared too."""
    work = make_place()
    work.path.chmod(0o600)
    there = work.store()
    work.path.chmod(0o640)
    changed = work.store()
    work.path.unlink()
    away = work.store()
    for old, new, status in (
        (there, changed, "mode changed"),
        (there, away, "deleted"),
        (away, there, "added"),
    ):
        found = work.acts().diff(old, new)
        expect([item.status for item in found.files], [status])


def a_database_changes_as_one_path(make_place: MakeDatabaseWorkspace) -> None:
    """Whatever changed in it, the database is one entry with its state hashes and modes."""
    work = make_place()
    acts = work.acts()
    work.path.chmod(0o600)
    first = acts.snapshot()
    work.run("INSERT INTO t VALUES (5, 'later')")
    rows = acts.snapshot()
    work.path.chmod(0o640)
    mode = acts.snapshot()
    work.path.unlink()
    away = acts.snapshot()
    work.path.mkdir()
    other = acts.snapshot()
    for old, new, wanted in (
        (first, first, None),
        (first, rows, (ChangeOperation.MODIFIED, 0o100600, 0o100600)),
        (rows, mode, (ChangeOperation.MODE_CHANGED, 0o100600, 0o100640)),
        (first, mode, (ChangeOperation.MODIFIED, 0o100600, 0o100640)),
        (mode, away, (ChangeOperation.DELETED, 0o100640, None)),
        (away, first, (ChangeOperation.CREATED, None, 0o100600)),
        (mode, other, (ChangeOperation.DELETED, 0o100640, None)),
        (away, other, None),
    ):
        found = acts.changes(old.snapshot_id, new.snapshot_id)
        told = [(item.operation, item.before_mode, item.after_mode) for item in found]
        expect(told, [wanted] if wanted else [])
        hashes = [(item.path, item.before_hash, item.after_hash) for item in found]
        known = [None if item in (away, other) else item.state_hash for item in (old, new)]
        expect(hashes, [(work.path.name, *known)] if wanted else [])


def databases_change_alike_in_every_process(make_place: MakeDatabaseWorkspace) -> None:
    """The process that made the snapshots and a new one tell the same changes."""
    work = make_place()
    with work.watched() as acts:
        made: list[str] = []
        for _ in range(25):
            work.run("INSERT INTO t VALUES (5, 'later')")
            made.append(acts.snapshot().snapshot_id)
        for old, new in ((made[0], made[-1]), (made[-2], made[-1])):
            found = list(acts.changes(old, new))
            expect(found, list(work.acts().changes(old, new)))
    expect_error(SnapshotMissingError, lambda: work.acts().changes(UNKNOWN, made[0]))


def a_database_is_combined_as_one_path(make_place: MakeDatabaseWorkspace) -> None:
    """The result is the other's database if its name or everything is named, else the base's."""
    work = make_place()
    acts = work.acts()
    then, rows_then = acts.snapshot(), work.dump()
    work.run("INSERT INTO t VALUES (5, 'later')")
    now, rows_now = acts.snapshot(), work.dump()
    work.run("DELETE FROM t")
    for paths, wanted, rows in (
        ([work.path.name], then, rows_then),
        (["."], then, rows_then),
        ([], now, rows_now),
        (["elsewhere", f"{work.path.name}-wal"], now, rows_now),
    ):
        made = acts.combine(now.snapshot_id, then.snapshot_id, paths)
        expect((made.snapshot_id, made.state_hash), (wanted.snapshot_id, wanted.state_hash))
        expect((made.size_bytes, made.not_captured), (0, ()))
        work.restore(made.snapshot_id)
        expect(work.dump(), rows)
    found = acts.ids()
    expect(set(found), {then.snapshot_id, now.snapshot_id})


def databases_are_combined_without_a_look(make_place: MakeDatabaseWorkspace) -> None:
    """A lock on the database or its absence does not matter; what is dropped can be kept again."""
    work = make_place()
    then = work.store()
    work.run("INSERT INTO t VALUES (5, 'later')")
    now, acts = work.store(), work.acts()
    with closing(work.connect()) as other:
        other.execute("BEGIN EXCLUSIVE")
        made = acts.combine(now, then, [work.path.name])
        expect(made.snapshot_id, then)
    acts.delete([then, now])
    elsewhere = work.path.parent.with_name("elsewhere")
    work.path.parent.rename(elsewhere)
    acts.combine(then, now, [work.path.name])
    expect(list(acts.ids()), [now])
    acts.verify(now)


def databases_that_cannot_be_combined_are_refused(make_place: MakeDatabaseWorkspace) -> None:
    """What was no file, is unknown or lies outside is refused; one that is not named stays."""
    work = make_place()
    kept = work.store()
    work.path.unlink()
    work.path.mkdir()
    odd, acts, name = work.store(), work.acts(), work.path.name
    for base, other in ((kept, odd), (odd, kept)):
        expect_error(
            SnapshotError,
            lambda base=base, other=other: acts.combine(base, other, [name]),
        )
    made = acts.combine(odd, kept, [])
    expect((made.snapshot_id, [item.path for item in made.not_captured]), (odd, [name]))
    for path in ("/", f"../{name}"):
        expect_error(UsageError, lambda path=path: acts.combine(kept, odd, [path]))
    for base, other in ((kept, UNKNOWN), (UNKNOWN, kept)):
        expect_error(
            SnapshotMissingError,
            lambda base=base, other=other: acts.combine(base, other, []),
        )


CONTRACT: tuple[Callable[[MakeDatabaseWorkspace], None], ...] = (
    rows_come_back,
    equal_content_is_one_snapshot,
    taking_one_changes_nothing,
    unfinished_transactions_are_left_out,
    write_ahead_logs_are_captured,
    open_connections_see_a_restore,
    locked_databases_are_refused,
    journal_modes_come_back,
    other_journals_need_to_be_alone,
    page_sizes_come_back,
    permission_bits_come_back,
    any_file_comes_back,
    logs_of_others_are_not_applied,
    what_is_no_file_is_left_alone,
    a_rollback_can_be_undone,
    previews_come_true,
    files_beside_it_are_left_alone,
    cost_follows_the_change,
    snapshots_stand_alone,
    unknown_snapshots_are_missing,
    missing_sandboxes_are_refused,
    repeated_rollbacks_find_nothing_to_do,
    differences_are_told,
    coming_and_going_are_told,
    a_database_changes_as_one_path,
    databases_change_alike_in_every_process,
    a_database_is_combined_as_one_path,
    databases_are_combined_without_a_look,
    databases_that_cannot_be_combined_are_refused,
    *merging.CONTRACT,
)
