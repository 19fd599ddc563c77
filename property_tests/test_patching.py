"""A diff between two texts, applied to the first, gives the second, byte for byte."""

from __future__ import annotations

import difflib
import shutil
import tempfile
import unittest
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from cleveragents.domain.errors import ExecutionError
from cleveragents.domain.tools.tool import ToolInvocation
from cleveragents.infrastructure.system import SignalInterruption
from cleveragents.infrastructure.tools.registry import Tools
from cleveragents.testing.events import NoEvents

TOOLS = Tools({}, SignalInterruption(), NoEvents())
FEW_LINES = st.lists(
    st.sampled_from(["", "a", "b", "-- a", "++ b", "\\ x", " c", "a\r"]), max_size=12
)
ANY_LINES = st.lists(
    st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=8), max_size=8
)
TEXTS = st.builds(
    lambda lines, ended: "\n".join(lines) + ("\n" if ended and lines else ""),
    FEW_LINES | ANY_LINES,
    st.booleans(),
)

PLAIN = st.lists(st.sampled_from(["a\n", "b\n", "\n"]), max_size=9).map("".join)


def split(text: str) -> list[str]:
    """Splits at line feeds only, and keeps them."""
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def diff(old: str, new: str, context: int) -> str:
    lines = difflib.unified_diff(split(old), split(new), "a/file", "b/file", n=context)
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


class Patching(unittest.TestCase):
    def setUp(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="cleveragents-"))
        self.addCleanup(shutil.rmtree, self.root)
        self.file = self.root / "file"

    def patch(self, content: str, patch: str) -> str:
        self.file.write_bytes(content.encode())
        call = ToolInvocation(
            spec=TOOLS.specs()["apply-patch"],
            input={"patch": patch},
            directory=str(self.root),
            resources={},
        )
        TOOLS.run(call)
        return self.file.read_bytes().decode()

    @settings(deadline=None)
    @given(TEXTS, TEXTS, st.integers(0, 4))
    @example("a\r\n", "b\n", 3)
    @example("a\r\nb", "a\r\nc\n", 0)
    def test_the_first_becomes_the_second(self, old: str, new: str, context: int) -> None:
        if old != new:
            self.assertEqual(self.patch(old, diff(old, new, context)), new)
            self.assertEqual([path.name for path in self.root.iterdir()], ["file"])

    @settings(deadline=None)
    @given(PLAIN, PLAIN, st.integers(1, 4))
    def test_plain_line_ends_fit_a_file_that_has_none(
        self, old: str, new: str, context: int
    ) -> None:
        if old != new and old.endswith("\n"):
            patched = self.patch(old.replace("\n", "\r\n"), diff(old, new, context))
            self.assertEqual(patched, new.replace("\n", "\r\n"))

    @settings(deadline=None)
    @given(TEXTS, TEXTS, st.lists(st.sampled_from(["x\n", "y\n"]), max_size=5).map("".join))
    def test_lines_before_it_move_it(self, old: str, new: str, before: str) -> None:
        if old != new and old:
            patched = self.patch(before + old, diff(old, new, 99))
            self.assertEqual(patched, before + new)

    @settings(deadline=None)
    @given(TEXTS, TEXTS, TEXTS, st.integers(0, 4))
    def test_what_does_not_fit_changes_nothing(
        self, old: str, new: str, other: str, context: int
    ) -> None:
        try:
            self.patch(other, diff(old, new, context))
        except ExecutionError:
            self.assertEqual(self.file.read_bytes().decode(), other)
        self.assertEqual([path.name for path in self.root.iterdir()], ["file"])

    @settings(deadline=None)
    @given(TEXTS, st.text("@-+ \\abd/0123,\n\r", max_size=60))
    def test_any_text_is_a_patch_or_refused(self, content: str, noise: str) -> None:
        try:
            self.patch(content, f"--- a/file\n+++ b/file\n{noise}")
        except ExecutionError:
            self.assertEqual(self.file.read_bytes().decode(), content)


if __name__ == "__main__":
    unittest.main()
