"""A repository whose objects are in one pack, and what may be wrong with that."""

from __future__ import annotations

import os
import random
import struct
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from cleveragents.infrastructure.sandbox.pack_reading import Packs

_WAYS: Mapping[str, tuple[str, ...]] = {
    "whole": ("--depth=0",),
    "as differences to what is before": ("--depth=9",),
    "as differences to what has a name": ("--depth=9",),
    "under an index too large to be kept": ("--depth=9",),
}
_NAMES = 8 + 1024
_LINES = 400


class Packed:
    """The repository, and what was read of it without git."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._chance = random.Random(1)
        self._git("init", "-q", "--initial-branch=main")
        self.packs = Packs(place / ".git/objects/pack")
        self.found: dict[str, bytes | None] = {}

    def pack(self, way: str, versions: int = 8) -> None:
        lines = [f"{self._chance.getrandbits(256):x}" for _ in range(_LINES)]
        for _ in range(versions):
            lines[self._chance.randrange(_LINES)] = "changed"
            self._write("file", "\n".join(lines))
        if "too large" in way:
            for number in range(2_500):
                (self._place / f"{number}").write_text(f"{number}")
        self.commit()
        named = str("name" not in way).lower()
        setting = ("-c", f"repack.useDeltaBaseOffset={named}")
        self._git(*setting, "repack", "-adfq", "--window=50", *_WAYS[way])

    def commit(self) -> None:
        self._git("add", ".")
        self._git(
            "-c", "user.name=a", "-c", "user.email=a@a", "commit", "-qm", "more", "--allow-empty"
        )

    def pack_another(self) -> None:
        self._write("another", "a version\n")
        self._git("repack", "-dq")

    def combine(self) -> None:
        self._git("repack", "-adq")

    def special(self, what: str) -> str:
        """Makes an object that is out of the ordinary; returns its name."""
        return _SPECIAL[what](self)

    def read_all(self) -> None:
        listing = self._git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
        self.found = {name: self.packs.read(name) for name in listing.decode().split()}

    def said_by_git(self, name: str) -> bytes:
        kind = self._git("cat-file", "-t", name).decode().strip()
        return self._git("cat-file", kind, name)

    def damage(self, file: str, damage: str) -> None:
        """Remembers what git says first: afterwards it cannot."""
        (path,) = (self._place / ".git/objects/pack").glob(f"*.{_SUFFIXES[file]}")
        self.read_all()
        self.truth = {name: self.said_by_git(name) for name in self.found}
        path.chmod(0o600)
        _DAMAGES[damage](path)

    def read_again(self) -> None:
        packs = Packs(self._place / ".git/objects/pack")
        self.found = {name: packs.read(name) for name in self.found}

    def loose(self) -> str:
        return self._git("hash-object", "-w", "--stdin", stdin=b"loose").decode().strip()

    def tag(self) -> str:
        self._git("-c", "user.name=a", "-c", "user.email=a@a", "tag", "-am", "a tag", "first")
        self._git("repack", "-adq")
        return self._git("rev-parse", "first").decode().strip()

    def large(self) -> str:
        self._write("large", "x" * (2 << 20))
        self._git("repack", "-adq")
        return self._git("rev-parse", "HEAD:large").decode().strip()

    def chain(self) -> str:
        """Has each version stored as a difference to the one after it."""
        self.pack("whole", versions=60)
        self._git("repack", "-adfq", "--depth=60", "--window=100")
        (pack,) = (self._place / ".git/objects/pack").glob("*.idx")
        rows = [line.split() for line in self._git("verify-pack", "-v", str(pack)).splitlines()]
        deltas = {int(row[5]): row[0].decode() for row in rows if len(row) == 7}
        return deltas[max(deltas)]

    def _write(self, name: str, text: str) -> None:
        (self._place / name).write_text(text)
        self.commit()

    def _git(self, *arguments: str, stdin: bytes = b"") -> bytes:
        variables = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        command = ["git", "-C", str(self._place), *arguments]
        done = subprocess.run(
            command, input=stdin, env=os.environ | variables, capture_output=True, check=True
        )
        return done.stdout


def _cut_short(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _make_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _make_link(path: Path) -> None:
    elsewhere = path.with_suffix(".elsewhere")
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


def _count_too_much(path: Path) -> None:
    content = bytearray(path.read_bytes())
    for byte in range(1, 256, 2):
        struct.pack_into(">I", content, 8 + 4 * byte, 1 << 30)
    path.write_bytes(content)


def _point_far(path: Path) -> None:
    content = bytearray(path.read_bytes())
    (count,) = struct.unpack_from(">I", content, _NAMES - 4)
    for number in range(count):
        struct.pack_into(">I", content, _NAMES + 24 * count + 4 * number, 1 << 31)
    path.write_bytes(content)


def _change_version(path: Path) -> None:
    path.write_bytes(b"\0" * 8 + path.read_bytes()[8:])


def _change_bytes(path: Path) -> None:
    content = bytearray(path.read_bytes())
    for place in range(200, len(content), 500):
        content[place] ^= 1
    path.write_bytes(content)


def _change_sizes(path: Path, by: int) -> None:
    """Changes what the first object says of its size, which begins in its first byte."""
    content = bytearray(path.read_bytes())
    content[12] = content[12] & 0xF0 | (content[12] + by) & 0x0F
    path.write_bytes(content)


_SUFFIXES = {"the index": "idx", "the pack": "pack"}
_DAMAGES: Mapping[str, Callable[[Path], None]] = {
    "is cut short": _cut_short,
    "is of another version": _change_version,
    "counts more than there can be": _count_too_much,
    "names places beyond 2 GB": _point_far,
    "is a pipe": _make_pipe,
    "is a link": _make_link,
    "is gone": Path.unlink,
    "has other bytes": _change_bytes,
    "holds more than it says": lambda path: _change_sizes(path, -1),
    "holds less than it says": lambda path: _change_sizes(path, 1),
}
_SPECIAL: Mapping[str, Callable[[Packed], str]] = {
    "an object that is not there": lambda _: "0" * 40,
    "something that is no name": lambda _: "HEAD",
    "an object in a file of its own": Packed.loose,
    "a tag": Packed.tag,
    "a file of 2 MB": Packed.large,
    "a long chain of differences": Packed.chain,
}
