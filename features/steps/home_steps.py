from __future__ import annotations

import errno
import json
import sqlite3
import subprocess
from contextlib import AbstractContextManager, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import patch

from behave import given, then, when
from behave.runner import Context
from features.support.plans import Plans, plans
from features.support.sweeps import fault_sweep as faults
from features.support.trees import tree

from cleveragents.application.fault_points import FaultPoint
from cleveragents.infrastructure.database import home_records
from cleveragents.infrastructure.file_locks import Presence, RunningProcess
from cleveragents.infrastructure.system import this_process

RECORDS = (".db", ".db-wal", ".db-shm", ".process", ".lock", ".use")


def use(context: Context, home: Path) -> None:
    context.world.home = home
    context.world.environment["CLEVERAGENTS_HOME"] = str(home)


def kept(home: Path) -> dict[str, object]:
    """What a home holds, apart from what every process writes."""
    return {name: node for name, node in tree(home).items() if not name.endswith(RECORDS)}


def sandboxes(database: Path) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute("SELECT path, store, state FROM sandboxes").fetchall()


@given("the home is that of an earlier version")
def earlier(context: Context) -> None:
    (context.world.home / "identity").unlink()
    plans(context).query("UPDATE sandboxes SET home_id = NULL")
    plans(context).query("DELETE FROM installations")


@given("the home directory is used under another name")
def second_name(context: Context) -> None:
    name = context.world.directory / "second"
    name.symlink_to(context.world.home)
    use(context, name)


def _without_identity() -> AbstractContextManager[object]:
    error = OSError(errno.ENOSPC, "No space left on device")
    return patch.object(home_records, "write_identity", side_effect=error)


@given("the disk is full when the identity is stored")
def full_disk(context: Context) -> None:
    context.world.on_close.enter_context(_without_identity())


@given("a plan has run while the disk was full for the identity")
def run_without_identity(context: Context) -> None:
    with _without_identity():
        done = context.world.agents_here("plan", "run", str(plans(context).file))
    assert done.exit_code == 0, done
    assert not (context.world.home / "identity").exists()
    assert len(plans(context).query("SELECT sandbox_id FROM sandboxes")) > 1


@given("a process works on the plan")
def at_work(context: Context) -> None:
    presence = Presence(context.world.home, RunningProcess(holder=this_process(), revision="any"))
    presence.announce()
    context.add_cleanup(presence.withdraw)
    later = (datetime.now(UTC) + timedelta(hours=1)).isoformat(timespec="microseconds")
    plans(context).query(
        "UPDATE locks SET released = 0, owner_id = ?, expires_at = ?",
        presence.holder.owner_id,
        later,
    )


@given("a copy of the home directory is used")
@given("a copy of the home of the plan is used")
def copied(context: Context) -> None:
    context.original = context.world.home
    copy = context.world.directory / "copy"
    subprocess.run(["cp", "-a", context.original, copy], check=True)
    context.original_before = kept(context.original)
    if (context.original / "state.db").exists():
        context.recorded_before = sandboxes(context.original / "state.db")
    use(context, copy)
    context.copy_before = kept(copy)


@given("the installation of the copy has been fixed")
def fixed(context: Context) -> None:
    done = context.world.agents_here("doctor", "--fix", "--format", "json")
    assert done.exit_code == 0, done
    [identity] = [item for item in done.json["data"]["checks"] if item["name"] == "identity"]
    assert identity["status"] == "fixed", identity


@given("fixing the copy was killed at {point}")
def mending_killed(context: Context, point: str) -> None:
    assert faults.killed_at(plans(context), FaultPoint(point), 1, "doctor", "--fix")


@when('the plan is rolled back here to "{label}"')
def roll_back(context: Context, label: str) -> None:
    _roll_back(plans(context), label)


@when('repairing the home is killed at {point}, and the user then rolls back to "{label}"')
def killed_repair(context: Context, point: str, label: str) -> None:
    assert faults.killed_at(plans(context), FaultPoint(point), 1, "plan", "list")
    _roll_back(plans(context), label)


def _roll_back(found: Plans, label: str) -> None:
    """The id comes from the records: a listing would repair the home first."""
    [[checkpoint]] = found.query(
        "SELECT checkpoint_id FROM checkpoint_metadata WHERE metadata_json LIKE ? AND plan_id = ?",
        f'%"label": "{label}"%',
        found.plan_id,
    )
    found.world.agents(
        *("plan", "rollback", found.plan_id, checkpoint, "--yes", "--format", "json")
    )


@then("the sandbox in this home is as after step one")
def as_after_one(context: Context) -> None:
    sandbox = plans(context).sandbox
    assert (sandbox / "a.txt").exists() and not (sandbox / "b.txt").exists(), sandbox


@then("every sandbox is recorded with the identity of this home")
def recorded_with_identity(context: Context) -> None:
    identity = json.loads((context.world.home / "identity").read_text())
    found = plans(context).query("SELECT home_id FROM sandboxes")
    assert {home for (home,) in found} == {identity["id"]}, (found, identity)


@then("git in the sandbox uses the mirror of this home")
def own_mirror(context: Context) -> None:
    found = subprocess.run(
        ["git", "rev-parse", "--absolute-git-dir"],
        cwd=plans(context).sandbox,
        env=context.world.environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.startswith(f"{context.world.home}/mirrors/"), found.stdout
    [link] = (plans(context).mirror / "worktrees").glob("*/gitdir")
    assert link.read_text() == f"{plans(context).sandbox}/.git\n", link.read_text()


@then("no record names the home where it was")
def no_old_record(context: Context) -> None:
    old = f"{context.world.directory}/home/%"
    for table, column in (
        ("sandboxes", "path"),
        ("sandboxes", "store"),
        ("checkpoint_metadata", "filesystem_path"),
    ):
        query = f"SELECT count(*) FROM {table} WHERE {column} LIKE ?"
        assert plans(context).query(query, old) == [(0,)], (table, column)


@then("neither home has changed")
def neither(context: Context) -> None:
    original_untouched(context)
    assert kept(context.world.home) == context.copy_before


@then("the home that was copied has not changed")
def original_untouched(context: Context) -> None:
    assert kept(context.original) == context.original_before
    assert sandboxes(context.original / "state.db") == context.recorded_before


@given("a plan that ran with its records on a server")
def on_server(context: Context) -> None:
    plans(context).define(
        [{"step": "one", "does": "writes a.txt"}, {"step": "two", "does": "writes b.txt"}]
    )
    done = plans(context).prepare("plan", "run", str(plans(context).file), "--format", "json")
    plans(context).chosen = context.plan_id = done.json["data"]["plan_id"]
    (context.world.home / "state.db").unlink(missing_ok=True)
    listing = ("plan", "checkpoint", "list", context.plan_id, "--format", "json")
    shown = context.world.agents_here(*listing).json["data"]["checkpoints"]
    context.first = shown[0]["checkpoint_id"]
    context.sandbox = plans(context).sandbox
    context.found = kept(context.sandbox)


@when('the user runs "{command}" for that plan')
def runs_for(context: Context, command: str) -> None:
    words = command.replace("PLAN", context.plan_id).replace("FIRST", context.first).split()
    context.world.agents(*words[1:], "--format", "json")


@then("the sandbox of the plan is as it was")
def sandbox_as_it_was(context: Context) -> None:
    assert context.sandbox.is_dir()
    assert kept(context.sandbox) == context.found
