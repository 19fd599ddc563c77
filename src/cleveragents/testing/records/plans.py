"""What a database promises about plans, resources and sandboxes.

Part of `cleveragents.testing.records.CONTRACT`.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from cleveragents.domain.errors import (
    CheckpointNotFoundError,
    DatabaseError,
    DuplicateError,
    NotFoundError,
    PlanNotFoundError,
)
from cleveragents.domain.plans.plan import Plan, PlanPhase, PlanState, PlanSummary
from cleveragents.domain.sandboxes.sandbox import SandboxState
from cleveragents.testing import sample_records as sample
from cleveragents.testing.expectations import expect
from cleveragents.testing.records.database import (
    MakeDatabase,
    expect_exactly,
    with_groups,
    with_plan,
)


def plans_come_back_as_they_were(make_database: MakeDatabase) -> None:
    """A plan is stored with every field, whatever its strings hold."""
    with_plan(make_database)
    with make_database().read() as transaction:
        expect(transaction.plans.get("PLAN1"), sample.plan())


def times_come_back_in_utc(make_database: MakeDatabase) -> None:
    """A time given in any zone comes back as the same moment in UTC, to the microsecond."""
    with with_plan(make_database).read() as transaction:
        found = transaction.plans.get("PLAN1")
        expect(found.updated_at.isoformat(), sample.START.isoformat())
        expect(found.started_at and found.started_at.isoformat(), "2026-01-02T00:00:00+00:00")


def times_without_a_zone_are_refused(make_database: MakeDatabase) -> None:
    """A time that could mean any moment is not stored."""
    database = make_database()
    vague = replace(sample.plan(), created_at=sample.START.replace(tzinfo=None))

    def store() -> None:
        with database.write() as transaction:
            transaction.plans.add(vague)

    expect_exactly(DatabaseError, store)
    with database.read() as transaction:
        expect(list(transaction.plans.ids()), [])


def saved_plans_replace_every_field(make_database: MakeDatabase) -> None:
    """Saving a plan writes all of it, also fields that become empty."""
    changed = replace(
        sample.plan(number=7), state=PlanState.QUEUED, error=None, last_checkpoint_id=None, name=""
    )
    database = with_plan(make_database)
    with database.write() as transaction:
        transaction.plans.get("PLAN1")
        transaction.plans.save(changed)
        expect(transaction.plans.get("PLAN1"), changed)
    with database.read() as transaction:
        expect(transaction.plans.get("PLAN1"), changed)


def plans_are_listed_oldest_first(make_database: MakeDatabase) -> None:
    """The order is that in which they were stored, whatever the clocks of their hosts said."""
    database = make_database()
    with database.write() as transaction:
        for plan_id, number in (("C", 9), ("B", 10), ("A", 100), ("D", 9)):
            transaction.plans.add(sample.plan(plan_id, number))
    with database.read() as transaction:
        expect([plan.id for plan in transaction.plans.list()], ["C", "B", "A", "D"])
        expect(list(transaction.plans.ids()), ["C", "B", "A", "D"])


def subplans_are_told_from_others(make_database: MakeDatabase) -> None:
    """A plan that another one spawned is left out where that is asked for."""
    database = with_plan(make_database)
    child = replace(sample.plan("PLAN2", 1), parent_plan_id="PLAN1")
    with database.write() as transaction:
        transaction.plans.add(child)
    with database.read() as transaction:
        expect(list(transaction.plans.ids(subplans=False)), ["PLAN1"])
        project = transaction.plans.get("PLAN1").project
        expect(list(transaction.plans.ids(project=project)), ["PLAN1", "PLAN2"])
        expect(list(transaction.plans.ids(project="/elsewhere")), [])
        expect(list(transaction.plans.ids("PLAN")), ["PLAN1", "PLAN2"])
        expect(list(transaction.plans.children("PLAN1")), [child])


def plans_are_filtered(make_database: MakeDatabase) -> None:
    """Phase, state and project each narrow the list."""
    database = with_plan(make_database)
    other = replace(
        sample.plan("PLAN2", 1),
        phase=PlanPhase.STRATEGIZE,
        state=PlanState.QUEUED,
        project="/other",
    )
    with database.write() as transaction:
        transaction.plans.add(other)
        plans = transaction.plans
        expect(list(plans.list(phase=PlanPhase.STRATEGIZE)), [_summary(other)])
        expect(list(plans.list(state=PlanState.ERRORED)), [_summary(sample.plan())])
        expect(list(plans.list(project=sample.plan().project)), [_summary(sample.plan())])
        expect(list(plans.list(phase=PlanPhase.APPLY, project="/other")), [])


def _summary(plan: Plan) -> PlanSummary:
    """Returns the part of a plan that a list shows."""
    return PlanSummary(**{name: getattr(plan, name) for name in PlanSummary.__struct_fields__})


def prefixes_are_literal(make_database: MakeDatabase) -> None:
    """Wildcards of the query language mean themselves, and case counts."""
    database = with_groups(make_database, 2)
    with database.write() as transaction:
        for number, plan_id in enumerate(("AB1", "AB2", "A_1", "a%1"), start=1):
            transaction.plans.add(sample.plan(plan_id, number))
        ids = transaction.plans.ids
        expect(list(ids("AB")), ["AB1", "AB2"])
        expect(list(ids("A_")), ["A_1"])
        expect(list(ids("a")), ["a%1"])
        expect([text for text in ("%", "_", "ab", "AB11", sample.ODD) if ids(text)], [])
        found = transaction.checkpoints.ids
        expect(list(found("PLAN1-")), ["PLAN1-CHECKPOINT1", "PLAN1-CHECKPOINT2"])
        expect([text for text in ("PLAN_", "%", "plan1") if found(text)], [])


def unknown_ids_are_not_found(make_database: MakeDatabase) -> None:
    """What is not stored is said to be missing, when read and when saved."""
    with make_database().write() as transaction:
        expect_exactly(PlanNotFoundError, lambda: transaction.plans.get("NONE"))
        expect_exactly(PlanNotFoundError, lambda: transaction.plans.get(sample.ODD))
        expect_exactly(PlanNotFoundError, lambda: transaction.plans.save(sample.plan()))
        expect_exactly(CheckpointNotFoundError, lambda: transaction.checkpoints.get("NONE"))
        expect_exactly(CheckpointNotFoundError, lambda: transaction.checkpoints.get_group("NONE"))
        expect_exactly(NotFoundError, lambda: transaction.sandboxes.save(sample.sandbox()))
        expect_exactly(NotFoundError, lambda: transaction.tool_calls.save(sample.tool_call()))
        expect_exactly(NotFoundError, lambda: transaction.operations.save(sample.operation()))
        expect(transaction.leases.get("NONE"), None)
        expect(list(transaction.plans.list()), [])
        expect(list(transaction.checkpoints.list("NONE")), [])


def duplicates_are_refused(make_database: MakeDatabase) -> None:
    """A taken id is refused, and the transaction can go on."""
    database = with_groups(make_database, 1)
    with database.write() as transaction:
        transaction.sandboxes.add(sample.sandbox())
        transaction.decisions.add(sample.decision())
        transaction.tool_calls.add(sample.tool_call())
        transaction.operations.add(sample.operation())
        for action in (
            lambda: transaction.plans.add(sample.plan()),
            lambda: transaction.sandboxes.add_resource(sample.resource()),
            lambda: transaction.sandboxes.add(sample.sandbox()),
            lambda: transaction.checkpoints.add_group(sample.group(), []),
            lambda: transaction.decisions.add(sample.decision()),
            lambda: transaction.tool_calls.add(sample.tool_call()),
            lambda: transaction.operations.add(sample.operation()),
        ):
            expect_exactly(DuplicateError, action)
        transaction.plans.add(sample.plan("PLAN2", 1))
    with database.read() as transaction:
        expect(list(transaction.plans.ids()), ["PLAN1", "PLAN2"])


def records_of_unknown_plans_are_refused(make_database: MakeDatabase) -> None:
    """A record cannot refer to a plan that is not stored; that is not a duplicate."""
    with make_database().write() as transaction:
        expect_exactly(DatabaseError, lambda: transaction.tool_calls.add(sample.tool_call()))


def sandboxes_follow_the_order_of_resources(make_database: MakeDatabase) -> None:
    """Resources and sandboxes come back as they were, in the plan's order."""
    database = make_database()
    first, second = sample.resource("Z", position=0), sample.resource("A", position=1)
    private = sample.sandbox("SANDBOX1", resource_id="A")
    other = sample.sandbox("SANDBOX2", resource_id="Z")
    with database.write() as transaction:
        transaction.plans.add(sample.plan())
        for resource in (second, first):
            transaction.sandboxes.add_resource(resource)
        for sandbox in (private, other):
            transaction.sandboxes.add(sandbox)
        transaction.sandboxes.save(replace(private, state=SandboxState.ACTIVE))
    with database.read() as transaction:
        expect(list(transaction.sandboxes.resources("PLAN1")), [first, second])
        active = replace(private, state=SandboxState.ACTIVE)
        expect(list(transaction.sandboxes.list("PLAN1")), [other, active])
        expect(list(transaction.sandboxes.list("PLAN2")), [])
        expect(list(transaction.sandboxes.all_resources()), [first, second])
        expect(list(transaction.sandboxes.all()), [other, active])


CONTRACT: tuple[Callable[[MakeDatabase], None], ...] = (
    plans_come_back_as_they_were,
    times_come_back_in_utc,
    times_without_a_zone_are_refused,
    saved_plans_replace_every_field,
    plans_are_listed_oldest_first,
    subplans_are_told_from_others,
    plans_are_filtered,
    prefixes_are_literal,
    unknown_ids_are_not_found,
    duplicates_are_refused,
    records_of_unknown_plans_are_refused,
    sandboxes_follow_the_order_of_resources,
)
