"""`json` and `yaml`: one document per call, the machine-readable contract.

`{command, status, exit_code, data, timing: {started, duration_ms}, messages}`, and after a
failure `error: {code, message, hint, details}`. Fields are added, never changed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from cleveragents.domain.settings.formats import OutputFormat
from cleveragents.reports.document import jsonable


def serialise(document: Mapping[str, object], format: OutputFormat) -> str:
    """Returns the document in ASCII, so that any file name survives pipes and terminals."""
    if format is OutputFormat.JSON:
        return json.dumps(jsonable(document), indent=2) + "\n"
    import yaml

    return yaml.safe_dump(jsonable(document), sort_keys=False, allow_unicode=False)
