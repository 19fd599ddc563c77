"""The base of every stored or printed record."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """Immutable, and strict about its fields: a misspelt one is a bug, not data."""

    model_config = ConfigDict(frozen=True, extra="forbid")
