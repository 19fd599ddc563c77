"""A state with single paths as another has them.

Unlike in `combination`, a directory that both have only gets its permission bits: what is in it
are paths of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

from cleveragents.domain.sandboxes.merge import is_directory
from cleveragents.domain.sandboxes.named_paths import NamedPaths
from cleveragents.infrastructure.sandbox.states.combine import CombinedState, combined
from cleveragents.infrastructure.sandbox.states.path_changes import PathStates
from cleveragents.infrastructure.sandbox.states.state_editor import StateEditor
from cleveragents.infrastructure.sandbox.store.captured_state import CapturedState
from cleveragents.infrastructure.sandbox.store.lazy_tree import LazyTree, ReadTree


def with_taken(
    present: CapturedState, other: CapturedState, paths: Sequence[str], read: ReadTree
) -> CombinedState:
    """Returns `present` with what `other` has at each of the paths.

    Raises:
        SnapshotError: one of the two did not capture a path.
    """
    here, there = (PathStates(each, LazyTree(each.tree, read)) for each in (present, other))
    edited, whole = StateEditor(present, read), list[str]()
    for path in paths:
        wanted = there.at(path)
        if is_directory(wanted) and is_directory(here.at(path)):
            edited.make_directory(path, wanted.mode)
        else:
            whole.append(path)
    return combined(edited.result()[0], other, NamedPaths(whole), read)
