"""When sandboxes are removed."""

from __future__ import annotations

from enum import StrEnum

from cleveragents.domain.plans.plan import Plan, PlanPhase, PlanState


class SandboxCleanup(StrEnum):
    """When the end of a plan removes its sandboxes; checkpoints are always kept."""

    ON_APPLY = "on_apply"
    ON_TERMINAL = "on_terminal"
    """When it is applied or cancelled."""
    MANUAL = "manual"


def is_removed_when_cancelled(cleanup: SandboxCleanup, plan: Plan, *, discard: bool) -> bool:
    """Returns whether a plan loses its sandboxes when it is cancelled.

    Finished work that is not applied is removed only if the user asks for it.

    Args:
        cleanup: The setting.
        plan: The plan as it was before it was cancelled.
        discard: Whether the user asked for it.
    """
    return discard or (cleanup is SandboxCleanup.ON_TERMINAL and not is_finished(plan))


def is_finished(plan: Plan) -> bool:
    """Returns whether the plan has done all its steps and is not applied."""
    complete = (plan.phase, plan.state) == (PlanPhase.EXECUTE, PlanState.COMPLETE)
    return complete or (plan.phase is PlanPhase.APPLY and plan.state is not PlanState.APPLIED)
