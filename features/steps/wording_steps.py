from __future__ import annotations

from behave import then
from behave.runner import Context

from cleveragents.domain.wording import counted, listed, size


@then("{count:d} bytes are written as {text}")
def bytes_written(_: Context, count: int, text: str) -> None:
    assert size(count) == text, size(count)


@then("{count:d} of {noun} is written as {text}")
def count_written(_: Context, count: int, noun: str, text: str) -> None:
    assert counted(count, *noun.split("/")) == text, counted(count, *noun.split("/"))


@then("at most {most:d} of {items} are written as {text}")
def list_written(_: Context, most: int, items: str, text: str) -> None:
    assert listed(items.split(", "), most) == text, listed(items.split(", "), most)
