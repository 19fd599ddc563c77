"""The process of one subplan, started by the process of its parent.

Nobody runs this by hand. The outcome is in the plan's record. Standard output has the
warnings, each as one line of JSON, and standard error the reason of a failure. When standard
input ends, the parent is gone or wants this process to stop.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from cleveragents.application.events import Event, WarningIssued
from cleveragents.application.ports.system import EventSink
from cleveragents.container import Container
from cleveragents.domain.errors import CleverAgentsError
from cleveragents.infrastructure.config import load_settings
from cleveragents.infrastructure.home import home_directory
from cleveragents.infrastructure.system import waits_shown


def main(arguments: Sequence[str]) -> int:
    """Runs a plan until it completes, fails or has to stop; returns the exit code."""
    plan_id, *options = arguments
    with waits_shown(lambda text: _Warnings().emit(WarningIssued(text))):
        return _run(plan_id, options)


def _run(plan_id: str, options: Sequence[str]) -> int:
    try:
        with closing(_container(None)) as finder:
            project = Path(finder.plan_service().find(plan_id).project)
        with closing(_container(project)) as container:
            container.plan_executor().execute(plan_id, repeat_effects="--repeat-effects" in options)
    except CleverAgentsError as error:
        sys.stderr.write(f"{error.message}\n")
        return error.exit_code
    return 0


def _container(project: Path | None) -> Container:
    home = home_directory(os.environ)
    return Container(
        home=home,
        settings=load_settings(home=home, project=project, environ=os.environ, flags={}),
        environment=os.environ,
        events=_Warnings(),
        stop_with=sys.stdin.fileno(),
    )


class _Warnings(EventSink):
    """Passes warnings on to the parent as they come; the parent reports its own progress."""

    def emit(self, event: Event) -> None:
        if isinstance(event, WarningIssued):
            sys.stdout.write(f"{json.dumps(event.text)}\n")
            sys.stdout.flush()
