"""MaintenanceService: keeps the stores small, and says whether what they hold is whole."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from cleveragents.application.events import ProgressAdvanced
from cleveragents.application.ports.locks import Locks
from cleveragents.application.ports.maintenance import Mirrors
from cleveragents.application.ports.records import Database
from cleveragents.application.ports.sandboxes import SnapshotStore
from cleveragents.application.ports.system import EventSink
from cleveragents.application.services.checkpoints.verification import KeptCheckpoints, Stored
from cleveragents.domain.checkpoints.checkpoint import Checkpoint
from cleveragents.domain.errors import DatabaseError, SnapshotError
from cleveragents.domain.health.layers import Layer, has_layer, layers
from cleveragents.domain.health.maintenance import (
    CollectedStore,
    GarbageReport,
    KnownRecords,
    StoreFindings,
    VerifiedCheckpoint,
    VerifyReport,
)
from cleveragents.domain.sandboxes.sandbox import SandboxRef, SandboxState


class MaintenanceService:
    """Collecting garbage, and reading checkpoints back.

    After any failure every store is whole, and every checkpoint as it was.
    """

    def __init__(
        self,
        database: Database,
        stores: Mirrors,
        snapshots: SnapshotStore,
        locks: Locks,
        events: EventSink,
    ) -> None:
        self._database = database
        self._stores = stores
        self._snapshots = snapshots
        self._locks = locks
        self._events = events

    def collect_garbage(self, *, dry_run: bool) -> GarbageReport:
        """Takes out of every store what no checkpoint and no sandbox needs.

        A store that is in use is left alone and reported as busy.
        """
        keys = self._stores.keys()
        robbed = self._robbed()
        collected: list[CollectedStore] = []
        for number, key in enumerate(keys, start=1):

            def naming(plan_ids: Collection[str], lost: bool = key in robbed) -> KnownRecords:
                return replace(self._named(plan_ids), lost=lost)

            collected.append(self._stores.collect(key, naming, dry_run=dry_run))
            self._events.emit(ProgressAdvanced("Checking the mirrors", number, len(keys)))
        drafts = self._stores.reclaim_drafts(dry_run=dry_run)
        return GarbageReport(
            dry_run=dry_run, stores=tuple(collected), draft_bytes=drafts, layers=self._layers()
        )

    def _layers(self) -> tuple[Layer, ...]:
        """Returns the work in private views that nobody has applied or discarded."""
        with self._database.read() as transaction:
            sandboxes = transaction.sandboxes.all()
            resources = transaction.sandboxes.all_resources()
        if not any(map(has_layer, sandboxes)):
            return ()  # Measuring takes as long as there are files.
        return layers(sandboxes, resources, self._stores.disk_use().sandboxes)

    def look_through(self) -> Sequence[StoreFindings]:
        """Finds what no record names in any store, and changes nothing."""
        keys = self._stores.keys()
        return [self._stores.look(key, self._named) for key in keys]

    def verify(self, plan_id: str, checkpoint: Checkpoint | None) -> VerifyReport:
        """Reads back every byte that a rollback to each checkpoint of a plan, or to one, needs.

        Damage is part of the report, so that one damaged checkpoint does not hide another.
        """
        kept = self._kept(plan_id)
        chosen = kept.checkpoints if checkpoint is None else [checkpoint]
        problems = {**self._lost(kept), **self._damaged(kept.needed(chosen))}
        return self._report(kept, chosen, problems, self._unreadable(plan_id))

    def verify_all(self, plan_ids: Sequence[str]) -> Sequence[VerifyReport]:
        """Reads back what every checkpoint of many plans needs, each snapshot once.

        A resource of which nothing is kept has nothing to read.
        """
        found = [self._kept(plan_id).reversible for plan_id in plan_ids]
        needed = {key: at for kept in found for key, at in kept.needed(kept.checkpoints).items()}
        damaged = self._damaged(needed)
        return [
            self._report(kept, kept.checkpoints, {**self._lost(kept), **damaged}) for kept in found
        ]

    def find_lost(self, plan_ids: Sequence[str]) -> Sequence[VerifyReport]:
        """Says which checkpoints of many plans have lost what keeps their bytes; reads none."""
        found = [self._kept(plan_id).reversible for plan_id in plan_ids]
        return [self._report(kept, kept.checkpoints, self._lost(kept)) for kept in found]

    def _robbed(self) -> set[str]:
        """Returns the keys of mirrors that have lost a ref to some checkpoint's snapshot.

        An agent can write to them, and may have deleted refs.
        """
        with self._database.read() as transaction:
            plan_ids = transaction.plans.ids()
        robbed: set[str] = set()
        for plan_id in plan_ids:
            # What a checkpoint says of itself does not matter here, and takes longest to read.
            kept = self._kept(plan_id, described=False).reversible
            lost = self._lost(kept)
            robbed |= {
                self._stores.key_of(sandbox.store)
                for sandbox in kept.sandboxes
                if self._database.owns(sandbox)
                and not lost.keys().isdisjoint(kept.of_sandbox(sandbox))
            }
        return robbed

    def _kept(self, plan_id: str, *, described: bool = True) -> KeptCheckpoints:
        """Reads what is kept of a plan; if it is not `described`, without its checkpoints."""
        with self._database.read() as transaction:
            sandboxes = transaction.sandboxes.list(plan_id)
            # Without a sandbox, no snapshot is looked for.
            groups = transaction.checkpoints.groups(plan_id) if sandboxes else ()
            return KeptCheckpoints(
                plan_id,
                sandboxes,
                transaction.checkpoints.list(plan_id, set_aside=True) if described else (),
                {group.id: group for group in groups},
            )

    def _damaged(self, needed: Mapping[Stored, SandboxRef]) -> dict[Stored, str]:
        """Returns what is wrong with the bytes of snapshots."""
        problems: dict[Stored, str] = {}
        for number, (stored, sandbox) in enumerate(needed.items(), start=1):
            try:
                with self._snapshots.open(sandbox) as opened:
                    opened.verify(stored[1])
            except SnapshotError as error:
                problems[stored] = error.message
            self._events.emit(ProgressAdvanced("Reading snapshots back", number, len(needed)))
        return problems

    def _lost(self, kept: KeptCheckpoints) -> dict[Stored, str]:
        """Returns the snapshots of each sandbox that have lost their ref."""
        problems: dict[Stored, str] = {}
        for sandbox in kept.sandboxes:
            try:
                with self._snapshots.open(sandbox) as opened:
                    there = frozenset(opened.ids())
            except SnapshotError as error:
                problems |= dict.fromkeys(kept.of_sandbox(sandbox), error.message)
                continue
            for stored in kept.of_sandbox(sandbox):
                if stored[1] not in there:
                    problems[stored] = f"Nothing in {sandbox.store} keeps snapshot {stored[1]}"
        return problems

    def _unreadable(self, plan_id: str) -> str | None:
        """Says which record cannot be read that every rollback of a plan reads, if one cannot."""
        with self._database.read() as transaction:
            try:
                transaction.tool_calls.list(plan_id)
                transaction.decisions.list(plan_id, superseded=True)
            except DatabaseError as error:
                return error.message
        return None

    def _report(
        self,
        kept: KeptCheckpoints,
        chosen: Sequence[Checkpoint],
        problems: Mapping[Stored, str],
        unreadable: str | None = None,
    ) -> VerifyReport:
        found = [
            VerifiedCheckpoint(
                checkpoint_id=item.id,
                group_id=item.group_id,
                label=item.metadata.label,
                problem=kept.problem_of(item, problems) or unreadable,
            )
            for item in chosen
        ]
        if not all(item.is_whole for item in found):
            # A running plan drops old checkpoints; what it dropped meanwhile is not damaged.
            with self._database.read() as transaction:
                left = transaction.checkpoints.group_ids(kept.plan_id)
            found = [item for item in found if item.group_id in left]
        return VerifyReport(plan_id=kept.plan_id, checkpoints=tuple(found))

    def _named(self, plan_ids: Collection[str]) -> KnownRecords:
        """Asks who holds a plan before it asks what is recorded.

        A holder may have made a snapshot that it has yet to record; the other way round, it
        could record it and be gone between the two questions.
        """
        with self._database.read() as transaction:
            plans = frozenset(transaction.plans.ids()) & frozenset(plan_ids)
        holders = (self._locks.holder(plan_id) for plan_id in sorted(plans))
        holder = next((holder for holder in holders if holder is not None), None)
        with self._database.read() as transaction:
            groups = [
                group for plan_id in plans for group in transaction.checkpoints.groups(plan_id)
            ]
            sandboxes = [
                sandbox for plan_id in plans for sandbox in transaction.sandboxes.list(plan_id)
            ]
        removed = [item for item in sandboxes if item.state is SandboxState.CLEANED_UP]
        return KnownRecords(
            plans=plans,
            snapshots={
                (group.plan_id, snapshot)
                for group in groups
                for snapshot in group.snapshots.values()
            },
            sandboxes={(item.plan_id, item.resource) for item in sandboxes if item not in removed},
            given_up={(item.plan_id, item.resource) for item in removed},
            holder=None if holder is None else str(holder),
            doubted=self._database.is_doubted(),
        )
