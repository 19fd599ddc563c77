"""Reads unified diffs, those of git with their headers too.

What the text says is told apart from prose around it as `git apply` does it. What looks
like a change and cannot be read is an error: a patch is applied whole or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NoReturn

from cleveragents.domain.errors import ExecutionError
from cleveragents.infrastructure.tools.files.quoting import unquoted
from cleveragents.infrastructure.tools.files.whole_file import encoded

_NOWHERE = "/dev/null"
_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_MODE = re.compile(r"(?:old mode|new mode|new file mode|deleted file mode) ([0-7]{6})")
_MODES = {"100644": False, "100755": True}
_NO_NEWLINE = "\\"


class Change(StrEnum):
    """What becomes of a file."""

    MODIFY = "modified"
    CREATE = "created"
    DELETE = "deleted"
    RENAME = "renamed"
    COPY = "copied"


@dataclass
class Hunk:
    """One passage: what is there, and what shall be."""

    old_start: int
    old: bytes = b""
    new: bytes = b""

    @property
    def is_insertion(self) -> bool:
        return not self.old


@dataclass
class FilePatch:
    """What the patch says about one file."""

    line: int
    """Where in the patch it begins."""
    old_path: str = ""
    new_path: str = ""
    change: Change = Change.MODIFY
    executable: bool | None = None
    """None leaves the mode alone."""
    hunks: list[Hunk] = field(default_factory=list[Hunk])

    @property
    def path(self) -> str:
        return self.old_path if self.change is Change.DELETE else self.new_path


def parse_patch(text: str, strip: int) -> list[FilePatch]:
    """Returns the patches of all files, in the order of the text.

    Args:
        text: a unified diff; if each of its lines ends in CRLF, these stand for plain ones.
        strip: how many leading directories of each name are dropped.

    Raises:
        ExecutionError: it is no patch, or holds what cannot be applied.
    """
    encoded(text)
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    if lines and all(line.endswith("\r") for line in lines):
        lines = [line[:-1] for line in lines]
    patches = _Parser(lines, strip).parse()
    if not patches:
        raise ExecutionError(
            "The patch holds no change", hint="Give a unified diff, as `git diff` writes it"
        )
    return patches


class _Parser:
    """Walks through the lines once."""

    def __init__(self, lines: Sequence[str], strip: int) -> None:
        self._lines = lines
        self._strip = strip
        self._at = 0

    def parse(self) -> list[FilePatch]:
        patches: list[FilePatch] = []
        while self._at < len(self._lines):
            if self._line.startswith("diff --git "):
                patches.append(self._git_patch())
            elif self._is_header():
                patches.append(self._plain_patch())
            elif self._line.startswith("@@ -"):
                self._fail("a hunk stands before any file's name")
            else:
                self._at += 1
        return patches

    @property
    def _line(self) -> str:
        """The present line; past the end, an empty one."""
        return self._lines[self._at] if self._at < len(self._lines) else ""

    @property
    def _header(self) -> str:
        return self._line.removesuffix("\r")

    def _is_header(self) -> bool:
        following = self._lines[self._at + 1] if self._at + 1 < len(self._lines) else ""
        return self._line.startswith("--- ") and following.startswith("+++ ")

    def _plain_patch(self) -> FilePatch:
        patch = FilePatch(line=self._at + 1)
        self._names(patch)
        self._hunks(patch)
        if not patch.hunks:
            self._fail(f"`{patch.path}` has no hunk")
        return patch

    def _git_patch(self) -> FilePatch:
        patch = FilePatch(line=self._at + 1)
        both = self._header.removeprefix("diff --git ")
        self._at += 1
        while self._extended_header(patch):
            self._at += 1
        if self._is_header():
            self._names(patch)
            self._hunks(patch)
        elif patch.change not in (Change.RENAME, Change.COPY):
            patch.old_path = patch.new_path = self._same_name(both)
        if not patch.hunks and patch.change is Change.MODIFY and patch.executable is None:
            self._fail(f"`{patch.path}` has no hunk")
        return patch

    def _extended_header(self, patch: FilePatch) -> bool:
        """Takes in what git says between the names and the hunks."""
        line = self._header
        if mode := _MODE.fullmatch(line):
            self._mode(patch, line, mode[1])
        elif line.startswith(("rename from ", "copy from ")):
            patch.old_path = self._moved(line.partition(" from ")[2])
        elif line.startswith(("rename to ", "copy to ")):
            patch.new_path = self._moved(line.partition(" to ")[2])
            patch.change = Change.RENAME if line.startswith("rename") else Change.COPY
        elif line.startswith(("GIT binary patch", "Binary files ")):
            self._fail("a binary file cannot be patched")
        else:
            return line.startswith(("index ", "similarity index ", "dissimilarity index "))
        return True

    def _mode(self, patch: FilePatch, line: str, mode: str) -> None:
        if mode not in _MODES:
            self._fail(f"only files are patched, and the mode {mode} is of something else")
        if line.startswith("new file"):
            patch.change = Change.CREATE
        elif line.startswith("deleted"):
            patch.change = Change.DELETE
        if line.startswith("new"):
            patch.executable = _MODES[mode]

    def _names(self, patch: FilePatch) -> None:
        """Reads the lines with `---` and `+++`; git's own headers come before them."""
        old, new = self._name("--- "), self._name("+++ ")
        if old == new == _NOWHERE:
            self._fail("both names are /dev/null")
        if old == _NOWHERE:
            patch.change = Change.CREATE
        elif new == _NOWHERE:
            patch.change = Change.DELETE
        if patch.change in (Change.RENAME, Change.COPY):
            return
        patch.old_path = self._stripped(new if old == _NOWHERE else old, self._strip)
        patch.new_path = self._stripped(old if new == _NOWHERE else new, self._strip)

    def _name(self, prefix: str) -> str:
        rest = self._header.removeprefix(prefix)
        self._at += 1
        quoted = unquoted(rest)
        # After a tab there may be a date.
        return quoted[0] if quoted else rest.partition("\t")[0]

    def _same_name(self, both: str) -> str:
        """Splits `a/x b/x`: without other headers both names are the same."""
        if quoted := unquoted(both):
            return self._stripped(quoted[0], self._strip)
        for space in re.finditer(" ", both):
            old, new = both[: space.start()], both[space.end() :]
            if old.split("/")[self._strip :] == new.split("/")[self._strip :] != []:
                return self._stripped(old, self._strip)
        self._fail("the names after `diff --git` cannot be told apart")

    def _moved(self, text: str) -> str:
        """Names of renames come without the first directory that other names have."""
        quoted = unquoted(text)
        return self._stripped(quoted[0] if quoted else text, max(self._strip - 1, 0))

    def _stripped(self, name: str, count: int) -> str:
        parts = re.sub(r"/+", "/", name).split("/")
        kept = "/".join(parts[count:])
        if not kept:
            self._fail(
                f"`{name}` has no {count} leading directories to drop",
                hint=f"Give `strip: {len(parts) - 1}`",
            )
        return kept

    def _hunks(self, patch: FilePatch) -> None:
        while self._line.startswith("@@"):
            match = _HUNK.match(self._line)
            number = len(patch.hunks) + 1
            if match is None:
                self._fail(f"hunk {number} of `{patch.path}` has no line numbers that can be read")
            counts = [1 if count is None else int(count) for count in (match[2], match[4])]
            self._at += 1
            hunk = Hunk(int(match[1]))
            self._body(hunk, counts, f"hunk {number} of `{patch.path}`")
            patch.hunks.append(hunk)

    def _body(self, hunk: Hunk, counts: list[int], name: str) -> None:
        old: list[bytes] = []
        new: list[bytes] = []
        sides = {" ": (old, new), "": (old, new), "-": (old,), "+": (new,)}
        last: Sequence[list[bytes]] = ()
        while (len(old), len(new)) != tuple(counts) or self._line.startswith(_NO_NEWLINE):
            # Some programs take away the blank of an empty line.
            is_empty = self._header == ""
            sign, text = ("", self._line) if is_empty else (self._line[:1], self._line[1:])
            if self._at >= len(self._lines):
                self._fail(f"{name} ends too early")
            if sign == _NO_NEWLINE:
                for side in last:
                    side[-1] = side[-1].removesuffix(b"\n")
            elif sign in sides:
                last = sides[sign]
                for side in last:
                    side.append(text.encode() + b"\n")
            else:
                self._fail(f"{name} ends too early")
            if len(old) > counts[0] or len(new) > counts[1]:
                self._fail(f"{name} has not the numbers of lines that it says")
            self._at += 1
        if self._line[:1] in (" ", "+") or self._is_removal():
            self._fail(f"{name} has more lines than it says")
        hunk.old, hunk.new = b"".join(old), b"".join(new)

    def _is_removal(self) -> bool:
        """Says whether the line can only be one more of the hunk: mails end in `-- `."""
        return (
            self._line.startswith("-")
            and not self._line.startswith("-- ")
            and self._header != "--"
            and not self._is_header()
        )

    def _fail(self, problem: str, *, hint: str | None = None) -> NoReturn:
        raise ExecutionError(f"Line {self._at + 1} of the patch: {problem}", hint=hint)
