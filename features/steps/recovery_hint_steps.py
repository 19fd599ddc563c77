from __future__ import annotations

from behave import given, then, when
from behave.runner import Context
from msgspec.structs import replace

from cleveragents.domain.errors import PlanStateError, SnapshotCorruptError
from cleveragents.domain.plans.plan import TRANSITIONS, Plan, PlanAction, PlanPhase, PlanState
from cleveragents.domain.plans.recovery import options_after_failed_apply, recovery_hints
from cleveragents.infrastructure.sandbox.apply.journal import ApplyJournal
from cleveragents.testing import sample_records as sample


@given("a plan that is {phase}/{state}, {circumstance}")
def plan_in_state(context: Context, phase: str, state: str, circumstance: str) -> None:
    plan = sample.plan()
    kept = "FAILED" if circumstance == "with a checkpoint of its failure" else None
    assert plan.error is not None
    error = replace(plan.error, checkpoint=kept)
    context.plan = replace(plan, phase=PlanPhase(phase), state=PlanState(state), error=error)
    context.holder = "agents" if circumstance == "held by a process" else None
    context.point = None if circumstance == "without any checkpoint" else "POINT"


@when("somebody asks what can be done")
def ask(context: Context) -> None:
    context.hints = recovery_hints(context.plan, holder=context.holder, point=context.point)


@when("somebody asks what can be done after a failed apply")
def ask_after_apply(context: Context) -> None:
    context.hints = options_after_failed_apply(context.plan, point=context.point)


@then("the hints are {hints}")
def hints_are(context: Context, hints: str) -> None:
    found = ", ".join(hint.action.value for hint in context.hints) or "none"
    assert found == hints, context.hints


@when("somebody asks for what its state does not allow")
def ask_for_refused(context: Context) -> None:
    allowed = {event for phase, state, event in TRANSITIONS if is_at(context.plan, phase, state)}
    (context.refused, *_) = [
        refusal_of(context.plan, event) for event in PlanAction if event not in allowed
    ]


def is_at(plan: Plan, phase: PlanPhase, state: PlanState) -> bool:
    return (plan.phase, plan.state) == (phase, state)


def refusal_of(plan: Plan, event: PlanAction) -> PlanStateError:
    try:
        plan.after(event, plan.updated_at)
    except PlanStateError as error:
        return error
    raise AssertionError(event)


@then("the hint names the plan and `{command}`")
def hint_names(context: Context, command: str) -> None:
    plan_id = context.plan.id
    assert f"`{command} {plan_id}`" in context.refused.hint, context.refused.hint
    assert context.refused.details["plan_id"] == plan_id, context.refused.details


@when("somebody reads the journal of an apply from another program")
def read_journal(context: Context) -> None:
    try:
        context.read = ApplyJournal.load(b'{"version": 7}')
    except SnapshotCorruptError as error:
        context.read = error


@then("it is refused as damaged")
def refused_as_damaged(context: Context) -> None:
    assert "The journal of an apply cannot be read" in context.read.message, context.read
