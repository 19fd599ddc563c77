"""Enters a private view in a process of its own, and prints what it shows, as JSON.

    python -m features.support.sandboxes.view_look PATH [SCRIPT]

With SCRIPT, that runs in the view instead.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from features.support.manifests import manifest

from cleveragents.domain.sandboxes.resource import SandboxStrategy
from cleveragents.domain.sandboxes.sandbox import SandboxRef
from cleveragents.infrastructure.sandbox.files.views import enter


def shown(top: Path) -> dict[str, Any]:
    """Returns all files with types, modes and bytes, and those of its git beside objects."""
    git = {
        os.path.relpath(Path(directory, name), top): base64.b64encode(
            Path(directory, name).read_bytes()
        ).decode()
        for directory, _, names in os.walk(top / ".git")
        for name in names
        if "/objects" not in directory
    }
    return {"files": repr(sorted(manifest(top).items())), "git": git}


def main(arguments: list[str]) -> int:
    place = Path(arguments[0])
    view = SimpleNamespace(path=str(place), strategy=SandboxStrategy.PRIVATE_VIEW)
    enter(cast("SandboxRef", view))
    if arguments[1:]:
        return subprocess.run(["sh", "-c", arguments[1]], cwd=place, check=False).returncode
    print(json.dumps(shown(place)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
