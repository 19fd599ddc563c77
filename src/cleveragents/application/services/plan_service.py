"""PlanService: creates plans from plan files, and reports their status."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from cleveragents.application.events import WarningIssued
from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.ports.locks import Locks
from cleveragents.application.ports.plans import PlanFiles
from cleveragents.application.ports.records import Database, Transaction
from cleveragents.application.ports.sandboxes import Sandboxes
from cleveragents.application.ports.system import Clock, EventSink, FaultPoints, IdSource
from cleveragents.application.ports.tools import ToolBackend
from cleveragents.application.services.apply.sandbox_removal import (
    SandboxRemoval,
    give_up_sandboxes,
)
from cleveragents.application.services.checkpoints.pruning import retention_summary
from cleveragents.application.services.checkpoints.resume_point import resume_point
from cleveragents.application.services.execution.resource_selection import ResourceSelection
from cleveragents.application.services.plan_references import named_plans
from cleveragents.application.services.subplans import family
from cleveragents.domain import ids
from cleveragents.domain.checkpoints.checkpoint import Checkpoint
from cleveragents.domain.checkpoints.operation import Operation
from cleveragents.domain.checkpoints.retention import CheckpointRetentionPolicy, RetentionSummary
from cleveragents.domain.decisions.decision import Decision, invariant_of, prompt_of
from cleveragents.domain.errors import (
    BusinessRuleViolation,
    CheckpointRequiredError,
    PlanNotFoundError,
    ProjectRefusedError,
    UsageError,
)
from cleveragents.domain.names import nearest
from cleveragents.domain.plans.apply import ApplyRecord
from cleveragents.domain.plans.choices import resolve_choices
from cleveragents.domain.plans.cleanup import SandboxCleanup, is_removed_when_cancelled
from cleveragents.domain.plans.lease import Holder, Lease
from cleveragents.domain.plans.plan import Plan, PlanAction, PlanPhase, PlanState, PlanSummary
from cleveragents.domain.plans.plan_file import (
    PlanDefinition,
    depth,
    every_step_below,
    resolve_arguments,
)
from cleveragents.domain.plans.recovery import (
    RecoveryHint,
    options_after_failed_apply,
    recovery_hints,
)
from cleveragents.domain.plans.subplan_merge import OpenConflict, open_conflicts
from cleveragents.domain.plans.validation import ValidationResult, ValidationStatus
from cleveragents.domain.sandboxes.resource import SandboxStrategy
from cleveragents.domain.sandboxes.sandbox import Resource, SandboxRef, SandboxState
from cleveragents.domain.tools.tool import ToolCall, ToolCallStatus, expected_seconds

PlanT = TypeVar("PlanT", bound=PlanSummary)

_RUNNING = (PlanPhase.EXECUTE, PlanState.PROCESSING)
_MAY_HAVE_ENDED = (PlanState.PROCESSING, PlanState.COMPLETE, PlanState.CANCELLED)
"""The states of which the record of a session may be older than the session."""


class PlanActivity(msgspec.Struct, frozen=True):
    """Who works on plans, and how long they have run."""

    elapsed: Mapping[str, float | None]
    """By plan: the seconds since it started, until now if a process runs it."""
    interrupted: Collection[str]
    """The plans whose process was killed while it worked on them."""
    recorders: Mapping[str, Lease]
    """By session that runs: the lease of the process that records it."""


class PlanStatus(msgspec.Struct, frozen=True):
    """A plan with everything its status shows."""

    plan: Plan
    resources: Sequence[Resource]
    sandboxes: Sequence[SandboxRef]
    checkpoints: Sequence[Checkpoint]
    tool_calls: Sequence[ToolCall]
    holder: Holder | None
    """The process that is changing the plan now."""
    held_since: datetime | None
    """When that process took the plan."""
    children: Sequence[Plan]
    """The plans that it spawned."""
    interrupted: Operation | None
    """What a killed process began; the next change of the plan ends it first."""
    validations: Sequence[ValidationResult]
    """What the validations said last."""
    applied: ApplyRecord | None
    """What the apply did, once it is done."""
    conflicts: Sequence[OpenConflict]
    """Changes of subplans that nobody has accepted or rejected yet."""
    decisions_made: int
    """How many decisions are in effect, the plan itself included."""
    files_modified: int
    """How many files it changed, what was merged of its children included."""
    retention: RetentionSummary
    elapsed: float | None
    """Seconds since it started; None before that."""
    eta: float | None
    """Seconds that its remaining steps take if each takes as long as those that are done; None
    unless it runs."""


class Cancellation(msgspec.Struct, frozen=True):
    """A cancelled plan, and what is left of its children's work."""

    status: PlanStatus
    files_kept_by_children: int
    """How many files its children changed in sandboxes that are still there."""
    was_cancelled: bool
    """Whether the plan was cancelled before."""


class PlanProblems(msgspec.Struct, frozen=True):
    """What went wrong with a plan, and what can be done about it."""

    status: PlanStatus
    failed_calls: Sequence[ToolCall]
    """Those that were tried again and undone included, oldest first."""
    failed_validations: Sequence[ValidationResult]
    """Those whose last run failed."""
    hints: Sequence[RecoveryHint]


class PlanService:
    """Strategize and looking; running is the executor's."""

    def __init__(
        self,
        database: Database,
        plan_files: PlanFiles,
        tools: ToolBackend,
        sandboxes: Sandboxes,
        locks: Locks,
        clock: Clock,
        id_source: IdSource,
        events: EventSink,
        faults: FaultPoints,
        cleanup: SandboxCleanup,
        max_child_depth: int,
        retention: CheckpointRetentionPolicy,
        strategy: SandboxStrategy,
    ) -> None:
        self._retention = retention
        self._max_child_depth = max_child_depth
        self._faults = faults
        self._database = database
        self._plan_files = plan_files
        self._tools = tools
        self._sandboxes = sandboxes
        self._locks = locks
        self._clock = clock
        self._ids = id_source
        self._events = events
        self._cleanup = cleanup
        self._cleaning = SandboxRemoval(database, sandboxes, faults)
        self._resources = ResourceSelection(sandboxes, id_source, strategy)

    def use(
        self,
        plan_file: Path,
        project: Path,
        arguments: Mapping[str, str],
        *,
        include_uncommitted: bool = False,
    ) -> Plan:
        """Strategizes: reads, checks and records a plan; the project is only read.

        Args:
            plan_file: The file.
            project: The project, or a directory in it.
            arguments: The user's values for the plan's arguments.
            include_uncommitted: Whether sandboxes of repositories will start from the
                files as they are then, not from `HEAD`.

        Raises:
            PlanFileError: the file is not a valid plan.
            UsageError: an argument is missing, unknown or of the wrong type.
            ProjectRefusedError: the project cannot be sandboxed whole.
            CheckpointRequiredError: a tool of the plan could not be rolled back.
        """
        definition = self._plan_files.load(plan_file)
        values = resolve_arguments(definition, arguments)
        choices = resolve_choices(definition, values)
        self._refuse_unless_reversible(definition)
        self._refuse_depth(definition)
        plan_id, now = self._ids.new(), self._clock.now()
        used = self._resources.of(
            plan_id, definition, project, include_uncommitted=include_uncommitted
        )
        definition = used.definition
        prompt = self._root_decision(plan_id, definition)
        plan = Plan(
            id=plan_id,
            name=definition.name,
            project=str(used.root),
            project_key=used.key,
            plan_file=str(plan_file.absolute()),
            definition=definition,
            arguments=values,
            phase=PlanPhase.STRATEGIZE,
            state=PlanState.QUEUED,
            decision_root_id=prompt.id,
            created_at=now,
            updated_at=now,
            choices=choices,
        )
        plan = plan.after(PlanAction.STRATEGIZE, now).after(PlanAction.FINISH, self._clock.now())
        with self._database.write(plan.id) as transaction:
            transaction.plans.add(plan)
            for resource in used.resources:
                transaction.sandboxes.add_resource(resource)
            for decision in (prompt, *self._invariants(prompt, definition)):
                transaction.decisions.add(decision)
        return plan

    def additional_steps(self, plan_file: Path, plan_id: str) -> PlanDefinition:
        """Reads steps that are to run at the end of a plan; nothing is recorded.

        They use resources of that plan, and the values of its arguments.

        Raises:
            PlanFileError: the file is not a valid plan.
            UsageError: an argument has no value, or a resource or tool is not that of the plan.
            CheckpointRequiredError: a tool could not be rolled back.
        """
        with self._database.read() as transaction:
            plan = transaction.plans.get(plan_id)
        whole, more = plan.definition, self._plan_files.load(plan_file)
        given = {key: plan.arguments[key] for key in more.arguments if key in plan.arguments}
        resolve_choices(more, resolve_arguments(more, given))
        for name in more.resources:
            if name not in whole.resources:
                raise UsageError(
                    f"{plan_file} uses the resource `{name}`, which the plan does not have",
                    hint=nearest(name, whole.resources),
                )
        for name, tool in more.tools.items():
            if whole.tools.get(name, tool) != tool:
                raise UsageError(f"{plan_file} and the plan define the tool `{name}` differently")
        more = replace(more, policy=whole.policy)
        self._refuse_unless_reversible(more)
        self._refuse_depth(more, above=1)
        return more

    def find(self, text: str, nearby: Sequence[str] = ()) -> Plan:
        """Returns the plan that `text` names.

        Args:
            text: An id, the beginning of one, or a place in the order of the plans of one
                project: `@latest` and its like count no subplans.
            nearby: The directories that may be that project, the most likely first.

        Raises:
            PlanNotFoundError: there is none, or it cannot be an id.
            AmbiguousIdError: several fit.
        """
        with self._database.read() as transaction:
            chosen = ids.choose(text, "plan", named_plans(transaction, text, nearby))
            if chosen is not None:
                return transaction.plans.get(chosen)
        raise PlanNotFoundError(text, nearby[0] if text.startswith("@") and nearby else None)

    def project_root(self, path: Path) -> str:
        """Returns the project a directory is in, as plans name it; one that is gone as it is."""
        try:
            return self._sandboxes.project_root(path)
        except ProjectRefusedError:
            return str(path.absolute())

    def list_plans(
        self,
        *,
        phase: PlanPhase | None = None,
        state: PlanState | None = None,
        project: str | None = None,
        action: str | None = None,
        pattern: str | None = None,
        subplans: bool = False,
    ) -> Sequence[PlanSummary]:
        """Returns plans, oldest first.

        Args:
            phase: Only plans in this phase.
            state: Only plans in this state.
            project: Only plans of this project.
            action: Only plans with this name.
            pattern: Only plans whose name this regular expression matches somewhere.
            subplans: Whether plans that other plans spawned are included.

        Raises:
            UsageError: the pattern is not a regular expression.
        """
        try:
            matcher = re.compile(pattern or "")
        except re.error as error:
            raise UsageError(
                f"`{pattern}` is not a regular expression: {error}",
                hint="Write `\\` before a character that is meant literally",
            ) from error
        with self._database.read() as transaction:
            found = transaction.plans.list(
                phase=phase, state=None if state in _MAY_HAVE_ENDED else state, project=project
            )
        return [
            plan
            for plan in map(self._seen, found)
            if state in (None, plan.state)
            and (subplans or plan.parent_plan_id is None)
            and action in (None, plan.name)
            and matcher.search(plan.name)
        ]

    def _seen(self, plan: PlanT) -> PlanT:
        """Returns a session whose process is gone as ended, whether that is recorded or not."""
        if plan.session is None or (plan.phase, plan.state) != _RUNNING:
            return plan
        if self._locks.holder(plan.id) is not None:
            return plan
        # Its command begins after the first checkpoint.
        has_begun = plan.last_checkpoint_id is not None
        return replace(plan, state=PlanState.COMPLETE if has_begun else PlanState.CANCELLED)

    def activity(self, plans: Sequence[PlanSummary]) -> PlanActivity:
        """Returns who works on plans, and how long they have run."""
        processing = [plan.id for plan in plans if plan.state is PlanState.PROCESSING]
        leases = {plan_id: self._locks.lease(plan_id) for plan_id in processing}
        holders = {key: lease.holder if lease else None for key, lease in leases.items()}
        now = self._clock.now()
        return PlanActivity(
            {
                plan.id: plan.elapsed(now if _runs(plan, holders.get(plan.id)) else None)
                for plan in plans
            },
            {plan_id for plan_id, holder in holders.items() if holder is None},
            {
                plan.id: lease
                for plan in plans
                if plan.session and (lease := leases.get(plan.id)) is not None
            },
        )

    def status(self, plan_id: str) -> PlanStatus:
        lease = self._locks.lease(plan_id)
        holder = lease.holder if lease else None
        with self._database.read() as transaction:
            plan = self._seen(transaction.plans.get(plan_id))
            operations = transaction.operations.list(plan_id)
            said = transaction.validations.list(plan_id)
            latest = {result.name: result for result in said}
            done = [item.apply for item in operations if item.apply is not None]
            calls, runs = transaction.tool_calls.list(plan_id), _runs(plan, holder)
            left = len(plan.step_sequence) - plan.last_completed_step - 1 if runs else 0
            return PlanStatus(
                plan=plan,
                resources=transaction.sandboxes.resources(plan_id),
                sandboxes=transaction.sandboxes.list(plan_id),
                checkpoints=transaction.checkpoints.list(plan_id),
                tool_calls=calls,
                holder=holder,
                held_since=lease.acquired_at if lease else None,
                children=transaction.plans.children(plan_id),
                interrupted=transaction.operations.pending(plan_id),
                validations=list(latest.values()),
                applied=done[-1] if done and plan.state is PlanState.APPLIED else None,
                conflicts=open_conflicts(calls),
                decisions_made=len(transaction.decisions.list(plan_id)),
                files_modified=transaction.changes.count(plan_id).files,
                retention=retention_summary(transaction, plan_id, self._retention),
                elapsed=plan.elapsed(self._clock.now() if runs else None),
                eta=expected_seconds(calls, left) if runs else None,
            )

    def stop(self, plan_id: str) -> None:
        """Stops the process that executes or applies a plan on this machine, and waits for it.

        The process of a subplan is its parent's to stop.
        """
        with self._database.read() as transaction:
            is_child = transaction.plans.get(plan_id).parent_plan_id is not None
        if not is_child:
            self._locks.stop_holder(plan_id)

    def cancel(self, plan_id: str, reason: str | None, *, discard: bool = False) -> Cancellation:
        """Cancels a plan and what it spawned; checkpoints stay, and so do most sandboxes.

        Args:
            plan_id: The plan.
            reason: Why, for people.
            discard: Whether its sandboxes are removed even if they hold changes.

        Raises:
            ConflictError: a process is working on it.
            PlanStateError: it is applied already, or cancelled, and there is nothing to discard.
        """
        with (
            self._locks.hold(plan_id),
            self._locks.hold_below(plan_id),
        ):
            with self._database.write() as transaction:
                plan = transaction.plans.get(plan_id)
                is_kept = plan.state is PlanState.APPLIED and _has_sandbox(transaction, plan_id)
                given_up = (
                    # It has ended already: only what is left of its sandboxes goes.
                    [plan, *transaction.plans.descendants(plan_id)]
                    if discard and (is_kept or plan.state is PlanState.CANCELLED)
                    else family.cancel(transaction, plan, reason, self._clock.now())
                )
                for before in given_up:
                    if is_removed_when_cancelled(self._cleanup, before, discard=discard):
                        give_up_sandboxes(transaction, before.id)
            self._faults.reach(FaultPoint.CANCEL_RECORDED)
            for before in given_up:
                for problem in self._cleaning.remove_given_up(before.id):
                    self._events.emit(WarningIssued(problem))
        status = self.status(plan_id)
        with self._database.read() as transaction:
            kept = _files_kept(transaction, status.children)
        return Cancellation(status, kept, plan.state is PlanState.CANCELLED)

    def problems(self, plan_id: str) -> PlanProblems:
        """Says what went wrong with a plan and what can be done about it."""
        status = self.status(plan_id)
        with self._database.read() as transaction:
            point = resume_point(transaction, status.plan)
        hints = recovery_hints(
            status.plan,
            holder=str(status.holder) if status.holder else None,
            point=point.id if point else None,
        )
        failed = [call for call in status.tool_calls if call.status is ToolCallStatus.FAILED]
        refused = [item for item in status.validations if item.status is ValidationStatus.FAILED]
        return PlanProblems(status, failed, refused, hints)

    def options_after_failed_apply(self, plan_id: str) -> Sequence[RecoveryHint]:
        """Says what can be done with a plan that could not be applied."""
        with self._database.read() as transaction:
            plan = transaction.plans.get(plan_id)
            point = resume_point(transaction, plan)
        return options_after_failed_apply(plan, point=point.id if point else None)

    def _refuse_unless_reversible(self, definition: PlanDefinition) -> None:
        """Refuses writes without checkpoints, unless the plan says it can do without."""
        for step in every_step_below(definition.steps):
            spec = definition.tools.get(step.tool) or self._tools.specs()[step.tool]
            blocked = spec.writes and not spec.checkpointable
            if blocked and definition.policy.require_checkpoints:
                raise CheckpointRequiredError(
                    f"Step `{step.name}` writes with `{step.tool}`, which is not checkpointable, "
                    "and the plan requires checkpoints",
                    hint="Leave out `checkpointable: false`, or set "
                    "`policy.require_checkpoints: false`",
                    tool=step.tool,
                )

    def _refuse_depth(self, definition: PlanDefinition, *, above: int = 0) -> None:
        found = above + depth(definition.steps)
        if found > self._max_child_depth:
            raise BusinessRuleViolation(
                f"Subplans of `{definition.name}` are {found} plans deep, the plan itself "
                f"included, and {self._max_child_depth} are allowed",
                hint="Flatten the plan, or raise `plan.max-child-depth`",
                depth=found,
            )

    def _root_decision(self, plan_id: str, definition: PlanDefinition) -> Decision:
        return prompt_of(
            plan_id,
            self._ids.new(),
            definition.description or definition.name,
            list(definition.resources),
            len(definition.steps),
            None,
            self._clock.now(),
        )

    def _invariants(self, prompt: Decision, definition: PlanDefinition) -> list[Decision]:
        return [
            invariant_of(
                prompt, self._ids.new(), item.text, _invariant_check(item.validation), number
            )
            for number, item in enumerate(definition.invariants, 1)
        ]


def _invariant_check(validation: str | None) -> str:
    if validation is None:
        return "checked by whoever applies the plan"
    return f"checked by the validation `{validation}` before the plan is applied"


def _runs(plan: PlanSummary, holder: Holder | None) -> bool:
    """Returns whether the steps of the plan run now."""
    return holder is not None and (plan.phase, plan.state) == _RUNNING


def _files_kept(transaction: Transaction, plans: Sequence[Plan]) -> int:
    """Returns how many files plans changed in sandboxes that are still there."""
    return sum(
        transaction.changes.count(plan.id).files
        for plan in plans
        if any(
            sandbox.state is not SandboxState.CLEANED_UP
            for sandbox in transaction.sandboxes.list(plan.id)
        )
    )


def _has_sandbox(transaction: Transaction, plan_id: str) -> bool:
    return any(
        sandbox.state is not SandboxState.CLEANED_UP and sandbox.strategy.is_private
        for sandbox in transaction.sandboxes.list(plan_id)
    )
