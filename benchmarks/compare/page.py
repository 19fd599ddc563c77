"""The reference page about performance: `page.md` with the tables of one run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from string import Template

from benchmarks.compare import table
from benchmarks.compare.results import Comparison, OnTree

_TEMPLATE = Path(__file__).with_name("page.md")


def page(comparison: Comparison) -> str:
    """Returns the whole page."""
    return Template(_TEMPLATE.read_text(encoding="utf-8")).substitute(
        summary=table.summary(comparison),
        omissions=_omissions(comparison.notes),
        trees="\n".join(map(_on_tree, comparison.trees)),
        kinds=table.kinds(comparison.kinds),
        checks=table.checks(comparison.checks),
        machine=table.machine(comparison.machine),
    )


def _on_tree(result: OnTree) -> str:
    return "\n".join(
        filter(None, [f"## {result.tree}\n", table.medians(result), table.besides(result)])
    )


def _omissions(notes: Sequence[str]) -> str:
    """Returns a paragraph about what was left out, or nothing."""
    if not notes:
        return ""
    return "\nNot measured in this run:\n\n" + "".join(f"- {note}\n" for note in notes)
