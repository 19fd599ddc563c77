"""Plans that start from a project's files as they are, and both sides to compare."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any
from unittest.mock import patch

import yaml
from behave.runner import Context
from features.support.sandboxes.databases import ordinary_user
from features.support.sandboxes.sandbox_bench import SandboxBench, bench
from features.support.situations.untouched import stamps
from features.support.trees import Tree, tree
from features.support.world import Outcome

from cleveragents.infrastructure.sandbox.create import uncommitted

OPTION = "--include-uncommitted"


class UncommittedBench:
    """One project of `bench`, and a plan on it through the command line."""

    def __init__(self, work: SandboxBench) -> None:
        self.work = work
        self.meanwhile: Callable[[], AbstractContextManager[object]] = nullcontext
        """What happens to the project while it is copied."""
        self.before = stamps(work.project)

    def plan(self, command: str = "true") -> str:
        file = self.work.world.directory / "plan.yaml"
        step = {"tool": "shell", "with": {"command": command}}
        file.write_text(yaml.safe_dump({"name": "local/x", "steps": [step]}))
        return str(file)

    def agents(self, *arguments: str) -> Outcome:
        self.before = stamps(self.work.project)
        with self.meanwhile():
            return self.work.world.agents_here(*arguments, "--format", "json")

    def agents_of_ordinary_user(self, *arguments: str) -> Outcome:
        with ordinary_user(self.work.world.directory):
            return self.work.world.agents_here(*arguments, "--format", "json")

    @property
    def data(self) -> dict[str, Any]:
        last = self.work.world.last
        assert last.exit_code == 0, last
        return json.loads(last.stdout)["data"]

    @property
    def sandbox(self) -> Path:
        return Path(self.data["execution"]["sandbox"]["path"])

    def found(self) -> Tree:
        return tree(self.sandbox, without=frozenset({".git"}))

    def wanted(self, left_out: str) -> Tree:
        patterns = [] if left_out == "anything" else left_out.split()
        here = tree(self.work.project, without=frozenset({".git"}))
        gone = {name for name in here if any(fnmatchcase(name, item) for item in patterns)}
        assert len(gone) >= len(patterns), (gone, patterns)
        return {name: node for name, node in here.items() if name not in gone}

    def touched(self) -> list[str]:
        after = stamps(self.work.project)
        names = self.before.keys() | after.keys()
        return sorted(name for name in names if self.before.get(name) != after.get(name))

    def git(self, place: Path, *arguments: str) -> bytes:
        return subprocess.run(
            ["git", *arguments],
            cwd=place,
            env=self.work.world.environment,
            capture_output=True,
            check=False,
        ).stdout

    @contextmanager
    def changing(self, count: int) -> Iterator[None]:
        """Writes to the project after each of the first copies."""
        real, left = uncommitted._copy, iter(range(count))

        def copy(*arguments: Any) -> None:
            real(*arguments)
            for number in left:
                (self.work.project / "README.md").write_text("changed " * (number + 1))
                (self.work.project / f"new {number}").write_text("new")
                break

        with patch.object(uncommitted, "_copy", copy):
            yield

    def killed_at(self, name: str) -> bool:
        """Runs a plan in a process that is killed as soon as the file has been copied."""
        child = os.fork()
        if child == 0:
            real = uncommitted._copy_file

            def copy_file(source: int, target: Path) -> None:
                real(source, target)
                if target.name == name:
                    os.kill(os.getpid(), signal.SIGKILL)

            with patch.object(uncommitted, "_copy_file", copy_file):
                self.work.world.agents_here("plan", "run", self.plan(), OPTION)
            os._exit(0)
        return os.WIFSIGNALED(os.waitpid(child, 0)[1])

    @contextmanager
    def becoming(self, something: str) -> Iterator[None]:
        """Replaces README.md between the look at the project and the copy."""
        real, place = uncommitted._copy, self.work.project / "README.md"
        become: dict[str, Callable[[], object]] = {
            "nothing": lambda: None,
            "a link": lambda: place.symlink_to("run.sh"),
            "a directory": place.mkdir,
            "a named pipe": lambda: os.mkfifo(place),
        }

        def copy(*arguments: Any) -> None:
            if place.is_file() and not place.is_symlink():
                place.unlink()
                become[something]()
            real(*arguments)

        with patch.object(uncommitted, "_copy", copy):
            yield


def uncommitted_bench(context: Context) -> UncommittedBench:
    if "uncommitted_bench" not in context:
        work = bench(context)
        if not os.path.lexists(work.project / ".git"):
            work.make_project()
        context.uncommitted_bench = UncommittedBench(work)
    return context.uncommitted_bench
