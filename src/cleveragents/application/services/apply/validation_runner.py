"""Running the validations of a plan in its sandboxes, which are restored after each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cleveragents.application.events import Stage, WarningIssued
from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.ports.locks import PlanLease
from cleveragents.application.ports.records import Database
from cleveragents.application.ports.sandboxes import SnapshotStore
from cleveragents.application.ports.system import (
    Clock,
    EventSink,
    FaultPoints,
    IdSource,
    Interruption,
)
from cleveragents.application.ports.tools import ToolBackend
from cleveragents.application.services.checkpoint_service import CheckpointService
from cleveragents.application.services.checkpoints.group_recorder import snapshot_ids
from cleveragents.application.services.rollback.procedure import RollbackProcedure
from cleveragents.domain.checkpoints.checkpoint import Checkpoint
from cleveragents.domain.errors import (
    ExecutionError,
    InterruptedByUserError,
    ValidationFailedError,
)
from cleveragents.domain.plans.events import ValidationStarted
from cleveragents.domain.plans.plan import Plan, PlanAction
from cleveragents.domain.plans.plan_file import work_places
from cleveragents.domain.plans.validation import (
    ValidationDefinition,
    ValidationResult,
    ValidationStatus,
)
from cleveragents.domain.sandboxes.resource import ResourceType
from cleveragents.domain.sandboxes.sandbox import SandboxRef
from cleveragents.domain.tools.tool import ToolInvocation, ToolResult, printed_by
from cleveragents.domain.wording import listed


class ValidationRunner:
    """Judges the result of plans; the caller holds the plan's lease."""

    def __init__(
        self,
        database: Database,
        checkpoints: CheckpointService,
        rollbacks: RollbackProcedure,
        snapshots: SnapshotStore,
        tools: ToolBackend,
        clock: Clock,
        id_source: IdSource,
        events: EventSink,
        faults: FaultPoints,
        interruption: Interruption,
    ) -> None:
        self._database = database
        self._checkpoints = checkpoints
        self._rollbacks = rollbacks
        self._snapshots = snapshots
        self._tools = tools
        self._clock = clock
        self._ids = id_source
        self._events = events
        self._faults = faults
        self._interruption = interruption

    def run(
        self,
        lease: PlanLease,
        plan: Plan,
        sandboxes: Sequence[SandboxRef],
        checkpoint: Checkpoint,
    ) -> None:
        """Runs them one after the other, each on what `checkpoint` holds.

        Raises:
            InterruptedByUserError: the user wants to stop; the sandboxes are as they were.
            ValidationFailedError: a required validation failed; the plan is constrained.
        """
        with self._database.read() as transaction:
            wanted = transaction.checkpoints.get_group(checkpoint.group_id).snapshots
        with self._interruption.listening():
            results = tuple(
                self._one(lease, plan, definition, sandboxes, checkpoint, wanted)
                for definition in plan.definition.validations
            )
            if self._interruption.requested():
                raise InterruptedByUserError("Stopped after the validations")
        if any(item.blocks for item in results):
            with self._database.write(plan.id) as transaction:
                latest = transaction.plans.get(plan.id)
                transaction.plans.save(latest.after(PlanAction.CONSTRAIN, self._clock.now()))
            self._faults.reach(FaultPoint.VALIDATIONS_RECORDED)
            raise ValidationFailedError(
                plan.id,
                [_failure(plan, item) for item in results if item.blocks],
                [item.model_dump(mode="json") for item in results],
            )

    def _one(
        self,
        lease: PlanLease,
        plan: Plan,
        definition: ValidationDefinition,
        sandboxes: Sequence[SandboxRef],
        checkpoint: Checkpoint,
        wanted: Mapping[str, str],
    ) -> ValidationResult:
        self._events.emit(Stage(f"Validating: {definition.name}"))
        started = self._clock.now()
        with self._database.write(plan.id) as transaction:
            transaction.events.add(
                ValidationStarted(plan.id, definition.name, definition.mode.value)
            )
        for sandbox in sandboxes:
            with self._snapshots.lock(sandbox, lease) as locked:
                locked.keep_uncaptured()
        self._faults.reach(FaultPoint.UNCAPTURED_KEPT)
        try:
            status, message, done = self._judged(plan, definition, sandboxes)
        except BaseException:
            self._restored(lease, sandboxes, checkpoint, wanted)
            raise
        finished = self._clock.now()
        self._faults.reach(FaultPoint.VALIDATION_ENDED)
        changed = self._restored(lease, sandboxes, checkpoint, wanted)
        if changed:
            self._events.emit(
                WarningIssued(
                    f"The validation `{definition.name}` changed the sandbox, which was "
                    f"restored: {listed(changed)}"
                )
            )
        result = ValidationResult(
            id=self._ids.new(),
            plan_id=plan.id,
            name=definition.name,
            mode=definition.mode,
            status=status,
            message=message,
            output=done.output,
            stderr=done.stderr,
            changed=changed,
            started_at=started,
            finished_at=finished,
        )
        with self._database.write(result.plan_id) as transaction:
            transaction.validations.add(result)
        return result

    def _judged(
        self, plan: Plan, definition: ValidationDefinition, sandboxes: Sequence[SandboxRef]
    ) -> tuple[ValidationStatus, str | None, ToolResult]:
        spec = definition.tool
        made = {sandbox.resource: sandbox.path for sandbox in sandboxes}
        places = work_places(plan.definition.resources, made)
        invocation = ToolInvocation(
            spec=spec,
            input={name: plan.arguments[name] for name in spec.parameters},
            directory=_directory(plan, places),
            resources=places,
            plan_id=plan.id,
            call_id=self._ids.new(),
        )
        try:
            done = self._tools.run(invocation)
        except ExecutionError as error:
            return ValidationStatus.FAILED, error.message, printed_by(error)
        return ValidationStatus.PASSED, None, done

    def _restored(
        self,
        lease: PlanLease,
        sandboxes: Sequence[SandboxRef],
        checkpoint: Checkpoint,
        wanted: Mapping[str, str],
    ) -> tuple[str, ...]:
        """Restores the sandboxes to the checkpoint, and returns the paths that differed.

        What no checkpoint holds comes first: what is left of it would look like a change.
        """
        for sandbox in sandboxes:
            with self._snapshots.lock(sandbox, lease) as locked:
                locked.restore_uncaptured()
        self._faults.reach(FaultPoint.UNCAPTURED_RESTORED)
        found = snapshot_ids(self._checkpoints.take(lease))
        if found == wanted:
            return ()
        changes = self._checkpoints.changes_between(sandboxes, wanted, found)
        self._rollbacks.restore_during_run(lease, checkpoint)
        self._checkpoints.forget_unnamed(lease, sandboxes, found, wanted)
        return tuple(
            change.path if len(wanted) == 1 else f"{sandbox.resource}/{change.path}"
            for sandbox, made in changes
            for change in made
        )


def _failure(plan: Plan, result: ValidationResult) -> str:
    """Returns what a failed validation says, and which requirements are not met because of it."""
    definition = plan.definition
    unmet = [
        item.text
        for item in (*definition.definition_of_done, *definition.invariants)
        if item.validation == result.name
    ]
    said = result.message or f"`{result.name}` failed"
    return f"{said} (not met: {', '.join(unmet)})" if unmet else said


def _directory(plan: Plan, places: Mapping[str, str]) -> str:
    """Returns where a validation starts; a database is a file in the directory of its sandbox."""
    name, path = next(iter(places.items()))
    is_database = plan.definition.resources[name].type is ResourceType.SQLITE
    return path.rpartition("/")[0] if is_database else path
