"""One subplan, run for the process of its parent.

Nobody calls this by hand. What became of the plan is in its record. Standard output has
the warnings, each as JSON, and standard error what else there is to say about a failure;
the end of standard input means that the parent is gone, or wants this to stop.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import closing
from pathlib import Path

from cleveragents.cli.session import Session
from cleveragents.domain.errors import CleverAgentsError


def main(arguments: list[str]) -> int:
    """Runs a plan to its end, or to where it fails or has to stop; returns the exit code."""
    plan_id, *options = arguments
    session = Session(os.environ)
    session.progress = "none"
    try:
        with closing(session):
            with closing(session.container(None)) as finder:
                project = Path(finder.plan_service().find(plan_id).project)
            container = session.container(project, stop_with=sys.stdin.fileno())
            container.plan_executor().execute(plan_id, repeat_effects="--repeat-effects" in options)
    except CleverAgentsError as error:
        sys.stderr.write(f"{error.message}\n")
        return error.exit_code
    finally:
        for warning in session.warnings:
            sys.stdout.write(f"{json.dumps(warning)}\n")
    return 0
