"""Tells that this process waits for another one.

Waits happen far below the services, in places that know nothing of them. So whoever talks to
the user says around its work how an announcement is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar

_show: ContextVar[Callable[[str], None] | None] = ContextVar("show", default=None)


def announce_wait(text: str) -> None:
    """Shows the text, if anybody wants to see it."""
    show = _show.get()
    if show is not None:
        show(text)


@contextmanager
def waits_shown(show: Callable[[str], None]) -> Generator[None]:
    """Shows the announcements of this thread while the block runs."""
    before = _show.set(show)
    try:
        yield
    finally:
        _show.reset(before)
