"""Kills a process at each of its acts on files, and looks at what the next one makes of it.

`python -m features.support.sweeps.sandbox_kill_sweep ACT [STRIDE]` ends with `N kills survived`.
With a stride of 3, only every third act is tried. `SWEEPS` has the acts.
"""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

from features.support.faults.crash import measure_nothing
from features.support.sandboxes.sandbox_bench import Moment, SandboxBench
from features.support.world import World
from msgspec.structs import replace as replace_fields

from cleveragents.domain.sandboxes.merge import MergeStrategy
from cleveragents.domain.sandboxes.resource import ResourceType, SandboxStrategy
from cleveragents.domain.sandboxes.sandbox import Evidence, SandboxCheckpoint, SandboxRef
from cleveragents.infrastructure.sandbox.create.directory import DirectorySandboxes
from cleveragents.infrastructure.sandbox.sandboxes import AllSandboxes
from cleveragents.infrastructure.sandbox.store import repacking, snapshots
from cleveragents.infrastructure.system import SystemClock
from cleveragents.testing.snapshots.merging import NAMES
from cleveragents.testing.trees import Tree, combined_by_hand, differing, read_tree
from cleveragents.testing.workspace import single_acts

Sweep = Callable[[SandboxBench, int], bool]
ACTS = {
    *("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.link", "os.symlink"),
    *("subprocess.Popen", "shutil.copyfile"),
}
BEFORE = "mkdir -p d/e x; echo 1 > d/f; echo 1 > g; ln -s g l; chmod 555 d; chmod 600 g"
AFTER = (
    "chmod 755 d; rm -r d l x; echo 2 > g; echo 2 > x; mkdir -p d/new; touch d/new/f; git add -A; "
    "echo '*.log' > .gitignore; echo secret > a.log"
)


def dies_at(number: int, act: Callable[[], object]) -> bool:
    """Does something in a process that is killed at its `number`-th act."""
    child = os.fork()
    if child == 0:
        measure_nothing()
        remaining = itertools.count(number, -1)

        def audited(name: str, arguments: tuple[object, ...]) -> None:
            writes = name == "open" and int(str(arguments[2])) & (os.O_WRONLY | os.O_RDWR)
            if (name in ACTS or writes) and next(remaining) == 0:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(audited)
        act()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0, status
    return os.WIFSIGNALED(status)


def sweep_creating(work: SandboxBench, number: int) -> bool:
    shutil.rmtree(work.world.home, ignore_errors=True)
    died = dies_at(number, lambda: work.maker.create("S", "FIRST", work.resource()))
    work.sandboxes.clear()
    assert differing(work.tree(), read_tree(work.project)) == [], number
    assert work.agent("git status --short") == ""
    return died


class Copies(SandboxBench):
    """The same with a plain directory in the place of a repository."""

    def make_copy(self) -> None:
        shutil.rmtree(self.project / ".git")
        strategy, kind = SandboxStrategy.FILESYSTEM_COPY, ResourceType.FS_DIRECTORY
        directory = replace_fields(self.resource(), strategy=strategy, type=kind)
        maker = DirectorySandboxes(self.git, self.world.home, SystemClock())
        self.sandboxes["FIRST"] = maker.create("S", "FIRST", directory)


def run_watched(work: SandboxBench, name: str, rounds: int) -> None:
    """What a running plan does: at its end it writes down what it knows."""
    store = work.store
    acts = single_acts(store, work.sandbox)
    with store.watched([work.sandbox]):
        for each in range(rounds):
            acts.snapshot()
            (work.root / name).write_text(f"{each}\n" * 1000)
            (work.root / "d/new" / f"made-{each}").mkdir(exist_ok=True)
            acts.snapshot()


def run_packing(work: SandboxBench) -> None:
    """A plan with so many checkpoints that packs are combined meanwhile."""
    with patch.object(snapshots, "_REPACKED_EVERY", 2), patch.object(repacking, "MANY_PACKS", 2):
        run_watched(work, "changing", 3)


def storing(act: Callable[[SandboxBench], object]) -> Sweep:
    def sweep(work: SandboxBench, number: int) -> bool:
        (work.root / "changing").write_text(f"{number}\n" * 1000)
        died = dies_at(number, lambda: act(work))
        expected = work.tree()
        made = work.acts().snapshot()
        go(work, work.moments["first"].id, work.moments["first"].tree | ignored_in(work))
        go(work, made.snapshot_id, expected)
        assert work.fsck() == "", work.fsck()
        return died

    return sweep


def ignored_in(work: SandboxBench) -> Tree:
    """What a rollback leaves alone; a plain directory has no ignore rules."""
    if isinstance(work, Copies):
        return {}
    return {"a.log": work.moments["second"].tree["a.log"]}


def sweep_restoring(work: SandboxBench, number: int) -> bool:
    first, second = work.moments["first"], work.moments["second"]
    go(work, second.id, second.tree)
    died = dies_at(number, lambda: work.acts().restore(first.id))
    if number % 2:
        go(work, second.id, second.tree, sparing=second.id)
    go(work, first.id, first.tree | ignored_in(work), sparing=second.id)
    assert work.git_state() == first.git
    return died


def sweep_combining(work: SandboxBench, number: int) -> bool:
    """Of a kill at most the result is left, which no record names; the two stay as they are."""
    first, second, paths = work.moments["first"], work.moments["second"], ("d", "g", "x", "l")

    def combine() -> str:
        return work.acts().combine(second.id, first.id, paths).snapshot_id

    died = dies_at(number, combine)
    left = {*work.acts().ids()} - {first.id, second.id}
    made = combine()
    assert left <= {made}, (number, left)
    for moment in (made, first.id, second.id):
        work.acts().verify(moment)
    go(work, made, combined_by_hand(second.tree, first.tree, paths))
    assert work.git_state() == second.git
    work.acts().delete([made])
    assert work.fsck() == "", work.fsck()
    return died


def sweep_forking(work: SandboxBench, number: int) -> bool:
    """Of the sandbox as it was and as it is; of a killed attempt nothing is left after the next."""
    moment = work.moments[("first", "second")[number % 2]]
    go(work, work.moments["second"].id, work.moments["second"].tree)
    resource = replace_fields(work.resource(), strategy=work.sandbox.strategy)

    def fork() -> SandboxRef:
        sandboxes = AllSandboxes(work.git, work.world.home, SystemClock(), work.store)
        return sandboxes.fork("S2", "CHILD", resource, work.sandbox, moment.id)

    died = dies_at(number, fork)
    work.sandboxes["CHILD"] = fork()
    found = differing(work.tree("CHILD"), moment.tree)
    assert not found, (number, found)
    assert differing(work.tree(), work.moments["second"].tree) == [], number
    made = work.acts("CHILD").snapshot().snapshot_id
    assert not work.acts().changes(moment.id, made), number
    left = [
        path for path in work.world.home.glob("sandboxes/*/.*") if "state.json" not in path.name
    ]
    assert not left, (number, left)
    assert work.fsck() == "", work.fsck()
    AllSandboxes(work.git, work.world.home, SystemClock(), work.store).remove(
        work.sandboxes.pop("CHILD")
    )
    return died


def sweep_merging(work: SandboxBench, number: int) -> bool:
    """Brought back to what it was, the sandbox merges to the same."""
    first, second = work.moments["first"], work.moments["second"]
    if "mine" not in work.moments:
        go(work, first.id, first.tree | ignored_in(work), sparing=second.id)
        work.agent("echo mine > mine; chmod 755 g; mkdir -p d/e/mine")
        work.moments["mine"] = work.look()
        work.moments["merged"] = merged(work)
    mine = work.moments["mine"]
    work.acts().restore(mine.id, second.id)
    died = dies_at(number, lambda: merged(work))
    go(work, mine.id, mine.tree, sparing=second.id)
    assert merged(work) == work.moments["merged"], number
    assert work.fsck() == "", work.fsck()
    return died


def merged(work: SandboxBench) -> Moment:
    mine, base, theirs = (work.moments[name].id for name in ("mine", "first", "second"))
    strategy = MergeStrategy.SEQUENTIAL_APPLY
    work.acts().merge(mine, base, theirs, strategy, NAMES)
    made = work.look()
    return replace(made, checkpoint=replaced(made.checkpoint))


def replaced(made: SandboxCheckpoint) -> SandboxCheckpoint:
    """What of it is the same each time."""
    return replace_fields(made, size_bytes=0, evidence=Evidence.SCAN)


def go(work: SandboxBench, snapshot: str, expected: Tree, sparing: str | None = None) -> None:
    report = work.acts().restore(snapshot, sparing)
    assert report.differences == (), report
    assert differing(work.tree(), expected) == [], differing(work.tree(), expected)


SWEEPS: dict[str, tuple[type[SandboxBench], Sweep]] = {
    "create": (SandboxBench, sweep_creating),
    "store": (SandboxBench, storing(lambda work: work.acts().snapshot())),
    "store and watch": (SandboxBench, storing(lambda work: run_watched(work, "changing", 2))),
    "store and pack": (SandboxBench, storing(run_packing)),
    "restore": (SandboxBench, sweep_restoring),
    "store a copy": (Copies, storing(lambda work: run_watched(work, "changing", 1))),
    "restore a copy": (Copies, sweep_restoring),
    "combine": (SandboxBench, sweep_combining),
    "fork": (SandboxBench, sweep_forking),
    "fork a copy": (Copies, sweep_forking),
    "merge": (SandboxBench, sweep_merging),
    "merge into a copy": (Copies, sweep_merging),
}


def main(mode: str, stride: int) -> None:
    world = World(runner="in-process")
    bench, sweep = SWEEPS[mode]
    work = bench(world)
    work.make_project()
    if isinstance(work, Copies):
        work.make_copy()
    if mode != "create":
        work.agent(BEFORE)
        work.moments["first"] = work.look()
        work.agent(AFTER if bench is SandboxBench else AFTER.replace("git add -A; ", ""))
        work.moments["second"] = work.look()
    acts = itertools.count(0, stride)
    survived = sum(1 for _ in itertools.takewhile(lambda act: sweep(work, act), acts))
    assert mode == "create" or work.fsck() == "", work.fsck()
    left = list(Path(world.home).rglob(".cleveragents-restore-*"))
    assert not left, left
    print(f"{survived} kills survived")
    world.close()


if __name__ == "__main__":
    main(sys.argv[1], int((sys.argv[2:] or ["1"])[0]))
