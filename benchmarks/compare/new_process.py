"""One act in a process of its own: starts up, then measures it, then says how long it took.

    python -m benchmarks.compare.new_process HOME PLAN ACT CHECKPOINT

Started up means: everything is imported, the database is open, the plan and its
checkpoints have been read. What a process needs to
know of the sandbox is not.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import sys
import time
from pathlib import Path
from types import ModuleType

import cleveragents.application
import cleveragents.infrastructure.sandbox
from benchmarks.compare.ours import held, open_container, perform, watched
from cleveragents.container import Container


def main(home: str, plan_id: str, act: str, checkpoint: str) -> dict[str, object]:
    container = open_container(Path(home))
    service = container.checkpoint_service()
    _import_all(cleveragents.application)
    _import_all(cleveragents.infrastructure.sandbox)
    service.list_checkpoints(plan_id)
    if act == "memory":
        return memory_of(container, plan_id)
    wanted = service.find_checkpoint(plan_id, checkpoint) if checkpoint else None
    gc.collect()
    with held(container, plan_id):
        started = time.perf_counter()
        done = perform(container, plan_id, act, wanted)
        ended = time.perf_counter()
    container.close()
    closed = time.perf_counter()
    return {"seconds": ended - started, "closing": closed - ended, "checkpoint": done}


def _import_all(package: ModuleType) -> None:
    """Imports a package with everything below it: adapters load their modules at first use."""
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)


def memory_of(container: Container, plan_id: str) -> dict[str, object]:
    """Returns by how many bytes a watched plan's first checkpoint made this process grow."""
    (sandbox,) = container.plan_service().status(plan_id).sandboxes
    gc.collect()
    before = _resident()
    with watched(container, sandbox):
        perform(container, plan_id, "checkpoint", None)
        gc.collect()
        return {"grown": _resident() - before}


def _resident() -> int:
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
