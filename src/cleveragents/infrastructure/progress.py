"""Shows how far work on many files is.

Such work happens far below the services, in places that know nothing of them. So the code that
talks to the user sets how progress is shown while it calls them; see `waits`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

ItemT = TypeVar("ItemT")
ShowProgress = Callable[[str, int, int], None]
"""Receives the name of the work, how many parts are done, and how many there are."""

_MANY = 1000
"""Less work than this ends before a bar could be read."""
_UPDATES = 100

_show: ContextVar[ShowProgress | None] = ContextVar("show_progress", default=None)


@contextmanager
def progress_shown(show: ShowProgress) -> Generator[None]:
    """Shows the progress of this thread while the block runs."""
    before = _show.set(show)
    try:
        yield
    finally:
        _show.reset(before)


def counted(name: str, items: Collection[ItemT]) -> Iterable[ItemT]:
    """Returns the items, and shows how many the caller has taken if there are many."""
    advance = counter(name, len(items)) if len(items) >= _MANY else None
    return items if advance is None else _counted(items, advance)


def counter(name: str, total: int) -> Callable[[int], None] | None:
    """Returns a function that counts finished parts; None if there is nothing to show."""
    show = _show.get()
    if show is None or total < _MANY:
        return None
    done = 0

    def advance(count: int) -> None:
        nonlocal done
        before, done = done, min(done + count, total)
        if done * _UPDATES // total != before * _UPDATES // total:
            show(name, done, total)

    return advance


def _counted(items: Iterable[ItemT], advance: Callable[[int], None]) -> Iterator[ItemT]:
    for item in items:
        yield item
        advance(1)
