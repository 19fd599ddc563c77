"""`nox -s compare`: measures, prints the tables, and fails where a limit is missed.

python -m benchmarks.compare.run --help
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from benchmarks.compare import extras, table
from benchmarks.compare.judging import failures
from benchmarks.compare.kinds import compare_kinds
from benchmarks.compare.machine import this_machine
from benchmarks.compare.measuring import compare_on
from benchmarks.compare.page import page
from benchmarks.compare.results import Check, Comparison, OnTree, Tree
from benchmarks.compare.sessions import session_checks

_BUILD = Path(__file__).parents[2] / "build"
"""Where the trees go: beside the code, because `/tmp` may be memory, where syncing is free."""
_LARGE = 20_000
Found = TypeVar("Found")
_TREES = (Tree(1_000), Tree(10_000), Tree(100_000), Tree(10_000, ignored=30_000))


def main(arguments: Sequence[str]) -> int:
    """Returns 0 if every limit was kept, else 1."""
    options = _parser().parse_args(arguments)
    if options.quick:
        options.sizes, options.rounds, options.checkpoints = [Tree(1_000)], 3, 60
    comparison = compare(options.sizes, options.rounds, options.checkpoints)
    _show(comparison)
    if options.output:
        options.output.write_text(page(comparison), encoding="utf-8")
    broken = failures(comparison)
    print("\n".join(broken) if broken else "Every limit was kept.")
    return 1 if broken else 0


def compare(trees: Sequence[Tree], rounds: int, checkpoints: int) -> Comparison:
    """Measures everything and returns what was found."""
    _BUILD.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="compare-", dir=_BUILD) as directory:
        place = Path(directory)
        results: list[OnTree] = []
        notes: dict[str, None] = {}
        for number, tree in enumerate(trees):
            result, missing = _apart(
                place / f"tree{number}",
                lambda here, tree=tree: compare_on(tree, here, _rounds_on(tree, rounds), _say),
            )
            results.append(result)
            notes |= dict.fromkeys(missing)
        checks = list(_checks(place, trees, checkpoints))
        kinds = _apart(place / "kinds", lambda here: compare_kinds(here, _say))
        return Comparison(this_machine(place), results, checks, list(notes), kinds)


def _rounds_on(tree: Tree, rounds: int) -> int:
    """Large trees take long, and vary little: half the rounds tell as much."""
    return rounds if tree.files <= _LARGE else max(rounds // 2, min(rounds, 3))


def _checks(place: Path, trees: Sequence[Tree], checkpoints: int) -> Iterable[Check]:
    sizes = sorted({tree.files for tree in trees})
    usual = min(sizes, key=lambda files: abs(files - 10_000))
    _say(f"growth over {checkpoints:,} checkpoints")
    yield _apart(place / "growth", lambda here: extras.growth(here, usual, checkpoints))
    _say("disk")
    yield from _apart(place / "disk", lambda here: extras.disk(here, usual))
    yield from _apart(place / "sessions", lambda here: session_checks(here, sizes[-1], _say))
    _say("memory")
    pair = (sizes[0], sizes[-1]) if len(sizes) > 1 else (min(sizes[0], 1_000), max(sizes[0], 5_000))
    yield _apart(place / "memory", lambda here: extras.memory(here, pair))


def _apart(place: Path, measure: Callable[[Path], Found]) -> Found:
    """Measures in a directory that is gone afterwards: the disk holds what one tree needs."""
    place.mkdir()
    try:
        return measure(place)
    finally:
        shutil.rmtree(place)


def _show(comparison: Comparison) -> None:
    for result in comparison.trees:
        print(f"\n{result.tree}, medians\n")
        print(table.medians(result))
        print(table.besides(result))
    print(table.summary(comparison))
    print(table.kinds(comparison.kinds))
    print(table.checks(comparison.checks))
    print(table.machine(comparison.machine))
    print("".join(f"Not measured: {note}\n" for note in comparison.notes))


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


def _tree(text: str) -> Tree:
    files, _, ignored = text.partition("+")
    return Tree(int(files), int(ignored or 0))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="nox -s compare --", description=__doc__)
    parser.add_argument(
        "--sizes",
        nargs="+",
        type=_tree,
        default=list(_TREES),
        metavar="FILES[+IGNORED]",
        help="the trees to measure on",
    )
    parser.add_argument(
        "--rounds",
        type=int,
        default=9,
        help="how often each act is measured, on large trees half as often",
    )
    parser.add_argument(
        "--checkpoints", type=int, default=1_000, help="how far growth is looked at"
    )
    parser.add_argument("--quick", action="store_true", help="1,000 files and three rounds")
    parser.add_argument("--output", type=Path, help="the page to write the tables to")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
