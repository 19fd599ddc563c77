"""Puts configuration files, sound and odd ones, where `agents` looks for them."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

from features.support.world import World

KEY = "sandbox.checkpoint.max-checkpoints-per-plan"
VARIABLE = "CLEVERAGENTS_CHECKPOINT_MAX_CHECKPOINTS_PER_PLAN"


def user_file(world: World) -> Path:
    return Path(world.environment["CLEVERAGENTS_HOME"]) / "config.toml"


def project_file(world: World) -> Path:
    return world.project / ".cleveragents" / "config.toml"


def store(path: Path, content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return path


def limits(world: World, user: str, project: str, variable: str) -> None:
    """Sets the limit on each level that does not say `default`."""
    for path, value in ((user_file(world), user), (project_file(world), project)):
        if value != "default":
            store(path, f"{KEY} = {value}\n")
    if variable != "default":
        world.environment[VARIABLE] = variable


def home_in_own_directory(world: World, content: str) -> None:
    """The usual arrangement: the home directory is `.cleveragents` in the user's own."""
    world.environment["CLEVERAGENTS_HOME"] = str(world.directory / ".cleveragents")
    store(user_file(world), content)


def odd_project_file(world: World, kind: str) -> None:
    path = project_file(world)
    path.parent.mkdir()
    elsewhere = store(world.directory / "elsewhere" / "config.toml", "")

    def linked_directory(target: Path) -> None:
        path.parent.rmdir()
        path.parent.symlink_to(target)

    kinds: dict[str, Callable[[], object]] = {
        "a link to another file": lambda: path.symlink_to(elsewhere),
        "in a linked directory": lambda: linked_directory(elsewhere.parent),
        "in a directory linked to itself": lambda: linked_directory(path.parent),
        "a named pipe": lambda: os.mkfifo(path),
        "a directory": path.mkdir,
        "larger than a megabyte": lambda: path.write_bytes(b"#" * (1024 * 1024 + 1)),
        "not text": lambda: path.write_bytes(b"# fine\n# \xff\n"),
        "choosing the database": lambda: path.write_text("core.database-url = 'sqlite:///x'"),
        "choosing the format": lambda: path.write_text("core.format = 'json'"),
    }
    kinds[kind]()


def odd_user_file(world: World, kind: str) -> None:
    path = user_file(world)
    if kind == "a link to itself":
        path.parent.mkdir()
        path.symlink_to(path.name)
    elif kind == "under a file":
        path.parent.write_text("in the way")
    else:
        store(path, kind.partition('"')[2].rstrip('"'))


def project_above(world: World, mark: str) -> None:
    """Moves the user into a directory inside a project that has the mark."""
    store(project_file(world), f"{KEY} = 20\n")
    if mark == "git repository":
        (world.project / ".git").mkdir()
    world.project = world.project / "deep" / "inside"
    world.project.mkdir(parents=True)


def full_disk(_: int) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
