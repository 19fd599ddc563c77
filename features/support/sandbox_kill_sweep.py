"""Kills a process at each of its acts on files, and looks at what the next one makes of it.

`python -m features.support.sandbox_kill_sweep create|store|restore [STRIDE]` ends with
`N kills survived`; with a stride, only each so-manieth act is tried.
"""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from features.support.sandbox_bench import SandboxBench
from features.support.world import World

from cleveragents.testing.trees import Tree, differing, read_tree

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


def sweep_storing(work: SandboxBench, number: int) -> bool:
    (work.root / "changing").write_text(f"{number}\n" * 1000)
    expected = work.tree()
    died = dies_at(number, lambda: work.store.create_checkpoint(work.sandbox))
    made = work.store.create_checkpoint(work.sandbox)
    ignored = {"a.log": expected["a.log"]}
    go(work, work.moments["first"].id, work.moments["first"].tree | ignored)
    go(work, made.snapshot_id, expected)
    return died


def sweep_restoring(work: SandboxBench, number: int) -> bool:
    first, second = work.moments["first"], work.moments["second"]
    go(work, second.id, second.tree)
    died = dies_at(number, lambda: work.store.rollback_to(work.sandbox, first.id))
    if number % 2:
        go(work, second.id, second.tree, sparing=second.id)
    ignored = {"a.log": second.tree["a.log"]}
    go(work, first.id, first.tree | ignored, sparing=second.id)
    assert work.git_state() == first.git
    return died


def go(work: SandboxBench, snapshot: str, expected: Tree, sparing: str | None = None) -> None:
    report = work.store.rollback_to(work.sandbox, snapshot, sparing)
    assert report.differences == (), report
    assert differing(work.tree(), expected) == [], differing(work.tree(), expected)


SWEEPS = {"create": sweep_creating, "store": sweep_storing, "restore": sweep_restoring}


def main(mode: str, stride: int) -> None:
    world = World(runner="in-process")
    work = SandboxBench(world)
    work.make_project()
    if mode != "create":
        work.agent(BEFORE)
        work.moments["first"] = work.look()
        work.agent(AFTER)
        work.moments["second"] = work.look()
    acts = itertools.count(0, stride)
    survived = sum(1 for _ in itertools.takewhile(lambda act: SWEEPS[mode](work, act), acts))
    assert mode == "create" or work.fsck() == "", work.fsck()
    left = list(Path(world.home).rglob(".cleveragents-restore-*"))
    assert not left, left
    print(f"{survived} kills survived")
    world.close()


if __name__ == "__main__":
    main(sys.argv[1], int((sys.argv[2:] or ["1"])[0]))
