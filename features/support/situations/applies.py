"""A plan whose result is brought into its project, and all that can be seen of that project."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from behave.runner import Context
from features.support.commands import spelled_out
from features.support.plans import Plans, plans
from features.support.trees import Node, Tree, tree

from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.ports.system import FaultPoints
from cleveragents.container import Container

_LINES = "".join(f"line {number}\n" for number in range(1, 20))
_IDENTITY = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Ada"), ("EMAIL", "ada@example.org"))
}
LOGS = ("logs/HEAD", "logs/refs/heads/main")


class Project(NamedTuple):
    """Everything of a repository that somebody could notice, stored objects aside."""

    files: Tree
    head: str
    refs: str
    staged: str
    reflogs: tuple[bytes | None, ...]
    extra: tuple[str, ...]
    """What else is in its `.git`: a lock, a draft."""
    beside: Tree
    """The plan's other resources: a directory, and a database as SQL."""


class Acting(FaultPoints):
    """Does something once, when a point is reached."""

    def __init__(self, point: FaultPoint, act: Callable[[], object]) -> None:
        self._waiting = {point: act}

    def reach(self, point: FaultPoint) -> None:
        act = self._waiting.pop(point, None)
        if act is not None:
            act()


class Interrupting(FaultPoints):
    """Sends this process what Ctrl-C sends, once at each of some points."""

    def __init__(self, *points: FaultPoint) -> None:
        self._waiting = set(points)

    def reach(self, point: FaultPoint) -> None:
        if point in self._waiting:
            self._waiting.remove(point)
            os.kill(os.getpid(), signal.SIGINT)


class Watching(FaultPoints):
    """Asks something each time a point is reached."""

    def __init__(self, point: FaultPoint, ask: Callable[[], bool]) -> None:
        self._point = point
        self._ask = ask
        self.seen: list[bool] = []

    def reach(self, point: FaultPoint) -> None:
        if point is self._point:
            self.seen.append(self._ask())


class Applies:
    """One plan, its project, and what the project was at some moment."""

    def __init__(self, plans: Plans) -> None:
        self.plans = plans
        self.project = plans.world.project
        self.before: Project | None = None
        self.left: Project | None = None
        """What the project would be if only the user had done something to it."""
        # What was applied is compared with the sandbox, so that stays.
        plans.world.environment.setdefault("CLEVERAGENTS_SANDBOX_CLEANUP", "manual")

    def shell(self, command: str, cwd: Path | None = None) -> str:
        """Runs what the user would, in the project."""
        done = subprocess.run(
            ["/bin/sh", "-ec", spelled_out(command)],
            cwd=cwd or self.project,
            env={**self.plans.world.environment, **_IDENTITY},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done
        return done.stdout

    def prepare(self, start: str, work: str) -> None:
        """Has the user make a commit, and a plan do some work on it."""
        (self.project / "list.txt").write_text(_LINES)
        self.shell(f"{start}; git add -A; git commit -q --allow-empty -m list")
        self.plans.define([{"step": "work", "does": f"runs `{work}`"}])

    def apply(self, *options: str) -> None:
        self.before = self.seen()
        (self.plans.world.directory / "sprung").unlink(missing_ok=True)
        self.plans.world.agents(
            "plan", "apply", self.plans.plan_id, "--yes", *options, "--format", "json"
        )

    def seen(self, place: Path | None = None) -> Project:
        """All there is to see of the project, or of a copy of it."""
        project = place or self.project
        git = project / self.shell("git rev-parse --git-dir", project).strip()
        known = {
            *("COMMIT_EDITMSG", "HEAD", "config", "description", "hooks", "index", "info"),
            *("logs", "objects", "refs", "packed-refs", "branches", "ORIG_HEAD"),
            *("gitdir", "commondir", "FETCH_HEAD"),
        }
        head = (git / "HEAD").read_text()
        return Project(
            files=self.files(project),
            head=head,
            refs=self.shell("git for-each-ref --format='%(objectname) %(refname)'", project),
            staged=self.shell("git ls-files --stage -v", project),
            reflogs=tuple(
                (git / name).read_bytes() if (git / name).exists() else None for name in LOGS
            ),
            extra=tuple(sorted(path.name for path in git.iterdir() if path.name not in known)),
            beside=self.beside(self.plans.world.directory, "files", "app.db"),
        )

    def do_at(self, point: FaultPoint, command: str) -> AbstractContextManager[object]:
        """Has the user run a command when an apply is at a point; a twin shows what it does."""
        dated = f"export GIT_AUTHOR_DATE=@1700000000 GIT_COMMITTER_DATE=@1700000000; {command}"
        twin = self.plans.world.directory / "twin"
        shutil.copytree(self.project, twin, symlinks=True)
        self.shell(dated, twin)
        self.left = self.seen(twin)
        return patch.object(Container, "_faults", Acting(point, lambda: self.shell(dated)))

    def beside(self, place: Path, directory: str, database: str) -> Tree:
        """What a directory and a database hold, and what lies beside the database."""
        found = {f"files/{name}": node for name, node in tree(place / directory).items()}
        base = place / database
        if base.exists():
            with closing(sqlite3.connect(base)) as connection:
                said = "\n".join(connection.iterdump()).encode()
            found["app.db"] = Node("file", base.stat().st_mode, said)
            found |= {
                path.name: Node("file", 0, b"") for path in base.parent.glob(f".{base.name}*")
            }
        return found

    @property
    def others(self) -> list[Path]:
        """The plan's resources besides the project."""
        named = (self.plans.world.directory / name for name in ("files", "app.db"))
        return [path for path in named if path.exists()]

    def files(self, place: Path) -> Tree:
        return tree(place, without=frozenset({".git"}))

    def sandbox_after(self, command: str) -> Tree:
        """What the sandbox's files would be after a shell command, made apart from all else."""
        place = self.plans.world.directory / "expected"
        skipped = shutil.ignore_patterns(".git")
        shutil.copytree(self.plans.sandbox, place, symlinks=True, ignore=skipped)
        self.shell(command, place)
        expected = self.files(place)
        shutil.rmtree(place)
        return expected


def applies(context: Context) -> Applies:
    if "applies" not in context:
        context.applies = Applies(plans(context))
    return context.applies
