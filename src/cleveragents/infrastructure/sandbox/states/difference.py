"""What has to be done to turn one captured state into another; the cost follows the difference."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from cleveragents.domain.sandboxes.sandbox import ChangeAction, FileChange, Uncaptured
from cleveragents.domain.sandboxes.uncaptured import DAMAGED_GIT, IGNORED, Reason
from cleveragents.infrastructure.sandbox.store.captured_state import (
    FIFO,
    CapturedState,
    TreeEntry,
    ancestors,
    usual_mode,
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
    touched: frozenset[str]
    """Every path that is written, removed or given another mode, except the sandbox itself."""
    replaced: tuple[Uncaptured, ...] = ()
    """Special files in the way of the target; they are removed before anything else."""
    make_fifos: tuple[tuple[str, int], ...] = ()
    """FIFOs that the target had, with type and permission bits."""

    @property
    def changes(self) -> tuple[FileChange, ...]:
        """What a user would call changed; a directory ends with `/`."""
        shown = self.shown_directories
        restored = [
            *(path for path, _ in (*self.write_files, *self.make_fifos)),
            *(f"{path}/" for path, _ in self.set_modes if path in shown),
        ]
        again = {path.rstrip("/") for path in restored}
        removed = [
            *self.remove_files,
            *(item.path for item in self.replaced if item.path not in again),
            *(f"{path}/" for path in self.remove_directories if path in shown),
        ]
        changes = [FileChange(file=path, action=ChangeAction.REMOVED) for path in removed]
        changes += [FileChange(file=path, action=ChangeAction.RESTORED) for path in restored]
        return tuple(sorted(changes, key=lambda change: change.file))


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
    replaced = {
        path: reason
        for path, reason in present.not_captured.items()
        if reason.is_special_file and sides.replaces(path, reason)
    }
    # A directory stays if it holds what stays, or may have been there with nothing captured in it.
    staying = present.not_captured.keys() - replaced.keys()
    uncaptured = [path.rstrip("/") for path in (*present.ignored, *staying)]
    holding = {above for path in (*spared, *uncaptured) for above in ancestors(path)}
    holding |= {path.rstrip("/") for path in present.not_captured if path.endswith("/")}
    gone = [path for path in sides.gone if path not in holding and not sides.was_uncaptured(path)]
    removed = tuple(sorted(gone, key=lambda path: (-path.count("/"), path)))
    modes = {path: target.mode_of(path, DIRECTORY) for path in (*sides.made, *sides.common)}
    deepest_first = sorted(modes, key=lambda path: (-path.count("/"), path))
    top = [(TOP, target.top_mode)] if present.top_mode != target.top_mode else []
    written = [(path, entry) for path, entry in sides.files.items() if entry is not None]
    alone = [(path, IGNORED.text) for path in present.ignored]
    alone += [(path, _NOT_IN_CHECKPOINT) for path in spared]
    for path, reason in present.not_captured.items():
        if reason != DAMAGED_GIT and path not in replaced and path not in sides.fifos:
            alone.append((path, reason.text))
    return StateDifference(
        remove_files=tuple(sorted(extra - spared)),
        remove_directories=removed,
        make_directories=tuple(sorted(sides.made)),
        write_files=tuple(sorted(written, key=lambda item: item[0])),
        set_modes=(*((path, modes[path]) for path in deepest_first), *top),
        shown_directories=frozenset(
            {TOP, *present.empty_directories, *target.empty_directories, *sides.common}
        ),
        left_alone=tuple(Uncaptured(path=path, reason=reason) for path, reason in sorted(alone)),
        in_the_way=_in_the_way(present, sides, spared),
        touched=frozenset(
            {*(extra - spared), *removed, *modes, *(path for path, _ in written)}
            | {*replaced, *sides.fifos}
        ),
        replaced=tuple(
            Uncaptured(path=path, reason=replaced[path].text) for path in sorted(replaced)
        ),
        make_fifos=tuple(sorted(sides.fifos.items())),
    )


class _Sides:
    """The two states, as far as they differ."""

    def __init__(
        self, present: CapturedState, target: CapturedState, read: ReadTree, ahead: ReadAhead
    ) -> None:
        self._target = target
        self._after = LazyTree(target.tree, read)
        self.files: dict[str, TreeEntry | None] = {}
        """Files that differ, as the target has them, or None."""
        self.gone: list[str] = []
        self.made: list[str] = []
        self.common: list[str] = []
        """Directories only in the present, only in the target, and in both with another mode."""
        # A special file holds no bytes: what is in its place by now is not spared for it.
        unknown = (path for path, why in target.not_captured.items() if not why.is_special_file)
        self._uncaptured_then = {path.rstrip("/") for path in (*target.ignored, *unknown)}
        self._fifos = _wanted_fifos(present, target) if target.fifos else {}
        self.fifos = {
            path: mode
            for path, mode in self._fifos.items()
            if path not in present.fifos or present.mode_of(path, FIFO) != mode
        }
        """FIFOs to make, or to give another mode."""
        directories: set[str] = set()
        for path, old, new in tree_changes(read, present.tree, target.tree, ahead):
            if new is not None and new[0] != DIRECTORY:
                self.files[path] = target.entry_of(path, new)
            elif old is not None and old[0] != DIRECTORY:
                self.files[path] = None
            if (old and old[0]) == DIRECTORY or (new and new[0]) == DIRECTORY:
                directories.add(path)
        for path in {*present.empty_directories} ^ {*target.empty_directories}:
            directories |= {path, *ancestors(path)}
        for path in {path for path, _ in present.unusual.items() ^ target.unusual.items()}:
            if path in self.files:
                continue
            node = self._after.get(path)
            if node is not None and node[0] != DIRECTORY:
                self.files[path] = target.entry_of(path, node)
            else:
                directories.add(path)
        ignored_now = {path.rstrip("/") for path in present.ignored}
        before = LazyTree(present.tree, read)
        for path in directories:
            here = path in present.bare_directories or before.is_directory(path)
            there = self.is_directory_wanted(path)
            if here and there:
                if present.mode_of(path, DIRECTORY) != target.mode_of(path, DIRECTORY):
                    self.common.append(path)
            elif here:
                self.gone.append(path)
            elif there and path not in ignored_now:
                self.made.append(path)

    def is_file_wanted(self, path: str) -> bool:
        return self._after.is_file(path) or path in self._fifos

    def replaces(self, path: str, reason: Reason) -> bool:
        """Says whether a special file has to go for what the target has there or above."""
        if path in self._fifos and reason.is_fifo:
            return False
        wanted = self.is_file_wanted(path) or self.is_directory_wanted(path)
        return wanted or any(self.is_file_wanted(above) for above in ancestors(path))

    def is_directory_wanted(self, path: str) -> bool:
        return path in self._target.bare_directories or self._after.is_directory(path)

    def holds_wanted_files(self, path: str) -> bool:
        return self._after.is_directory(path)

    def was_uncaptured(self, path: str) -> bool:
        """Says whether the path was there, uncaptured, when the target was stored."""
        return path in self._uncaptured_then or any(
            above in self._uncaptured_then for above in ancestors(path)
        )


def _wanted_fifos(present: CapturedState, target: CapturedState) -> dict[str, int]:
    """Returns the FIFOs of the target, with their modes, unless something unknown is there."""
    others = (path for path, why in present.not_captured.items() if not why.is_special_file)
    unknown = {path.rstrip("/") for path in (*present.ignored, *target.ignored, *others)}
    return {
        path: target.mode_of(path, FIFO)
        for path in target.fifos
        if unknown.isdisjoint((path, *ancestors(path)))
    }


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
        if (below_a_file or around_a_file or same_place) and not reason.is_special_file:
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
    nodes |= dict.fromkeys(target.fifos, FIFO)
    modes = {path: target.mode_of(path, git_mode) for path, git_mode in nodes.items()}
    unusual = {
        path: mode for path, mode in modes.items() if mode != usual_mode(present.usual, nodes[path])
    }
    return replace(target, usual=present.usual, unusual=unusual)
