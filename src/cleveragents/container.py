"""The composition root: the only place that builds services.

Everything is built when it is first asked for and then kept, so a command pays
for what it uses. Imports are inside the methods for the same reason. What holds
the code of sandboxes, tools and plan files is built only when a service uses it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from cleveragents.domain.settings.registry import (
    AUTO_CREATE_ON,
    CLEANUP,
    CONCURRENCY,
    DATABASE_URL,
    DEADLINE,
    IGNORED_MAX_SIZE,
    INCLUDE_IGNORED,
    LEASE_TIME,
    MAX_CHECKPOINTS_PER_PLAN,
    MAX_CHECKPOINTS_PER_SESSION,
    MAX_CHILD_DEPTH,
    MAX_FILE_SIZE,
    MAX_SIZE_PER_PLAN,
    REBUILDABLE,
    STRATEGY,
    Settings,
)

if TYPE_CHECKING:
    from cleveragents.application.ports.maintenance import Mirrors
    from cleveragents.application.ports.plans import ChildPlans, PlanFiles
    from cleveragents.application.ports.records import Database
    from cleveragents.application.ports.sandboxes import Sandboxes, SnapshotStore
    from cleveragents.application.ports.system import (
        Clock,
        EventSink,
        FaultPoints,
        IdSource,
        Interruption,
    )
    from cleveragents.application.ports.targets import Targets
    from cleveragents.application.ports.tools import ToolBackend
    from cleveragents.application.services.apply.procedure import ApplyProcedure
    from cleveragents.application.services.apply.reversal import ApplyReversal
    from cleveragents.application.services.apply.sandbox_removal import SandboxRemoval
    from cleveragents.application.services.apply.validation_runner import ValidationRunner
    from cleveragents.application.services.artifact_service import ArtifactService
    from cleveragents.application.services.checkpoint_service import CheckpointService
    from cleveragents.application.services.checkpoints.group_recorder import GroupRecorder
    from cleveragents.application.services.conflict_service import ConflictService
    from cleveragents.application.services.correction_service import CorrectionService
    from cleveragents.application.services.decision_service import DecisionService
    from cleveragents.application.services.doctor_service import DoctorService
    from cleveragents.application.services.execution.session_end import SessionEnd
    from cleveragents.application.services.execution.session_recorder import SessionRecorder
    from cleveragents.application.services.health.adoption import Adoption
    from cleveragents.application.services.log_service import LogService
    from cleveragents.application.services.maintenance_service import MaintenanceService
    from cleveragents.application.services.output_service import OutputService
    from cleveragents.application.services.plan_apply_service import PlanApplyService
    from cleveragents.application.services.plan_executor import PlanExecutor
    from cleveragents.application.services.plan_resume_service import PlanResumeService
    from cleveragents.application.services.plan_service import PlanService
    from cleveragents.application.services.recovery import Recovery
    from cleveragents.application.services.retention_service import RetentionService
    from cleveragents.application.services.rollback.procedure import RollbackProcedure
    from cleveragents.application.services.session_service import SessionService
    from cleveragents.application.services.subplans.runner import SubplanRunner
    from cleveragents.application.services.tool_runner import ToolRunner
    from cleveragents.domain.checkpoints.retention import CheckpointRetentionPolicy
    from cleveragents.domain.plans.plan import Plan
    from cleveragents.domain.sandboxes.sandbox import SandboxRef
    from cleveragents.infrastructure.database.unit_of_work import Connections
    from cleveragents.infrastructure.locks import DatabaseLocks
    from cleveragents.infrastructure.recorder.calls import Calls
    from cleveragents.infrastructure.recorder.client import RecorderClient
    from cleveragents.infrastructure.recorder.start import RecorderProcess
    from cleveragents.infrastructure.sandbox.checkpoint import CheckpointManager
    from cleveragents.infrastructure.sandbox.git.command import Git
    from cleveragents.infrastructure.tools.registry import Tools


_PROCESS = """\
import sys
sys.path.insert(0, sys.argv.pop(1))
from cleveragents.{module} import main
sys.exit(main(sys.argv[1:]))
"""
"""Runs the package that this process runs, wherever it was found; tools do not inherit the path."""


_T = TypeVar("_T")


def _built_once(build: Callable[[Container], _T]) -> Callable[[Container], _T]:
    """Makes a method build its object at the first call, and return the same one afterward."""

    @wraps(build)
    def get(container: Container) -> _T:
        # `cached_property` keeps its values there too: they live as long as the container.
        kept, name = vars(container), f"_{build.__name__}"
        if name not in kept:
            kept[name] = build(container)
        return kept[name]

    return get


class _Deferred:
    """Stands for an adapter, and builds it when it is first used."""

    def __init__(self, build: Callable[[], object]) -> None:
        self._build = build

    def __getattr__(self, name: str) -> object:
        found = getattr(self._build(), name)
        # Python does not ask again for what it finds here.
        vars(self)[name] = found
        return found


def _command_of(module: str) -> tuple[str, ...]:
    """Returns the command line of a process of ours, to which its arguments are added."""
    # -P: a package in the current directory must not replace this one.
    code = _PROCESS.format(module=module)
    return (sys.executable, "-P", "-c", code, str(Path(__file__).parents[1]))


class Container:
    """Services wired to one home directory and one set of settings."""

    def __init__(
        self,
        *,
        home: Path,
        settings: Settings,
        environment: Mapping[str, str],
        events: EventSink,
        stop_with: int | None = None,
    ) -> None:
        """Args: `stop_with` is a descriptor; when it is at its end, what runs is to stop."""
        self._stop_with = stop_with
        self._home = home
        self._settings = settings
        self._environment = environment
        self._events = events
        self._recorder: RecorderClient | None = None

    def with_settings(self, settings: Settings) -> Container:
        """Returns other services on the same database and leases.

        Args:
            settings: Those of a project, which cannot choose the database or the lease time.
        """
        other = Container(
            home=self._home,
            settings=settings,
            environment=self._environment,
            events=self._events,
            stop_with=self._stop_with,
        )
        vars(other).update(
            _connections=self._connections, _locks=self.locks(), _database=self.database()
        )
        return other

    def build_adapters(self) -> None:
        """Builds now what the services would build when they first use it."""
        for build in (self.checkpoint_manager, self._all_sandboxes, self._all_targets, self.tools):
            build()

    def _deferred(self, build: Callable[[], _T]) -> _T:
        """Returns what a method builds, or a stand-in if it has not built it yet."""
        built = vars(self).get(f"_{build.__name__}")
        return cast("_T", built or _Deferred(build))

    def close(self) -> None:
        """Closes the database, and the connection to a recorder."""
        if self._recorder is not None:
            self._recorder.close()
        if "_locks" in self.__dict__:
            self.locks().close()
        if "_connections" in self.__dict__:
            self._connections.close()

    @_built_once
    def artifact_service(self) -> ArtifactService:
        from cleveragents.application.services.artifact_service import ArtifactService

        return ArtifactService(self.database(), self._snapshots)

    @_built_once
    def checkpoint_service(self) -> CheckpointService:
        from cleveragents.application.services.checkpoint_service import CheckpointService

        return CheckpointService(
            database=self.database(),
            snapshots=self._snapshots,
            locks=self.locks(),
            events=self._events,
            recorder=self._group_recorder,
            rollbacks=self.rollback_procedure(),
            triggers=frozenset(self._settings[AUTO_CREATE_ON]),
            retention=self._retention_policy,
        )

    @cached_property
    def _group_recorder(self) -> GroupRecorder:
        from cleveragents.application.services.checkpoints.group_recorder import GroupRecorder

        return GroupRecorder(
            database=self.database(),
            snapshots=self._snapshots,
            clock=self._clock,
            id_source=self._ids,
            events=self._events,
            faults=self._faults,
            retention=self._retention_policy,
        )

    @cached_property
    def _retention_policy(self) -> CheckpointRetentionPolicy:
        from cleveragents.domain.checkpoints.retention import CheckpointRetentionPolicy

        return CheckpointRetentionPolicy(
            max_checkpoints_per_plan=self._settings[MAX_CHECKPOINTS_PER_PLAN],
            max_checkpoints_per_session=self._settings[MAX_CHECKPOINTS_PER_SESSION],
        )

    @_built_once
    def rollback_procedure(self) -> RollbackProcedure:
        from cleveragents.application.services.rollback.procedure import RollbackProcedure

        return RollbackProcedure(
            database=self.database(),
            snapshots=self._snapshots,
            sandboxes=self._sandboxes,
            locks=self.locks(),
            recorder=self._group_recorder,
            clock=self._clock,
            id_source=self._ids,
            faults=self._faults,
        )

    @_built_once
    def recovery(self) -> Recovery:
        from cleveragents.application.services.recovery import Recovery

        return Recovery(
            database=self.database(),
            snapshots=self._snapshots,
            tools=self._tool_backend,
            locks=self.locks(),
            events=self._events,
            applies=self._apply_procedure,
            rollbacks=self.rollback_procedure(),
            removal=self._sandbox_removal,
            session_end=self._session_end,
        )

    @cached_property
    def _session_end(self) -> SessionEnd:
        from cleveragents.application.services.execution.session_end import SessionEnd

        return SessionEnd(
            self.database(),
            self.checkpoint_service(),
            self._sandbox_removal,
            self._clock,
            self._events,
        )

    @_built_once
    def session_recorder(self) -> SessionRecorder:
        from cleveragents.application.services.execution.session_recorder import SessionRecorder

        return SessionRecorder(
            database=self.database(),
            checkpoints=self.checkpoint_service(),
            recovery=self.recovery(),
            session_end=self._session_end,
            snapshots=self._snapshots,
            locks=self.locks(),
            faults=self._faults,
        )

    @_built_once
    def session_service(self) -> SessionService:
        from cleveragents.application.services.session_service import SessionService

        return SessionService(
            database=self.database(),
            checkpoints=self.checkpoint_service(),
            session_end=self._session_end,
            sandboxes=self._sandboxes,
            snapshots=self._snapshots,
            locks=self.locks(),
            clock=self._clock,
            id_source=self._ids,
            events=self._events,
            faults=self._faults,
        )

    @_built_once
    def doctor_service(self) -> DoctorService:
        from cleveragents.application.services.doctor_service import DoctorService
        from cleveragents.infrastructure.database.inspection import SqlInspection
        from cleveragents.infrastructure.installation import ThisInstallation

        return DoctorService(
            database=self.database(),
            inspection=SqlInspection(self._settings[DATABASE_URL], self._home),
            installation=ThisInstallation(self.git(), self._home, self._connections.home),
            stores=self._stores,
            sandboxes=self._sandboxes,
            locks=self.locks(),
            recovery=self.recovery(),
            maintenance=self.maintenance_service(),
            adoption=self._adoption,
        )

    @cached_property
    def _adoption(self) -> Adoption:
        from cleveragents.application.services.health.adoption import Adoption

        return Adoption(
            database=self.database(),
            stores=self._stores,
            locks=self.locks(),
            recorder=self._group_recorder,
            clock=self._clock,
            id_source=self._ids,
            faults=self._faults,
        )

    @_built_once
    def output_service(self) -> OutputService:
        from cleveragents.application.services.output_service import OutputService

        return OutputService(self.database())

    @_built_once
    def log_service(self) -> LogService:
        from cleveragents.application.services.log_service import LogService

        return LogService(self.database())

    @_built_once
    def maintenance_service(self) -> MaintenanceService:
        from cleveragents.application.services.maintenance_service import MaintenanceService

        return MaintenanceService(
            database=self.database(),
            stores=self._stores,
            snapshots=self._snapshots,
            locks=self.locks(),
            events=self._events,
        )

    @_built_once
    def plan_apply_service(self) -> PlanApplyService:
        from cleveragents.application.services.plan_apply_service import PlanApplyService

        return PlanApplyService(
            database=self.database(),
            checkpoints=self.checkpoint_service(),
            recorder=self._group_recorder,
            recovery=self.recovery(),
            rollbacks=self.rollback_procedure(),
            snapshots=self._snapshots,
            targets=self._targets,
            validations=self._validations,
            procedure=self._apply_procedure,
            removal=self._sandbox_removal,
            locks=self.locks(),
            clock=self._clock,
            id_source=self._ids,
            events=self._events,
            faults=self._faults,
            cleanup=self._settings[CLEANUP],
        )

    @cached_property
    def _apply_procedure(self) -> ApplyProcedure:
        from cleveragents.application.services.apply.procedure import ApplyProcedure
        from cleveragents.application.services.execution.sandbox_setup import SandboxSetup

        workplace = SandboxSetup(
            self.database(),
            self._sandboxes,
            self._snapshots,
            self._ids,
            self._events,
            self._faults,
        )
        return ApplyProcedure(self.database(), self._targets, workplace, self._clock, self._faults)

    @_built_once
    def apply_reversal(self) -> ApplyReversal:
        from cleveragents.application.services.apply.reversal import ApplyReversal

        return ApplyReversal(
            database=self.database(),
            targets=self._targets,
            procedure=self._apply_procedure,
            locks=self.locks(),
            clock=self._clock,
            id_source=self._ids,
            events=self._events,
        )

    @cached_property
    def _sandbox_removal(self) -> SandboxRemoval:
        from cleveragents.application.services.apply.sandbox_removal import SandboxRemoval

        return SandboxRemoval(self.database(), self._sandboxes, self._faults)

    @cached_property
    def _validations(self) -> ValidationRunner:
        from cleveragents.application.services.apply.validation_runner import ValidationRunner

        return ValidationRunner(
            database=self.database(),
            checkpoints=self.checkpoint_service(),
            rollbacks=self.rollback_procedure(),
            snapshots=self._snapshots,
            tools=self._tool_backend,
            clock=self._clock,
            id_source=self._ids,
            events=self._events,
            faults=self._faults,
            interruption=self._interruption,
        )

    @_built_once
    def plan_executor(self) -> PlanExecutor:
        from cleveragents.application.services.plan_executor import PlanExecutor

        return PlanExecutor(
            database=self.database(),
            checkpoints=self.checkpoint_service(),
            rollbacks=self.rollback_procedure(),
            recovery=self.recovery(),
            tools=self.tool_runner(),
            subplans=self._subplans,
            sandboxes=self._sandboxes,
            snapshots=self._snapshots,
            locks=self.locks(),
            clock=self._clock,
            id_source=self._ids,
            events=self._events,
            faults=self._faults,
            interruption=self._interruption,
        )

    @_built_once
    def plan_resume_service(self) -> PlanResumeService:
        from cleveragents.application.services.plan_resume_service import PlanResumeService

        return PlanResumeService(
            database=self.database(),
            executor=self.plan_executor(),
            sandboxes=self._sandboxes,
            snapshots=self._snapshots,
            locks=self.locks(),
        )

    @_built_once
    def correction_service(self) -> CorrectionService:
        from cleveragents.application.services.correction_service import CorrectionService

        return CorrectionService(
            database=self.database(),
            checkpoints=self.checkpoint_service(),
            rollbacks=self.rollback_procedure(),
            locks=self.locks(),
            clock=self._clock,
            id_source=self._ids,
            faults=self._faults,
        )

    @_built_once
    def decision_service(self) -> DecisionService:
        from cleveragents.application.services.decision_service import DecisionService

        return DecisionService(self.database())

    @_built_once
    def retention_service(self) -> RetentionService:
        from cleveragents.application.services.retention_service import RetentionService

        return RetentionService(
            database=self.database(),
            snapshots=self._snapshots,
            locks=self.locks(),
            events=self._events,
            faults=self._faults,
        )

    @_built_once
    def plan_service(self) -> PlanService:
        from cleveragents.application.services.plan_service import PlanService

        return PlanService(
            database=self.database(),
            plan_files=self._plan_files,
            tools=self._tool_backend,
            sandboxes=self._sandboxes,
            locks=self.locks(),
            clock=self._clock,
            id_source=self._ids,
            events=self._events,
            faults=self._faults,
            cleanup=self._settings[CLEANUP],
            max_child_depth=self._settings[MAX_CHILD_DEPTH],
            strategy=self._settings[STRATEGY],
            retention=self._retention_policy,
        )

    @_built_once
    def conflict_service(self) -> ConflictService:
        from cleveragents.application.services.conflict_service import ConflictService

        return ConflictService(
            database=self.database(),
            checkpoints=self.checkpoint_service(),
            recorder=self._group_recorder,
            recovery=self.recovery(),
            sandboxes=self._sandboxes,
            snapshots=self._snapshots,
            locks=self.locks(),
            clock=self._clock,
            id_source=self._ids,
            faults=self._faults,
        )

    @cached_property
    def _subplans(self) -> SubplanRunner:
        from cleveragents.application.services.subplans.merger import ChildMerger
        from cleveragents.application.services.subplans.runner import SubplanRunner
        from cleveragents.application.services.subplans.spawner import ChildSpawner

        return SubplanRunner(
            database=self.database(),
            checkpoints=self.checkpoint_service(),
            recovery=self.recovery(),
            spawning=ChildSpawner(
                self.database(),
                self.checkpoint_service(),
                self._sandboxes,
                self._clock,
                self._ids,
                self._faults,
            ),
            merging=ChildMerger(
                self.database(),
                self.checkpoint_service(),
                self._group_recorder,
                self._snapshots,
                self._clock,
                self._ids,
                self._faults,
            ),
            children=self._child_plans,
            locks=self.locks(),
            clock=self._clock,
            events=self._events,
            faults=self._faults,
            interruption=self._interruption,
        )

    @_built_once
    def tool_runner(self) -> ToolRunner:
        from cleveragents.application.services.tool_runner import ToolRunner

        return ToolRunner(
            database=self.database(),
            tools=self._tool_backend,
            checkpoints=self.checkpoint_service(),
            recorder=self._group_recorder,
            clock=self._clock,
            id_source=self._ids,
            events=self._events,
            faults=self._faults,
        )

    @_built_once
    def checkpoint_manager(self) -> CheckpointManager:
        from cleveragents.infrastructure.sandbox.checkpoint import CheckpointManager
        from cleveragents.infrastructure.sandbox.store.limits import Limits

        limits = Limits(
            max_file_bytes=self._settings[MAX_FILE_SIZE],
            max_plan_bytes=self._settings[MAX_SIZE_PER_PLAN],
            deadline_seconds=self._settings[DEADLINE],
            include_ignored=self._settings[INCLUDE_IGNORED],
            ignored_max_bytes=self._settings[IGNORED_MAX_SIZE],
            rebuildable=self._settings[REBUILDABLE],
        )
        return CheckpointManager(self.git(), limits)

    @cached_property
    def _snapshots(self) -> SnapshotStore:
        return self._deferred(self.checkpoint_manager)

    @cached_property
    def _sandboxes(self) -> Sandboxes:
        return self._deferred(self._all_sandboxes)

    @_built_once
    def _all_sandboxes(self) -> Sandboxes:
        from cleveragents.infrastructure.sandbox.sandboxes import AllSandboxes

        return AllSandboxes(self.git(), self._home, self._clock, self.checkpoint_manager())

    @cached_property
    def _stores(self) -> Mirrors:
        from cleveragents.infrastructure.sandbox.gc.mirrors import ProjectMirrors

        return ProjectMirrors(self.git(), self._home)

    @cached_property
    def _targets(self) -> Targets:
        return self._deferred(self._all_targets)

    @_built_once
    def _all_targets(self) -> Targets:
        from cleveragents.infrastructure.sandbox.apply.targets import AllTargets

        return AllTargets(self.git(), self._home, self._faults)

    @_built_once
    def git(self) -> Git:
        from cleveragents.infrastructure.sandbox.git.command import Git

        return Git(self._environment, self._home)

    @cached_property
    def _tool_backend(self) -> ToolBackend:
        return self._deferred(self.tools)

    @_built_once
    def tools(self) -> Tools:
        from cleveragents.infrastructure.system import ToolInterruption
        from cleveragents.infrastructure.tools.registry import Tools

        interruption = ToolInterruption(self._interruption, self.locks().must_stop)
        return Tools(self._environment, interruption, self._events)

    @cached_property
    def _interruption(self) -> Interruption:
        from cleveragents.infrastructure.system import ChildInterruption, SignalInterruption

        if self._stop_with is not None:
            return ChildInterruption(self._stop_with)
        return SignalInterruption()

    @cached_property
    def _child_plans(self) -> ChildPlans:
        from cleveragents.infrastructure.child_plans import ProcessPlans

        return ProcessPlans(_command_of("subplan_process"), self._home, self._environment)

    @cached_property
    def remote_calls(self) -> Calls:
        """What the process that records a session does for others."""
        from cleveragents.application.services.checkpoint_service import CheckpointService
        from cleveragents.application.services.rollback.intents import (
            RollbackToCheckpoint,
            UndoRedo,
        )
        from cleveragents.application.services.rollback.partial import RollbackPaths, RollbackStep
        from cleveragents.application.services.rollback.procedure import RollbackProcedure
        from cleveragents.infrastructure.recorder.calls import Calls

        methods = (
            CheckpointService.create_manual_checkpoint,
            RollbackProcedure.preview,
            RollbackProcedure.run,
        )
        intents = (RollbackPaths, RollbackStep, RollbackToCheckpoint, UndoRedo)
        return Calls(methods, intents)

    def join_recorder(self, plan: Plan) -> None:
        """Has the process that records a session do what only that process can do.

        Nothing happens if none records it.
        """
        if not plan.is_running_session:
            return
        from cleveragents.infrastructure.recorder.calls import PartlyRemote
        from cleveragents.infrastructure.recorder.client import RecorderClient

        client = RecorderClient.of_session(self._home, plan.id, self._events)
        if client is None:
            return
        self._recorder = client
        for build in (self.checkpoint_service, self.rollback_procedure):
            remote = PartlyRemote(build(), self.remote_calls, client.ask)
            vars(self)[f"_{build.__name__}"] = remote

    def forget_recorder(self, plan_id: str) -> None:
        """Removes the socket of a recorder that was killed."""
        from cleveragents.infrastructure.recorder.address import has_left, remove_left

        if has_left(self._home, plan_id):
            with self.locks().hold(plan_id):
                remove_left(self._home, plan_id)

    @property
    def is_remote(self) -> bool:
        """Whether the process that records a session does the work."""
        return self._recorder is not None

    @_built_once
    def recorder_process(self) -> RecorderProcess:
        """Returns what starts the process that records a session."""
        from cleveragents.infrastructure.recorder.start import RecorderProcess

        command = _command_of("recorder_process")
        return RecorderProcess(command, self._home, self._environment, self._events)

    @cached_property
    def _plan_files(self) -> PlanFiles:
        return self._deferred(self._yaml_plan_files)

    @_built_once
    def _yaml_plan_files(self) -> PlanFiles:
        from cleveragents.infrastructure.plan_files import YamlPlanFiles

        return YamlPlanFiles(self.tools().specs())

    @_built_once
    def database(self) -> Database:
        """The database of the services.

        Each write verifies the leases of this process in its own transaction, so a
        process that another one has replaced cannot write
        (docs/adr/0013-leases-and-fencing.md). New events are emitted once they are stored.
        """
        from cleveragents.infrastructure.database.unit_of_work import SqlDatabase

        return SqlDatabase(
            self._connections,
            self._clock,
            on_begin=[self.locks().verify],
            on_event=[self._events.emit],
        )

    @cached_property
    def _connections(self) -> Connections:
        from cleveragents.infrastructure.database.unit_of_work import Connections

        return Connections(
            self._settings[DATABASE_URL],
            self._home,
            faults=self._faults,
            relink=self._relink,
            tell=self._warn,
        )

    def _relink(self, home: Path) -> None:
        from cleveragents.infrastructure.sandbox.create.relocation import relink

        relink(home)

    def _warn(self, text: str) -> None:
        from cleveragents.application.events import WarningIssued

        self._events.emit(WarningIssued(text))

    @_built_once
    def locks(self) -> DatabaseLocks:
        from cleveragents.infrastructure.database.unit_of_work import SqlDatabase
        from cleveragents.infrastructure.locks import DatabaseLocks

        # Without the hooks: a lease that was lost must not keep others from being released.
        database = SqlDatabase(self._connections, self._clock)
        return DatabaseLocks(
            database,
            self._clock,
            self._connections.presence,
            lease_seconds=self._settings[LEASE_TIME],
            concurrency=self._settings[CONCURRENCY],
            enter_views=self._enter_views,
        )

    def _enter_views(self, views: Sequence[SandboxRef]) -> None:
        """Lets this process see private views, while it can: it has one thread.

        Where that is impossible, whoever needs to see them says so.
        """
        from cleveragents.domain.errors import CleverAgentsError

        with suppress(CleverAgentsError):
            self._sandboxes.enter(views)

    @cached_property
    def _clock(self) -> Clock:
        from cleveragents.infrastructure.system import SystemClock

        return SystemClock()

    @cached_property
    def _ids(self) -> IdSource:
        from cleveragents.infrastructure.system import MonotonicUlids

        return MonotonicUlids()

    @cached_property
    def _faults(self) -> FaultPoints:
        from cleveragents.infrastructure.system import NoFaults

        return NoFaults()
