"""What has to be done to turn one captured state into another; the cost follows the difference."""

from __future__ import annotations

import stat
from collections.abc import Iterable
from dataclasses import dataclass, replace

from cleveragents.domain.sandboxes.sandbox import ChangeAction, FileChange, Uncaptured
from cleveragents.domain.sandboxes.uncaptured import IGNORED
from cleveragents.infrastructure.sandbox.store.captured_state import (
    CapturedState,
    TreeEntry,
    ancestors,
)
from cleveragents.infrastructure.sandbox.store.lazy_tree import (
    DIRECTORY,
    LazyTree,
    ReadAhead,
    ReadTree,
    not_ahead,
    tree_changes,
)

TOP = "."
_NOT_IN_CHECKPOINT = "not captured when the checkpoint was made"


@dataclass(frozen=True)
class StateDifference:
    """The acts of a restore, in the order they are done."""

    remove_files: tuple[str, ...]
    remove_directories: tuple[str, ...]
    """Deepest first."""
    make_directories: tuple[str, ...]
    """Shallowest first."""
    write_files: tuple[tuple[str, TreeEntry], ...]
    set_modes: tuple[tuple[str, int], ...]
    """Directories, deepest first, and last the sandbox itself as `.`."""
    shown_directories: frozenset[str]
    """Directories a user would miss in the report: empty ones, and those with another mode."""
    left_alone: tuple[Uncaptured, ...]
    in_the_way: tuple[str, ...]
    """Uncaptured paths where the target has something else: nothing may be done."""

    @property
    def changes(self) -> tuple[FileChange, ...]:
        """What a user would call changed; a directory ends with `/`."""
        shown = self.shown_directories
        removed = [
            *self.remove_files,
            *(f"{path}/" for path in self.remove_directories if path in shown),
        ]
        restored = [
            *(path for path, _ in self.write_files),
            *(f"{path}/" for path, _ in self.set_modes if path in shown),
        ]
        changes = [FileChange(file=path, action=ChangeAction.REMOVED) for path in removed]
        changes += [FileChange(file=path, action=ChangeAction.RESTORED) for path in restored]
        return tuple(sorted(changes, key=lambda change: change.file))

    @property
    def is_nothing(self) -> bool:
        return not (self.touched or self.set_modes)

    @property
    def touched(self) -> set[str]:
        """Every path that is written, removed or given another mode."""
        return {
            *self.remove_files,
            *self.remove_directories,
            *self.make_directories,
            *(path for path, _ in self.write_files),
            *(path for path, _ in self.set_modes if path != TOP),
        }


def difference(
    present: CapturedState, target: CapturedState, read: ReadTree, ahead: ReadAhead = not_ahead
) -> StateDifference:
    """Returns what turns `present` into `target`, leaving alone what neither may touch."""
    if present.usual != target.usual:
        target = in_terms_of(present, target, read)
    sides = _Sides(present, target, read, ahead)
    extra = {path for path, entry in sides.files.items() if entry is None}
    spared = {
        path for path in extra if sides.was_uncaptured(path) and not sides.is_directory_wanted(path)
    }
    gone, made, common = sides.directories()
    modes = {path: target.mode_of(path, DIRECTORY) for path in (*made, *common)}
    top = [(TOP, target.top_mode)] if present.top_mode != target.top_mode else []
    return StateDifference(
        remove_files=tuple(sorted(extra - spared)),
        remove_directories=_removable(gone, present, sides, spared),
        make_directories=tuple(sorted(made)),
        write_files=tuple(
            (path, entry) for path, entry in sorted(sides.files.items()) if entry is not None
        ),
        set_modes=(*((path, modes[path]) for path in _deepest_first(modes)), *top),
        shown_directories=frozenset(
            {TOP, *present.empty_directories, *target.empty_directories, *common}
        ),
        left_alone=_left_alone(present, sides, spared),
        in_the_way=_in_the_way(present, sides, spared),
    )


class _Sides:
    """The two states, as far as they differ."""

    def __init__(
        self, present: CapturedState, target: CapturedState, read: ReadTree, ahead: ReadAhead
    ) -> None:
        self._present, self._target = present, target
        self._before, self._after = LazyTree(present.tree, read), LazyTree(target.tree, read)
        self._bare_before, self._bare_after = around_nothing(present), around_nothing(target)
        self.files: dict[str, TreeEntry | None] = {}
        """Files that differ, as the target has them, or None."""
        self._directories: set[str] = set()
        """Directories that may be in one state only, or have another mode."""
        self._ignored_now = {path.rstrip("/") for path in present.ignored}
        self._uncaptured_then = {
            path.rstrip("/") for path in (*target.ignored, *target.not_captured)
        }
        for path, old, new in tree_changes(read, present.tree, target.tree, ahead):
            if new is not None and new[0] != DIRECTORY:
                self.files[path] = target.entry_of(path, new)
            elif old is not None and old[0] != DIRECTORY:
                self.files[path] = None
            if (old and old[0]) == DIRECTORY or (new and new[0]) == DIRECTORY:
                self._directories.add(path)
        for path in {*present.empty_directories} ^ {*target.empty_directories}:
            self._directories |= {path, *ancestors(path)}
        self._compare_modes()

    def directories(self) -> tuple[list[str], list[str], list[str]]:
        """Returns directories only in the present, only in the target, and with another mode."""
        gone: list[str] = []
        made: list[str] = []
        common: list[str] = []
        for path in self._directories:
            here = path in self._bare_before or self._before.is_directory(path)
            there = self.is_directory_wanted(path)
            if here and there:
                if self._present.mode_of(path, DIRECTORY) != self._target.mode_of(path, DIRECTORY):
                    common.append(path)
            elif here:
                gone.append(path)
            elif there and path not in self._ignored_now:
                made.append(path)
        return gone, made, common

    def is_file_wanted(self, path: str) -> bool:
        return self._after.is_file(path)

    def is_directory_wanted(self, path: str) -> bool:
        return path in self._bare_after or self._after.is_directory(path)

    def holds_wanted_files(self, path: str) -> bool:
        return self._after.is_directory(path)

    def was_uncaptured(self, path: str) -> bool:
        """Says whether the path was there, uncaptured, when the target was stored."""
        return path in self._uncaptured_then or any(
            above in self._uncaptured_then for above in ancestors(path)
        )

    def _compare_modes(self) -> None:
        before, after = self._present.unusual, self._target.unusual
        for path in before.keys() | after.keys():
            if before.get(path) == after.get(path) or path in self.files:
                continue
            node = self._after.get(path)
            if node is not None and node[0] != DIRECTORY:
                self.files[path] = self._target.entry_of(path, node)
            else:
                self._directories.add(path)


def around_nothing(state: CapturedState) -> set[str]:
    """Returns the empty directories and those above them, which a tree may not have."""
    return {place for path in state.empty_directories for place in (path, *ancestors(path))}


def _removable(
    gone: Iterable[str], present: CapturedState, sides: _Sides, spared: Iterable[str]
) -> tuple[str, ...]:
    """Returns directories to remove: none that holds what stays, or that may have been there."""
    uncaptured = [path.rstrip("/") for path in (*present.ignored, *present.not_captured)]
    unreadable = {path.rstrip("/") for path in present.not_captured if path.endswith("/")}
    holding = {above for path in (*spared, *uncaptured) for above in ancestors(path)} | unreadable
    return _deepest_first(
        path for path in gone if path not in holding and not sides.was_uncaptured(path)
    )


def _left_alone(
    present: CapturedState, sides: _Sides, spared: Iterable[str]
) -> tuple[Uncaptured, ...]:
    found = [(path, IGNORED.text) for path in present.ignored]
    found += [(path, _NOT_IN_CHECKPOINT) for path in spared]
    found += [
        (path, reason.text)
        for path, reason in present.not_captured.items()
        if not (
            reason.is_special_file
            and (sides.is_file_wanted(path) or sides.is_directory_wanted(path))
        )
    ]
    return tuple(Uncaptured(path=path, reason=reason) for path, reason in sorted(found))


def _in_the_way(present: CapturedState, sides: _Sides, spared: Iterable[str]) -> tuple[str, ...]:
    """Returns uncaptured paths that a restore would have to overwrite or delete."""
    uncaptured = [(path, IGNORED) for path in (*present.ignored, *spared)]
    blocked: set[str] = set()
    for path, reason in (*uncaptured, *present.not_captured.items()):
        bare = path.rstrip("/")
        below_a_file = any(sides.is_file_wanted(above) for above in ancestors(bare))
        same_place = sides.is_file_wanted(bare) or (
            bare == path and sides.is_directory_wanted(bare)
        )
        around_a_file = bare != path and sides.holds_wanted_files(bare)
        if below_a_file or around_a_file or (same_place and not reason.is_special_file):
            blocked.add(path)
    return tuple(sorted(blocked))


def in_terms_of(present: CapturedState, target: CapturedState, read: ReadTree) -> CapturedState:
    """Returns the target with its modes written down against the present's usual ones."""
    tree = LazyTree(target.tree, read)
    nodes = {path: node[0] for path, node in tree.files()}
    for path in (*list(nodes), *target.empty_directories):
        for above in ancestors(path):
            nodes[above] = DIRECTORY
    nodes |= dict.fromkeys(target.empty_directories, DIRECTORY)
    modes = {path: target.mode_of(path, git_mode) for path, git_mode in nodes.items()}
    unusual = {path: mode for path, mode in modes.items() if mode != present.usual.of(nodes[path])}
    return replace(target, usual=present.usual, unusual=unusual)


def _deepest_first(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(paths, key=lambda path: (-path.count("/"), path)))


def permission_bits(mode: int) -> int:
    return stat.S_IMODE(mode)
