"""Directories and databases, sandboxes of them, and engines on these."""

from __future__ import annotations

import itertools
import os
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path

from behave.runner import Context
from features.support.world import World
from msgspec.structs import replace

from cleveragents.domain.errors import CleverAgentsError
from cleveragents.domain.sandboxes.resource import ResourceType, SandboxStrategy, default_strategy
from cleveragents.domain.sandboxes.sandbox import Resource, SandboxRef
from cleveragents.infrastructure.sandbox.checkpoint import CheckpointManager
from cleveragents.infrastructure.sandbox.files.engine_protocol import SnapshotEngine
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.sandboxes import AllSandboxes
from cleveragents.infrastructure.sandbox.sqlite.copies import SqliteSandboxes
from cleveragents.infrastructure.sandbox.sqlite.snapshots import SqliteSnapshots
from cleveragents.infrastructure.sandbox.store.limits import Limits
from cleveragents.infrastructure.system import SystemClock
from cleveragents.testing.snapshots import Capability, ContractWorkspace
from cleveragents.testing.sqlite.store import DatabaseWorkspace
from cleveragents.testing.trees import Node, Tree, read_tree

PATIENCE = 0.3
OFFERED: dict[SandboxStrategy, frozenset[Capability]] = {
    SandboxStrategy.FILESYSTEM_COPY: frozenset({Capability.PLAIN_DIRECTORY}),
    SandboxStrategy.OVERLAY: frozenset(),
}


class ImpatientStore(CheckpointManager):
    """The program's own store, which does not wait long for locks on databases."""

    def _engine(self, sandbox: SandboxRef) -> SnapshotEngine:
        if sandbox.strategy is SandboxStrategy.TRANSACTION_ROLLBACK:
            return SqliteSnapshots(sandbox, self._git, PATIENCE)
        return super()._engine(sandbox)


class StrategyBench:
    """What a scenario about strategies has; nothing is made before it is needed."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.home = world.home
        self.data = world.directory / "data"
        self.database = world.directory / "app.db"
        self.sandbox: SandboxRef | None = None
        self.error: CleverAgentsError | None = None
        self.before: Tree = {}
        """What lay there when the sandbox was made."""
        self.surroundings: Callable[[], AbstractContextManager[object]] = nullcontext
        """What is true while the program works: no permission, a full disk."""
        self.cleanup = world.on_close

    @property
    def git(self) -> Git:
        return Git(self.world.environment, self.home)

    @property
    def maker(self) -> AllSandboxes:
        return AllSandboxes(self.git, self.home, SystemClock(), self.store)

    @property
    def store(self) -> CheckpointManager:
        return ImpatientStore(self.git, Limits())

    @property
    def place(self) -> Path:
        """The sandbox's path."""
        assert self.sandbox is not None, self.error
        return Path(self.sandbox.path)

    def shell(self, command: str, place: Path) -> str:
        done = subprocess.run(
            ["/bin/sh", "-c", f"set -e\n{command}"],
            cwd=place,
            env=self.world.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, (command, done.stderr)
        return os.fsdecode(done.stdout)

    def make_directory(self, command: str) -> None:
        self.data.mkdir(exist_ok=True)
        self.shell(command, self.data)

    def make_database(self, *statements: str) -> None:
        with closing(sqlite3.connect(self.database, isolation_level=None)) as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS t(a, b)")
            for statement in statements or ("INSERT INTO t VALUES (1, 'one'), (2, 'two')",):
                connection.execute(statement)

    def resource(self, strategy: SandboxStrategy, plan_id: str = "PLAN1") -> Resource:
        is_database = strategy is SandboxStrategy.TRANSACTION_ROLLBACK
        kind = ResourceType.SQLITE if is_database else ResourceType.FS_DIRECTORY
        path = self.database if is_database else self.data
        return replace(self.named(kind, path, strategy), plan_id=plan_id)

    def named(
        self, kind: ResourceType, path: Path, strategy: SandboxStrategy | None = None
    ) -> Resource:
        return Resource(
            id=f"RESOURCE-{path.name}",
            plan_id="PLAN1",
            name=path.name.replace(".", "-"),
            type=kind,
            strategy=strategy or default_strategy(kind),
            path=str(path),
            position=0,
        )

    def create(self, strategy: SandboxStrategy, plan_id: str = "PLAN1") -> SandboxRef:
        resource = self.resource(strategy, plan_id)
        maker: AllSandboxes | SqliteSandboxes = self.maker
        if strategy is SandboxStrategy.TRANSACTION_ROLLBACK:
            maker = SqliteSandboxes(self.git, self.home, SystemClock(), PATIENCE)
        with self.surroundings():
            self.sandbox = maker.create(f"SANDBOX-{plan_id}", plan_id, resource)
        return self.sandbox

    def original(self, strategy: SandboxStrategy) -> Tree:
        """What the user has: the directory, or the database and what lies beside it."""
        if strategy is SandboxStrategy.TRANSACTION_ROLLBACK:
            beside = self.database.parent.glob(f"{self.database.name}*")
            return {path.name: Node("file", 0, path.read_bytes()) for path in beside}
        return read_tree(self.data)

    def attempt(self, action: Callable[[], object]) -> None:
        try:
            action()
        except CleverAgentsError as error:
            self.error = error

    def expect_refusal(self, reason: str) -> None:
        assert self.error is not None, "it was not refused"
        assert reason in self.error.message, self.error.message

    def directories(self, strategy: SandboxStrategy) -> Callable[[], ContractWorkspace]:
        """Gives a sandbox of a directory at each call, for the contract of stores."""
        numbers = itertools.count()

        def make_sandbox() -> ContractWorkspace:
            if not self.data.exists():
                self.make_directory("mkdir d; echo 1 > d/f; echo 2 > g")
            made = self.create(strategy, f"PLAN{next(numbers)}")
            if strategy is SandboxStrategy.OVERLAY:
                self.cleanup.callback(self.maker.remove, made)
            return ContractWorkspace(
                made, lambda: self.store, OFFERED[strategy], self.world.environment
            )

        return make_sandbox

    def databases(self) -> Callable[[], DatabaseWorkspace]:
        """Gives a sandbox with a database of its own at each call."""

        def make_place() -> DatabaseWorkspace:
            number = len(list(self.home.glob("sandboxes/*"))) if self.home.exists() else 0
            self.database.unlink(missing_ok=True)
            self.make_database()
            made = self.create(SandboxStrategy.TRANSACTION_ROLLBACK, f"PLAN{number}")
            return DatabaseWorkspace(made, lambda: self.store)

        return make_place


def strategy_bench(context: Context) -> StrategyBench:
    """The scenario's bench."""
    if "strategy_bench" not in context:
        context.strategy_bench = StrategyBench(context.world)
    return context.strategy_bench
