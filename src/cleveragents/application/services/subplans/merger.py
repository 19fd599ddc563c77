"""Bringing what a child plan made into the sandboxes of its parent.

1. the intent is stored as a tool call of the parent
2. every resource is merged, file by file
3. the outcome is stored with a checkpoint

A kill before 3 leaves the parent in `processing`; resuming it restores its sandboxes
to its last checkpoint, and the merge is done again.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.ports.records import Database, Transaction
from cleveragents.application.ports.sandboxes import SnapshotStore
from cleveragents.application.ports.system import Clock, FaultPoints, IdSource
from cleveragents.application.services.checkpoint_service import CheckpointService, Milestone
from cleveragents.application.services.checkpoints.group_recorder import (
    GroupRecorder,
    Taken,
    snapshot_ids,
)
from cleveragents.application.services.execution.step import StepContext
from cleveragents.domain.checkpoints.checkpoint import CheckpointGroup, CheckpointType, Trigger
from cleveragents.domain.errors import (
    CheckpointRequiredError,
    CleverAgentsError,
    ExecutionError,
    SnapshotCorruptError,
    SubplanConflictError,
)
from cleveragents.domain.plans.plan import Plan, PlanAction
from cleveragents.domain.plans.subplan import SPAWN_SUBPLAN
from cleveragents.domain.plans.subplan_merge import (
    ResourceMerge,
    SubplanMerge,
    merge_input,
    merged_children,
    open_conflicts,
)
from cleveragents.domain.sandboxes.merge import MergeNames, MergeStrategy
from cleveragents.domain.tools.tool import IRREVERSIBLE, ToolCall, ToolCallStatus
from cleveragents.domain.wording import listed


class ChildMerger:
    """Merges finished children into the plan that spawned them."""

    def __init__(
        self,
        database: Database,
        checkpoints: CheckpointService,
        recorder: GroupRecorder,
        snapshots: SnapshotStore,
        clock: Clock,
        id_source: IdSource,
        faults: FaultPoints,
    ) -> None:
        self._database = database
        self._checkpoints = checkpoints
        self._recorder = recorder
        self._snapshots = snapshots
        self._clock = clock
        self._ids = id_source
        self._faults = faults

    def merged(self, plan_id: str) -> set[str]:
        """Returns the ids of the children whose work the plan's sandboxes hold."""
        with self._database.read() as transaction:
            return set(merged_children(transaction.tool_calls.list(plan_id)))

    def merge(self, context: StepContext, name: str, child: Plan, strategy: MergeStrategy) -> None:
        """Brings a child's work in; the parent's sandboxes and records then have it.

        Raises:
            SubplanConflictError: not all of it could be merged; the plan is in conflict.
            ExecutionError: the strategy allows no conflict, and there is one.
        """
        call = self._begin(context, name, child)
        before = self._recorder.take(context.lease, context.sandboxes)
        try:
            merge = self._merge(context, name, child, before, strategy)
            if merge.has_conflicts and strategy is MergeStrategy.FAIL_ON_CONFLICT:
                raise _refused(merge)
            if merge.has_conflicts:
                before = self._keep(context, name, before)
                merge = self._merge(context, name, child, before, strategy)
        except CleverAgentsError as error:
            self._fail(call, error)
            raise
        self._faults.reach(FaultPoint.CHILD_MERGED)
        self._succeed(context, call, merge, before)

    def _merge(
        self,
        context: StepContext,
        name: str,
        child: Plan,
        before: Sequence[Taken],
        strategy: MergeStrategy,
    ) -> SubplanMerge:
        with self._database.read() as transaction:
            last = _result(transaction, child)
            resources = {item.name: item.id for item in transaction.sandboxes.resources(child.id)}
        start = self._checkpoints.start(child.id)
        names = MergeNames(mine=context.plan.name, theirs=name)
        parts: list[ResourceMerge] = []
        for sandbox, made in before:
            resource_id = resources.get(sandbox.resource)
            if resource_id is None:
                continue
            theirs = last.snapshots[resource_id]
            with self._snapshots.lock(sandbox, context.lease) as locked:
                report = locked.merge(made.snapshot_id, start[resource_id], theirs, strategy, names)
            parts.append(
                ResourceMerge(
                    resource=sandbox.resource,
                    merged=report.merged,
                    conflicts=report.conflicts,
                    mine=made.snapshot_id,
                    theirs=theirs,
                )
            )
            self._faults.reach(FaultPoint.RESOURCE_MERGED)
        return SubplanMerge(name=name, child_plan_id=child.id, resources=tuple(parts))

    def _keep(self, context: StepContext, name: str, before: Sequence[Taken]) -> Sequence[Taken]:
        """Takes a merge back and makes a checkpoint: `mine` has to be there to choose it."""
        wrong: list[str] = []
        for sandbox, made in before:
            with self._snapshots.lock(sandbox, context.lease) as locked:
                wrong += locked.restore(made.snapshot_id).differences
        if wrong:
            raise SnapshotCorruptError(
                "The sandbox could not be restored to its state before the merge: "
                + "; ".join(wrong),
                hint="End the processes that write to the sandbox, then resume the plan",
                differences=wrong,
            )
        moment = self._moment(context, f"before merging {name}", "its work is in conflict")
        taken = self._recorder.take(context.lease, context.sandboxes)
        self._checkpoints.create_as_required(context.lease, context.plan, moment, taken=taken)
        return taken

    def _begin(self, context: StepContext, name: str, child: Plan) -> ToolCall:
        given = merge_input(name, child.id)
        with self._database.write() as transaction:
            done = transaction.tool_calls.list(child.id)
            call = ToolCall.begin(
                self._ids.new(),
                context.plan.id,
                transaction.tool_calls.next_sequence(context.plan.id),
                step_index=context.step_index,
                tool=SPAWN_SUBPLAN,
                resource=context.resource,
                given=given,
                started_at=self._clock.now(),
                # What the child did for good, a rollback of its parent cannot undo either.
                side_effects=(IRREVERSIBLE,)
                if any(IRREVERSIBLE in item.side_effects for item in done)
                else (),
            )
            transaction.tool_calls.add(call)
        self._faults.reach(FaultPoint.INTENT_RECORDED)
        return call

    def _fail(self, call: ToolCall, error: CleverAgentsError) -> None:
        ended = replace(
            call, status=ToolCallStatus.FAILED, error=error.message, finished_at=self._clock.now()
        )
        with self._database.write(ended.plan_id) as transaction:
            transaction.tool_calls.save(ended)

    def _succeed(
        self, context: StepContext, call: ToolCall, merge: SubplanMerge, before: Sequence[Taken]
    ) -> None:
        after = self._recorder.take(context.lease, context.sandboxes)
        changes = self._checkpoints.changes_between(
            context.sandboxes, snapshot_ids(before), snapshot_ids(after)
        )
        ended = replace(
            call,
            status=ToolCallStatus.SUCCEEDED,
            output=merge.written(),
            finished_at=self._clock.now(),
        )

        def merged(transaction: Transaction, plan: Plan) -> Plan:
            transaction.tool_calls.save(ended)
            for sandbox, found in changes:
                transaction.changes.add(plan.id, ended.id, sandbox.resource, found)
            if not merge.has_conflicts:
                return plan
            return plan.after(PlanAction.CONFLICT, self._clock.now())

        moment = self._moment(context, f"after subplan {merge.name}", "its work was merged")
        if merge.has_conflicts:
            self._checkpoints.create_as_required(context.lease, context.plan, moment, merged, after)
        else:
            self._checkpoints.auto_create_if_configured(
                context.lease, Trigger.AFTER_SUBPLAN, context.plan, moment, merged, after
            )
        self._faults.reach(FaultPoint.MERGE_RECORDED)
        if merge.has_conflicts:
            with self._database.read() as transaction:
                found = open_conflicts(transaction.tool_calls.list(context.plan.id))
            raise SubplanConflictError(
                context.plan.id, [(item.name, item.conflict.path) for item in found]
            )
        self._checkpoints.forget_unnamed(
            context.lease, context.sandboxes, snapshot_ids(before), snapshot_ids(after)
        )

    def _moment(self, context: StepContext, label: str, reason: str) -> Milestone:
        return Milestone(
            CheckpointType.AUTOMATIC,
            label=label,
            reason=reason,
            step_index=context.step_index,
            trigger=Trigger.AFTER_SUBPLAN,
            source_tool=SPAWN_SUBPLAN,
        )


def _result(transaction: Transaction, child: Plan) -> CheckpointGroup:
    """Returns what a child came to."""
    if child.last_checkpoint_id is None:
        raise CheckpointRequiredError(
            f"No result of `{child.name}` is stored, so it cannot be merged",
            hint="Run the plan again with `policy.require_checkpoints: true`",
        )
    return transaction.checkpoints.group_of(child.last_checkpoint_id)


def _refused(merge: SubplanMerge) -> ExecutionError:
    paths = [conflict.path for part in merge.resources for conflict in part.conflicts]
    return ExecutionError(
        f"Subplan `{merge.name}` conflicts with the parent in: {listed(paths, most=10)}",
        hint="Choose another `merge_strategy`, or let the subplans run one after the other",
        tool=SPAWN_SUBPLAN,
        files=paths,
    )
