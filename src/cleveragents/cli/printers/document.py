"""`json` and `yaml`: one document per call, the machine-readable contract.

`{command, status, exit_code, data, timing: {started, duration_ms}, messages}`, and after a
failure `error: {code, message, hint, details}`. Fields are added, never changed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import msgspec

from cleveragents.domain.settings.formats import OutputFormat
from cleveragents.reports.document import jsonable


def serialise(document: Mapping[str, object], format: OutputFormat) -> str:
    """Returns the document in ASCII, so that any file name survives pipes and terminals."""
    if format is OutputFormat.JSON:
        return f"{_json(document)}\n"
    import yaml

    return yaml.safe_dump(jsonable(document), sort_keys=False, allow_unicode=False)


def _json(document: Mapping[str, object]) -> str:
    # json indents in Python, which takes longer for a long list than all that led to it.
    try:
        return msgspec.json.format(json.dumps(document, default=jsonable), indent=2)
    except msgspec.DecodeError:  # msgspec refuses a name that is not UTF-8.
        return json.dumps(document, default=jsonable, indent=2)
