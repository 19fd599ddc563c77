from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

from behave import given, then, when
from behave.parser import parse_feature
from behave.runner import Context
from features.support.faults.fork_faults import FAILING, MEANWHILE, ForkBench
from features.support.faults.strategy_faults import can_mount
from features.support.sandboxes.families import database_families, families
from features.support.sandboxes.strategy_bench import strategy_bench

from cleveragents.domain.sandboxes.merge import MergeReport, MergeStrategy
from cleveragents.domain.sandboxes.resource import SandboxStrategy
from cleveragents.testing.expectations import NotOfferedError
from cleveragents.testing.forks.files import CONTRACT as FORKS
from cleveragents.testing.snapshots.merging import NAMES
from cleveragents.testing.sqlite.forks import CONTRACT as DATABASE_FORKS
from cleveragents.testing.trees import differing, read_tree
from cleveragents.testing.workspace import single_acts

FEATURE = Path(__file__).parent.parent / "forks.feature"


@given("sandboxes to fork, made by {strategy}")
def to_fork(context: Context, strategy: str) -> None:
    work = strategy_bench(context)
    if strategy == "overlay" and not can_mount(work):
        context.scenario.skip("overlays cannot be mounted here")
        return
    context.make_family = families(work, SandboxStrategy(strategy))


@given("databases to fork")
def databases_to_fork(context: Context) -> None:
    context.make_family = database_families(strategy_bench(context))


@when("the fork is to prove that {promise}")
def prove_fork(context: Context, promise: str) -> None:
    checks = {check.__name__: check for check in FORKS}
    context.outcome = None
    try:
        checks[promise.replace(" ", "_")](context.make_family)
    except NotOfferedError as error:
        context.outcome = error


@when("the forked database is to prove that {claim}")
def prove_database(context: Context, claim: str) -> None:
    checks = {check.__name__: check for check in DATABASE_FORKS}
    checks[claim.replace(" ", "_")](context.make_family)
    context.outcome = None


@then("the fork has proved it")
def fork_proved(context: Context) -> None:
    assert context.outcome is None, context.outcome


@then("the fork says that this is not offered")
def fork_offers_not(context: Context) -> None:
    assert isinstance(context.outcome, NotOfferedError), context.outcome


@when("somebody counts the promises about forks")
def count_fork_promises(context: Context) -> None:
    context.promises = {check.__name__.replace("_", " ") for check in FORKS}
    assert all(check.__doc__ and "\n" not in check.__doc__ for check in FORKS)


@when("somebody counts the promises about forked databases")
def count_claims(context: Context) -> None:
    contract = DATABASE_FORKS
    context.promises = {check.__name__.replace("_", " ") for check in contract}
    assert all(check.__doc__ and "\n" not in check.__doc__ for check in contract)


@then("each of them is listed")
def claims_listed(context: Context) -> None:
    feature = parse_feature(FEATURE.read_text(), filename=str(FEATURE))
    listed = {
        row["claim"]
        for scenario in feature.walk_scenarios(with_outlines=True)
        for examples in getattr(scenario, "examples", [])
        for row in (examples.table or [])
        if "claim" in row.headings
    }
    assert listed == context.promises, listed ^ context.promises


@when("it is forked, and the fork merged into it")
def fork_none(context: Context) -> None:
    work = strategy_bench(context)
    resource = work.resource(SandboxStrategy.NONE, "CHILD")
    context.fork = work.maker.fork("SANDBOX-CHILD", "CHILD", resource, work.sandbox, "none")
    strategy = MergeStrategy.GIT_THREE_WAY
    acts = single_acts(work.store, work.sandbox)
    context.report = acts.merge("none", "none", "other", strategy, NAMES)


@then("both are the directory itself, and nothing was merged")
def same_directory(context: Context) -> None:
    work = strategy_bench(context)
    assert context.fork.path == str(work.data) == work.sandbox.path
    assert (context.fork.id, context.fork.plan_id) == ("SANDBOX-CHILD", "CHILD")
    assert context.report == MergeReport(merged=(), conflicts=())


def fork_bench(context: Context) -> ForkBench:
    if "fork_bench" not in context:
        context.fork_bench = ForkBench(strategy_bench(context), context.make_family())
    return context.fork_bench


@given("a fork will fail because {fault}")
def fork_will_fail(context: Context, fault: str) -> None:
    bench = fork_bench(context)
    bench.surroundings = lambda: FAILING[fault](bench)


@given("while one is copied {circumstance}")
def while_copied(context: Context, circumstance: str) -> None:
    bench = fork_bench(context)
    bench.surroundings = lambda: MEANWHILE[circumstance](bench)


@given("the parent's agent has closed a file and a directory")
def closed(context: Context) -> None:
    fork_bench(context).close_some()


@given("the parent's agent has staged what no tree can hold")
def staged_oddly(context: Context) -> None:
    fork_bench(context).stage_oddly()


@when("somebody forks one")
@when("an ordinary user forks one")
def fork_one(context: Context) -> None:
    fork_bench(context).fork()


@when("the fork is made again on a full disk, and then when there is room")
def again_with_room(context: Context) -> None:
    bench = fork_bench(context)
    bench.surroundings = bench.full_disk
    bench.fork()
    assert bench.work.error is not None
    bench.surroundings = nullcontext
    bench.fork()


@then("nothing of the fork is left, and the source is as it was")
def nothing_left(context: Context) -> None:
    bench = fork_bench(context)
    assert bench.traces() == [], bench.traces()
    assert not differing(read_tree(bench.parent.root), bench.before)


@then("the fork is what the snapshot says")
def is_snapshot(context: Context) -> None:
    bench = fork_bench(context)
    assert not differing(read_tree(bench.made.root), bench.before)
    made = bench.made.acts().snapshot()
    assert list(bench.made.acts().changes(bench.kept, made.snapshot_id)) == []


@then("the fork lacks what was closed, and says so")
def lacks_closed(context: Context) -> None:
    bench = fork_bench(context)
    skipped = {item.path: item.reason for item in bench.made.sandbox.skipped}
    assert skipped == {"closed/": "permission denied", "d/f": "permission denied"}, skipped
    found = read_tree(bench.made.root)
    assert "d/f" not in found and "closed/inside" not in found, found.keys()
    assert found["closed"].mode == 0, found["closed"]


@given("a fork of one, whose snapshot its parent has dropped")
def dropped(context: Context) -> None:
    fork_bench(context).drop()


@when("space is reclaimed, and the child's plan is {known}")
def reclaimed(context: Context, known: str) -> None:
    fork_bench(context).reclaim(known=known == "known")


@then("the fork can still be made again")
def made_again(context: Context) -> None:
    bench = fork_bench(context)
    bench.child = None
    bench.fork()
    assert not differing(read_tree(bench.made.root), bench.before)


@then("a snapshot of the fork keeps all that the parent's keeps for its index")
def keeps_index(context: Context) -> None:
    bench = fork_bench(context)
    wanted = bench.kept_for_the_index(bench.parent, bench.kept)
    assert len(wanted) > 1, wanted
    assert bench.kept_for_the_index(bench.made, bench.made.store()) == wanted
