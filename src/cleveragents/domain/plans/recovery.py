"""What a user can do about a plan that did not finish."""

from __future__ import annotations

from enum import StrEnum

from cleveragents.domain.plans.plan import Plan, PlanPhase, PlanState
from cleveragents.domain.record import Record


class RecoveryAction(StrEnum):
    """What a hint proposes."""

    WAIT = "wait"
    RESUME = "resume"
    RESOLVE = "resolve"
    APPLY = "apply"
    INSPECT = "inspect"
    REVERT = "revert"
    CANCEL = "cancel"


class RecoveryHint(Record):
    """One thing that can be done, and the command that does it."""

    action: RecoveryAction
    message: str
    cli_command: str


def recovery_hints(plan: Plan, *, holder: str | None, point: str | None) -> list[RecoveryHint]:
    """Returns what can be done about the plan, the most likely first; nothing if the plan is fine.

    Args:
        plan: The plan.
        holder: The process that holds its lease, as messages name it, if one does.
        point: The checkpoint a run would resume from, if there is one.
    """
    status = f"agents plan status {plan.id}"
    if holder is not None:
        message = f"It is held by {holder}: wait, or press Ctrl-C there"
        return [RecoveryHint(action=RecoveryAction.WAIT, message=message, cli_command=status)]
    if plan.phase is PlanPhase.APPLY:
        return _applying(plan, point)
    if plan.phase is not PlanPhase.EXECUTE:
        return []
    if plan.state is PlanState.CANCELLED:
        return _back(plan, point, "Go back to a checkpoint to take the plan up again")
    if plan.state is PlanState.CONFLICT:
        return [
            RecoveryHint(
                action=RecoveryAction.RESOLVE,
                message="Resolve the conflicting changes of the subplans, then resume",
                cli_command=f"agents plan conflicts {plan.id}",
            ),
            *_back(plan, point, "Go back to an earlier checkpoint and run on from there"),
            _giving_up(plan),
        ]
    if plan.state not in (PlanState.ERRORED, PlanState.PROCESSING):
        return []
    return [
        *_looking(plan, point),
        RecoveryHint(
            action=RecoveryAction.RESUME,
            message="Fix the cause, then resume at the unfinished step",
            cli_command=f"agents plan resume {plan.id}",
        ),
        *_back(plan, point, "Go back to an earlier checkpoint and run on from there"),
        _giving_up(plan),
    ]


def options_after_failed_apply(plan: Plan, *, point: str | None) -> list[RecoveryHint]:
    """Returns what can be done with a complete plan that was not applied; nothing for others."""
    has_run = (plan.phase, plan.state) == (PlanPhase.EXECUTE, PlanState.COMPLETE)
    return _applying(plan, point) if has_run or plan.phase is PlanPhase.APPLY else []


def _applying(plan: Plan, point: str | None) -> list[RecoveryHint]:
    """Returns what can be done about a plan that was not applied."""
    if plan.state is PlanState.CANCELLED:
        return _back(plan, point, "Go back to a checkpoint to take the plan up again")
    if plan.state is PlanState.APPLIED:
        return []
    return [
        RecoveryHint(
            action=RecoveryAction.APPLY,
            message="Fix the cause, then try again; the project is unchanged",
            cli_command=f"agents plan apply {plan.id}",
        ),
        *_back(plan, point, "Go back to an earlier checkpoint and run on from there"),
        _giving_up(plan),
    ]


def _giving_up(plan: Plan) -> RecoveryHint:
    return RecoveryHint(
        action=RecoveryAction.CANCEL,
        message="Cancel the plan; its sandbox and checkpoints are kept",
        cli_command=f"agents plan cancel {plan.id}",
    )


def _looking(plan: Plan, point: str | None) -> list[RecoveryHint]:
    kept = plan.error.checkpoint if plan.error else None
    if kept is None or point is None:
        return []
    return [
        RecoveryHint(
            action=RecoveryAction.INSPECT,
            message="Show what the failed step changed",
            cli_command=f"agents plan diff {plan.id} {point} {kept}",
        )
    ]


def _back(plan: Plan, point: str | None, message: str) -> list[RecoveryHint]:
    if point is None:
        return []
    command = f"agents plan rollback {plan.id}"
    return [RecoveryHint(action=RecoveryAction.REVERT, message=message, cli_command=command)]
