"""What every `SnapshotStore` must do, as plain functions that raise when it does not.

Each function takes `make_sandbox`, which gives a store and a sandbox of its own with at least
one file. `CONTRACT` lists them all. What not every store can do is a `Capability`, which the
store declares. A function that needs a capability the store does not have raises
`NotOfferedError`, which a suite reports and does not count as a failure.
"""

from __future__ import annotations

from collections.abc import Callable

from cleveragents.testing.expectations import ContractError, NotOfferedError
from cleveragents.testing.snapshots import capabilities, changes, combining, merging, restoring
from cleveragents.testing.snapshots.workspace import Capability, ContractWorkspace, MakeSandbox

__all__ = [
    "CONTRACT",
    "Capability",
    "ContractError",
    "ContractWorkspace",
    "MakeSandbox",
    "NotOfferedError",
]

CONTRACT: tuple[Callable[[MakeSandbox], None], ...] = (
    *restoring.CONTRACT,
    *changes.CONTRACT,
    *capabilities.CONTRACT,
    *combining.CONTRACT,
    *merging.CONTRACT,
)
"""Every obligation; a suite over a store runs them all."""
