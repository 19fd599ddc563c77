"""What every `Database` must do, as plain functions that raise when it does not.

Each function takes `make_database`, which opens the same store again at each call, as another
process would; the store is empty when the function starts. `CONTRACT` lists them all.
"""

from __future__ import annotations

from collections.abc import Callable

from cleveragents.testing.expectations import ContractError
from cleveragents.testing.records import (
    apply,
    checkpoints,
    events,
    history,
    plans,
    retention,
    tool_calls,
    transactions,
)
from cleveragents.testing.records.database import MakeDatabase

__all__ = ["CONTRACT", "ContractError", "MakeDatabase"]

CONTRACT: tuple[Callable[[MakeDatabase], None], ...] = (
    *plans.CONTRACT,
    *checkpoints.CONTRACT,
    *tool_calls.CONTRACT,
    *events.CONTRACT,
    *transactions.CONTRACT,
    *apply.CONTRACT,
    *history.CONTRACT,
    *retention.CONTRACT,
)
"""Every obligation; a suite over a store runs them all."""
