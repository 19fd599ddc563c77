"""What every `SnapshotStore` must do when it combines two snapshots.

Part of `cleveragents.testing.snapshots.CONTRACT`, which says how such functions are used.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass

from cleveragents.domain.errors import SnapshotError, SnapshotMissingError, UsageError
from cleveragents.domain.sandboxes.sandbox import SandboxCheckpoint
from cleveragents.testing.expectations import ContractError, expect, expect_error, expect_same
from cleveragents.testing.snapshots.workspace import (
    ODD_NAMES,
    UNKNOWN,
    Capability,
    ContractWorkspace,
    MakeSandbox,
)
from cleveragents.testing.trees import Tree, combined_by_hand, read_tree


@dataclass(frozen=True)
class _Moment:
    """A snapshot, and what the disk held when it was made."""

    id: str
    tree: Tree


def _moment(work: ContractWorkspace) -> _Moment:
    return _Moment(work.store(), read_tree(work.root))


def _combine(
    work: ContractWorkspace, base: _Moment, other: _Moment, paths: Collection[str]
) -> SandboxCheckpoint:
    return work.acts().combine(base.id, other.id, paths)


def _expect_combined(
    work: ContractWorkspace, base: _Moment, other: _Moment, paths: Collection[str]
) -> SandboxCheckpoint:
    """Combines, rolls back to the result, and compares the disk and a snapshot of it."""
    made = _combine(work, base, other, paths)
    work.acts().verify(made.snapshot_id)
    work.restore(made.snapshot_id)
    expect_same(read_tree(work.root), combined_by_hand(base.tree, other.tree, paths))
    again = work.acts().snapshot()
    expect((again.snapshot_id, again.state_hash), (made.snapshot_id, made.state_hash))
    return made


def named_paths_are_taken(make_sandbox: MakeSandbox) -> None:
    """What was changed, deleted or made at the named paths is taken, and nothing else is."""
    work = make_sandbox()
    for name in ("changed", "deleted", "kept", "in/changed", "in/deleted", "in/deep/er"):
        work.write(name, b"then")
    then = _moment(work)
    for name in ("changed", "kept", "in/changed", "in/deep/er", "made", "in/made"):
        work.write(name, b"now")
    for name in ("deleted", "in/deleted"):
        work.remove(name)
    now = _moment(work)
    for paths in (
        ["changed"],
        ["changed", "deleted", "made"],
        ["in"],
        ["in/deep", "in/made"],
        ["in/deleted", "in", "in/deleted"],
    ):
        _expect_combined(work, now, then, paths)
        _expect_combined(work, then, now, paths)


def all_or_nothing_may_be_taken(make_sandbox: MakeSandbox) -> None:
    """No path, or one that neither has, gives the base itself, and `.` gives the other."""
    work = make_sandbox()
    work.write("file", b"then")
    work.root.chmod(0o750)
    then = _moment(work)
    work.write("file", b"now")
    work.write("made")
    work.root.chmod(0o700)
    now = _moment(work)
    same: list[Collection[str]] = [(), ("nowhere", "file/below", "in/no/where")]
    for paths, wanted in (*((paths, now) for paths in same), ((".",), then), (("made", "."), then)):
        made = _expect_combined(work, now, then, paths)
        expect((made.snapshot_id, made.size_bytes), (wanted.id, 0))


def spellings_of_a_path_are_one(make_sandbox: MakeSandbox) -> None:
    """A slash at its end, twice, or a dot says nothing more about a path."""
    work = make_sandbox()
    work.write("in/file", b"then")
    then = _moment(work)
    work.write("in/file", b"now")
    now = _moment(work)
    made = _expect_combined(work, now, then, ["in/file"])
    for spelling in ("in/", "./in/file", "in//file", "in/./file/"):
        expect(_combine(work, now, then, [spelling]).snapshot_id, made.snapshot_id)


def combined_modes_are_exact(make_sandbox: MakeSandbox) -> None:
    """All permission bits of what is taken, and of what is not, are as they were."""
    work = make_sandbox()
    modes = (0o600, 0o644, 0o444, 0o755, 0o4711)
    places = [work.write(f"{name}/{mode:o}") for name in ("one", "two") for mode in modes]
    for place, mode in zip(places, (*modes, *modes), strict=True):
        place.chmod(mode)
    (work.root / "one").chmod(0o750)
    (work.root / "two").chmod(0o1777)
    then = _moment(work)
    for place, mode in zip(places, reversed((*modes, *modes)), strict=True):
        place.chmod(mode)
    (work.root / "one").chmod(0o500)
    (work.root / "two").chmod(0o755)
    work.root.chmod(0o711)
    now = _moment(work)
    for paths in (["one/600", "two/4711"], ["one"], ["one/600", "two"], ["."]):
        _expect_combined(work, now, then, paths)
        _expect_combined(work, then, now, paths)


def combined_directories_are_exact(make_sandbox: MakeSandbox) -> None:
    """One that is left empty stays, one that is named goes, and those above a file are made."""
    work = make_sandbox()
    for name in ("emptied/file", "shared/then", "gone/deep/er/file"):
        work.write(name)
    (work.root / "empty/nested").mkdir(parents=True)
    (work.root / "filled").mkdir()
    (work.root / "gone/bare/inside").mkdir(parents=True)
    (work.root / "gone/deep").chmod(0o711)
    then = _moment(work)
    for name in ("gone", "empty", "shared/then"):
        work.remove(name)
    for name in ("filled/file", "made/deep/file", "shared/now"):
        work.write(name)
    (work.root / "made/bare").mkdir(mode=0o700)
    now = _moment(work)
    for paths in (
        ["emptied/file"],
        ["gone/deep/er/file", "shared/now"],
        ["gone/bare", "made/deep"],
        ["empty/nested", "filled"],
        ["filled/file", "made/deep/file", "made/bare"],
        ["made", "shared/now", "shared/then"],
    ):
        _expect_combined(work, now, then, paths)
        _expect_combined(work, then, now, paths)


def combined_types_may_be_swapped(make_sandbox: MakeSandbox) -> None:
    """Files, directories and links may be either of the others, also above a named path."""
    work = make_sandbox()
    kinds = ("file", "directory", "link", "bare")
    swaps = [(old, new) for old in kinds for new in kinds if old != new]
    for old, new in swaps:
        _make(work, f"{old}-to-{new}", old)
    then = _moment(work)
    for old, new in swaps:
        work.remove(f"{old}-to-{new}")
        _make(work, f"{old}-to-{new}", new)
    now = _moment(work)
    whole = [f"{old}-to-{new}" for old, new in swaps]
    for paths in (whole[::2], whole, [f"{name}/in/side" for name in whole], [f"{whole[0]}/in"]):
        _expect_combined(work, now, then, paths)
        _expect_combined(work, then, now, paths)


def _make(work: ContractWorkspace, name: str, kind: str) -> None:
    if kind == "bare":
        (work.root / name / "in/side").mkdir(parents=True)
    else:
        work.make(name, kind)


def odd_names_can_be_named(make_sandbox: MakeSandbox) -> None:
    """A name may have any byte, and a pattern or a special path of git in it means itself."""
    work = make_sandbox()
    repository = ("nested/.git/config", "nested/.git/objects/ab/cd", "nested/file")
    for name in (*ODD_NAMES, *repository):
        work.write(name, b"then")
    for name in ODD_NAMES:
        work.write(f"in/{name[:200]}.d/{name}", b"then")
    then = _moment(work)
    for name in (*ODD_NAMES, *repository, "nested/.git/HEAD"):
        work.write(name, b"now")
    for name in ODD_NAMES[::3]:
        work.remove(f"in/{name[:200]}.d")
    now = _moment(work)
    some = [*ODD_NAMES[::2], *(f"in/{name[:200]}.d" for name in ODD_NAMES[1::2])]
    for paths in (some, ["nested/.git"], ["nested/.git/config", "nested/.git/HEAD"]):
        _expect_combined(work, now, then, paths)
        _expect_combined(work, then, now, paths)


def combined_snapshots_stand_alone(make_sandbox: MakeSandbox) -> None:
    """Without the two that it was made of, it can be verified and brought back."""
    work = make_sandbox()
    work.write("one", b"then")
    work.write("two", b"then")
    then = _moment(work)
    work.write("one", b"now")
    work.write("two", b"now")
    work.write("in/deep/three", b"now")
    now = _moment(work)
    made = _combine(work, now, then, ["one"]).snapshot_id
    acts = work.acts()
    expect(set(acts.ids()), {then.id, now.id, made})
    acts.delete([then.id, now.id])
    expect(list(work.acts().ids()), [made])
    work.acts().verify(made)
    for name in ("one", "two", "in"):
        work.remove(name)
    work.restore(made)
    expect_same(read_tree(work.root), combined_by_hand(now.tree, then.tree, ["one"]))


def combining_changes_nothing(make_sandbox: MakeSandbox) -> None:
    """The sandbox, whatever state it is in, is not touched, and a preview names what differs."""
    work = make_sandbox()
    work.write("file", b"then")
    then = _moment(work)
    work.write("file", b"now")
    work.write("other", b"now")
    now = _moment(work)
    work.write("file", b"later")
    before = read_tree(work.root)
    made = _combine(work, now, then, ["file"])
    expect_same(read_tree(work.root), before)
    preview = work.acts().preview(made.snapshot_id)
    expect([change.file for change in preview.changes], ["file"])
    found = work.acts().changes(now.id, made.snapshot_id)
    expect([change.path for change in found], ["file"])


def parts_can_be_previewed(make_sandbox: MakeSandbox) -> None:
    """The preview of a part stores nothing, and lists what restoring the combination does."""
    work = make_sandbox()
    work.write("file", b"then")
    work.write("in/deep", b"then")
    then = _moment(work)
    work.write("file", b"now")
    work.write("in/deep", b"now")
    work.write("other", b"now")
    paths, acts = ["in", "other"], work.acts()
    preview = acts.preview(then.id, paths)
    found = acts.changes_since(then.id)
    expect(list(work.acts().ids()), [then.id])
    now = _moment(work)
    expect(found, work.acts().changes(then.id, now.id))
    report = work.restore(_combine(work, now, then, paths).snapshot_id)
    expect((report.changes, report.left_alone), (preview.changes, preview.left_alone))
    expect(work.acts().preview(then.id, ()).changes, ())


def combining_needs_no_sandbox(make_sandbox: MakeSandbox) -> None:
    """Snapshots of a sandbox that has gone can be combined: nothing but the store is needed."""
    work = make_sandbox()
    work.needs(Capability.PLAIN_DIRECTORY)
    work.write("file", b"then")
    then = _moment(work)
    work.write("file", b"now")
    work.write("other", b"now")
    now, moved = _moment(work), work.root.with_name("moved")
    work.root.rename(moved)
    made = _combine(work, now, then, ["file"])
    expect(work.root.exists(), False)
    moved.rename(work.root)
    work.restore(made.snapshot_id)
    expect_same(read_tree(work.root), combined_by_hand(now.tree, then.tree, ["file"]))


def combining_goes_on_while_watching(make_sandbox: MakeSandbox) -> None:
    """A store that follows the sandbox combines, restores and continues like any other."""
    work = make_sandbox()
    work.write("deep/er/file", b"then")
    with work.watched() as acts:
        then = _Moment(acts.snapshot().snapshot_id, read_tree(work.root))
        work.write("deep/er/file", b"now")
        work.write("new/file", b"now")
        now = _Moment(acts.snapshot().snapshot_id, read_tree(work.root))
        made = acts.combine(now.id, then.id, ["deep"])
        expect(acts.restore(made.snapshot_id).differences, ())
        expect_same(read_tree(work.root), combined_by_hand(now.tree, then.tree, ["deep"]))
        expect(acts.snapshot().snapshot_id, made.snapshot_id)
        back = acts.combine(made.snapshot_id, now.id, ["deep/er/file"])
        expect(back.snapshot_id, now.id)


def combining_costs_little(make_sandbox: MakeSandbox) -> None:
    """Taking one path stores no file again, however many differ."""
    work = make_sandbox()
    for number in range(100):
        work.write(f"in/{number}", os.urandom(2000))
    then = _moment(work)
    for number in range(100):
        work.write(f"in/{number}", os.urandom(2000))
    now = work.acts().snapshot()
    made = work.acts().combine(now.snapshot_id, then.id, ["in/7"])
    if not 0 < made.size_bytes * 10 < now.size_bytes:
        raise ContractError(f"{made.size_bytes} bytes for one of {now.size_bytes}")


def paths_outside_cannot_be_named(make_sandbox: MakeSandbox) -> None:
    """A path that is empty, absolute or leads upwards is refused, and nothing is stored."""
    work = make_sandbox()
    then = _moment(work)
    work.write("file")
    now = _moment(work)
    for path in ("", "/", "/etc/passwd", "..", "../file", "in/../file", "in/.."):
        expect_error(UsageError, lambda path=path: _combine(work, now, then, ["file", path]))
    found = work.acts().ids()
    expect(sorted(found), sorted((then.id, now.id)))


def unknown_snapshots_cannot_be_combined(make_sandbox: MakeSandbox) -> None:
    """What is not stored is said to be missing, whichever of the two it is."""
    work = make_sandbox()
    kept, acts = work.store(), work.acts()
    for base, other in ((kept, UNKNOWN), (UNKNOWN, kept)):
        expect_error(
            SnapshotMissingError,
            lambda base=base, other=other: acts.combine(base, other, ["file"]),
        )


def special_files_cannot_be_taken(make_sandbox: MakeSandbox) -> None:
    """A path that was a FIFO cannot be named; a FIFO in the way of a file gives way."""
    work = make_sandbox()
    work.write("file")
    work.write("directory/in")
    work.write("other")
    then = _moment(work)
    for name in ("file", "directory"):
        work.remove(name)
        os.mkfifo(work.root / name)
    now = _moment(work)
    for path in ("file", "directory"):
        expect_error(SnapshotError, lambda path=path: _combine(work, then, now, [path]))
    below = _combine(work, then, now, ["directory/in"])
    found = work.acts().changes(then.id, below.snapshot_id)
    expect([change.path for change in found], ["directory/in"])
    made = _expect_combined(work, now, then, ["directory/in"])
    expect([item.path for item in made.not_captured], ["file"])
    _expect_combined(work, now, then, ["file", "directory"])


def what_was_left_out_cannot_be_taken(make_sandbox: MakeSandbox) -> None:
    """An ignored path cannot be named; below a directory that is, it is left as it is."""
    work = make_sandbox()
    work.needs(Capability.IGNORE_RULES)
    work.write("in/file", b"then")
    then = _moment(work)
    work.write("in/.gitignore", b"*.log\ncache/\n")
    work.write("in/file", b"now")
    for name in ("in/run.log", "in/cache/entry"):
        work.write(name, b"precious")
    now = _moment(work)
    for path in ("in/run.log", "in/cache", "in/cache/entry"):
        for base, other in ((now, then), (then, now)):
            expect_error(
                SnapshotError,
                lambda path=path, base=base, other=other: _combine(work, base, other, [path]),
            )
    work.restore(_combine(work, now, then, ["in"]).snapshot_id)
    left = ["in/run.log", "in/cache", "in/cache/entry"]
    wanted = combined_by_hand(now.tree, then.tree, ["in"]) | {path: now.tree[path] for path in left}
    expect_same(read_tree(work.root), wanted)
    made = _combine(work, then, now, ["in"])
    expect([item.path for item in made.not_captured], ["in/cache/", "in/run.log"])
    work.write("in/run.log", b"still precious")
    work.restore(made.snapshot_id)
    expect((work.root / "in/run.log").read_bytes(), b"still precious")


def git_stays_with_the_base(make_sandbox: MakeSandbox) -> None:
    """HEAD, branch and index are those of the base, and all they lead to is kept."""
    work = make_sandbox()
    work.needs(Capability.GIT_STATE)
    for name in ("file", "flagged"):
        work.write(name, b"then")
    work.git("add", "file", "flagged")
    then, before = _moment(work), work.git_state()
    work.git("commit", "-qm", "work")
    work.git("checkout", "-q", "-b", "elsewhere")
    work.git("update-index", "--assume-unchanged", "flagged")
    work.write("file", b"staged only")
    work.git("add", "file")
    work.write("file", b"now")
    now, after = _moment(work), work.git_state()
    for base, other, wanted in ((now, then, after), (then, now, before)):
        for paths in (["file", ".git", ".git/HEAD"], ["."]):
            _expect_combined(work, base, other, paths)
            expect(work.git_state(), wanted)
    made = _combine(work, now, then, ["file"]).snapshot_id
    work.restore(then.id)
    others = [each for each in work.acts().ids() if each != made]
    work.acts().delete(others)
    work.git("branch", "-qD", "elsewhere")
    work.git("reflog", "expire", "--expire=now", "--all")
    work.git("gc", "-q", "--prune=now")
    work.acts().verify(made)
    work.restore(made)
    expect(work.git_state(), after)


def what_git_left_out_stays_with_it(make_sandbox: MakeSandbox) -> None:
    """What could not be kept of the index is said of the base's, whatever paths are named."""
    work = make_sandbox()
    work.needs(Capability.GIT_STATE)
    then = _moment(work)
    work.write("named")
    work.git("add", "--intent-to-add", "named")
    now = _moment(work)
    for paths in ([], ["named", ".git"], [".git/index: named"], ["."]):
        said = _combine(work, now, then, paths).not_captured
        expect([item.path for item in said], [".git/index: named"])
        expect(_combine(work, then, now, paths).not_captured, ())


CONTRACT: tuple[Callable[[MakeSandbox], None], ...] = (
    named_paths_are_taken,
    all_or_nothing_may_be_taken,
    spellings_of_a_path_are_one,
    combined_modes_are_exact,
    combined_directories_are_exact,
    combined_types_may_be_swapped,
    odd_names_can_be_named,
    combined_snapshots_stand_alone,
    combining_changes_nothing,
    parts_can_be_previewed,
    combining_needs_no_sandbox,
    combining_goes_on_while_watching,
    combining_costs_little,
    paths_outside_cannot_be_named,
    unknown_snapshots_cannot_be_combined,
    special_files_cannot_be_taken,
    what_was_left_out_cannot_be_taken,
    git_stays_with_the_base,
    what_git_left_out_stays_with_it,
)
