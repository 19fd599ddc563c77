"""What a database promises about events: each change stores its own, in one transaction.

Part of `cleveragents.testing.records.CONTRACT`.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from cleveragents.domain.checkpoints.operation import Operation, OperationStatus
from cleveragents.domain.errors import (
    DuplicateError,
    PlanNotFoundError,
)
from cleveragents.domain.plans.events import (
    CheckpointCreated,
    CheckpointPruned,
    CheckpointRestored,
    DecisionCreated,
    DecisionSuperseded,
    PlanCancelled,
    PlanCreated,
    PlanErrored,
    PlanStateChanged,
    SandboxCreated,
    SandboxRolledBack,
    ToolCompleted,
    ToolErrored,
    ToolInvoked,
    ToolRetried,
)
from cleveragents.domain.plans.plan import PlanState
from cleveragents.domain.tools.tool import ToolCall, ToolCallStatus
from cleveragents.testing import sample_records as sample
from cleveragents.testing.expectations import expect
from cleveragents.testing.records.database import (
    MakeDatabase,
    expect_exactly,
    with_plan,
)


def events_follow_from_what_is_stored(make_database: MakeDatabase) -> None:
    """Each fact is entered once, in the order in which it was stored."""
    database = with_plan(make_database)
    running = replace(sample.plan(), state=PlanState.PROCESSING, error=None)
    errored = sample.plan()
    with database.write() as transaction:
        transaction.sandboxes.add(sample.sandbox())
        transaction.plans.save(running)
        transaction.decisions.add(sample.decision(1))
        transaction.tool_calls.add(sample.tool_call(1))
        transaction.tool_calls.add(sample.tool_call(2))
        transaction.tool_calls.save(_ended_call(1, ToolCallStatus.SUCCEEDED))
        transaction.checkpoints.add_group(
            sample.group(1), [sample.checkpoint(1), sample.checkpoint(2, group_number=1)]
        )
    with database.write() as transaction:
        failed = _ended_call(2, ToolCallStatus.FAILED)
        transaction.tool_calls.save(replace(failed, finished_at=None))
        transaction.plans.save(errored)
        transaction.decisions.supersede(["DECISION1"], "OPERATION1")
        transaction.operations.add(sample.operation(1))
        transaction.operations.save(_completed(1))
        transaction.checkpoints.prune_groups(["PLAN1-GROUP1"])
    with database.read() as transaction:
        found = transaction.events.list("PLAN1")
    told = [
        PlanCreated("PLAN1", sample.ODD, errored.project, "execute", "errored"),
        SandboxCreated("PLAN1", "SANDBOX1", sample.ODD, "git_worktree", sample.ODD, sample.ODD),
        PlanStateChanged("PLAN1", "execute", "errored", "processing"),
        DecisionCreated("PLAN1", "DECISION1", "prompt_definition", sample.ODD, sample.ODD, 1),
        ToolInvoked("PLAN1", "CALL1", 0, sample.ODD, sample.ODD),
        ToolInvoked("PLAN1", "CALL2", 0, sample.ODD, sample.ODD),
        ToolCompleted("PLAN1", "CALL1", 0, sample.ODD, sample.ODD, 1500),
        CheckpointCreated(
            "PLAN1",
            "PLAN1-CHECKPOINT1",
            "PLAN1-GROUP1",
            sample.ODD,
            "automatic",
            "on_error",
            1,
            (sample.ODD, sample.ODD),
        ),
        ToolErrored("PLAN1", "CALL2", 0, sample.ODD, sample.ODD, None, sample.ODD),
        PlanStateChanged("PLAN1", "execute", "processing", "errored"),
        PlanErrored("PLAN1", sample.ODD, None, "4 of 6", 3, None),
        DecisionSuperseded("PLAN1", "DECISION1", sample.ODD, "OPERATION1"),
        CheckpointRestored("PLAN1", "PLAN1-CHECKPOINT1", sample.ODD, "OPERATION1", "rollback"),
        SandboxRolledBack("PLAN1", "SANDBOX1", sample.ODD, "PLAN1-CHECKPOINT1", "OPERATION1"),
        CheckpointPruned("PLAN1", "PLAN1-CHECKPOINT1", "PLAN1-GROUP1", sample.ODD),
    ]
    for event, wanted in zip(found, told, strict=True):
        expect(event.record, wanted)
    expect([event.sequence for event in found], sorted({event.sequence for event in found}))
    expect([event.created_at for event in found], sorted(event.created_at for event in found))


def _ended_call(number: int, status: ToolCallStatus) -> ToolCall:
    return replace(
        sample.tool_call(number),
        status=status,
        error=sample.ODD if status is ToolCallStatus.FAILED else None,
        finished_at=sample.moment(number + 1_500_000),
    )


def _completed(number: int) -> Operation:
    return replace(
        sample.operation(number),
        status=OperationStatus.COMPLETED,
        target_checkpoint_id="PLAN1-CHECKPOINT1",
        finished_at=sample.moment(9),
    )


def what_did_not_change_is_no_event(make_database: MakeDatabase) -> None:
    """Storing the same again, or what no event describes, adds nothing."""
    database = with_plan(make_database)
    with database.write() as transaction:
        transaction.sandboxes.add(sample.sandbox())
        transaction.decisions.add(sample.decision(1))
        transaction.decisions.supersede(["DECISION1"], "OPERATION1")
        transaction.tool_calls.add(sample.tool_call(1))
        transaction.tool_calls.save(_ended_call(1, ToolCallStatus.SUCCEEDED))
        transaction.operations.add(sample.operation(1))
        transaction.operations.save(_completed(1))
    with database.write() as transaction:
        plan = transaction.plans.get("PLAN1")
        transaction.plans.save(plan)
        transaction.plans.save(replace(plan, last_completed_step=5))
        transaction.sandboxes.save(sample.sandbox())
        transaction.decisions.supersede(["DECISION1"], "OPERATION2")
        transaction.tool_calls.save(_ended_call(1, ToolCallStatus.SUCCEEDED))
        transaction.tool_calls.make_effective("PLAN1", [], "OPERATION2")
        transaction.operations.save(_completed(1))
        transaction.operations.add(sample.operation(2))
        transaction.checkpoints.set_aside(["GROUP1"], "OPERATION2")
        transaction.checkpoints.set_pinned(["GROUP1"], pinned=True)
        transaction.checkpoints.prune_groups(["GROUP1"])
        transaction.checkpoints.delete_groups(["GROUP1"])
        expect(list(transaction.events.added()), [])


def events_are_listed_as_asked(make_database: MakeDatabase) -> None:
    """One can ask for the later ones and for types; another plan has its own."""
    database = with_plan(make_database)
    with database.write() as transaction:
        transaction.plans.add(sample.plan("PLAN2", 1))
        for number in (1, 2):
            transaction.tool_calls.add(sample.tool_call(number))
        made, *calls = transaction.events.list("PLAN1")
    with database.read() as transaction:
        events = transaction.events
        expect([event.type for event in events.list("PLAN2")], ["plan.created"])
        expect(list(events.list("PLAN1", after=made.sequence)), calls)
        expect(list(events.list("PLAN1", after=calls[-1].sequence)), [])
        expect(list(events.list("PLAN1", types={"plan.created"})), [made])
        expect(list(events.list("PLAN1", after=made.sequence, types={"plan.created"})), [])
        expect(list(events.list("PLAN1", types=())), [])


def what_is_told_is_what_is_stored(make_database: MakeDatabase) -> None:
    """A transaction knows its own events exactly as everybody will read them, any text too."""
    database = with_plan(make_database)
    with database.write() as transaction:
        transaction.events.add(PlanCancelled("PLAN1", sample.ODD))
        transaction.events.add(ToolRetried("PLAN1", 0, sample.ODD, 1, 2))
        transaction.checkpoints.add_group(sample.group(1), [sample.checkpoint(1)])
        told = transaction.events.added()
    with database.read() as transaction:
        expect(transaction.events.list("PLAN1")[1:], list(told))
        expect(told[0].record, PlanCancelled("PLAN1", sample.ODD))
        expect(list(transaction.events.added()), [])


def failed_transactions_have_no_events(make_database: MakeDatabase) -> None:
    """What is undone did not happen, and what was refused did not either."""
    database = with_plan(make_database)

    def fail() -> None:
        with database.write() as transaction:
            transaction.tool_calls.add(sample.tool_call(1))
            transaction.plans.get("none")

    expect_exactly(PlanNotFoundError, fail)
    with database.write() as transaction:
        expect_exactly(DuplicateError, lambda: transaction.plans.add(sample.plan()))
        expect(list(transaction.events.added()), [])
    with database.read() as transaction:
        expect([event.type for event in transaction.events.list("PLAN1")], ["plan.created"])


CONTRACT: tuple[Callable[[MakeDatabase], None], ...] = (
    events_follow_from_what_is_stored,
    what_did_not_change_is_no_event,
    events_are_listed_as_asked,
    what_is_told_is_what_is_stored,
    failed_transactions_have_no_events,
)
