"""The output formats, apart from the other settings because every start needs them."""

from __future__ import annotations

from enum import StrEnum


class OutputFormat(StrEnum):
    """How a command shows its result."""

    RICH = "rich"
    COLOR = "color"
    TABLE = "table"
    PLAIN = "plain"
    JSON = "json"
    YAML = "yaml"

    @property
    def is_document(self) -> bool:
        """Whether the whole outcome, errors included, is one document on stdout."""
        return self in (OutputFormat.JSON, OutputFormat.YAML)
