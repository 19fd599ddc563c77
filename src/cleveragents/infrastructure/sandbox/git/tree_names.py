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
_IN_QUOTES = {code: f"\\{code:03o}" for code in (*range(0x20), 0x7F)} | {
    ord(character): f"\\{letter}" for character, letter in zip('"\\\n\t\r', '"\\ntr', strict=True)
}
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


def quoted(name: str) -> str:
    """Returns a name as git writes it in a patch: in quotation marks if it has odd characters."""
    escaped_name = name.translate(_IN_QUOTES)
    return name if escaped_name == name else f'"{escaped_name}"'


def _is_refused(name: str) -> bool:
    return (
        name.startswith(ESCAPED)
        or name.translate(_INVISIBLE).lower() == ".git"
        or any(_WINDOWS_GIT.match(part) for part in name.split("\\"))
    )
