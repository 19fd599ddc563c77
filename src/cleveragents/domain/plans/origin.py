"""What is noted beside a sandbox, so that a database that does not know its plan can adopt it."""

from __future__ import annotations

from datetime import datetime

from cleveragents.domain.plans.plan import Plan
from cleveragents.domain.plans.plan_file import PlanDefinition
from cleveragents.domain.record import Record
from cleveragents.domain.sandboxes.sandbox import Resource, SandboxRef


class SandboxOrigin(Record):
    """The plan of a sandbox and its resource, as they were when the sandbox was made."""

    name: str
    project: str
    project_key: str
    plan_file: str
    definition: PlanDefinition
    created_at: datetime
    resource: Resource
    sandbox: SandboxRef


def origin_of(plan: Plan, resource: Resource, sandbox: SandboxRef) -> SandboxOrigin:
    """Returns the note of a new sandbox."""
    return SandboxOrigin(
        name=plan.name,
        project=plan.project,
        project_key=plan.project_key,
        plan_file=plan.plan_file,
        definition=plan.definition,
        created_at=plan.created_at,
        resource=resource,
        sandbox=sandbox,
    )


class StoredSnapshot(Record):
    """A snapshot that a ref in a mirror keeps."""

    id: str
    state_hash: str
    stored_at: datetime
    """When its ref was written; for a ref that git packed, when that was."""


class FoundSandbox(Record):
    """A sandbox as it is on disk, known to the database or not."""

    resource: str
    path: str
    origin: SandboxOrigin | None
    """None in a home of an earlier version, and once the sandbox is gone."""
    sandbox: SandboxRef | None
    """Its record, as far as the disk shows it; None if nothing shows what it was made from."""
    project: str | None
    """The path of the resource in the user's project; None if it is unknown."""
    snapshots: tuple[StoredSnapshot, ...]
    """In the order in which they were stored."""
    is_there: bool
    size_bytes: int


class FoundPlan(Record):
    """What is on disk of one plan."""

    plan_id: str
    sandboxes: tuple[FoundSandbox, ...]

    @property
    def origin(self) -> SandboxOrigin | None:
        return next((item.origin for item in self.sandboxes if item.origin is not None), None)

    @property
    def name(self) -> str:
        return self.origin.name if self.origin is not None else self.plan_id

    @property
    def project(self) -> str | None:
        if self.origin is not None:
            return self.origin.project
        return next((item.project for item in self.sandboxes if item.project is not None), None)

    @property
    def size_bytes(self) -> int:
        return sum(item.size_bytes for item in self.sandboxes)

    @property
    def snapshots(self) -> int:
        return sum(len(item.snapshots) for item in self.sandboxes)

    @property
    def changed_at(self) -> datetime | None:
        """When the last snapshot of it was stored."""
        return max(
            (item.snapshots[-1].stored_at for item in self.sandboxes if item.snapshots),
            default=None,
        )

    @property
    def obstacle(self) -> str | None:
        """Why it cannot be adopted; None if it can."""
        if not self.snapshots:
            return "no snapshot of it is stored"
        missing = [item.resource for item in self.sandboxes if item.sandbox is None]
        if missing:
            return "nothing tells which project it belongs to; run this in the project's directory"
        if any(not item.snapshots for item in self.sandboxes):
            return "of one of its sandboxes no snapshot is stored"
        return None
