from __future__ import annotations

import os
import platform
import sqlite3
import subprocess
from typing import Any
from unittest.mock import patch

import yaml
from behave import given, then, when
from behave.runner import Context
from features.support import postgres
from features.support.faults import crash, damage, plan_faults
from features.support.plans import data, plans
from features.support.sandboxes import garbage
from features.support.trees import difference, tree

import cleveragents
from cleveragents.infrastructure import installation
from cleveragents.infrastructure.database import schema
from cleveragents.infrastructure.locks import DatabaseLocks

WITHOUT_LOG = frozenset({"state.db-wal", "state.db-shm"})
FILLED = ("PLAN", "SANDBOX", "«")


def look(context: Context) -> dict[str, Any]:
    """All there is on disk; the database is compared byte for byte."""
    world = context.world
    found = {"home": tree(world.home, without=WITHOUT_LOG), "project": tree(world.project)}
    return found if world.project != world.directory else {"home": found["home"]}


def examine(context: Context, *options: str) -> None:
    damage.settle(context.world.home / "state.db")
    context.before = look(context)
    context.world.agents("doctor", *options, "--format", "json")


def check(context: Context, name: str) -> dict[str, Any]:
    found = {check["name"]: check for check in data(context)["checks"]}
    assert name in found, (name, data(context)["checks"])
    return found[name]


def filled(context: Context, text: str) -> str:
    text = text.replace("SANDBOXES", str(context.world.home / "sandboxes"))
    return plans(context).filled(text) if any(word in text for word in FILLED) else text


@given("the installation has this damage: {kind}")
def ail(context: Context, kind: str) -> None:
    damage.DAMAGE[kind](plans(context))


@given("the installation has this damage")
def ail_much(context: Context) -> None:
    for row in context.table:
        damage.DAMAGE[row["damage"]](plans(context))


@given("the settings name a new database of a PostgreSQL server")
def on_server(context: Context) -> None:
    url = postgres.new_database().replace("postgresql:", "postgresql+psycopg:")
    context.world.environment["CLEVERAGENTS_DATABASE_URL"] = url


@given("there are {count:d} MB left on the disk")
def nearly_full(context: Context, count: int) -> None:
    patched = patch.object(installation, "free_bytes", lambda _: count << 20)
    patched.start()
    context.add_cleanup(patched.stop)


@given("somebody takes the plan up right after it was asked who holds it")
def quicker(context: Context) -> None:
    plan_faults.hold(plans(context), os.getpid(), plan_faults.HOST)
    plan_faults.install(context, patch.object(DatabaseLocks, "holder", return_value=None))


@given("the plan is held by a process that ends well when it is asked for")
def ends_meanwhile(context: Context) -> None:
    def ended(*_: object) -> None:
        plans(context).query("UPDATE locks SET released = 1")

    plan_faults.hold(plans(context), os.getpid(), plan_faults.HOST)
    plan_faults.install(context, patch.object(DatabaseLocks, "holder", ended))


@given("the home directory has been moved")
def moved(context: Context) -> None:
    context.world.home = context.world.home.rename(context.world.directory / "elsewhere")
    another_home(context)


@given("another home directory is used from now on")
def another_home(context: Context) -> None:
    if "elsewhere" not in str(context.world.home):
        context.world.home = context.world.directory / "elsewhere"
    context.world.environment["CLEVERAGENTS_HOME"] = str(context.world.home)


@when("the user has the installation checked")
def checked(context: Context) -> None:
    examine(context)


@when("the user has it checked where nothing was ever run")
def checked_nowhere(context: Context) -> None:
    context.world.agents("doctor", "--format", "json")


@when("the user has the installation checked quickly")
def checked_quickly(context: Context) -> None:
    examine(context, "--quick")


@when("the user has the installation fixed")
def fixed(context: Context) -> None:
    examine(context, "--fix")


@when("the user reads about the installation as {form}")
def read_about(context: Context, form: str) -> None:
    context.world.agents("doctor", "--format", form)


@when("the plan is run and the installation checked")
def run_and_checked(context: Context) -> None:
    """Somebody else has the database open, so that its log stays where it is."""
    context.several.run()
    other = sqlite3.connect(context.world.home / "state.db")
    context.add_cleanup(other.close)
    other.execute("SELECT * FROM plans").fetchall()
    context.world.agents("doctor", "--format", "json")


@when("a fix is killed at one action after another and then done")
def sweep(context: Context) -> None:
    known, context.found = plans(context), []
    wanted = known.seen_at("after one")

    def check_whole() -> None:
        known.prepare("doctor", "--fix")
        again(context)
        known.check_whole([])
        context.found.append(known.found() == wanted)

    whole = context.config.userdata.get("sweep") == "whole"
    context.kills = crash.sweep(known, ["doctor", "--fix"], check_whole, whole=whole)


@then("every check is ok")
def all_ok(context: Context) -> None:
    wrong = [check for check in data(context)["checks"] if check["status"] != "ok"]
    assert not wrong, wrong
    summary = data(context)["summary"]
    expected = {"ok": len(data(context)["checks"]), "warnings": 0, "problems": 0, "fixed": 0}
    assert summary == expected, summary


@then('the check "{name}" is {status}: {finding}')
def check_is(context: Context, name: str, status: str, finding: str) -> None:
    found = check(context, name)
    assert found["status"] == status, found
    assert filled(context, finding) in found["message"], found


@then('the hint for "{name}" is to run {command}')
def hint_is(context: Context, name: str, command: str) -> None:
    context.command = filled(context, command)
    assert f"Run `{context.command}`" in check(context, name)["hint"], check(context, name)


@then("nothing has changed anywhere")
def nothing_changed(context: Context) -> None:
    after = look(context)
    for place, before in context.before.items():
        assert before == after[place], (place, difference(before, after[place]))


@then("nothing that a record names has changed")
def nothing_named_changed(context: Context) -> None:
    """The project is what it was, and so is every file of the plan's sandbox."""
    after = look(context)
    assert after["project"] == context.before["project"]
    place = f"sandboxes/{plans(context).plan_id}/project/"
    before = {name: node for name, node in context.before["home"].items() if place in name}
    now = {name: node for name, node in after["home"].items() if place in name}
    assert before == now, difference(before, now)


@then("checking again finds nothing")
def again(context: Context) -> None:
    context.world.agents("doctor", "--format", "json")
    assert context.world.last.exit_code == 0, context.world.last
    all_ok(context)


@then("once the plan is cancelled, checking again finds nothing")
def cancelled_and_again(context: Context) -> None:
    plans(context).prepare("plan", "cancel", plans(context).plan_id)
    again(context)


@then("once that is done, checking again finds nothing")
def done_and_again(context: Context) -> None:
    plans(context).prepare(*context.command.split()[1:])
    again(context)


@then('all was well every time, and the sandbox as it was at "after one"')
def all_well(context: Context) -> None:
    assert context.kills >= crash.SAMPLES, context.kills
    assert context.found == [True] * context.kills, context.found


@then("it says that there is neither a home directory nor a database")
def neither(context: Context) -> None:
    home = context.world.home
    assert str(home) in check(context, "home")["message"]
    assert "There is no home directory yet" in check(context, "home")["message"]
    assert check(context, "database")["message"].startswith("There is no database yet")
    assert data(context)["disk"] == {"total_bytes": 0, "projects": [], "layers": []}
    assert data(context)["versions"]["schema"] is None


@then("there is still no home directory")
def no_home(context: Context) -> None:
    assert not context.world.home.exists()


@then("the versions are those of the programs that are used")
def versions(context: Context) -> None:
    said = subprocess.run(["git", "version"], capture_output=True, text=True, check=True).stdout
    assert data(context)["versions"] == {
        "cleveragents": cleveragents.__version__,
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "platform": platform.platform(),
        "git": said.strip().removeprefix("git version "),
        "schema": schema.HEAD_REVISION,
    }


@then("the paths are those of the scenario")
def paths(context: Context) -> None:
    home, found = context.world.home, dict(data(context)["paths"])
    assert found.pop("package").endswith("cleveragents"), found
    assert found == {
        "home": str(home),
        "configuration": str(home / "config.toml"),
        "stores": str(home / "mirrors"),
        "sandboxes": str(home / "sandboxes"),
        "database": str(home / "state.db"),
    }, found


@then("each of the three stores and sandboxes has the size it has on disk")
def sizes(context: Context) -> None:
    home, projects = context.world.home, data(context)["disk"]["projects"]
    assert {item["project"] for item in projects} == {
        str(context.world.project / name) if name else str(context.world.project)
        for name in ("", "data", "app.db")
    }, projects
    for item in projects:
        (plan,) = item["plans"]
        store = sum(
            damage.owned_bytes(home / "mirrors" / f"{item['key']}{suffix}")
            for suffix in (".git", ".private")
        )
        assert item["store_bytes"] == store > 0, (item, store)
        assert item["bytes"] == item["store_bytes"] + plan["sandbox_bytes"]
        assert plan["sandbox_bytes"] > 0 and plan["checkpoints"] > 2, plan
    (place,) = (home / "sandboxes").iterdir()
    total = sum(plan["sandbox_bytes"] for item in projects for plan in item["plans"])
    assert total == damage.owned_bytes(place), (total, projects)
    assert [item["bytes"] for item in projects] == sorted(
        (item["bytes"] for item in projects), reverse=True
    )


@then("the total is the size of the home directory")
def total(context: Context) -> None:
    said = data(context)["disk"]["total_bytes"]
    assert said == damage.owned_bytes(context.world.home), said


@then("a bar of the reading was drawn to its end")
def bar(context: Context) -> None:
    assert f"Reading snapshots back [{'#' * 30}] " in context.world.last.stderr


@then("it shows the mode of the home directory and how to fix it")
def shows_mode(context: Context) -> None:
    said = " ".join(context.world.last.stdout.split())
    if said.startswith("command:"):
        yaml.safe_load(context.world.last.stdout)
    bare = said.replace("│ ", "").replace("  ", " ")
    assert "0755" in bare and "--fix" in bare and "problem" in bare, said


@then("every byte that the checkpoints need is still there")
def bytes_still_there(context: Context) -> None:
    stored = {item["sandbox_ref"] for item in plans(context).checkpoints()}
    for commit in stored:
        garbage.git(plans(context), "rev-list", "--objects", commit)
