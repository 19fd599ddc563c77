"""Another process, in which `agents` waits at a named point until it may go on."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from behave.runner import Context
from features.support.clocks import wait_until
from features.support.plans import plans

PROGRAM = """
import sys, time
from pathlib import Path
from unittest.mock import patch

from cleveragents.application.ports.system import (FaultPoints)
from cleveragents.cli.main import main
from cleveragents.container import Container

point, begun, fixed, *arguments = sys.argv[1:]


class Waiting(FaultPoints):
    def reach(self, reached):
        if reached == point:
            Path(begun).touch()
            while not Path(fixed).exists():
                time.sleep(0.01)


with patch.object(Container, "_faults", Waiting()):
    sys.exit(main(arguments))
"""


def start_paused(context: Context, point: str, *arguments: str) -> None:
    """Starts `agents`, and returns when it is at the point; `fixed` lets it go on."""
    begun: Path = context.world.directory / "begun"
    fixed: Path = context.world.directory / "fixed"
    context.process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, point, str(begun), str(fixed), *arguments],
        env=context.world.environment,
        cwd=context.world.project,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    context.add_cleanup(context.process.communicate)
    context.add_cleanup(context.process.kill)
    plans(context).living = context.process.pid
    wait_until(begun.exists, context.process)


def let_go_on(context: Context) -> tuple[str, str, int]:
    """Has the process go on, and returns what it said and how it ended."""
    (context.world.directory / "fixed").touch()
    said, complained = context.process.communicate()
    return said, complained, context.process.returncode
