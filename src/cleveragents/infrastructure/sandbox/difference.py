"""What has to be done to turn one state of a sandbox into another: a pure comparison."""

from __future__ import annotations

import stat
from collections.abc import Iterable
from dataclasses import dataclass

from cleveragents.domain.sandbox import ChangeAction, FileChange, Uncaptured
from cleveragents.infrastructure.sandbox.manifest import (
    Entry,
    Manifest,
    all_ancestors,
    ancestors,
)

TOP = "."
_NOT_IN_CHECKPOINT = "not captured when the checkpoint was made"
_SPECIAL = "special file"


@dataclass(frozen=True)
class Difference:
    """The acts of a restore, in the order they are done."""

    remove_files: tuple[str, ...]
    remove_directories: tuple[str, ...]
    """Deepest first."""
    make_directories: tuple[str, ...]
    """Shallowest first."""
    write_files: tuple[tuple[str, Entry], ...]
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


def difference(present: Manifest, target: Manifest) -> Difference:
    """Returns what turns `present` into `target`, leaving alone what neither may touch."""
    protected = _Protected(target)
    extra = {path for path in present.files if path not in target.files}
    spared = {path for path in extra if path not in target.directories and protected.covers(path)}
    ignored_now = {path.rstrip("/") for path in present.ignored}
    wanted = [path for path in target.directories if path not in ignored_now]
    return Difference(
        remove_files=tuple(sorted(extra - spared)),
        remove_directories=_removed_directories(present, target, spared, protected),
        make_directories=tuple(sorted(path for path in wanted if path not in present.directories)),
        write_files=tuple(
            (path, target.files[path])
            for path in sorted(target.files)
            if present.files.get(path) != target.files[path]
        ),
        set_modes=(
            *(
                (path, target.directories[path])
                for path in _deepest_first(wanted)
                if present.directories.get(path) != target.directories[path]
            ),
            *([(TOP, target.top_mode)] if present.top_mode != target.top_mode else []),
        ),
        shown_directories=frozenset(
            {TOP, *present.bare_directories(), *target.bare_directories()}
            | (present.directories.keys() & target.directories.keys())
        ),
        left_alone=_left_alone(present, target, spared),
        in_the_way=_in_the_way(present, target, spared),
    )


class _Protected:
    """Paths that were there, uncaptured, when the target was stored."""

    def __init__(self, target: Manifest) -> None:
        paths = [*target.ignored, *(path for path, _ in target.not_captured)]
        self._paths = {path.rstrip("/") for path in paths}

    def covers(self, path: str) -> bool:
        return path in self._paths or any(above in self._paths for above in ancestors(path))


def _removed_directories(
    present: Manifest, target: Manifest, spared: Iterable[str], protected: _Protected
) -> tuple[str, ...]:
    """Returns directories to remove: none that holds what stays, or that may have been there."""
    gone = [
        path
        for path in present.directories
        if path not in target.directories and not protected.covers(path)
    ]
    unreadable = {path.rstrip("/") for path, _ in present.not_captured if path.endswith("/")}
    uncaptured = (*present.ignored, *(path for path, _ in present.not_captured))
    holding = all_ancestors((*spared, *(path.rstrip("/") for path in uncaptured))) | unreadable
    return _deepest_first(path for path in gone if path not in holding)


def _left_alone(
    present: Manifest, target: Manifest, spared: Iterable[str]
) -> tuple[Uncaptured, ...]:
    found = [(path, "ignored") for path in present.ignored]
    found += [(path, _NOT_IN_CHECKPOINT) for path in spared]
    found += [
        (path, reason)
        for path, reason in present.not_captured
        if not (_is_replaceable(reason) and (path in target.files or path in target.directories))
    ]
    return tuple(Uncaptured(path=path, reason=reason) for path, reason in sorted(found))


def _is_replaceable(reason: str) -> bool:
    """A special file holds no bytes: one at the very place of a target's file may go."""
    return reason.startswith(_SPECIAL)


def _in_the_way(present: Manifest, target: Manifest, spared: Iterable[str]) -> tuple[str, ...]:
    """Returns uncaptured paths that a restore would have to overwrite or delete."""
    uncaptured = [(path, "ignored") for path in (*present.ignored, *spared)]
    holding_files = all_ancestors(target.files)
    blocked: set[str] = set()
    for path, reason in (*uncaptured, *present.not_captured):
        bare = path.rstrip("/")
        below_a_file = any(above in target.files for above in ancestors(bare))
        same_place = bare in target.files or (bare in target.directories and bare == path)
        around_a_file = bare != path and bare in holding_files
        if below_a_file or around_a_file or (same_place and not _is_replaceable(reason)):
            blocked.add(path)
    return tuple(sorted(blocked))


def _deepest_first(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(paths, key=lambda path: (-path.count("/"), path)))


def permission_bits(mode: int) -> int:
    return stat.S_IMODE(mode)
