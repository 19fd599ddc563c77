"""What forks of a sandbox must do about git: ignore rules, branches and indexes.

Part of `files.CONTRACT`, which explains the functions.
"""

from __future__ import annotations

from collections.abc import Callable

from cleveragents.domain.sandboxes.merge import MergeStrategy
from cleveragents.testing.expectations import expect, expect_same
from cleveragents.testing.forks.families import MakeFamily, expect_stored
from cleveragents.testing.snapshots.merging import NAMES
from cleveragents.testing.snapshots.workspace import Capability
from cleveragents.testing.trees import Node, Tree, read_tree


def ignored_files_come_along(make_family: MakeFamily) -> None:
    """A fork has what its source ignores, and ignores it too."""
    family = make_family()
    parent = family.parent
    parent.needs(Capability.IGNORE_RULES)
    parent.write(".gitignore", b"*.log\nbuild/\n")
    parent.write("build/deep/product")
    parent.write("a.log")
    kept, before = parent.store(), read_tree(parent.root)
    for child in family.forks(kept):
        expect_same(read_tree(child.root), before)
        expect_stored(child, kept)
        child.write("a.log", b"changed")
        changed = child.acts().changes(kept, child.store())
        expect([change.path for change in changed], [])


def captured_files_stay_captured(make_family: MakeFamily) -> None:
    """What was captured before it was ignored is captured in a fork, whoever makes it."""
    family = make_family()
    parent = family.parent
    parent.needs(Capability.IGNORE_RULES)
    parent.write("kept.log")
    parent.store()
    parent.write(".gitignore", b"*.log\n")
    kept, before = parent.store(), read_tree(parent.root)
    copied = list(family.forks(kept))
    family.sandboxes.remove(parent.sandbox)
    for child in (*copied, family.fork("CHILD", kept)):
        expect_same(read_tree(child.root), before)
        first = expect_stored(child, kept)
        child.write("kept.log", b"changed")
        changed = child.acts().changes(first, child.store())
        expect([change.path for change in changed], ["kept.log"])


def later_rules_do_not_count(make_family: MakeFamily) -> None:
    """What the source ignores by rules that came after the snapshot is not in the fork."""
    family = make_family()
    parent = family.parent
    parent.needs(Capability.IGNORE_RULES)
    parent.write(".gitignore", b"*.log\n")
    parent.write("old.log")
    kept, before = parent.store(), read_tree(parent.root)
    parent.write(".gitignore", b"*.log\n*.tmp\nmade/\n")
    parent.write("new.tmp")
    parent.write("made/later")
    for child in family.forks(kept):
        expect_same(read_tree(child.root), before)
        expect_stored(child, kept)


def what_is_in_the_way_is_not_forked(make_family: MakeFamily) -> None:
    """Ignored files where the snapshot has something else are not in the fork."""
    family = make_family()
    parent = family.parent
    parent.needs(Capability.IGNORE_RULES)
    parent.write("place/in/side")
    kept, before = parent.store(), read_tree(parent.root)
    parent.remove("place")
    family.sandboxes.remove(parent.sandbox)
    family.sandboxes.reopen(parent.sandbox)
    parent.write(".gitignore", b"place\n")
    parent.write("place")
    for child in family.forks(kept):
        expect_same(read_tree(child.root), before)
        expect_stored(child, kept)


def forks_have_a_branch_of_their_own(make_family: MakeFamily) -> None:
    """A fork is on its own branch at the same commit, and commits there alone."""
    family = make_family()
    parent = family.parent
    parent.needs(Capability.GIT_STATE)
    parent.write("committed")
    parent.git("add", "-A")
    parent.git("commit", "-qm", "by the parent")
    parent.write("staged")
    parent.git("add", "staged")
    parent.write("committed", b"and changed")
    kept, before = parent.store(), parent.git_state()
    child = family.fork("CHILD", kept)
    branch = f"refs/heads/{child.sandbox.branch}\n"
    expect(child.sandbox.branch, "cleveragents/plan-CHILD")
    expect(child.git_state(), [before[0], branch, before[2]])
    expect(child.git("status", "--porcelain"), parent.git("status", "--porcelain"))
    expect(child.sandbox.base_commit, parent.sandbox.base_commit)
    child.git("commit", "-qam", "by the child")
    expect(child.git("symbolic-ref", "HEAD"), branch)
    expect(parent.git_state(), before)
    expect(child.git("log", "--format=%s", "-2"), "by the child\nby the parent\n")


def forks_of_other_branches_are_detached(make_family: MakeFamily) -> None:
    """A source on a branch of the agent's, or on none, makes a detached fork at its commit."""
    family = make_family()
    parent = family.parent
    parent.needs(Capability.GIT_STATE)
    commit = parent.git("rev-parse", "HEAD")
    for number, command in enumerate(
        (("checkout", "-qb", "topic"), ("checkout", "-q", "--detach"))
    ):
        parent.git(*command)
        child = family.fork(f"CHILD{number}", parent.store())
        expect(child.git("rev-parse", "--abbrev-ref", "HEAD"), "HEAD\n")
        expect(child.git("rev-parse", "HEAD"), commit)
        expect(child.git("rev-parse", child.sandbox.branch or ""), commit)
        expect(child.git("status", "--porcelain"), "")


def unborn_branches_can_be_forked(make_family: MakeFamily) -> None:
    """A source whose branch has no commit makes a fork whose branch has none."""
    family = make_family()
    parent = family.parent
    parent.needs(Capability.GIT_STATE)
    parent.git("checkout", "-q", "--orphan", "nothing-yet")
    child = family.fork("CHILD", parent.store())
    expect(child.git("symbolic-ref", "HEAD"), f"refs/heads/{child.sandbox.branch}\n")
    expect(child.git("ls-files", "--stage"), parent.git("ls-files", "--stage"))
    expect(child.git("for-each-ref", f"refs/heads/{child.sandbox.branch}"), "")


def indexes_with_flags_can_be_forked(make_family: MakeFamily) -> None:
    """An index that no tree can hold comes over as it is."""
    family = make_family()
    parent = family.parent
    parent.needs(Capability.GIT_STATE)
    parent.write("flagged")
    parent.write("plain")
    parent.git("add", "-A")
    parent.git("update-index", "--skip-worktree", "flagged")
    before = parent.git("ls-files", "--stage", "-v")
    kept = parent.store()
    for child in family.forks(kept):
        expect(child.git("ls-files", "--stage", "-v"), before)
        made = child.store()
        child.git("read-tree", "--empty")
        child.restore(made)
        expect(child.git("ls-files", "--stage", "-v"), before)


def what_git_has_begun_stays_behind(make_family: MakeFamily) -> None:
    """A merge under way, and a `.git` that is not the sandbox's own, are no matter of a fork."""
    family = make_family()
    parent = family.parent
    parent.needs(Capability.GIT_STATE)
    kept, before = parent.store(), read_tree(parent.root)
    parent.git("update-ref", "MERGE_HEAD", "HEAD")
    parent.remove(".git")
    parent.git("init", "-q", ".")
    child = family.fork("CHILD", kept)
    expect_same(read_tree(child.root), before)
    expect(child.git("status", "--porcelain"), "")
    expect((child.root / ".git").is_file(), True)
    expect_stored(child, kept)


def packed_refs_lead_to_snapshots(make_family: MakeFamily) -> None:
    """When git has put all refs into one file, snapshots are found, and dropped, all the same."""
    family = make_family()
    parent = family.parent
    parent.needs(Capability.GIT_STATE)
    kept, before = parent.store(), read_tree(parent.root)
    parent.git("pack-refs", "--all")
    child = family.fork("CHILD", kept)
    parent.acts().delete([kept])
    expect(list(parent.acts().ids()), [])
    parent.git("pack-refs", "--all")
    family.sandboxes.remove(child.sandbox)
    again = family.fork("CHILD", kept)
    expect_same(read_tree(again.root), before)


def ignored_files_are_in_the_way(make_family: MakeFamily) -> None:
    """What the parent ignores is never overwritten, and what a fork ignores is no change."""
    family = make_family()
    parent = family.parent
    parent.needs(Capability.IGNORE_RULES)
    base = parent.store()
    child = family.fork("CHILD", base)
    child.write(".gitignore", b"theirs\n")
    for name in ("theirs", "own.log", "made/x", "sub/own.log", "also"):
        child.write(name, b"t")
    parent.write(".gitignore", b"*.log\nmade/\n")
    for name in ("own.log", "made/y"):
        parent.write(name, b"m")
    mine, before = parent.store(), read_tree(parent.root)
    for strategy in MergeStrategy:
        report = parent.acts().merge(mine, base, child.store(), strategy, NAMES)
        found = read_tree(parent.root)
        paths = [item.path for item in report.conflicts if item.path != ".gitignore"]
        expect(paths, ["made", "own.log"])
        expect([found.get(path) for path in ("own.log", "made/x", "theirs")], _only_own(before))
        parent.restore(mine)


def _only_own(tree: Tree) -> list[Node | None]:
    return [tree["own.log"], None, None]


def ignored_files_can_be_merged(make_family: MakeFamily) -> None:
    """What a fork has captured comes in and is captured, even where rules ignore it."""
    family = make_family()
    parent = family.parent
    parent.needs(Capability.GIT_STATE)
    parent.write(".gitignore", b"*.log\nmade/\n")
    base = parent.store()
    child = family.fork("CHILD", base)
    child.write("forced.log", b"t")
    child.write("made/forced", b"t")
    child.git("add", "--force", "forced.log", "made/forced")
    strategy = MergeStrategy.GIT_THREE_WAY
    report = parent.acts().merge(base, base, child.store(), strategy, NAMES)
    expect(report.merged, ("forced.log", "made", "made/forced"))
    changed = parent.acts().changes(base, parent.store())
    expect(tuple(change.path for change in changed), report.merged)


CONTRACT: tuple[Callable[[MakeFamily], None], ...] = (
    ignored_files_come_along,
    captured_files_stay_captured,
    later_rules_do_not_count,
    what_is_in_the_way_is_not_forked,
    forks_have_a_branch_of_their_own,
    forks_of_other_branches_are_detached,
    unborn_branches_can_be_forked,
    indexes_with_flags_can_be_forked,
    what_git_has_begun_stays_behind,
    packed_refs_lead_to_snapshots,
    ignored_files_are_in_the_way,
    ignored_files_can_be_merged,
)
