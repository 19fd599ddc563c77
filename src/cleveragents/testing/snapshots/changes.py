"""What every `SnapshotStore` must say about differences between snapshots.

Part of `cleveragents.testing.snapshots.CONTRACT`.
"""

from __future__ import annotations

import os
import shutil
import tracemalloc
from collections.abc import Callable

from cleveragents.domain.errors import SnapshotMissingError
from cleveragents.domain.sandboxes.change import ChangeOperation
from cleveragents.testing.expectations import (
    ContractError,
    expect,
    expect_error,
)
from cleveragents.testing.snapshots.workspace import (
    ODD_NAMES,
    UNKNOWN,
    MakeSandbox,
)
from cleveragents.testing.trees import changes_by_hand, read_tree


def differences_are_told(make_sandbox: MakeSandbox) -> None:
    """Two snapshots are compared by file, with lines and a patch."""
    work = make_sandbox()
    work.write("changed", b"one\ntwo\n")
    work.write("deleted", b"one\n")
    work.write("executable")
    work.write("linked")
    work.write("directory/same")
    old = work.store()
    (work.root / "directory").chmod(0o700)
    work.write("changed", b"one\nthree\nfour\n")
    (work.root / "deleted").unlink()
    work.write("added", b"one\n")
    work.write("binary", b"\0\1")
    (work.root / "executable").chmod(0o755)
    (work.root / "linked").unlink()
    (work.root / "linked").symlink_to("changed")
    (work.root / "empty").mkdir()
    diff = work.acts().diff(old, work.store(), "in b/")
    expect(
        {file.path: (file.status, file.insertions, file.deletions) for file in diff.files},
        {
            "in b/added": ("added", 1, 0),
            "in b/binary": ("added", None, None),
            "in b/changed": ("modified", 2, 1),
            "in b/deleted": ("deleted", 0, 1),
            "in b/directory/": ("mode changed", 0, 0),
            "in b/empty/": ("added", 0, 0),
            "in b/executable": ("mode changed", 0, 0),
            "in b/linked": ("type changed", 1, 1),
        },
    )
    expect(
        [(patch.path, patch.text.split("\n")[0]) for patch in diff.patches],
        [
            (f"in b/{name}", f"diff --git a/in b/{name} b/in b/{name}")
            for name in ("added", "binary", "changed", "deleted", "executable", "linked", "linked")
        ],
    )
    expect("+three\n" in diff.patch, True)


def long_patches_are_cut(make_sandbox: MakeSandbox) -> None:
    """A patch has whole lines, says that it was cut, and is never in memory as a whole."""
    work = make_sandbox()
    old = work.store()
    for number in range(4):
        work.write(f"long {number}", b"0123456\n" * (1 << 20))
    new = work.store()
    tracemalloc.start()
    try:
        diff = work.acts().diff(old, new)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    expect(diff.patch_truncated, True)
    expect([patch.path for patch in diff.patches], ["long 0"])
    expect(diff.patches[0].text.splitlines()[-1], "+0123456")
    if peak > 16 << 20:
        raise ContractError(f"comparing took {peak} bytes of memory")


def changes_are_told_path_by_path(make_sandbox: MakeSandbox) -> None:
    """Every path that differs is named once, with its bytes and modes before and after."""
    work = make_sandbox()
    names = ("changed", "deleted", "closed", "linked", "replaced/in", "emptied/in", "kept/in")
    for name in (*names, *ODD_NAMES):
        work.write(name)
    (work.root / "link").symlink_to("old")
    (work.root / "vanishing/nested").mkdir(parents=True)
    (work.root / "filled").mkdir()
    before, old = read_tree(work.root), work.store()
    work.write("changed", b"other")
    work.write("new/deep/file").chmod(0o4750)
    work.write("nested/.git/config", b"[core]\n")
    work.write("filled/in")
    for name in ("deleted", "linked", "link", "emptied/in"):
        (work.root / name).unlink()
    for name in ("vanishing", "replaced"):
        shutil.rmtree(work.root / name)
    (work.root / "closed").chmod(0o600)
    (work.root / "kept").chmod(0o711)
    (work.root / "linked").symlink_to("changed")
    (work.root / "link").symlink_to("new")
    (work.root / "replaced").write_bytes(b"a file now")
    (work.root / "empty/nested").mkdir(parents=True)
    work.root.chmod(0o750)
    for number, name in enumerate(ODD_NAMES):
        (work.root / name).unlink() if number % 2 else work.write(name, b"other")
    after, new = read_tree(work.root), work.store()
    acts = work.acts()
    expect(list(acts.changes(old, new)), changes_by_hand(before, after))
    expect(list(acts.changes(new, old)), changes_by_hand(after, before))
    found = {change.path: change.operation for change in acts.changes(old, new)}
    told = {name: found.get(name) for name in (*names, "link", ".", "replaced", "empty", "filled")}
    expect(
        told,
        {
            "changed": ChangeOperation.MODIFIED,
            "deleted": ChangeOperation.DELETED,
            "closed": ChangeOperation.MODE_CHANGED,
            "linked": ChangeOperation.TYPE_CHANGED,
            "replaced/in": ChangeOperation.DELETED,
            "emptied/in": ChangeOperation.DELETED,
            "kept/in": None,
            "link": ChangeOperation.MODIFIED,
            ".": ChangeOperation.MODE_CHANGED,
            "replaced": ChangeOperation.TYPE_CHANGED,
            "empty": ChangeOperation.CREATED,
            "filled": None,
        },
    )


def changes_are_told_while_watching(make_sandbox: MakeSandbox) -> None:
    """A store that follows the sandbox tells the same, also after a rollback."""
    work = make_sandbox()
    work.write("deep/er/file")
    with work.watched() as acts:
        before, old = read_tree(work.root), acts.snapshot().snapshot_id
        work.write("deep/er/file", b"other").chmod(0o600)
        work.write("new/file")
        after, new = read_tree(work.root), acts.snapshot().snapshot_id
        expect(list(acts.changes(old, new)), changes_by_hand(before, after))
        acts.restore(old)
        again = acts.snapshot().snapshot_id
        expect(list(acts.changes(new, again)), changes_by_hand(after, before))
        expect(list(acts.changes(old, again)), [])


def equal_snapshots_need_no_look(make_sandbox: MakeSandbox) -> None:
    """Between a snapshot and itself nothing changed, whether it is there or not."""
    work = make_sandbox()
    acts = work.acts()
    expect(list(acts.changes(UNKNOWN, UNKNOWN)), [])
    kept = work.store()
    for old, new in ((kept, UNKNOWN), (UNKNOWN, kept)):
        expect_error(SnapshotMissingError, lambda old=old, new=new: acts.changes(old, new))


def special_files_count_as_nothing(make_sandbox: MakeSandbox) -> None:
    """A file that became a FIFO is gone, and so is what was in a directory that became one."""
    work = make_sandbox()
    work.write("file")
    work.write("directory/in")
    before, old = read_tree(work.root), work.store()
    (work.root / "file").unlink()
    shutil.rmtree(work.root / "directory")
    for name in ("file", "directory", "other"):
        os.mkfifo(work.root / name)
    after, new = read_tree(work.root), work.store()
    found = list(work.acts().changes(old, new))
    expect(found, changes_by_hand(before, after))
    expect([change.path for change in found], ["directory", "directory/in", "file"])


CONTRACT: tuple[Callable[[MakeSandbox], None], ...] = (
    differences_are_told,
    long_patches_are_cut,
    changes_are_told_path_by_path,
    changes_are_told_while_watching,
    equal_snapshots_need_no_look,
    special_files_count_as_nothing,
)
