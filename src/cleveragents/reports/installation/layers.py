"""The layers of private views, as `agents doctor` and `agents gc` list them."""

from __future__ import annotations

from collections.abc import Sequence

from cleveragents.domain.health.layers import Layer
from cleveragents.domain.wording import size
from cleveragents.reports.described import Description, Field, times
from cleveragents.reports.report import Table

_LAYER = Description[Layer](
    Field("plan_id", "Plan", lambda it: it.plan_id),
    Field("project", "Project", lambda it: it.project),
    Field("bytes", "Size", lambda it: it.bytes, lambda it: size(it.bytes)),
    Field("created_at", "Since", lambda it: it.created_at),
)


def layers_data(found: Sequence[Layer]) -> list[dict[str, object]]:
    return _LAYER.list(found)


def layers_tables(found: Sequence[Layer]) -> tuple[Table, ...]:
    """Returns the table of the layers, or none if there are none."""
    if not found:
        return ()
    lines = [
        _LAYER.column("Project", found, cut="start"),
        _LAYER.column("Plan", found),
        _LAYER.column("Size", found),
        times("Since", [layer.created_at for layer in found]),
    ]
    columns = ("Project", "Plan", "Size", "Since")
    return (_LAYER.table("Work of private views not applied", found, columns, lines=lines),)
