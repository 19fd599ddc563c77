"""What every `SnapshotStore` must do when it stores a sandbox and restores it.

Part of `cleveragents.testing.snapshots.CONTRACT`.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from cleveragents.domain.errors import ConflictError, SandboxMissingError, SnapshotMissingError
from cleveragents.domain.sandboxes.sandbox import ChangeAction
from cleveragents.testing.expectations import (
    expect,
    expect_error,
    expect_same,
)
from cleveragents.testing.snapshots.workspace import (
    ODD_NAMES,
    UNKNOWN,
    Capability,
    MakeSandbox,
)
from cleveragents.testing.trees import read_tree
from cleveragents.testing.workspace import LostLease


def bytes_come_back(make_sandbox: MakeSandbox) -> None:
    """Every byte of changed, emptied and deleted files is there again."""
    work = make_sandbox()
    for name, content in {"lf": b"a\n", "crlf": b"a\r\n", "nul": b"\0" * 9, "empty": b""}.items():
        work.write(f"in/{name}", content)
    before, kept = read_tree(work.root), work.store()
    work.write("in/lf", b"changed")
    work.write("in/crlf", b"a\n")
    work.write("in/nul", b"")
    (work.root / "in/empty").unlink()
    work.restore(kept)
    expect_same(read_tree(work.root), before)


def equal_states_are_one_snapshot(make_sandbox: MakeSandbox) -> None:
    """Nothing changed, or changed and changed back, gives the same snapshot and stores nothing."""
    work = make_sandbox()
    first = work.acts().snapshot()
    work.write("extra").unlink()
    second = work.acts().snapshot()
    expect(second.snapshot_id, first.snapshot_id)
    expect(second.state_hash, first.state_hash)
    expect(second.size_bytes, 0)


def different_states_have_different_hashes(make_sandbox: MakeSandbox) -> None:
    """Other bytes, another mode, another name and an empty directory each change the hash."""
    work = make_sandbox()
    file = work.write("file", b"1")

    def state_hash() -> str:
        return work.acts().snapshot().state_hash

    seen = [state_hash()]
    file.write_bytes(b"2")
    seen.append(state_hash())
    file.chmod(0o600)
    seen.append(state_hash())
    file = file.rename(work.root / "other")
    seen.append(state_hash())
    (work.root / "empty").mkdir()
    seen.append(state_hash())
    expect(len(set(seen)), len(seen))
    (work.root / "empty").rmdir()
    expect(state_hash(), seen[-2])


def taking_one_changes_nothing(make_sandbox: MakeSandbox) -> None:
    """The sandbox has the same bytes, modes, inodes and times afterwards."""
    work = make_sandbox()
    work.write("deep/er/file").chmod(0o640)
    before = (read_tree(work.root), _stamps(work.root))
    work.store()
    expect((read_tree(work.root), _stamps(work.root)), before)


def _stamps(root: Path) -> dict[str, tuple[int, int]]:
    statuses = {str(path): path.lstat() for path in root.rglob("*")}
    return {path: (status.st_ino, status.st_mtime_ns) for path, status in statuses.items()}


def permission_bits_come_back(make_sandbox: MakeSandbox) -> None:
    """All bits of files and directories, of the sandbox's own directory too."""
    work = make_sandbox()
    for mode in (0o600, 0o640, 0o444, 0o755, 0o711, 0o4755):
        work.write(f"file-{mode:o}").chmod(mode)
    for mode in (0o700, 0o555, 0o1777, 0o2750):
        work.write(f"directory-{mode:o}/inside").parent.chmod(mode)
    work.root.chmod(0o750)
    before, kept = read_tree(work.root), work.store()
    for path in (work.root, *work.root.iterdir()):
        if path.name != ".git":
            path.chmod(0o777)
    work.restore(kept)
    expect_same(read_tree(work.root), before)


def links_come_back_as_links(make_sandbox: MakeSandbox) -> None:
    """Relative, absolute, dangling, looping and upward links keep their targets."""
    work = make_sandbox()
    targets = {"up": "..", "self": "self", "dangling": "no/where", "absolute": "/", "to": "up"}
    for name, target in {**targets, "long": "x" * 2000}.items():
        (work.root / name).symlink_to(target)
    before, kept = read_tree(work.root), work.store()
    for name in targets:
        (work.root / name).unlink()
    (work.root / "up").symlink_to("elsewhere")
    work.write("self")
    work.restore(kept)
    expect_same(read_tree(work.root), before)


def empty_directories_come_back(make_sandbox: MakeSandbox) -> None:
    """Those removed are made again, those that came later go."""
    work = make_sandbox()
    (work.root / "empty/nested").mkdir(parents=True)
    (work.root / "filled").mkdir()
    before, kept = read_tree(work.root), work.store()
    shutil.rmtree(work.root / "empty")
    work.write("filled/file")
    (work.root / "later/nested").mkdir(parents=True)
    work.restore(kept)
    expect_same(read_tree(work.root), before)


def odd_names_come_back(make_sandbox: MakeSandbox) -> None:
    """Any byte a file system allows may be in a name, of a file or a directory."""
    work = make_sandbox()
    for name in ODD_NAMES:
        work.write(name, name.encode(errors="surrogateescape"))
        work.write(f"in/{name[:200]}.d/{name}")
    before, kept = read_tree(work.root), work.store()
    shutil.rmtree(work.root / "in")
    for name in ODD_NAMES[::2]:
        work.write(name, b"changed")
    for name in ODD_NAMES[1::2]:
        (work.root / name).unlink()
    work.restore(kept)
    expect_same(read_tree(work.root), before)


def types_may_be_swapped(make_sandbox: MakeSandbox) -> None:
    """Files, directories and links may each have become either of the others."""
    work = make_sandbox()
    kinds = ("file", "directory", "link")
    swaps = [(old, new) for old in kinds for new in kinds if old != new]
    for old, new in swaps:
        work.make(f"{old}-to-{new}", old)
    before, kept = read_tree(work.root), work.store()
    for old, new in swaps:
        work.remove(f"{old}-to-{new}")
        work.make(f"{old}-to-{new}", new)
    work.restore(kept)
    expect_same(read_tree(work.root), before)


def what_came_later_is_removed(make_sandbox: MakeSandbox) -> None:
    """Files and directories made after the snapshot are gone after the rollback, and said to be."""
    work = make_sandbox()
    kept = work.store()
    work.write("later")
    work.write("directory/deep/later")
    report = work.restore(kept)
    removed = {change.file for change in report.changes if change.action is ChangeAction.REMOVED}
    expect(removed, {"later", "directory/deep/later"})
    expect((work.root / "directory").exists(), False)


def a_rollback_can_be_undone(make_sandbox: MakeSandbox) -> None:
    """Back and forth between two snapshots, any number of times."""
    work = make_sandbox()
    old_tree, old = read_tree(work.root), work.store()
    work.write("new/file").chmod(0o600)
    (work.root / "empty").mkdir()
    new_tree, new = read_tree(work.root), work.store()
    for _ in range(2):
        work.restore(old)
        expect_same(read_tree(work.root), old_tree)
        work.restore(new)
        expect_same(read_tree(work.root), new_tree)


def hidden_edits_are_seen(make_sandbox: MakeSandbox) -> None:
    """An edit that keeps size and modification time is an edit."""
    work = make_sandbox()
    place = work.write("file", b"one\n")
    first, status = work.store(), place.stat()
    place.write_bytes(b"two\n")
    os.utime(place, ns=(status.st_atime_ns, status.st_mtime_ns))
    second = work.store()
    expect(first == second, False)
    work.restore(first)
    expect(place.read_bytes(), b"one\n")
    work.restore(second)
    expect(place.read_bytes(), b"two\n")


def previews_come_true(make_sandbox: MakeSandbox) -> None:
    """A preview changes nothing, and names just what the rollback then does."""
    work = make_sandbox()
    work.write("changed")
    work.write("deleted")
    kept = work.store()
    work.write("changed", b"other")
    work.write("added")
    (work.root / "deleted").unlink()
    before = read_tree(work.root)
    preview = work.acts().preview(kept)
    expect_same(read_tree(work.root), before)
    expect(
        {change.file: change.action for change in preview.changes},
        {
            "added": ChangeAction.REMOVED,
            "changed": ChangeAction.RESTORED,
            "deleted": ChangeAction.RESTORED,
        },
    )
    expect(work.restore(kept).changes, preview.changes)


def untouched_files_keep_their_identity(make_sandbox: MakeSandbox) -> None:
    """What the rollback need not write keeps inode and modification time."""
    work = make_sandbox()
    place = work.write("same")
    kept, before = work.store(), place.stat()
    work.write("other")
    work.restore(kept)
    after = place.stat()
    expect((after.st_ino, after.st_mtime_ns), (before.st_ino, before.st_mtime_ns))


def nothing_outside_is_written(make_sandbox: MakeSandbox) -> None:
    """A directory that was replaced by a link to elsewhere does not lead a rollback there."""
    work = make_sandbox()
    work.write("directory/file", b"mine")
    kept = work.store()
    outside = work.root.parent / "outside"
    outside.mkdir()
    (outside / "file").write_bytes(b"theirs")
    before = read_tree(outside)
    shutil.rmtree(work.root / "directory")
    (work.root / "directory").symlink_to(outside)
    work.restore(kept)
    expect_same(read_tree(outside), before)
    expect((work.root / "directory/file").read_bytes(), b"mine")
    expect((work.root / "directory").is_symlink(), False)


def other_names_of_a_file_are_left_alone(make_sandbox: MakeSandbox) -> None:
    """A file that also has a name outside is replaced, not written into."""
    work = make_sandbox()
    work.needs(Capability.PLAIN_DIRECTORY)
    work.write("file", b"one")
    kept = work.store()
    outside = work.root.parent / "other-name"
    outside.write_bytes(b"two")
    outside.chmod(0o600)
    (work.root / "file").unlink()
    (work.root / "file").hardlink_to(outside)
    work.restore(kept)
    expect((work.root / "file").read_bytes(), b"one")
    expect((outside.read_bytes(), outside.stat().st_mode & 0o777), (b"two", 0o600))


def special_files_are_named(make_sandbox: MakeSandbox) -> None:
    """A FIFO cannot be captured: it is listed, stays, and neither hangs nor stops anything."""
    work = make_sandbox()
    work.write("file")
    os.mkfifo(work.root / "fifo")
    made = work.acts().snapshot()
    expect([item.path for item in made.not_captured], ["fifo"])
    work.write("file", b"changed")
    report = work.restore(made.snapshot_id)
    expect([item.path for item in report.left_alone], ["fifo"])
    expect((work.root / "fifo").is_fifo(), True)


def snapshots_stand_alone(make_sandbox: MakeSandbox) -> None:
    """Deleting all others takes nothing from the one that is kept."""
    work = make_sandbox()
    others: list[str] = []
    for number in range(3):
        work.write(f"file-{number}")
        others.append(work.store())
    before, kept = read_tree(work.root), others.pop()
    acts = work.acts()
    for gone in ([], others, others):
        acts.delete(gone)
    expect(list(acts.ids()), [kept])
    acts.verify(kept)
    (work.root / "file-0").unlink()
    work.write("file-1", b"changed")
    work.restore(kept)
    expect_same(read_tree(work.root), before)


def snapshots_outlive_the_process(make_sandbox: MakeSandbox) -> None:
    """A store that is opened again knows them all."""
    work = make_sandbox()
    expect(list(work.acts().ids()), [])
    first = work.store()
    work.write("file")
    second = work.store()
    expect(set(work.acts().ids()), {first, second})


def unknown_snapshots_are_missing(make_sandbox: MakeSandbox) -> None:
    """What is not stored is said to be missing, and nothing is touched."""
    work = make_sandbox()
    work.write("file")
    before, acts = read_tree(work.root), work.acts()
    for act in (acts.verify, acts.preview, acts.restore):
        expect_error(SnapshotMissingError, lambda act=act: act(UNKNOWN))
    expect_same(read_tree(work.root), before)


def missing_sandboxes_are_refused(make_sandbox: MakeSandbox) -> None:
    """Without a sandbox nothing is stored or restored; what is stored can still be read."""
    work = make_sandbox()
    work.needs(Capability.PLAIN_DIRECTORY)
    kept, acts = work.store(), work.acts()
    work.root.rename(work.root.with_name("moved"))
    expect_error(SandboxMissingError, acts.snapshot)
    expect_error(SandboxMissingError, lambda: acts.preview(kept))
    expect_error(SandboxMissingError, lambda: acts.restore(kept))
    acts.verify(kept)
    expect(acts.diff(kept, kept).files, ())


def lost_leases_lock_nothing(make_sandbox: MakeSandbox) -> None:
    """A process that lost the plan gets no sandbox to change; what is stored can be read."""
    work = make_sandbox()
    kept = work.store()

    def lock() -> None:
        with work.open_store().lock(work.sandbox, LostLease(work.sandbox.plan_id)):
            work.write("late")

    expect_error(ConflictError, lock)
    expect((work.root / "late").exists(), False)
    work.acts().verify(kept)


def repeated_rollbacks_find_nothing_to_do(make_sandbox: MakeSandbox) -> None:
    """The second time, there is nothing left to change."""
    work = make_sandbox()
    work.write("file")
    kept = work.store()
    work.write("file", b"changed")
    expect(len(work.restore(kept).changes), 1)
    expect(work.restore(kept).changes, ())


CONTRACT: tuple[Callable[[MakeSandbox], None], ...] = (
    bytes_come_back,
    equal_states_are_one_snapshot,
    different_states_have_different_hashes,
    taking_one_changes_nothing,
    permission_bits_come_back,
    links_come_back_as_links,
    empty_directories_come_back,
    odd_names_come_back,
    types_may_be_swapped,
    what_came_later_is_removed,
    a_rollback_can_be_undone,
    hidden_edits_are_seen,
    previews_come_true,
    untouched_files_keep_their_identity,
    nothing_outside_is_written,
    other_names_of_a_file_are_left_alone,
    special_files_are_named,
    snapshots_stand_alone,
    snapshots_outlive_the_process,
    unknown_snapshots_are_missing,
    missing_sandboxes_are_refused,
    lost_leases_lock_nothing,
    repeated_rollbacks_find_nothing_to_do,
)
