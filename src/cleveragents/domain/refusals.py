"""Why a plan cannot go back, or decide anew: each guard has its own error and sentence."""

from __future__ import annotations

from collections.abc import Sequence

from cleveragents.domain.errors import BusinessRuleViolation
from cleveragents.domain.wording import listed


class ChildAppliedError(BusinessRuleViolation):
    """Going back would undo the spawning of a child plan whose result is in the project."""

    code = "child_applied"

    def __init__(self, plan_id: str, children: Sequence[str]) -> None:
        super().__init__(
            f"A child plan that was spawned later is applied already: {', '.join(children)}",
            hint="Go back to a checkpoint after it was spawned, or run a new plan",
            plan_id=plan_id,
            children=list(children),
        )


class NothingToUndoError(BusinessRuleViolation):
    """There is no rollback or correction to undo, or nothing that was undone."""

    code = "nothing_to_take_back"

    def __init__(self, act: str, plan_id: str) -> None:
        missing = "no rollback or correction" if act == "undo" else "no undo"
        super().__init__(
            f"There is nothing to {act}: {missing} of this plan is left to take back",
            hint=f"Run `agents plan log {plan_id}` to see what was done to it",
            plan_id=plan_id,
        )


class UndoTargetMissingError(BusinessRuleViolation):
    """The checkpoint that holds the state to go to was deleted or pruned."""

    code = "state_gone"

    def __init__(self, act: str, what: str, plan_id: str) -> None:
        super().__init__(
            f"The {act} of {what} is not possible any more: no checkpoint holds the state to go to",
            hint=f"Run `agents plan checkpoint list {plan_id} --all` to see what is kept",
            plan_id=plan_id,
        )


class DecisionSupersededError(BusinessRuleViolation):
    """The decision does not stand any more, so there is nothing to correct."""

    code = "decision_superseded"

    def __init__(self, decision_id: str, plan_id: str) -> None:
        super().__init__(
            f"The decision {decision_id} does not stand any more and cannot be corrected",
            hint=f"Run `agents plan tree {plan_id}` to see those that do",
            decision_id=decision_id,
        )


class NoEarlierCheckpointError(BusinessRuleViolation):
    """No checkpoint from before a decision is left."""

    code = "no_way_back"

    def __init__(self, decision_id: str, plan_id: str) -> None:
        super().__init__(
            f"No checkpoint from before the decision {decision_id} is left",
            hint=f"Run `agents plan checkpoint list {plan_id}` to see what there is; "
            "a higher `sandbox.checkpoint.max-checkpoints-per-plan` keeps more",
            decision_id=decision_id,
        )


class ChangedSinceError(BusinessRuleViolation):
    """Later work changed what one step had changed, so that step alone cannot go back."""

    code = "built_upon"

    def __init__(self, step_index: int, paths: Sequence[str]) -> None:
        super().__init__(
            f"Step {step_index + 1} alone cannot be taken back, because these paths were changed "
            f"again after it: {listed(paths, most=10)}",
            hint="Roll back to a checkpoint before it, or take back single paths with `--path`",
            step=step_index + 1,
            conflicts=list(paths),
        )


class NothingChangedError(BusinessRuleViolation):
    """The step changed nothing that is in effect."""

    code = "nothing_changed"

    def __init__(self, step_index: int) -> None:
        super().__init__(
            f"Nothing that step {step_index + 1} changed is there to be taken back",
            hint="`agents plan log` shows what the steps did",
            step=step_index + 1,
        )
