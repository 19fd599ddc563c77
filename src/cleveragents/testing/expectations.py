"""Comparisons that raise `ContractError`, for all contract suites."""

from __future__ import annotations

from collections.abc import Callable

from cleveragents.domain.errors import CleverAgentsError
from cleveragents.testing.trees import Tree, differing


class ContractError(AssertionError):
    """The implementation does not do what its port requires."""


class NotOfferedError(Exception):
    """The implementation declares that it does not have the capability."""


def expect(found: object, wanted: object) -> None:
    if found != wanted:
        raise ContractError(f"found {found!r}, wanted {wanted!r}")


def expect_same(found: Tree, wanted: Tree) -> None:
    expect(differing(found, wanted), [])


def expect_error(kind: type[CleverAgentsError], action: Callable[[], object]) -> None:
    try:
        action()
    except kind:
        return
    raise ContractError(f"{kind.__name__} was not raised")
