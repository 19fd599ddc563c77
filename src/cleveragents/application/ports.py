"""What the services need from the world, as protocols.

Adapters in `cleveragents.infrastructure` subclass these explicitly, so a
missing method is a type error at the class; `cleveragents.testing` has the
suites an implementation must pass.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Protocol

from cleveragents.application.events import Event
from cleveragents.application.fault_points import FaultPoint
from cleveragents.domain.apply import ApplyRequest, Target, TargetWork
from cleveragents.domain.change import AuthoredChange, ChangeCounts, PathChange
from cleveragents.domain.checkpoint import (
    Checkpoint,
    CheckpointGroup,
    CheckpointType,
    EffectiveRecords,
)
from cleveragents.domain.correction import CorrectionAttempt
from cleveragents.domain.decision import Decision
from cleveragents.domain.events import PlanEventRecord, StoredEvent
from cleveragents.domain.health import DatabaseFacts, HomeFacts, StoredBytes
from cleveragents.domain.lease import Holder, Lease
from cleveragents.domain.maintenance import CollectedStore, Named, StoreFindings
from cleveragents.domain.merge import MergeNames, MergeReport, MergeStrategy
from cleveragents.domain.number_ranges import Ranges
from cleveragents.domain.operation import Operation
from cleveragents.domain.plan import Plan, PlanPhase, PlanState
from cleveragents.domain.plan_file import PlanDefinition
from cleveragents.domain.resource import ResourceType
from cleveragents.domain.sandbox import (
    ProjectFacts,
    Resource,
    RestorePreview,
    RestoreReport,
    SandboxCheckpoint,
    SandboxRef,
    TreeDiff,
)
from cleveragents.domain.tool import ToolCall, ToolInvocation, ToolResult, ToolSpec
from cleveragents.domain.validation import ValidationResult


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """Returns the time in UTC."""
        ...

    def monotonic(self) -> float:
        """Returns seconds since some moment, to measure spans. MUST NOT go backwards."""
        ...


class IdSource(Protocol):
    """Makes ULIDs that sort in the order they were made within this process."""

    def new(self) -> str: ...


class FaultPoints(Protocol):
    """Told where a process is between durable steps. MUST do nothing in production."""

    def reach(self, point: FaultPoint) -> None: ...


class EventSink(Protocol):
    """Is told what happens. MUST NOT raise: what it is told of has happened already."""

    def emit(self, event: Event) -> None: ...


class PlanStore(Protocol):
    """The plans of one database."""

    def add(self, plan: Plan) -> None:
        """Raises DuplicateError when the id is taken."""
        ...

    def save(self, plan: Plan) -> None:
        """Makes every field of a plan that was added before what it is here."""
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
    ) -> Sequence[Plan]:
        """Returns plans, oldest first."""
        ...

    def ids(self, prefix: str = "", *, subplans: bool = True) -> Sequence[str]:
        """Returns ids that begin with `prefix`, oldest first; on demand without subplans."""
        ...

    def children(self, plan_id: str) -> Sequence[Plan]:
        """Returns the plans that this one spawned, oldest first."""
        ...


class SandboxStore(Protocol):
    """Resources of plans and the sandboxes made of them."""

    def add_resource(self, resource: Resource) -> None: ...

    def add(self, sandbox: SandboxRef) -> None: ...

    def save(self, sandbox: SandboxRef) -> None: ...

    def resources(self, plan_id: str) -> Sequence[Resource]:
        """Returns the plan's resources in the plan's order."""
        ...

    def list(self, plan_id: str) -> Sequence[SandboxRef]:
        """Returns the plan's sandboxes in the order of its resources."""
        ...


class CheckpointStore(Protocol):
    """Checkpoints and their groups. A group is written, set aside, pinned and deleted whole."""

    def add_group(self, group: CheckpointGroup, checkpoints: Sequence[Checkpoint]) -> None:
        """Raises DuplicateError when an id is taken."""
        ...

    def next_sequence(self, plan_id: str) -> tuple[int, int]:
        """Returns the next sequence number of a group and of a checkpoint of the plan, from 1.

        MUST be called in the write transaction that adds the group.
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

    def groups_oldest_first(self, plan_id: str) -> Iterator[CheckpointGroup]:
        """Gives all groups by sequence, as far as it is asked."""
        ...

    def count_groups(self, plan_id: str) -> int: ...

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
            path: Only what was done to this path, whatever the resource.
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
    """Every correction of plans, whatever became of it."""

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
    records they are given. So the events cannot tell of anything else.
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

    @property
    def plans(self) -> PlanStore: ...

    @property
    def sandboxes(self) -> SandboxStore: ...

    @property
    def checkpoints(self) -> CheckpointStore: ...

    @property
    def decisions(self) -> DecisionStore: ...

    @property
    def tool_calls(self) -> ToolCallStore: ...

    @property
    def changes(self) -> ChangeStore: ...

    @property
    def operations(self) -> OperationStore: ...

    @property
    def corrections(self) -> CorrectionStore: ...

    @property
    def validations(self) -> ValidationStore: ...

    @property
    def leases(self) -> LeaseStore: ...

    @property
    def events(self) -> EventStore: ...


class Database(Protocol):
    """Opens transactions. MUST NOT be held open while git or a tool runs."""

    def read(self) -> AbstractContextManager[Transaction]:
        """A consistent view; changes made through it are not kept."""
        ...

    def write(self) -> AbstractContextManager[Transaction]:
        """Holds the write lock from its start; durable when the block ends, undone if it raises.

        Raises ConflictError when another process keeps the lock too long.
        """
        ...


class Locks(Protocol):
    """Keeps two processes from changing one plan at the same time."""

    def hold(self, plan_id: str) -> AbstractContextManager[Lease]:
        """Holds the plan's lease, renewed for as long as the block takes.

        Raises ConflictError naming the holder. Re-entrant within one process.
        """
        ...

    def check(self, plan_id: str) -> None:
        """Makes sure that this process, which holds the plan, still does.

        MUST be called before files of the plan's sandboxes are restored; writes to
        the database are checked by themselves. Raises ConflictError naming whoever
        took the plan over.
        """
        ...

    def holder(self, plan_id: str) -> Holder | None:
        """Returns the process that holds the plan, if one does."""
        ...


class Sandboxes(Protocol):
    """Makes the private copies that plans work in."""

    def project_root(self, path: Path) -> str:
        """Returns the top of the repository that a directory is in; no more is looked at.

        Raises ProjectRefusedError when there is none, or it may not be a project.
        """
        ...

    def inspect(self, path: Path, kind: ResourceType = ResourceType.GIT_CHECKOUT) -> ProjectFacts:
        """Looks at what is to be sandboxed without touching it or running anything of it.

        Raises ProjectRefusedError when it cannot be sandboxed whole.
        """
        ...

    def refuse_overlaps(self, resources: Sequence[Resource]) -> None:
        """Raises ProjectRefusedError when two resources would both hold the same thing."""
        ...

    def create(self, sandbox_id: str, plan_id: str, resource: Resource) -> SandboxRef:
        """Makes the sandbox.

        MUST leave the project byte-identical, and nothing behind on failure.
        """
        ...

    def fork(
        self,
        sandbox_id: str,
        plan_id: str,
        resource: Resource,
        source: SandboxRef,
        snapshot_id: str,
    ) -> SandboxRef:
        """Makes the sandbox of a child plan, which starts as a snapshot of its parent's.

        It holds exactly that snapshot's files, whatever the source holds by now, and of the
        source what no snapshot holds: ignored files. It shares the source's store. Its git is
        on a branch of its own if the source was on its own, otherwise detached, at the same
        commit with the same index. It MUST work when the source is gone. It MUST leave source
        and project byte-identical, and nothing behind on failure.

        Args:
            sandbox_id: The id of the new sandbox.
            plan_id: The child plan; it MUST NOT have a sandbox of the resource in use.
            resource: The child's record of the resource, which is like the parent's.
            source: The parent's sandbox.
            snapshot_id: A snapshot of the source.

        Raises:
            SnapshotMissingError: nothing keeps that snapshot any more.
        """
        ...

    def check(self, sandbox: SandboxRef) -> None:
        """Raises SandboxMissingError when it is gone or what is there is not ours."""
        ...

    def reopen(self, sandbox: SandboxRef) -> None:
        """Makes a sandbox that is gone anew and empty, for a snapshot to fill.

        MUST raise SandboxMissingError, and touch nothing, where something stands in its place.
        """
        ...

    def remove(self, sandbox: SandboxRef) -> None:
        """Removes the sandbox's files; its snapshots stay. MUST be repeatable."""
        ...


class SnapshotStore(Protocol):
    """Stores and restores the bytes of sandboxes.

    A snapshot MUST be durable when `create_checkpoint` returns, MUST NOT depend
    on any other, and taking it MUST NOT change the sandbox.
    """

    def watched(self, sandboxes: Sequence[SandboxRef]) -> AbstractContextManager[None]:
        """Follows what changes in the sandboxes while the block runs, where that is possible.

        It only makes the other acts quicker. May be nested.
        """
        ...

    def recheck(self, sandbox: SandboxRef) -> Sequence[str]:
        """Looks at a watched sandbox without trusting the watch; returns what it had missed."""
        ...

    def create_checkpoint(self, sandbox: SandboxRef) -> SandboxCheckpoint:
        """Stores the sandbox as it is. Identical state gives the identical snapshot."""
        ...

    def preview(
        self, sandbox: SandboxRef, snapshot_id: str, paths: Collection[str] | None = None
    ) -> RestorePreview:
        """Returns what `rollback_to` would do. MUST NOT store or change anything.

        Args:
            sandbox: The sandbox.
            snapshot_id: The snapshot to compare it with.
            paths: Restore only these, as `combine` understands them; None restores everything.
        """
        ...

    def rollback_to(
        self, sandbox: SandboxRef, snapshot_id: str, sparing: str | None = None
    ) -> RestoreReport:
        """Makes the sandbox what it was, and reads it back.

        Args:
            sandbox: The sandbox.
            snapshot_id: What it is to be.
            sparing: The snapshot taken before an earlier, killed attempt: what that
                one did not hold is left alone as well.

        MUST be repeatable after a kill, MUST NOT write outside the sandbox,
        through a symlink or into a file with other links, and MUST leave alone
        what no snapshot holds.
        """
        ...

    def verify(self, sandbox: SandboxRef, snapshot_id: str) -> None:
        """Raises SnapshotMissingError or SnapshotCorruptError unless every byte is there."""
        ...

    def list_checkpoints(self, sandbox: SandboxRef) -> Sequence[str]:
        """Returns the ids of the stored snapshots of the sandbox's plan and resource."""
        ...

    def delete_checkpoint(self, sandbox: SandboxRef, snapshot_ids: Collection[str]) -> None:
        """Drops snapshots; the space is reclaimed later. MUST be repeatable."""
        ...

    def diff(self, sandbox: SandboxRef, old: str, new: str, prefix: str = "") -> TreeDiff:
        """Compares two snapshots; every path, in the patch too, begins with `prefix`."""
        ...

    def sizes(self, sandbox: SandboxRef, hashes: Collection[str]) -> Mapping[str, int]:
        """Returns the bytes of files and links by the hash that `changes` gives them.

        What is not kept, or has no size of its own, is left out.
        """
        ...

    def changes(self, sandbox: SandboxRef, old: str, new: str) -> Sequence[PathChange]:
        """Says what became of each path between two snapshots, in the order of the paths.

        Every file, link and directory that is other, or in one of them only, is one
        entry. MUST leave out what one of the snapshots could not hold, and MUST NOT
        look at anything when the two are the same.
        """
        ...

    def changes_since(self, sandbox: SandboxRef, snapshot_id: str) -> Sequence[PathChange]:
        """Compares a snapshot with the sandbox as it is now, as `changes` does.

        MUST NOT store or change anything.
        """
        ...

    def combine(
        self, sandbox: SandboxRef, base: str, other: str, paths: Collection[str]
    ) -> SandboxCheckpoint:
        """Stores a snapshot that is `base`, but has at `paths` what `other` has there.

        It is a snapshot like those of `create_checkpoint`: durable, independent of the
        two, and the identical one if the state is. `HEAD`, branch and index are those
        of `base`. What was not captured is left alone as by a rollback to the snapshot
        that each path is taken from. MUST NOT look at the sandbox or change it.

        Args:
            sandbox: The sandbox that both are snapshots of.
            base: What counts where no path leads.
            other: What counts at the paths. What it has not is taken out; a directory
                that is empty then stays unless it is named itself. Where `base` has no
                directory above what is brought back, it is made as `other` has it, in
                place of a file if need be.
            paths: As in a `PathChange`. A directory stands for all that is in it in
                either snapshot, and `.` for everything. One that neither has does nothing.

        Raises:
            UsageError: a path is absolute or leads upwards.
            SnapshotError: `other` or `base` did not capture what is at a path. A special
                file in `base` counts as nothing, as it does in `changes`.
        """
        ...

    def merge(
        self,
        sandbox: SandboxRef,
        mine: str,
        base: str,
        theirs: str,
        strategy: MergeStrategy,
        names: MergeNames,
    ) -> MergeReport:
        """Brings into a sandbox what changed between two snapshots of a fork of it.

        What changed in theirs only is taken, what changed in both is merged as the strategy
        says. Where that is a conflict, everything is as mine, but for the lines of text
        files, which have conflict markers. `HEAD`, branch and index stay. What one of the
        snapshots left out MUST NOT be touched, nor anything written through a link. With
        `fail_on_conflict` nothing MUST be written if there is a conflict.

        A kill may leave any part of it done: then the sandbox has to be brought back to
        `mine` before it is done again.

        Args:
            sandbox: The sandbox; it holds exactly the snapshot `mine`.
            mine: A snapshot of the sandbox.
            base: What the fork started as.
            theirs: What it has come to.
            strategy: What happens where both have changed something.
            names: What conflict markers call the two.

        Raises:
            SnapshotMissingError: one of the snapshots is not there.
        """
        ...

    def place(self, sandbox: SandboxRef, snapshot_id: str, paths: Collection[str]) -> None:
        """Makes paths of the sandbox what a snapshot has there, its own or one of a fork.

        What the snapshot has not is removed. A directory comes or goes with all that is in
        it; where both have one, it only gets its permission bits. Everything else stays.

        Raises:
            UsageError: a path is absolute or leads upwards.
            SnapshotError: the snapshot, or one of the sandbox now, does not hold a path.
            BusinessRuleViolation: something that no snapshot holds is in the way.
        """
        ...


class Targets(Protocol):
    """The resources themselves, and bringing a plan's result into them.

    `plan` looks, the other acts do. Each of these MUST be repeatable, also after a kill in the
    middle of it, and MUST find out from the disk how far an earlier attempt came.
    """

    def plan(self, work: TargetWork, request: ApplyRequest) -> Target:
        """Says what is to become of the resource, and keeps what is needed to do and undo it.

        MUST leave the resource byte-identical, and MUST NOT run anything of it. Raises
        TargetRefusedError, UncommittedChangesError or MergeConflictError where it cannot be
        done, and MergeConflictError for what both have changed.
        """
        ...

    def lock(self, target: Target) -> None:
        """Keeps other programs out as far as the resource has a way to, and looks once more.

        Raises ConflictError when somebody else is at work, or has been since `plan`.
        """
        ...

    def write(self, target: Target) -> None:
        """Brings in everything that can be taken back file by file."""
        ...

    def settle(self, target: Target) -> None:
        """Makes it count: branch and index move, the lock goes."""
        ...

    def undo(self, target: Target) -> None:
        """Makes the resource what it was when `plan` saw it, from wherever the others came to.

        Raises ConflictError for what somebody else has changed since.
        """
        ...

    def finish(self, target: Target) -> None:
        """Tidies up once the apply is recorded. MUST NOT raise: it is done already."""
        ...


class ChildRun(Protocol):
    """A plan that runs in a process of its own."""

    @property
    def plan_id(self) -> str: ...

    @property
    def has_ended(self) -> bool: ...

    def stop(self) -> None:
        """Asks it to end where that is safe. MUST be repeatable."""
        ...

    def kill(self) -> None:
        """Ends it at once. MUST be repeatable."""
        ...

    def close(self) -> None:
        """Lets go of an ended run, which says nothing any more then. MUST be repeatable."""
        ...

    def warnings(self) -> Sequence[str]:
        """Returns what the user must not miss of an ended run."""
        ...

    def said(self) -> str:
        """Returns why an ended run did not run the plan to its end, if it said so."""
        ...


class ChildPlans(Protocol):
    """Runs plans beside this process.

    A run MUST end by itself when this process has ended, however that came. What
    became of the plan is in its record.
    """

    def start(self, plan_id: str, *, repeat_effects: bool) -> ChildRun:
        """Has another process execute the plan."""
        ...

    def wait(self, runs: Collection[ChildRun], seconds: float) -> Sequence[ChildRun]:
        """Waits until one has ended, or for some time; returns those that have ended."""
        ...


class ToolBackend(Protocol):
    """Runs tools inside a sandbox."""

    def specs(self) -> Mapping[str, ToolSpec]:
        """Returns the tools there are, by name."""
        ...

    def run(self, call: ToolInvocation) -> ToolResult:
        """Runs the tool; when this returns or raises, nothing of it MUST run on.

        The caller MUST have checked the input with `validate_input`.

        Raises ExecutionError when the tool fails, times out or reaches outside its
        sandbox, and InterruptedByUserError when the user wants to stop.
        """
        ...

    def end_leftovers(self, plan_id: str) -> int:
        """Ends what a killed run of the plan left of its tools, and returns how many processes.

        The caller MUST hold the plan. MUST NOT touch anything else.
        """
        ...


class Interruption(Protocol):
    """Tells whether the user wants to stop: Ctrl-C, or a request to end."""

    def listening(self) -> AbstractContextManager[None]:
        """Makes the first request something to ask for, while the block runs; may be nested.

        A second request raises KeyboardInterrupt at once. A request that nobody has
        acted on when the outermost block ends without an error raises it then. In any
        thread but the main one this does nothing: only there the system tells.
        """
        ...

    def requested(self) -> bool:
        """Returns whether to stop at the next point where that is safe."""
        ...


class PlanFiles(Protocol):
    """Reads plan files."""

    def load(self, path: Path) -> PlanDefinition:
        """Raises PlanFileError with the line of the first problem."""
        ...


class Installation(Protocol):
    """What the program stands on. Looking MUST change nothing, and MUST make no directory."""

    def versions(self) -> Mapping[str, str]:
        """Returns the versions of the program and of what it always has, by name."""
        ...

    def git_version(self) -> str:
        """Raises ConfigurationError when git is missing or too old."""
        ...

    def paths(self) -> Mapping[str, str]:
        """Returns where things are, by name."""
        ...

    def home(self) -> HomeFacts | None:
        """Looks at the home directory; None when there is none yet."""
        ...

    def make_home_private(self) -> None:
        """Lets nobody but the user into the home directory. MUST be repeatable."""
        ...

    def has(self, path: str) -> bool:
        """Returns whether there is anything at a path."""
        ...


class DatabaseInspection(Protocol):
    """Looks at the database without making, upgrading or changing it."""

    def place(self) -> str:
        """Returns where it is, without secrets."""
        ...

    def is_shared(self) -> bool:
        """Returns whether other homes, on other machines, may store their plans there too."""
        ...

    def look(self) -> DatabaseFacts | None:
        """Returns what is there; None when there is none yet.

        Raises what the first use of the `Database` would raise.
        """
        ...


Naming = Callable[[Collection[str]], Named]
"""Says what the records know of the plans whose ids are given."""


class Stores(Protocol):
    """The stores of all projects under one home directory, and keeping them small."""

    def keys(self) -> Sequence[str]:
        """Returns the keys of the projects that have a store."""
        ...

    def disk_use(self) -> StoredBytes:
        """Measures everything under the home directory."""
        ...

    def sandboxes(self) -> Mapping[str, Sequence[str]]:
        """Returns the resources of each plan that has a directory of sandboxes, by plan.

        Directories that are being made are not among them.
        """
        ...

    def remove_sandbox(self, plan_id: str, resource: str) -> None:
        """Removes a sandbox that no record names, with what belongs to it. MUST be repeatable."""
        ...

    def remove_sandboxes(self, plan_id: str) -> None:
        """Removes all that is left of a plan that no record names. MUST be repeatable."""
        ...

    def look(self, key: str, naming: Naming) -> StoreFindings:
        """Finds what `collect` would take out, objects aside; changes nothing.

        MUST ask `naming` only when no other process can use the store.
        """
        ...

    def reclaim_drafts(self, *, dry_run: bool) -> int:
        """Removes sandboxes that a killed process had not finished making; returns their bytes.

        MUST leave alone what a living process is making, and with `dry_run` everything.
        """
        ...

    def collect(self, key: str, naming: Naming, *, dry_run: bool) -> CollectedStore:
        """Takes out what no record names and nothing leads to.

        MUST ask `naming` only when no other process can use the store, MUST leave
        a store in use as it is, and MUST NOT touch what it shares with the
        project. MUST leave a whole store wherever it is killed. With `dry_run` it
        MUST change nothing.
        """
        ...
