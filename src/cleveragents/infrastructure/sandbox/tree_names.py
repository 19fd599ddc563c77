"""Names that a git tree must not hold, written so that it can.

git refuses trees with an entry that some file system takes for `.git`: that
would hide a repository inside a repository. Sandboxes do hold such entries, the
data of nested repositories above all, so they are stored under an escaped name.
"""

from __future__ import annotations

import re

ESCAPED = "%escaped-"
_SUSPICIOUS = re.compile(r"(?i)[.]\W*g|git~|\\|%escaped-|[^\x00-\x7f]")
_WINDOWS_GIT = re.compile(r"(?i)(\.git|git~1)[. ]*($|[\\:])")
# Characters that HFS+ leaves out when it compares names.
_INVISIBLE = dict.fromkeys(
    (*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF)
)


def escaped(name: str) -> str:
    """Returns the name as a tree may have it; nearly always the name itself."""
    if not _SUSPICIOUS.search(name) or not _is_refused(name):
        return name
    return ESCAPED + name.replace("%", "%25").replace("\\", "%5c")


def unescaped(name: str) -> str:
    """Returns the name that was escaped."""
    if not name.startswith(ESCAPED):
        return name
    return name.removeprefix(ESCAPED).replace("%5c", "\\").replace("%25", "%")


def shown(path: str) -> str:
    """Returns a path of a tree with the names it stands for."""
    return "/".join(map(unescaped, path.split("/"))) if ESCAPED in path else path


def _is_refused(name: str) -> bool:
    return (
        name.startswith(ESCAPED)
        or name.translate(_INVISIBLE).lower() == ".git"
        or any(_WINDOWS_GIT.match(part) for part in name.split("\\"))
    )
