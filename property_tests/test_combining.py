"""Two snapshots are combined as by going through all paths of both, on disk as in memory."""

from __future__ import annotations

import shutil
import unittest

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import rule

from cleveragents.domain.errors import SnapshotError, UsageError
from cleveragents.domain.sandboxes.change import PathState
from cleveragents.domain.sandboxes.named_paths import NamedPaths
from cleveragents.domain.sandboxes.resource import SandboxStrategy
from cleveragents.domain.sandboxes.uncaptured import reason_from
from cleveragents.infrastructure.sandbox.git.objects import EMPTY_TREE
from cleveragents.infrastructure.sandbox.states.combine import combined
from cleveragents.infrastructure.sandbox.store.captured_state import (
    CapturedState,
    UsualModes,
    ancestors,
)
from cleveragents.infrastructure.sandbox.store.lazy_tree import DIRECTORY, LazyTree
from cleveragents.testing.trees import Node, Tree, combined_by_hand
from property_tests import sandbox_agent, test_changes
from property_tests.sandbox_agent import Place
from property_tests.test_changes import State, Store, states, usual_modes
from property_tests.test_snapshot_roundtrip import (
    DirectoryMachine,
    Moment,
    RepositoryMachine,
    SandboxMachine,
)


def is_named(path: str, paths: list[str]) -> bool:
    return any(path == top or path.startswith(f"{top}/") or top == "." for top in paths)


def by_hand(base: State, other: State, paths: list[str]) -> State:
    found = combined_by_hand(_nodes(base), _nodes(other), paths)
    return {
        path: PathState(mode=node.mode, hash=node.content.decode() or None)
        for path, node in found.items()
    }


def _nodes(state: State) -> Tree:
    return {
        path: Node("file" if node.hash else "directory", node.mode, (node.hash or "").encode())
        for path, node in state.items()
    }


@st.composite
def cases(draw: st.DrawFn) -> tuple[State, State, list[str]]:
    base, other = draw(states()), draw(states())
    there = st.sampled_from(sorted(base.keys() | other.keys()))
    few = st.lists(st.one_of(there, there, test_changes.paths), max_size=4)
    return base, other, draw(few)


class Combinations(unittest.TestCase):
    @given(cases(), usual_modes, usual_modes)
    def test_they_are_those_of_all_paths(
        self,
        case: tuple[State, State, list[str]],
        usual_then: UsualModes,
        usual_now: UsualModes,
    ) -> None:
        base, other, paths = case
        store, named = Store(), NamedPaths(paths)
        before, after = store.captured(base, usual_then), store.captured(other, usual_now)
        found = combined(before, after, named, store.objects.__getitem__)
        usual = usual_now if named.is_everything else usual_then
        self.assertEqual(found.captured, Store().captured(by_hand(base, other, paths), usual))
        store.objects |= {item.id: item.data or b"" for item in found.trees}
        files = dict(LazyTree(found.captured.tree, store.objects.__getitem__).files())
        held = by_hand(base, other, paths).items()
        self.assertEqual(files.keys(), {path for path, node in held if node.hash is not None})

    @given(cases(), usual_modes)
    def test_only_trees_above_the_paths_are_read(
        self, case: tuple[State, State, list[str]], usual: UsualModes
    ) -> None:
        base, other, paths = case
        store, read = Store(), set[str]()
        before, after = store.captured(base, usual), store.captured(other, usual)

        def noting(object_id: str) -> bytes:
            read.add(object_id)
            return store.objects[object_id]

        combined(before, after, NamedPaths(paths), noting)
        above = {"", *(place for path in paths for place in ancestors(path))}
        for state in (before, after):
            read -= {_tree(state, path, store) for path in above}
        self.assertEqual(read, set())

    @given(st.lists(st.sampled_from(("a", "b", "..", ".", "")), max_size=4).map("/".join))
    def test_a_path_is_inside_or_refused(self, path: str) -> None:
        inside = bool(path) and not path.startswith("/") and ".." not in path.split("/")
        try:
            named = NamedPaths([path])
        except UsageError:
            self.assertFalse(inside)
            return
        self.assertTrue(inside)
        bare = "/".join(part for part in path.split("/") if part.strip("."))
        self.assertEqual(named.outermost, (bare,) if bare else ())
        for other in ("a", "b", "a/a", "a/b", "b/a/b", "ab", "."):
            self.assertEqual(named.covers(other), is_named(other, [bare or "."]))


def _tree(state: CapturedState, path: str, store: Store) -> str:
    """The tree of a directory; the empty one if there is none."""
    if not path:
        return state.tree
    node = LazyTree(state.tree, store.objects.__getitem__).get(path)
    return node[1] if node is not None and node[0] == DIRECTORY else EMPTY_TREE


class CombiningMachine(SandboxMachine):
    """A user who goes to what was never there: one moment with parts of another."""

    @rule(
        target=SandboxMachine.moments,
        base=SandboxMachine.moments,
        other=SandboxMachine.moments,
        named=st.lists(sandbox_agent.paths | st.just("."), max_size=4),
    )
    def combine(self, base: Moment, other: Moment, named: list[str]) -> Moment:
        paths = [_meant(path, base, other) for path in named]
        outermost = [path for path in paths if not is_named(path, [*{*paths} - {path}])]
        blind = [path for path in outermost if self._is_unknown(path, base, other)]
        try:
            made = self.acts.combine(base.id, other.id, paths)
        except SnapshotError as refused:
            assert refused.details["path"] in blind, (refused, blind)
            return base
        assert not blind, blind
        wanted = Moment(made, combined_by_hand(base.tree, other.tree, paths), base.git)
        self.acts.verify(wanted.id)
        before = self._checkpoint()
        if self._go(wanted, before) and not (before.uncaptured or wanted.uncaptured):
            assert self._checkpoint().id == wanted.id, "not as if it had been there"
        return wanted

    def _is_unknown(self, path: str, base: Moment, other: Moment) -> bool:
        """Whether nobody knows what was at a path; a special file counts only where it was."""
        if path == "." or (self.place.with_git and path.split("/")[0] == ".git"):
            return False
        unknown = {
            item.path.rstrip("/")
            for item in (*base.checkpoint.not_captured, *other.checkpoint.not_captured)
            if not reason_from(item.reason).is_special_file
        }
        return path in other.uncaptured or not unknown.isdisjoint((path, *ancestors(path)))


def _meant(path: str, base: Moment, other: Moment) -> str:
    if not path.startswith("/"):
        return path
    there = sorted(base.tree.keys() | other.tree.keys())
    return there[int(path[1:]) % len(there)]


class CombiningRepositories(CombiningMachine, RepositoryMachine):
    pass


class CombiningDirectories(CombiningMachine, DirectoryMachine):
    pass


def _settings() -> settings:
    many = settings().max_examples > 1_000
    return settings(max_examples=5_000 if many else 100, stateful_step_count=8)


class CombinedRepositories(CombiningRepositories.TestCase):
    settings = _settings()

    @classmethod
    def setUpClass(cls) -> None:
        CombiningRepositories.place = Place(SandboxStrategy.GIT_WORKTREE)

    @classmethod
    def tearDownClass(cls) -> None:
        shutil.rmtree(CombiningRepositories.place.directory)


class CombinedDirectories(CombiningDirectories.TestCase):
    settings = _settings()

    @classmethod
    def setUpClass(cls) -> None:
        CombiningDirectories.place = Place(SandboxStrategy.FILESYSTEM_COPY)

    @classmethod
    def tearDownClass(cls) -> None:
        shutil.rmtree(CombiningDirectories.place.directory)


if __name__ == "__main__":
    unittest.main()
