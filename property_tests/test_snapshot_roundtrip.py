"""Whatever an agent does to its sandbox, a rollback brings back exactly what was captured.

What was not captured is said and stays. The oracle looks at the disk and asks a plain git;
it uses nothing of the code under test but its reports.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import unittest
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from cleveragents.application.ports.sandboxes import LockedSandbox
from cleveragents.domain.errors import BusinessRuleViolation
from cleveragents.domain.sandboxes.resource import SandboxStrategy
from cleveragents.domain.sandboxes.sandbox import SandboxCheckpoint
from cleveragents.domain.sandboxes.uncaptured import reason_from
from cleveragents.infrastructure.sandbox.checkpoint import CheckpointManager
from cleveragents.infrastructure.sandbox.files.tracker import STATE, note_path
from cleveragents.testing.trees import Tree, changes_by_hand, differing
from cleveragents.testing.workspace import single_acts
from property_tests.sandbox_agent import Agent, Edit, Place, edits, own_eyes


@dataclass(frozen=True)
class Moment:
    """A checkpoint, and what the disk held when it was made."""

    checkpoint: SandboxCheckpoint
    tree: Tree
    git: str

    @property
    def id(self) -> str:
        return self.checkpoint.snapshot_id

    @property
    def uncaptured(self) -> frozenset[str]:
        return frozenset(item.path.rstrip("/") for item in self.checkpoint.not_captured)

    @property
    def unknown(self) -> frozenset[str]:
        """What may have any bytes: a special file has none."""
        special = {path for path, node in self.tree.items() if node.kind == "special"}
        return self.uncaptured - special


class SandboxMachine(RuleBasedStateMachine):
    """An agent at work, and a user who goes back and forth, watching or not."""

    place: ClassVar[Place]
    moments = Bundle[Moment]("moments")

    def __init__(self) -> None:
        super().__init__()
        self.sandbox = self.place.new_sandbox()
        self.root = Path(self.sandbox.path)
        self.agent = Agent(self.place, self.sandbox)
        self.watching = contextlib.ExitStack()
        self.watcher: CheckpointManager | None = None

    def teardown(self) -> None:
        self.watching.close()
        self.place.sandboxes.remove(self.sandbox)

    @property
    def manager(self) -> CheckpointManager:
        """The one that watches, or what a new process would begin with."""
        return self.watcher or self.place.manager()

    @property
    def acts(self) -> LockedSandbox:
        return single_acts(self.manager, self.sandbox)

    @rule()
    def change_watching(self) -> None:
        if self.watcher is None:
            self.watcher = self.place.manager()
            self.watching.enter_context(self.watcher.watched([self.sandbox]))
            return
        missed = self.acts.recheck()
        assert not missed, missed
        self.watching.close()
        self.watcher = None

    @precondition(lambda self: self.watcher is None)
    @rule()
    def lose_the_memory(self) -> None:
        note_path(self.sandbox, STATE).unlink(missing_ok=True)

    @invariant()
    def nothing_is_left_behind(self) -> None:
        assert not list(self.root.glob("*cleveragents*"))

    def _begin(self, todo: list[Edit], *, watched: bool) -> Moment:
        if watched:
            self.change_watching()
        return self._work(todo)

    def _work(self, todo: list[Edit]) -> Moment:
        for edit in todo:
            self.agent.do(edit)
        return self._checkpoint()

    def _roll_back(self, todo: list[Edit], wanted: Moment, *, undo: bool) -> Moment:
        """Goes back, and gives the moment before it to go back to."""
        before = self._work(todo)
        self._changes_are_reported(wanted, before)
        self._changes_are_reported(before, wanted)
        if self._go(wanted, before) and undo:
            self._go(before, self._checkpoint())
        return before

    def _go(self, wanted: Moment, before: Moment) -> bool:
        """Goes back and compares everything; says whether that was possible."""
        try:
            preview = self.acts.preview(wanted.id)
            report = self.acts.restore(wanted.id)
        except BusinessRuleViolation as refused:
            self._justified(refused, before)
            return False
        after = self._look()
        left = {item.path.rstrip("/") for item in report.left_alone}
        assert report.differences == (), report.differences
        assert report.changes == preview.changes
        assert self._git_state() == wanted.git
        self._as_it_was(wanted, after, left)
        assert not differing(_only(before.tree, left), _only(after, left)), "left alone"
        unjustified = [path for path in left if not _covered(path, before.uncaptured)]
        assert all(_covered(path, wanted.uncaptured) for path in unjustified), unjustified
        return True

    def _changes_are_reported(self, old: Moment, new: Moment) -> None:
        """Compares with what two whole trees say, as far as both moments hold them."""
        wanted = [
            change
            for change in changes_by_hand(
                _without(old.tree, old.unknown), _without(new.tree, new.unknown)
            )
            if not (change.before is None and _covered(change.path, old.unknown))
            and not (change.after is None and _covered(change.path, new.unknown))
        ]
        found = list(self.acts.changes(old.id, new.id))
        assert found == wanted, [
            change for change in (*found, *wanted) if change not in found or change not in wanted
        ]

    def _checkpoint(self) -> Moment:
        tree, git = self._look(), self._git_state()
        made = self.acts.snapshot()
        assert not differing(tree, self._look()), "taking it changed the sandbox"
        moment = Moment(made, tree, git)
        self._left_out_for_a_reason(moment)
        return moment

    def _left_out_for_a_reason(self, moment: Moment) -> None:
        ignored: set[str] = set()
        for item in moment.checkpoint.not_captured:
            if item.reason == "ignored":
                ignored.add(item.path.rstrip("/"))
            elif reason_from(item.reason).is_special_file:
                assert moment.tree[item.path].kind == "special"
            else:
                assert item.path.startswith(".git"), item
        assert self._ignored_by_git(ignored) == ignored

    def _ignored_by_git(self, paths: set[str]) -> set[str]:
        if not paths:
            return set()
        asked = b"".join(os.fsencode(f"./{path}\0") for path in sorted(paths))
        said = self.place.git(
            self.sandbox, "check-ignore", "-z", "--stdin", "--no-index", stdin=asked
        )
        return {path.removeprefix("./") for path in said.split("\0")[:-1]}

    def _justified(self, refused: BusinessRuleViolation, before: Moment) -> None:
        blocked = refused.details["paths"]
        assert isinstance(blocked, list) and blocked
        assert all(_covered(str(path).rstrip("/"), before.uncaptured) for path in blocked) or all(
            str(path) in before.tree for path in blocked
        )
        assert not differing(before.tree, self._look()), "a refusal changes nothing"
        assert self._git_state() == before.git

    def _as_it_was(self, wanted: Moment, after: Tree, left: set[str]) -> None:
        """Compares all but what was not captured then and what was left alone now."""
        holding = {str(above) for path in left for above in Path(path).parents}
        then = _without(wanted.tree, wanted.uncaptured | left)
        now = _without(after, wanted.uncaptured | left)
        extra = {path for path in now if path not in then}
        assert extra <= holding, extra - holding
        assert not differing(then, {path: now[path] for path in now if path not in extra})

    def _look(self) -> Tree:
        return own_eyes(self.root, without_git=self.place.with_git)

    def _git_state(self) -> str:
        commands = (
            ("symbolic-ref", "HEAD"),
            ("rev-parse", "-q", "--verify", "HEAD"),
            ("ls-files", "-z", "--stage", "-v"),
        )
        if not self.place.with_git:
            return ""
        return "".join(self.place.git(self.sandbox, *command) for command in commands)


class RepositoryMachine(SandboxMachine):
    @initialize(target=SandboxMachine.moments, todo=edits(with_git=True), watched=st.booleans())
    def begin(self, todo: list[Edit], watched: bool) -> Moment:
        return self._begin(todo, watched=watched)

    @rule(target=SandboxMachine.moments, todo=edits(with_git=True))
    def work(self, todo: list[Edit]) -> Moment:
        return self._work(todo)

    @rule(
        target=SandboxMachine.moments,
        todo=edits(with_git=True),
        wanted=SandboxMachine.moments,
        undo=st.booleans(),
    )
    def work_and_roll_back(self, todo: list[Edit], wanted: Moment, undo: bool) -> Moment:
        return self._roll_back(todo, wanted, undo=undo)


class DirectoryMachine(SandboxMachine):
    @initialize(target=SandboxMachine.moments, todo=edits(with_git=False), watched=st.booleans())
    def begin(self, todo: list[Edit], watched: bool) -> Moment:
        return self._begin(todo, watched=watched)

    @rule(target=SandboxMachine.moments, todo=edits(with_git=False))
    def work(self, todo: list[Edit]) -> Moment:
        return self._work(todo)

    @rule(
        target=SandboxMachine.moments,
        todo=edits(with_git=False),
        wanted=SandboxMachine.moments,
        undo=st.booleans(),
    )
    def work_and_roll_back(self, todo: list[Edit], wanted: Moment, undo: bool) -> Moment:
        return self._roll_back(todo, wanted, undo=undo)


def _covered(path: str, by: Iterable[str]) -> bool:
    return any(path == other or path.startswith(f"{other}/") for other in by)


def _only(tree: Tree, wanted: set[str]) -> Tree:
    return {path: node for path, node in tree.items() if _covered(path, wanted)}


def _without(tree: Tree, unwanted: Iterable[str]) -> Tree:
    return {path: node for path, node in tree.items() if not _covered(path, unwanted)}


def _settings() -> settings:
    """250 examples in an ordinary run, 10,000 in a long one: of each strategy."""
    many = settings().max_examples > 1_000
    return settings(max_examples=10_000 if many else 250, stateful_step_count=6)


class RepositoryRoundtrip(RepositoryMachine.TestCase):
    settings = _settings()

    @classmethod
    def setUpClass(cls) -> None:
        RepositoryMachine.place = Place(SandboxStrategy.GIT_WORKTREE)

    @classmethod
    def tearDownClass(cls) -> None:
        shutil.rmtree(RepositoryMachine.place.directory)


class DirectoryRoundtrip(DirectoryMachine.TestCase):
    settings = _settings()

    @classmethod
    def setUpClass(cls) -> None:
        DirectoryMachine.place = Place(SandboxStrategy.FILESYSTEM_COPY)

    @classmethod
    def tearDownClass(cls) -> None:
        shutil.rmtree(DirectoryMachine.place.directory)


if __name__ == "__main__":
    unittest.main()
