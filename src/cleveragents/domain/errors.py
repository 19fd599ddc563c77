"""Every error that a caller or user can meet, as one tree.

```
CleverAgentsError            code, exit_code, hint, retryable             exit 1
├── DeclinedError            the user answered no                         exit 1
├── UnhealthyError           `agents doctor` found problems               exit 1
├── UsageError               the call itself is wrong                     exit 2
│   ├── AmbiguousIdError           a short id matches several
│   ├── ConfirmationRequiredError  no `--yes`, and no way to ask
│   └── PlanFileError              the plan file is wrong, with the line
├── BusinessRuleViolation    a guard refused; nothing was changed         exit 4
│   │  about the plan:
│   ├── PlanStateError             not possible in the plan's current state
│   ├── PlanAppliedError           rollback after apply
│   ├── ChildAppliedError          rollback past a child plan that is applied
│   ├── RepeatedEffectError        an irreversible effect would happen again
│   │  about projects and sandboxes:
│   ├── ProjectRefusedError        a project that cannot be sandboxed completely
│   ├── SandboxMissingError        sandbox gone, or its path holds something else
│   ├── OtherHomeError             the sandboxes belong to another home directory
│   ├── NotReversibleError         the resource has the strategy `none`
│   ├── IsolationError             a session cannot be isolated as asked
│   │   └── ViewUnavailableError   a process cannot see a private view
│   │  about checkpoints:
│   ├── CheckpointPlanMismatchError
│   ├── CheckpointRequiredError    a write could not be checkpointed
│   ├── NoCheckpointError          the plan has none, so what it changed is unknown
│   ├── CheckpointPinnedError      deletion of a pinned checkpoint
│   ├── CheckpointInUseError       deletion of a checkpoint that the plan needs
│   │  about rollbacks, undo and corrections:
│   ├── NothingToUndoError
│   ├── UndoTargetMissingError     a checkpoint that it needs was deleted
│   ├── ChangedSinceError          later steps changed the same paths
│   ├── NothingChangedError        the step changed nothing
│   ├── DecisionSupersededError
│   ├── NoEarlierCheckpointError   none from before the decision
│   │  about applying:
│   ├── ChildPlanError             a child plan is applied with its parent
│   ├── AlreadyInProjectError      a session in place has nothing to apply
│   ├── TargetRefusedError         the project is in no state to apply to
│   ├── UncommittedChangesError    in files that the plan changed
│   ├── ValidationFailedError
│   ├── ChangedSinceApplyError     the project is no longer as the apply left it
│   ├── RedoRefusedError           the plan has gone on since its apply was undone
│   └── SandboxChangedError        files changed after the plan ended
├── DatabaseError            the records                                  exit 1
│   ├── NotFoundError                                                     exit 5
│   │   ├── PlanNotFoundError
│   │   ├── CheckpointNotFoundError
│   │   ├── DecisionNotFoundError
│   │   └── CorrectionNotFoundError
│   ├── DuplicateError
│   └── SchemaVersionError
├── ConflictError            held by another process (retryable)          exit 6
│   ├── RecorderGoneError          the recorder of a session ended during a request
│   ├── TargetChangedError         the project changed during the apply
│   └── SubplanConflictError       subplans changed the same (not retryable)
├── MergeConflictError       plan and project changed the same            exit 6
├── SnapshotError            the stored bytes                             exit 7
│   ├── NoSpaceError               a disk is full; nothing is damaged     exit 1
│   ├── SnapshotMissingError       stored objects are gone
│   ├── SnapshotCorruptError       the restored bytes are not the stored ones
│   └── GitCommandError            command, status, stderr
├── ExecutionError           a step or tool failed                        exit 8
├── ConfigurationError       key, value, source, allowed values           exit 10
│   └── CopiedHomeError            the home directory is a copy of another
└── InterruptedByUserError   the user stopped it                          exit 130
```

Constructors take plain values, so that this module depends on no record. Codes and exit
codes are public and never change their meaning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from cleveragents.domain.wording import listed


class CleverAgentsError(Exception):
    """Root of the tree: a message for people, a code for programs."""

    code: ClassVar[str] = "failed"
    exit_code: ClassVar[int] = 1
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, hint: str | None = None, **details: object) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details = details


class DeclinedError(CleverAgentsError):
    """The user answered no; nothing was changed."""

    code = "declined"


class UnhealthyError(CleverAgentsError):
    """`agents doctor` found problems."""

    code = "unhealthy"


class UsageError(CleverAgentsError):
    """The command was called in a way that cannot work."""

    code = "usage"
    exit_code = 2


class AmbiguousIdError(UsageError):
    """A shortened id matches more than one record."""

    code = "ambiguous_id"
    _SHOWN: ClassVar[int] = 10

    def __init__(self, noun: str, text: str, candidates: Sequence[str]) -> None:
        more = ["…"] if len(candidates) > self._SHOWN else []
        shown = [*candidates[: self._SHOWN], *more]
        super().__init__(
            f"`{text}` matches {len(candidates)} {noun}s: {', '.join(shown)}",
            hint="Give more characters of the id",
            candidates=list(candidates),
        )


class ConfirmationRequiredError(UsageError):
    """The command cannot ask (no terminal, or `--no-input`), and `--yes` was not given."""

    code = "confirmation_required"

    def __init__(self, action: str, *, has_preview: bool) -> None:
        preview = ", or `--dry-run` to preview" if has_preview else ""
        super().__init__(
            f"{action} needs confirmation, but this command cannot ask for it",
            hint=f"Add `--yes` to continue without being asked{preview}",
        )


class PlanFileError(UsageError):
    """The plan file cannot be read or is not valid."""

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
    """A guard refused the request; nothing was changed."""

    code = "refused"
    exit_code = 4


class PlanStateError(BusinessRuleViolation):
    """The request is not possible in the plan's current phase and state."""

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
    """The plan is applied, so it cannot be rolled back before that is undone."""

    code = "plan_applied"

    def __init__(self, plan_id: str) -> None:
        super().__init__(
            f"The plan is applied and cannot be rolled back: {plan_id}",
            hint=f"Run `agents plan undo {plan_id}` to undo the apply first, or run a new plan",
            plan_id=plan_id,
        )


class ChildAppliedError(BusinessRuleViolation):
    """The rollback would undo the start of a child plan that is already applied."""

    code = "child_applied"

    def __init__(self, plan_id: str, children: Sequence[str]) -> None:
        super().__init__(
            f"A child plan that was started later is already applied: {', '.join(children)}",
            hint="Roll back to a checkpoint after it was started, or run a new plan",
            plan_id=plan_id,
            children=list(children),
        )


class RepeatedEffectError(BusinessRuleViolation):
    """Continuing would repeat an effect that no rollback can undo."""

    code = "effect_would_repeat"

    def __init__(self, plan_id: str, effects: Sequence[str]) -> None:
        super().__init__(
            "Continuing would repeat irreversible effects: " + "; ".join(effects),
            hint=f"Run `agents plan resume {plan_id} --yes` to repeat them",
            plan_id=plan_id,
            effects=list(effects),
        )


class ProjectRefusedError(BusinessRuleViolation):
    """The project cannot be sandboxed completely, so no sandbox is created."""

    code = "project_refused"

    def __init__(self, path: str, reason: str, *, hint: str | None = None) -> None:
        super().__init__(
            f"{path} cannot be sandboxed: {reason}", hint=hint, path=path, reason=reason
        )
        self.reason = reason


class IsolationError(BusinessRuleViolation):
    """A session cannot be isolated in the way that was asked for, so its command does not start."""

    code = "isolation_unavailable"


class ViewUnavailableError(IsolationError):
    """A process cannot see a private view of the project."""

    def __init__(self, reason: str, *, hint: str | None = None) -> None:
        super().__init__(
            f"A private view of the project is not possible: {reason}", hint=hint, reason=reason
        )


class AlreadyInProjectError(BusinessRuleViolation):
    """A session that worked in place has nothing to apply."""

    code = "already_in_project"

    def __init__(self, plan_id: str) -> None:
        super().__init__(
            f"The session {plan_id} worked in place: the work is already in the project",
            hint=f"Run `agents rollback {plan_id}` to go back to a checkpoint",
            plan_id=plan_id,
        )


class SandboxMissingError(BusinessRuleViolation):
    """The sandbox is gone, or its path holds something else."""

    code = "sandbox_missing"

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(
            f"The sandbox {path} cannot be used: it {reason}",
            hint="Its checkpoints are still stored; `agents plan diff` shows them",
            path=path,
            reason=reason,
        )


class OtherHomeError(BusinessRuleViolation):
    """The sandboxes of a plan belong to another home directory, which alone may change them."""

    code = "other_home"

    def __init__(self, plan_id: str, sandbox: str) -> None:
        super().__init__(
            f"Plan {plan_id} belongs to another home directory: its sandbox is {sandbox} there",
            hint="Run the command with that home directory (`CLEVERAGENTS_HOME`), on its host",
            plan_id=plan_id,
            sandbox=sandbox,
        )


class NotReversibleError(BusinessRuleViolation):
    """The resource has no sandbox, so its earlier states are not stored."""

    code = "not_reversible"

    def __init__(self, resource: str, path: str) -> None:
        super().__init__(
            f"The resource `{resource}` has the strategy `none`, which stores nothing "
            f"and cannot be rolled back: {path}",
            hint="Remove `strategy: none` from the next plan; "
            "undo the changes there by other means",
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


class NoCheckpointError(BusinessRuleViolation):
    """The plan has no checkpoint, so what it changed is unknown."""

    code = "no_checkpoint"

    def __init__(self, plan_id: str) -> None:
        super().__init__(
            f"Plan {plan_id} has no checkpoint, so what it changed is unknown",
            hint="Run the plan again with `policy.require_checkpoints: true`",
            plan_id=plan_id,
        )


class CheckpointPinnedError(BusinessRuleViolation):
    """The checkpoint to delete is pinned."""

    code = "checkpoint_pinned"

    def __init__(self, plan_id: str, checkpoint_ids: Sequence[str]) -> None:
        super().__init__(
            f"Pinned checkpoints cannot be deleted: {', '.join(checkpoint_ids)}",
            hint=f"Run `agents plan checkpoint unpin {plan_id} {' '.join(checkpoint_ids)}` first, "
            "or leave it out",
            plan_id=plan_id,
            checkpoint_ids=list(checkpoint_ids),
        )


class CheckpointInUseError(BusinessRuleViolation):
    """The plan still needs the checkpoint to delete."""

    code = "checkpoint_in_use"

    def __init__(self, checkpoint_id: str, reason: str, *, hint: str) -> None:
        super().__init__(
            f"Checkpoint {checkpoint_id} cannot be deleted: {reason}",
            hint=hint,
            checkpoint_id=checkpoint_id,
            reason=reason,
        )


class NothingToUndoError(BusinessRuleViolation):
    """The plan's history has nothing in effect to undo, or no undo to redo."""

    code = "nothing_to_take_back"

    def __init__(self, act: str, plan_id: str) -> None:
        why = (
            "nothing that this plan did is in effect, as far as its checkpoints go back"
            if act == "undo"
            else "no undo of this plan is in effect"
        )
        super().__init__(
            f"There is nothing to {act}: {why}",
            hint=f"Run `agents plan log {plan_id}` to see its history",
            plan_id=plan_id,
        )


class UndoTargetMissingError(BusinessRuleViolation):
    """A checkpoint that the operation needs was deleted or pruned."""

    code = "state_gone"

    def __init__(self, act: str, what: str, plan_id: str) -> None:
        super().__init__(
            f"Cannot {act} {what}: a checkpoint that this needs was deleted or pruned",
            hint=f"Run `agents plan checkpoint list {plan_id} --all` to see the kept ones",
            plan_id=plan_id,
        )


class ChangedSinceError(BusinessRuleViolation):
    """Later steps changed the same paths, so the step cannot be rolled back alone."""

    code = "built_upon"

    def __init__(self, step_index: int, paths: Sequence[str]) -> None:
        super().__init__(
            f"Step {step_index + 1} cannot be rolled back alone, because later steps changed "
            f"the same paths: {listed(paths, most=10)}",
            hint="Roll back to a checkpoint before it, or roll back single paths with `--path`",
            step=step_index + 1,
            conflicts=list(paths),
        )


class NothingChangedError(BusinessRuleViolation):
    """The step has no change in effect to roll back."""

    code = "nothing_changed"

    def __init__(self, step_index: int) -> None:
        super().__init__(
            f"Step {step_index + 1} has no changes to roll back",
            hint="`agents plan log` shows what the steps did",
            step=step_index + 1,
        )


class DecisionSupersededError(BusinessRuleViolation):
    """The decision is superseded, so there is nothing to correct."""

    code = "decision_superseded"

    def __init__(self, decision_id: str, plan_id: str) -> None:
        super().__init__(
            f"Decision {decision_id} is superseded and cannot be corrected",
            hint=f"Run `agents plan tree {plan_id}` to see the decisions in effect",
            decision_id=decision_id,
        )


class NoEarlierCheckpointError(BusinessRuleViolation):
    """No checkpoint from before the decision exists."""

    code = "no_way_back"

    def __init__(self, decision_id: str, plan_id: str) -> None:
        super().__init__(
            f"No checkpoint from before decision {decision_id} exists",
            hint=f"Run `agents plan checkpoint list {plan_id}` to list the checkpoints; "
            "a higher `sandbox.checkpoint.max-checkpoints-per-plan` keeps more",
            decision_id=decision_id,
        )


class ChildPlanError(BusinessRuleViolation):
    """A child plan is applied with its parent, not alone."""

    code = "child_plan"

    def __init__(self, plan_id: str, parent_id: str) -> None:
        super().__init__(
            f"Plan {plan_id} is part of plan {parent_id} and is applied with it",
            hint=f"Run `agents plan apply {parent_id}`",
            plan_id=plan_id,
            parent_plan_id=parent_id,
        )


class TargetRefusedError(BusinessRuleViolation):
    """The project is in a state in which a plan cannot be applied safely."""

    code = "target_refused"

    def __init__(self, path: str, reason: str, *, hint: str | None = None) -> None:
        super().__init__(f"Cannot apply to {path}: {reason}", hint=hint, path=path, reason=reason)


class UncommittedChangesError(BusinessRuleViolation):
    """Files that the plan changed have uncommitted changes in the project."""

    code = "uncommitted_changes"

    def __init__(self, path: str, files: Sequence[str]) -> None:
        super().__init__(
            f"{path} has uncommitted changes in files that the plan changed: "
            f"{listed(files, most=10)}",
            hint="Commit or stash them, or add `--include-uncommitted` to merge with them",
            path=path,
            files=list(files),
        )


class ValidationFailedError(BusinessRuleViolation):
    """A required validation failed, so the plan was not applied."""

    code = "validation_failed"

    def __init__(
        self, plan_id: str, failures: Sequence[str], validations: Sequence[Mapping[str, object]]
    ) -> None:
        super().__init__(
            f"The plan was not applied: {'; '.join(failures)}",
            hint=f"Run `agents plan output {plan_id}` to see all that was printed. Fix the cause, "
            f"then run `agents plan apply {plan_id}` again",
            plan_id=plan_id,
            validations=validations,
        )


class ChangedSinceApplyError(BusinessRuleViolation):
    """The project is no longer as the apply left it, so undoing the apply could lose something."""

    code = "changed_since_apply"

    def __init__(self, path: str, changes: Sequence[str], *, hint: str) -> None:
        """Args: `changes` are a few words each."""
        self.changes = tuple(changes)
        super().__init__(
            f"{path} has changed since: {'; '.join(changes)}",
            hint=hint,
            path=path,
            changes=list(changes),
        )

    def united_with(self, others: Sequence[ChangedSinceApplyError]) -> ChangedSinceApplyError:
        """Returns this error with what was changed in other resources of the plan."""
        every = (self, *others)
        changes = [
            change if error is self else f"{error.details['path']}: {change}"
            for error in every
            for change in error.changes
        ]
        hint = "; ".join(dict.fromkeys(error.hint for error in every if error.hint))
        return ChangedSinceApplyError(str(self.details["path"]), changes, hint=hint)


class RedoRefusedError(BusinessRuleViolation):
    """The plan has gone on since its apply was undone, so the same result is not applied again."""

    code = "redo_refused"

    def __init__(self, plan_id: str) -> None:
        super().__init__(
            f"The plan has changed since its apply was undone: {plan_id}",
            hint=f"Run `agents plan apply {plan_id}` to apply it as it is now",
            plan_id=plan_id,
        )


class SandboxChangedError(BusinessRuleViolation):
    """The sandbox has changes that no checkpoint of the plan contains."""

    code = "sandbox_changed"

    def __init__(self, plan_id: str, files: Sequence[str]) -> None:
        super().__init__(
            f"The sandbox changed after the plan ended: {listed(files, most=10)}",
            hint=f"Keep the changes with `agents plan checkpoint create {plan_id}`, or discard "
            f"them with `agents plan rollback {plan_id} @latest`; then apply",
            plan_id=plan_id,
            files=list(files),
        )


class DatabaseError(CleverAgentsError):
    """The database of plans and checkpoints could not be used."""

    code = "database"


class NotFoundError(DatabaseError):
    """No record has that id."""

    code = "not_found"
    exit_code = 5


class PlanNotFoundError(NotFoundError):
    """No plan has that id."""

    code = "plan_not_found"

    def __init__(self, plan_id: str, project: str | None = None) -> None:
        where = f" of the project {project}" if project else ""
        super().__init__(
            f"There is no plan `{plan_id}`{where}",
            hint="Run `agents plan list` to see the plans of all projects",
            plan_id=plan_id,
        )


class CheckpointNotFoundError(NotFoundError):
    """No checkpoint has that id."""

    code = "checkpoint_not_found"

    def __init__(self, checkpoint_id: str, plan_id: str | None = None) -> None:
        command = f"agents plan rollback {plan_id}" if plan_id else "agents plan list"
        super().__init__(
            f"There is no checkpoint `{checkpoint_id}`",
            hint=f"Run `{command}` to list the checkpoints",
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
            hint="Run `agents plan log PLAN` to see a plan's history",
            correction_id=correction_id,
        )


class DuplicateError(DatabaseError):
    """A record with that id already exists."""

    code = "duplicate"

    def __init__(self, noun: str, record_id: str) -> None:
        super().__init__(f"A {noun} with the id {record_id} already exists", record_id=record_id)


class SchemaVersionError(DatabaseError):
    """The database is newer than this program, damaged, or not a CleverAgents database."""

    code = "schema_version"


class ConflictError(CleverAgentsError):
    """Another process holds what this one needs."""

    code = "busy"
    exit_code = 6
    retryable = True


class RecorderGoneError(ConflictError):
    """The process that records a session ended during a request."""

    code = "recorder_gone"

    def __init__(self) -> None:
        super().__init__(
            "The process that records the session ended before it answered",
            hint="Run the command again: what was begun is completed or undone first",
        )


class TargetChangedError(ConflictError):
    """Another program changed the project since the apply inspected it."""

    code = "target_changed"

    def __init__(self, path: str, what: str, *, hint: str) -> None:
        super().__init__(
            f"{path} changed since it was checked: {what}", hint=hint, path=path, what=what
        )


class SubplanConflictError(ConflictError):
    """Changes of subplans conflict; the plan waits until they are resolved."""

    code = "merge_conflict"
    retryable = False

    def __init__(self, plan_id: str, conflicts: Sequence[tuple[str, str]]) -> None:
        """Args: `conflicts` are pairs of a subplan's name and a path."""
        paths = [path for _, path in conflicts]
        names = list(dict.fromkeys(f"`{name}`" for name, _ in conflicts))
        subject = "Subplan {} conflicts" if len(names) == 1 else "Subplans {} conflict"
        super().__init__(
            f"{subject.format(', '.join(names))} with the parent in: {listed(paths, most=10)}",
            hint=f"Run `agents plan conflicts {plan_id}` to see and resolve the conflicts, "
            f"then `agents plan resume {plan_id}`",
            plan_id=plan_id,
            files=paths,
        )


class MergeConflictError(CleverAgentsError):
    """The plan and the project changed the same places; nothing was applied."""

    code = "merge_conflict"
    exit_code = 6

    def __init__(self, path: str, files: Sequence[str], *, hint: str) -> None:
        super().__init__(
            f"The plan and {path} both changed: {listed(files, most=10)}",
            hint=hint,
            path=path,
            files=list(files),
        )


class SnapshotError(CleverAgentsError):
    """The stored bytes of a sandbox cannot be written, read or trusted."""

    code = "snapshot"
    exit_code = 7


class NoSpaceError(SnapshotError):
    """A disk is full: nothing that is stored is damaged."""

    code = "no_space"
    exit_code = 1


class SnapshotMissingError(SnapshotError):
    """Stored objects of a checkpoint are gone."""

    code = "snapshot_missing"

    def __init__(
        self, snapshot_id: str | None, place: str, *, object_id: str | None = None
    ) -> None:
        """Names the snapshot, or the object where several snapshots may need it."""
        if object_id is None:
            message = f"Some stored objects of snapshot {snapshot_id} are missing in {place}"
            details = {"snapshot_id": snapshot_id, "place": place}
        else:
            message = f"The stored object {object_id} is missing in {place}"
            details = {"object_id": object_id, "place": place}
        super().__init__(message, hint="Choose another checkpoint; nothing was changed", **details)


class SnapshotCorruptError(SnapshotError):
    """The bytes that were read are not the bytes that were stored."""

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
    """A git command failed."""

    code = "git_failed"

    def __init__(self, command: str, status: int, stderr: str) -> None:
        self.status = status
        """Negative if git was killed or did not end."""
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
    """A setting is unknown or has an invalid value."""

    code = "configuration"
    exit_code = 10


class CopiedHomeError(ConfigurationError):
    """The home directory is a copy of another one, which still exists."""

    code = "copied_home"

    def __init__(self, home: str, original: str) -> None:
        super().__init__(
            f"The home directory {home} is a copy of {original}, whose sandboxes it must not touch",
            hint=f"Use {original}, or run `agents doctor --fix`: it gives the copy an identity and "
            "sandboxes of its own",
            home=home,
            original=original,
        )


class InterruptedByUserError(CleverAgentsError):
    """The user stopped the command; the completed work is durable."""

    code = "interrupted"
    exit_code = 130
