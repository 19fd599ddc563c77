"""Programs that hold so many files open that new descriptors have large numbers."""

from __future__ import annotations

_HOLDING = """\
import os, resource, sys
from pathlib import Path
_, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
held = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
assert held[-1] > 1024
"""
_AGENTS = """\
from cleveragents.cli.main import main
sys.exit(main({arguments!r}))
"""
_COPY = """\
from cleveragents.infrastructure.sandbox.create import copy_processes, tree_copy
copy_processes._AT_MOST = 2
tree_copy.TreeCopy(Path({source!r}), Path({target!r})).run()
"""
_CHILD = """\
from cleveragents.infrastructure.system import ChildInterruption
reader, writer = os.pipe()
assert reader > 1024
child = ChildInterruption(reader)
assert not child.requested()
os.close(writer)
assert child.requested()
"""


def running_agents(*arguments: str) -> str:
    return _HOLDING + _AGENTS.format(arguments=list(arguments))


def copying(source: str, target: str) -> str:
    return _HOLDING + _COPY.format(source=source, target=target)


WAITING_FOR_PARENT = _HOLDING + _CHILD
