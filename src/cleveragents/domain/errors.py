"""Every error a caller or user can meet, as one tree.

```
CleverAgentsError            code, exit_code, hint, retryable
├── UsageError               the call itself is wrong                     exit 2
│   ├── AmbiguousIdError           a short id fits several
│   ├── ConfirmationRequiredError  nobody to ask, no `--yes`
│   └── PlanFileError              the plan file is wrong, with the line
├── BusinessRuleViolation    a guard said no; nothing was changed         exit 4
│   ├── PlanStateError             not possible in the plan's present state
│   ├── PlanAppliedError           rollback after apply
│   ├── ProjectRefusedError        a project we cannot sandbox whole
│   ├── SandboxMissingError        sandbox gone or reference invalid
│   ├── NotReversibleError         nothing was kept to go back to
│   ├── CheckpointPlanMismatchError
│   ├── CheckpointRequiredError    a write could not be checkpointed
│   ├── CheckpointPinnedError      a pinned one was to be deleted
│   ├── CheckpointInUseError       one that the plan needs was to be deleted
│   └── RepeatedEffectError        what cannot be undone would happen again
├── DatabaseError            the store                                    exit 1
│   ├── NotFoundError                                                     exit 5
│   │   ├── PlanNotFoundError
│   │   ├── CheckpointNotFoundError
│   │   └── DecisionNotFoundError
│   ├── DuplicateError
│   └── SchemaVersionError
├── ConflictError            held by another process (retryable)          exit 6
├── SnapshotError            the stored bytes                             exit 7
│   ├── SnapshotMissingError       the stored tree is gone
│   ├── SnapshotCorruptError       what was restored is not what was stored
│   └── GitCommandError            command, status, stderr
├── ExecutionError           a step or tool failed                        exit 8
├── ConfigurationError       key, value, source, allowed values           exit 10
└── InterruptedByUserError   the user stopped it                          exit 130
```
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar


class CleverAgentsError(Exception):
    """Root of the tree: a sentence for people, a code for programs."""

    code: ClassVar[str] = "failed"
    exit_code: ClassVar[int] = 1
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, hint: str | None = None, **details: object) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details = details


class UsageError(CleverAgentsError):
    """The command was called in a way that cannot work."""

    code = "usage"
    exit_code = 2


class AmbiguousIdError(UsageError):
    """A shortened id fits more than one record."""

    code = "ambiguous_id"
    _SHOWN: ClassVar[int] = 10

    def __init__(self, noun: str, text: str, candidates: Sequence[str]) -> None:
        more = ["…"] if len(candidates) > self._SHOWN else []
        shown = [*candidates[: self._SHOWN], *more]
        super().__init__(
            f"`{text}` fits {len(candidates)} {noun}s: {', '.join(shown)}",
            hint="Give more characters of the id",
            candidates=list(candidates),
        )


class ConfirmationRequiredError(UsageError):
    """There is no terminal, or `--no-input`, and `--yes` was not given."""

    code = "confirmation_required"

    def __init__(self, action: str) -> None:
        super().__init__(
            f"{action} needs a confirmation, and nobody can be asked",
            hint="Add `--yes` to go on without being asked, or `--dry-run` to look first",
        )


class PlanFileError(UsageError):
    """The plan file cannot be read or does not say something valid."""

    code = "plan_file_invalid"

    def __init__(
        self, path: str, problem: str, *, line: int | None = None, hint: str | None = None
    ) -> None:
        place = f"{path}, line {line}" if line is not None else path
        super().__init__(f"{place}: {problem}", hint=hint, path=path, line=line, problem=problem)
        self.path = path
        self.line = line
        self.problem = problem


class BusinessRuleViolation(CleverAgentsError):
    """A guard said no; nothing was changed."""

    code = "refused"
    exit_code = 4


class PlanStateError(BusinessRuleViolation):
    """What was asked is not possible in the plan's present phase and state."""

    code = "plan_state"

    def __init__(
        self, action: str, phase: str, state: str, *, hint: str | None = None, **details: object
    ) -> None:
        super().__init__(
            f"A plan in {phase}/{state} cannot {action}",
            hint=hint,
            action=action,
            phase=phase,
            state=state,
            **details,
        )


class PlanAppliedError(BusinessRuleViolation):
    """The plan's result is already in the project, so its sandbox is history."""

    code = "plan_applied"

    def __init__(self, plan_id: str) -> None:
        super().__init__(
            f"The plan is applied and cannot be rolled back: {plan_id}",
            hint="Undo the merge in the project itself, or run a new plan",
            plan_id=plan_id,
        )


class ProjectRefusedError(BusinessRuleViolation):
    """The project cannot be sandboxed whole, so it is not sandboxed at all."""

    code = "project_refused"

    def __init__(self, path: str, reason: str, *, hint: str | None = None) -> None:
        super().__init__(
            f"{path} cannot be sandboxed: {reason}", hint=hint, path=path, reason=reason
        )


class SandboxMissingError(BusinessRuleViolation):
    """The sandbox is gone, or what is at its place is not ours."""

    code = "sandbox_missing"

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(
            f"The sandbox is missing: {path} {reason}",
            hint="Its checkpoints are still stored; `agents plan diff` shows them",
            path=path,
            reason=reason,
        )


class NotReversibleError(BusinessRuleViolation):
    """The resource is worked on without isolation, so nothing of it is kept."""

    code = "not_reversible"

    def __init__(self, resource: str, path: str) -> None:
        super().__init__(
            f"The resource `{resource}` has the strategy `none`, which keeps nothing "
            f"and cannot be rolled back: {path}",
            hint="Leave out `strategy: none` in the next plan; "
            "take back what was changed there by other means",
            resource=resource,
            path=path,
        )


class CheckpointPlanMismatchError(BusinessRuleViolation):
    """The checkpoint exists but belongs to another plan."""

    code = "checkpoint_of_another_plan"

    def __init__(self, checkpoint_id: str, plan_id: str, owner_id: str) -> None:
        super().__init__(
            f"Checkpoint {checkpoint_id} belongs to plan {owner_id}, not to {plan_id}",
            hint=f"Run `agents plan rollback {plan_id}` to list its checkpoints",
            checkpoint_id=checkpoint_id,
            plan_id=plan_id,
            owner_id=owner_id,
        )


class CheckpointRequiredError(BusinessRuleViolation):
    """A write was stopped because it could not be checkpointed."""

    code = "checkpoint_required"


class CheckpointPinnedError(BusinessRuleViolation):
    """A checkpoint that was to be deleted is pinned."""

    code = "checkpoint_pinned"

    def __init__(self, plan_id: str, checkpoint_ids: Sequence[str]) -> None:
        listed = ", ".join(checkpoint_ids)
        super().__init__(
            f"What is pinned cannot be deleted: {listed}",
            hint=f"Run `agents plan checkpoint unpin {plan_id} {' '.join(checkpoint_ids)}` first, "
            "or leave it out",
            plan_id=plan_id,
            checkpoint_ids=list(checkpoint_ids),
        )


class CheckpointInUseError(BusinessRuleViolation):
    """A checkpoint that was to be deleted is one that the plan cannot do without."""

    code = "checkpoint_in_use"

    def __init__(self, checkpoint_id: str, reason: str, *, hint: str) -> None:
        super().__init__(
            f"Checkpoint {checkpoint_id} cannot be deleted: {reason}",
            hint=hint,
            checkpoint_id=checkpoint_id,
            reason=reason,
        )


class RepeatedEffectError(BusinessRuleViolation):
    """Going on would do again what no rollback could undo."""

    code = "effect_would_repeat"

    def __init__(self, plan_id: str, effects: Sequence[str]) -> None:
        super().__init__(
            "Continuing would repeat irreversible effects: " + "; ".join(effects),
            hint=f"Run `agents plan resume {plan_id} --yes` if it may happen again",
            plan_id=plan_id,
            effects=list(effects),
        )


class DatabaseError(CleverAgentsError):
    """The store of plans and checkpoints could not be used."""

    code = "database"


class NotFoundError(DatabaseError):
    """Nothing is stored under that id."""

    code = "not_found"
    exit_code = 5


class PlanNotFoundError(NotFoundError):
    """No plan has that id."""

    code = "plan_not_found"

    def __init__(self, plan_id: str) -> None:
        super().__init__(
            f"There is no plan `{plan_id}`",
            hint="Run `agents plan list` to see the plans",
            plan_id=plan_id,
        )


class CheckpointNotFoundError(NotFoundError):
    """No checkpoint has that id."""

    code = "checkpoint_not_found"

    def __init__(self, checkpoint_id: str, plan_id: str | None = None) -> None:
        command = f"agents plan rollback {plan_id}" if plan_id else "agents plan list"
        super().__init__(
            f"There is no checkpoint `{checkpoint_id}`",
            hint=f"Run `{command}` to list what there is",
            checkpoint_id=checkpoint_id,
        )


class DecisionNotFoundError(NotFoundError):
    """No decision has that id."""

    code = "decision_not_found"

    def __init__(self, decision_id: str) -> None:
        super().__init__(
            f"There is no decision `{decision_id}`",
            hint="Run `agents plan tree PLAN` to see a plan's decisions",
            decision_id=decision_id,
        )


class CorrectionNotFoundError(NotFoundError):
    """No correction has that id."""

    code = "correction_not_found"

    def __init__(self, correction_id: str) -> None:
        super().__init__(
            f"There is no correction `{correction_id}`",
            hint="Run `agents plan log PLAN` to see what was done to a plan",
            correction_id=correction_id,
        )


class DuplicateError(DatabaseError):
    """A record with that id is stored already."""

    code = "duplicate"

    def __init__(self, noun: str, record_id: str) -> None:
        super().__init__(f"There already is a {noun} {record_id}", record_id=record_id)


class SchemaVersionError(DatabaseError):
    """The database is newer than this program, damaged, or not ours."""

    code = "schema_version"


class ConflictError(CleverAgentsError):
    """Another process holds what this one needs."""

    code = "busy"
    exit_code = 6
    retryable = True


class SnapshotError(CleverAgentsError):
    """The stored bytes of a sandbox cannot be written, read or trusted."""

    code = "snapshot"
    exit_code = 7


class SnapshotMissingError(SnapshotError):
    """The stored tree of a checkpoint is gone."""

    code = "snapshot_missing"

    def __init__(self, snapshot_id: str, place: str) -> None:
        super().__init__(
            f"The stored bytes of snapshot {snapshot_id} are not all in {place}",
            hint="Choose another checkpoint; nothing was changed",
            snapshot_id=snapshot_id,
            place=place,
        )


class SnapshotCorruptError(SnapshotError):
    """What was read back is not what was stored."""

    code = "snapshot_corrupt"

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = "Choose another checkpoint; nothing was changed",
        **details: object,
    ) -> None:
        super().__init__(message, hint=hint, **details)


class GitCommandError(SnapshotError):
    """git failed where it must not."""

    code = "git_failed"

    def __init__(self, command: str, status: int, stderr: str) -> None:
        said = stderr.strip().splitlines()
        super().__init__(
            f"`{command}` failed with status {status}" + (f": {said[-1]}" if said else ""),
            command=command,
            status=status,
            stderr=stderr,
        )


class ExecutionError(CleverAgentsError):
    """A step or tool failed; the plan's state says what was rolled back."""

    code = "plan_failed"
    exit_code = 8


class ConfigurationError(CleverAgentsError):
    """A setting is unknown or has a value it cannot have."""

    code = "configuration"
    exit_code = 10


class InterruptedByUserError(CleverAgentsError):
    """The user stopped it; what was done so far is durable."""

    code = "interrupted"
    exit_code = 130
