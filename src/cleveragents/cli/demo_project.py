"""Creates a small git repository for `agents demo`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from cleveragents.infrastructure.sandbox.git.command import Git


def make_repository(git: Git, root: Path, contents: Mapping[str, str]) -> None:
    """Creates a repository with one commit that has the given files."""
    root.mkdir(parents=True)
    for name, text in contents.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    here = git.at(root / ".git")
    here.run("init", "--quiet", "--template=", "--initial-branch=main")
    inside = here.with_variables(GIT_WORK_TREE=str(root))
    inside.run("add", "--all")
    inside.run("commit", "--quiet", "--message", "Start")
