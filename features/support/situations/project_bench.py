"""Projects of all kinds, made by the user's own commands, and plans that are to work on them."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from behave.runner import Context
from features.support.commands import spelled_out
from features.support.sandboxes.sandbox_bench import IDENTITY, SandboxBench, bench

from cleveragents.domain.errors import CleverAgentsError
from cleveragents.testing.trees import Tree, differing, read_tree

NEW = 'new() { git init -q "$1"; echo 1 > "$1/f"; git -C "$1" add -A; git -C "$1" commit -qm 1; }'


class ProjectBench:
    """The user's directory, in which a scenario makes its projects."""

    def __init__(self, work: SandboxBench) -> None:
        self.work = work
        work.world.environment["HOME"] = work.environment["HOME"] = str(work.project)
        self.place = work.project
        self.before: Tree = {}
        self.plan = "NEXT"

    def user(self, command: str) -> None:
        done = subprocess.run(
            ["/bin/sh", "-c", f"set -e; {NEW}\n{spelled_out(command)}"],
            cwd=self.place,
            env={**self.work.world.environment, **IDENTITY},
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, (command, done.stderr)

    def sandbox(self, path: Path, plan: str) -> None:
        """Looks at a project and makes a sandbox of it, as a plan does; or is refused."""
        self.plan = plan
        self.before = read_tree(self.place)

        def act() -> None:
            facts = self.work.maker.inspect(path)
            self.work.project = Path(facts.root)
            self.work.sandbox_of(plan)

        self.work.attempt(act)

    def expect_refusal(self, reason: str) -> CleverAgentsError:
        error = self.work.error
        assert error is not None, "it was not refused"
        assert reason in error.message, error.message
        return error

    def expect_commit(self) -> None:
        """The sandbox holds what `git archive` takes out of the project's commit."""
        assert self.work.error is None, self.work.error.message
        with tempfile.TemporaryDirectory() as place:
            archive = "git -c safe.directory='*' -c tar.umask=0022 archive HEAD 2> /dev/null"
            subprocess.run(
                ["/bin/sh", "-c", f"{archive} | tar x -C {place} || true"],
                cwd=self.work.project,
                env=self.work.world.environment,
                check=True,
                capture_output=True,
            )
            expected = read_tree(Path(place))
        found = self.work.tree(self.plan)
        wrong = [path for path in differing(found, expected) if path != "."]
        assert not wrong, wrong

    def expect_work(self) -> None:
        """The agent commits, and everything is taken back."""
        work, plan = self.work, self.plan
        before = work.look(plan)
        work.agent("echo 1 > new; git add -A; git commit -qm new; git log -1 > /dev/null", plan)
        after = work.look(plan)
        for moment in (before, after):
            work.roll_back(moment, plan)
            work.expect(moment, plan)


def projects(context: Context) -> ProjectBench:
    """The scenario's directory of projects."""
    if "project_bench" not in context:
        context.project_bench = ProjectBench(bench(context))
    return context.project_bench
