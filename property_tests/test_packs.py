"""Packs that we write are packs that git reads, whatever their size."""

from __future__ import annotations

import subprocess
import tempfile
import unittest
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from cleveragents.infrastructure.sandbox.git.objects import (
    NewObject,
    ObjectKind,
    _index_bytes,
    stored_pack,
)
from cleveragents.infrastructure.sandbox.store.lazy_tree import build_trees

names = st.binary(min_size=20, max_size=20)
entries = st.lists(
    st.tuples(names, st.integers(0, 2**32 - 1), st.integers(0, 2**40)),
    unique_by=lambda entry: entry[0],
)


class Packs(unittest.TestCase):
    @given(entries)
    def test_offsets_beyond_two_gibibytes_are_kept(
        self, entries: list[tuple[bytes, int, int]]
    ) -> None:
        index = _index_bytes(entries, b"\0" * 20)
        shown = subprocess.run(
            ["git", "show-index"], input=index, capture_output=True, check=True
        ).stdout.decode()
        found = [line.split() for line in shown.splitlines()]
        wanted = [[str(at), name.hex(), f"({crc:08x})"] for name, crc, at in sorted(entries)]
        self.assertEqual(found, wanted)

    @settings(max_examples=max(settings().max_examples // 4, 1))
    @given(st.lists(st.binary(max_size=5000), unique=True, min_size=1, max_size=20))
    def test_what_is_packed_is_what_git_unpacks(self, contents: list[bytes]) -> None:
        blobs = [NewObject.of(ObjectKind.BLOB, content) for content in contents]
        files = {
            f"d{number % 3}/{number}": ("100644", blob.id) for number, blob in enumerate(blobs)
        }
        _, trees = build_trees(files)
        with tempfile.TemporaryDirectory() as place:
            subprocess.run(["git", "init", "-q", "--bare", place], check=True)
            with stored_pack(Path(place) / "objects", [*blobs, *trees]):
                pass
            command = ["git", f"--git-dir={place}", "fsck", "--full", "--strict"]
            subprocess.run(command, check=True, capture_output=True)
            for blob in blobs:
                command = ["git", f"--git-dir={place}", "cat-file", "blob", blob.id]
                read = subprocess.run(command, check=True, capture_output=True).stdout
                self.assertEqual(read, blob.data)
