"""Whole screens, to be compared with files that somebody has read.

Only what nobody can know beforehand is replaced: ids by the names of what they are the ids of,
times, durations, commits and the places of things. What stands in the cell of a table keeps its
width. `nox -s golden` writes the files.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from features.support.plans import Plans
from features.support.world import Outcome

PLACE = Path(__file__).parent.parent / "golden"
COLUMNS = 100

_ID = re.compile(r"\b([0-9A-HJKMNP-TV-Z]{26})\b(  )?")
_UNKNOWABLE = (
    (r"\b[0-9a-f]{40}\b", "«commit»"),
    (r"\d{4}-\d\d-\d\dT[\d:.]+Z", "«time»"),
    (r'(duration_ms"?: )\d+', r"\1«number»"),
    (r'((?:time_seconds|eta)"?: )[\d.]+', r"\1«number»"),
    (r"(took )[\d.]+( s )", r"\1«n»\2"),
    (r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "YYYY-MM-DD hh:mm:ss"),
    (r"\b\d\d:\d\d:\d\d\b", "hh:mm:ss"),
    (r"\b\d\d-\d\d UTC", "MM-DD UTC"),
    (r"\b\d+\.\d (?=[KM]B)", "n.n "),
    (r"\b(show|revert) [0-9a-f]{12}\b", r"\1 «commit»"),
    (r"\b[0-9a-f]{12}\b", "«state»     "),
    (r"\b\d+ ms\b", "«n» ms"),
    (r"-[0-9a-f]{16}\b", "-«16 digits»    "),
)
_BORDER = re.compile(r"([│|])")
_NAMES = (
    "SELECT plan_id, iif(parent_plan_id IS NULL, 'plan', 'child') FROM plans ORDER BY 1",
    "SELECT checkpoint_id, 'cp:' || json_extract(metadata_json, '$.label')"
    " FROM checkpoint_metadata ORDER BY 1",
    "SELECT operation_id, 'op:' || kind FROM operations ORDER BY 1",
    "SELECT tool_call_id, 'call:' || sequence FROM tool_calls",
    "SELECT decision_id, 'decision:' || sequence FROM decisions",
    "SELECT correction_attempt_id, 'correction' FROM correction_attempts ORDER BY 1",
)


def transcript(plans: Plans, command: str, outcome: Outcome) -> str:
    """Returns what a person has before them after a command, ready to be compared."""
    parts = [f"$ {command}\n", outcome.stdout]
    if outcome.stderr:
        parts.append(f"[stderr]\n{outcome.stderr}")
    if outcome.exit_code:
        parts.append(f"[exit code {outcome.exit_code}]\n")
    names = _names(plans)
    world = plans.world
    known = {"«home»": world.home, "«project»": world.project, "«directory»": world.directory}
    places = {str(place): name for name, place in known.items()}
    lines = "".join(parts).splitlines()
    return "".join(f"{_known(line, names, places)}\n" for line in lines)


def typed(command: str) -> list[str]:
    """Splits what the user types after `agents`."""
    program, *arguments = shlex.split(command)
    assert program == "agents", command
    return arguments


def _names(plans: Plans) -> dict[str, str]:
    """The name of each record by its id; two of one name are numbered, long ones are cut."""
    names: dict[str, str] = {}
    for statement in _NAMES:
        for record, name in plans.query(statement):
            number = 1 + sum(other.split("#")[0] == name for other in names.values())
            names[record] = f"{name}#{number}" if number > 1 else name
    return {record: _bracketed(name, len(record)) for record, name in names.items()}


def _bracketed(name: str, width: int) -> str:
    room = width - 2
    return f"«{name if len(name) <= room else name[: room - 1] + '…'}»"


def _named(names: dict[str, str], record: str, gap: str | None) -> str:
    """Returns the name of a record; before the next column of a list it keeps its width."""
    name = names.get(record, record)
    return f"{name:{len(record)}}{gap}" if gap else name


def _known(line: str, names: dict[str, str], places: dict[str, str]) -> str:
    """Returns a line without what cannot be known; a cell between borders keeps its width."""

    def replaced(text: str) -> str:
        for place, name in places.items():
            text = text.replace(place, name)
        text = _ID.sub(lambda found: _named(names, found[1], found[2]), text)
        for pattern, name in _UNKNOWABLE:
            text = re.sub(pattern, name, text)
        return text

    if not line.startswith(("│", "|")):
        return replaced(line)
    cells = _BORDER.split(line)
    return "".join(replaced(cell).rstrip().ljust(len(cell)) for cell in cells)
