"""What the benchmarks measure on: a project of some size with a plan that has run in it."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from cleveragents.application.events import Event
from cleveragents.application.ports.system import EventSink
from cleveragents.application.services.checkpoint_service import Milestone
from cleveragents.container import Container
from cleveragents.domain.checkpoints.checkpoint import Checkpoint, CheckpointType
from cleveragents.domain.sandboxes.sandbox import SandboxRef
from cleveragents.infrastructure.config import load_settings
from cleveragents.infrastructure.sandbox.sandboxes import AllSandboxes
from cleveragents.infrastructure.system import SystemClock

FILE_BYTES = 4096
FILES_PER_DIRECTORY = 20
PLAN = """\
name: benchmark/nothing
steps:
  - {name: look, tool: read-file, with: {path: d0/e0/f0.txt}}
"""


class Silence(EventSink):
    """Hears what happens and says nothing."""

    def emit(self, event: Event) -> None:
        return None


class Bench:
    """One project, one plan that has run, and the services that ran it."""

    def __init__(self, files: int, database_url: str | None = None) -> None:
        """Args: `database_url` is where the records are; None is a file in the home."""
        self.place = Path(tempfile.mkdtemp(prefix="cleveragents-bench-"))
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.place / "person")}
        home = self.place / "home"
        environ = {"CLEVERAGENTS_DATABASE_URL": database_url} if database_url else {}
        settings = load_settings(home=home, project=None, environ=environ, flags={})
        self.container = Container(
            home=home, settings=settings, environment=environment, events=Silence()
        )
        self.paths = [path_of(number) for number in range(files)]
        self.project = self.place / "project"
        make_repository(self.project, self.paths)
        self.plan_file = self.place / "plan.yaml"
        self.plan_file.write_text(PLAN)
        self.plan_id = self.run_a_plan()
        self.service = self.container.checkpoint_service()
        self.manager = self.container.checkpoint_manager()

    def close(self) -> None:
        self.container.close()
        shutil.rmtree(self.place)

    def run_a_plan(self) -> str:
        plan = self.container.plan_service().use(self.plan_file, self.project, {})
        self.container.plan_executor().execute(plan.id)
        return plan.id

    @property
    def sandbox(self) -> SandboxRef:
        return self.container.plan_service().status(self.plan_id).sandboxes[0]

    def fork(self, plan_id: str, source: SandboxRef, snapshot_id: str) -> SandboxRef:
        """Makes the sandbox of a child plan."""
        manager, git = self.container.checkpoint_manager(), self.container.git()
        sandboxes = AllSandboxes(git, self.place / "home", SystemClock(), manager)
        with self.container.database().read() as transaction:
            (resource,) = transaction.sandboxes.resources(self.plan_id)
        return sandboxes.fork(f"SANDBOX-{plan_id}", plan_id, resource, source, snapshot_id)

    def change(self, count: int, generation: int) -> None:
        """Gives the first `count` files other bytes of the same length."""
        root = Path(self.sandbox.path)
        for path in self.paths[:count]:
            (root / path).write_text(content_of(path, generation))

    def checkpoint(self, label: str = "benchmark") -> Checkpoint:
        moment = Milestone(CheckpointType.MANUAL, label, "a benchmark", step_index=0)
        with self.container.locks().hold(self.plan_id) as lease:
            return self.service.create_checkpoint(lease, moment)


def make_repository(root: Path, paths: list[str]) -> None:
    """Makes a repository with one commit in one pack; sandboxes need no working tree of it."""
    stream = ["commit refs/heads/main\ncommitter Bench <bench@example.invalid> 0 +0000\ndata 0\n"]
    for path in paths:
        content = content_of(path, generation=0)
        stream.append(f"M 100644 inline {path}\ndata {len(content)}\n{content}\n")
    subprocess.run(["git", "init", "--quiet", "--initial-branch=main", str(root)], check=True)
    importing = ["git", "-C", str(root), "-c", "fastimport.unpackLimit=0", "fast-import", "--quiet"]
    subprocess.run(importing, input="".join(stream), text=True, check=True)


def path_of(number: int) -> str:
    """Three levels deep, twenty files to a directory."""
    directory, file = divmod(number, FILES_PER_DIRECTORY)
    outer, inner = divmod(directory, FILES_PER_DIRECTORY)
    return f"d{outer}/e{inner}/f{file}.txt"


def content_of(path: str, generation: int) -> str:
    """Differs from file to file and from generation to generation, and hardly compresses."""
    seed = hashlib.sha256(f"{path} {generation}".encode())
    return hashlib.shake_128(seed.digest()).hexdigest(FILE_BYTES // 2)
