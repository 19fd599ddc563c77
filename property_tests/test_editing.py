"""An edit changes the passage and nothing else, whatever is around it."""

from __future__ import annotations

import shutil
import tempfile
import unittest
from pathlib import Path

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cleveragents.domain.errors import ExecutionError
from cleveragents.domain.tools.tool import ToolInvocation
from cleveragents.infrastructure.system import SignalInterruption
from cleveragents.infrastructure.tools.registry import Tools
from cleveragents.testing.events import NoEvents

TOOLS = Tools({}, SignalInterruption(), NoEvents())
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=30)
LINES = st.text("ab\n", max_size=12)


class Editing(unittest.TestCase):
    def setUp(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="cleveragents-"))
        self.addCleanup(shutil.rmtree, self.root)
        self.file = self.root / "file"

    def edit(self, content: str, old: str, new: str, *, everywhere: bool = False) -> str:
        self.file.write_bytes(content.encode())
        call = ToolInvocation(
            spec=TOOLS.specs()["edit-file"],
            input={"path": "file", "old": old, "new": new, "all": everywhere},
            directory=str(self.root),
            resources={},
        )
        TOOLS.run(call)
        return self.file.read_bytes().decode()

    @settings(deadline=None)
    @given(TEXTS, TEXTS.filter(bool), TEXTS, TEXTS)
    def test_one_passage_is_replaced(self, before: str, old: str, new: str, after: str) -> None:
        content = before + old + after
        assume(old != new and content.count(old) == 1 and content.find(old) == len(before))
        self.assertEqual(self.edit(content, old, new), before + new + after)

    @settings(deadline=None)
    @given(LINES, LINES.filter(bool), LINES, LINES)
    def test_line_ends_stay(self, before: str, old: str, new: str, after: str) -> None:
        assume(old != new and "\n" in before + old + after)
        try:
            plain = self.edit(before + old + after, old, new, everywhere=True)
        except ExecutionError as error:
            self.fail(error.message)
        windows = (before + old + after).replace("\n", "\r\n")
        changed = self.edit(windows, old, new, everywhere=True)
        self.assertEqual(changed, plain.replace("\n", "\r\n"))

    @settings(deadline=None)
    @given(LINES, LINES.filter(bool), LINES)
    def test_what_fails_changes_nothing(self, content: str, old: str, new: str) -> None:
        assume(old != new)
        found = sum(content.startswith(old, place) for place in range(len(content)))
        assume(found != 1)
        with self.assertRaises(ExecutionError) as caught:
            self.edit(content, old, new)
        self.assertEqual(caught.exception.details["found"], found)
        self.assertEqual(self.file.read_text(), content)
        self.assertEqual([path.name for path in self.root.iterdir()], ["file"])


if __name__ == "__main__":
    unittest.main()
