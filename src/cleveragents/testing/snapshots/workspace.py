"""A sandbox to test a snapshot store on, and what a store may declare that it can do."""

from __future__ import annotations

import os
import shutil
import subprocess  # nosec B404 # the agent's own git, in a sandbox made for the test
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from cleveragents.testing.expectations import NotOfferedError
from cleveragents.testing.workspace import StoreWorkspace

UNKNOWN = "0123456789abcdef0123456789abcdef01234567"
"""The id of a snapshot that nobody has stored."""
ODD_NAMES = (
    *("new\nline", "tab\t", " leading", "trailing ", "-dash", "*", "?", "[a]", "~", "$HOME"),
    *(":(glob)x", ":!x", 'quo"te', "it's", "back\\slash", "#comment", "!not", "%s", "..."),
    *("\u00e9", "e\u0301", os.fsdecode(b"\xff\xfe not UTF-8"), "\u202egnp.exe", "n" * 255),
)


class Capability(StrEnum):
    """What a store may be able to do."""

    IGNORE_RULES = "leaves out what ignore rules name"
    GIT_STATE = "keeps HEAD, branch and index"
    HARD_LINKS = "keeps hard links together"
    MODIFICATION_TIMES = "keeps modification times"
    EXTENDED_ATTRIBUTES = "keeps extended attributes"
    PLAIN_DIRECTORY = "is an ordinary directory, not a mount"


@dataclass(frozen=True)
class ContractWorkspace(StoreWorkspace):
    """A store, and a sandbox of files to test it on."""

    capabilities: frozenset[Capability]
    environment: Mapping[str, str]
    """For programs that are run in the sandbox."""

    @property
    def root(self) -> Path:
        return Path(self.sandbox.path)

    def needs(self, capability: Capability) -> None:
        if capability not in self.capabilities:
            raise NotOfferedError(capability.value)

    def write(self, path: str, content: bytes = b"x\n") -> Path:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
        return place

    def make(self, name: str, kind: str) -> None:
        """Makes a file, a link or a directory with something in it."""
        if kind == "link":
            (self.root / name).symlink_to("target")
        else:
            self.write(name if kind == "file" else f"{name}/in/side")

    def remove(self, path: str) -> None:
        place = self.root / path
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink()

    def git_state(self) -> list[str]:
        """Returns `HEAD`, branch and index."""
        asked = (("rev-parse", "HEAD"), ("symbolic-ref", "HEAD"), ("ls-files", "--stage", "-v"))
        return [self.git(*question) for question in asked]

    def git(self, *arguments: str) -> str:
        done = subprocess.run(  # nosec B603 B607
            ["git", *arguments],
            cwd=self.root,
            env={**self.environment, **_IDENTITY},
            capture_output=True,
            check=True,
        )
        return os.fsdecode(done.stdout)


_IDENTITY = {
    "GIT_AUTHOR_NAME": "agent",
    "GIT_AUTHOR_EMAIL": "agent@example.invalid",
    "GIT_COMMITTER_NAME": "agent",
    "GIT_COMMITTER_EMAIL": "agent@example.invalid",
}
MakeSandbox = Callable[[], ContractWorkspace]
