"""The trees that are measured, and what an agent does to them.

Files of about 4 KB that compress like source, twenty to a directory, three
directories deep; a few that git cannot describe fully, so that a technique
which forgets permission bits or empty directories is found out.
"""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

from benchmarks.compare.results import Tree

_WORDS = ("plan", "step", "tool", "write", "read", "state", "tree", "commit", "value", "index")
_PER_DIRECTORY = 20
_IGNORED_PER_DIRECTORY = 50
_PRIVATE, _SCRIPT, _LINK, _EMPTY = "odd/private.txt", "odd/run.sh", "odd/current", "odd/empty"
_TARGETS = ("private.txt", "run.sh")


def paths_of(tree: Tree) -> list[str]:
    """Returns the ordinary files of a tree."""
    return [_path(number) for number in range(tree.files)]


def make_project(root: Path, tree: Tree) -> None:
    """Makes a packed git repository with one commit; what it ignores is not there yet."""
    chance = random.Random(tree.files)
    lines = [" ".join(chance.choices(_WORDS, k=8)) for _ in range(4_000)]
    for number, path in enumerate(paths_of(tree)):
        text = [f"# {number} {chance.getrandbits(64):x}", *chance.choices(lines, k=90)]
        _write(root / path, "\n".join(text))
    _write(root / ".gitignore", "node_modules/\n")
    _write(root / _PRIVATE, "a secret\n")
    _write(root / _SCRIPT, "#!/bin/sh\n")
    (root / _SCRIPT).chmod(0o755)
    (root / _LINK).symlink_to(_TARGETS[0])
    for command in (
        ("init", "--quiet", "--template=", "--initial-branch=main"),
        ("add", "--all"),
        ("-c", "user.name=b", "-c", "user.email=b@b", "commit", "--quiet", "--message=base"),
        ("repack", "-a", "-d", "--quiet"),
    ):
        _git("-C", str(root), "-c", "gc.auto=0", *command)


def check_out(project: Path, root: Path) -> None:
    """Makes a repository of its own with the project's files, as a user would get it."""
    several = ("-c", f"checkout.workers={os.cpu_count() or 1}")
    _git(*several, "clone", "--quiet", "--local", "--template=", str(project), str(root))


def _git(*arguments: str) -> None:
    """Runs git without the settings of whoever runs this."""
    variables = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *arguments], env=os.environ | variables, check=True)


def furnish(root: Path, tree: Tree) -> None:
    """Adds to a checkout what a commit cannot hold: ignored files, modes, empty directories."""
    for number in range(tree.ignored):
        directory = f"node_modules/m{number // _IGNORED_PER_DIRECTORY}"
        _write(root / directory / f"f{number}.js", f"module.exports = {number};\n" * 20)
    (root / _PRIVATE).chmod(0o600)
    (root / _EMPTY).mkdir()


def _path(number: int) -> str:
    directory = number // _PER_DIRECTORY
    return f"a{directory // 400}/b{directory // 20}/c{directory}/file{number}.py"


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


class Editor:
    """Changes one tree; editors of equal trees make the same changes in the same order."""

    def __init__(self, root: Path, tree: Tree) -> None:
        self._root = root
        self._paths = paths_of(tree)
        self._chance = random.Random(7)
        self._edits = 0

    def edit(self, count: int) -> None:
        """Appends a line to `count` files, or to all if there are fewer."""
        self._edits += 1
        for path in self._chosen(count):
            self._append(path)

    def edit_number(self, number: int) -> None:
        """Appends a line to always the same file."""
        self._edits += 1
        self._append(self._paths[number * _PER_DIRECTORY])

    def disturb(self, count: int) -> None:
        """Edits eight of ten files, deletes one, makes one; and whatever else a shell can do."""
        self._edits += 1
        for number, path in enumerate(self._chosen(count)):
            match number % 10:
                case 8:
                    (self._root / path).unlink(missing_ok=True)
                case 9:
                    new = Path(path).with_name(f"new{self._edits}") / "file.py"
                    _write(self._root / new, f"made in edit {self._edits}\n")
                case _:
                    self._append(path)
        self._turn_what_is_odd()

    def _chosen(self, count: int) -> list[str]:
        return self._chance.sample(self._paths, min(count, len(self._paths)))

    def _append(self, path: str) -> None:
        """Makes the file anew where a restore that is not exact has lost it."""
        (self._root / path).parent.mkdir(parents=True, exist_ok=True)
        with (self._root / path).open("a", encoding="utf-8") as stream:
            stream.write(f"# edit {self._edits}\n")

    def _turn_what_is_odd(self) -> None:
        """Gives each odd entry its other form, so that this works from whatever a restore left."""
        private, link, empty = (self._root / path for path in (_PRIVATE, _LINK, _EMPTY))
        private.chmod(0o640 if private.stat().st_mode & 0o777 == 0o600 else 0o600)
        script = self._root / _SCRIPT
        script.chmod(script.stat().st_mode & 0o777 ^ 0o111)
        target = str(link.readlink())
        link.unlink()
        link.symlink_to(_TARGETS[1 - _TARGETS.index(target)])
        if empty.exists():
            empty.rmdir()
        else:
            empty.mkdir()
