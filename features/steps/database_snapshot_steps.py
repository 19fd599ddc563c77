from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from behave import given, then, when
from behave.parser import parse_feature
from behave.runner import Context
from features.support.faults import damaged_databases
from features.support.sandboxes.strategy_bench import strategy_bench

from cleveragents.testing.sqlite import store as contract

FEATURES = Path(__file__).parent.parent


@given("databases in sandboxes of their own")
def databases(context: Context) -> None:
    context.make_place = strategy_bench(context).databases()


@when("the store of databases is to prove that {promise}")
def prove_of_databases(context: Context, promise: str) -> None:
    checks = {check.__name__: check for check in contract.CONTRACT}
    checks[promise.replace(" ", "_")](context.make_place)
    context.proved = promise


@then("that is proved")
def proved(context: Context) -> None:
    assert context.proved


@when("somebody counts the promises about databases")
def count_database_promises(context: Context) -> None:
    context.promises = {check.__name__.replace("_", " ") for check in contract.CONTRACT}
    assert all(check.__doc__ and "\n" not in check.__doc__ for check in contract.CONTRACT)


@then("the feature `{name}` lists each of them")
def lists_each(context: Context, name: str) -> None:
    feature = parse_feature((FEATURES / name).read_text(), filename=name)
    listed = {
        row["promise"]
        for scenario in feature.walk_scenarios(with_outlines=True)
        for examples in getattr(scenario, "examples", [])
        for row in (examples.table or [])
        if "promise" in row.headings
    }
    assert listed == context.promises, listed ^ context.promises


@given("a database whose rows were deleted after its snapshot")
def deleted_rows(context: Context) -> None:
    context.case = damaged_databases.Case(strategy_bench(context))


@given("in its store {fault}")
def store_fault(context: Context, fault: str) -> None:
    damaged_databases.FAULTS[fault](context.case)


@when("the database is brought back")
def bring_back(context: Context) -> None:
    context.case.restore()


@then("that is refused because {reason}")
def refused_because(context: Context, reason: str) -> None:
    strategy_bench(context).expect_refusal(reason)


@then("the database is as it was left")
def as_left(context: Context) -> None:
    assert context.case.place.dump() == context.case.left


@when("a snapshot is made on a full disk, and another when there is room")
def full_disk(context: Context) -> None:
    context.case.store_on_full_disk()


@then("the other one can be brought back")
def other_comes_back(context: Context) -> None:
    context.case.place.run("DROP TABLE t")
    context.case.place.restore(context.case.snapshot)
    assert context.case.place.dump() == context.case.left


@given("then {what} can hardly be read")
def hardly_readable(context: Context, what: str) -> None:
    context.case.become_hardly_readable(what)


@when("its snapshots are compared")
def compared(context: Context) -> None:
    context.patch = context.case.compare()


@then("the comparison says `{line}`")
def comparison_says(context: Context, line: str) -> None:
    assert f" {line.strip()}" in context.patch.splitlines(), context.patch


@given("an engine that has seen its database at rest")
def settled_engine(context: Context) -> None:
    context.case = damaged_databases.AtRest(strategy_bench(context))


@when("a snapshot is made while another process keeps the database locked")
def store_while_locked(context: Context) -> None:
    context.case.store_while_locked()


@then("it is the same snapshot, and nothing was stored")
def same_snapshot(context: Context) -> None:
    case = context.case
    assert (case.last.snapshot_id, case.last.size_bytes) == (case.first.snapshot_id, 0)


@when("its snapshot is dropped and made again")
def dropped(context: Context) -> None:
    context.case.drop_and_store()


@then("it is the same snapshot, and it can be verified")
def same_and_whole(context: Context) -> None:
    case = context.case
    assert case.last.snapshot_id == case.first.snapshot_id
    case.engine.verify(case.last.snapshot_id)
    assert case.engine.ids() == [case.last.snapshot_id]


@when("a process is killed at one act after another while it is to {act}")
def killed_while(context: Context, act: str) -> None:
    stride = "1" if context.config.userdata.get("sweep") == "whole" else "3"
    done = subprocess.run(
        [sys.executable, "-m", "features.support.sweeps.strategy_kill_sweep", act, stride],
        env=context.world.with_features,
        capture_output=True,
        text=True,
        check=False,
    )
    context.swept = done.stdout + done.stderr


@then("the next process has found everything in order each time")
def in_order(context: Context) -> None:
    assert context.swept.endswith("kills survived\n"), context.swept
    assert int(context.swept.split()[-3]) > 3, context.swept
