"""What a user does by hand in the sandboxes of a scripted plan, between its steps."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import NamedTuple

from hypothesis import strategies as st

from cleveragents.domain.sandboxes.sandbox import SandboxRef
from property_tests.scripted_plan import BASE, WORK

FILES = ("begin.txt", "notes.txt", "old.txt", "end.txt", "store.py", "sub/kept.txt", "mine.txt")
"""Mostly what the plan's steps write, edit, move or delete."""
CONTENTS = (b"", b"mine\n", b"draft", b"draft draft", b"\0\xff", b"begun\n", b"large" * 5_000)
MODES = (0o644, 0o600, 0o755, 0o640, 0o4755)
DIRECTORIES = (".", "sub", "made", "mine")
DIRECTORY_MODES = (0o755, 0o700, 0o1777)

_fresh = count()
"""No two edits of a database leave it the same, so that equal rows mean equal bytes."""


class Edit(NamedTuple):
    """One act, with which of the choices there are for it."""

    act: str
    choice: int
    other: int


def edits() -> st.SearchStrategy[list[Edit]]:
    number = st.integers(0, 20)
    each = st.builds(Edit, st.sampled_from(sorted(_ACTS)), number, number)
    return st.lists(each, min_size=1, max_size=4)


def edit(sandboxes: Mapping[str, SandboxRef], todo: Edit) -> None:
    """Does it; what is impossible is left undone."""
    if todo.act not in _ON_DATABASE:
        _ACTS[todo.act](Path(sandboxes[WORK].path), todo)
    elif BASE in sandboxes:
        _ACTS[todo.act](Path(sandboxes[BASE].path), todo)


def _write(root: Path, todo: Edit) -> None:
    path = _cleared(root, todo)
    path.write_bytes(CONTENTS[todo.other % len(CONTENTS)])


def _remove(root: Path, todo: Edit) -> None:
    _cleared(root, todo)


def _chmod(root: Path, todo: Edit) -> None:
    path = _meant(root, todo)
    if path.is_file() and not path.is_symlink():
        path.chmod(MODES[todo.other % len(MODES)])


def _chmod_directory(root: Path, todo: Edit) -> None:
    path = root / DIRECTORIES[todo.choice % len(DIRECTORIES)]
    if path.is_dir():
        path.chmod(DIRECTORY_MODES[todo.other % len(DIRECTORY_MODES)])


def _link(root: Path, todo: Edit) -> None:
    _cleared(root, todo).symlink_to(("missing", "end.txt", "..")[todo.other % 3])


def _make_directory(root: Path, todo: Edit) -> None:
    path = _cleared(root, todo)
    (path / "deep" / "empty" if todo.other % 2 else path).mkdir(parents=True)


def _make_own(root: Path, todo: Edit) -> None:
    (root / "mine" / str(todo.other % 3)).mkdir(parents=True, exist_ok=True)


def _forbid(root: Path, todo: Edit) -> None:
    """Makes the steps of the plan that look for it fail."""
    (root / "stop").touch()


def _allow(root: Path, todo: Edit) -> None:
    (root / "stop").unlink(missing_ok=True)


def _reword(root: Path, todo: Edit) -> None:
    """Changes what a step reads for a later one."""
    (root / "words.txt").write_text(f"words {todo.other % 3}")


def _discard_work(root: Path, todo: Edit) -> None:
    made = root / "made"
    if made.is_dir():
        shutil.rmtree(made)
    if todo.other % 2:
        made.unlink(missing_ok=True)
        made.write_bytes(b"in the way")


def _insert(database: Path, todo: Edit) -> None:
    _execute(database, f"INSERT INTO goods VALUES ('mine {next(_fresh)}')")


def _update(database: Path, todo: Edit) -> None:
    rows = f"rowid % 2 = {todo.other % 2}"
    _execute(database, f"UPDATE goods SET name = 'changed {next(_fresh)}' WHERE {rows}")


def _execute(database: Path, statement: str) -> None:
    with closing(sqlite3.connect(database)) as connection:
        connection.execute(statement)
        connection.commit()


def _meant(root: Path, todo: Edit) -> Path:
    return root / FILES[todo.choice % len(FILES)]


def _cleared(root: Path, todo: Edit) -> Path:
    """Returns a path at which nothing is any more."""
    path = _meant(root, todo)
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    path.parent.mkdir(exist_ok=True)
    return path


_ON_DATABASE = ("insert", "update")
_ACTS: Mapping[str, Callable[[Path, Edit], None]] = {
    "write": _write,
    "remove": _remove,
    "chmod": _chmod,
    "chmod directory": _chmod_directory,
    "link": _link,
    "make directory": _make_directory,
    "make own": _make_own,
    "forbid": _forbid,
    "allow": _allow,
    "reword": _reword,
    "discard work": _discard_work,
    "insert": _insert,
    "update": _update,
}
