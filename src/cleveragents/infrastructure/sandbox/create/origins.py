"""A note beside each sandbox of the plan and the resource that it was made for."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from cleveragents.domain.plans.origin import SandboxOrigin
from cleveragents.infrastructure.files import write_durably


def _place(sandbox: Path) -> Path:
    return sandbox.with_name(f".{sandbox.name}.origin.json")


def write_origin(sandbox: Path, origin: SandboxOrigin) -> None:
    """Stores the note, durably; `remove_notes` removes it with the sandbox."""
    write_durably(_place(sandbox), origin.model_dump_json().encode())


def read_origin(sandbox: Path) -> SandboxOrigin | None:
    """Returns the note; None where an earlier version made the sandbox, or it is damaged."""
    try:
        return SandboxOrigin.model_validate_json(_place(sandbox).read_bytes())
    except (OSError, ValidationError):
        return None
