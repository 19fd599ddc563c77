"""Answers that a user gave once for a project, kept in the home directory."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path

from cleveragents.infrastructure.files import write_durably
from cleveragents.infrastructure.home import create_private_directory

_WORKS_IN_PLACE = "in_place"


def works_in_place(home: Path, project: str) -> bool | None:
    """Says whether commands may work in a project where no view is possible; None if unknown."""
    with suppress(OSError, ValueError):
        answers = json.loads(_place(home, project).read_bytes())
        if answers.get("project") == project and isinstance(answers[_WORKS_IN_PLACE], bool):
            return answers[_WORKS_IN_PLACE]
    return None


def remember_in_place(home: Path, project: str, answer: bool) -> None:
    place = _place(home, project)
    create_private_directory(home)
    create_private_directory(place.parent)
    write_durably(place, json.dumps({"project": project, _WORKS_IN_PLACE: answer}).encode("ascii"))


def _place(home: Path, project: str) -> Path:
    return home / "answers" / f"{hashlib.sha256(os.fsencode(project)).hexdigest()[:16]}.json"
