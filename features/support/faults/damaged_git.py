"""What can happen to the git of a sandbox, by the words that the features use."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from features.support.sandboxes.sandbox_bench import Moment, SandboxBench

from cleveragents.domain.sandboxes.resource import SandboxStrategy
from cleveragents.infrastructure.sandbox.forks import ForkOrigin, SandboxForks
from cleveragents.infrastructure.sandbox.git import command
from cleveragents.infrastructure.sandbox.git.command import admin_directory
from cleveragents.infrastructure.system import SystemClock
from cleveragents.testing.trees import differing, read_tree

Damage = Callable[[SandboxBench, Path], object]

_NOTHING = "1234567890123456789012345678901234567890"


def _cut(keep: Callable[[int], int]) -> Damage:
    def act(_: SandboxBench, admin: Path) -> None:
        index = admin / "index"
        os.truncate(index, keep(index.stat().st_size))

    return act


def _write(name: str, content: bytes) -> Damage:
    return lambda _, admin: (admin / name).write_bytes(content)


def _run(script: str) -> Damage:
    """A command of the agent's, which knows git's directory as `$ADMIN`."""
    return lambda work, admin: work.agent(f"ADMIN='{admin}'; STORE='{work.mirror}'\n{script}")


_LOOSE = 'file="$STORE/objects/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-)"; chmod u+w "$file"'

GIT: dict[str, Damage] = {
    "the index is cut off": _cut(lambda size: size - 25),
    "the index lost its second half": _cut(lambda size: size // 2),
    "the index is empty": _cut(lambda _: 0),
    "the index is garbage": _write("index", b"garbage " * 100),
    "the index is a directory": _run('rm "$ADMIN/index"; mkdir -p "$ADMIN/index/d"'),
    "the index is a FIFO": _run('rm "$ADMIN/index"; mkfifo "$ADMIN/index"'),
    "a staged file was never stored": _run(
        f"git update-index --add --cacheinfo 100644,{_NOTHING},lost"
    ),
    "HEAD is garbage": _write("HEAD", b"garbage\n"),
    "HEAD is gone": _run('rm "$ADMIN/HEAD"'),
    "HEAD is detached at nothing": _write("HEAD", f"{_NOTHING}\n".encode()),
    "the branch is empty": _run(': > "$STORE/$(git symbolic-ref HEAD)"'),
    "the last commit is empty": _run(
        f'git commit -q --allow-empty -m y; id=$(git rev-parse HEAD); {_LOOSE}; : > "$file"'
    ),
    "a file of the last commit is gone": _run(
        "echo lost > c; git add c; git commit -qm y; rm c; git reset -q --hard HEAD~1;"
        f' git reset -q --soft "HEAD@{{1}}"; id=$(git rev-parse HEAD:c); {_LOOSE}; rm "$file"'
    ),
    "the link to git is gone": _run("rm .git"),
    "the link to the repository is gone": _run('rm "$ADMIN/commondir"'),
    "the link to the sandbox is gone": _run('rm "$ADMIN/gitdir"'),
    "its repository forgot it": _run('rm -r "$ADMIN"'),
    "a file is in that place": _run('rm -r "$ADMIN"; echo file > "$ADMIN"'),
    "nothing of git is left": _run('rm -r "$ADMIN" .git'),
}


def damage_git(work: SandboxBench, what: str) -> None:
    GIT[what](work, admin_directory(work.sandbox))


def there_and_back(work: SandboxBench) -> Moment:
    """Saves a damaged sandbox, goes back, undoes that; everything is exact each time."""
    files = work.tree()
    saved = work.take()
    damaged = Moment(saved.checkpoint, files, "")
    work.acts().verify(damaged.id)
    work.go_back(work.moments["before"])
    work.expect(work.moments["before"])
    work.agent("git log -p --oneline; git diff HEAD; git status --porcelain")
    work.go_back(damaged)
    assert work.report is not None and work.report.differences == (), work.report
    assert not differing(work.tree(), files), differing(work.tree(), files)
    work.agent("git status --porcelain; git add -A; git commit -q --allow-empty -m again")
    work.acts().verify(work.look().id)
    work.go_back(work.moments["before"])
    work.expect(work.moments["before"])
    return damaged


@contextmanager
def killed(subcommand: str) -> Iterator[None]:
    """A git that somebody kills."""
    real = command.Git._call

    def killing(git: command.Git, arguments: tuple[str, ...]) -> tuple[list[str], dict[str, str]]:
        call, variables = real(git, arguments)
        return ["sh", "-c", "kill -9 $$"] if arguments[0] == subcommand else call, variables

    with patch.object(command.Git, "_call", killing):
        yield


def fork(work: SandboxBench) -> None:
    """Has a child plan start from the sandbox as it is."""
    makers = {SandboxStrategy.GIT_WORKTREE: work.maker}
    forks = SandboxForks(work.git, work.world.home, SystemClock(), work.store, makers)
    origin = ForkOrigin(work.sandbox, work.take().id)
    made = forks.fork("SANDBOX-CHILD", "CHILD", work.resource(), origin)
    work.sandboxes["CHILD"] = made


def expect_fork(work: SandboxBench) -> None:
    child = read_tree(Path(work.sandbox_of("CHILD").path))
    assert not differing(child, work.tree()), differing(child, work.tree())
    work.agent("git add -A; git commit -q --allow-empty -m child; git fsck", "CHILD")
