"""What every `SnapshotStore` must do, as plain functions that raise when it does not.

Each takes `make_sandbox`, which gives a store and a sandbox of its own that
holds at least one file. `CONTRACT` lists them all. What not every store can do
is a `Capability`, which the store declares; a function that needs one the store
does not have raises `NotOfferedError`, which a suite reports and does not count
as a failure.
"""

from __future__ import annotations

import os
import shutil
import tracemalloc
from collections.abc import Callable
from pathlib import Path

from cleveragents.domain.errors import SandboxMissingError, SnapshotMissingError
from cleveragents.domain.sandboxes.change import ChangeOperation
from cleveragents.domain.sandboxes.sandbox import ChangeAction
from cleveragents.testing import combining_contract, merge_contract
from cleveragents.testing.trees import changes_by_hand, read_tree
from cleveragents.testing.workplace import (
    ODD_NAMES,
    UNKNOWN,
    Capability,
    ContractError,
    ContractWorkspace,
    MakeSandbox,
    NotOfferedError,
    expect,
    expect_error,
    expect_same,
)

__all__ = [
    "CONTRACT",
    "Capability",
    "ContractError",
    "ContractWorkspace",
    "MakeSandbox",
    "NotOfferedError",
]


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
    first = work.open_store().create_checkpoint(work.sandbox)
    work.write("extra").unlink()
    second = work.open_store().create_checkpoint(work.sandbox)
    expect(second.snapshot_id, first.snapshot_id)
    expect(second.state_hash, first.state_hash)
    expect(second.size_bytes, 0)


def different_states_have_different_hashes(make_sandbox: MakeSandbox) -> None:
    """Other bytes, another mode, another name and an empty directory each change the hash."""
    work = make_sandbox()
    file = work.write("file", b"1")

    def state_hash() -> str:
        return work.open_store().create_checkpoint(work.sandbox).state_hash

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
    preview = work.open_store().preview(work.sandbox, kept)
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
    made = work.open_store().create_checkpoint(work.sandbox)
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
    store = work.open_store()
    for gone in ([], others, others):
        store.delete_checkpoint(work.sandbox, gone)
    expect(list(store.list_checkpoints(work.sandbox)), [kept])
    store.verify(work.sandbox, kept)
    (work.root / "file-0").unlink()
    work.write("file-1", b"changed")
    work.restore(kept)
    expect_same(read_tree(work.root), before)


def snapshots_outlive_the_process(make_sandbox: MakeSandbox) -> None:
    """A store that is opened anew knows them all."""
    work = make_sandbox()
    expect(list(work.open_store().list_checkpoints(work.sandbox)), [])
    first = work.store()
    work.write("file")
    second = work.store()
    expect(set(work.open_store().list_checkpoints(work.sandbox)), {first, second})


def unknown_snapshots_are_missing(make_sandbox: MakeSandbox) -> None:
    """What is not stored is said to be missing, and nothing is touched."""
    work = make_sandbox()
    work.write("file")
    before, store = read_tree(work.root), work.open_store()
    for act in (store.verify, store.preview, store.rollback_to):
        expect_error(SnapshotMissingError, lambda act=act: act(work.sandbox, UNKNOWN))
    expect_same(read_tree(work.root), before)


def missing_sandboxes_are_refused(make_sandbox: MakeSandbox) -> None:
    """Without a sandbox nothing is stored or restored; what is stored can still be read."""
    work = make_sandbox()
    work.needs(Capability.PLAIN_DIRECTORY)
    kept, store = work.store(), work.open_store()
    work.root.rename(work.root.with_name("moved"))
    expect_error(SandboxMissingError, lambda: store.create_checkpoint(work.sandbox))
    expect_error(SandboxMissingError, lambda: store.preview(work.sandbox, kept))
    expect_error(SandboxMissingError, lambda: store.rollback_to(work.sandbox, kept))
    store.verify(work.sandbox, kept)
    expect(store.diff(work.sandbox, kept, kept).files, ())


def repeated_rollbacks_find_nothing_to_do(make_sandbox: MakeSandbox) -> None:
    """The second time, there is nothing left to change."""
    work = make_sandbox()
    work.write("file")
    kept = work.store()
    work.write("file", b"changed")
    expect(len(work.restore(kept).changes), 1)
    expect(work.restore(kept).changes, ())


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
    diff = work.open_store().diff(work.sandbox, old, work.store(), "in b/")
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
        diff = work.open_store().diff(work.sandbox, old, new)
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
    store = work.open_store()
    expect(list(store.changes(work.sandbox, old, new)), changes_by_hand(before, after))
    expect(list(store.changes(work.sandbox, new, old)), changes_by_hand(after, before))
    found = {change.path: change.operation for change in store.changes(work.sandbox, old, new)}
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
    store = work.open_store()
    with store.watched([work.sandbox]):
        before, old = read_tree(work.root), store.create_checkpoint(work.sandbox).snapshot_id
        work.write("deep/er/file", b"other").chmod(0o600)
        work.write("new/file")
        after, new = read_tree(work.root), store.create_checkpoint(work.sandbox).snapshot_id
        expect(list(store.changes(work.sandbox, old, new)), changes_by_hand(before, after))
        store.rollback_to(work.sandbox, old)
        again = store.create_checkpoint(work.sandbox).snapshot_id
        expect(list(store.changes(work.sandbox, new, again)), changes_by_hand(after, before))
        expect(list(store.changes(work.sandbox, old, again)), [])


def equal_snapshots_need_no_look(make_sandbox: MakeSandbox) -> None:
    """Between a snapshot and itself nothing changed, whether it is there or not."""
    work = make_sandbox()
    store = work.open_store()
    expect(list(store.changes(work.sandbox, UNKNOWN, UNKNOWN)), [])
    kept = work.store()
    for old, new in ((kept, UNKNOWN), (UNKNOWN, kept)):
        expect_error(
            SnapshotMissingError, lambda old=old, new=new: store.changes(work.sandbox, old, new)
        )


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
    found = list(work.open_store().changes(work.sandbox, old, new))
    expect(found, changes_by_hand(before, after))
    expect([change.path for change in found], ["directory", "directory/in", "file"])


def what_was_left_out_is_no_change(make_sandbox: MakeSandbox) -> None:
    """A file that ignore rules begin or cease to name was neither deleted nor created."""
    work = make_sandbox()
    work.needs(Capability.IGNORE_RULES)
    work.write("run.log")
    work.write("cache/entry")
    bare = work.store()
    work.write(".gitignore", b"*.log\n/cache/\n")
    ignoring = work.store()
    store = work.open_store()
    for old, new, operation in (
        (bare, ignoring, ChangeOperation.CREATED),
        (ignoring, bare, ChangeOperation.DELETED),
    ):
        found = store.changes(work.sandbox, old, new)
        expect([(item.path, item.operation) for item in found], [(".gitignore", operation)])


def moves_of_git_are_no_changes(make_sandbox: MakeSandbox) -> None:
    """Another commit, branch or index is another snapshot, but no path has changed."""
    work = make_sandbox()
    work.needs(Capability.GIT_STATE)
    work.write("staged")
    old = work.store()
    work.git("add", "staged")
    work.git("commit", "-qm", "work")
    work.git("checkout", "-q", "-b", "elsewhere")
    new = work.store()
    expect(old == new, False)
    expect(list(work.open_store().changes(work.sandbox, old, new)), [])


def ignored_files_survive(make_sandbox: MakeSandbox) -> None:
    """What ignore rules name is listed, not captured, and left as it is by a rollback."""
    work = make_sandbox()
    work.needs(Capability.IGNORE_RULES)
    work.write(".gitignore", b"*.log\n/cache/\n")
    work.write("run.log", b"first")
    work.write("cache/entry", b"first")
    work.write("file")
    made = work.open_store().create_checkpoint(work.sandbox)
    expect([item.path for item in made.not_captured], ["cache/", "run.log"])
    work.write("run.log", b"second")
    work.write("cache/more", b"second")
    work.write("file", b"changed")
    work.restore(made.snapshot_id)
    expect((work.root / "run.log").read_bytes(), b"second")
    expect(sorted(os.listdir(work.root / "cache")), ["entry", "more"])  # noqa: PTH208
    expect((work.root / "file").read_bytes(), b"x\n")


def ignored_files_survive_a_killed_rollback(make_sandbox: MakeSandbox) -> None:
    """What only ignore rules kept out of the safety snapshot is not taken for something new."""
    work = make_sandbox()
    work.needs(Capability.IGNORE_RULES)
    first = work.store()
    work.write(".gitignore", b"*.log\n")
    precious = work.write("run.log", b"precious\n")
    safety = work.store()
    (work.root / ".gitignore").unlink()  # As far as the killed one came.
    report = work.open_store().rollback_to(work.sandbox, first, sparing=safety)
    expect(report.differences, ())
    expect(precious.read_bytes(), b"precious\n")


def git_goes_back_too(make_sandbox: MakeSandbox) -> None:
    """HEAD, branch and index are what they were, whatever the agent committed."""
    work = make_sandbox()
    work.needs(Capability.GIT_STATE)
    work.write("staged")
    work.git("add", "staged")
    before, kept = work.git_state(), work.store()
    work.git("commit", "-qm", "work")
    work.git("checkout", "-q", "-b", "elsewhere")
    work.git("rm", "-q", "--cached", "staged")
    after, later = work.git_state(), work.store()
    work.restore(kept)
    expect(work.git_state(), before)
    work.restore(later)
    expect(work.git_state(), after)


def hard_links_stay_together(make_sandbox: MakeSandbox) -> None:
    """Two names of one file are two names of one file again."""
    work = make_sandbox()
    work.needs(Capability.HARD_LINKS)
    (work.root / "second").hardlink_to(work.write("first"))
    kept = work.store()
    (work.root / "first").unlink()
    (work.root / "second").unlink()
    work.restore(kept)
    expect((work.root / "first").stat().st_ino, (work.root / "second").stat().st_ino)


def modification_times_come_back(make_sandbox: MakeSandbox) -> None:
    """A file that was rewritten has its old time again."""
    work = make_sandbox()
    work.needs(Capability.MODIFICATION_TIMES)
    place = work.write("file")
    os.utime(place, ns=(1_000_000_000, 1_000_000_001))
    kept = work.store()
    work.write("file", b"changed")
    work.restore(kept)
    expect(place.stat().st_mtime_ns, 1_000_000_001)


def extended_attributes_come_back(make_sandbox: MakeSandbox) -> None:
    """A file that was rewritten has its attributes again."""
    work = make_sandbox()
    work.needs(Capability.EXTENDED_ATTRIBUTES)
    place = work.write("file")
    os.setxattr(place, "user.origin", b"here")
    kept = work.store()
    place.unlink()
    work.restore(kept)
    expect(os.getxattr(place, "user.origin"), b"here")


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
    repeated_rollbacks_find_nothing_to_do,
    differences_are_told,
    long_patches_are_cut,
    changes_are_told_path_by_path,
    changes_are_told_while_watching,
    equal_snapshots_need_no_look,
    special_files_count_as_nothing,
    what_was_left_out_is_no_change,
    moves_of_git_are_no_changes,
    ignored_files_survive,
    ignored_files_survive_a_killed_rollback,
    git_goes_back_too,
    hard_links_stay_together,
    modification_times_come_back,
    extended_attributes_come_back,
    *combining_contract.CONTRACT,
    *merge_contract.CONTRACT,
)
"""Every obligation; a suite over a store runs them all."""
