"""Making child plans: their records first, then their sandboxes.

The records come in one transaction with a checkpoint of the parent; the sandboxes are forks
of the parent's, which is at that state until they have run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.ports.records import Database, Transaction
from cleveragents.application.ports.sandboxes import Sandboxes
from cleveragents.application.ports.system import Clock, FaultPoints, IdSource
from cleveragents.application.services.checkpoint_service import CheckpointService, Milestone
from cleveragents.application.services.execution.step import StepContext, outputs_of
from cleveragents.domain.checkpoints.checkpoint import CheckpointType, Trigger
from cleveragents.domain.decisions.decision import (
    Decision,
    DecisionType,
    decision_context,
    prompt_of,
)
from cleveragents.domain.plans.choices import resolve_choices
from cleveragents.domain.plans.origin import origin_of
from cleveragents.domain.plans.plan import Plan, PlanPhase, PlanState
from cleveragents.domain.plans.plan_file import PlanDefinition, SubplansDefinition
from cleveragents.domain.plans.subplan import SPAWN_SUBPLAN, SubplanMode
from cleveragents.domain.sandboxes.sandbox import Resource, SandboxRef

_SPAWNS = (DecisionType.SUBPLAN_SPAWN, DecisionType.SUBPLAN_PARALLEL_SPAWN)


@dataclass(frozen=True)
class _NewChild:
    """Everything that is stored of a child when it is spawned."""

    plan: Plan
    root: Decision
    resources: Sequence[Resource]


class ChildSpawner:
    """Makes the children of one step, and finds those that an earlier run has made."""

    def __init__(
        self,
        database: Database,
        checkpoints: CheckpointService,
        sandboxes: Sandboxes,
        clock: Clock,
        id_source: IdSource,
        faults: FaultPoints,
    ) -> None:
        self._database = database
        self._checkpoints = checkpoints
        self._sandboxes = sandboxes
        self._clock = clock
        self._ids = id_source
        self._faults = faults

    def children(self, context: StepContext) -> dict[str, Plan]:
        """Returns the children of the step by their names; cancelled ones are left out."""
        with self._database.read() as transaction:
            return _children(transaction, context)

    def spawn(self, context: StepContext, subplans: SubplansDefinition, names: list[str]) -> None:
        """Makes those of the named children that are not there, each ready to run."""
        known = self.children(context)
        missing = [name for name in names if name not in known]
        if missing:
            for name in missing:
                self._trigger(context, name)
            self._record(context, subplans, missing)
            known = self.children(context)
        elif context.step.is_appended:
            self._start_appended(context, names[0], known[names[0]])
            known = self.children(context)
        for name in names:
            self._fork(context, known[name])

    def is_forked(self, child: Plan) -> bool:
        """Returns whether a child has its sandboxes."""
        with self._database.read() as transaction:
            return bool(transaction.sandboxes.list(child.id))

    def is_given_up(self, context: StepContext) -> bool:
        """Returns whether the user cancelled the child of an appended step."""
        with self._database.read() as transaction:
            return context.step.is_appended and any(
                child.state is PlanState.CANCELLED for child in _spawned(transaction, context)
            )

    def _start_appended(self, context: StepContext, name: str, child: Plan) -> None:
        """Takes the checkpoints of a spawn for a child that a correction has recorded."""
        if self.is_forked(child):
            return
        self._trigger(context, name)
        with self._database.read() as transaction:
            outputs = outputs_of(context, transaction.tool_calls.list(context.plan.id))
        arguments = {**child.arguments, **_inherited(outputs)}

        def started(transaction: Transaction, plan: Plan) -> Plan:
            latest = transaction.plans.get(child.id)
            transaction.plans.save(replace(latest, arguments=arguments))
            return plan

        moment = Milestone(
            CheckpointType.DECISION,
            label=f"spawned: {name}",
            reason="a correction appended it",
            step_index=context.step_index,
            source_tool=SPAWN_SUBPLAN,
            decision_id=child.spawn_decision_id,
            repeated=context.repeated,
        )
        self._checkpoints.create_as_required(context.lease, context.plan, moment, started)

    def _trigger(self, context: StepContext, name: str) -> None:
        moment = Milestone(
            CheckpointType.AUTOMATIC,
            label=f"before subplan {name}",
            reason=f"trigger {Trigger.ON_SUBPLAN_SPAWN.value}",
            step_index=context.step_index,
            trigger=Trigger.ON_SUBPLAN_SPAWN,
            source_tool=SPAWN_SUBPLAN,
            repeated=context.repeated,
        )
        self._checkpoints.auto_create_if_configured(
            context.lease, Trigger.ON_SUBPLAN_SPAWN, context.plan, moment
        )

    def _record(self, context: StepContext, subplans: SubplansDefinition, names: list[str]) -> None:
        """Stores the decision to spawn, the children, and the state that they start from."""
        decision_id = self._ids.new()
        with self._database.read() as transaction:
            outputs = outputs_of(context, transaction.tool_calls.list(context.plan.id))
            resources = transaction.sandboxes.resources(context.plan.id)
        births = [
            self._birth(context, subplans, name, decision_id, resources, outputs) for name in names
        ]

        def spawned(transaction: Transaction, plan: Plan) -> Plan:
            transaction.decisions.add(
                self._decision(transaction, context, subplans.mode, decision_id, names, births)
            )
            for birth in births:
                transaction.plans.add(birth.plan)
                for resource in birth.resources:
                    transaction.sandboxes.add_resource(resource)
                transaction.decisions.add(birth.root)
            return plan

        moment = Milestone(
            CheckpointType.DECISION,
            label=f"spawned: {', '.join(names)}",
            reason=f"subplans run {subplans.mode.value}",
            step_index=context.step_index,
            source_tool=SPAWN_SUBPLAN,
            decision_id=decision_id,
        )
        self._checkpoints.create_as_required(context.lease, context.plan, moment, spawned)
        self._faults.reach(FaultPoint.CHILDREN_RECORDED)

    def _birth(
        self,
        context: StepContext,
        subplans: SubplansDefinition,
        name: str,
        decision_id: str,
        resources: Sequence[Resource],
        outputs: Mapping[str, str],
    ) -> _NewChild:
        parent, wanted, now = context.plan, subplans.plans[name], self._clock.now()
        child_id, root_id = self._ids.new(), self._ids.new()
        definition = _definition(parent, name, subplans)
        arguments = {**parent.arguments, **_inherited(outputs)}
        plan = Plan(
            id=child_id,
            name=definition.name,
            project=parent.project,
            project_key=parent.project_key,
            plan_file=parent.plan_file,
            definition=definition,
            arguments=arguments,
            phase=PlanPhase.STRATEGIZE,
            state=PlanState.COMPLETE,
            decision_root_id=root_id,
            created_at=now,
            updated_at=now,
            choices=resolve_choices(definition, arguments),
            parent_plan_id=parent.id,
            spawn_decision_id=decision_id,
        )
        root = prompt_of(
            child_id,
            root_id,
            wanted.description or definition.name,
            list(definition.resources),
            len(definition.steps),
            parent.last_checkpoint_id,
            now,
        )
        own = [
            replace(resource, id=self._ids.new(), plan_id=child_id)
            for resource in resources
            if resource.name in definition.resources
        ]
        return _NewChild(plan, root, own)

    def _decision(
        self,
        transaction: Transaction,
        context: StepContext,
        mode: SubplanMode,
        decision_id: str,
        names: list[str],
        births: Sequence[_NewChild],
    ) -> Decision:
        here = context.step_sequence[context.step_index]
        standing = transaction.decisions.list(context.plan.id)
        above = {item.place: item.id for item in standing if item.place is not None}
        alone = mode is SubplanMode.SEQUENTIAL
        return Decision(
            id=decision_id,
            plan_id=context.plan.id,
            parent_id=above.get(here.decision_path or "", context.plan.decision_root_id),
            sequence=transaction.decisions.next_sequence(context.plan.id),
            decision_type=_SPAWNS[0] if alone else _SPAWNS[1],
            question=f"Which subplans run for `{context.step.name}`?",
            chosen_option=", ".join(names),
            rationale=f"the plan has subplans run {mode.value}",
            context_snapshot=decision_context(context.paths, context.plan.last_checkpoint_id),
            step_index=context.step_index,
            created_at=self._clock.now(),
            place=here.step_path,
            downstream_plan_ids=[birth.plan.id for birth in births],
        )

    def _fork(self, context: StepContext, child: Plan) -> None:
        """Gives a child its sandboxes, if it has none yet.

        The parent waits while its children run, so its sandboxes are still what they
        were at the spawn, or were brought back to that when it was gone on with.
        """
        with self._database.read() as transaction:
            if transaction.sandboxes.list(child.id):
                return
            resources = transaction.sandboxes.resources(child.id)
        sources = {
            sandbox.resource: (sandbox, made.snapshot_id)
            for sandbox, made in self._checkpoints.take(context.lease)
        }
        forks: list[SandboxRef] = []
        try:
            for resource in resources:
                source = sources[resource.name]
                forks.append(self._sandboxes.fork(self._ids.new(), child.id, resource, *source))
                self._sandboxes.note_origin(origin_of(child, resource, forks[-1]))
        except BaseException:
            for fork in forks:
                self._sandboxes.remove(fork)
            raise
        self._faults.reach(FaultPoint.CHILD_FORKED)
        with self._database.write(child.id) as transaction:
            for fork in forks:
                transaction.sandboxes.add(fork)


def _children(transaction: Transaction, context: StepContext) -> dict[str, Plan]:
    first = len(context.plan.name) + 1
    return {
        child.name[first:]: child
        for child in _spawned(transaction, context)
        if child.state is not PlanState.CANCELLED
    }


def _spawned(transaction: Transaction, context: StepContext) -> list[Plan]:
    """Returns the children of the step's spawn decisions in effect, cancelled or not."""
    here = context.step_sequence[context.step_index].step_path
    spawns = {
        decision.id
        for decision in transaction.decisions.list(context.plan.id)
        if decision.decision_type in _SPAWNS and decision.place == here
    }
    children = transaction.plans.children(context.plan.id)
    return [child for child in children if child.spawn_decision_id in spawns]


def _inherited(outputs: Mapping[str, str]) -> dict[str, str]:
    """Returns what the parent has saved, which is a value like any other for the child."""
    return {f"outputs.{key}": value for key, value in outputs.items()}


def _definition(parent: Plan, name: str, subplans: SubplansDefinition) -> PlanDefinition:
    """Returns a child's definition: what its parent's says, and its own steps."""
    whole, wanted = parent.definition, subplans.plans[name]
    scope = wanted.resources or list(whole.resources)
    chosen = {key: value for key, value in whole.resources.items() if key in scope}
    # What is in the sandbox of another resource comes with that one, after those it works on.
    for shared in [item.shared for item in chosen.values() if item.shared is not None]:
        chosen.setdefault(shared.sandbox, whole.resources[shared.sandbox])
    return replace(
        whole,
        name=f"{parent.name}.{name}",
        description=wanted.description,
        resources=chosen,
        validations=[],
        definition_of_done=[],
        invariants=[],
        steps=wanted.steps,
    )
