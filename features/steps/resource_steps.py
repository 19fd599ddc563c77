from __future__ import annotations

from behave import given, then, when
from behave.runner import Context
from features.steps.plan_file_steps import reading
from features.support.sandboxes import resource_paths
from features.support.sandboxes.strategy_bench import strategy_bench

from cleveragents.domain.errors import NotReversibleError
from cleveragents.domain.sandboxes.resource import ResourceType, SandboxStrategy
from cleveragents.infrastructure.sandbox.no_isolation import NoSnapshots


@given("for a resource {what}")
def candidate(context: Context, what: str) -> None:
    context.candidate = resource_paths.SINGLE[what](strategy_bench(context))


@when("somebody looks at it as a {kind}")
def look_at(context: Context, kind: str) -> None:
    work = strategy_bench(context)

    def act() -> None:
        context.facts = work.maker.inspect(context.candidate, ResourceType(kind))

    with work.surroundings():
        work.attempt(act)


@then("it is found to be there, with a key of its own")
def found(context: Context) -> None:
    work = strategy_bench(context)
    assert work.error is None, work.error.message
    assert context.facts.root == str(context.candidate.resolve())
    other = work.maker.inspect(context.candidate.parent / "beside", ResourceType.FS_DIRECTORY)
    assert other.key != context.facts.key


@given("a repository with a tracked file, an ignored database and an ignored directory")
def repository(context: Context) -> None:
    context.pairs = resource_paths.Pairs(strategy_bench(context))


@when("a plan names {one} and {other}")
def names_both(context: Context, one: str, other: str) -> None:
    context.pairs.combine(one, other)


@then("{inner} is `{place}` in the sandbox of {outer}")
def is_shared(context: Context, inner: str, place: str, outer: str) -> None:
    error = strategy_bench(context).error
    assert error is None, error.message
    [(name, found)] = context.pairs.shared.items()
    assert (name, found.sandbox, found.place or ".") == (inner, outer, place), found


@then("that is fine")
def fine(context: Context) -> None:
    error = strategy_bench(context).error
    assert error is None, error.message


@then("its resource {name} has the strategy {strategy}")
def has_strategy(context: Context, name: str, strategy: str) -> None:
    resource = reading(context).plan.resources[name]
    assert resource.chosen_strategy() == strategy, resource


@given("a directory without isolation")
def no_isolation(context: Context) -> None:
    work = strategy_bench(context)
    work.make_directory("echo 1 > f")
    work.create(SandboxStrategy.NONE)
    context.engine = NoSnapshots(work.sandbox)


@when("a snapshot of it is made")
def none_snapshot(context: Context) -> None:
    context.engine.watch()
    context.stored = context.engine.snapshot()


@then("the snapshot says that nothing is kept")
def nothing_kept(context: Context) -> None:
    stored = context.stored
    (missing,) = stored.not_captured
    assert (missing.path, missing.reason) == (".", "strategy none keeps nothing")
    assert (stored.size_bytes, context.engine.ids()) == (0, (stored.snapshot_id,))


@when("somebody wants to {act} that snapshot")
def act_on_none(context: Context, act: str) -> None:
    context.engine.delete(["none"])
    acts = {
        "restore": lambda: context.engine.restore("none", None),
        "preview": lambda: context.engine.preview("none", None),
        "verify": lambda: context.engine.verify("none"),
        "compare": lambda: context.engine.diff("none", "none", ""),
        "place": lambda: context.engine.restore_paths("none", ["f"]),
        "combine": lambda: context.engine.combine("none", "none", ["f"]),
    }
    strategy_bench(context).attempt(acts[act])
    context.engine.close()


@then("it says with exit code {code:d} that the strategy keeps nothing")
def says_nothing_kept(context: Context, code: int) -> None:
    error = strategy_bench(context).error
    assert isinstance(error, NotReversibleError), error
    assert error.exit_code == code
    assert "cannot be rolled back" in error.message


@when("somebody asks what changed in it")
def ask_for_changes(context: Context) -> None:
    context.changes = context.engine.changes("none", "other")


@then("nothing is said to have changed")
def nothing_changed(context: Context) -> None:
    assert list(context.changes) == []


@when("its sandbox is removed and then its directory goes")
def none_removed(context: Context) -> None:
    work = strategy_bench(context)
    work.maker.check(work.sandbox)
    work.maker.remove(work.sandbox)
    assert (work.data / "f").read_text() == "1\n", "removing the sandbox removed the resource"
    work.shell("rm -r data", work.world.directory)


@then("neither a check nor a snapshot finds it")
def none_missing(context: Context) -> None:
    work = strategy_bench(context)
    for act in (lambda: work.maker.check(work.sandbox), context.engine.snapshot):
        work.error = None
        work.attempt(act)
        work.expect_refusal("is missing")
