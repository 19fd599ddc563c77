"""Restoring a part: some paths as a checkpoint has them, or what one step changed.

What the sandboxes are to hold is combined from stored snapshots and becomes a checkpoint of its
own; going there is then an operation like any other. The plan stays where it is: nothing is run
again because of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from cleveragents.application.ports.records import Transaction
from cleveragents.application.services.rollback import positions
from cleveragents.application.services.rollback.intents import (
    Destination,
    Part,
    StepChanges,
    group_to_restore,
)
from cleveragents.domain.checkpoints.checkpoint import Checkpoint
from cleveragents.domain.checkpoints.number_ranges import chosen
from cleveragents.domain.checkpoints.operation import OperationKind, Position
from cleveragents.domain.errors import (
    ChangedSinceError,
    NothingChangedError,
    UndoTargetMissingError,
    UsageError,
)
from cleveragents.domain.plans.plan import Plan, PlanAction
from cleveragents.domain.sandboxes.change import AuthoredChange, PathChange, PathState, change_of
from cleveragents.domain.sandboxes.sandbox import SandboxRef
from cleveragents.domain.wording import listed


@dataclass(frozen=True)
class RollbackPaths:
    """Some paths are restored to what a checkpoint has."""

    checkpoint: Checkpoint
    paths: Sequence[str]

    def destination(self, transaction: Transaction, plan: Plan) -> Destination:
        plan.moved_by(PlanAction.ROLL_BACK)
        group = group_to_restore(transaction, plan, self.checkpoint)
        sandboxes = transaction.sandboxes.list(plan.id)
        wanted: dict[str, list[str]] = {}
        for path in self.paths:
            sandbox, within = _resolved(path, sandboxes)
            wanted.setdefault(sandbox.resource_id, []).append(within)
        paths, then = listed(self.paths, most=3), self.checkpoint.metadata.label
        return Destination(
            OperationKind.ROLLBACK,
            self.checkpoint,
            group,
            positions.present(transaction, plan),
            f"rollback of {paths} to {then}",
            part=Part(f"{paths} as of {then}", wanted),
        )


@dataclass(frozen=True)
class RollbackStep:
    """What one step changed is undone, unless later work was built on it."""

    step_index: int

    def destination(self, transaction: Transaction, plan: Plan) -> Destination:
        plan.moved_by(PlanAction.ROLL_BACK)
        label = f"step {self.step_index + 1}"
        changes = self._changes(transaction, plan)
        present = positions.present(transaction, plan)
        first_call = min(item.call_sequence for item in changes)
        before = _last_before(transaction, plan, present, first_call)
        if before is None:
            raise UndoTargetMissingError("roll back", label, plan.id)
        net = {
            sandbox.resource_id: _net(
                [item for item in changes if item.resource == sandbox.resource]
            )
            for sandbox in transaction.sandboxes.list(plan.id)
        }
        of_step = {
            call.sequence
            for call in transaction.tool_calls.list(plan.id)
            if call.step_index == self.step_index
        }
        calls = chosen(present.calls, lambda number: number not in of_step)
        step = StepChanges(self.step_index, {key: own for key, own in net.items() if own})
        return Destination(
            OperationKind.ROLLBACK,
            before,
            transaction.checkpoints.get_group(before.group_id),
            replace(present, calls=calls),
            f"rollback of {label}",
            part=Part(f"without {label}", {}, step),
        )

    def _changes(self, transaction: Transaction, plan: Plan) -> list[AuthoredChange]:
        """Returns what the step changed. Raises if there is nothing to undo."""
        if not 0 <= self.step_index <= plan.last_completed_step:
            raise UsageError(
                f"The plan has not completed a step {self.step_index + 1}",
                hint=f"Choose one from 1 to {plan.last_completed_step + 1}",
            )
        if plan.step_sequence[self.step_index].step.decision is not None:
            raise UsageError(
                f"Step {self.step_index + 1} is a decision, which changed no file",
                hint="Use `agents plan correct` to change the decision",
            )
        every = transaction.changes.list(plan.id)
        changes = [item for item in every if item.step_index == self.step_index]
        if not changes:
            raise NothingChangedError(self.step_index)
        return changes


def paths_of_step(
    step: StepChanges, sandboxes: Sequence[SandboxRef], since: Mapping[str, Sequence[PathChange]]
) -> dict[str, list[str]]:
    """Returns the paths to restore so that a step is undone, by resource id.

    Args:
        step: What it changed.
        sandboxes: The plan's sandboxes.
        since: What has changed since before the step, itself included, by resource id.

    Raises:
        ChangedSinceError: something was changed again after the step.
    """
    wanted: dict[str, list[str]] = {}
    conflicts: list[str] = []
    for sandbox in sandboxes:
        own = step.changes.get(sandbox.resource_id)
        if own is None:
            continue
        changed = {item.path: item for item in since[sandbox.resource_id]}
        wanted[sandbox.resource_id], clashing = _to_restore(own, changed)
        prefix = "" if len(sandboxes) == 1 else f"{sandbox.resource}/"
        conflicts += [f"{prefix}{path}" for path in clashing]
    if conflicts:
        raise ChangedSinceError(step.step_index, conflicts)
    return wanted


def _last_before(
    transaction: Transaction, plan: Plan, present: Position, first_call: int
) -> Checkpoint | None:
    """Returns the newest checkpoint with all of the plan before the step, and none of it."""
    wanted = chosen(present.calls, lambda number: number < first_call)
    for checkpoint in reversed(transaction.checkpoints.list(plan.id, set_aside=True)):
        if checkpoint.metadata.effective_calls == wanted:
            return checkpoint
    return None


def _resolved(path: str, sandboxes: Sequence[SandboxRef]) -> tuple[SandboxRef, str]:
    """Returns the sandbox that a path given by the user is in, and the path within it."""
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if path.startswith("/") or ".." in parts:
        raise UsageError(
            f"The path `{path}` is not in a sandbox",
            hint="Give it as `agents plan diff` shows it, relative to the sandbox",
        )
    if len(sandboxes) == 1:
        return sandboxes[0], "/".join(parts) or "."
    for sandbox in sandboxes:
        if parts and parts[0] == sandbox.resource:
            return sandbox, "/".join(parts[1:]) or "."
    names = ", ".join(sandbox.resource for sandbox in sandboxes)
    raise UsageError(
        f"The path `{path}` does not begin with a resource of the plan",
        hint=f"Begin it with one of {names}, as in `{sandboxes[0].resource}/{path}`",
    )


def _net(changes: Sequence[AuthoredChange]) -> dict[str, PathChange]:
    """Returns what the calls of a step did in all, by path."""
    states: dict[str, tuple[PathState | None, PathState | None]] = {}
    for item in changes:
        first = states[item.path][0] if item.path in states else item.before
        states[item.path] = (first, item.after)
    found = {path: change_of(path, before, after) for path, (before, after) in states.items()}
    return {path: change for path, change in found.items() if change is not None}


def _to_restore(
    own: Mapping[str, PathChange], since: Mapping[str, PathChange]
) -> tuple[list[str], list[str]]:
    """Returns the paths to restore, and those that were changed again later.

    A directory includes all that is in it, so it is only restored itself if everything in it
    is; one that the step made and others use stays.
    """
    present = [path for path in own if path in since]
    clashing = [
        path
        for path in present
        if (since[path].before, since[path].after) != (own[path].before, own[path].after)
    ]
    others = [path for path in since if path not in own]
    paths: list[str] = []
    for path in present:
        is_directory = _is_directory(own[path].before) or _is_directory(own[path].after)
        in_use = is_directory and any(other.startswith(f"{path}/") for other in others)
        if not in_use:
            paths.append(path)
        elif own[path].before is not None:
            clashing.append(path)
    return paths, sorted(set(clashing))


def _is_directory(state: PathState | None) -> bool:
    return state is not None and state.hash is None
