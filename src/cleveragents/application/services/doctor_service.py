"""DoctorService: checks the whole installation, and fixes what is safe to fix.

Looking changes nothing. Mending takes away what nobody has and ends what was
interrupted, each under the lock that its owner would hold; it never touches what a
record names, and a project only to end an apply that was killed in the middle of it.
Killed anywhere, it can be run again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cleveragents.application.ports.locks import Locks
from cleveragents.application.ports.maintenance import DatabaseInspection, Installation, Mirrors
from cleveragents.application.ports.records import Database
from cleveragents.application.ports.sandboxes import Sandboxes
from cleveragents.application.services.health.adoption import Adoption
from cleveragents.application.services.health.plans import PlanHealth, PlanRecord
from cleveragents.application.services.health.stores import StoreHealth
from cleveragents.application.services.maintenance_service import MaintenanceService
from cleveragents.application.services.recovery import Recovery
from cleveragents.domain.errors import CleverAgentsError, ConfigurationError
from cleveragents.domain.health.health import (
    Check,
    CheckStatus,
    DiskUse,
    HealthReport,
    PlanDisk,
    StoredBytes,
    check,
    disk_use,
    judge_database,
    judge_home,
    judge_identity,
)
from cleveragents.domain.health.home_state import HomeState
from cleveragents.domain.health.layers import layers
from cleveragents.domain.health.quarantine import judge_adopted, judge_unknown
from cleveragents.domain.sandboxes.resource import SandboxStrategy
from cleveragents.domain.wording import counted, listed, size

_NO_HOME = "There is no home directory yet; the first plan creates it: {}"
_NOTHING = DiskUse(total_bytes=0, projects=())
_NOT_LOOKED_AT = "; what needs the records was not checked"


@dataclass(frozen=True)
class HealthExamination:
    """What a look at the installation is asked for."""

    fix: bool
    """Fix what is safe to fix."""
    quick: bool
    """Do not read the snapshots back."""
    refused: ConfigurationError | None
    """Why the user's settings cannot be used: then the database to check is unknown."""
    refused_here: ConfigurationError | None
    """Why the settings of the project that the user is in cannot be used."""
    adopt: bool = False
    """Make records for what the database does not know."""
    projects: Sequence[str] = ()
    """Where the user is: projects that a sandbox may have been made of."""


class DoctorService:
    """Looks at versions, directories, records and stores."""

    def __init__(
        self,
        database: Database,
        inspection: DatabaseInspection,
        installation: Installation,
        stores: Mirrors,
        sandboxes: Sandboxes,
        locks: Locks,
        recovery: Recovery,
        maintenance: MaintenanceService,
        adoption: Adoption,
    ) -> None:
        self._database = database
        self._inspection = inspection
        self._installation = installation
        self._stores = stores
        self._maintenance = maintenance
        self._adoption = adoption
        self._plans = PlanHealth(database, sandboxes, locks, recovery, installation, inspection)
        self._on_disk = StoreHealth(database, stores, locks, maintenance)

    def examine(self, asked: HealthExamination) -> HealthReport:
        """Checks everything that can be checked; the report lists what is wrong."""
        git, git_version = self._git()
        home, home_is_usable = self._home(fix=asked.fix)
        checks = [self._program(), git, home, self._configuration(asked)]
        revision, disk = None, _NOTHING
        if home_is_usable:
            identity, database, revision, records = self._identity_and_database(asked)
            checks += [identity, database]
            if revision is not None:
                has_git = git_version is not None
                checks += self._checks_of_records(asked, records, has_git=has_git)
            disk_check, disk = self._disk(records)
            checks.append(disk_check)
        versions = {**self._installation.versions(), "git": git_version, "schema": revision}
        paths = dict(self._installation.paths())
        if asked.refused is None:
            paths["database"] = self._inspection.place()
        return HealthReport(
            fix=asked.fix,
            quick=asked.quick,
            checks=tuple(checks),
            versions=versions,
            paths=paths,
            disk=disk,
        )

    def _program(self) -> Check:
        found = self._installation.versions()
        named = f"CleverAgents {found['cleveragents']}, Python {found['python']}"
        return check("program", CheckStatus.OK, f"{named}, SQLite {found['sqlite']}")

    def _git(self) -> tuple[Check, str | None]:
        try:
            version = self._installation.git_version()
        except ConfigurationError as error:
            message = f"{error.message}; mirrors were not checked"
            return check("git", CheckStatus.PROBLEM, message, error.hint), None
        return check("git", CheckStatus.OK, f"git {version}"), version

    def _home(self, *, fix: bool) -> tuple[Check, bool]:
        """Returns the check, and whether one can look for more there."""
        try:
            facts = self._installation.home()
            fixes = fix and facts is not None and facts.is_directory and not facts.is_private
            if fixes:
                self._installation.make_home_private()
                facts = self._installation.home()
        except CleverAgentsError as error:
            return check("home", CheckStatus.PROBLEM, error.message, error.hint), False
        if facts is None:
            place = self._installation.paths()["home"]
            return check("home", CheckStatus.OK, _NO_HOME.format(place)), True
        return judge_home(facts, fixed=fixes), facts.is_directory and facts.usable

    def _configuration(self, asked: HealthExamination) -> Check:
        error = asked.refused or asked.refused_here
        if error is not None:
            return check("configuration", CheckStatus.PROBLEM, error.message, error.hint)
        return check("configuration", CheckStatus.OK, "Every setting has a valid value")

    def _identity_and_database(
        self, asked: HealthExamination
    ) -> tuple[Check, Check, str | None, Sequence[PlanRecord]]:
        """The records of a copied home are used only when it is to become a home of its own."""
        original, before = self._installation.original_home(), self._installation.home_state()
        place = self._installation.paths()["home"]
        if before is HomeState.COPIED and not asked.fix:
            message = f"The home directory is a copy{_NOT_LOOKED_AT}"
            identity = judge_identity(before, before, place, original)
            return identity, check("database", CheckStatus.WARNING, message), None, ()
        if before is HomeState.COPIED:
            self._installation.separate_home()
        database, revision, records = self._database_check(asked)
        after = self._installation.home_state()
        return judge_identity(before, after, place, original), database, revision, records

    def _database_check(
        self, asked: HealthExamination
    ) -> tuple[Check, str | None, Sequence[PlanRecord]]:
        """Returns the check, the revision of the schema if the records can be used, and these."""
        records: Sequence[PlanRecord] = ()
        if asked.refused is not None:
            message = f"The configuration cannot be read{_NOT_LOOKED_AT}"
            return check("database", CheckStatus.WARNING, message), None, ()
        place, upgraded_from = self._inspection.place(), None
        try:
            facts = self._inspection.look()
            if facts is None and asked.adopt:
                with self._database.read():
                    pass  # The first use creates it.
                facts = self._inspection.look()
            if facts is not None and facts.is_older and not facts.faults and asked.fix:
                upgraded_from = facts.revision
                with self._database.read():
                    pass  # The first use upgrades it.
                facts = self._inspection.look()
            if facts is not None and not facts.is_older and not facts.faults:
                records = self._plans.read()
        except CleverAgentsError as error:
            message = f"{error.message}{_NOT_LOOKED_AT}"
            judged = check("database", CheckStatus.PROBLEM, message, error.hint, place=place)
            return judged, None, ()
        if facts is None and (lost := self._stores.sandboxes()):
            message = (
                f"There is no database, but there are sandboxes of {counted(len(lost), 'plan')}"
            )
            hint = "Restore the database, or run `agents doctor --adopt` to make records for them"
            return check("database", CheckStatus.WARNING, message, hint, place=place), None, ()
        if facts is None:
            message = f"There is no database yet; the first plan creates it: {place}"
            return check("database", CheckStatus.OK, message, place=place), None, ()
        judged = judge_database(facts, place, upgraded_from=upgraded_from)
        return judged, None if facts.is_older or facts.faults else facts.revision, records

    def _checks_of_records(
        self, asked: HealthExamination, records: Sequence[PlanRecord], *, has_git: bool
    ) -> list[Check]:
        found: list[Check] = []
        try:
            quarantine = self._quarantine(asked) if has_git else []
            if asked.adopt:
                records = self._plans.read()
            before = self._on_disk.find() if has_git else None
            found += self._plans.examine(records, fix=asked.fix)
            if before is not None:
                place = self._installation.paths()["sandboxes"]
                found += quarantine
                found += self._on_disk.examine(before, place, fix=asked.fix)
                repaired = self._repair(records) if asked.fix else 0
                found.append(self._snapshots(records, repaired, quick=asked.quick))
        except CleverAgentsError as error:
            message = f"{error.message}; not everything was checked"
            found.append(check("records", CheckStatus.PROBLEM, message, error.hint))
        return found

    def _quarantine(self, asked: HealthExamination) -> list[Check]:
        """Names what only the disk knows, and adopts it if that is asked for."""
        doubted = self._database.is_doubted()
        if not asked.adopt:
            return [judge_unknown(self._adoption.find(asked.projects), doubted=doubted)]
        outcomes = self._adoption.adopt(asked.projects)
        adopted = [item.plan for item in outcomes if item.problem is None]
        left = [(item.plan, item.problem) for item in outcomes if item.problem is not None]
        return [judge_adopted(adopted, left)]

    def _repair(self, records: Sequence[PlanRecord]) -> int:
        """Replaces damaged objects of mirrors by those of the projects; returns how many files."""
        projects = {
            sandbox.store: resource.path
            for record in records
            for sandbox in record.sandboxes
            for resource in record.resources
            if sandbox.strategy is SandboxStrategy.GIT_WORKTREE
            and sandbox.resource_id == resource.id
        }
        return sum(len(self._stores.repair(*each)) for each in projects.items())

    def _snapshots(self, records: Sequence[PlanRecord], repaired: int, *, quick: bool) -> Check:
        plan_ids = [record.id for record in records]
        find = self._maintenance.find_lost if quick else self._maintenance.verify_all
        reports = find(plan_ids)
        checked = sum(len(report.checkpoints) for report in reports)
        damaged = {
            report.plan_id: [item for item in report.checkpoints if not item.is_whole]
            for report in reports
            if report.damaged
        }
        if damaged:
            count = sum(map(len, damaged.values()))
            first = next(iter(damaged.values()))[0]
            return check(
                "snapshots",
                CheckStatus.PROBLEM,
                f"{count} of {counted(checked, 'checkpoint')} cannot be restored, of "
                f"{listed(list(damaged))}: {first.problem}",
                "Do not run `agents gc` now; roll back to others: "
                "`agents plan checkpoint verify PLAN` lists the intact ones",
                checked=checked,
                damaged=[
                    {
                        "plan_id": plan_id,
                        "checkpoint_id": item.checkpoint_id,
                        "label": item.label,
                        "problem": item.problem,
                    }
                    for plan_id, items in damaged.items()
                    for item in items
                ],
            )
        whole = counted(checked, "checkpoint")
        said = (
            f"{whole}; their bytes were not read back"
            if quick
            else f"Read back {whole}: all intact"
        )
        hint = "Leave out `--quick` to read every byte back" if quick else None
        status = CheckStatus.OK
        if repaired:
            status = CheckStatus.FIXED
            files = counted(repaired, "damaged object file")
            said = f"Replaced {files} of mirrors with those of the projects. {said}"
        return check("snapshots", status, said, hint, checked=checked, damaged=[])

    def _disk(self, records: Sequence[PlanRecord]) -> tuple[Check, DiskUse]:
        try:
            stored = self._stores.disk_use()
        except CleverAgentsError as error:
            return check("disk", CheckStatus.PROBLEM, error.message, error.hint), _NOTHING
        projects: dict[str, str] = {}
        plans: dict[str, list[PlanDisk]] = {}
        for record in records:
            paths = {resource.id: resource.path for resource in record.resources}
            for sandbox in record.sandboxes:
                key = self._stores.key_of(sandbox.store)
                projects[key] = paths[sandbox.resource_id]
                plans.setdefault(key, []).append(_plan_disk(record, sandbox.resource, stored))
        sandboxes = [sandbox for record in records for sandbox in record.sandboxes]
        resources = [resource for record in records for resource in record.resources]
        unapplied = layers(sandboxes, resources, stored.sandboxes)
        found = disk_use(stored, projects, plans, unapplied)
        stores = counted(len(found.projects), "store")
        message = f"{stores} and the sandboxes of {counted(len(records), 'plan')}"
        total = size(found.total_bytes)
        return check("disk", CheckStatus.OK, f"{total}: {message}"), found


def _plan_disk(record: PlanRecord, resource: str, stored: StoredBytes) -> PlanDisk:
    taken = stored.sandboxes.get(record.id, {}).get(resource, 0)
    return PlanDisk(plan_id=record.id, sandbox_bytes=taken, checkpoints=record.groups)
