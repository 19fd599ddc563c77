"""A state with single paths as another has them.

Unlike in `combination`, a directory that both have only gets its permission bits: what is in it
are paths of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

from cleveragents.domain.merge import is_directory
from cleveragents.domain.named_paths import NamedPaths
from cleveragents.infrastructure.sandbox.captured import Captured
from cleveragents.infrastructure.sandbox.combination import Combination, combined
from cleveragents.infrastructure.sandbox.edited_state import EditedState
from cleveragents.infrastructure.sandbox.lazy_tree import ReadTree
from cleveragents.infrastructure.sandbox.path_states import PathStates


def with_taken(
    present: Captured, other: Captured, paths: Sequence[str], read: ReadTree
) -> Combination:
    """Returns `present` with what `other` has at each of the paths.

    Raises:
        SnapshotError: one of the two did not capture a path.
    """
    here, there = PathStates(present, read), PathStates(other, read)
    edited, whole = EditedState(present, read), list[str]()
    for path in paths:
        wanted = there.at(path)
        if is_directory(wanted) and is_directory(here.at(path)):
            edited.make_directory(path, wanted.mode)
        else:
            whole.append(path)
    return combined(edited.result()[0], other, NamedPaths(whole), read)
