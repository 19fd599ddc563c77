"""Runs every promise of snapshot stores on private views; each in a process of its own.

    python -m features.support.sandboxes.view_contract [USER]

Prints what failed, as JSON. With USER, a number, it runs as that user without privileges.
"""

from __future__ import annotations

import ctypes
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path

from cleveragents.domain.errors import ViewUnavailableError
from cleveragents.domain.sandboxes.resource import ResourceType, SandboxStrategy
from cleveragents.domain.sandboxes.sandbox import Resource
from cleveragents.infrastructure.sandbox.checkpoint import CheckpointManager
from cleveragents.infrastructure.sandbox.files.views import prepare
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.sandboxes import AllSandboxes
from cleveragents.infrastructure.sandbox.store.limits import Limits
from cleveragents.infrastructure.system import SystemClock
from cleveragents.testing.expectations import NotOfferedError
from cleveragents.testing.snapshots import CONTRACT, Capability, ContractWorkspace

_SET_DUMPABLE = 4
_PROJECTS = {ResourceType.GIT_CHECKOUT: True, ResourceType.FS_DIRECTORY: False}
_GIT = "-c user.name=A -c user.email=a@b"
_MAKE = (
    "mkdir -p d; echo 1 > d/f; echo 2 > g; "
    f"git init -q -b main .; git add .; git {_GIT} commit -qm one"
)


def workspaces(top: Path, kind: ResourceType) -> Callable[[], ContractWorkspace]:
    """Gives a private view at each call."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(top), "GIT_CONFIG_GLOBAL": "/dev/null"}
    home, numbers = top / "home", itertools.count()
    git = Git(environment, home)
    store = CheckpointManager(git, Limits(ignored_max_bytes=0))
    sandboxes = AllSandboxes(git, home, SystemClock(), store)
    has_git = kind is ResourceType.GIT_CHECKOUT
    offered: frozenset[Capability] = frozenset()

    def make() -> ContractWorkspace:
        plan_id = f"PLAN{next(numbers)}"
        project = top / plan_id
        project.mkdir()
        script = _MAKE if has_git else _MAKE.partition("git init")[0]
        subprocess.run(["sh", "-ec", script], cwd=project, env=environment, check=True)
        resource = Resource(
            id=f"R{plan_id}",
            plan_id=plan_id,
            name="project",
            type=kind,
            strategy=SandboxStrategy.PRIVATE_VIEW,
            path=str(project),
            position=0,
        )
        sandbox = sandboxes.create(f"S{plan_id}", plan_id, resource)
        sandboxes.enter([sandbox])
        return ContractWorkspace(sandbox, lambda: store, offered, environment)

    return make


def in_child(act: Callable[[], None]) -> str:
    """Runs an act in a child; returns why it failed, or nothing."""
    told, tell = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(told)
        failure = ""
        try:
            act()
        except NotOfferedError:
            pass
        except BaseException:
            failure = traceback.format_exc()
        os.write(tell, failure[-8000:].encode())
        os._exit(0)
    os.close(tell)
    said = b""
    while piece := os.read(told, 1 << 16):
        said += piece
    os.close(told)
    os.waitpid(child, 0)
    return said.decode()


def become(user: int) -> None:
    """Drops every privilege, for good."""
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
    # The kernel would keep /proc/self from a process that has changed its user.
    ctypes.CDLL(None).prctl(_SET_DUMPABLE, 1, 0, 0, 0)


def main(arguments: list[str]) -> int:
    top = Path(tempfile.mkdtemp(prefix="views-"))
    if arguments[:1]:
        user = int(arguments[0])
        os.chown(top, user, user)
        become(user)
    os.chdir(top)
    wanted = arguments[1:]

    def permitted() -> None:
        prepare()

    refused = in_child(permitted)
    if ViewUnavailableError.__name__ in refused:
        print(json.dumps({"skipped": refused.strip().splitlines()[-1]}))
        return 0
    failed: dict[str, str] = {}
    count = 0
    for kind, check in itertools.product(_PROJECTS, CONTRACT):
        if wanted and check.__name__ not in wanted:
            continue
        place = top / f"{kind.value}-{check.__name__}"
        place.mkdir()
        said = in_child(lambda place=place, kind=kind, check=check: check(workspaces(place, kind)))
        count += 1
        if said:
            failed[f"{kind.value}: {check.__name__}"] = said
    shutil.rmtree(top, ignore_errors=True)
    print(json.dumps({"count": count, "failed": failed}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
