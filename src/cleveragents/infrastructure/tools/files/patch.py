"""The tool that applies a patch to all files it names, or to none of them.

Everything is worked out in memory first. Then the new contents are written beside the
old ones and renamed into place, and what an error would leave half done is taken back.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace

from cleveragents.domain.errors import ExecutionError
from cleveragents.domain.tool import (
    ParameterType,
    ToolInvocation,
    ToolParameter,
    ToolResult,
    ToolSpec,
)
from cleveragents.infrastructure.tools.files.containment import open_parent, parts_inside
from cleveragents.infrastructure.tools.files.hunks import apply_hunks
from cleveragents.infrastructure.tools.files.patch_parser import Change, FilePatch, parse_patch
from cleveragents.infrastructure.tools.files.quoting import shown
from cleveragents.infrastructure.tools.files.whole_file import (
    discard,
    name_of_ours,
    our_errors,
    read_whole,
    write_beside,
)

APPLY_PATCH = ToolSpec(
    name="apply-patch",
    description="Apply a unified diff, as `git diff` writes it: all of it, or nothing",
    parameters={
        "patch": ToolParameter(type=ParameterType.STRING, description="The diff"),
        "strip": ToolParameter(
            type=ParameterType.INTEGER,
            description="How many leading directories of its names are dropped; default 1",
            required=False,
            minimum=0,
            maximum=100,
        ),
    },
    writes=True,
    write_scope="sandbox",
)

_READABLE = 0o444
_EXECUTABLE = 0o111


@dataclass(frozen=True)
class _Draft:
    """A file as it shall be."""

    content: bytes
    mode: int | None
    """None stands for what new files get."""
    executable: bool | None = None
    """None leaves the mode alone."""


def apply_patch(call: ToolInvocation) -> ToolResult:
    """Applies the patch; a directory that it empties goes too, as with git.

    Raises:
        ExecutionError: it is no patch, or something of it does not fit; nothing was changed.
    """
    patches = parse_patch(str(call.input["patch"]), int(str(call.input.get("strip", 1))))
    drafts = _Drafts(call.directory, patches)
    done = [drafts.apply(patch) for patch in patches]
    _write(call.directory, drafts)
    return ToolResult(output="".join(f"{line}\n" for line in done))


class _Drafts:
    """The files of the sandbox as the patch wants them, by their components.

    Renames and copies start from what was there before the patch, whatever it says about
    that file elsewhere, so that two files can be exchanged: git does not mean an order.
    """

    def __init__(self, directory: str, patches: Sequence[FilePatch]) -> None:
        self._directory = directory
        self._going = {
            parts_inside(directory, patch.old_path)
            for patch in patches
            if patch.change in (Change.RENAME, Change.DELETE)
        }
        self._before: dict[tuple[str, ...], _Draft | None] = {}
        self._after: dict[tuple[str, ...], _Draft | None] = {}

    def changes(self) -> Iterator[tuple[str, _Draft | None, _Draft | None]]:
        """Yields path, old and new of every file that is to change."""
        for parts, after in self._after.items():
            if after != self._before[parts]:
                yield "/".join(parts), self._before[parts], after

    def apply(self, patch: FilePatch) -> str:
        """Works out one file and says what becomes of it."""
        source, target = self._paths(patch)
        old = self._source(patch, source)
        if patch.change in (Change.CREATE, Change.RENAME, Change.COPY):
            self._refuse_existing(target)
        patched = apply_hunks(old.content, patch.hunks, shown(source))
        if patch.change is Change.DELETE:
            if patched.content:
                raise ExecutionError(
                    f"`{shown(source)}` would not be empty, so it is not deleted; "
                    "nothing was changed",
                    path=source,
                )
            self._set(source, None)
        else:
            if patch.change is Change.RENAME and self._is_untouched(source):
                self._set(source, None)
            executable = old.executable if patch.executable is None else patch.executable
            self._set(target, replace(old, content=patched.content, executable=executable))
        return _said(patch.change, source, target, patched.offsets)

    def _paths(self, patch: FilePatch) -> tuple[str, str]:
        if patch.change is not Change.MODIFY or patch.old_path == patch.new_path:
            return patch.old_path, patch.new_path
        # Without git's headers the names may be those of a backup and of the file itself.
        there = patch.new_path if self._get(patch.new_path) is not None else patch.old_path
        return there, there

    def _source(self, patch: FilePatch, path: str) -> _Draft:
        if patch.change is Change.CREATE:
            return _Draft(b"", None)
        found = self._get(path)
        if patch.change in (Change.RENAME, Change.COPY):
            found = self._before[parts_inside(self._directory, path)]
        if found is not None:
            return found
        only_adds = [(hunk.old_start, hunk.old) for hunk in patch.hunks] == [(0, b"")]
        if patch.change is Change.MODIFY and only_adds:
            return _Draft(b"", None)
        raise ExecutionError(
            f"There is no `{shown(path)}` in the sandbox; nothing was changed",
            hint="Names lose their first directory; `strip` says how many they lose",
            path=path,
        )

    def _refuse_existing(self, path: str) -> None:
        going = parts_inside(self._directory, path) in self._going and self._is_untouched(path)
        if self._get(path) is not None and not going:
            raise ExecutionError(
                f"There is a `{shown(path)}` already; nothing was changed",
                hint="Perhaps the patch was applied before",
                path=path,
            )

    def _is_untouched(self, path: str) -> bool:
        return self._get(path) is self._before[parts_inside(self._directory, path)]

    def _get(self, path: str) -> _Draft | None:
        parts = parts_inside(self._directory, path)
        if parts not in self._after:
            self._before[parts] = self._after[parts] = self._read(path)
        return self._after[parts]

    def _set(self, path: str, draft: _Draft | None) -> None:
        self._get(path)
        self._after[parts_inside(self._directory, path)] = draft

    def _read(self, path: str) -> _Draft | None:
        with our_errors(path):
            try:
                with open_parent(self._directory, path) as (parent, name):
                    file = read_whole(shown(path), parent, name)
            except FileNotFoundError:
                return None
        return _Draft(file.content, file.mode)


def _write(directory: str, drafts: _Drafts) -> None:
    changes = list(drafts.changes())
    with ExitStack() as made, ExitStack() as leftovers, ExitStack() as undo:
        staged = [_stage(directory, path, new, leftovers, made) for path, _, new in changes]
        for (path, old, _), temporary in zip(changes, staged, strict=True):
            _put(directory, path, old is not None, temporary, leftovers, undo)
        for stack in (undo, made):
            stack.pop_all()
    for path, _, new in changes:
        if new is None:
            _remove_empty_parents(directory, path)


def _stage(
    directory: str, path: str, new: _Draft | None, leftovers: ExitStack, made: ExitStack
) -> str | None:
    """Writes the new content beside its place."""
    if new is None:
        return None
    with our_errors(path):
        for missing in _missing_directories(directory, path):
            made.callback(_remove_directory, directory, missing)
        with open_parent(directory, path, create=True) as (parent, _):
            temporary = write_beside(parent, new.content, new.mode)
            beside = f"{path.rpartition('/')[0]}/{temporary}"
            leftovers.callback(_discard, directory, beside)
            _set_executable(parent, temporary, new.executable)
    return temporary


def _set_executable(parent: int, name: str, executable: bool | None) -> None:
    """Whoever may read a file may then execute it, as with git."""
    if executable is None:
        return
    mode = os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode & 0o7777
    wanted = mode | (mode & _READABLE) >> 2 if executable else mode & ~_EXECUTABLE
    os.chmod(name, wanted, dir_fd=parent)


def _put(
    directory: str,
    path: str,
    exists: bool,
    temporary: str | None,
    leftovers: ExitStack,
    undo: ExitStack,
) -> None:
    """Exchanges one file; the old one keeps a second name until all are done."""
    with our_errors(path), open_parent(directory, path) as (parent, name):
        if exists:
            kept = name_of_ours()
            os.link(name, kept, src_dir_fd=parent, dst_dir_fd=parent, follow_symlinks=False)
            leftovers.callback(_discard, directory, f"{path.rpartition('/')[0]}/{kept}")
            undo.callback(_bring_back, directory, path, kept)
        else:
            undo.callback(_discard, directory, path)
        if temporary is None:
            os.unlink(name, dir_fd=parent)
        else:
            os.rename(temporary, name, src_dir_fd=parent, dst_dir_fd=parent)


def _bring_back(directory: str, path: str, kept: str) -> None:
    with open_parent(directory, path) as (parent, name):
        os.rename(kept, name, src_dir_fd=parent, dst_dir_fd=parent)


def _discard(directory: str, path: str) -> None:
    with open_parent(directory, path.lstrip("/")) as (parent, name):
        discard(parent, name)


def _missing_directories(directory: str, path: str) -> list[str]:
    """Returns the directories above the path that have to be made, the topmost first."""
    above = path.split("/")[:-1]
    paths = ["/".join(above[: count + 1]) for count in range(len(above))]
    return [each for each in paths if not os.path.lexists(os.path.join(directory, each))]


def _remove_directory(directory: str, path: str) -> None:
    with suppress(OSError), open_parent(directory, path) as (parent, name):
        os.rmdir(name, dir_fd=parent)


def _remove_empty_parents(directory: str, path: str) -> None:
    """Ends at the first that is not empty."""
    above = path.split("/")[:-1]
    with suppress(OSError):
        while above:
            with open_parent(directory, "/".join(above)) as (parent, name):
                os.rmdir(name, dir_fd=parent)
            above.pop()


def _said(change: Change, source: str, target: str, offsets: tuple[int, ...]) -> str:
    moved = change in (Change.RENAME, Change.COPY)
    names = f"{shown(source)} to {shown(target)}" if moved else shown(source)
    away = [
        f"hunk {number} was found {_distance(offset)}"
        for number, offset in enumerate(offsets, 1)
        if offset
    ]
    return f"{change} {names}" + (f" ({', '.join(away)})" if away else "")


def _distance(offset: int) -> str:
    lines = "1 line" if abs(offset) == 1 else f"{abs(offset)} lines"
    return f"{lines} further {'down' if offset > 0 else 'up'}"
