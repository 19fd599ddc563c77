"""What became of each path is found from trees and documents as from a list of all paths."""

from __future__ import annotations

import stat
import unittest

from hypothesis import given
from hypothesis import strategies as st

from cleveragents.domain.sandboxes.change import PathState, change_of
from cleveragents.infrastructure.sandbox.git.objects import EMPTY_TREE
from cleveragents.infrastructure.sandbox.states.path_changes import path_changes
from cleveragents.infrastructure.sandbox.store.captured_state import (
    LINK_MODE,
    CapturedState,
    GitState,
    UsualModes,
    git_mode_of,
    usual_modes_under,
)
from cleveragents.infrastructure.sandbox.store.lazy_tree import DIRECTORY, LazyTree

State = dict[str, PathState]

names = st.sampled_from(("a", "b", ".git", "new\nline", "\udcff", "%escaped-x"))
paths = st.lists(names, min_size=1, max_size=3).map("/".join)
hashes = st.sampled_from([f"{number:040x}" for number in range(1, 4)])
files = st.builds(
    PathState,
    mode=st.sampled_from((0o644, 0o600, 0o755, 0o4711)).map(lambda bits: stat.S_IFREG | bits),
    hash=hashes,
)
links = st.builds(PathState, mode=st.just(LINK_MODE), hash=hashes)
directories = st.builds(
    PathState,
    mode=st.sampled_from((0o755, 0o700, 0o1777)).map(lambda bits: stat.S_IFDIR | bits),
    hash=st.none(),
)
usual_modes = st.sampled_from((0o022, 0o077, 0o002)).map(usual_modes_under)


@st.composite
def states(draw: st.DrawFn) -> State:
    """A whole sandbox: what is in a directory has that directory."""
    found: State = {".": draw(directories)}
    for path, node in draw(st.dictionaries(paths, files | links | directories)).items():
        parts = path.split("/")
        above = ["/".join(parts[:length]) for length in range(1, len(parts))]
        if path not in found and all(_is_directory(found.get(place)) for place in above):
            for place in above:
                found.setdefault(place, draw(directories))
            found[path] = node
    return found


def _is_directory(node: PathState | None) -> bool:
    return node is None or stat.S_ISDIR(node.mode)


class Store:
    """Trees in memory."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}

    def captured(self, state: State, usual: UsualModes) -> CapturedState:
        tree = LazyTree(EMPTY_TREE, self.objects.__getitem__)
        unusual: dict[str, int] = {}
        for path, node in state.items():
            git_mode = git_mode_of(node.mode)
            mode = stat.S_IMODE(node.mode) if git_mode == DIRECTORY else node.mode
            if path != "." and mode != usual[git_mode]:
                unusual[path] = mode
            if node.hash is not None:
                tree.put(path, (git_mode, node.hash))
        root, made = tree.flush()
        self.objects |= {item.id: item.data for item in made if item.data is not None}
        return CapturedState(
            tree=root,
            usual=usual,
            unusual=unusual,
            top_mode=stat.S_IMODE(state["."].mode),
            empty_directories={
                path
                for path, node in state.items()
                if node.hash is None and path != "." and not _holds(state, path)
            },
            not_captured={},
            ignored=frozenset(),
            git=GitState(),
        )


def _holds(state: State, path: str) -> bool:
    return any(other.startswith(f"{path}/") for other in state)


class Changes(unittest.TestCase):
    @given(states(), states(), usual_modes, usual_modes)
    def test_they_are_those_of_all_paths(
        self, old: State, new: State, usual_then: UsualModes, usual_now: UsualModes
    ) -> None:
        store = Store()
        before, after = store.captured(old, usual_then), store.captured(new, usual_now)
        every = sorted(old.keys() | new.keys())
        wanted = [change_of(path, old.get(path), new.get(path)) for path in every]
        found = path_changes(before, after, store.objects.__getitem__)
        self.assertEqual(found, [change for change in wanted if change is not None])

    @given(states(), states(), states())
    def test_they_add_up(self, first: State, second: State, third: State) -> None:
        """So a path's net change follows from its first and last one."""
        store, usual = Store(), usual_modes_under(0o022)
        start, middle, end = (store.captured(state, usual) for state in (first, second, third))
        read = store.objects.__getitem__
        steps = [*path_changes(start, middle, read), *path_changes(middle, end, read)]
        ends = {step.path: (first.get(step.path), step.after) for step in steps}
        together = [change_of(path, *ends[path]) for path in sorted(ends)]
        wanted = path_changes(start, end, read)
        self.assertEqual([change for change in together if change is not None], wanted)


if __name__ == "__main__":
    unittest.main()
