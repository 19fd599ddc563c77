"""Which paths differ between two captured states, and how; the cost follows the difference."""

from __future__ import annotations

from collections.abc import Iterator

from cleveragents.domain.sandboxes.change import PathChange, PathState, change_of
from cleveragents.infrastructure.sandbox.states.difference import TOP, in_terms_of
from cleveragents.infrastructure.sandbox.states.path_states import PathStates, directory_state
from cleveragents.infrastructure.sandbox.store.captured_state import CapturedState
from cleveragents.infrastructure.sandbox.store.lazy_tree import ReadTree, tree_changes


def path_changes(old: CapturedState, new: CapturedState, read: ReadTree) -> list[PathChange]:
    """Returns what became of each path, in the order of the paths.

    A path that one of the states left out, ignored or too large, is left out
    here: nobody knows what was there. A special file counts as nothing.
    """
    if old.usual != new.usual:
        new = in_terms_of(old, new, read)
    before, after = PathStates(old, read), PathStates(new, read)
    found = (
        change_of(path, was, now)
        for path, was, now in _pairs(before, after, read)
        if not (was is None and before.left_out(path))
        and not (now is None and after.left_out(path))
    )
    changes = [change for change in found if change is not None]
    return sorted(changes, key=lambda change: change.path)


Pair = tuple[str, PathState | None, PathState | None]


def _pairs(before: PathStates, after: PathStates, read: ReadTree) -> Iterator[Pair]:
    """Yields each path that may differ once, with what is there in both states."""
    old, new = before.captured, after.captured
    seen: set[str] = set()
    for path, was, now in tree_changes(read, old.tree, new.tree):
        seen.add(path)
        yield path, before.state(path, was), after.state(path, now)
    others = before.bare ^ after.bare
    others |= {path for path, _ in old.unusual.items() ^ new.unusual.items()}
    for path in others - seen:
        yield path, before.at(path), after.at(path)
    yield TOP, directory_state(old.top_mode), directory_state(new.top_mode)
