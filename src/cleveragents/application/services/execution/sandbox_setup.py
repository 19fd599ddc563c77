"""The sandboxes a plan works in: created at its first run, and recreated if one was lost."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from cleveragents.application.events import Stage, WarningIssued
from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.ports.locks import PlanLease
from cleveragents.application.ports.records import Database, Transaction
from cleveragents.application.ports.sandboxes import Sandboxes, SnapshotStore
from cleveragents.application.ports.system import EventSink, FaultPoints, IdSource
from cleveragents.application.services.checkpoints.resume_point import resume_point
from cleveragents.domain.errors import (
    BusinessRuleViolation,
    SandboxMissingError,
    SnapshotCorruptError,
)
from cleveragents.domain.plans.origin import origin_of
from cleveragents.domain.sandboxes.sandbox import (
    Resource,
    SandboxRef,
    SandboxState,
    SandboxStrategy,
)
from cleveragents.domain.wording import listed


class SandboxSetup:
    """Makes sandboxes, and tells what a plan's sandboxes lack."""

    def __init__(
        self,
        database: Database,
        sandboxes: Sandboxes,
        snapshots: SnapshotStore,
        id_source: IdSource,
        events: EventSink,
        faults: FaultPoints,
    ) -> None:
        self._database = database
        self._sandboxes = sandboxes
        self._snapshots = snapshots
        self._ids = id_source
        self._events = events
        self._faults = faults

    def ready(self, lease: PlanLease) -> Sequence[SandboxRef]:
        """Returns the plan's sandboxes, made now if this is its first run.

        A missing one is recreated from the checkpoint that the plan resumes at.

        Raises:
            SandboxMissingError: something else is in the place of one.
        """
        with self._database.read() as transaction:
            sandboxes = transaction.sandboxes.list(lease.plan_id)
            resources = transaction.sandboxes.resources(lease.plan_id)
            plan = transaction.plans.get(lease.plan_id)
        if not sandboxes:
            if plan.parent_plan_id is not None:
                raise BusinessRuleViolation(
                    f"The plan {plan.id} starts from the result of its parent, and runs with it",
                    hint=f"Run `agents plan execute {plan.parent_plan_id}`",
                    plan_id=plan.id,
                )
            return self._make(lease.plan_id, resources)
        return [self._recreated(lease, sandbox) for sandbox in sandboxes]

    def _recreated(self, lease: PlanLease, sandbox: SandboxRef) -> SandboxRef:
        """Returns the sandbox as it is, or recreated if it is gone.

        The record says that it is not whole before the directory is made: a kill before it
        is filled leaves an empty directory, which looks like a sandbox without files.
        """
        if sandbox.state is not SandboxState.ERRORED:
            try:
                self._sandboxes.check(sandbox)
                return sandbox
            except SandboxMissingError as error:
                self._events.emit(WarningIssued(f"{error.message}. It was recreated"))
        self._save(sandbox, SandboxState.ERRORED)
        self._faults.reach(FaultPoint.SANDBOX_FOUND_LOST)
        self._open_if_gone(sandbox)
        self._faults.reach(FaultPoint.SANDBOX_REOPENED)
        with self._database.read() as transaction:
            plan = transaction.plans.get(sandbox.plan_id)
            point = resume_point(transaction, plan)
            group = transaction.checkpoints.get_group(point.group_id) if point else None
        if group is None:
            lease.check()
            return self._made_again(sandbox)
        with self._snapshots.lock(sandbox, lease) as locked:
            report = locked.restore(group.snapshots[sandbox.resource_id])
        if report.differences:
            raise SnapshotCorruptError(
                "The sandbox could not be restored: " + "; ".join(report.differences),
                hint="End the processes that write to it, then resume the plan",
                differences=list(report.differences),
            )
        return self._save(sandbox, SandboxState.ROLLED_BACK)

    def _open_if_gone(self, sandbox: SandboxRef) -> None:
        try:
            self._sandboxes.check(sandbox)
        except SandboxMissingError:
            self._sandboxes.reopen(sandbox)

    def _made_again(self, sandbox: SandboxRef) -> SandboxRef:
        """Makes a sandbox of which no checkpoint was made as at the first run."""
        with self._database.read() as transaction:
            resources = transaction.sandboxes.resources(sandbox.plan_id)
            source = _source(transaction, sandbox)
            plan = transaction.plans.get(sandbox.plan_id)
        resource = next(item for item in resources if item.id == sandbox.resource_id)
        self._sandboxes.remove(sandbox)
        if source is None:
            made = self._sandboxes.create(sandbox.id, sandbox.plan_id, resource)
        else:
            made = self._sandboxes.fork(sandbox.id, sandbox.plan_id, resource, *source)
        self._sandboxes.note_origin(origin_of(plan, resource, made))
        return self._save(made, made.state)

    def _save(self, sandbox: SandboxRef, state: SandboxState) -> SandboxRef:
        saved = replace(sandbox, state=state)
        with self._database.write(sandbox.plan_id) as transaction:
            transaction.sandboxes.save(saved)
        return saved

    def recheck(self, sandboxes: Sequence[SandboxRef]) -> None:
        """Scans everything once more, to find changes that the file watch did not report."""
        for sandbox in sandboxes:
            with self._snapshots.open(sandbox) as opened:
                missed = opened.recheck()
            if missed:
                self._events.emit(
                    WarningIssued(
                        f"The file watch missed changes in `{sandbox.resource}`; only the last "
                        f"checkpoint has them: {listed(missed)}"
                    )
                )

    def _make(self, plan_id: str, resources: Sequence[Resource]) -> Sequence[SandboxRef]:
        self._events.emit(Stage("Preparing the sandbox"))
        if self._database.is_doubted():
            self._refuse_unknown(plan_id, resources)
        with self._database.read() as transaction:
            plan = transaction.plans.get(plan_id)
        made: list[SandboxRef] = []
        try:
            for resource in resources:
                made.append(self._sandboxes.create(self._ids.new(), plan_id, resource))
                self._sandboxes.note_origin(origin_of(plan, resource, made[-1]))
                self._faults.reach(FaultPoint.SANDBOX_MADE)
        except BaseException:
            for sandbox in made:
                self._sandboxes.remove(sandbox)
            raise
        with self._database.write(plan_id) as transaction:
            for sandbox in made:
                transaction.sandboxes.add(sandbox)
        self._faults.reach(FaultPoint.SANDBOXES_RECORDED)
        for sandbox in made:
            self._tell_what_is_missing(sandbox)
        return made

    def _refuse_unknown(self, plan_id: str, resources: Sequence[Resource]) -> None:
        """A sandbox that an older database does not know may hold finished work."""
        for resource in resources:
            if self._sandboxes.is_there(plan_id, resource.name):
                raise BusinessRuleViolation(
                    f"The plan {plan_id} has a sandbox that the database does not know: the "
                    "database is older than the sandbox",
                    hint="Run `agents doctor --adopt` to make records for what is there",
                    plan_id=plan_id,
                )

    def _tell_what_is_missing(self, sandbox: SandboxRef) -> None:
        if sandbox.strategy is SandboxStrategy.NONE:
            self._events.emit(
                WarningIssued(
                    f"The resource `{sandbox.resource}` has no sandbox: "
                    f"changes to {sandbox.path} cannot be rolled back"
                )
            )
        for item in sandbox.skipped:
            self._events.emit(
                WarningIssued(
                    f"`{item.path}` is not in the sandbox of `{sandbox.resource}`: {item.reason}"
                )
            )


def _source(transaction: Transaction, sandbox: SandboxRef) -> tuple[SandboxRef, str] | None:
    """Returns what a child's sandbox was forked from, and the snapshot; None without a parent."""
    plan = transaction.plans.get(sandbox.plan_id)
    if plan.parent_plan_id is None:
        return None
    for checkpoint in transaction.checkpoints.list(plan.parent_plan_id, set_aside=True):
        if checkpoint.decision_id == plan.spawn_decision_id:
            group = transaction.checkpoints.get_group(checkpoint.group_id)
            for source in transaction.sandboxes.list(plan.parent_plan_id):
                if source.resource == sandbox.resource:
                    return source, group.snapshots[source.resource_id]
    raise SandboxMissingError(sandbox.path, "is gone, and nothing is stored of what it held")
