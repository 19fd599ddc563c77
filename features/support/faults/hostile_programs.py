"""Programs that git could be made to run; each leaves a mark if it does."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from behave.runner import Context
from features.support.sandboxes.sandbox_bench import SandboxBench, bench

from cleveragents.testing.trees import differing


class Traps:
    """The traps of one scenario, and whether one was sprung."""

    def __init__(self, work: SandboxBench) -> None:
        self.work = work
        work.outside.mkdir(exist_ok=True)
        self.mark = work.outside / "mark"
        self.trap = self._program(work.outside / "trap")
        hooks = ("post-checkout", "post-index-change", "reference-transaction", "post-commit")
        for place in ("hooks", "template/hooks"):
            (work.outside / place).mkdir(parents=True)
            for name in hooks:
                self._program(work.outside / place / name)
        (work.outside / "attributes").write_text("* filter=x diff=x\n")

    def _program(self, path: Path) -> Path:
        path.write_text(f'#!/bin/sh\necho "$0 $*" >> {shlex.quote(str(self.mark))}\nexit 1\n')
        path.chmod(0o755)
        return path

    def spelled_out(self, text: str) -> str:
        """Puts the real paths in the place of the words for them."""
        places = {
            "TRAP": self.trap,
            "MARK": self.mark,
            "OUTSIDE": self.work.outside,
            "HOOKS": self.work.outside / "hooks",
            "TEMPLATE": self.work.outside / "template",
            "ATTRIBUTES": self.work.outside / "attributes",
        }
        for word, place in places.items():
            text = text.replace(word, str(place))
        return text

    def prelude(self) -> str:
        """Words of the shell commands that set a trap."""
        return (
            f"TRAP={self.trap}; MARK={self.mark}; HOOKS=$OUTSIDE/hooks; ALL=all_files; "
            "COMMON=$(git rev-parse --git-common-dir); "
            "all_files() { echo '*' $1 > .gitattributes; git add -A; git commit -qm all; }\n"
        )

    def in_project(self, command: str) -> None:
        self.work.make_project()
        self.work.user(self.prelude() + command)
        self.forget()

    def in_sandbox(self, command: str) -> None:
        self.work.agent(self.prelude() + command)
        self.forget()

    def forget(self) -> None:
        """The one who sets a trap may have sprung it."""
        self.mark.unlink(missing_ok=True)

    def set_configuration(self, line: str) -> None:
        home = self.work.world.directory / "user"
        home.mkdir()
        text = self.spelled_out(line)
        (home / ".gitconfig").write_text(f'{text}\n[filter "x"]\nsmudge = {self.trap}\n')
        for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM"):
            self.work.environment.pop(name)
        self.work.environment["HOME"] = str(home)

    def set_variable(self, variable: str) -> None:
        name, _, value = variable.partition("=")
        self.work.environment[name] = self.spelled_out(value)

    def exercise(self, plan_id: str) -> None:
        """Everything a plan does with a sandbox; the agent's own git is not asked."""
        work = self.work
        sandbox = work.sandbox_of(plan_id)
        work.maker.check(sandbox)
        before, first = work.tree(plan_id), work.store.create_checkpoint(sandbox)
        (Path(sandbox.path) / "new").write_text("new\n")
        (Path(sandbox.path) / "README.md").write_text("changed\n")
        second = work.store.create_checkpoint(sandbox)
        assert work.store.diff(sandbox, first.snapshot_id, second.snapshot_id).patch
        assert work.store.preview(sandbox, first.snapshot_id).changes
        report = work.store.rollback_to(sandbox, first.snapshot_id)
        assert report.differences == (), report
        assert [change.file for change in report.changes] == ["README.md", "new"], report
        assert not differing(work.tree(plan_id), before)
        work.store.verify(sandbox, first.snapshot_id)

    def expect_none_sprung(self) -> None:
        assert not os.path.lexists(self.mark), self.mark.read_text()


def traps(context: Context) -> Traps:
    """The scenario's traps."""
    if "traps" not in context:
        context.traps = Traps(bench(context))
    return context.traps
