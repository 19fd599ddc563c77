"""The tables of a comparison, in Markdown that is as readable in a terminal."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from benchmarks.compare.judging import OURS, Judgement, judge
from benchmarks.compare.results import (
    Check,
    Comparison,
    KindsRestored,
    Machine,
    Measured,
    OnTree,
    Restored,
    Role,
    Scenario,
    Standing,
)

_NONE = "–"


def render(rows: Sequence[Sequence[str]]) -> str:
    """Returns a table whose first row is its heading; all columns but the first are numbers."""
    widths = [max(3, *(len(row[column]) for row in rows)) for column in range(len(rows[0]))]
    rule = [
        "-" * width if column == 0 else "-" * (width - 1) + ":"
        for column, width in enumerate(widths)
    ]
    lines = [_line(rows[0], widths), _line(rule, widths), *(_line(row, widths) for row in rows[1:])]
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = [
        cell.ljust(width) if column == 0 else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return "| " + " | ".join([first, *others]) + " |"


def summary(comparison: Comparison) -> str:
    """Returns what ours costs of the fastest technique that counts, with the limits."""
    results = comparison.trees
    found = {
        (each.role, each.scenario, column): each
        for column, result in enumerate(results)
        for each in judge(result)
    }
    rows = [["ours / fastest that counts", *(str(result.tree) for result in results)]]
    for role in OURS:
        for scenario in Scenario:
            cells = [found.get((role, scenario, column)) for column in range(len(results))]
            if any(cells):
                rows.append([_label(role, scenario), *map(_verdict, cells)])
    return render(rows)


def _label(role: Role, scenario: Scenario) -> str:
    match role:
        case Role.IN_PLAN:
            return scenario.value
        case Role.PRIVATE_VIEW:
            return f"{scenario.value}, private view, new process"
        case _:
            return f"{scenario.value}, new process"


def _verdict(judgement: Judgement | None) -> str:
    if judgement is None:
        return _NONE
    if judgement.limit is None:
        return f"{judgement.ratio:.2f}"
    mark = "" if judgement.kept else " **missed**"
    return f"{judgement.ratio:.2f} (≤ {judgement.limit:g}){mark}"


def medians(result: OnTree) -> str:
    """Returns the medians of every technique on one tree, in milliseconds."""
    rows = [["ms", *(scenario.value for scenario in Scenario), "restores are"]]
    rows += [
        [
            each.name,
            *(milliseconds(each.median(scenario)) for scenario in Scenario),
            _NONE if each.standing is None else str(each.standing),
        ]
        for each in result.techniques
    ]
    return render(rows)


def besides(result: OnTree) -> str:
    """Returns what was measured on a tree and has no peer, in sentences; or nothing."""
    sentences = [
        f"{sentence} {milliseconds(statistics.median(seconds))} ms."
        for sentence, seconds in (
            ("`plan rollback` of 1 file from a new process (safety checkpoint, journal, "
             "verification, records):", result.rollback),
            ("What a new process does afterwards, when it lets go of its files:", result.closing),
        )
        if seconds
    ]  # fmt: skip
    return "".join(f"{line}\n" for line in [*sentences, *_notes(result.techniques)])


def _notes(techniques: Sequence[Measured]) -> list[str]:
    return [f"{each.name} {note}." for each in techniques for note in each.notes]


def checks(found: Sequence[Check]) -> str:
    """Returns the numbers that have limits of their own."""
    rows = [["", "measured", "limit", "kept"]]
    rows += [
        [
            check.name,
            check.measured,
            _NONE if check.limit is None else f"{check.limit:,g} {check.unit}".strip(),
            _NONE if check.limit is None else ("yes" if check.kept else "**missed**"),
        ]
        for check in found
    ]
    return render(rows)


def kinds(found: Sequence[KindsRestored]) -> str:
    """Returns which kinds of change each technique took back, a column for each technique."""
    if not found:
        return ""
    rows = [["", *(each.name for each in found)]]
    rows += [[kind, *(_restored(each.kinds[kind]) for each in found)] for kind in found[0].kinds]
    return render(rows)


def _restored(what: Restored) -> str:
    if what.failure:
        return "failed"
    if what.back is Standing.INEXACT:
        return "no"
    if what.again is Standing.INEXACT:
        return "not again"
    return "nearly" if Standing.NEAR_EXACT in (what.back, what.again) else "yes"


def machine(found: Machine) -> str:
    return render([["", "of this run"], *([name, value] for name, value in found.facts.items())])


def milliseconds(seconds: float | None) -> str:
    """Returns three figures or so, which is more than a median of few rounds can tell."""
    if seconds is None:
        return _NONE
    value = seconds * 1_000
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"
