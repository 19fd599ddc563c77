"""A file system monitor for git, where git has none of its own for this system.

git runs the hook `core.fsmonitor` before it looks at a working tree. Ours is two
lines of shell: they hand git's token to a thread, to which the system reports every
change by the same means that our own snapshots use, and print what it answers.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path

from cleveragents.infrastructure.sandbox.files.inotify import PendingChanges, Watch

_HOOK = """\
#!/bin/sh
printf '%s' "$2" >'{ask}'
exec cat '{answer}'
"""
_STOP = "stop"


class Monitor:
    """Watches a directory and answers the hook until it is closed."""

    def __init__(self, root: Path, place: Path) -> None:
        """Starts watching; raises WatchUnavailableError where that is impossible."""
        self._root = root
        self._ask, self._answer = place / "ask", place / "answer"
        self.hook = place / "hook"
        self._watch = Watch(str(root))
        self._changed: list[str] = []
        """Everything that changed, in order; a token is a place in it."""
        self._watch_below("")
        for pipe in (self._ask, self._answer):
            os.mkfifo(pipe)
        script = _HOOK.format(ask=self._ask, answer=self._answer)
        self.hook.write_text(script, encoding="utf-8")
        self.hook.chmod(0o700)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._ask.write_text(_STOP, encoding="utf-8")
        self._thread.join()
        self._watch.close()

    def _serve(self) -> None:
        while (token := self._ask.read_text(encoding="utf-8")) != _STOP:
            changed = "".join(f"{path}\0" for path in self._since(token))
            self._answer.write_bytes(os.fsencode(f"{len(self._changed)}\0{changed}"))

    def _since(self, token: str) -> list[str]:
        """Returns what changed since a token; `/`, which is everything, for one of another life."""
        self._note(self._watch.drain())
        known = token.isdigit() and int(token) <= len(self._changed)
        return self._changed[int(token) :] if known else ["/"]

    def _note(self, pending: PendingChanges) -> None:
        if pending.lost:
            self._watch_below("")
            self._changed.append("/")
        for path in pending.replaced:
            self._watch_below(path)
            self._changed.append(f"{path}/")
        self._changed += pending.paths

    def _watch_below(self, path: str) -> None:
        """Watches a directory and all below it, except git's own."""
        self._watch.add(path)
        try:
            names = [entry.name for entry in os.scandir(self._root / path) if _is_directory(entry)]
        except (FileNotFoundError, NotADirectoryError):
            return
        for name in names:
            self._watch_below(f"{path}/{name}" if path else name)


def _is_directory(entry: os.DirEntry[str]) -> bool:
    return entry.name != ".git" and entry.is_dir(follow_symlinks=False)
