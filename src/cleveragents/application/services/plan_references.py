"""Which plans a text may name."""

from __future__ import annotations

from collections.abc import Sequence

from cleveragents.application.ports.records import Transaction
from cleveragents.domain import ids


def named_plans(transaction: Transaction, text: str, nearby: Sequence[str]) -> Sequence[str]:
    """Returns the ids that `text` may name; `@latest` counts the plans of one project only.

    Args:
        transaction: Where to look.
        text: As the user typed it.
        nearby: The directories that may be the project, the most likely first.
    """
    if text.startswith("@"):
        plans = (transaction.plans.ids(subplans=False, project=project) for project in nearby)
        return next((found for found in plans if found), ())
    prefix = ids.normalise(text)
    return () if prefix is None else transaction.plans.ids(prefix)
