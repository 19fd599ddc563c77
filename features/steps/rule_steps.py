from __future__ import annotations

import itertools

from behave import given, then, when
from behave.runner import Context
from features.support import history

from cleveragents.domain import ids
from cleveragents.domain.checkpoints.operation import Operation, to_redo, to_undo
from cleveragents.domain.checkpoints.retention import CheckpointRetentionPolicy, select_for_pruning
from cleveragents.domain.errors import AmbiguousIdError, PlanStateError
from cleveragents.domain.plans.plan import PlanAction, PlanPhase, PlanState, transition


def last(operations: list[Operation]) -> str:
    return operations[-1].id if operations else "nothing"


@given("the ids, oldest first")
def known_ids(context: Context) -> None:
    context.ids = [context.table.headings[0], *(row[0] for row in context.table)]


@given("{count:d} ids that begin alike")
def many_ids(context: Context, count: int) -> None:
    context.ids = [f"7Z{number:024}" for number in range(count)]


@given('the operations {operations}, where "U-A" means that U takes A back')
def operations_of_history(context: Context, operations: str) -> None:
    context.operations = history.operations(operations)


@when("somebody names `{text}`")
def name(context: Context, text: str) -> None:
    context.chosen = context.refusal = None
    try:
        context.chosen = ids.choose(text, "checkpoint", context.ids)
    except AmbiguousIdError as error:
        context.refusal = error


@when("every event is tried in every phase and state")
def try_everything(context: Context) -> None:
    context.possible, context.refused = {}, {}
    for place in itertools.product(PlanPhase, PlanState, PlanAction):
        try:
            context.possible[place] = "/".join(transition(*place))
        except PlanStateError as error:
            context.refused[place] = error.message


@when("of the groups {groups} a plan may keep {limit:d} and needs {needed}")
def prune(context: Context, groups: str, limit: int, needed: str) -> None:
    policy = CheckpointRetentionPolicy(max_checkpoints_per_plan=limit)
    known = [] if groups == "nothing" else history.counted_groups(groups)
    context.dropped = select_for_pruning(known, policy, set(needed.split()))


@when("a plan may keep {limit:d} checkpoints at most")
def limit_of(context: Context, limit: int) -> None:
    context.refusal = None
    try:
        CheckpointRetentionPolicy(max_checkpoints_per_plan=limit)
    except ValueError as error:
        context.refusal = error


@then("the id meant is {expected}")
def id_meant(context: Context, expected: str) -> None:
    assert (context.chosen or "none") == expected and not context.refusal, context.chosen


@then("it is refused because {sentence}")
def ambiguous(context: Context, sentence: str) -> None:
    assert context.refusal.message == sentence, context.refusal
    assert context.refusal.hint == "Give more characters of the id"


@then("the refusal counts {count:d} and shows the first {shown:d}")
def shortened(context: Context, count: int, shown: int) -> None:
    some = ", ".join(context.ids[:shown])
    expected = f"`7Z` matches {count} checkpoints: {some}, …"
    assert context.refusal.message == expected, context.refusal
    assert context.refusal.details["candidates"] == context.ids


@then("exactly these are possible")
def exactly_these(context: Context) -> None:
    expected = {(row["phase"], row["state"], row["event"]): row["then"] for row in context.table}
    assert context.possible == expected, context.possible


@then("every other one is refused in a sentence like `{sample}`")
def others_refused(context: Context, sample: str) -> None:
    assert len(context.refused) + len(context.possible) == 3 * 8 * 14, len(context.refused)
    for (phase, state, event), message in context.refused.items():
        assert message == f"A plan in {phase}/{state} cannot {event}", message
    assert sample in context.refused.values()


@then("the groups that go are {dropped}")
def groups_that_go(context: Context, dropped: str) -> None:
    assert (" ".join(context.dropped) or "nothing") == dropped, context.dropped


@then("that limit is refused")
def limit_refused(context: Context) -> None:
    assert context.refusal is not None


@then("undo takes back {undo} and redo {redo}")
def next_ones(context: Context, undo: str, redo: str) -> None:
    known = context.operations
    assert (last(to_undo(known)), last(to_redo(known))) == (undo, redo)
