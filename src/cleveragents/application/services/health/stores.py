"""What is on disk and no record names, and taking it away where that is safe.

Directories are listed first and the records asked last, so that what is being
made meanwhile is never taken for something that nobody has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from cleveragents.application.ports.locks import Locks
from cleveragents.application.ports.maintenance import Mirrors
from cleveragents.application.ports.records import Database
from cleveragents.application.services.maintenance_service import MaintenanceService
from cleveragents.domain.errors import CleverAgentsError, ConflictError
from cleveragents.domain.health.health import FIX, Check, CheckStatus, check
from cleveragents.domain.health.maintenance import StoreFindings
from cleveragents.domain.sandboxes.sandbox import SandboxState
from cleveragents.domain.wording import counted, listed, size

_ADOPT = (
    "Run `agents doctor --adopt` to make records for them, or set `core.database-url` to the "
    "database that has them"
)

_REFS_LOST = (
    "nothing was removed from any mirror, because some checkpoints have lost the "
    "refs that keep their snapshots, and those would be removed too"
)


@dataclass(frozen=True)
class StoreSurvey:
    """Everything that may be in the wrong place."""

    stores: Sequence[StoreFindings]
    plans: Sequence[str]
    """Known plans that have something in one of the stores."""
    unrecorded: Mapping[str, Sequence[str]]
    """Sandboxes of known plans that have no record, by plan."""
    unknown: Sequence[str]
    """Plans with a directory that neither the records nor a store know."""
    draft_bytes: int

    @property
    def refs(self) -> list[str]:
        return [name for store in self.stores for name in store.refs]

    @property
    def temporary_files(self) -> list[str]:
        return [path for store in self.stores for path in store.temporary_files]

    @property
    def for_collection(self) -> bool:
        """Whether there is something that a collection takes out."""
        return self.draft_bytes > 0 or not all(store.is_tidy for store in self.stores)


@dataclass
class _Tidiness:
    """What kept things from being taken away."""

    busy: list[str]
    failed: list[str]


@dataclass(frozen=True)
class _Sentences:
    """How a check of one kind of thing is told."""

    found: str
    """Goes before what should not be there."""
    tidy: str


class StoreHealth:
    """Looks at stores and sandboxes on disk, and removes what nobody has."""

    def __init__(
        self, database: Database, stores: Mirrors, locks: Locks, maintenance: MaintenanceService
    ) -> None:
        self._database = database
        self._stores = stores
        self._locks = locks
        self._maintenance = maintenance

    def examine(self, before: StoreSurvey, sandboxes: str, *, fix: bool) -> list[Check]:
        """Judges what is there; with `fix` it removes what nobody has.

        Args:
            before: What was there before anything was fixed.
            sandboxes: Where sandboxes are, for the paths in the report.
            fix: Whether anything may be changed.
        """
        tidied = _Tidiness([], [])
        if fix:
            self._tidy(self.find(), tidied)
        after = self.find() if fix else before
        return [
            _stores(after, fix=fix),
            _sandboxes(before, after, sandboxes, tidied),
            _snapshots(before, after, tidied),
            _leftovers(before, after, tidied),
        ]

    def find(self) -> StoreSurvey:
        """Looks at everything, and changes nothing."""
        present = self._stores.sandboxes()
        stores = self._maintenance.look_through()
        drafts = self._stores.reclaim_drafts(dry_run=True)
        with self._database.read() as transaction:
            known = transaction.plans.ids()
            recorded = transaction.sandboxes.all()
        named = {
            (box.plan_id, box.resource)
            for box in recorded
            if box.state is not SandboxState.CLEANED_UP
        }
        # What a collection removes, or leaves alone for a reason, is not checked here.
        seen_to = {self._stores.plan_of(path) for store in stores for path in store.sandboxes}
        seen_to |= {plan for store in stores for plan in store.unknown_plans}
        apart = {plan: present[plan] for plan in present if plan not in seen_to}
        unrecorded = {
            plan: [name for name in names if (plan, name) not in named]
            for plan, names in apart.items()
            if plan in known and self._locks.holder(plan) is None
        }
        # A store that was not looked through may hold something of a plan that is not known.
        all_seen = not any(store.problem for store in stores)
        lone = [plan for plan in apart if plan not in known and all_seen]
        paths = {store.path for store in stores}
        doubted = self._database.is_doubted()
        here = [box for box in recorded if box.store in paths and self._database.owns(box)]
        ours = list(dict.fromkeys(box.plan_id for box in here))
        return StoreSurvey(
            stores=stores,
            plans=ours,
            unrecorded={plan: names for plan, names in unrecorded.items() if names and not doubted},
            unknown=lone,
            draft_bytes=drafts,
        )

    def _tidy(self, found: StoreSurvey, tidied: _Tidiness) -> None:
        try:
            if found.for_collection:
                self._collect(found, tidied)
            for plan, names in found.unrecorded.items():
                self._remove_unrecorded(plan, names)
        except ConflictError as error:
            tidied.busy.append(error.message)
        except CleverAgentsError as error:
            tidied.failed.append(error.message)

    def _collect(self, found: StoreSurvey, tidied: _Tidiness) -> None:
        """A collection takes out what no ref leads to, so no ref may be missing."""
        if any(report.damaged for report in self._maintenance.find_lost(found.plans)):
            tidied.failed.append(_REFS_LOST)
            return
        self._maintenance.collect_garbage(dry_run=False)

    def _remove_unrecorded(self, plan_id: str, names: Iterable[str]) -> None:
        """Only the holder of a plan makes sandboxes for it, so nobody is making these."""
        with self._locks.hold(plan_id):
            with self._database.read() as transaction:
                recorded = {sandbox.resource for sandbox in transaction.sandboxes.list(plan_id)}
            for name in [name for name in names if name not in recorded]:
                self._stores.remove_sandbox(plan_id, name)


def _stores(found: StoreSurvey, *, fix: bool) -> Check:
    broken = [store for store in found.stores if store.problem and not store.busy]
    busy = [store for store in found.stores if store.busy]
    told = [f"{store.project_key} was not checked: {store.problem}" for store in broken]
    told += [f"{store.project_key} was not checked: {store.problem}" for store in busy]
    if not told:
        return check("stores", CheckStatus.OK, f"Checked {counted(len(found.stores), 'mirror')}")
    return check(
        "stores",
        CheckStatus.PROBLEM if broken else CheckStatus.WARNING,
        listed(told),
        "Run `agents plan checkpoint verify PLAN` to see what is intact"
        if broken
        else "Run `agents doctor` again when nothing else is running",
        skipped=fix and bool(busy),
        broken=[store.path for store in broken],
        busy=[store.path for store in busy],
    )


def _sandboxes(before: StoreSurvey, after: StoreSurvey, place: str, tidied: _Tidiness) -> Check:
    def paths(found: StoreSurvey) -> list[str]:
        unrecorded = [
            f"{place}/{plan}/{name}" for plan in found.unrecorded for name in found.unrecorded[plan]
        ]
        of_stores = [path for store in found.stores for path in store.sandboxes]
        return [*of_stores, *unrecorded]

    if after.unknown:
        return check(
            "orphaned-sandboxes",
            CheckStatus.WARNING,
            f"The database does not know {listed(list(after.unknown))}, of which there are "
            "sandboxes; they were left alone, because it may be older than they are, or the wrong "
            "database",
            _ADOPT,
            sandboxes=[f"{place}/{plan}" for plan in after.unknown],
        )
    said = _Sentences("No plan has", "Every sandbox on disk belongs to a plan")
    return _judged("orphaned-sandboxes", said, paths(before), paths(after), tidied)


def _snapshots(before: StoreSurvey, after: StoreSurvey, tidied: _Tidiness) -> Check:
    unknown = [store for store in after.stores if store.unknown_plans]
    if unknown:
        plans = [plan for store in unknown for plan in store.unknown_plans]
        return check(
            "orphaned-snapshots",
            CheckStatus.WARNING,
            f"The database does not know {listed(plans)}, of which there are snapshots; they "
            "were left alone, because it may be older than that mirror, or the wrong database",
            _ADOPT,
            plans=plans,
        )
    said = _Sentences("No record names", "Every snapshot has its record")
    return _judged("orphaned-snapshots", said, before.refs, after.refs, tidied)


def _leftovers(before: StoreSurvey, after: StoreSurvey, tidied: _Tidiness) -> Check:
    def items(found: StoreSurvey) -> list[str]:
        drafts = f"{size(found.draft_bytes)} of unfinished sandboxes"
        return [*found.temporary_files, *([drafts] if found.draft_bytes else [])]

    said = _Sentences("Left behind by killed processes:", "Nothing was left behind")
    return _judged("leftovers", said, items(before), items(after), tidied)


def _judged(
    name: str, said: _Sentences, before: Sequence[str], after: Sequence[str], tidied: _Tidiness
) -> Check:
    """Says what there was and is of one kind; what is gone has been removed."""
    if after:
        reasons = [*tidied.failed, *tidied.busy]
        return check(
            name,
            CheckStatus.PROBLEM if tidied.failed else CheckStatus.WARNING,
            f"{said.found} {listed(after)}" + (f"; {listed(reasons)}" if reasons else ""),
            None if reasons else FIX,
            skipped=bool(tidied.busy),
            found=list(after),
        )
    if before:
        return check(name, CheckStatus.FIXED, f"Removed {listed(before)}", removed=list(before))
    return check(name, CheckStatus.OK, said.tidy)
