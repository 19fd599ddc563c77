"""ConflictService: where subplans have changed the same, and saying what holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.ports.locks import Locks, PlanLease
from cleveragents.application.ports.records import Database, Transaction
from cleveragents.application.ports.sandboxes import Sandboxes, SnapshotStore
from cleveragents.application.ports.system import Clock, FaultPoints, IdSource
from cleveragents.application.services.checkpoint_service import CheckpointService, Milestone
from cleveragents.application.services.checkpoints.group_recorder import GroupRecorder, snapshot_ids
from cleveragents.application.services.recovery import Recovery
from cleveragents.domain.checkpoints.checkpoint import CheckpointType
from cleveragents.domain.errors import BusinessRuleViolation, NotFoundError
from cleveragents.domain.names import nearest
from cleveragents.domain.plans.plan import Plan, PlanAction, PlanState
from cleveragents.domain.plans.subplan_merge import (
    RESOLVE_CONFLICT,
    ConflictResolution,
    OpenConflict,
    open_conflicts,
)
from cleveragents.domain.record import JsonValue
from cleveragents.domain.sandboxes.sandbox import SandboxRef
from cleveragents.domain.tools.tool import ToolCall, ToolCallStatus
from cleveragents.domain.wording import listed


@dataclass(frozen=True)
class ConflictList:
    """What is in conflict in a plan, and what was just resolved of it."""

    plan: Plan
    sandboxes: Sequence[SandboxRef]
    open: Sequence[OpenConflict]
    resolved: Sequence[OpenConflict] = ()


class ConflictService:
    """Lists conflicts of plans and resolves them."""

    def __init__(
        self,
        database: Database,
        checkpoints: CheckpointService,
        recorder: GroupRecorder,
        recovery: Recovery,
        sandboxes: Sandboxes,
        snapshots: SnapshotStore,
        locks: Locks,
        clock: Clock,
        id_source: IdSource,
        faults: FaultPoints,
    ) -> None:
        self._database = database
        self._checkpoints = checkpoints
        self._recorder = recorder
        self._recovery = recovery
        self._sandboxes = sandboxes
        self._snapshots = snapshots
        self._locks = locks
        self._clock = clock
        self._ids = id_source
        self._faults = faults

    def conflicts(self, plan_id: str) -> ConflictList:
        """Returns what is open; changes nothing."""
        with self._database.read() as transaction:
            return ConflictList(
                plan=transaction.plans.get(plan_id),
                sandboxes=transaction.sandboxes.list(plan_id),
                open=open_conflicts(transaction.tool_calls.list(plan_id)),
            )

    def resolve(self, plan_id: str, how: ConflictResolution, names: Sequence[str]) -> ConflictList:
        """Resolves the conflicts at some paths, or all open ones.

        Writes the resolution into the sandbox and stores a checkpoint of it. Once no
        conflict is open, the plan can continue.

        Args:
            plan_id: The plan.
            how: Which version to use.
            names: Paths, with the name of their resource and `/` before them where the
                plan has several; none means all.

        Raises:
            NotFoundError: a path is not in conflict.
            BusinessRuleViolation: a file that is called edited still has conflict markers.
            ConflictError: a process is working on the plan.
        """
        with self._locks.hold(plan_id) as lease:
            self._recovery.finish(plan_id)
            found = self.conflicts(plan_id)
            chosen = _chosen(found, names)
            if not chosen:
                return found
            for sandbox in found.sandboxes:
                self._sandboxes.check(sandbox)
            with self._snapshots.watched(found.sandboxes):
                self._settle(lease, found, how, chosen)
            after = self.conflicts(plan_id)
        return ConflictList(after.plan, after.sandboxes, after.open, chosen)

    def _settle(
        self,
        lease: PlanLease,
        found: ConflictList,
        how: ConflictResolution,
        chosen: Sequence[OpenConflict],
    ) -> None:
        if how is ConflictResolution.EDITED:
            self._refuse_markers(found, chosen)
        before = snapshot_ids(self._recorder.take(lease, found.sandboxes))
        if how is not ConflictResolution.EDITED:
            self._keep_edits(lease, found.plan, before, chosen[0].step_index)
            self._restore_side(lease, found, how, chosen)
        self._faults.reach(FaultPoint.CONFLICT_RESOLVED)
        taken = self._recorder.take(lease, found.sandboxes)
        changes = self._checkpoints.changes_between(found.sandboxes, before, snapshot_ids(taken))

        def resolved(transaction: Transaction, plan: Plan) -> Plan:
            for merge in dict.fromkeys(item.call_id for item in chosen):
                items = [item for item in chosen if item.call_id == merge]
                call = self._call(transaction, plan.id, how, merge, items)
                transaction.tool_calls.add(call)
                done = {"status": ToolCallStatus.SUCCEEDED, "finished_at": self._clock.now()}
                transaction.tool_calls.save(replace(call, **done))
                for sandbox, made in changes if merge == chosen[0].call_id else ():
                    transaction.changes.add(plan.id, call.id, sandbox.resource, made)
            left = open_conflicts(transaction.tool_calls.list(plan.id))
            if left or plan.state is not PlanState.CONFLICT:
                return plan
            return plan.after(PlanAction.RESOLVE, self._clock.now())

        paths = [item.conflict.path for item in chosen]
        moment = Milestone(
            CheckpointType.MANUAL,
            label=f"resolved: {listed(paths, most=3)}",
            reason=f"the user took {how.value}",
            step_index=chosen[0].step_index,
            source_tool=RESOLVE_CONFLICT,
        )
        self._recorder.record(lease, moment, taken, resolved)

    def _refuse_markers(self, found: ConflictList, chosen: Sequence[OpenConflict]) -> None:
        marked = [item for item in chosen if item.conflict.marked]
        left: list[str] = []
        for sandbox in found.sandboxes:
            paths = [item.conflict.path for item in marked if item.resource == sandbox.resource]
            with self._snapshots.open(sandbox) as opened:
                left += opened.marked(paths)
        if left:
            raise BusinessRuleViolation(
                f"Conflict markers are still in {', '.join(left)}",
                hint="Edit the files in the sandbox until none is left, or take `mine` or `theirs`",
                files=left,
            )

    def _restore_side(
        self,
        lease: PlanLease,
        found: ConflictList,
        how: ConflictResolution,
        chosen: Sequence[OpenConflict],
    ) -> None:
        """Restores one side of each conflict in the sandboxes."""
        sandboxes = {sandbox.resource: sandbox for sandbox in found.sandboxes}
        for item in chosen:
            wanted = item.mine if how is ConflictResolution.MINE else item.theirs
            with self._snapshots.lock(sandboxes[item.resource], lease) as locked:
                locked.restore_paths(wanted, [item.conflict.path])

    def _keep_edits(
        self, lease: PlanLease, plan: Plan, present: Mapping[str, str], step_index: int
    ) -> None:
        """Takes a checkpoint of edits that are about to be replaced."""
        with self._database.read() as transaction:
            last = plan.last_checkpoint_id
            kept = transaction.checkpoints.group_of(last).snapshots if last is not None else {}
        if kept != present:
            moment = Milestone(
                CheckpointType.SAFETY,
                label="before resolving",
                reason="the sandbox was edited",
                step_index=step_index,
            )
            self._checkpoints.create_checkpoint(lease, moment)

    def _call(
        self,
        transaction: Transaction,
        plan_id: str,
        how: ConflictResolution,
        merge: str,
        items: Sequence[OpenConflict],
    ) -> ToolCall:
        pairs: list[JsonValue] = [[item.resource, item.conflict.path] for item in items]
        given: dict[str, JsonValue] = {"merge": merge, "take": how.value, "paths": pairs}
        return ToolCall.begin(
            self._ids.new(),
            plan_id,
            transaction.tool_calls.next_sequence(plan_id),
            step_index=items[0].step_index,
            tool=RESOLVE_CONFLICT,
            resource=items[0].resource,
            given=given,
            started_at=self._clock.now(),
        )


def _chosen(found: ConflictList, names: Sequence[str]) -> list[OpenConflict]:
    several = len(found.sandboxes) > 1
    known = {item.shown(several=several): item for item in found.open}
    for name in names:
        if name not in known:
            raise NotFoundError(
                f"There is no open conflict at `{name}`", hint=nearest(name, known), path=name
            )
    return [item for name, item in known.items() if not names or name in names]
