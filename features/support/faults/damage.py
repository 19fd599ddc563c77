"""What can be wrong with an installation, made for real, by the words that the features use."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, suppress
from pathlib import Path
from unittest.mock import patch

from features.support.faults import crash
from features.support.plans import Plans
from features.support.sandboxes import garbage
from features.support.sandboxes.databases import ordinary_user

from cleveragents.infrastructure import installation
from cleveragents.infrastructure.database import schema
from cleveragents.infrastructure.file_locks import exclusive
from cleveragents.infrastructure.sandbox.gc import mirrors

NOBODY_KNOWS = "01BX5ZZKBKACTAV9WEVGEMMVRZ"
"""A plan of which there is a directory, and nothing else anywhere."""
KILLS_ITS_RUN = "echo half > b.txt; kill -9 $PPID; sleep 1"
Damage = Callable[[Plans], object]


def open_to_others(plans: Plans) -> None:
    plans.world.home.chmod(0o755)


def lone_directory(plans: Plans) -> None:
    """What a killed collection leaves of a copied directory: refs gone, files still there."""
    place = plans.world.home / "sandboxes" / NOBODY_KNOWS
    garbage.write(place / "data" / "work.txt")
    garbage.write(place / ".data.state.json")
    garbage.write(place / ".gone.state.json")
    garbage.write(place / ".gone.removed" / "0" / "file")


def unrecorded_copy(plans: Plans) -> None:
    """What a process killed in the middle of making several sandboxes leaves."""
    garbage.write(plans.sandbox.with_name("data") / "work.txt")


def foreign_directory(plans: Plans) -> None:
    """Neither a name of ours nor a link that leads elsewhere is a sandbox."""
    place = plans.world.home / "sandboxes"
    garbage.write(place / "my-notes" / "mine.txt")
    (place / garbage.UNKNOWN).symlink_to(plans.world.project)


def unnamed_snapshot(plans: Plans) -> None:
    (plans.sandbox / "new.txt").write_text("new\n")
    moment = crash.MOMENTS["when a snapshot is named and not recorded"]
    assert crash.killed(plans, moment, 1, "plan", "checkpoint", "create", plans.plan_id)


def deleted_sandbox(plans: Plans) -> None:
    shutil.rmtree(plans.sandbox)


def replaced_sandbox(plans: Plans) -> None:
    shutil.rmtree(plans.sandbox)
    plans.sandbox.write_text("mine")


def deleted_sandbox_of_waiting_plan(plans: Plans) -> None:
    plans.prepare(*plans.rollback("after one", "--yes"))
    deleted_sandbox(plans)


def deleted_project(plans: Plans) -> None:
    """The user is in another directory then."""
    shutil.rmtree(plans.world.project)
    plans.world.project = plans.world.directory


def interrupted_plan(plans: Plans) -> None:
    """A second plan, whose only step kills the process that runs it."""
    plans.define([{"step": "one", "does": f"runs `{KILLS_ITS_RUN}`"}])
    assert crash.killed(plans, "never", 0, "plan", "run", str(plans.file))


def interrupted_rollback(plans: Plans) -> None:
    moment = crash.MOMENTS["when everything is restored and nothing recorded"]
    assert crash.killed(plans, moment, 1, *plans.rollback("after one", "--yes"))


def damaged_snapshot(plans: Plans) -> None:
    garbage.lose_bytes(plans, "b.txt")


def damaged_refs(plans: Plans) -> None:
    (plans.mirror / "packed-refs").write_bytes(b"nonsense\n")


def newer_schema(plans: Plans) -> None:
    plans.query("UPDATE alembic_version SET version_num = '9999_tomorrow'")


def older_schema(plans: Plans) -> None:
    """An installation of an earlier program, in which nothing was run yet."""
    shutil.rmtree(plans.world.home)
    plans.world.home.mkdir(mode=0o700)
    plans.database.touch(0o600)
    schema.create_sqlite_file(plans.database, schema.OLDER_REVISIONS[-1], busy_seconds=1)


def damaged_database(plans: Plans) -> None:
    """Overwrites what the index of events says, so that only a check of all of it notices."""
    with closing(sqlite3.connect(plans.database)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        ((page,),) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE type = 'index' AND tbl_name = 'events'"
        ).fetchmany(1)
        ((size,),) = connection.execute("PRAGMA page_size")
    with plans.database.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xa5" * size)


def broken_reference(plans: Plans) -> None:
    plans.query("UPDATE resources SET plan_id = 'NONE'")


def unreadable_plan(plans: Plans) -> None:
    plans.query("UPDATE plans SET phase = 'sleeping'")


def unreadable_group(plans: Plans) -> None:
    plans.query("UPDATE checkpoint_groups SET snapshots_json = '['")


def lost_database(plans: Plans) -> None:
    for path in plans.world.home.glob("state.db*"):
        path.unlink()


def empty_database(plans: Plans) -> None:
    lost_database(plans)
    plans.prepare("plan", "list")


def no_git(plans: Plans) -> None:
    _programs(plans, None)


def old_git(plans: Plans) -> None:
    _programs(plans, "echo git version 2.30.2")


def _programs(plans: Plans, script: str | None) -> None:
    programs = plans.world.directory / "programs"
    programs.mkdir()
    if script is not None:
        (programs / "git").write_text(f"#!/bin/sh\n{script}\n")
        (programs / "git").chmod(0o755)
    plans.world.environment["PATH"] = str(programs)


def bad_setting(plans: Plans) -> None:
    (plans.world.home / "config.toml").write_text("[core]\nfromat = 'json'\n")


def bad_setting_here(plans: Plans) -> None:
    place = plans.world.project / ".cleveragents"
    place.mkdir()
    (place / "config.toml").write_text("[core]\nformat = 'json'\n")


def bad_url(plans: Plans) -> None:
    plans.world.environment["CLEVERAGENTS_DATABASE_URL"] = "sqlite:///relative.db"


def no_server(plans: Plans) -> None:
    url = "postgresql+psycopg://user:secret@127.0.0.1:1/plans"
    plans.world.environment["CLEVERAGENTS_DATABASE_URL"] = url


def store_in_use(plans: Plans) -> None:
    held = exclusive(plans.mirror.with_suffix(".lock"))
    held.__enter__()
    plans.world.on_close.callback(held.__exit__, None, None, None)


def file_in_place_of_home(plans: Plans) -> None:
    shutil.rmtree(plans.world.home)
    plans.world.home.write_text("a file in its place")


def nowhere(plans: Plans) -> None:
    file_in_place_of_home(plans)
    plans.world.environment["CLEVERAGENTS_HOME"] = str(plans.world.home / "below")


def _installed(plans: Plans, fault: AbstractContextManager[object]) -> None:
    plans.world.on_close.enter_context(fault)


def failing_removal(plans: Plans) -> None:
    error = OSError(errno.EIO, "I/O error")
    _installed(plans, patch.object(mirrors, "remove_stray", side_effect=error))


def refused_mode(plans: Plans) -> None:
    error = PermissionError(errno.EPERM, "Operation not permitted")
    _installed(plans, patch.object(installation.os, "chmod", side_effect=error))


def useless_home(plans: Plans) -> None:
    _installed(plans, patch.object(installation.os, "access", return_value=False))


def closed_stores(plans: Plans) -> None:
    stores = plans.world.home / "mirrors"
    plans.world.on_close.enter_context(ordinary_user(plans.world.directory))
    plans.world.on_close.callback(stores.chmod, 0o700)
    stores.chmod(0o000)


DAMAGE: dict[str, Damage] = {
    "others may look into the home directory": open_to_others,
    "a file is in the place of the home directory": file_in_place_of_home,
    "the home directory would be below a file": nowhere,
    "there is a directory of an unknown plan": lone_directory,
    "there is a sandbox that a known plan does not have": unrecorded_copy,
    "there is a sandbox with snapshots of an unknown plan": (garbage.make_unknown_worktree),
    "there is a directory that is not ours": foreign_directory,
    "there is a snapshot that no record names": unnamed_snapshot,
    "a snapshot was made and not recorded": unnamed_snapshot,
    "there is half a sandbox": garbage.make_draft,
    "a killed run has left half a pack": garbage.KILLED["half of a pack that the program wrote"],
    "the sandbox of a finished plan has been deleted": deleted_sandbox,
    "the sandbox of a plan that is to go on has been deleted": deleted_sandbox_of_waiting_plan,
    "a file stands in the place of the sandbox": replaced_sandbox,
    "the project has been deleted": deleted_project,
    "a plan was interrupted": interrupted_plan,
    "a rollback was interrupted": interrupted_rollback,
    "stored bytes are gone": damaged_snapshot,
    "an agent has deleted the refs of the snapshots": garbage.lose_refs,
    "all stores are gone": garbage.lose_stores,
    "the refs of a store are damaged": damaged_refs,
    "the schema is newer": newer_schema,
    "the schema is older": older_schema,
    "a page of the database is damaged": damaged_database,
    "rows of the database refer to others that are gone": broken_reference,
    "a plan in the database cannot be read": unreadable_plan,
    "a group in the database cannot be read": unreadable_group,
    "the database was lost, and a new one made": empty_database,
    "git is missing": no_git,
    "git is too old": old_git,
    "there is an unknown setting": bad_setting,
    "the project sets what only the user may set": bad_setting_here,
    "the setting for the database cannot be used": bad_url,
    "there is no server for the database": no_server,
    "a store is in use": store_in_use,
    "the lock of a store is a directory": garbage.directory_as_lock,
    "nobody may look into the stores": closed_stores,
    "the disk fails when files are removed": failing_removal,
    "the system refuses to change modes": refused_mode,
    "the home directory is of no use to this user": useless_home,
}


def settle(database: Path) -> None:
    """Brings what a killed process has left in the log into the file, as the next one does."""
    if database.with_name("state.db-wal").exists():
        with suppress(sqlite3.Error), closing(sqlite3.connect(database)) as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def owned_bytes(place: Path) -> int:
    """What removing a directory would give back: a file with several names counts once."""
    names, total = Counter[int](), 0
    for directory, _, files in os.walk(place):
        for status in (Path(directory, name).lstat() for name in files):
            names[status.st_ino] += 1
            total += status.st_blocks * 512 * (names[status.st_ino] == status.st_nlink)
    return total
