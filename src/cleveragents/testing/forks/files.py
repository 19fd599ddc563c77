"""What every pair of `Sandboxes` and `SnapshotStore` must do when a sandbox is forked.

Each function takes `make_family`, which gives a sandbox of its own that holds at least one
file, and forks of it. `CONTRACT` lists them all; `cleveragents.testing.snapshots` says how such
functions are used.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from cleveragents.domain.errors import SandboxMissingError, SnapshotMissingError
from cleveragents.domain.sandboxes.sandbox import Evidence
from cleveragents.testing.expectations import expect, expect_error, expect_same
from cleveragents.testing.forks import git
from cleveragents.testing.forks.families import MakeFamily, expect_stored
from cleveragents.testing.snapshots.workspace import (
    ODD_NAMES,
    UNKNOWN,
    Capability,
    ContractWorkspace,
)
from cleveragents.testing.trees import Tree, read_tree
from cleveragents.testing.workspace import single_acts


def forks_are_exact(make_family: MakeFamily) -> None:
    """Bytes, permission bits, links, empty directories and odd names are those of the parent."""
    family = make_family()
    parent = family.parent
    _furnish(parent)
    kept, before = parent.store(), read_tree(parent.root)
    for child in family.forks(kept):
        expect_same(read_tree(child.root), before)
        expect_same(read_tree(parent.root), before)
        expect_stored(child, kept)


def _furnish(work: ContractWorkspace) -> None:
    for mode in (0o600, 0o444, 0o755, 0o4711):
        work.write(f"modes/file-{mode:o}").chmod(mode)
    for mode in (0o700, 0o555, 0o1777):
        work.write(f"modes/directory-{mode:o}/inside").parent.chmod(mode)
    for name in ODD_NAMES:
        work.write(f"odd/{name}", name.encode(errors="surrogateescape"))
    (work.root / "empty/nested").mkdir(parents=True)
    (work.root / "up").symlink_to("..")
    (work.root / "dangling").symlink_to("no/where")
    work.write("nothing", b"")
    work.write("large", os.urandom(300_000))
    work.root.chmod(0o750)


def forks_are_known_at_once(make_family: MakeFamily) -> None:
    """Where the sandbox is copied, a first snapshot of the fork does not read all files again."""
    family = make_family()
    family.parent.needs(Capability.PLAIN_DIRECTORY)
    kept = family.parent.store()
    child = family.fork("CHILD", kept)
    made = child.acts().snapshot()
    expect(made.evidence, Evidence.SCAN)
    child.write("later")
    changed = child.acts().changes(kept, child.store())
    expect([change.path for change in changed if change.path != "."], ["later"])


def forks_are_apart(make_family: MakeFamily) -> None:
    """What is done to one is not done to the other, whichever is written to, and how."""
    family = make_family()
    parent = family.parent
    for name in ("rewritten", "replaced", "deleted"):
        parent.write(f"in/{name}", b"before")
    kept, before = parent.store(), read_tree(parent.root)
    first, second = family.fork("CHILD1", kept), family.fork("CHILD2", kept)
    for work in (first, parent):
        work.write("in/rewritten", b"by one")
        work.write("in/new", b"by one").replace(work.root / "in/replaced")
        work.remove("in/deleted")
        work.write("in/more")
    expect_same(read_tree(second.root), before)
    expect_same(read_tree(first.root), read_tree(parent.root))
    for work in (first, second, parent):
        _goes_back(work, kept, before)


def _goes_back(work: ContractWorkspace, kept: str, before: Tree) -> None:
    """Rolls back to a snapshot of the parent, whose branch is no fork's."""
    if Capability.GIT_STATE not in work.capabilities:
        work.restore(kept)
        expect_same(read_tree(work.root), before)


def forks_follow_the_snapshot(make_family: MakeFamily) -> None:
    """Whatever the source has become since, the fork is what the snapshot says."""
    family = make_family()
    parent = family.parent
    for name in ("changed", "deleted", "mode", "to-link", "to-directory/in", "in/deep/er"):
        parent.write(name, b"then")
    for name in ("empty", "emptied", "to-file", "gone/empty"):
        (parent.root / name).mkdir(parents=True)
    kept, before = parent.store(), read_tree(parent.root)
    parent.write("changed", b"now!")
    parent.write("in/deep/er", b"now!")
    parent.write("new/in/side")
    (parent.root / "mode").chmod(0o755)
    (parent.root / "empty").chmod(0o700)
    for name in ("deleted", "to-link", "to-directory", "to-file", "gone", "in/deep/er"):
        parent.remove(name)
    parent.make("to-link", "link")
    parent.make("to-directory", "file")
    parent.make("to-file", "file")
    parent.write("emptied/no/longer")
    now = read_tree(parent.root)
    for child in family.forks(kept):
        expect_same(read_tree(child.root), before)
        expect_same(read_tree(parent.root), now)
        expect_stored(child, kept)
    parent.restore(kept)
    parent.root.chmod(0o711)
    for child in family.forks(kept):
        expect_same(read_tree(child.root), before)


def forks_need_no_source(make_family: MakeFamily) -> None:
    """When the sandbox is gone, the fork is made of what is stored."""
    family = make_family()
    parent = family.parent
    _furnish(parent)
    kept, before = parent.store(), read_tree(parent.root)
    family.sandboxes.remove(parent.sandbox)
    child = family.fork("CHILD", kept)
    expect_same(read_tree(child.root), before)
    expect_stored(child, kept)


def forks_can_be_made_again(make_family: MakeFamily) -> None:
    """One that was deleted is made again, also when the parent does not keep its snapshot."""
    family = make_family()
    parent = family.parent
    kept, before = parent.store(), read_tree(parent.root)
    child = family.fork("CHILD", kept)
    family.sandboxes.remove(child.sandbox)
    expect_error(SandboxMissingError, lambda: family.sandboxes.check(child.sandbox))
    parent.acts().delete([kept])
    again = family.fork("CHILD", kept)
    expect_same(read_tree(again.root), before)
    expect_stored(again, kept)


def forks_can_be_forked(make_family: MakeFamily) -> None:
    """A child's child starts from what its parent has come to."""
    family = make_family()
    child = family.fork("CHILD", family.parent.store())
    child.write("by/the/child")
    kept, before = child.store(), read_tree(child.root)
    grandchild = family.fork("GRANDCHILD", kept, child)
    expect_same(read_tree(grandchild.root), before)
    expect_stored(grandchild, kept)


def forks_go_on_while_watching(make_family: MakeFamily) -> None:
    """A source that is followed can be forked, as it was and as it is."""
    family = make_family()
    parent = family.parent
    for number, store in enumerate((family.store, parent.open_store())):
        acts = single_acts(store, parent.sandbox)
        with store.watched([parent.sandbox]):
            first, then = acts.snapshot().snapshot_id, read_tree(parent.root)
            parent.write(f"later{number}")
            second, now = acts.snapshot().snapshot_id, read_tree(parent.root)
            for kept, wanted in ((second, now), (first, then)):
                child = family.fork(f"CHILD{number}{kept[:8]}", kept)
                expect_same(read_tree(child.root), wanted)
            expect(list(acts.recheck()), [])


def unknown_snapshots_cannot_be_forked(make_family: MakeFamily) -> None:
    """A snapshot that nobody keeps is missing, and nothing of the attempt is left."""
    family = make_family()
    parent = family.parent
    parent.store()
    before = _surroundings(parent)
    expect_error(SnapshotMissingError, lambda: family.fork("CHILD", UNKNOWN))
    expect(_surroundings(parent), before)


def _surroundings(parent: ContractWorkspace) -> list[str]:
    sandboxes = parent.root.parent.parent
    store = Path(parent.sandbox.store)
    return sorted(str(path) for place in (sandboxes, store) for path in place.rglob("*"))


def special_files_are_not_forked(make_family: MakeFamily) -> None:
    """They are in no snapshot, so a fork has none; one that was copied names them."""
    family = make_family()
    parent = family.parent
    os.mkfifo(parent.write("in/file").with_name("pipe"))
    kept, before = parent.store(), read_tree(parent.root)
    del before["in/pipe"]
    for child in family.forks(kept):
        expect_same(read_tree(child.root), before)
        named = [item.path for item in child.sandbox.skipped]
        expect(named, ["in/pipe"] if child.sandbox.copied_by else [])
        expect(child.acts().snapshot().not_captured, ())


CONTRACT: tuple[Callable[[MakeFamily], None], ...] = (
    forks_are_exact,
    forks_are_known_at_once,
    forks_are_apart,
    forks_follow_the_snapshot,
    forks_need_no_source,
    forks_can_be_made_again,
    forks_can_be_forked,
    forks_go_on_while_watching,
    unknown_snapshots_cannot_be_forked,
    special_files_are_not_forked,
    *git.CONTRACT,
)
