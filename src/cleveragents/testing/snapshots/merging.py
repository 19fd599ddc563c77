"""What every `SnapshotStore` must do when it merges, and when it takes single paths.

Part of `cleveragents.testing.snapshots.CONTRACT`, which says how such functions are used.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from cleveragents.domain.errors import SnapshotError, SnapshotMissingError, UsageError
from cleveragents.domain.sandboxes.merge import ConflictKind, MergeNames, MergeReport, MergeStrategy
from cleveragents.testing.expectations import expect, expect_error, expect_same
from cleveragents.testing.snapshots.merge_cases import (
    Case,
    Outcome,
    agreed,
    arrange,
    contested,
    directory,
    file,
    link,
    merged,
    tree_of,
)
from cleveragents.testing.snapshots.workspace import (
    ODD_NAMES,
    UNKNOWN,
    Capability,
    ContractWorkspace,
    MakeSandbox,
)
from cleveragents.testing.trees import Tree, changes_by_hand, read_tree

NAMES = MergeNames(mine="the parent", theirs="the child")
LINES = b"one\ntwo\nthree\nfour\nfive\n"


def _prove(make_sandbox: MakeSandbox, cases: Iterable[Case]) -> None:
    """Merges each case with each strategy, and compares everything."""
    work = make_sandbox()
    for case in cases:
        kept: list[str] = []
        for files in (case.base, case.theirs, case.mine):
            arrange(work.root, files)
            kept.append(work.store())
        base, theirs, mine = kept
        for strategy in MergeStrategy:
            work.restore(mine)
            report = _merge(work, mine, base, theirs, strategy)
            _expect_outcome(work, report, tree_of(case.mine), case.outcome(strategy))


def _merge(
    work: ContractWorkspace, mine: str, base: str, theirs: str, strategy: MergeStrategy
) -> MergeReport:
    return work.acts().merge(mine, base, theirs, strategy, NAMES)


def _expect_outcome(
    work: ContractWorkspace, report: MergeReport, mine: Tree, wanted: Outcome
) -> None:
    found = read_tree(work.root)
    expect({item.path: item.kind for item in report.conflicts}, dict(wanted.conflicts))
    expect({item.path for item in report.conflicts if item.marked}, set(wanted.marked))
    paths = [item.path for item in report.conflicts]
    expect(set(work.acts().marked(paths)), set(wanted.marked))
    expect_same(found, tree_of(wanted.files))
    expect(report.merged, tuple(change.path for change in changes_by_hand(mine, found)))
    changed = work.acts().snapshot()
    work.acts().verify(changed.snapshot_id)


def what_one_side_changed_is_taken(make_sandbox: MakeSandbox) -> None:
    """Theirs comes in, mine stays, and what both did alike is done already."""
    base = {"a": b"1", "b": b"1", "in/c": b"1", "gone": b"1", "alike": b"1", "both-gone": b"1"}
    mine = {"a": b"mine", "b": b"1", "in/c": b"1", "gone": b"1", "alike": b"2", "new/m": b"m"}
    theirs = {"a": b"1", "b": b"theirs", "in/c": b"t", "alike": b"2", "new/t": b"t", "e": b""}
    both = {"a": b"mine", "b": b"theirs", "in/c": b"t", "alike": b"2", "e": b""}
    _prove(
        make_sandbox,
        [
            agreed(base, mine, theirs, {**both, "new/m": b"m", "new/t": b"t"}),
            agreed(base, base, theirs, theirs),
            agreed(base, mine, base, mine),
            agreed({}, {"same": b"x", "m": b""}, {"same": b"x"}, {"same": b"x", "m": b""}),
        ],
    )


def lines_are_merged(make_sandbox: MakeSandbox) -> None:
    """Changes of different lines come together, whatever the line ends and the last line."""

    def case(*contents: bytes) -> Case:
        return merged(*({"in/text": content} for content in contents))

    mine, theirs = LINES.replace(b"one", b"1"), LINES.replace(b"five", b"5")
    both = LINES.replace(b"one", b"1").replace(b"five", b"5")
    _prove(
        make_sandbox,
        [
            case(LINES, mine, theirs, both),
            case(*(_with_crlf(each) for each in (LINES, mine, theirs, both))),
            case(*(each.rstrip(b"\n") for each in (LINES, mine, theirs, both))),
            case(LINES, mine, theirs.rstrip(b"\n"), both.rstrip(b"\n")),
            case(*(b"\xff\xfe " + each for each in (LINES, mine, theirs, both))),
        ],
    )


def _with_crlf(content: bytes) -> bytes:
    return content.replace(b"\n", b"\r\n")


def contested_lines_are_marked(make_sandbox: MakeSandbox) -> None:
    """Both sides stand in the file, or theirs alone where theirs count."""
    mine, theirs = LINES.replace(b"three", b"3m"), LINES.replace(b"three", b"3t")
    marked = LINES.replace(b"three\n", b"<<<<<<< the parent\n3m\n=======\n3t\n>>>>>>> the child\n")
    mine += b"mine\n"
    marked += b"mine\n"
    added = b"<<<<<<< the parent\nm\n=======\nt\n>>>>>>> the child\n"
    _prove(
        make_sandbox,
        [
            _marked(LINES, mine, theirs, marked, theirs + b"mine\n"),
            _marked(*map(_with_crlf, (LINES, mine, theirs, marked, theirs + b"mine\n"))),
            _marked(None, b"m\n", b"t\n", added, b"t\n"),
            _marked(b"", b"m\n", b"t\n", added, b"t\n"),
            _marked(b"b", b"m", b"t", added, b"t"),
        ],
    )


def _marked(base: bytes | None, mine: bytes, theirs: bytes, marked: bytes, applied: bytes) -> Case:
    return Case(
        {} if base is None else {"text": base},
        {"text": mine},
        {"text": theirs},
        Outcome({"text": marked}, {"text": ConflictKind.CONTENT}, frozenset({"text"})),
        {"text": applied},
        {"text": theirs},
    )


def what_has_no_lines_stays_mine(make_sandbox: MakeSandbox) -> None:
    """Binary files, links and things of another kind are mine, or theirs where theirs count."""
    _prove(
        make_sandbox,
        [
            contested({"b": b"\0"}, {"b": b"\0m"}, {"b": b"\0t"}, {"b": ConflictKind.BINARY}),
            contested({"b": b"b"}, {"b": b"m"}, {"b": b"\0t"}, {"b": ConflictKind.BINARY}),
            contested({}, {"l": link("m")}, {"l": link("t")}, {"l": ConflictKind.CONTENT}),
            contested(
                {"l": link("b")}, {"l": link("m")}, {"l": link("t")}, {"l": ConflictKind.CONTENT}
            ),
            contested({"x": b"b"}, {"x": b"m"}, {"x": link("t")}, {"x": ConflictKind.TYPE}),
            contested({"x": b"b"}, {"x": link("m")}, {"x": b"t"}, {"x": ConflictKind.TYPE}),
        ],
    )


def deletions_are_merged(make_sandbox: MakeSandbox) -> None:
    """What one deleted and the other changed is in conflict, a renamed file is deleted."""
    deleted = {"f": ConflictKind.DELETED}
    _prove(
        make_sandbox,
        [
            contested({"f": b"1", "g": b""}, {"g": b""}, {"f": b"t", "g": b""}, deleted),
            contested({"f": b"1", "g": b""}, {"f": b"m", "g": b""}, {"g": b""}, deleted),
            agreed({"f": b"1", "g": b""}, {"f": b"1", "g": b""}, {"g": b""}, {"g": b""}),
            agreed({"f": b"1"}, {"f": b"1", "g": b""}, {"moved": b"1"}, {"moved": b"1", "g": b""}),
            Case(
                {"f": LINES},
                {"moved": LINES},
                {"f": LINES + b"more\n"},
                Outcome({"moved": LINES}, deleted),
                {"moved": LINES, "f": LINES + b"more\n"},
                {"moved": LINES, "f": LINES + b"more\n"},
            ),
        ],
    )


def modes_are_merged(make_sandbox: MakeSandbox) -> None:
    """Permission bits are merged by themselves, beside the bytes."""
    base, mine, theirs = LINES, LINES + b"m\n", b"t\n" + LINES
    both = b"t\n" + LINES + b"m\n"
    clash = {"f": ConflictKind.MODE}
    _prove(
        make_sandbox,
        [
            merged({"f": base}, {"f": mine}, {"f": file(base, 0o755)}, {"f": file(mine, 0o755)}),
            merged(
                {"f": base}, {"f": file(base, 0o600)}, {"f": theirs}, {"f": file(theirs, 0o600)}
            ),
            merged({"f": base}, {"f": file(mine, 0o755)}, {"f": theirs}, {"f": file(both, 0o755)}),
            contested({"f": base}, {"f": file(base, 0o600)}, {"f": file(base, 0o755)}, clash),
            Case(
                {"f": base},
                {"f": file(mine, 0o600)},
                {"f": file(theirs, 0o755)},
                Outcome({"f": file(both, 0o600)}, clash),
                {"f": file(both, 0o755)},
                {"f": file(theirs, 0o755)},
            ),
            contested({}, {"f": file(b"x", 0o600)}, {"f": file(b"x", 0o755)}, clash),
            contested(
                {"d": directory()},
                {"d": directory(0o700)},
                {"d": directory(0o711)},
                {"d": ConflictKind.MODE},
            ),
            agreed(
                {".": directory(), "f": b""},
                {".": directory(), "f": b"m"},
                {".": directory(0o700), "f": b""},
                {".": directory(0o700), "f": b"m"},
            ),
        ],
    )


def directories_are_merged(make_sandbox: MakeSandbox) -> None:
    """They come, go when nothing is left in them, and keep the bits that somebody gave them."""
    _prove(
        make_sandbox,
        [
            agreed({}, {}, {"a/b/c": directory(0o700)}, {"a/b/c": directory(0o700)}),
            agreed({"a/b/f": b""}, {"a/b/f": b""}, {}, {}),
            agreed({"a/f": b""}, {"a/f": b"", "a/m": b""}, {}, {"a/m": b""}),
            agreed({"a/f": b""}, {"a/f": b""}, {"a": directory()}, {"a": directory()}),
            agreed({"a": directory()}, {"a/f": b""}, {}, {"a/f": b""}),
            Case(
                {"a/f": b""},
                {},
                {"a": directory(0o700), "a/f": b""},
                Outcome({}),
                {"a": directory(0o700)},
                {"a": directory(0o700)},
            ),
            Case(
                {"a/f": b""},
                {"a": directory(0o700), "a/f": b""},
                {},
                Outcome({"a": directory(0o700)}),
                {},
                {},
            ),
            agreed(
                {"a/f": b"", "a/g": b""},
                {},
                {"a": directory(0o700), "a/f": b"", "a/g": b"", "a/n/t": b""},
                {"a": directory(0o700), "a/n/t": b""},
            ),
            agreed(
                {"a": directory(0o555), "a/f": b"1"},
                {"a": directory(0o555), "a/f": b"1"},
                {"a": directory(0o555), "a/f": b"2", "a/g": b""},
                {"a": directory(0o555), "a/f": b"2", "a/g": b""},
            ),
        ],
    )


def what_is_in_the_way_is_found(make_sandbox: MakeSandbox) -> None:
    """A directory where the other has something else is one conflict, with all that is in it."""
    a, way = ("a",), ConflictKind.IN_THE_WAY
    blocked = dict.fromkeys(a, way)
    _prove(
        make_sandbox,
        [
            contested({}, {"a": b"m"}, {"a/b/t": b"t", "a/c": b""}, blocked),
            contested({}, {"a": link("m")}, {"a/b": b"t"}, blocked),
            contested({"a": b"b"}, {"a": b"m"}, {"a/b": b"t"}, blocked),
            contested({"a": b"b"}, {"a/m/n": b""}, {"a": b"t"}, blocked),
            contested({"a/x": b""}, {"a/x": b"", "a/m": b""}, {"a": b"t"}, blocked),
            contested({"a/x": b""}, {"a/x": b"m", "a": directory(0o700)}, {"a": b"t"}, blocked),
            contested({}, {"a/m": b""}, {"a": link("t")}, blocked),
            agreed({"a/x": b""}, {"a/x": b"", "m": b""}, {"a": b"t"}, {"a": b"t", "m": b""}),
            agreed({"a": b""}, {"a": b"", "m": b""}, {"a/t": b""}, {"a/t": b"", "m": b""}),
            Case(
                {"a/x": b"b", "a/y": b"b"},
                {"a": b"m"},
                {"a/x": b"t", "a/y": b"b", "a/z": b"t"},
                Outcome({"a": b"m"}, blocked),
                {"a/x": b"t", "a/z": b"t"},
                {"a/x": b"t", "a/z": b"t"},
            ),
            Case(
                {"a/x": b"b"},
                {"a": b"m"},
                {"a": directory(0o700), "a/x": b"t"},
                Outcome({"a": b"m"}, {"a": way}),
                {"a": directory(0o700), "a/x": b"t"},
                {"a": directory(0o700), "a/x": b"t"},
            ),
            Case(
                {"a/x": b"b"},
                {"a": b"m"},
                {"a/x": b"t"},
                Outcome({"a": b"m"}, {"a/x": ConflictKind.DELETED}),
                {"a/x": b"t"},
                {"a/x": b"t"},
            ),
            agreed({"a": b""}, {"a/m": b""}, {}, {"a/m": b""}),
            agreed({"a": b""}, {}, {"a": directory(0o700)}, {"a": directory(0o700)}),
            agreed(
                {"a/x": b"", "a": directory()},
                {"a": b"m"},
                {"a/x": b"", "b": b""},
                {"a": b"m", "b": b""},
            ),
        ],
    )


def odd_names_are_merged(make_sandbox: MakeSandbox) -> None:
    """Any byte a file system allows may be in a name."""
    base = {f"{name[:200]}/{name}": LINES for name in ODD_NAMES}
    mine = dict.fromkeys(base, LINES + b"m\n")
    theirs = dict.fromkeys(base, b"t\n" + LINES)
    both = dict.fromkeys(base, b"t\n" + LINES + b"m\n")
    _prove(make_sandbox, [merged(base, mine, theirs, both)])


def merged_links_are_not_followed(make_sandbox: MakeSandbox) -> None:
    """Nothing is written through a link that stands in the place of a directory or file."""
    work = make_sandbox()
    outside = work.root.parent / "outside"
    outside.mkdir()
    (outside / "f").write_bytes(b"theirs to keep")
    kept: list[str] = []
    for files in ({"d/f": b"b"}, {"d/f": b"t", "f": b"t"}):
        arrange(work.root, files)
        kept.append(work.store())
    arrange(work.root, {"d": link(str(outside)), "f": link(str(outside / "f"))})
    mine = work.store()
    for strategy in MergeStrategy:
        work.restore(mine)
        _merge(work, mine, kept[0], kept[1], strategy)
        expect((outside / "f").read_bytes(), b"theirs to keep")
        expect([path.name for path in outside.iterdir()], ["f"])


def a_merge_can_be_repeated(make_sandbox: MakeSandbox) -> None:
    """Brought back to what it was, a sandbox merges to the same, in other processes too."""
    work = make_sandbox()
    kept: list[str] = []
    for files in ({"f": LINES}, {"f": LINES + b"t\n", "t/u": b""}, {"f": b"m\n" + LINES}):
        arrange(work.root, files)
        kept.append(work.store())
    base, theirs, mine = kept
    results: list[tuple[MergeReport, str]] = []
    for _ in range(2):
        work.restore(mine)
        report = _merge(work, mine, base, theirs, MergeStrategy.GIT_THREE_WAY)
        results.append((report, work.store()))
        arrange(work.root, {"spoiled": b""})
    expect(results[0], results[1])


def merging_goes_on_while_watching(make_sandbox: MakeSandbox) -> None:
    """A sandbox that is followed is known to hold what was merged into it."""
    work = make_sandbox()
    with work.watched() as acts:
        kept: list[str] = []
        for files in ({"f": LINES}, {"f": LINES + b"t\n", "t/u": b""}, {"f": b"m\n" + LINES}):
            arrange(work.root, files)
            kept.append(acts.snapshot().snapshot_id)
        base, theirs, mine = kept
        strategy = MergeStrategy.GIT_THREE_WAY
        acts.merge(mine, base, theirs, strategy, NAMES)
        made = acts.snapshot()
        expect(list(acts.recheck()), [])
    expect(work.store(), made.snapshot_id)
    expect_same(read_tree(work.root), tree_of({"f": b"m\n" + LINES + b"t\n", "t/u": b""}))


def unknown_snapshots_cannot_be_merged(make_sandbox: MakeSandbox) -> None:
    """A snapshot that nobody stored is missing, and nothing changes."""
    work = make_sandbox()
    kept = work.store()
    work.write("more")
    other, before = work.store(), read_tree(work.root)
    strategy = MergeStrategy.LAST_WINS
    for three in ((UNKNOWN, kept, other), (other, UNKNOWN, kept), (other, kept, UNKNOWN)):
        expect_error(SnapshotMissingError, lambda three=three: _merge(work, *three, strategy))
    expect_error(SnapshotMissingError, lambda: work.acts().restore_paths(UNKNOWN, ["more"]))
    expect_same(read_tree(work.root), before)


def special_files_are_in_the_way(make_sandbox: MakeSandbox) -> None:
    """What no snapshot holds is never touched, whoever would win."""
    work = make_sandbox()
    kept: list[str] = []
    for files in (
        {"f": b"", "gone/f": b""},
        {"f": b"", "pipe": b"t", "d/pipe": b"t", "e": b"t"},
    ):
        arrange(work.root, files)
        kept.append(work.store())
    arrange(work.root, {"f": b"", "d": directory(), "e": directory(), "gone/f": b""})
    for path in ("pipe", "d/pipe", "e/pipe", "gone/pipe"):
        os.mkfifo(work.root / path)
    mine, before = work.store(), read_tree(work.root)
    for strategy in MergeStrategy:
        report = _merge(work, mine, kept[0], kept[1], strategy)
        done = {path: node for path, node in before.items() if path != "gone/f"}
        found = [(item.path, item.kind) for item in report.conflicts]
        expect(found, [(path, ConflictKind.IN_THE_WAY) for path in ("d/pipe", "e", "pipe")])
        failed = strategy is MergeStrategy.FAIL_ON_CONFLICT
        expect_same(read_tree(work.root), before if failed else done)
        work.restore(mine)


def git_stays_where_it_is(make_sandbox: MakeSandbox) -> None:
    """`HEAD`, branch and index are as they were, whatever was merged or taken."""
    work = make_sandbox()
    work.needs(Capability.GIT_STATE)
    arrange(work.root, {"f": LINES, "g": b"1"})
    base = work.store()
    work.git("add", "-A")
    work.git("commit", "-qm", "theirs")
    work.write("g", b"2")
    theirs = work.store()
    work.restore(base)
    work.write("staged")
    work.git("add", "staged")
    mine, before = work.store(), work.git_state()
    _merge(work, mine, base, theirs, MergeStrategy.GIT_THREE_WAY)
    expect((work.root / "g").read_bytes(), b"2")
    expect(work.git_state(), before)
    work.acts().restore_paths(base, ["g"])
    expect((work.root / "g").read_bytes(), b"1")
    expect(work.git_state(), before)


def single_paths_are_taken(make_sandbox: MakeSandbox) -> None:
    """A path becomes what a snapshot has there, or goes; what is beside it stays."""
    work = make_sandbox()
    arrange(work.root, {"f": file(b"1", 0o600), "l": link("x"), "d/x": b"1", "d/y": b"1"})
    then = work.store()
    arrange(work.root, {"f": b"2", "l": b"2", "d/x": b"2", "new": b"2", "d/y": b"2", "k": b"2"})
    before = read_tree(work.root)
    acts = work.acts()
    acts.restore_paths(then, ["f", "l", "./d//x", "new", "neither"])
    wanted = {"f": file(b"1", 0o600), "l": link("x"), "d/x": b"1", "d/y": b"2", "k": b"2"}
    expect_same(read_tree(work.root), tree_of(wanted))
    acts.restore_paths(then, [])
    expect_same(read_tree(work.root), tree_of(wanted))
    expect(before != read_tree(work.root), True)
    for path in ("/f", "../f", ""):
        expect_error(UsageError, lambda path=path: acts.restore_paths(then, [path]))


def directories_are_taken(make_sandbox: MakeSandbox) -> None:
    """One comes or goes whole; where both have one, it only gets its permission bits."""
    work = make_sandbox()
    arrange(work.root, {"d": directory(0o700), "d/x": b"1", "e/f/g": b"1", "h": b"1"})
    then = work.store()
    now = {".": directory(0o711), "d/x": b"2", "d/y": b"2", "e": b"2", "h/i": b"2"}
    arrange(work.root, now)
    acts = work.acts()
    acts.restore_paths(then, ["d"])
    taken = {**now, "d": directory(0o700)}
    expect_same(read_tree(work.root), tree_of(taken))
    acts.restore_paths(then, ["."])
    del taken["."]
    expect_same(read_tree(work.root), tree_of(taken))
    acts.restore_paths(then, ["e", "h"])
    wanted = {"d": directory(0o700), "d/x": b"2", "d/y": b"2", "e/f/g": b"1", "h": b"1"}
    expect_same(read_tree(work.root), tree_of(wanted))


def what_was_left_out_cannot_be_placed(make_sandbox: MakeSandbox) -> None:
    """A path that a snapshot names but does not hold is refused."""
    work = make_sandbox()
    os.mkfifo(work.root / "pipe")
    then = work.store()
    work.remove("pipe")
    work.write("pipe")
    before = read_tree(work.root)
    expect_error(SnapshotError, lambda: work.acts().restore_paths(then, ["pipe"]))
    expect_same(read_tree(work.root), before)


CONTRACT: tuple[Callable[[MakeSandbox], None], ...] = (
    what_one_side_changed_is_taken,
    lines_are_merged,
    contested_lines_are_marked,
    what_has_no_lines_stays_mine,
    deletions_are_merged,
    modes_are_merged,
    directories_are_merged,
    what_is_in_the_way_is_found,
    odd_names_are_merged,
    merged_links_are_not_followed,
    a_merge_can_be_repeated,
    merging_goes_on_while_watching,
    unknown_snapshots_cannot_be_merged,
    special_files_are_in_the_way,
    git_stays_where_it_is,
    single_paths_are_taken,
    directories_are_taken,
    what_was_left_out_cannot_be_placed,
)
