"""What the formats for people share: widths, lists that fit the screen, the colors of a diff."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest

from msgspec.structs import replace

from cleveragents.cli.terminal import (
    BOLD,
    CYAN,
    GREEN,
    RED,
    YELLOW,
    filled,
    shortened,
    visible,
    width,
)
from cleveragents.reports.report import Column, Commands, Fields, Table

MOST_ROWS = 20
_GAP = 2
_READABLE = 20
"""Optional columns are left out before a value is cut to less than this."""
_LEAST = 6
_ACTIONS = {
    **dict.fromkeys(("added", "restored", "restore", "passed", "ok", "fixed"), GREEN),
    **dict.fromkeys(("deleted", "removed", "remove", "failed", "problem", "damaged"), RED),
    **dict.fromkeys(("modified", "mode changed", "type changed", "warning"), YELLOW),
}
_ACTION_COLUMNS = ("Action", "Status", "State")


def cells(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Returns the rows with every value made safe to show."""
    return [[visible(value) for value in row] for row in rows]


def widths(rows: Sequence[Sequence[str]]) -> list[int]:
    """Returns how wide each column of the rows is."""
    return [max(width(value) for value in column) for column in zip(*rows, strict=True)]


def without_empty_columns(section: Table) -> Table:
    """Returns the table without columns that are empty in every row."""
    kept = [
        position
        for position in range(len(section.columns))
        if not section.rows or any(row[position] for row in section.rows)
    ]
    return replace(
        section,
        columns=tuple(section.columns[position] for position in kept),
        rows=tuple(tuple(row[position] for position in kept) for row in section.rows),
    )


def with_first_rows(section: Table, *, every_row: bool) -> tuple[Table, list[str]]:
    """Returns the table with the rows to show, and a line that counts the others."""
    more = len(section.rows) - MOST_ROWS
    if every_row or not section.limited or more <= 0:
        return section, []
    rest = f"… and {more} more; add `--all` to list them"
    return replace(section, rows=section.rows[:MOST_ROWS]), [rest]


def fitted(columns: Sequence[Column], room: int | None) -> tuple[list[list[str]], list[str]]:
    """Fits a list into a number of columns of the screen; None is as many as it takes.

    Narrow forms come first. Optional columns are left out if that keeps the others readable.
    Then long values are cut, with an ellipsis. What cannot be cut is shown whole, even if the
    line becomes too long.

    Returns:
        The heading and the rows, and a remark if columns were left out.
    """
    shown = [_safe(column) for column in columns if any(column.values)]
    if room is None:
        return _rows(shown), []
    for position, column in enumerate(shown):
        if _excess(shown, room) > 0 and column.narrow is not None:
            shown[position] = _safe(column.narrow)
    left_out: list[str] = []
    while _excess(shown, room) > 0 and not _can_be_cut(shown, room):
        optional = [column for column in shown if column.optional]
        if not optional:
            break
        shown.remove(optional[-1])
        left_out.insert(0, optional[-1].heading)
    wanted = {at: _width(shown[at]) for at in _cuttable(shown)}
    for at, columns_left in less(wanted, _excess(shown, room), _LEAST).items():
        shown[at] = _cut(shown[at], columns_left)
    if not left_out:
        return _rows(shown), []
    return _rows(shown), [f"Not shown on this narrow screen: {', '.join(left_out)}"]


def less(wide: Mapping[int, int], excess: int, least: int) -> dict[int, int]:
    """Returns the widths without the excess, taken from the widest ones, but never below least."""
    narrowed = dict(wide)
    for _ in range(excess):
        widest = max(narrowed, key=lambda at: narrowed[at], default=None)
        if widest is None or narrowed[widest] <= least:
            break
        narrowed[widest] -= 1
    return narrowed


def folded(rows: Sequence[Sequence[str]], room: int | None) -> list[list[list[str]]]:
    """Returns each cell as lines; those with several words are wrapped if the rows are too wide.

    Args:
        rows: Safe cells, all rows of the same length.
        room: For the cells alone; None wraps nothing.
    """
    wide = dict(enumerate(widths(rows)))
    if room is not None:
        wrappable = {at: size for at, size in wide.items() if any(" " in row[at] for row in rows)}
        wide |= less(wrappable, sum(wide.values()) - room, _READABLE)
    return [[filled(cell, wide[at]) or [""] for at, cell in enumerate(row)] for row in rows]


def table_width(folds: Sequence[Sequence[Sequence[str]]]) -> int:
    """Returns how many columns the cells of a folded table take, without what separates them."""
    return sum(widths([line for row in folds for line in stacked(row)]))


def without_table(rows: Sequence[Sequence[str]], room: int) -> list[str]:
    """Returns a heading and the lines of all rows if a table would be too wide.

    The widest column comes below the others. So a long word, such as a path, is not broken, and
    can be copied.
    """
    wide = widths(rows)
    widest = wide.index(max(wide))
    lines: list[str] = []
    for row in rows:
        others = [pad(cell, wide[at]) for at, cell in enumerate(row) if at != widest]
        lines.append("  ".join(others).rstrip())
        lines += [f"    {line}" for line in filled(row[widest], room - 4)]
    return lines


def stacked(row: Sequence[Sequence[str]]) -> list[tuple[str, ...]]:
    """Returns the lines of a row whose cells have several."""
    return list(zip_longest(*row, fillvalue=""))


def command_lines(section: Commands, room: int | None) -> list[str]:
    """Returns each reason with its command, which is never wrapped, so that it can be copied."""
    if not section.rows:
        return [visible(section.empty)]
    pairs = [(visible(row[-2]), visible(row[-1])) for row in section.rows]
    longest = max(width(reason) for reason, _ in pairs)
    if room is None or all(longest + 4 + width(command) <= room for _, command in pairs):
        return [f"  {pad(reason, longest)}  {command}" for reason, command in pairs]
    lines: list[str] = []
    for reason, command in pairs:
        lines += [f"  {line}" for line in filled(reason, room - 2)]
        lines.append(f"    {command}")
    return lines


def pair_lines(section: Fields, room: int | None) -> list[tuple[str, str]]:
    """Returns the lines of a panel, each a name and a part of its value.

    A value with a word that does not fit beside its name, such as a path, has lines of its own,
    so that it can be copied in one piece.
    """
    safe = cells(section.rows)
    longest = max((width(name) for name, _ in safe), default=0)
    lines: list[tuple[str, str]] = []
    for name, value in safe:
        beside = [value] if room is None else filled(value, max(room - longest - 2, 1))
        if room is not None and any(width(part) > room - longest - 2 for part in beside):
            lines.append((name, ""))
            lines += [("", f"  {part}") for part in filled(value, room - 2)]
            continue
        first, *rest = beside or [""]
        lines.append((name, f"{' ' * (longest - width(name))}  {first}"))
        lines += [("", f"{' ' * longest}  {part}") for part in rest]
    return [(name, text.rstrip()) for name, text in lines]


def action_style(heading: str, value: str) -> str:
    """Returns the color of a word that says what happened to something; of others none."""
    return _ACTIONS.get(value.strip(), "") if heading in _ACTION_COLUMNS else ""


def pad(text: str, columns: int) -> str:
    return text + " " * (columns - width(text))


def diff_styles(body: str) -> list[tuple[str, str]]:
    """Pairs each line with its style; text that is not a diff has none."""
    lines = body.splitlines()
    if not any(line.startswith("@@ ") for line in lines):
        return [(line, "") for line in lines]
    return [(line, _diff_style(line)) for line in lines]


def _diff_style(line: str) -> str:
    if line.startswith(("+++", "---", "diff ")):
        return BOLD
    return {"+": GREEN, "-": RED, "@": CYAN}.get(line[:1], "")


def _safe(column: Column) -> Column:
    return replace(column, values=tuple(visible(value) for value in column.values))


def _rows(columns: Sequence[Column]) -> list[list[str]]:
    return [list(row) for row in zip(*((it.heading, *it.values) for it in columns), strict=True)]


def _width(column: Column) -> int:
    return max(width(value) for value in (column.heading, *column.values))


def _excess(columns: Sequence[Column], room: int) -> int:
    return sum(map(_width, columns)) + _GAP * (len(columns) - 1) - room


def _cuttable(columns: Sequence[Column]) -> list[int]:
    return [position for position, column in enumerate(columns) if column.cut != "never"]


def _can_be_cut(columns: Sequence[Column], room: int) -> bool:
    """Whether cutting makes the list fit and leaves the values readable."""
    spare = sum(max(_width(columns[at]) - _READABLE, 0) for at in _cuttable(columns))
    return spare >= _excess(columns, room)


def _cut(column: Column, room: int) -> Column:
    start = column.cut == "start"
    values = tuple(shortened(value, room, at_start=start) for value in column.values)
    return replace(column, heading=shortened(column.heading, room), values=values)
