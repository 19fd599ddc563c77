"""What can happen to the objects of a mirror, by the words that the features use."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from features.support.sandboxes.sandbox_bench import SandboxBench

Spoil = Callable[[bytes], bytes]


def loose(project: Path, mirror: Path, revision: str) -> Path:
    """Returns the mirror's file of an object that the project has in a file too."""
    asked = subprocess.run(
        ["git", "rev-parse", revision], cwd=project, capture_output=True, check=True, text=True
    )
    name = asked.stdout.strip()
    return mirror / "objects" / name[:2] / name[2:]


def spoil(path: Path, change: Spoil = lambda _: b"") -> None:
    """Puts other bytes in the place of a file, which other names of it do not get."""
    content = path.read_bytes()
    path.unlink()
    path.write_bytes(change(content))


def _object(revision: str, change: Spoil = lambda _: b"") -> Callable[[SandboxBench], None]:
    return lambda work: spoil(_made(work, revision), change)


def _made(work: SandboxBench, revision: str) -> Path:
    assert work.sandbox
    return loose(work.project, work.mirror, revision)


def _pack(work: SandboxBench) -> None:
    work.make_project()
    work.user("git repack -adq")
    assert work.sandbox
    (pack,) = work.user("cd .git/objects/pack; ls *.pack").split()
    spoil(work.mirror / "objects/pack" / pack, lambda content: content[:-30])


def _in_both(work: SandboxBench) -> None:
    path = _made(work, "HEAD:README.md")
    path.chmod(0o644)
    path.write_bytes(b"")


def _locked(work: SandboxBench) -> None:
    """A git fails on the mirror, though all objects are whole."""
    assert work.sandbox
    heads = work.mirror / "refs" / "heads"
    (heads / "cleveragents" / "plan-SECOND.lock").write_text("")


DAMAGE: dict[str, Callable[[SandboxBench], None]] = {
    "a file's object is empty": _object("HEAD:README.md"),
    "a file's object is cut off": _object("HEAD:README.md", lambda content: content[:-4]),
    "a file's object has other bytes": _object("HEAD:README.md", lambda content: content[::-1]),
    "the commit's object is empty": _object("HEAD"),
    "the tree's object is empty": _object("HEAD^{tree}"),
    "a pack is cut off": _pack,
    "a file's object is empty, and in the project too": _in_both,
    "the branch of the plan is locked": _locked,
}
