"""Waiting for file descriptors of any number: `select` refuses those from 1,024 on."""

from __future__ import annotations

import select
from collections.abc import Iterable


def readable(descriptors: Iterable[int], seconds: float | None = None) -> list[int]:
    """Returns the descriptors that have data to read or are at their end.

    Args:
        descriptors: The descriptors to wait for.
        seconds: How long to wait for the first one; None waits without a limit.
    """
    waiting = select.poll()
    for descriptor in descriptors:
        waiting.register(descriptor, select.POLLIN)
    ready = waiting.poll(None if seconds is None else seconds * 1000)
    return [descriptor for descriptor, _ in ready]
