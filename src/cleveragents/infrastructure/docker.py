"""Whether a command can reach a Docker daemon, which would write to the real files.

The daemon runs outside of every private view and copy, so what its containers mount is the
project itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from stat import S_ISSOCK

_UNIX = "unix://"


def docker_socket(environment: Mapping[str, str]) -> str | None:
    """Returns the first socket of a Docker daemon that this user may write to; None if none."""
    for place in _places(environment):
        with suppress(OSError):
            if S_ISSOCK(os.stat(place).st_mode) and os.access(place, os.W_OK):
                return place
    return None


def _places(environment: Mapping[str, str]) -> Iterator[str]:
    """Yields where the socket may be; an address that the user has set is the only one."""
    address = environment.get("DOCKER_HOST", "")
    if address:
        if address.startswith(_UNIX):
            yield address.removeprefix(_UNIX)
        return
    yield "/var/run/docker.sock"
    if runtime := environment.get("XDG_RUNTIME_DIR"):
        yield f"{runtime}/docker.sock"
    if home := environment.get("HOME"):
        yield str(Path(home) / ".docker" / "run" / "docker.sock")
