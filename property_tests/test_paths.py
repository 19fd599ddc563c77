"""No path, however nasty, lets a file tool read or change anything outside its sandbox."""

from __future__ import annotations

import shutil
import tempfile
import unittest
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from cleveragents.domain.errors import ExecutionError
from cleveragents.domain.record import JsonValue
from cleveragents.domain.tools.tool import ToolInvocation
from cleveragents.infrastructure.system import SignalInterruption
from cleveragents.infrastructure.tools.files.quoting import quote_if_needed
from cleveragents.infrastructure.tools.registry import Tools
from cleveragents.testing.events import NoEvents

SECRET = "the secret"
TOOLS = Tools({}, SignalInterruption(), NoEvents())
INPUTS: dict[str, dict[str, JsonValue]] = {
    "write-file": {"path": None, "content": "changed"},
    "read-file": {"path": None},
    "delete-file": {"path": None, "recursive": True},
    "edit-file": {"path": None, "old": SECRET, "new": "changed"},
    "apply-patch": {"patch": None, "strip": 0},
    "list-files": {"path": None, "recursive": True},
    "move-file from": {"from": None, "to": "taken"},
    "move-file to": {"from": "file", "to": None, "overwrite": True},
}
"""What each tool is given; None stands for the path in question."""
PARTS = st.sampled_from(
    ["..", ".", "", "a", "b", "c", "file", ".git", ".GIT", "outside", "secret", "sandbox", "x\n"]
) | st.text(max_size=4)
PATHS = st.builds(
    lambda start, parts: start + "/".join(parts),
    st.sampled_from(["", "/", "ROOT/", "ROOT/sandbox/", "ROOT/sandbox", "ROOT/outside/"]),
    st.lists(PARTS, max_size=6),
)
LINKS = st.lists(st.tuples(st.sampled_from(["a", "b", "a/c", "d/e"]), PATHS), max_size=4)


class Paths(unittest.TestCase):
    def setUp(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="cleveragents-")).resolve()
        self.addCleanup(shutil.rmtree, self.root)

    @settings(deadline=None, max_examples=300)
    @given(st.sampled_from(list(INPUTS)), PATHS, LINKS)
    def test_nothing_outside_is_read_or_changed(
        self, tool: str, path: str, links: list[tuple[str, str]]
    ) -> None:
        sandbox, outside = self._fresh(links)
        before = _tree(outside)
        placed = self._placed(path)
        if tool == "apply-patch":
            placed = f"--- /dev/null\n+++ {quote_if_needed(placed)}\n@@ -0,0 +1 @@\n+changed\n"
        call = ToolInvocation(
            spec=TOOLS.specs()[tool.partition(" ")[0]],
            input={key: placed if value is None else value for key, value in INPUTS[tool].items()},
            directory=str(sandbox),
            resources={},
        )
        try:
            self.assertNotIn(SECRET, TOOLS.run(call).output)
        except ExecutionError as error:
            self.assertNotIn(SECRET, error.message)
        self.assertEqual(_tree(outside), before)
        self.assertEqual((sandbox / ".git").read_text(), "gitdir: elsewhere")
        around = sorted(path.name for path in self.root.iterdir())
        self.assertEqual(around, ["outside", "sandbox", "secret"])

    def _placed(self, path: str) -> str:
        return path.replace("ROOT", str(self.root))

    def _fresh(self, links: list[tuple[str, str]]) -> tuple[Path, Path]:
        """Makes a sandbox with symlinks to anywhere, and secrets around it."""
        sandbox, outside = self.root / "sandbox", self.root / "outside"
        for directory in (sandbox, outside):
            shutil.rmtree(directory, ignore_errors=True)
            (directory / "d").mkdir(parents=True)
            (directory / "file").write_text(SECRET if directory is outside else "mine")
        (outside / "a").write_text(SECRET)
        (self.root / "secret").write_text(SECRET)
        (sandbox / ".git").write_text("gitdir: elsewhere")
        for name, target in links:
            place = sandbox / name
            try:
                place.parent.mkdir(exist_ok=True)
                if not place.parent.resolve().is_relative_to(sandbox):
                    continue  # An earlier link leads out, and this one would be made there.
                place.symlink_to(self._placed(target) or ".")
            except (OSError, ValueError):
                continue
        return sandbox, outside


def _tree(top: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(top)): path.read_bytes() if path.is_file() else b""
        for path in sorted(top.rglob("*"))
    }


if __name__ == "__main__":
    unittest.main()
