"""What can be wrong with an installation, and what `agents doctor` says about it."""

from __future__ import annotations

import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

from robot.api.deco import keyword, library
from robot.libraries.BuiltIn import BuiltIn

NOBODY_KNOWS = "01BX5ZZKBKACTAV9WEVGEMMVRZ"


@library(scope="TEST", auto_keywords=False)
class Damage:
    """Does harm to the home directory of the program, by other means than the program."""

    @property
    def cli(self) -> Any:
        return BuiltIn().get_library_instance("AgentsCli")

    @property
    def stray(self) -> Path:
        return self.cli.home / "sandboxes" / NOBODY_KNOWS

    @keyword("There Is A Sandbox That No Plan Has")
    def make_stray(self) -> None:
        (self.stray / "data").mkdir(parents=True)
        (self.stray / "data" / "file").write_text("left over\n")

    @keyword("The Sandbox That No Plan Has Is Still There")
    def stray_is_there(self) -> None:
        assert (self.stray / "data" / "file").exists()

    @keyword("Others May Look Into The Home Directory")
    def open_home(self) -> None:
        self.cli.home.chmod(0o755)

    @keyword("Nobody Else May Look Into The Home Directory")
    def home_is_private(self) -> None:
        mode = stat.S_IMODE(self.cli.home.stat().st_mode)
        assert mode == 0o700, f"{mode:o}"

    @keyword("Stored Bytes Are Lost")
    def lose_bytes(self) -> None:
        """Empties every pack that holds something of the plan's, so that reading it fails."""
        packs = [
            path
            for path in self.cli.home.glob("mirrors/*.git/objects/pack/*.pack")
            if path.stat().st_nlink == 1
        ]
        assert packs
        for path in packs:
            path.chmod(0o600)
            path.write_bytes(b"")

    @keyword("A Newer Program Has Changed The Database")
    def newer_schema(self) -> None:
        with closing(sqlite3.connect(self.cli.home / "state.db")) as database, database:
            database.execute("UPDATE alembic_version SET version_num = '9999_tomorrow'")

    @keyword("The Check '${name}' Is")
    def check_is(self, name: str, status: str) -> None:
        found = self._check(name)
        assert found["status"] == status, found

    @keyword("The Hint For '${name}' Says")
    def hint_says(self, name: str, text: str) -> None:
        found = self._check(name)
        assert text in (found["hint"] or ""), found

    def _check(self, name: str) -> dict[str, Any]:
        checks = self.cli.the_document()["data"]["checks"]
        (found,) = [check for check in checks if check["name"] == name]
        return found
