"""Trees in memory, their names, and which directories there are, against plain models and git."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import unittest
from fnmatch import fnmatchcase
from pathlib import Path

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cleveragents.domain.sandboxes.patterns import PathPatterns
from cleveragents.infrastructure.sandbox.files.live_tree import KnownDirectories
from cleveragents.infrastructure.sandbox.git.objects import (
    EMPTY_TREE,
    NewObject,
    escaped,
    shown,
    stored_pack,
    unescaped,
)
from cleveragents.infrastructure.sandbox.store.lazy_tree import (
    DIRECTORY,
    LazyTree,
    Node,
    build_trees,
    tree_changes,
    tree_entries,
)

EMPTY_BLOB = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
NODES = (("100644", EMPTY_BLOB), ("100755", EMPTY_BLOB), ("120000", EMPTY_BLOB))
LOOKALIKES = (
    *(".git", ".GIT", ".giT", "git~1", "GIT~1", ".git.", ".git ", ".git. . ", ".git:x", "git~1:x"),
    *("a\\.git", ".git\\x", "a\\git~1 ", ".g\u200cit", "\ufeff.git", ".git\u202e", "%escaped-x"),
    *("%escaped-.git", "%escaped-", "%5c", "%25", "%255c", ".gitx", "git~2", "\\", "%escaped-%5c"),
    os.fsdecode(b"\xff.git"),
)
characters = st.sampled_from("abg.iGt~1 \\:%-5c\u200c\udcff\u00e9escapd2")
names = st.sampled_from(LOOKALIKES) | st.text(characters, min_size=1, max_size=12).filter(
    lambda name: name not in (".", "..") and os.fsencode(name)
)
paths = st.lists(st.sampled_from("abc") | names, min_size=1, max_size=4).map("/".join)
acts = st.lists(st.tuples(paths, st.sampled_from((*NODES, None))), max_size=30)
Files = dict[str, Node]


class Store:
    """Tree objects by their names."""

    def __init__(self) -> None:
        self.objects: dict[str, NewObject] = {}

    def read(self, object_id: str) -> bytes:
        return self.objects[object_id].data or b""

    def keep(self, tree: LazyTree) -> str:
        root, made = tree.flush()
        self.objects |= {item.id: item for item in made}
        return root

    def of(self, files: Files) -> str:
        tree = LazyTree(EMPTY_TREE, self.read)
        for path, node in files.items():
            tree.put(path, node)
        return self.keep(tree)


def put(files: Files, path: str, node: Node) -> None:
    """What putting a file somewhere means, in plain words."""
    parts = path.split("/")
    above = {"/".join(parts[:length]) for length in range(1, len(parts))}
    for other in [*files]:
        if other in above or other.startswith(f"{path}/"):
            del files[other]
    files[path] = node


def remove(files: Files, path: str) -> None:
    for other in [*files]:
        if other == path or other.startswith(f"{path}/"):
            del files[other]


class Trees(unittest.TestCase):
    @given(st.lists(acts, max_size=4))
    def test_a_lazy_tree_is_what_was_put_into_it(
        self, rounds: list[list[tuple[str, Node | None]]]
    ) -> None:
        store, files = Store(), Files()
        tree = LazyTree(EMPTY_TREE, store.read)
        for acts in rounds:
            for path, node in acts:
                if node is None:
                    tree.remove(path)
                    remove(files, path)
                else:
                    tree.put(path, node)
                    put(files, path, node)
            root = store.keep(tree)
            self.assertEqual(dict(tree.files()), files)
            self.assertEqual(root, store.of(files))
            self.assertEqual(dict(LazyTree(root, store.read).files()), files)
            tree = LazyTree(root, store.read)

    @given(acts, acts)
    def test_changes_between_trees_are_the_changes_of_their_files(
        self, first: list[tuple[str, Node | None]], second: list[tuple[str, Node | None]]
    ) -> None:
        store, before, after = Store(), Files(), Files()
        for files, acts in ((before, first), (after, second)):
            for path, node in acts:
                (put(files, path, node) if node else remove(files, path))
        found = list(tree_changes(store.read, store.of(before), store.of(after)))
        self.assertEqual(len(found), len({path for path, _, _ in found}))
        for path, old, new in found:
            self.assertEqual(before.get(path), None if old and old[0] == DIRECTORY else old)
            self.assertEqual(after.get(path), None if new and new[0] == DIRECTORY else new)
        differing = {
            path for path in before.keys() | after.keys() if before.get(path) != after.get(path)
        }
        self.assertLessEqual(differing, {path for path, _, _ in found})

    @given(st.dictionaries(names, st.sampled_from(NODES)))
    def test_a_tree_object_is_read_back(self, entries: dict[str, Node]) -> None:
        tree, made = build_trees(entries)
        contents = {item.id: item.data or b"" for item in made}
        self.assertEqual(tree_entries(lambda object_id: contents[object_id], tree), entries)

    @given(names, names)
    def test_no_two_names_are_stored_as_one(self, one: str, other: str) -> None:
        self.assertEqual(unescaped(escaped(one)), one)
        self.assertEqual(shown(f"a/{escaped(one)}"), f"a/{one}")
        assume(one != other)
        self.assertNotEqual(escaped(one), escaped(other))


class TreesInGit(unittest.TestCase):
    """What git itself makes of our trees."""

    def setUp(self) -> None:
        self.place = Path(tempfile.mkdtemp(prefix="cleveragents-trees-"))
        self._git("init", "-q", "--bare")
        self._git("hash-object", "-w", "-t", "blob", "--stdin")

    def tearDown(self) -> None:
        shutil.rmtree(self.place)

    def _git(self, *arguments: str, stdin: bytes = b"") -> bytes:
        done = subprocess.run(
            ["git", f"--git-dir={self.place}", *arguments],
            cwd=self.place,
            input=stdin,
            capture_output=True,
            check=False,
        )
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        return done.stdout

    @settings(max_examples=40)
    @given(acts)
    def test_git_lists_what_was_put_and_finds_nothing_wrong(
        self, todo: list[tuple[str, Node | None]]
    ) -> None:
        store, files = Store(), Files()
        for path, node in todo:
            put(files, path, node or NODES[0])
        assume(files)
        root = store.of(files)
        with stored_pack(self.place / "objects", store.objects.values()):
            pass
        listing = self._git("ls-tree", "-r", "-z", "--full-tree", root).split(b"\0")[:-1]
        found = {os.fsdecode(name): head.split()[0] for head, _, name in _parts(listing)}
        self.assertEqual({shown(path) for path in found}, files.keys())
        self.assertEqual(self._git("mktree", "-z", stdin=self._listed(root)), f"{root}\n".encode())
        self._git("fsck", "--strict", "--no-dangling", root)

    def _listed(self, root: str) -> bytes:
        return self._git("ls-tree", "-z", root)


def _parts(listing: list[bytes]) -> list[tuple[bytes, bytes, bytes]]:
    return [line.partition(b"\t") for line in listing]


words = st.lists(st.sampled_from(("a", "b", "ab", "a*", "*", "?b", "[ab]")), min_size=1, max_size=3)


class Patterns(unittest.TestCase):
    @given(st.lists(words.map("/".join)), words.map("/".join))
    def test_a_wanted_path_fits_a_pattern_at_its_top_or_a_name_of_it(
        self, patterns: list[str], path: str
    ) -> None:
        parts = path.split("/")
        tops = ["/".join(parts[:length]) for length in range(1, len(parts) + 1)]
        expected = any(
            (len(each := pattern.split("/")) == 1 and any(fnmatchcase(p, pattern) for p in parts))
            or any(
                len(each) == len(top.split("/"))
                and all(fnmatchcase(p, q) for p, q in zip(top.split("/"), each, strict=True))
                for top in tops
            )
            for pattern in patterns
        )
        self.assertEqual(PathPatterns(patterns).takes(path), expected)

    @given(st.lists(words.map("/".join)), words, words)
    def test_what_is_wanted_by_its_path_is_looked_for(
        self, patterns: list[str], above: list[str], below: list[str]
    ) -> None:
        wanted = PathPatterns([pattern for pattern in patterns if "/" in pattern])
        directory, path = "/".join(above), "/".join([*above, *below])
        if wanted.takes(path):
            self.assertTrue(wanted.takes(directory) or wanted.may_take_below(directory))


directories = st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map("/".join)


class KnownDirectoriesTest(unittest.TestCase):
    @given(st.lists(st.tuples(directories, st.booleans())))
    def test_a_directory_goes_with_all_below_it(self, acts: list[tuple[str, bool]]) -> None:
        known, model = KnownDirectories({}), dict[str, int]()
        for number, (path, adds) in enumerate(acts):
            parents = ["/".join(path.split("/")[:n]) for n in range(1, path.count("/") + 2)]
            if adds:
                for each in parents:
                    known.add(each, number)
                    model[each] = number
            elif path in model:
                gone = [each for each in model if each == path or each.startswith(f"{path}/")]
                self.assertEqual(sorted(known.remove(path)), sorted(gone))
                model = {each: inode for each, inode in model.items() if each not in gone}
            self.assertEqual(known.inodes, model)
            inside = {each for each in model if each.rpartition("/")[0] == "a"}
            self.assertEqual(known.inside.get("a", set()), inside)
            anew = KnownDirectories(model)
            self.assertEqual(anew.inodes, model)
            self.assertEqual(anew.inside.get("a", set()), inside)


if __name__ == "__main__":
    unittest.main()
