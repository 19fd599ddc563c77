"""The modes that most files and directories of a new sandbox have."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Generator
from contextlib import suppress
from itertools import islice

from cleveragents.infrastructure.sandbox.store.captured_state import (
    UsualModes,
    git_mode_of,
    usual_modes_under,
)

_SAMPLE = 2_000
_KINDS = (stat.S_IFREG, stat.S_IFDIR)


def usual_modes_in(root: str) -> UsualModes:
    """Returns the modes that are commonest among some of the files of a directory."""
    modes: dict[str, Counter[int]] = {}
    for status in islice(_statuses(root), _SAMPLE):
        mode = stat.S_IMODE(status) if stat.S_ISDIR(status) else status
        modes.setdefault(git_mode_of(status), Counter())[mode] += 1
    commonest = {
        kind: min(counted, key=lambda mode: (-counted[mode], mode))  # called at once
        for kind, counted in modes.items()
    }
    return {**usual_modes_under(0o777 & ~stat.S_IMODE(os.stat(root).st_mode)), **commonest}


def _statuses(root: str) -> Generator[int]:
    waiting = [root]
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop(0)) as entries:
            for entry in sorted(entries, key=lambda entry: entry.name):
                status = entry.stat(follow_symlinks=False).st_mode
                if entry.name == ".git" or stat.S_IFMT(status) not in _KINDS:
                    continue
                yield status
                if stat.S_ISDIR(status):
                    waiting.append(entry.path)
