"""Changes in short: `path:before after`, each state one character.

`-` is nothing, `d` and `D` are directories, `l` and `m` links, `x`, `y` and `z` files of other
bytes, and `X` a file with the bytes of `x` and other permission bits. `@two` names another
resource, `~CHILD` another plan. Each change is by a call of its own, numbered from 1.
"""

from __future__ import annotations

import re
import stat

from cleveragents.domain.sandboxes.artifact import Artifact
from cleveragents.domain.sandboxes.change import AuthoredChange, PathState, change_of

_NOTE = re.compile(r"([^:]+):(.)(.)(?:@(\w+))?(?:~(\w+))?")
_STATES = {
    "-": None,
    "d": PathState(mode=stat.S_IFDIR | 0o755, hash=None),
    "D": PathState(mode=stat.S_IFDIR | 0o700, hash=None),
    "l": PathState(mode=stat.S_IFLNK | 0o777, hash="l"),
    "X": PathState(mode=stat.S_IFREG | 0o600, hash="x"),
    **{name: PathState(mode=stat.S_IFREG | 0o644, hash=name) for name in "xyz"},
}


def changes(text: str) -> list[AuthoredChange]:
    notes = [] if text == "nothing" else text.split()
    return [_change(number, note) for number, note in enumerate(notes, 1)]


def describe(artifact: Artifact) -> str:
    """Returns an artifact as the rules write it."""
    assert (artifact.tool, artifact.step_index) == ("shell", int(artifact.authors[0].call_id) - 1)
    prefix = "" if artifact.resource == "one" else f"{artifact.resource}/"
    calls = ",".join(author.call_id for author in artifact.authors)
    child = f" in {artifact.child_plan}" if artifact.child_plan else ""
    return f"{prefix}{artifact.path} {artifact.change} {artifact.type} by {calls}{child}"


def _change(number: int, note: str) -> AuthoredChange:
    found = _NOTE.fullmatch(note)
    assert found is not None, note
    path, before, after, resource, child = found.groups()
    change = change_of(path, _STATES[before], _STATES[after])
    assert change is not None, note
    return AuthoredChange(
        **change.model_dump(),
        resource=resource or "one",
        plan_id=child or "PLAN1",
        call_id=str(number),
        call_sequence=number,
        step_index=number - 1,
        tool="shell",
        undone_by=None,
    )
