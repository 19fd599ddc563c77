"""SessionRecorder: takes the checkpoints of one session while its command runs."""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress

from msgspec.structs import replace

from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.ports.locks import Locks, PlanLease
from cleveragents.application.ports.records import Database, Transaction
from cleveragents.application.ports.sandboxes import SnapshotStore
from cleveragents.application.ports.system import FaultPoints
from cleveragents.application.services.checkpoint_service import CheckpointService, Milestone
from cleveragents.application.services.checkpoints.group_recorder import snapshot_ids
from cleveragents.application.services.execution.session_end import SessionEnd
from cleveragents.application.services.recovery import Recovery
from cleveragents.domain.checkpoints.checkpoint import Checkpoint, CheckpointType
from cleveragents.domain.errors import ConflictError, SandboxMissingError, SnapshotError
from cleveragents.domain.plans.plan import Plan
from cleveragents.domain.plans.session import SessionTrigger
from cleveragents.domain.sandboxes.change import PathChange
from cleveragents.domain.sandboxes.sandbox import SandboxRef, SandboxState
from cleveragents.domain.wording import counted, listed

_NAMED = 3


class SessionRecorder:
    """Begins and continues the recording of sessions."""

    def __init__(
        self,
        database: Database,
        checkpoints: CheckpointService,
        recovery: Recovery,
        session_end: SessionEnd,
        snapshots: SnapshotStore,
        locks: Locks,
        faults: FaultPoints,
    ) -> None:
        self._database = database
        self._checkpoints = checkpoints
        self._recovery = recovery
        self._session_end = session_end
        self._snapshots = snapshots
        self._locks = locks
        self._faults = faults

    @contextmanager
    def recording(self, plan_id: str) -> Generator[Recording]:
        """Holds a session and watches its sandbox while the block runs.

        The session has its first checkpoint when the block begins. If another process recorded
        it before, what changed since then has one.

        Raises:
            ConflictError: another process holds it, or another session works on its files.
            PlanStateError: it has ended.
            CheckpointRequiredError: the first checkpoint could not be made. The session is
                cancelled then.
        """
        with self._locks.hold(plan_id) as lease:
            self._recovery.finish(plan_id, session_goes_on=True)
            with self._database.read() as transaction:
                plan = transaction.plans.get(plan_id)
                sandboxes = transaction.sandboxes.list(plan_id)
            if not plan.is_running_session:
                raise plan.refusal("be recorded")
            with self._alone(plan), self._snapshots.watched(sandboxes):
                recording = Recording(
                    lease,
                    sandboxes,
                    self._database,
                    self._checkpoints,
                    self._session_end,
                    self._snapshots,
                    self._faults,
                )
                if plan.last_checkpoint_id is None:
                    self._start(lease, plan)
                else:
                    recording.burst()
                yield recording

    @contextmanager
    def _alone(self, plan: Plan) -> Generator[None]:
        """Keeps other sessions from working on the same files; cancels one that comes second."""
        with ExitStack() as held:
            if plan.session is not None and plan.session.works_in_place:
                try:
                    held.enter_context(self._locks.place(plan.project_key))
                except ConflictError as error:
                    if plan.last_checkpoint_id is None:
                        self._session_end.call_off(plan.id, error.message)
                    raise
            yield

    def _start(self, lease: PlanLease, plan: Plan) -> None:
        """Makes the first checkpoint, or cancels the session."""

        def active(transaction: Transaction, latest: Plan) -> Plan:
            for made in transaction.sandboxes.list(latest.id):
                transaction.sandboxes.save(replace(made, state=SandboxState.ACTIVE))
            return latest

        moment = Milestone(
            CheckpointType.PRE_EXECUTE,
            label="start of the session",
            reason="the command is about to start",
            step_index=0,
            trigger=SessionTrigger.START,
        )
        try:
            self._checkpoints.create_as_required(lease, plan, moment, active)
            self._checkpoints.keep_start(lease)
        except BaseException as error:
            self._session_end.call_off(plan.id, str(error) or type(error).__name__)
            raise
        self._faults.reach(FaultPoint.START_KEPT)


class Recording:
    """A session that this process records."""

    def __init__(
        self,
        lease: PlanLease,
        sandboxes: Sequence[SandboxRef],
        database: Database,
        checkpoints: CheckpointService,
        session_end: SessionEnd,
        snapshots: SnapshotStore,
        faults: FaultPoints,
    ) -> None:
        self._faults = faults
        self._lease = lease
        self._sandboxes = sandboxes
        self._database = database
        self._checkpoints = checkpoints
        self._session_end = session_end
        self._snapshots = snapshots

    def wakeups(self) -> Sequence[int] | None:
        """Returns descriptors that can be read once files have changed; None without a watch."""
        found = [self._snapshots.wakeup(sandbox) for sandbox in self._sandboxes]
        known = [item for item in found if item is not None]
        return known if len(known) == len(found) else None

    def note_changes(self) -> None:
        """Notes what has changed, so that the descriptors tell of the next change."""
        for sandbox in self._sandboxes:
            self._snapshots.note_changes(sandbox)

    @property
    def directories(self) -> Sequence[str]:
        """Where the session works."""
        return [sandbox.path for sandbox in self._sandboxes]

    def doubt(self, paths: Mapping[str, Collection[str]]) -> None:
        """Has files read for the next checkpoint, whatever the watch says; by directory."""
        for sandbox in self._sandboxes:
            self._snapshots.doubt(sandbox, paths.get(sandbox.path, ()))

    def burst(self) -> Checkpoint | None:
        """Takes a checkpoint of what was written; None if the files are as they were.

        Raises:
            CheckpointRequiredError: the bytes could not be stored.
        """
        taken = self._checkpoints.take(self._lease)
        with self._database.read() as transaction:
            plan = transaction.plans.get(self._lease.plan_id)
            before = transaction.checkpoints.group_of(plan.last_checkpoint_id or "").snapshots
        after = snapshot_ids(taken)
        if before == after:
            return None
        found = self._checkpoints.changes_between(self._sandboxes, before, after)
        moment = Milestone(
            CheckpointType.AUTOMATIC,
            label=_label([change for _, changes in found for change in changes]),
            reason="files were written",
            step_index=0,
            trigger=SessionTrigger.BURST,
        )
        return self._checkpoints.create_as_required(self._lease, plan, moment, taken=taken)

    def command_ended(self, exit_code: int) -> None:
        """Records how the command ended; processes that it started may still run."""
        self._faults.reach(FaultPoint.COMMAND_ENDED)
        self._session_end.note_exit_code(self._lease.plan_id, exit_code)

    def end(self, reason: str) -> None:
        """Records the end of the session, with its last checkpoint."""
        with self._database.read() as transaction:
            plan = transaction.plans.get(self._lease.plan_id)
        if not plan.is_running_session:
            return
        # What was mapped into memory was written without the watch; it is on the disk by now.
        for sandbox in self._sandboxes:
            with (
                suppress(SandboxMissingError, SnapshotError),  # The checkpoint reports that.
                self._snapshots.open(sandbox) as opened,
            ):
                opened.recheck()
        self._session_end.record(self._lease, plan, reason)


def _label(changes: Sequence[PathChange]) -> str:
    """Says which files changed; directories count only if nothing in them did."""
    above = {change.path.rpartition("/")[0] for change in changes}
    paths = [change.path for change in changes if change.path not in above]
    return f"{counted(len(paths), 'file')} changed: {listed(paths, most=_NAMED)}"
