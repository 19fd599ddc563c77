"""Sandboxes of every strategy with forks of them, for the contract of forks."""

from __future__ import annotations

import itertools
from pathlib import Path

from features.support.sandboxes.sandbox_bench import SandboxBench
from features.support.sandboxes.strategy_bench import OFFERED, StrategyBench
from msgspec.structs import replace

from cleveragents.domain.sandboxes.resource import ResourceType, SandboxStrategy
from cleveragents.domain.sandboxes.sandbox import Resource
from cleveragents.infrastructure.sandbox.files.overlay_mounts import is_overlay, unmount
from cleveragents.infrastructure.sandbox.sandboxes import AllSandboxes
from cleveragents.infrastructure.system import SystemClock
from cleveragents.testing.forks.families import Family, MakeFamily
from cleveragents.testing.snapshots.workspace import Capability, ContractWorkspace
from cleveragents.testing.sqlite.forks import DatabaseFamily, MakeDatabaseFamily
from cleveragents.testing.sqlite.workspace import DatabaseWorkspace

CAPABILITIES = {
    **OFFERED,
    SandboxStrategy.GIT_WORKTREE: frozenset(
        {Capability.IGNORE_RULES, Capability.GIT_STATE, Capability.PLAIN_DIRECTORY}
    ),
}


def families(work: StrategyBench, strategy: SandboxStrategy) -> MakeFamily:
    """Gives a sandbox of the strategy at each call; all that was made goes with the world."""
    numbers = itertools.count()
    store = work.store
    sandboxes = AllSandboxes(work.git, work.home, SystemClock(), store)
    prepare(work, strategy)

    def resource(plan_id: str) -> Resource:
        if strategy is not SandboxStrategy.GIT_WORKTREE:
            return work.resource(strategy, plan_id)
        project = work.named(ResourceType.GIT_CHECKOUT, work.world.project)
        return replace(project, plan_id=plan_id)

    def make_family() -> Family:
        plan_id = f"PARENT{next(numbers)}"
        made = sandboxes.create(f"SANDBOX-{plan_id}", plan_id, resource(plan_id))
        offered = CAPABILITIES[strategy]
        parent = ContractWorkspace(made, lambda: work.store, offered, work.world.environment)
        return Family(parent, sandboxes, store, resource)

    return make_family


def database_families(work: StrategyBench) -> MakeDatabaseFamily:
    """Gives a sandbox with a database at each call."""
    strategy = SandboxStrategy.TRANSACTION_ROLLBACK
    sandboxes = AllSandboxes(work.git, work.home, SystemClock(), work.store)

    def resource(plan_id: str) -> Resource:
        return work.resource(strategy, plan_id)

    def make_family() -> DatabaseFamily:
        work.make_database()
        made = sandboxes.create("SANDBOX-PARENT", "PARENT", resource("PARENT"))
        return DatabaseFamily(DatabaseWorkspace(made, lambda: work.store), sandboxes, resource)

    return make_family


def prepare(work: StrategyBench, strategy: SandboxStrategy) -> None:
    """Makes what there is to be sandboxed, and sees to it that nothing stays mounted."""
    work.cleanup.callback(unmount_all, work.home)
    if strategy is SandboxStrategy.GIT_WORKTREE:
        SandboxBench(work.world).make_project()
    else:
        work.make_directory("mkdir d; echo 1 > d/f; echo 2 > g")


def unmount_all(home: Path) -> None:
    for place in home.glob("sandboxes/*/*"):
        if is_overlay(place):
            unmount(place)
