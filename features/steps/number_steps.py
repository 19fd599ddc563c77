from __future__ import annotations

from behave import then, when
from behave.runner import Context

from cleveragents.domain.checkpoints.number_ranges import Ranges, gaps, holds, ranges_of


def written(ranges: Ranges) -> str:
    return " ".join(f"{first}-{last}" for first, last in ranges) or "nothing"


@when("the numbers {numbers} are kept as ranges, up to {last:d}")
def keep(context: Context, numbers: str, last: int) -> None:
    context.numbers = set() if numbers == "nothing" else set(map(int, numbers.split()))
    context.ranges = ranges_of(context.numbers)
    context.gaps = gaps(context.ranges, last)
    assert all(holds(context.ranges, n) == (n in context.numbers) for n in range(1, last + 2))


@then("the ranges are {ranges}")
def ranges_are(context: Context, ranges: str) -> None:
    assert written(context.ranges) == ranges, context.ranges


@then("what is missing is {missing}")
def missing_is(context: Context, missing: str) -> None:
    assert written(context.gaps) == missing, context.gaps
