"""What a `SnapshotStore` must do if it declares a capability: git, ignore rules, hard links.

Part of `cleveragents.testing.snapshots.CONTRACT`.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from cleveragents.domain.sandboxes.change import ChangeOperation
from cleveragents.testing.expectations import (
    expect,
)
from cleveragents.testing.snapshots.workspace import (
    Capability,
    MakeSandbox,
)


def what_was_left_out_is_no_change(make_sandbox: MakeSandbox) -> None:
    """A file that ignore rules begin or cease to name was neither deleted nor created."""
    work = make_sandbox()
    work.needs(Capability.IGNORE_RULES)
    work.write("run.log")
    work.write("cache/entry")
    bare = work.store()
    work.write(".gitignore", b"*.log\n/cache/\n")
    ignoring = work.store()
    acts = work.acts()
    for old, new, operation in (
        (bare, ignoring, ChangeOperation.CREATED),
        (ignoring, bare, ChangeOperation.DELETED),
    ):
        found = acts.changes(old, new)
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
    expect(list(work.acts().changes(old, new)), [])


def ignored_files_survive(make_sandbox: MakeSandbox) -> None:
    """What ignore rules name is listed, not captured, and left as it is by a rollback."""
    work = make_sandbox()
    work.needs(Capability.IGNORE_RULES)
    work.write(".gitignore", b"*.log\n/cache/\n")
    work.write("run.log", b"first")
    work.write("cache/entry", b"first")
    work.write("file")
    made = work.acts().snapshot()
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
    report = work.acts().restore(first, sparing=safety)
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
    what_was_left_out_is_no_change,
    moves_of_git_are_no_changes,
    ignored_files_survive,
    ignored_files_survive_a_killed_rollback,
    git_goes_back_too,
    hard_links_stay_together,
    modification_times_come_back,
    extended_attributes_come_back,
)
