"""The state hash of a snapshot, computed from what the mirror holds."""

from __future__ import annotations

import hashlib
import re
import subprocess
from pathlib import Path

_DOCUMENT = re.compile(rb"^Document: ([0-9a-f]+)$", re.MULTILINE)


def stored_state_hash(home: Path, snapshot_id: str) -> str:
    """Returns the hash of the document that a snapshot in one of the mirrors names."""
    for mirror in (home / "mirrors").glob("*.git"):
        commit = _read(mirror, "commit", snapshot_id)
        if commit is not None:
            (document,) = _DOCUMENT.findall(commit)
            content = _read(mirror, "blob", document.decode())
            assert content is not None, document
            return hashlib.sha256(content).hexdigest()
    raise AssertionError(f"no mirror has the snapshot {snapshot_id}")


def _read(mirror: Path, kind: str, name: str) -> bytes | None:
    command = ["git", f"--git-dir={mirror}", "cat-file", kind, name]
    done = subprocess.run(command, capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else None
