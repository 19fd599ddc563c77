"""A fork is exactly what the snapshot says, whatever has become of the sandbox since."""

from __future__ import annotations

import shutil
import time
import unittest
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import rule

from cleveragents.domain.sandboxes.resource import SandboxStrategy
from cleveragents.domain.sandboxes.sandbox import SandboxRef
from cleveragents.testing.trees import differing
from cleveragents.testing.workspace import single_acts
from property_tests.sandbox_agent import Edit, Place, edits, own_eyes
from property_tests.test_snapshot_roundtrip import (
    DirectoryMachine,
    Moment,
    RepositoryMachine,
    SandboxMachine,
)

_RESTED = 0.03
"""Seconds after which change times tell what was touched since, and little has to be read."""


class ForkingMachine(SandboxMachine):
    """A plan that spawns children, from any of its moments."""

    def _fork(self, todo: list[Edit], wanted: Moment, *, rested: bool) -> None:
        for edit in todo:
            self.agent.do(edit)
        if rested:
            time.sleep(_RESTED)
        before, git = self._look(), self._git_state()
        fork = self.place.fork(self.sandbox, wanted.id)
        try:
            self._is_what_was_wanted(fork, wanted)
            assert not differing(self._look(), before), "the source was changed"
            assert self._git_state() == git
        finally:
            self.place.sandboxes.remove(fork)

    def _is_what_was_wanted(self, fork: SandboxRef, wanted: Moment) -> None:
        found = own_eyes(Path(fork.path), without_git=self.place.with_git)
        captured = {
            path: node
            for path, node in wanted.tree.items()
            if not _covered(path, wanted.uncaptured)
        }
        wrong = [path for path, node in captured.items() if found.get(path) != node]
        assert not wrong, wrong
        there = self._look()
        extra = [path for path in found.keys() - captured.keys() if found[path] != there.get(path)]
        assert not extra, extra
        if self.place.with_git:
            asked = (("rev-parse", "-q", "--verify", "HEAD"), ("ls-files", "-z", "--stage", "-v"))
            state = "".join(self.place.git(fork, *question) for question in asked)
            assert wanted.git.endswith(state), (wanted.git, state)
        if not wanted.uncaptured and found.keys() == captured.keys():
            made = single_acts(self.place.manager(), fork).snapshot()
            changed = single_acts(self.place.manager(), fork).changes(wanted.id, made.snapshot_id)
            assert list(changed) == [], changed


def _covered(path: str, by: frozenset[str]) -> bool:
    return any(path == other or path.startswith(f"{other}/") for other in by)


class ForkingRepositories(ForkingMachine, RepositoryMachine):
    @rule(todo=edits(with_git=True), wanted=SandboxMachine.moments, rested=st.booleans())
    def fork(self, todo: list[Edit], wanted: Moment, rested: bool) -> None:
        self._fork(todo, wanted, rested=rested)


class ForkingDirectories(ForkingMachine, DirectoryMachine):
    @rule(todo=edits(with_git=False), wanted=SandboxMachine.moments, rested=st.booleans())
    def fork(self, todo: list[Edit], wanted: Moment, rested: bool) -> None:
        self._fork(todo, wanted, rested=rested)


def _settings() -> settings:
    many = settings().max_examples > 1_000
    return settings(max_examples=5_000 if many else 60, stateful_step_count=6)


class ForkedRepositories(ForkingRepositories.TestCase):
    settings = _settings()

    @classmethod
    def setUpClass(cls) -> None:
        ForkingRepositories.place = Place(SandboxStrategy.GIT_WORKTREE)

    @classmethod
    def tearDownClass(cls) -> None:
        shutil.rmtree(ForkingRepositories.place.directory)


class ForkedDirectories(ForkingDirectories.TestCase):
    settings = _settings()

    @classmethod
    def setUpClass(cls) -> None:
        ForkingDirectories.place = Place(SandboxStrategy.FILESYSTEM_COPY)

    @classmethod
    def tearDownClass(cls) -> None:
        shutil.rmtree(ForkingDirectories.place.directory)


if __name__ == "__main__":
    unittest.main()
