"""Programs that git could be made to run; each leaves a mark if it does."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from behave.runner import Context
from features.support.sandboxes.sandbox_bench import SandboxBench, bench

from cleveragents.testing.trees import differing

PROJECT_PROGRAMS = {
    "Hooks that fail": (
        "for h in post-checkout post-index-change reference-transaction pre-commit "
        "commit-msg post-commit pre-auto-gc post-rewrite fsmonitor-watchman; "
        "do cp $PROGRAM .git/hooks/$h; done"
    ),
    "Hooks that hang": (
        "printf '#!/bin/sh\\ntouch %s\\nsleep 600\\n' $MARK > h; chmod +x h; "
        "for h in post-checkout post-index-change reference-transaction; "
        "do cp h .git/hooks/$h; done; rm h"
    ),
    "A directory of hooks": (
        "mkdir hooks; for h in post-checkout post-index-change reference-transaction; "
        "do cp $PROGRAM hooks/$h; done; git config core.hooksPath $PWD/hooks"
    ),
    "A monitor of files": "git config core.fsmonitor $PROGRAM",
    "Filters": (
        "$ALL filter=x; git config filter.x.clean $PROGRAM; git config filter.x.smudge $PROGRAM"
    ),
    "Filters that are required": (
        "$ALL filter=x; git config filter.x.clean $PROGRAM; git config filter.x.smudge $PROGRAM; "
        "git config filter.x.required true"
    ),
    "A filter that stays": (
        "$ALL filter=x; git config filter.x.process $PROGRAM; git config filter.x.required true"
    ),
    "A filter with an odd name": (
        "$ALL filter=x.y; git config filter.x.y.smudge $PROGRAM; "
        "git config filter.x.y.required true"
    ),
    "Conversion for diffs": (
        "$ALL diff=x; git config diff.x.textconv $PROGRAM; git config diff.x.cachetextconv true"
    ),
    "A program for diffs": (
        "$ALL diff=x; git config diff.x.command $PROGRAM; git config diff.external $PROGRAM"
    ),
    "A program for merges": (
        "$ALL merge=x; git config merge.x.driver $PROGRAM; git config merge.default x"
    ),
    "Signing": (
        "git config commit.gpgSign true; git config tag.gpgSign true; "
        "git config gpg.program $PROGRAM; git config log.showSignature true"
    ),
    "Pager, editor and questions": (
        "git config core.pager $PROGRAM; git config pager.diff $PROGRAM; "
        "git config core.editor $PROGRAM; git config core.askPass $PROGRAM; "
        "git config credential.helper $PROGRAM"
    ),
    "The network": (
        "git config core.sshCommand $PROGRAM; git config core.gitProxy $PROGRAM; "
        "git config core.alternateRefsCommand $PROGRAM; git remote add origin ssh://localhost/x"
    ),
    "Aliases": (
        "for c in diff config update-ref ls-files cat-file reset; "
        'do git config alias.$c "!$PROGRAM"; done'
    ),
    "A file that is included": (
        "printf '[core]\\nfsmonitor = %s\\nhooksPath = /nowhere\\n' $PROGRAM > .git/more; "
        "git config include.path more"
    ),
    "A work tree elsewhere": "git config core.worktree $OUTSIDE",
    "Housekeeping": (
        "git config gc.auto 1; git config gc.autoDetach false; "
        "git config maintenance.auto true; cp $PROGRAM .git/hooks/pre-auto-gc"
    ),
    "Replaced objects": (
        "git replace $(git rev-parse HEAD:README.md) $(echo other | git hash-object -w --stdin)"
    ),
}
"""What the user of a project configures, by the words of the features."""

SANDBOX_PROGRAMS = {
    "Hooks": (
        "mkdir -p $COMMON/hooks; "
        "for h in post-checkout post-index-change reference-transaction; "
        "do cp $PROGRAM $COMMON/hooks/$h; done"
    ),
    "A directory of hooks": "git config core.hooksPath $HOOKS",
    "A monitor of files": "git config core.fsmonitor $PROGRAM",
    "Filters": (
        "echo '* filter=x diff=x' > .gitattributes; for k in clean smudge process; "
        "do git config filter.x.$k $PROGRAM; done; git config filter.x.required true"
    ),
    "Attributes in the mirror": (
        "mkdir -p $COMMON/info; echo '* filter=x diff=x' > $COMMON/info/attributes; "
        "git config filter.x.smudge $PROGRAM; git config diff.x.textconv $PROGRAM"
    ),
    "Settings of the worktree": (
        "git config extensions.worktreeConfig true; "
        "git config --worktree core.fsmonitor $PROGRAM; git config --worktree core.bare true"
    ),
    "A file that is included": "mkfifo $OUTSIDE/fifo; git config include.path $OUTSIDE/fifo",
    "A configuration that is broken": "echo '[[[' > $COMMON/config",
    "A repository from the future": "git config core.repositoryFormatVersion 99",
    "A work tree elsewhere": "git config core.worktree $OUTSIDE",
    "Other rules for exclusion": (
        "mkdir -p $COMMON/info; echo '*' > $COMMON/info/exclude; "
        "git config core.excludesFile $COMMON/info/exclude"
    ),
    "No HEAD in the mirror": "rm $COMMON/HEAD",
    "Replaced objects": (
        "git replace $(git rev-parse HEAD:README.md) $(echo other | git hash-object -w --stdin)"
    ),
    "A FIFO for the configuration": "rm $COMMON/config; mkfifo $COMMON/config",
}
"""What an agent configures in its sandbox, by the words of the features."""


class HostilePrograms:
    """The programs that one scenario configures, and whether one ran."""

    def __init__(self, work: SandboxBench) -> None:
        self.work = work
        work.outside.mkdir(exist_ok=True)
        self.mark = work.outside / "mark"
        self.program = self._program(work.outside / "program")
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
            "PROGRAM": self.program,
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
        """Words that the shell commands use."""
        return (
            f"PROGRAM={self.program}; MARK={self.mark}; HOOKS=$OUTSIDE/hooks; ALL=all_files; "
            "COMMON=$(git rev-parse --git-common-dir); "
            "all_files() { echo '*' $1 > .gitattributes; git add -A; git commit -qm all; }\n"
        )

    def in_project(self, program: str) -> None:
        self.work.make_project()
        self.work.user(self.prelude() + PROJECT_PROGRAMS[program])
        self.forget()

    def in_sandbox(self, program: str) -> None:
        self.work.agent(self.prelude() + SANDBOX_PROGRAMS[program])
        self.forget()

    def forget(self) -> None:
        """Removes the mark: configuring a program may have run it."""
        self.mark.unlink(missing_ok=True)

    def set_configuration(self, line: str) -> None:
        home = self.work.world.directory / "user"
        home.mkdir()
        text = self.spelled_out(line)
        (home / ".gitconfig").write_text(f'{text}\n[filter "x"]\nsmudge = {self.program}\n')
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
        before, first = work.tree(plan_id), work.acts(plan_id).snapshot()
        (Path(sandbox.path) / "new").write_text("new\n")
        (Path(sandbox.path) / "README.md").write_text("changed\n")
        second = work.acts(plan_id).snapshot()
        assert work.acts(plan_id).diff(first.snapshot_id, second.snapshot_id).patch
        assert work.acts(plan_id).preview(first.snapshot_id).changes
        report = work.acts(plan_id).restore(first.snapshot_id)
        assert report.differences == (), report
        assert [change.file for change in report.changes] == ["README.md", "new"], report
        assert not differing(work.tree(plan_id), before)
        work.acts(plan_id).verify(first.snapshot_id)

    def expect_none_ran(self) -> None:
        assert not os.path.lexists(self.mark), self.mark.read_text()


def hostile_programs(context: Context) -> HostilePrograms:
    """The hostile programs of the scenario."""
    if "hostile_programs" not in context:
        context.hostile_programs = HostilePrograms(bench(context))
    return context.hostile_programs
