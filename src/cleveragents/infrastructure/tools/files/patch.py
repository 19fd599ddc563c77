"""The tool that applies a patch to all files it names, or to none of them.

`git apply` reads the patch, finds the place of each hunk and writes the files. It runs
outside any repository, so neither a repository's configuration nor its attributes or
hooks have a say, wherever the sandbox is. Around it this module adds what git does not do:

1. Refuse a patch that git would apply in part, and files that are not regular.
2. Keep the content and mode of every file that the patch names.
3. Let git check the whole patch, and then apply it.
4. Give the files back their permission bits; or, if git failed, their content.
"""

from __future__ import annotations

import os
import re
import stat
import subprocess
import tempfile
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from cleveragents.domain.errors import ExecutionError, GitCommandError
from cleveragents.domain.tools.tool import (
    ParameterType,
    ToolInvocation,
    ToolParameter,
    ToolResult,
    ToolSpec,
)
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.tools.files.quoting import quote_if_needed, read_quoted
from cleveragents.infrastructure.tools.files.sandbox_files import (
    WholeFile,
    discard,
    encode_utf8,
    open_parent,
    read_whole,
    replace_file,
    tool_errors,
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

NO_REPOSITORY = Path(os.devnull)
"""As git directory: git then behaves as outside any repository."""
# Hunks without context are accepted: `--unidiff-zero` takes away only a demand for them.
_APPLY = ("apply", "-v", "--unidiff-zero", "--whitespace=nowarn")
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_OTHER_MODE = re.compile(r"^(?:new|old|new file|deleted file) mode (?!100644|100755)(\d+)", re.M)
_CHECKED = re.compile(r"Checking patch (.*)\.\.\.")
_OFFSET = re.compile(r"Hunk #(\d+) succeeded at \d+ \(offset (-?\d+) lines?\)\.")
_MOVED = re.compile(r"^ (rename|copy) ", re.M)
_READ_BITS, _EXECUTE_BITS, _OWNER_EXECUTES = 0o444, 0o111, 0o100


@dataclass(frozen=True)
class _FileChange:
    """What the patch does with one file."""

    old_path: str
    new_path: str
    offsets: tuple[tuple[int, int], ...] = ()
    """Number of a hunk, and how many lines away from its place it was found."""


@dataclass(frozen=True)
class _Patch:
    """A patch for one directory, and how git reads it."""

    git: Git
    directory: str
    text: str
    strip: int
    settings: tuple[str, ...] = ()

    def names(self) -> tuple[list[str], list[str]]:
        """Returns the new path of every file, and `rename` or `copy` for each that has two.

        Raises:
            ExecutionError: git cannot read the patch.
        """
        done = self._git("--numstat", "--summary", "-z")
        if done.returncode != 0:
            problems = _problems(done)
            if "No valid patches" in problems:
                problems = "it contains no change"
            raise ExecutionError(
                f"The patch cannot be read: {problems}",
                hint="Give a unified diff, as `git diff` writes it",
            )
        entries, _, summary = os.fsdecode(done.stdout).rpartition("\0")
        names = [entry.split("\t", 2)[2] for entry in entries.split("\0")]
        return names, _MOVED.findall(summary)

    def check(self, names: Sequence[str]) -> tuple[list[_FileChange], str | None]:
        """Returns what would change, and git's problems if it cannot apply the patch."""
        done = self._git("--check")
        return _file_changes(names, done), _problems(done) if done.returncode != 0 else None

    def is_applied(self) -> bool:
        return self._git("--check", "--reverse").returncode == 0

    def apply(self) -> None:
        """Writes the files.

        Raises:
            ExecutionError: git failed in the middle of it.
        """
        done = self._git()
        if done.returncode != 0:
            raise ExecutionError(f"The patch could not be written: {_problems(done)}")

    def _git(self, *options: str) -> subprocess.CompletedProcess[bytes]:
        data, arguments = encode_utf8(self.text), (*_APPLY, f"-p{self.strip}", *options)
        try:
            return self.git.complete(*self.settings, "-C", self.directory, *arguments, stdin=data)
        except GitCommandError as error:
            raise ExecutionError(f"The patch cannot be applied: {error.message}") from error


def apply_patch(call: ToolInvocation, git: Git) -> ToolResult:
    """Applies the patch. A directory that it empties is removed, as git does it.

    Raises:
        ExecutionError: it is not a patch, or a part of it does not fit; nothing was changed.
    """
    isolated = replace(git, patience=float(call.spec.timeout))
    text = _with_plain_line_ends(str(call.input["patch"]))
    patch = _Patch(isolated, call.directory, text, int(str(call.input.get("strip", 1))))
    names, moves = patch.names()
    _refuse_unreadable_parts(text)
    before = {name: _read(call.directory, name) for name in names}
    changes, problems = patch.check(names)
    before |= {each.old_path: _read(call.directory, each.old_path) for each in changes}
    if problems is None:
        _apply(patch, before)
    else:
        with _crlf_attributes(patch, before) as converting:
            changes, still = converting.check(names)
            if still is not None:
                raise _misfit(patch, problems)
            _apply(converting, before)
    _restore_modes(call.directory, changes, before)
    lines = _describe(call.directory, changes, moves, before)
    return ToolResult(output="".join(f"{line}\n" for line in lines))


def _with_plain_line_ends(text: str) -> str:
    """Ends the last line, and removes the CR of the lines if all of them end in CRLF."""
    lines = text.removesuffix("\n").split("\n")
    if all(line.endswith("\r") for line in lines):
        lines = [line[:-1] for line in lines]
    return "".join(f"{line}\n" for line in lines)


def _refuse_unreadable_parts(text: str) -> None:
    """Refuses what git would skip without a word: a patch is applied whole or not at all."""
    if other := _OTHER_MODE.search(text):
        raise ExecutionError(f"The patch changes something other than a file: mode {other[1]}")
    old = new = 0
    is_after_hunk = False
    for number, line in enumerate(text.split("\n"), 1):
        if old > 0 or new > 0:
            old -= not line.startswith(("+", "\\"))
            new -= not line.startswith(("-", "\\"))
            is_after_hunk = True
        elif header := _HUNK.match(line):
            old, new = (1 if count is None else int(count) for count in header.groups())
        elif line.startswith("@@"):
            raise ExecutionError(f"Line {number} of the patch: this hunk has no line numbers")
        elif is_after_hunk and re.match(r"[+ ]|-(?!-)", line):
            raise ExecutionError(
                f"Line {number} of the patch: the hunk has more lines than its header says",
                hint="Correct the numbers of lines between `@@` and `@@`",
            )
        else:
            is_after_hunk = is_after_hunk and line.startswith("\\")


def _file_changes(
    names: Sequence[str], done: subprocess.CompletedProcess[bytes]
) -> list[_FileChange]:
    """Reads what `git apply -v` says about each file while it checks the patch."""
    changes: list[_FileChange] = []
    for line in os.fsdecode(done.stderr).split("\n"):
        if (checked := _CHECKED.fullmatch(line)) and len(changes) < len(names):
            new = names[len(changes)]
            changes.append(_FileChange(_old_name(checked[1], new), new))
        elif (found := _OFFSET.fullmatch(line)) and changes:
            offset = (int(found[1]), int(found[2]))
            changes[-1] = replace(changes[-1], offsets=(*changes[-1].offsets, offset))
    return changes


def _old_name(text: str, new: str) -> str:
    """Takes the old name from `new` or `old => new`, where names may stand in quotes."""
    if first := read_quoted(text):
        return first[0]
    return new if text == new else text.removesuffix(f" => {new}").partition(' => "')[0]


def _problems(done: subprocess.CompletedProcess[bytes]) -> str:
    """Returns what git says went wrong, in one line."""
    lines = os.fsdecode(done.stderr).split("\n")
    found = [line.partition(": ")[2] for line in lines if line.startswith(("error: ", "fatal: "))]
    problems = [problem for problem in found if problem != "while searching for:"]
    return "; ".join(problems) or f"git ended with status {done.returncode}"


def _read(directory: str, path: str) -> WholeFile | None:
    with tool_errors(path):
        try:
            with open_parent(directory, path) as (parent, name):
                return read_whole(quote_if_needed(path), parent, name)
        except FileNotFoundError:
            return None


@contextmanager
def _crlf_attributes(patch: _Patch, before: dict[str, WholeFile | None]) -> Generator[_Patch]:
    """Makes git read and write files that have only CRLF as if they had plain line ends.

    A plan's text has plain line ends, and its patch is to fit such a file too.
    """
    with tempfile.NamedTemporaryFile("wb", prefix="cleveragents-") as attributes:
        for path, file in before.items():
            if file is not None and "\r" not in patch.text and _is_crlf(file.content):
                attributes.write(f'"/{_pattern(path)}" text eol=crlf\n'.encode())
        attributes.flush()
        yield replace(patch, settings=("-c", f"core.attributesFile={attributes.name}"))


def _is_crlf(content: bytes) -> bool:
    return b"\r\n" in content and not re.search(rb"\r(?!\n)|(?<!\r)\n", content)


def _pattern(path: str) -> str:
    """Returns a pattern for exactly this path, with escapes for use between quotes."""
    literal = re.sub(r"[\\*?\[]", r"\\\g<0>", path)
    return "".join(
        character
        if character.isalnum()
        else "".join(f"\\{byte:03o}" for byte in os.fsencode(character))
        for character in literal
    )


def _misfit(patch: _Patch, problems: str) -> ExecutionError:
    hint = "The lines that it removes and its context must be in the file exactly as they are here"
    if patch.is_applied():
        hint = "It seems to be applied already"
    return ExecutionError(f"The patch does not fit, so nothing was changed: {problems}", hint=hint)


def _apply(patch: _Patch, before: dict[str, WholeFile | None]) -> None:
    missing = [path for name in before for path in _missing_directories(patch.directory, name)]
    try:
        patch.apply()
    except BaseException:
        _restore(patch.directory, before, missing)
        raise


def _missing_directories(directory: str, path: str) -> list[str]:
    above = path.split("/")[:-1]
    paths = ["/".join(above[: count + 1]) for count in range(len(above))]
    return [each for each in paths if not os.path.lexists(os.path.join(directory, each))]


def _restore(directory: str, before: dict[str, WholeFile | None], missing: Sequence[str]) -> None:
    # New files first: a full disk needs their space for the old ones.
    for path in [path for path, file in before.items() if file is None]:
        with suppress(FileNotFoundError), open_parent(directory, path) as (parent, name):
            discard(parent, name)
    for path in sorted(missing, reverse=True):
        with suppress(OSError), open_parent(directory, path) as (parent, name):
            os.rmdir(name, dir_fd=parent)
    for path, file in before.items():
        if file is not None:
            with tool_errors(path), open_parent(directory, path, create=True) as (parent, name):
                replace_file(parent, name, file.content, file.mode)


def _restore_modes(
    directory: str, changes: Sequence[_FileChange], before: dict[str, WholeFile | None]
) -> None:
    """Gives files the permission bits they had: git knows only whether one is executable."""
    for change in changes:
        source = before[change.old_path]
        if source is None or _is_missing(directory, change.new_path):
            continue
        with (
            tool_errors(change.new_path),
            open_parent(directory, change.new_path) as (parent, name),
        ):
            now = stat.S_IMODE(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
            os.chmod(name, _mode(source.mode, now), dir_fd=parent)


def _mode(old: int, now: int) -> int:
    if (old ^ now) & _OWNER_EXECUTES == 0:
        return old
    # Whoever may read the file may also execute it, as with git.
    return old | (old & _READ_BITS) >> 2 if now & _OWNER_EXECUTES else old & ~_EXECUTE_BITS


def _is_missing(directory: str, path: str) -> bool:
    return not os.path.lexists(os.path.join(directory, path))


def _describe(
    directory: str,
    changes: Sequence[_FileChange],
    moves: Sequence[str],
    before: dict[str, WholeFile | None],
) -> Iterator[str]:
    """Yields one line for each file, such as `modified app.py`."""
    verbs = iter(moves)
    for change in changes:
        names = quote_if_needed(change.new_path)
        if change.old_path != change.new_path:
            verb = "copied" if next(verbs, "") == "copy" else "renamed"
            names = f"{quote_if_needed(change.old_path)} to {names}"
        elif before[change.new_path] is None:
            verb = "created"
        else:
            verb = "deleted" if _is_missing(directory, change.new_path) else "modified"
        away = [f"hunk {number} was found {_distance(lines)}" for number, lines in change.offsets]
        yield f"{verb} {names}" + (f" ({', '.join(away)})" if away else "")


def _distance(offset: int) -> str:
    lines = "1 line" if abs(offset) == 1 else f"{abs(offset)} lines"
    return f"{lines} further {'down' if offset > 0 else 'up'}"
