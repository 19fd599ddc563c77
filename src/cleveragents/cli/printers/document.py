"""`json` and `yaml`: one document a call, the machine-readable contract.

`{command, status, exit_code, data, timing: {started, duration_ms}, messages}`, and after a
failure `error: {code, message, hint, details}`. Fields are added, never changed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import Enum
from pathlib import PurePath
from typing import cast

from cleveragents.cli.views.words import moment
from cleveragents.domain.formats import OutputFormat


def serialise(document: Mapping[str, object], format: OutputFormat) -> str:
    """Returns ASCII only, so that odd file names survive any pipe and terminal."""
    if format is OutputFormat.JSON:
        return json.dumps(jsonable(document), indent=2) + "\n"
    import yaml

    return yaml.safe_dump(jsonable(document), sort_keys=False, allow_unicode=False)


def jsonable(value: object) -> object:
    """Turns records' values into what both formats can hold.

    Raises:
        TypeError: the value has no agreed form; showing its `repr` would be a false contract.
    """
    match value:
        case Enum():
            return value.value
        case None | str() | int() | float():
            return value
        case datetime():
            return moment(value)
        case PurePath():
            return str(value)
        case Mapping():
            pairs = cast("Mapping[object, object]", value).items()
            return {str(jsonable(key)): jsonable(item) for key, item in pairs}
        case list() | tuple():
            return [jsonable(item) for item in cast("Iterable[object]", value)]
        case _:
            raise TypeError(f"{type(value).__name__} cannot be part of a document")
