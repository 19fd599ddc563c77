"""Sets of positive integers stored as ranges: 1..1000 is one pair."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

Ranges = Sequence[tuple[int, int]]
"""First and last number of each range, inclusive; sorted, and never adjacent."""

HIGHEST = 2**31 - 1
"""The highest possible number: the largest that every database stores as a plain integer."""


def ranges_of(numbers: Iterable[int]) -> Ranges:
    """Returns the ranges of exactly these numbers."""
    found: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if found and found[-1][1] == number - 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found


def gaps(ranges: Ranges, last: int) -> Ranges:
    """Returns the ranges of the missing numbers from 1 to `last`."""
    found: list[tuple[int, int]] = []
    following = 1
    for first, final in ranges:
        if following < first:
            found.append((following, first - 1))
        following = final + 1
    if following <= last:
        found.append((following, last))
    return found


def chosen(ranges: Ranges, wanted: Callable[[int], bool]) -> tuple[tuple[int, int], ...]:
    """Returns the ranges of the numbers for which `wanted` is true."""
    numbers = (number for first, last in ranges for number in range(first, last + 1))
    return tuple(ranges_of(filter(wanted, numbers)))


def followed_by(ranges: Ranges, number: int) -> tuple[tuple[int, int], ...]:
    """Returns the ranges with one more number, which is higher than all of them."""
    if ranges and ranges[-1][1] == number - 1:
        return (*ranges[:-1], (ranges[-1][0], number))
    return (*ranges, (number, number))


def holds(ranges: Ranges, number: int) -> bool:
    return any(first <= number <= last for first, last in ranges)
