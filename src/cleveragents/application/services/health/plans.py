"""What the records tell of plans that nobody looks after, and ending what was interrupted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cleveragents.application.ports.locks import Locks
from cleveragents.application.ports.maintenance import DatabaseInspection, Installation
from cleveragents.application.ports.records import Database, Transaction
from cleveragents.application.ports.sandboxes import Sandboxes
from cleveragents.application.services.recovery import Recovery
from cleveragents.domain.checkpoints.operation import Operation
from cleveragents.domain.errors import CleverAgentsError, ConflictError, SandboxMissingError
from cleveragents.domain.health.health import FIX, Check, CheckStatus, check, worst
from cleveragents.domain.plans.lease import Lease
from cleveragents.domain.plans.plan import PlanPhase, PlanState, PlanSummary
from cleveragents.domain.sandboxes.sandbox import Resource, SandboxRef, SandboxState
from cleveragents.domain.wording import counted, listed

_GIVEN_UP = (PlanState.CANCELLED, PlanState.APPLIED)


@dataclass(frozen=True)
class PlanRecord:
    """What is stored about one plan, as far as its health goes."""

    plan: PlanSummary
    resources: Sequence[Resource]
    sandboxes: Sequence[SandboxRef]
    groups: int
    pending: Operation | None
    lease: Lease | None

    @property
    def id(self) -> str:
        return self.plan.id

    def is_in(self, stores: str) -> bool:
        """Whether what is kept of it, if anything is, is among these stores."""
        return all(item.store.startswith(f"{stores}/") for item in self.sandboxes if item.store)

    @property
    def is_under_way(self) -> bool:
        return self.plan.state is PlanState.PROCESSING

    @property
    def is_leased(self) -> bool:
        return self.lease is not None and not self.lease.released

    @property
    def is_given_up(self) -> bool:
        return self.plan.state in _GIVEN_UP


@dataclass(frozen=True)
class RepairAttempt:
    """What came of ending what a killed process had left of a plan."""

    status: CheckStatus
    sentence: str

    @property
    def was_busy(self) -> bool:
        return self.status is CheckStatus.WARNING


class PlanHealth:
    """Looks at all plans, and ends what was interrupted, one plan at a time under its lease."""

    def __init__(
        self,
        database: Database,
        sandboxes: Sandboxes,
        locks: Locks,
        recovery: Recovery,
        installation: Installation,
        inspection: DatabaseInspection,
    ) -> None:
        self._database = database
        self._sandboxes = sandboxes
        self._locks = locks
        self._recovery = recovery
        self._installation = installation
        self._inspection = inspection

    def read(self) -> list[PlanRecord]:
        """Returns what is stored about every plan of this home, oldest first."""
        with self._database.read() as transaction:
            found = [_record(transaction, plan) for plan in transaction.plans.list()]
        stores = self._installation.paths()["stores"]
        shared = self._inspection.is_shared()
        return [
            record
            for record in found
            if all(map(self._database.owns, record.sandboxes))
            and (not shared or record.is_in(stores))
        ]

    def examine(self, records: Sequence[PlanRecord], *, fix: bool) -> list[Check]:
        """Looks at every plan; with `fix` it first ends what was interrupted."""
        unattended = self._unattended(records)
        attempts = {record.id: self._end(record) for record in unattended} if fix else {}
        if fix:
            records = self.read()
        return [
            self._projects(records),
            _operations([record for record in unattended if record.pending], attempts),
            self._interrupted(unattended, records, attempts),
            _leases([record for record in unattended if record.is_leased], attempts),
            self._missing_sandboxes(records),
        ]

    def _unattended(self, records: Sequence[PlanRecord]) -> list[PlanRecord]:
        """Returns plans left unfinished by a process that no longer runs.

        Each is read again after asking for its holder, which may just have finished.
        """
        begun = [record.id for record in records if _is_begun(record)]
        without = [plan_id for plan_id in begun if self._locks.holder(plan_id) is None]
        with self._database.read() as transaction:
            again = [_record(transaction, transaction.plans.get(plan_id)) for plan_id in without]
        return [record for record in again if _is_begun(record)]

    def _end(self, record: PlanRecord) -> RepairAttempt:
        """Ends what a killed process left; the lease goes with it."""
        try:
            done = self._recovery.finish(record.id)
        except ConflictError as error:
            return RepairAttempt(CheckStatus.WARNING, error.message)
        except CleverAgentsError as error:
            return RepairAttempt(CheckStatus.PROBLEM, f"{record.id}: {error.message}")
        sentence = done.sentence if done else f"{record.id} has nothing left to finish"
        return RepairAttempt(CheckStatus.FIXED, sentence)

    def _interrupted(
        self,
        before: Sequence[PlanRecord],
        now: Sequence[PlanRecord],
        attempts: Mapping[str, RepairAttempt],
    ) -> Check:
        """An interrupted plan continues when its user resumes it, so this stays a warning."""
        unattended = {record.id for record in before}
        left = [
            record
            for record in now
            if record.id in unattended
            and record.is_under_way
            and not _was_busy(attempts, record.id)
        ]
        if not left:
            return check("interrupted-plans", CheckStatus.OK, "No plan was interrupted")
        ids = [record.id for record in left]
        made = [attempts[plan_id] for plan_id in ids if plan_id in attempts]
        failed = [attempt.sentence for attempt in made if attempt.status is CheckStatus.PROBLEM]
        with self._database.read() as transaction:
            plans = [transaction.plans.get(plan_id) for plan_id in ids]
        return check(
            "interrupted-plans",
            CheckStatus.PROBLEM if failed else CheckStatus.WARNING,
            f"Left unfinished by a process that ended: {listed(ids)}"
            + (f"; {listed(failed)}" if failed else ""),
            f"Run `{_going_on(left)}` to continue, or `agents plan cancel` to cancel it",
            plans=[
                {
                    "plan_id": plan.id,
                    "name": plan.name,
                    "steps_done": plan.last_completed_step + 1,
                    "steps": len(plan.step_sequence),
                }
                for plan in plans
            ],
        )

    def _projects(self, records: Sequence[PlanRecord]) -> Check:
        plans: dict[str, list[str]] = {}
        for record in records:
            paths = [record.plan.project, *(resource.path for resource in record.resources)]
            for path in dict.fromkeys(paths) if not record.is_given_up else ():
                plans.setdefault(path, []).append(record.id)
        gone = {path: ids for path, ids in plans.items() if not self._installation.has(path)}
        if not gone:
            message = "The projects of all plans exist"
            return check("projects", CheckStatus.OK, message)
        ids = list(dict.fromkeys(plan_id for found in gone.values() for plan_id in found))
        return check(
            "projects",
            CheckStatus.WARNING,
            f"Missing: {listed(list(gone))}; {counted(len(ids), 'plan')} came from there",
            f"Restore it, or cancel the plan: `agents plan cancel {_one_of(ids)}`",
            missing=[{"path": path, "plans": found} for path, found in gone.items()],
        )

    def _missing_sandboxes(self, records: Sequence[PlanRecord]) -> Check:
        """A missing sandbox stops a plan that should continue; a finished one has its result."""
        lost = {
            record.id: (record, reasons)
            for record in records
            if not record.is_given_up and (reasons := self._lacks(record))
        }
        if not lost:
            total = sum(len(record.sandboxes) for record in records)
            found = counted(total, "recorded sandbox", "recorded sandboxes")
            return check("missing-sandboxes", CheckStatus.OK, f"{found}, none of them missing")
        stopped = [
            plan_id
            for plan_id, (record, _) in lost.items()
            if record.plan.state is not PlanState.COMPLETE
        ]
        sentences = [sentence for _, reasons in lost.values() for sentence in reasons]
        resume = f"Run `agents plan resume {_one_of(stopped)}`: it creates the sandbox again"
        keep = "The checkpoints are kept: `agents plan diff` shows them, `agents plan cancel {}`"
        return check(
            "missing-sandboxes",
            CheckStatus.PROBLEM if stopped else CheckStatus.WARNING,
            listed(sentences),
            resume if stopped else f"{keep.format(_one_of(list(lost)))} cancels the plan",
            plans=list(lost),
        )

    def _lacks(self, record: PlanRecord) -> list[str]:
        reasons: list[str] = []
        for sandbox in record.sandboxes:
            if sandbox.state is SandboxState.CLEANED_UP:
                continue  # It is gone on purpose: a session that changed nothing keeps none.
            try:
                self._sandboxes.check(sandbox)
            except SandboxMissingError as error:
                reasons.append(error.message)
        return reasons


def _record(transaction: Transaction, plan: PlanSummary) -> PlanRecord:
    return PlanRecord(
        plan=plan,
        resources=transaction.sandboxes.resources(plan.id),
        sandboxes=transaction.sandboxes.list(plan.id),
        groups=transaction.checkpoints.count_groups(plan.id),
        pending=transaction.operations.pending(plan.id),
        lease=transaction.leases.get(plan.id),
    )


def _is_begun(record: PlanRecord) -> bool:
    return record.is_under_way or record.is_leased or record.pending is not None


def _operations(pending: Sequence[PlanRecord], attempts: Mapping[str, RepairAttempt]) -> Check:
    name = "interrupted-operations"
    if not pending:
        return check(name, CheckStatus.OK, "No operation was left unfinished")
    ids = [record.id for record in pending]
    if not attempts:
        begun = [f"{item.pending.kind.value} of {item.id}" for item in pending if item.pending]
        return check(
            name,
            CheckStatus.PROBLEM,
            f"Left unfinished: {listed(begun)}",
            f"{FIX}, or `{_going_on(pending)}`: it is completed, or undone",
            plans=ids,
        )
    made = [attempts[plan_id] for plan_id in ids]
    return check(
        name,
        worst(attempt.status for attempt in made),
        listed([attempt.sentence for attempt in made]),
        skipped=any(attempt.was_busy for attempt in made),
        plans=ids,
    )


def _leases(stale: Sequence[PlanRecord], attempts: Mapping[str, RepairAttempt]) -> Check:
    if not stale:
        return check("leases", CheckStatus.OK, "No process that ended still holds a plan")
    ids = [record.id for record in stale]
    if not attempts:
        holders = [f"{record.lease.holder} ({record.id})" for record in stale if record.lease]
        return check(
            "leases",
            CheckStatus.WARNING,
            f"Stale leases of ended processes (harmless): {listed(holders)}",
            FIX,
            plans=ids,
        )
    busy = [attempts[plan_id].sentence for plan_id in ids if _was_busy(attempts, plan_id)]
    return check(
        "leases",
        CheckStatus.WARNING if busy else CheckStatus.FIXED,
        listed(busy) or f"Released: {listed(ids)}",
        skipped=bool(busy),
        plans=ids,
    )


def _was_busy(attempts: Mapping[str, RepairAttempt], plan_id: str) -> bool:
    return plan_id in attempts and attempts[plan_id].was_busy


def _going_on(records: Sequence[PlanRecord]) -> str:
    """Returns the command that takes them up again."""
    applying = all(record.plan.phase is PlanPhase.APPLY for record in records)
    verb = "apply" if applying else "resume"
    return f"agents plan {verb} {_one_of([record.id for record in records])}"


def _one_of(ids: Sequence[str]) -> str:
    """Returns an id to type; the list of them is in the sentence."""
    return ids[0] if len(ids) == 1 else "PLAN"
