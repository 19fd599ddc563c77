"""Adopting what is on disk and the database does not know: records are made for it.

A database that was restored from a backup does not know the newest plans and snapshots. Nothing
of a plan is removed because the database does not know it; it is kept, named, and adopted when
the user asks for it. Each plan is adopted in one transaction, so a kill leaves it adopted or not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.ports.locks import Locks
from cleveragents.application.ports.maintenance import Mirrors
from cleveragents.application.ports.records import Database, Transaction
from cleveragents.application.ports.system import Clock, FaultPoints, IdSource
from cleveragents.application.services.checkpoints.group_recorder import (
    GroupRecorder,
    Milestone,
    Taken,
    snapshot_ids,
)
from cleveragents.domain.checkpoints.checkpoint import CheckpointType
from cleveragents.domain.errors import CleverAgentsError, OtherHomeError, SandboxMissingError
from cleveragents.domain.plans.origin import FoundPlan, FoundSandbox, StoredSnapshot
from cleveragents.domain.plans.plan import Plan, PlanPhase, PlanState
from cleveragents.domain.plans.plan_file import PlanDefinition
from cleveragents.domain.sandboxes.resource import ResourceType, SandboxStrategy
from cleveragents.domain.sandboxes.sandbox import Resource, SandboxCheckpoint, SandboxRef

_TYPES = {
    SandboxStrategy.GIT_WORKTREE: ResourceType.GIT_CHECKOUT,
    SandboxStrategy.TRANSACTION_ROLLBACK: ResourceType.SQLITE,
}
_MOMENT = "adopted {number}"
_PRESENT = "adopted: as found"


@dataclass(frozen=True)
class Adopted:
    """What came of adopting one plan."""

    plan: FoundPlan
    problem: str | None
    """Why it was not adopted."""


class Adoption:
    """Finds plans that only the disk knows, and makes records for them."""

    def __init__(
        self,
        database: Database,
        stores: Mirrors,
        locks: Locks,
        recorder: GroupRecorder,
        clock: Clock,
        id_source: IdSource,
        faults: FaultPoints,
    ) -> None:
        self._database = database
        self._stores = stores
        self._locks = locks
        self._recorder = recorder
        self._clock = clock
        self._ids = id_source
        self._faults = faults

    def find(self, projects: Sequence[str]) -> Sequence[FoundPlan]:
        """Returns what is on disk of plans that the database does not know; changes nothing.

        Args:
            projects: Paths that a sandbox without a note may have been made of.
        """
        known, paths = self._known()
        return self._stores.on_disk([*projects, *paths], without=known)

    def adopt(self, projects: Sequence[str]) -> Sequence[Adopted]:
        """Makes records for every unknown plan, and for unknown snapshots of known plans."""
        outcomes = self._completed_adoptions(projects)
        outcomes += [self._adopted(plan) for plan in self.find(projects)]
        if not self._database.is_doubted():
            return outcomes
        known, paths = self._known()
        rest = [
            self._completed(plan) for plan in self._stores.on_disk([*projects, *paths], among=known)
        ]
        outcomes += [item for item in rest if item is not None]
        if not any(item is not None and item.problem for item in rest):
            # What is still unknown is a whole plan, which is kept in any case.
            self._database.trust()
            self._faults.reach(FaultPoint.DATABASE_TRUSTED)
        return outcomes

    def _known(self) -> tuple[Collection[str], list[str]]:
        with self._database.read() as transaction:
            plans = transaction.plans.ids()
            paths = [resource.path for resource in transaction.sandboxes.all_resources()]
        return frozenset(plans), list(dict.fromkeys(paths))

    def _adopted(self, found: FoundPlan) -> Adopted:
        if found.obstacle is not None:
            return Adopted(found, found.obstacle)
        try:
            self._add(found)
            self._faults.reach(FaultPoint.PLAN_ADOPTED)
            self._keep_present(found.plan_id)
        except CleverAgentsError as error:
            return Adopted(found, error.message)
        return Adopted(found, None)

    def _completed_adoptions(self, projects: Sequence[str]) -> list[Adopted]:
        """Keeps the state of the sandboxes for plans whose adoption was killed before that."""
        known, paths = self._known()
        interrupted = [plan_id for plan_id in known if self._lacks_present(plan_id)]
        outcomes: list[Adopted] = []
        for found in self._stores.on_disk([*projects, *paths], among=interrupted):
            try:
                if self._keep_present(found.plan_id):
                    outcomes.append(Adopted(found, None))
            except CleverAgentsError as error:
                outcomes.append(Adopted(found, error.message))
        return outcomes

    def _lacks_present(self, plan_id: str) -> bool:
        """Says whether the adoption of a plan was killed before it was finished."""
        with self._database.read() as transaction:
            newest = next(transaction.checkpoints.newest_first(plan_id), None)
            number = len(transaction.checkpoints.group_ids(plan_id))
            if newest is None or newest.metadata.label != _MOMENT.format(number=number):
                return False
            return not transaction.plans.get(plan_id).definition.steps

    def _add(self, found: FoundPlan) -> None:
        plan = self._plan(found)
        with self._database.write(plan.id) as transaction:
            if transaction.plans.ids(plan.id):
                return  # Another process was faster.
            transaction.plans.add(plan)
            pairs = [
                (self._add_sandbox(transaction, position, item), item)
                for position, item in enumerate(found.sandboxes)
            ]
            self._add_groups(transaction, plan, pairs, {})

    def _plan(self, found: FoundPlan) -> Plan:
        """Returns the plan as far as the disk tells it.

        Nothing tells which steps were run, so it has none; what it did is in its sandboxes. The
        validations stay: they must pass before its result is applied.
        """
        origin, now = found.origin, self._clock.now()
        definition = PlanDefinition(name=found.name, steps=[])
        if origin is not None:
            definition = replace(origin.definition, steps=[])
        first, project = found.sandboxes[0], found.project or ""
        return Plan(
            id=found.plan_id,
            name=found.name,
            project=project,
            project_key=self._stores.key_of(first.sandbox.store if first.sandbox else ""),
            plan_file=origin.plan_file if origin is not None else "",
            definition=definition,
            arguments={},
            phase=PlanPhase.EXECUTE,
            state=PlanState.COMPLETE,
            attempt=1,
            last_completed_step=-1,
            last_checkpoint_id=None,
            decision_root_id=None,
            error=None,
            created_at=origin.created_at if origin is not None else found.changed_at or now,
            updated_at=now,
            started_at=None,
            finished_at=found.changed_at,
        )

    def _add_sandbox(
        self, transaction: Transaction, position: int, found: FoundSandbox
    ) -> SandboxRef:
        sandbox = found.sandbox
        if sandbox is None:
            raise SandboxMissingError(found.path, "cannot be adopted")
        if found.origin is not None:
            resource = found.origin.resource
        else:
            resource = Resource(
                id=self._ids.new(),
                plan_id=sandbox.plan_id,
                name=found.resource,
                type=_TYPES.get(sandbox.strategy, ResourceType.FS_DIRECTORY),
                strategy=sandbox.strategy,
                path=found.project or "",
                position=position,
            )
            ids = {"id": self._ids.new(), "resource_id": resource.id}
            sandbox = replace(sandbox, **ids, created_at=self._clock.now())
        transaction.sandboxes.add_resource(resource)
        transaction.sandboxes.add(sandbox)
        return sandbox

    def _completed(self, found: FoundPlan) -> Adopted | None:
        """Adopts sandboxes and snapshots of a known plan; None if all were known."""
        try:
            with self._locks.hold(found.plan_id), self._database.write(found.plan_id) as stored:
                changed = self._complete(stored, found)
        except OtherHomeError:
            return None
        except CleverAgentsError as error:
            return Adopted(found, error.message)
        self._faults.reach(FaultPoint.SNAPSHOTS_ADOPTED)
        return Adopted(found, None) if changed else None

    def _complete(self, transaction: Transaction, found: FoundPlan) -> bool:
        plan = transaction.plans.get(found.plan_id)
        groups = transaction.checkpoints.groups(plan.id)
        named = {snapshot for group in groups for snapshot in group.snapshots.values()}
        resources = {item.name: item for item in transaction.sandboxes.resources(plan.id)}
        recorded = {item.resource: item for item in transaction.sandboxes.list(plan.id)}
        pairs: list[tuple[SandboxRef, FoundSandbox]] = []
        for item in found.sandboxes:
            sandbox = recorded.get(item.resource)
            if sandbox is None and item.sandbox is not None and item.resource in resources:
                ids = {"id": self._ids.new(), "resource_id": resources[item.resource].id}
                sandbox = replace(item.sandbox, **ids)
                transaction.sandboxes.add(sandbox)
            if sandbox is not None:
                new = tuple(each for each in item.snapshots if each.id not in named)
                pairs.append((sandbox, replace(item, snapshots=new)))
        if not recorded and pairs:
            # It ran after the backup was made; how far is unknown, and what it did is there.
            done = {"phase": PlanPhase.EXECUTE, "state": PlanState.COMPLETE}
            last = {"last_completed_step": len(plan.step_sequence) - 1}
            plan = replace(plan, **done, **last, updated_at=self._clock.now())
        state_of: dict[str, StoredSnapshot] = {}
        if groups:
            state_of = {
                key: StoredSnapshot(
                    id=snapshot,
                    state_hash=groups[-1].state_hashes[key],
                    stored_at=groups[-1].created_at,
                )
                for key, snapshot in groups[-1].snapshots.items()
            }
        added = self._add_groups(transaction, plan, pairs, state_of)
        return bool(added) or len(pairs) > len(recorded)

    def _add_groups(
        self,
        transaction: Transaction,
        plan: Plan,
        pairs: Sequence[tuple[SandboxRef, FoundSandbox]],
        present: Mapping[str, StoredSnapshot],
    ) -> int:
        """Adds a group for each moment at which a snapshot was stored; returns how many.

        Args:
            transaction: Where they are stored.
            plan: The plan; it is saved with its last checkpoint.
            pairs: The sandboxes, and what to add for each.
            present: The snapshots of the newest group, by resource id, if there is one.
        """
        count = 0
        for count, (when, states) in enumerate(_moments(pairs, present), start=1):
            taken: list[Taken] = [
                (sandbox, _as_taken(states[sandbox.resource_id]))
                for sandbox, _ in pairs
                if sandbox.resource_id in states
            ]
            moment = Milestone(
                CheckpointType.MANUAL,
                label=_MOMENT.format(number=count),
                reason=f"stored at {when.stored_at:%Y-%m-%d %H:%M:%S}, unknown to the database",
                step_index=max(plan.last_completed_step, 0),
            )
            _, made = self._recorder.add_group(transaction, plan, moment, taken)
            plan = replace(plan, last_checkpoint_id=made[0].id)
        transaction.plans.save(plan)
        return count

    def _keep_present(self, plan_id: str) -> bool:
        """Adds a checkpoint of the sandboxes as they are, if they are there and differ."""
        with self._locks.hold(plan_id) as lease:
            with self._database.read() as transaction:
                sandboxes = transaction.sandboxes.list(plan_id)
                last = transaction.plans.get(plan_id).last_checkpoint_id
                # All snapshots may be gone; then what is there is all that can be kept.
                kept = transaction.checkpoints.group_of(last).snapshots if last else {}
            try:
                taken = self._recorder.take(lease, sandboxes)
            except SandboxMissingError:
                # The user has its checkpoints, and can have the sandbox made from them.
                return False
            if snapshot_ids(taken) == kept:
                return False
            moment = Milestone(
                CheckpointType.MANUAL,
                label=_PRESENT,
                reason="what the sandbox held when the plan was adopted",
                step_index=0,
            )
            with self._database.write(plan_id) as transaction:
                plan = transaction.plans.get(plan_id)
                _, made = self._recorder.add_group(transaction, plan, moment, taken)
                transaction.plans.save(replace(plan, last_checkpoint_id=made[0].id))
            return True


def _moments(
    pairs: Sequence[tuple[SandboxRef, FoundSandbox]], present: Mapping[str, StoredSnapshot]
) -> Iterator[tuple[StoredSnapshot, dict[str, StoredSnapshot]]]:
    """Yields each new snapshot with those that all resources had at that moment."""
    states = dict(present)
    new = [(item, box.resource_id) for box, found in pairs for item in found.snapshots]
    new.sort(key=lambda item: item[0].stored_at)
    if not states and new:
        # The first snapshots of all resources were stored together, before the first step.
        states = {box.resource_id: found.snapshots[0] for box, found in pairs if found.snapshots}
        firsts = {snapshot.id for snapshot in states.values()}
        yield new[0][0], dict(states)
        new = [item for item in new if item[0].id not in firsts]
    for snapshot, resource_id in new:
        states[resource_id] = snapshot
        yield snapshot, dict(states)


def _as_taken(snapshot: StoredSnapshot) -> SandboxCheckpoint:
    return SandboxCheckpoint(
        snapshot_id=snapshot.id, state_hash=snapshot.state_hash, size_bytes=0, not_captured=()
    )
