"""Ours: through `CheckpointService`, with record and group, durable when it returns."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from typing import Any

from benchmarks.compare.results import Role
from benchmarks.compare.technique import NotAvailable, Technique
from benchmarks.worktrees import Silence
from cleveragents.application.ports.locks import PlanLease
from cleveragents.application.ports.records import Transaction
from cleveragents.application.services.checkpoint_service import Milestone
from cleveragents.container import Container
from cleveragents.domain.checkpoints.checkpoint import Checkpoint, CheckpointType
from cleveragents.domain.errors import ViewUnavailableError
from cleveragents.domain.plans.plan import Plan, PlanAction
from cleveragents.domain.plans.session import Isolation
from cleveragents.domain.sandboxes.sandbox import SandboxRef
from cleveragents.infrastructure.config import load_settings
from cleveragents.infrastructure.system import MonotonicUlids

_ROOT = Path(__file__).parents[2]
_PLAN = """\
name: compare/measured
steps:
  - {name: look, tool: read-file, with: {path: .gitignore}}
"""
_FIRST = Milestone(CheckpointType.PRE_EXECUTE, "before execution", "a comparison", step_index=0)
_LATER = Milestone(CheckpointType.AUTOMATIC, "measured", "a comparison", step_index=0)


def open_container(home: Path) -> Container:
    """Opens a home directory as the command line would, with the settings everybody starts with."""
    settings = load_settings(home=home, project=None, environ={}, flags={})
    environment = {"PATH": os.environ["PATH"], "HOME": str(home.parent)}
    return Container(home=home, settings=settings, environment=environment, events=Silence())


def watched(container: Container, sandbox: SandboxRef) -> AbstractContextManager[None]:
    """Has the sandbox watched as that of a running plan is."""
    return container.checkpoint_manager().watched([sandbox])


def held(container: Container, plan_id: str) -> AbstractContextManager[PlanLease]:
    """Has this process hold the plan, as whoever runs it or goes back does."""
    return container.locks().hold(plan_id)


def started(_: Transaction, plan: Plan) -> Plan:
    """Has the plan run from its first checkpoint on, as the executor does."""
    return plan.after(PlanAction.EXECUTE, plan.created_at)


class Ours(Technique):
    """The sandbox of a running plan, watched by the process that runs it."""

    name = "CleverAgents"
    role = Role.IN_PLAN
    watches = True

    def __init__(self, origin: Path, store: Path) -> None:
        store.mkdir(parents=True)
        self.home = store / "home"
        self.container = open_container(self.home)
        self.plan_id = self._make_plan(store, origin)
        self.sandbox = self._make_sandbox()
        self.root = Path(self.sandbox.path)
        self.service = self.container.checkpoint_service()
        self._running = ExitStack()
        self._begin()

    def _make_plan(self, store: Path, origin: Path) -> str:
        plan_file = store / "plan.yaml"
        plan_file.write_text(_PLAN, encoding="utf-8")
        return self.container.plan_service().use(plan_file, origin, {}).id

    def _begin(self) -> None:
        """Takes the plan as a run does before anything else, its sandbox included."""
        self._lease = self._running.enter_context(held(self.container, self.plan_id))

    def _make_sandbox(self) -> SandboxRef:
        """Does what a run begins with, so that its first snapshot can be measured alone."""
        database = self.container.database()
        with database.read() as transaction:
            (resource,) = transaction.sandboxes.resources(self.plan_id)
        sandbox = self.container._sandboxes.create(MonotonicUlids().new(), self.plan_id, resource)
        with database.write() as transaction:
            transaction.sandboxes.add(sandbox)
        return sandbox

    def first(self) -> object:
        self._running.enter_context(watched(self.container, self.sandbox))
        return self.service.create_checkpoint(self._lease, _FIRST, started)

    def snapshot(self) -> object:
        return self.service.create_checkpoint(self._lease, _LATER)

    def restore(self, snapshot: object) -> None:
        assert isinstance(snapshot, Checkpoint)
        self.container.rollback_procedure().restore_during_run(self._lease, snapshot)

    def close(self) -> None:
        self._running.close()
        self.container.close()


class OursInNewProcess(Ours):
    """The same where nobody watched: each act in a process of its own, which has started up."""

    name = "CleverAgents, new process"
    role = Role.NEW_PROCESS
    watches = False

    def __init__(self, origin: Path, store: Path) -> None:
        super().__init__(origin, store)
        self.container.close()
        self._seconds = 0.0
        self.closing: list[float] = []

    def _begin(self) -> None:
        """Each of the processes takes the plan for itself."""

    def first(self) -> object:
        return self.act("first")

    def snapshot(self) -> object:
        return self.act("checkpoint")

    def snapshot_unmeasured(self) -> object:
        """Leaves the process out, but none of what it would find or leave on disk."""
        container = open_container(self.home)
        try:
            with held(container, self.plan_id):
                return perform(container, self.plan_id, "checkpoint", None)
        finally:
            container.close()

    def restore(self, snapshot: object) -> None:
        self.act("restore", str(snapshot))

    def roll_back(self, snapshot: object) -> float:
        """Does what `agents plan rollback` does and returns its seconds."""
        self.act("rollback", str(snapshot))
        return self._seconds

    def seconds_of_last(self) -> float | None:
        return self._seconds

    def act(self, act: str, checkpoint: str = "") -> str:
        """Has a new process do it; returns the checkpoint that it made or went to."""
        answer = in_new_process(self.home, self.plan_id, act, checkpoint)
        self._seconds = answer["seconds"]
        self.closing.append(answer["closing"])
        return answer["checkpoint"]


class OursInView(OursInNewProcess):
    """A private view of the project, as a session has it; each act in a process of its own.

    This process stays in the view, to change files there and to look at them.
    """

    name = "CleverAgents, private view"
    role = Role.PRIVATE_VIEW

    def __init__(self, origin: Path, store: Path) -> None:
        super().__init__(origin, store)
        self.container._sandboxes.enter([self.sandbox])

    def _make_plan(self, store: Path, origin: Path) -> str:
        sessions = self.container.session_service()
        facts = self.container._sandboxes.inspect_in_place(origin)
        try:
            self.container._sandboxes.refuse_view(Path(facts.root))
        except ViewUnavailableError as error:
            raise NotAvailable(error.message) from error
        return sessions._new(facts, ["measured"], Isolation.PRIVATE, "measured").id

    def close(self) -> None:
        """Removes the layer, which unmounts it here: whoever removes its store must not follow."""
        super().close()
        self.container._sandboxes.remove(self.sandbox)


def in_new_process(home: Path, plan_id: str, act: str, checkpoint: str = "") -> dict[str, Any]:
    """Runs `new_process` and returns its answer."""
    command = [sys.executable, "-m", "benchmarks.compare.new_process", str(home), plan_id, act]
    done = subprocess.run([*command, checkpoint], cwd=_ROOT, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def perform(container: Container, plan_id: str, act: str, checkpoint: Checkpoint | None) -> str:
    """Does one act through the service and returns the checkpoint it made or went to."""
    service = container.checkpoint_service()
    with held(container, plan_id) as lease:
        match act, checkpoint:
            case "first", None:
                return service.create_checkpoint(lease, _FIRST, started).id
            case "checkpoint", None:
                return service.create_checkpoint(lease, _LATER).id
            case "restore", Checkpoint():
                container.rollback_procedure().restore_during_run(lease, checkpoint)
                return checkpoint.id
            case "rollback", Checkpoint():
                service.rollback_to_checkpoint(plan_id, checkpoint)
                return checkpoint.id
            case _:
                raise ValueError(act)
