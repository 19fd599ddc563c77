"""A note beside each sandbox of the plan and the resource that it was made for."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from cleveragents.domain.plans.origin import SandboxOrigin
from cleveragents.infrastructure.files import write_durably


def _place(sandbox: Path) -> Path:
    return sandbox.with_name(f".{sandbox.name}.origin.json")


def write_origin(sandbox: Path, origin: SandboxOrigin) -> None:
    """Stores the note, durably; `remove_notes` removes it with the sandbox."""
    write_durably(_place(sandbox), json.dumps(origin.model_dump(mode="json")).encode())


def read_origin(sandbox: Path) -> SandboxOrigin | None:
    """Returns the note; None where an earlier version made the sandbox, or it is damaged."""
    try:
        return SandboxOrigin.model_validate(json.loads(_place(sandbox).read_bytes()))
    except (OSError, ValueError, msgspec.ValidationError):
        return None
