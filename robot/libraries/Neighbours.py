"""What lies beside a person's repository and belongs to the same plan: files, and a database."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

from robot.api.deco import keyword, library

IDENTITY = ("-c", "user.name=Robot", "-c", "user.email=robot@example.invalid")


@library(scope="TEST", auto_keywords=False)
class Neighbours:
    """A directory and a database, and git as the person uses it."""

    @keyword("A Directory And A Database Lie Beside")
    def make_neighbours(self, repository: str) -> None:
        beside = Path(repository).parent
        (beside / "files").mkdir()
        (beside / "files" / "b.txt").write_text("old\n")
        self._execute(beside, "create table goods(number)")
        self._execute(beside, "insert into goods values (1)")

    @keyword("The Database Beside Gets The Number")
    def insert(self, repository: str, number: str) -> None:
        self._execute(Path(repository).parent, f"insert into goods values ({int(number)})")

    @keyword("The Database Beside Holds")
    def holds(self, repository: str, *numbers: str) -> None:
        place = Path(repository).parent / "app.db"
        with closing(sqlite3.connect(place)) as connection:
            found = [str(number) for (number,) in connection.execute("select number from goods")]
        if found != list(numbers):
            raise AssertionError(f"the database holds {found}")

    @keyword("The File Beside Says")
    def says(self, repository: str, text: str) -> None:
        found = (Path(repository).parent / "files" / "b.txt").read_text().strip()
        if found != text:
            raise AssertionError(f"the file says `{found}`")

    @keyword("The User Has Since Committed")
    def commit(self, repository: str, file: str, text: str) -> None:
        Path(repository, file).write_text(f"{text}\n")
        self._git(repository, "add", file)
        self._git(repository, *IDENTITY, "commit", "--quiet", "--message", "Mine")

    @keyword("Git Says In")
    def git_says(self, repository: str, expected: str, *arguments: str) -> None:
        found = "; ".join(self._git(repository, *arguments).splitlines())
        if found.strip() != expected:
            raise AssertionError(f"git says `{found}`, not `{expected}`")

    @keyword("The User Runs Git In")
    def run_git(self, repository: str, *arguments: str) -> None:
        self._git(repository, *arguments)

    def _execute(self, place: Path, statement: str) -> None:
        with closing(sqlite3.connect(place / "app.db")) as connection, connection:
            connection.execute(statement)

    def _git(self, repository: str, *arguments: str) -> str:
        clean = {name: text for name, text in os.environ.items() if not name.startswith("GIT_")}
        isolated = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
        done = subprocess.run(
            ["git", *arguments],
            cwd=repository,
            env=clean | isolated,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout
