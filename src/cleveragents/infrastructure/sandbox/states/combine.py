"""A state made of two: the one, but at some paths what the other has there.

It is made of trees and documents alone, so the cost follows the paths and the trees
above them, not the size of the sandbox.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from cleveragents.domain.errors import SnapshotError
from cleveragents.domain.sandboxes.named_paths import NamedPaths
from cleveragents.domain.sandboxes.uncaptured import IGNORED, Reason
from cleveragents.infrastructure.sandbox.git.objects import NewObject
from cleveragents.infrastructure.sandbox.states.difference import in_terms_of
from cleveragents.infrastructure.sandbox.store.captured_state import (
    CapturedState,
    ancestors,
)
from cleveragents.infrastructure.sandbox.store.lazy_tree import LazyTree, ReadTree

_Value = TypeVar("_Value")


@dataclass(frozen=True)
class CombinedState:
    """A state, and the trees of it that may not be stored yet."""

    captured: CapturedState
    trees: Sequence[NewObject] = ()

    def reader(self, read: ReadTree) -> ReadTree:
        """Returns a function that reads stored trees and those of this state."""
        own = {item.id: item.data for item in self.trees if item.data is not None}
        return lambda object_id: own[object_id] if object_id in own else read(object_id)


def combined(
    base: CapturedState, other: CapturedState, paths: NamedPaths, read: ReadTree
) -> CombinedState:
    """Returns `base` with what `other` has at the paths; `SnapshotStore` says what that means.

    Raises:
        SnapshotError: one of the two did not capture a named path.
    """
    for path in paths.outermost:
        _require_captured(path, base, other)
    if paths.is_everything:
        not_captured = _not_captured(base, other, paths.covers)
        return CombinedState(replace(other, not_captured=not_captured, git=base.git))
    if base.usual != other.usual:
        other = in_terms_of(base, other, read)
    return _combined(base, other, paths, read)


def _combined(
    base: CapturedState, other: CapturedState, paths: NamedPaths, read: ReadTree
) -> CombinedState:
    target, source = _Side(base, read), _Side(other, read)
    above = {place for path in paths.outermost for place in ancestors(path)}
    # Directories that stay, though they may be left empty, and those that come with what is taken.
    standing = {place for place in above if target.has_directory(place)}
    brought = [path for path in paths.outermost if source.has(path)]
    made = {place for path in brought for place in ancestors(path)} - standing

    def is_taken(path: str) -> bool:
        return path in made or paths.covers(path)

    for path in made:
        target.tree.remove(path)  # A file, or nothing: it becomes a directory.
    for path in paths.outermost:
        _take(path, source.tree, target.tree)
    bare = {path for path in base.empty_directories if not is_taken(path)} | standing
    bare |= {path for path in other.empty_directories if is_taken(path)}
    holding = {place for path in bare for place in ancestors(path)}
    filled = {path for path in standing if path in holding or target.tree.names(path)}
    tree, trees = target.tree.flush()
    captured = replace(
        base,
        tree=tree,
        unusual=_chosen(base.unusual, other.unusual, is_taken),
        empty_directories=bare - filled,
        not_captured=_not_captured(base, other, is_taken),
        ignored=frozenset(
            _chosen(dict.fromkeys(base.ignored), dict.fromkeys(other.ignored), is_taken)
        ),
    )
    return CombinedState(captured, trees)


def _take(path: str, source: LazyTree, target: LazyTree) -> None:
    node = source.get(path)
    if node is None:
        target.remove(path)
    elif target.get(path) != node:
        target.put(path, node)


class _Side:
    """One of the two states."""

    def __init__(self, captured: CapturedState, read: ReadTree) -> None:
        self.tree = LazyTree(captured.tree, read)
        self._bare = captured.bare_directories

    def has(self, path: str) -> bool:
        return path in self._bare or self.tree.get(path) is not None

    def has_directory(self, path: str) -> bool:
        return path in self._bare or self.tree.is_directory(path)


def _chosen(
    base: Mapping[str, _Value], other: Mapping[str, _Value], is_taken: Callable[[str], bool]
) -> dict[str, _Value]:
    """Returns of each what is said of its paths; that of a directory may end with `/`."""
    kept = {path: value for path, value in base.items() if not is_taken(path.rstrip("/"))}
    return kept | {path: value for path, value in other.items() if is_taken(path.rstrip("/"))}


def _not_captured(
    base: CapturedState, other: CapturedState, is_taken: Callable[[str], bool]
) -> Mapping[str, Reason]:
    """What is said of the sandbox's own git goes with `HEAD` and index."""
    content = _chosen(_of_content(base), _of_content(other), is_taken)
    return {**content, **_of_git(base)}


def _of_content(state: CapturedState) -> dict[str, Reason]:
    return {path: why for path, why in state.not_captured.items() if not why.is_git_state}


def _of_git(state: CapturedState) -> dict[str, Reason]:
    return {path: why for path, why in state.not_captured.items() if why.is_git_state}


def _require_captured(path: str, base: CapturedState, other: CapturedState) -> None:
    """Raises SnapshotError if nobody knows what one of the states has at a path.

    A special file holds no bytes, so it may go; but a path that was one cannot be named.
    """
    lost = [
        item for item in _left_out(path, other) if item[0] == path or not item[1].is_special_file
    ]
    lost += [item for item in _left_out(path, base) if not item[1].is_special_file]
    if lost:
        place, reason = lost[0]
        raise SnapshotError(
            f"A checkpoint does not hold `{path}`: `{place}` was not captured ({reason.text})",
            hint="Leave this path out, or choose another checkpoint; nothing was changed",
            path=path,
            reason=reason.text,
        )


def _left_out(path: str, state: CapturedState) -> Iterator[tuple[str, Reason]]:
    """Yields what was not captured of a path and of the directories above it, and why."""
    for place in (path, *ancestors(path)):
        for name in (place, f"{place}/"):
            if name in state.ignored:
                yield name, IGNORED
            elif name in state.not_captured and not state.not_captured[name].is_git_state:
                yield name, state.not_captured[name]
