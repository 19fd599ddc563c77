"""Merging keeps what one side did alone, whatever the two sandboxes hold, on disk as in memory."""

from __future__ import annotations

import shutil
import stat
import unittest

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import rule

from cleveragents.domain.sandboxes.change import PathState
from cleveragents.domain.sandboxes.merge import ConflictKind, MergeNames, MergeStrategy
from cleveragents.domain.sandboxes.resource import SandboxStrategy
from cleveragents.infrastructure.sandbox.states.difference import in_terms_of
from cleveragents.infrastructure.sandbox.states.line_merge import LineMerge, MergedLines
from cleveragents.infrastructure.sandbox.states.path_changes import PathStates, path_changes
from cleveragents.infrastructure.sandbox.states.three_way import (
    ThreeStates,
    ThreeWayResult,
    merge_states,
)
from cleveragents.infrastructure.sandbox.store.captured_state import (
    CapturedState,
    UsualModes,
    ancestors,
    usual_modes_under,
)
from cleveragents.infrastructure.sandbox.store.lazy_tree import LazyTree
from cleveragents.testing.trees import differing
from property_tests.sandbox_agent import Place
from property_tests.test_changes import State, Store, states, usual_modes
from property_tests.test_snapshot_roundtrip import (
    DirectoryMachine,
    Moment,
    RepositoryMachine,
    SandboxMachine,
)

NAMES = MergeNames(mine="mine", theirs="theirs")
USUAL = usual_modes_under(0o022)
strategies = st.sampled_from(MergeStrategy)


class NoLines(LineMerge):
    """Files that have no lines: the hashes in memory are of nothing."""

    def __init__(self) -> None:
        pass

    def merge(
        self, base: str | None, mine: str, theirs: str, *, theirs_win: bool
    ) -> MergedLines | None:
        return None


class Case:
    """Three states in one store, merged."""

    def __init__(self, base: State, mine: State, theirs: State, strategy: MergeStrategy) -> None:
        self.store = Store()
        self.read = self.store.objects.__getitem__
        captured = [self.store.captured(state, USUAL) for state in (base, mine, theirs)]
        self.base, self.mine, self.theirs = captured
        self.merged = self.merge(strategy)
        trees = {item.id: item.data or b"" for item in self.merged.objects}
        self.store.objects |= trees

    def merge(self, strategy: MergeStrategy) -> ThreeWayResult:
        states = ThreeStates(self.base, self.mine, self.theirs, ())
        return merge_states(states, self.read, NoLines(), strategy)

    def at(self, captured: CapturedState, path: str) -> PathState | None:
        return PathStates(captured, LazyTree(captured.tree, self.read)).at(path)


class Merges(unittest.TestCase):
    @given(states(), states(), usual_modes, usual_modes, strategies)
    def test_what_only_they_did_is_taken_exactly(
        self,
        base: State,
        theirs: State,
        usual_then: UsualModes,
        usual_now: UsualModes,
        strategy: MergeStrategy,
    ) -> None:
        store = Store()
        before, after = store.captured(base, usual_then), store.captured(theirs, usual_now)
        three = ThreeStates(before, before, after, ())
        read = store.objects.__getitem__
        found = merge_states(three, read, NoLines(), strategy)
        self.assertEqual(found.conflicts, ())
        self.assertEqual(found.captured, in_terms_of(before, after, read))

    @given(states(), states(), strategies)
    def test_what_only_i_did_stays_exactly(
        self, base: State, mine: State, strategy: MergeStrategy
    ) -> None:
        for theirs in (base, mine):
            case = Case(base, mine, theirs, strategy)
            self.assertEqual(case.merged.conflicts, ())
            self.assertEqual(case.merged.captured, case.mine)

    @given(states(), states(), states(), strategies)
    def test_the_result_is_a_sandbox(
        self, base: State, mine: State, theirs: State, strategy: MergeStrategy
    ) -> None:
        """Every path has directories above it, and nothing is where neither side has it."""
        case = Case(base, mine, theirs, strategy)
        empty = Store().captured({".": mine["."]}, USUAL)
        found = path_changes(empty, case.merged.captured, case.read)
        held = {change.path: change.after for change in found}
        for path in held:
            for above in ancestors(path):
                node = held.get(above)
                self.assertTrue(node is not None and stat.S_ISDIR(node.mode), (path, above))
        self.assertLessEqual(held.keys(), mine.keys() | theirs.keys())

    @given(states(), states(), states())
    def test_the_last_wins(self, base: State, mine: State, theirs: State) -> None:
        case = Case(base, mine, theirs, MergeStrategy.LAST_WINS)
        self.assertEqual(case.merged.conflicts, ())
        for change in path_changes(case.base, case.theirs, case.read):
            if change.after is not None:
                found = case.at(case.merged.captured, change.path)
                self.assertEqual(found, change.after, change.path)

    @given(states(), states(), states())
    def test_a_conflict_leaves_mine(self, base: State, mine: State, theirs: State) -> None:
        case = Case(base, mine, theirs, MergeStrategy.GIT_THREE_WAY)
        for conflict in case.merged.conflicts:
            found = case.at(case.merged.captured, conflict.path)
            self.assertEqual(conflict.mine, case.at(case.mine, conflict.path))
            self.assertEqual(conflict.theirs, case.at(case.theirs, conflict.path))
            if conflict.kind is not ConflictKind.MODE:
                self.assertEqual(found, conflict.mine, conflict)

    @given(states(), states(), states())
    def test_what_i_did_alone_is_never_lost(self, base: State, mine: State, theirs: State) -> None:
        """Without a conflict somewhere about, what they left alone is as mine."""
        case = Case(base, mine, theirs, MergeStrategy.GIT_THREE_WAY)
        touched = {change.path for change in path_changes(case.base, case.theirs, case.read)}
        for change in path_changes(case.base, case.mine, case.read):
            found = case.at(case.merged.captured, change.path)
            if change.path not in touched and change.after is not None:
                self.assertEqual(found, change.after, change.path)


class MergingMachine(SandboxMachine):
    """A user who merges what was done between any two moments into the first of them."""

    @rule(target=SandboxMachine.moments, base=SandboxMachine.moments, other=SandboxMachine.moments)
    def merge(self, base: Moment, other: Moment) -> Moment:
        before = self._checkpoint()
        if base.uncaptured or other.uncaptured or before.uncaptured or not self._go(base, before):
            return before
        strategy = MergeStrategy.GIT_THREE_WAY
        report = self.acts.merge(base.id, base.id, other.id, strategy, NAMES)
        found = self._look()
        assert report.conflicts == (), report
        assert not differing(found, other.tree), differing(found, other.tree)
        assert list(report.merged) == differing(base.tree, other.tree), report
        assert self._git_state() == base.git
        return self._checkpoint()


class MergingRepositories(MergingMachine, RepositoryMachine):
    pass


class MergingDirectories(MergingMachine, DirectoryMachine):
    pass


def _settings() -> settings:
    many = settings().max_examples > 1_000
    return settings(max_examples=5_000 if many else 60, stateful_step_count=8)


class MergedRepositories(MergingRepositories.TestCase):
    settings = _settings()

    @classmethod
    def setUpClass(cls) -> None:
        MergingRepositories.place = Place(SandboxStrategy.GIT_WORKTREE)

    @classmethod
    def tearDownClass(cls) -> None:
        shutil.rmtree(MergingRepositories.place.directory)


class MergedDirectories(MergingDirectories.TestCase):
    settings = _settings()

    @classmethod
    def setUpClass(cls) -> None:
        MergingDirectories.place = Place(SandboxStrategy.FILESYSTEM_COPY)

    @classmethod
    def tearDownClass(cls) -> None:
        shutil.rmtree(MergingDirectories.place.directory)


if __name__ == "__main__":
    unittest.main()
