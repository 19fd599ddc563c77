"""The database: its transactions, and one store per kind of record."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Protocol

from cleveragents.domain.checkpoints.checkpoint import (
    Checkpoint,
    CheckpointGroup,
    CheckpointType,
    EffectiveRecords,
)
from cleveragents.domain.checkpoints.number_ranges import Ranges
from cleveragents.domain.checkpoints.operation import Operation
from cleveragents.domain.checkpoints.retention import CountedGroup
from cleveragents.domain.decisions.correction import CorrectionAttempt
from cleveragents.domain.decisions.decision import Decision
from cleveragents.domain.plans.events import PlanEventRecord, StoredEvent
from cleveragents.domain.plans.lease import Lease
from cleveragents.domain.plans.plan import Plan, PlanPhase, PlanState, PlanSummary
from cleveragents.domain.plans.validation import ValidationResult
from cleveragents.domain.sandboxes.change import AuthoredChange, ChangeCounts, PathChange
from cleveragents.domain.sandboxes.sandbox import Resource, SandboxRef
from cleveragents.domain.tools.tool import ToolCall


class PlanStore(Protocol):
    """The plans of one database."""

    def add(self, plan: Plan) -> None:
        """Raises DuplicateError when the id is taken."""
        ...

    def save(self, plan: Plan) -> None:
        """Makes every field of a plan that was added before what it is here."""
        ...

    def expect(self, plan_id: str) -> None:
        """Says that `get` will be called, so that it need not wait for an answer of its own."""
        ...

    def get(self, plan_id: str) -> Plan:
        """Raises PlanNotFoundError."""
        ...

    def list(
        self,
        *,
        phase: PlanPhase | None = None,
        state: PlanState | None = None,
        project: str | None = None,
    ) -> Sequence[PlanSummary]:
        """Returns the part of plans that lists show, oldest first."""
        ...

    def ids(
        self, prefix: str = "", *, subplans: bool = True, project: str | None = None
    ) -> Sequence[str]:
        """Returns ids that begin with `prefix`, oldest first.

        Args:
            prefix: Their beginning.
            subplans: Whether plans that other plans spawned count.
            project: Only plans of this project; None is any.
        """
        ...

    def children(self, plan_id: str) -> Sequence[Plan]:
        """Returns the plans that this one spawned, oldest first."""
        ...

    def descendants(self, plan_id: str) -> Sequence[Plan]:
        """Returns the plans that this one spawned, those that they spawned, and so on.

        MUST return each plan after the one that spawned it.
        """
        ...


class SandboxStore(Protocol):
    """Resources of plans and the sandboxes made of them."""

    def add_resource(self, resource: Resource) -> None: ...

    def add(self, sandbox: SandboxRef) -> None: ...

    def save(self, sandbox: SandboxRef) -> None: ...

    def resources(self, plan_id: str) -> Sequence[Resource]:
        """Returns the plan's resources in the plan's order."""
        ...

    def all_resources(self) -> Sequence[Resource]:
        """Returns the resources of all plans, each plan's in its order."""
        ...

    def all(self) -> Sequence[SandboxRef]:
        """Returns the sandboxes of all plans, each plan's in the order of its resources."""
        ...

    def expect(self, plan_id: str) -> None:
        """Says that `list` will be called, so that it need not wait for an answer of its own."""
        ...

    def list(self, plan_id: str) -> Sequence[SandboxRef]:
        """Returns the plan's sandboxes in the order of its resources."""
        ...


class CheckpointStore(Protocol):
    """Checkpoints and their groups. A group is written, set aside, pinned and deleted whole."""

    def add_group(self, group: CheckpointGroup, checkpoints: Sequence[Checkpoint]) -> None:
        """Raises DuplicateError when an id is taken."""
        ...

    def expect(self, plan_id: str) -> None:
        """Says that `next_group` will be called, so that it need not wait for an answer."""
        ...

    def next_group(self, plan_id: str) -> tuple[int, int, EffectiveRecords]:
        """Returns what a new group of the plan needs to know.

        MUST be called in the write transaction that adds the group.

        Returns:
            The next sequence number of a group and of a checkpoint, both from 1, and the records
            that are in effect.
        """
        ...

    def effective_records(self, plan_id: str) -> EffectiveRecords:
        """Returns what of the plan's records is in effect now, by sequence numbers."""
        ...

    def get(self, checkpoint_id: str) -> Checkpoint:
        """Raises CheckpointNotFoundError."""
        ...

    def get_group(self, group_id: str) -> CheckpointGroup:
        """Raises CheckpointNotFoundError."""
        ...

    def group_of(self, checkpoint_id: str) -> CheckpointGroup:
        """Returns the group a checkpoint belongs to. Raises CheckpointNotFoundError."""
        ...

    def list(self, plan_id: str, *, set_aside: bool = False) -> Sequence[Checkpoint]:
        """Returns checkpoints by sequence; with `set_aside` also those a rollback went past."""
        ...

    def newest_first(self, plan_id: str) -> Iterator[Checkpoint]:
        """Gives the checkpoints no rollback went past, the newest first, as far as it is asked."""
        ...

    def newest(self, plan_id: str, checkpoint_type: CheckpointType) -> Checkpoint | None:
        """Returns the newest checkpoint of a type that no rollback went past."""
        ...

    def groups(self, plan_id: str, *, set_aside: bool = True) -> Sequence[CheckpointGroup]:
        """Returns groups by sequence."""
        ...

    def group_ids(self, plan_id: str) -> Collection[str]:
        """Returns the ids of all groups of a plan, those set aside included."""
        ...

    def groups_oldest_first(self, plan_id: str) -> Iterator[CheckpointGroup]:
        """Gives all groups by sequence, as far as it is asked."""
        ...

    def group_counts(self) -> Mapping[str, int]:
        """Returns how many groups each plan has that has any."""
        ...

    def counted_groups(self, plan_id: str) -> Sequence[CountedGroup]:
        """Returns the groups that count toward the limit, by sequence: all but safety ones."""
        ...

    def count_states(self, plan_id: str) -> int:
        """Returns how many different states the counted groups have."""
        ...

    def count_pruned(self, plan_id: str) -> int:
        """Returns how many groups the limit has taken from the plan."""
        ...

    def is_snapshot_named(self, plan_id: str, resource_id: str, snapshot_id: str) -> bool:
        """Returns whether a group of the plan has this snapshot of the resource."""
        ...

    def ids(self, prefix: str) -> Sequence[str]:
        """Returns checkpoint ids of any plan that begin with `prefix`, oldest first."""
        ...

    def set_aside(self, group_ids: Collection[str], operation_id: str | None) -> None:
        """Hides groups because of an operation; None brings them back."""
        ...

    def set_pinned(self, group_ids: Collection[str], *, pinned: bool) -> None:
        """Says whether groups are kept whatever the limit says."""
        ...

    def prune_groups(self, group_ids: Collection[str]) -> None:
        """Deletes groups with their checkpoints, because there are too many."""
        ...

    def delete_groups(self, group_ids: Collection[str]) -> None:
        """Deletes groups with their checkpoints, because the user said so."""
        ...


class DecisionStore(Protocol):
    """The decision tree of plans, and which decisions influenced which others."""

    def add(self, decision: Decision, influenced_by: Collection[str] = ()) -> None:
        """Adds a decision, and the stored ones that it rests on besides its parent."""
        ...

    def save(self, decision: Decision) -> None: ...

    def influences(self, plan_id: str) -> Mapping[str, Sequence[str]]:
        """Returns the decisions that each decision of the plan was influenced by, by id."""
        ...

    def get(self, decision_id: str) -> Decision:
        """Raises DecisionNotFoundError."""
        ...

    def ids(self, prefix: str) -> Sequence[str]:
        """Returns decision ids of any plan that begin with `prefix`, oldest first."""
        ...

    def next_sequence(self, plan_id: str) -> int:
        """Returns the next sequence number of a decision of the plan, from 1.

        MUST be called in the write transaction that adds the decision.
        """
        ...

    def list(self, plan_id: str, *, superseded: bool = False) -> Sequence[Decision]:
        """Returns decisions by sequence; with `superseded` also those replaced."""
        ...

    def supersede(self, decision_ids: Collection[str], by: str) -> None:
        """Marks decisions as replaced; the mark of one that is already so stays."""
        ...

    def reinstate(self, decision_ids: Collection[str]) -> None:
        """Lets decisions stand again."""
        ...


class ToolCallStore(Protocol):
    """Every tool call of plans."""

    def add(self, call: ToolCall) -> None: ...

    def save(self, call: ToolCall) -> None: ...

    def next_sequence(self, plan_id: str) -> int:
        """Returns the next sequence number of a call of the plan, from 1.

        MUST be called in the write transaction that adds the call.
        """
        ...

    def list(self, plan_id: str) -> Sequence[ToolCall]:
        """Returns calls by sequence, undone ones included."""
        ...

    def make_effective(self, plan_id: str, wanted: Ranges, undone_by: str) -> int:
        """Marks all other calls as undone, and these as not. Returns how many were undone now."""
        ...


class ChangeStore(Protocol):
    """What tool calls did to paths. A call that is undone keeps its changes."""

    def add(self, plan_id: str, call_id: str, resource: str, changes: Sequence[PathChange]) -> None:
        """Adds what a stored call of the plan did to a resource; all of it or none.

        MUST be quick for tens of thousands.
        """
        ...

    def list(
        self, plan_id: str, *, path: str | None = None, effective_only: bool = True
    ) -> Sequence[AuthoredChange]:
        """Returns changes in the order of the calls, and of each in the order they were added.

        Args:
            plan_id: The plan.
            path: Only what was done to this path, in any resource.
            effective_only: Without the changes of calls that are undone.
        """
        ...

    def count(self, plan_id: str) -> ChangeCounts:
        """Counts the changes of calls that are not undone."""
        ...


class OperationStore(Protocol):
    """The journal of operations."""

    def add(self, operation: Operation) -> None: ...

    def save(self, operation: Operation) -> None: ...

    def pending(self, plan_id: str) -> Operation | None:
        """Returns the operation a process began and did not end, if there is one."""
        ...

    def all_pending(self) -> Sequence[Operation]:
        """Returns those of all plans, at most one of each."""
        ...

    def list(self, plan_id: str) -> Sequence[Operation]:
        """Returns operations, oldest first."""
        ...


class ValidationStore(Protocol):
    """What validations of plans said."""

    def add(self, result: ValidationResult) -> None: ...

    def list(self, plan_id: str) -> Sequence[ValidationResult]:
        """Returns results, oldest first."""
        ...


class CorrectionStore(Protocol):
    """All corrections of plans, including failed ones."""

    def add(self, attempt: CorrectionAttempt) -> None: ...

    def save(self, attempt: CorrectionAttempt) -> None: ...

    def get(self, attempt_id: str) -> CorrectionAttempt:
        """Raises CorrectionNotFoundError."""
        ...

    def of_operation(self, operation_id: str) -> CorrectionAttempt | None: ...

    def ids(self, prefix: str) -> Sequence[str]:
        """Returns ids of any plan's attempts that begin with `prefix`, oldest first."""
        ...

    def list(self, plan_id: str) -> Sequence[CorrectionAttempt]:
        """Returns attempts, oldest first."""
        ...


class LeaseStore(Protocol):
    """Who may change a plan now. What changes a lease runs in the caller's write transaction."""

    def get(self, plan_id: str) -> Lease | None: ...

    def all(self) -> Sequence[Lease]:
        """Returns the last lease of each plan that ever had one."""
        ...

    def now(self) -> datetime:
        """Returns the time by the clock that decides about leases.

        A server has one for all hosts; a file has that of this machine.
        """
        ...

    def put(self, lease: Lease) -> None:
        """Adds or replaces the plan's lease."""
        ...

    def is_current(self, lease: Lease) -> bool:
        """Returns whether the plan's lease still has this owner and fencing number."""
        ...

    def renew(self, lease: Lease, expires_at: datetime) -> bool:
        """Puts off the end of a lease that is current; returns False, and changes nothing, else."""
        ...

    def release(self, plan_id: str, owner_id: str) -> None:
        """Ends the lease if that owner still holds it, keeping the fencing number."""
        ...


class EventStore(Protocol):
    """What happened to plans.

    The other stores enter here, in the same transaction, what follows from the
    records they are given. So events and records cannot disagree.
    """

    def add(self, event: PlanEventRecord) -> None:
        """Enters what does not follow from a record."""
        ...

    def list(
        self, plan_id: str, *, after: int = 0, types: Collection[str] | None = None
    ) -> Sequence[StoredEvent]:
        """Returns events by sequence: those with a higher number than `after`, of these types."""
        ...

    def added(self) -> Sequence[StoredEvent]:
        """Returns what this transaction has entered so far."""
        ...


class Transaction(Protocol):
    """One transaction: everything in it is stored together or not at all."""

    plans: PlanStore
    sandboxes: SandboxStore
    checkpoints: CheckpointStore
    decisions: DecisionStore
    tool_calls: ToolCallStore
    changes: ChangeStore
    operations: OperationStore
    corrections: CorrectionStore
    validations: ValidationStore
    leases: LeaseStore
    events: EventStore


class Database(Protocol):
    """Opens transactions. MUST NOT be held open while git or a tool runs."""

    def read(self) -> AbstractContextManager[Transaction]:
        """A consistent view; changes made through it are not kept."""
        ...

    def write(self, *plans: str, adds_group: bool = False) -> AbstractContextManager[Transaction]:
        """Holds its locks from its start; durable when the block ends, undone if it raises.

        A block that names plans MUST NOT depend on, or change, what belongs to others: the
        database may run it beside a block about other plans. One that names none runs alone.

        A block that `adds_group` reads each plan and adds a group of checkpoints to it, so that
        the database can have ready what that needs.

        Raises ConflictError when another process keeps a lock too long.
        """
        ...

    def is_doubted(self) -> bool:
        """Returns whether a database was used that lacks what had been recorded here before.

        It was restored from a backup, or is that of another installation. What it does not
        know may then be finished work, and MUST NOT be deleted.
        """
        ...

    def trust(self) -> None:
        """Ends the doubt: the records name by now everything that is here. MUST be repeatable."""
        ...

    def owns(self, sandbox: SandboxRef) -> bool:
        """Returns whether a sandbox belongs to this home directory.

        Several may share a database. One of another home MUST NOT be changed here.
        """
        ...
