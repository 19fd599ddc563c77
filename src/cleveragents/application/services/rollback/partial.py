"""Taking back a part: some paths as a checkpoint has them, or what one step did.

What the sandboxes are to hold is put together from stored snapshots and becomes a
checkpoint of its own; going there is then an operation like any other. The plan
stays where it is: nothing is run again because of it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from cleveragents.application.ports.records import Database, Transaction
from cleveragents.application.ports.sandboxes import SnapshotStore
from cleveragents.application.services.checkpoints.group_recorder import GroupRecorder
from cleveragents.application.services.checkpoints.milestone import Milestone, Taken
from cleveragents.application.services.rollback import positions
from cleveragents.application.services.rollback.intents import (
    Destination,
    Intent,
    Part,
    refuse_damaged,
)
from cleveragents.domain.checkpoints.checkpoint import Checkpoint, CheckpointGroup, CheckpointType
from cleveragents.domain.checkpoints.number_ranges import chosen, numbers_in, ranges_of
from cleveragents.domain.checkpoints.operation import OperationKind, Position
from cleveragents.domain.errors import (
    ChangedSinceError,
    CheckpointPlanMismatchError,
    NothingChangedError,
    UndoTargetMissingError,
    UsageError,
)
from cleveragents.domain.plans.plan import Plan, PlanEvent, transition
from cleveragents.domain.sandboxes.change import AuthoredChange, PathChange, PathState, change_of
from cleveragents.domain.sandboxes.sandbox import SandboxRef
from cleveragents.domain.wording import listed

ChangesSince = Callable[[SandboxRef, str], Sequence[PathChange]]
"""Compares a snapshot with the present state of a sandbox."""


@dataclass(frozen=True)
class Source:
    """The checkpoint that holds what goes back, and the paths to take from it."""

    checkpoint: Checkpoint
    group: CheckpointGroup
    paths: Mapping[str, Collection[str]]
    """By resource id."""


class PartialRollback(Intent):
    """A part of the sandboxes goes back; the rest and the plan stay as they are."""

    kind = OperationKind.ROLLBACK

    def __init__(
        self, plan_id: str, database: Database, snapshots: SnapshotStore, recorder: GroupRecorder
    ) -> None:
        self._plan_id = plan_id
        self._database = database
        self._snapshots = snapshots
        self._recorder = recorder

    def destination(self, transaction: Transaction, plan: Plan) -> Destination:
        transition(plan.phase, plan.state, PlanEvent.ROLL_BACK)
        sandboxes = transaction.sandboxes.list(plan.id)
        source = self.source(transaction, plan, sandboxes, self._snapshots.changes_since)
        return Destination(
            source.checkpoint,
            source.group,
            self._after(transaction, plan),
            self._note,
            part=Part(self._new_label, source.paths),
        )

    def combine(self, present: Mapping[str, str]) -> Sequence[Taken]:
        def changes_since(sandbox: SandboxRef, then: str) -> Sequence[PathChange]:
            return self._snapshots.changes(sandbox, then, present[sandbox.resource_id])

        with self._database.read() as transaction:
            plan = transaction.plans.get(self._plan_id)
            sandboxes = transaction.sandboxes.list(self._plan_id)
            source = self.source(transaction, plan, sandboxes, changes_since)
        taken: list[Taken] = []
        for sandbox in sandboxes:
            here, paths = present[sandbox.resource_id], source.paths.get(sandbox.resource_id, ())
            other = source.group.snapshots[sandbox.resource_id] if paths else here
            taken.append((sandbox, self._snapshots.combine(sandbox, here, other, paths)))
        return taken

    def settled(
        self, transaction: Transaction, plan: Plan, combined: Sequence[Taken]
    ) -> Destination:
        after = self._after(transaction, plan)
        group, checkpoints = self._recorder.records(transaction, plan, self._moment(plan), combined)
        transaction.checkpoints.add_group(group, checkpoints)
        after = after.model_copy(
            update={
                "last_checkpoint_id": checkpoints[0].id,
                "groups": _with(after.groups, group.sequence),
            }
        )
        return Destination(checkpoints[0], group, after, self._note)

    @property
    @abstractmethod
    def label(self) -> str:
        """What goes back, for people."""

    @abstractmethod
    def source(
        self,
        transaction: Transaction,
        plan: Plan,
        sandboxes: Sequence[SandboxRef],
        changes_since: ChangesSince,
    ) -> Source:
        """Returns which paths are taken from where."""

    def calls(self, transaction: Transaction, present: Position) -> tuple[tuple[int, int], ...]:
        """Says which tool calls are in effect afterwards."""
        return present.calls

    @property
    def _note(self) -> str:
        return f"rollback of {self.label}"

    @property
    def _new_label(self) -> str:
        return f"without {self.label}"

    def _after(self, transaction: Transaction, plan: Plan) -> Position:
        present = positions.present(transaction, plan)
        return present.model_copy(update={"calls": self.calls(transaction, present)})

    def _moment(self, plan: Plan) -> Milestone:
        return Milestone(
            CheckpointType.COMBINED,
            label=self._new_label,
            reason="put together for a rollback of a part",
            step_index=max(plan.last_completed_step, 0),
        )


class RollbackPaths(PartialRollback):
    """Some paths go back to what a checkpoint has."""

    def __init__(
        self,
        plan_id: str,
        database: Database,
        snapshots: SnapshotStore,
        recorder: GroupRecorder,
        checkpoint: Checkpoint,
        paths: Sequence[str],
    ) -> None:
        super().__init__(plan_id, database, snapshots, recorder)
        self._checkpoint = checkpoint
        self._paths = paths

    @property
    def label(self) -> str:
        return f"{listed(self._paths, most=3)} to {self._checkpoint.metadata.label}"

    def source(
        self,
        transaction: Transaction,
        plan: Plan,
        sandboxes: Sequence[SandboxRef],
        changes_since: ChangesSince,
    ) -> Source:
        if self._checkpoint.plan_id != plan.id:
            raise CheckpointPlanMismatchError(
                self._checkpoint.id, plan.id, self._checkpoint.plan_id
            )
        group = transaction.checkpoints.get_group(self._checkpoint.group_id)
        refuse_damaged(self._checkpoint, group)
        wanted: dict[str, list[str]] = {}
        for path in self._paths:
            sandbox, within = _resolved(path, sandboxes)
            wanted.setdefault(sandbox.resource_id, []).append(within)
        return Source(self._checkpoint, group, wanted)


class RollbackStep(PartialRollback):
    """What one step did goes back, unless later work was built on it."""

    def __init__(
        self,
        plan_id: str,
        database: Database,
        snapshots: SnapshotStore,
        recorder: GroupRecorder,
        step_index: int,
    ) -> None:
        super().__init__(plan_id, database, snapshots, recorder)
        self._step_index = step_index

    @property
    def label(self) -> str:
        return f"step {self._step_index + 1}"

    def source(
        self,
        transaction: Transaction,
        plan: Plan,
        sandboxes: Sequence[SandboxRef],
        changes_since: ChangesSince,
    ) -> Source:
        if not 0 <= self._step_index <= plan.last_completed_step:
            raise UsageError(
                f"The plan has not done a step {self._step_index + 1}",
                hint=f"Choose one from 1 to {plan.last_completed_step + 1}",
            )
        if plan.step_sequence[self._step_index].step.decision is not None:
            raise UsageError(
                f"Step {self._step_index + 1} is a decision, which changed no file",
                hint="Use `agents plan correct` to decide anew",
            )
        changes = [
            item
            for item in transaction.changes.list(plan.id)
            if item.step_index == self._step_index
        ]
        if not changes:
            raise NothingChangedError(self._step_index)
        before = self._last_before(transaction, plan, min(item.call_sequence for item in changes))
        group = transaction.checkpoints.get_group(before.group_id)
        wanted: dict[str, list[str]] = {}
        conflicts: list[str] = []
        for sandbox in sandboxes:
            own = _net([item for item in changes if item.resource == sandbox.resource])
            if not own:
                continue
            then = group.snapshots[sandbox.resource_id]
            since = {item.path: item for item in changes_since(sandbox, then)}
            paths, clashing = _to_take_back(own, since)
            conflicts.extend(
                path if len(sandboxes) == 1 else f"{sandbox.resource}/{path}" for path in clashing
            )
            wanted[sandbox.resource_id] = paths
        if conflicts:
            raise ChangedSinceError(self._step_index, conflicts)
        return Source(before, group, wanted)

    def calls(self, transaction: Transaction, present: Position) -> tuple[tuple[int, int], ...]:
        of_step = {
            call.sequence
            for call in transaction.tool_calls.list(self._plan_id)
            if call.step_index == self._step_index
        }
        return chosen(present.calls, lambda number: number not in of_step)

    def _last_before(self, transaction: Transaction, plan: Plan, first_call: int) -> Checkpoint:
        """Returns the newest checkpoint with all of the plan before the step, and none of it."""
        effective = positions.present(transaction, plan).calls
        wanted = chosen(effective, lambda number: number < first_call)
        for checkpoint in reversed(transaction.checkpoints.list(plan.id, set_aside=True)):
            if checkpoint.metadata.effective_calls == wanted:
                return checkpoint
        raise UndoTargetMissingError("roll back", self.label, plan.id)


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


def _to_take_back(
    own: Mapping[str, PathChange], since: Mapping[str, PathChange]
) -> tuple[list[str], list[str]]:
    """Returns the paths to take back, and those that were changed again later.

    A directory stands for all that is in it, so it only goes back itself where everything
    in it does; one that the step made and others use stays.
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


def _with(ranges: Sequence[tuple[int, int]], number: int) -> tuple[tuple[int, int], ...]:
    return tuple(ranges_of([*numbers_in(ranges), number]))
