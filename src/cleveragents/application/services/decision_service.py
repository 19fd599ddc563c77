"""DecisionService: the tree of a plan's decisions, and what depends on one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cleveragents.application.ports.records import Database
from cleveragents.application.services.plan_references import named_plans
from cleveragents.application.services.rollback.revert import artifacts_of
from cleveragents.domain import ids
from cleveragents.domain.checkpoints.checkpoint import Checkpoint
from cleveragents.domain.decisions.decision import Decision, decisions_below
from cleveragents.domain.errors import DecisionNotFoundError
from cleveragents.domain.plans.plan import Plan


@dataclass(frozen=True)
class DecisionTree:
    """A plan's decisions, by sequence."""

    plan: Plan
    decisions: Sequence[Decision]
    superseded: int
    """How many decisions of the plan are superseded, shown or not."""
    children: Sequence[Plan]
    """The plans that were spawned below it, each after its parent."""


@dataclass(frozen=True)
class Explanation:
    """One decision with what led to it and what depends on it."""

    plan: Plan
    decision: Decision
    position: int
    of: int
    options: dict[str, str]
    """Descriptions of the alternatives, where the plan file has some."""
    downstream: Sequence[Decision]
    artifacts: Sequence[str]
    """Paths that steps of this decision's option changed, with their resource first."""
    checkpoint: Checkpoint | None
    """The one that was made with it."""


class DecisionService:
    """Looks at decisions; recording them is the tool runner's."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, text: str, nearby: Sequence[str] = ()) -> Decision:
        """Returns the decision that `text` names; the id of a plan means its first decision.

        `nearby` are the directories whose plans `@latest` may mean, the most likely first.

        Raises:
            DecisionNotFoundError: there is none, or it cannot be an id.
            AmbiguousIdError: several fit.
        """
        with self._database.read() as transaction:
            prefix = ids.normalise(text)
            known = transaction.decisions.ids(prefix) if prefix else list[str]()
            chosen = None if text.startswith("@") else ids.choose(text, "decision", known)
            if chosen is None:
                plan_id = ids.choose(text, "plan", named_plans(transaction, text, nearby))
                chosen = transaction.plans.get(plan_id).decision_root_id if plan_id else None
            if chosen is None:
                raise DecisionNotFoundError(text)
            return transaction.decisions.get(chosen)

    def tree(self, plan_id: str, *, superseded: bool = False) -> DecisionTree:
        """Returns the plan's decisions; with `superseded` also the superseded ones."""
        with self._database.read() as transaction:
            plan = transaction.plans.get(plan_id)
            every = transaction.decisions.list(plan_id, superseded=True)
            children = transaction.plans.descendants(plan_id)
        gone = sum(1 for item in every if item.superseded_by is not None)
        shown = [item for item in every if superseded or item.superseded_by is None]
        return DecisionTree(plan, shown, gone, children)

    def explain(self, decision: Decision) -> Explanation:
        """Returns what led to a decision and what depends on it."""
        with self._database.read() as transaction:
            plan = transaction.plans.get(decision.plan_id)
            standing = transaction.decisions.list(plan.id)
            changes = transaction.changes.list(plan.id)
            made = [
                item
                for item in transaction.checkpoints.list(plan.id, set_aside=True)
                if item.decision_id == decision.id
            ]
        steps = plan.step_sequence
        definition = (
            steps[decision.step_index].step.decision
            if decision.step_index is not None and decision.step_index < len(steps)
            else None
        )
        siblings = [item.id for item in standing]
        return Explanation(
            plan=plan,
            decision=decision,
            position=siblings.index(decision.id) + 1 if decision.id in siblings else 0,
            of=len(siblings),
            options={name: each.description for name, each in definition.options.items()}
            if definition
            else {},
            downstream=decisions_below(decision, standing),
            artifacts=artifacts_of(decision, plan, changes),
            checkpoint=made[0] if made else None,
        )
