"""A command group that only the scenarios know, to show what the frame does with any command."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import click

from cleveragents.cli import frame
from cleveragents.cli.frame import CommandFailed
from cleveragents.cli.main import COMMANDS
from cleveragents.cli.session import Session
from cleveragents.domain import errors
from cleveragents.domain.settings.formats import OutputFormat
from cleveragents.reports.report import Failure, Fields, Report, Table, Text

EXAMPLE = "Example:\n  agents sample report"
HERE = "features.support.sample"

DIFF = """diff --git a/app.py b/app.py
--- a/app.py
+++ b/app.py
@@ -1,2 +1,2 @@
-print("old")
+print("new")
 # end
"""


@contextlib.contextmanager
def samples() -> Iterator[None]:
    """Adds the group `sample` to `agents` for a while."""
    with patch.dict(COMMANDS, {"sample": frame.Lazy(HERE, "sample", "Show what a frame does")}):
        yield


inner = frame.group("inner", help="Manage what is inside", epilog=EXAMPLE, lazy={})
sample = frame.group(
    "sample",
    help="Manage samples",
    epilog=EXAMPLE,
    lazy={"inner": frame.Lazy(HERE, "inner", "Manage what is inside")},
)


@inner.command("where", help="Say which command this is", epilog=EXAMPLE)
@frame.pass_session
def where(session: Session) -> Report:
    return Report({"command": session.command}, (Fields("Here", (("command", session.command),)),))


@sample.command("report", help="Show a report with everything in it", epilog=EXAMPLE)
def report() -> Report:
    files = (("app.py", "modified"), ("日本.txt", "added"))
    return Report(
        {
            "plan": "P1",
            "files": [list(row) for row in files],
            "path": Path("/tmp/x"),
            "format": OutputFormat.RICH,
        },
        (
            Fields("Plan", (("id", "P1"), ("path", "/tmp/x"))),
            Table("Files", ("Path", "Change"), files),
            Table("Effects", ("Effect",), (), empty="No effects."),
            Text("Changes", DIFF),
            Text("Notes", "one\n\ttwo"),
        ),
        messages=("Rollback complete",),
    )


@sample.command("hostile", help="Show names that want to be more than names", epilog=EXAMPLE)
def hostile() -> Report:
    name = "a\x1b[31m\tb\nc\\[red]\udcff\u202e\u2028é\r"
    cells = (Fields("Name", (("name", name),)), Table("Names", ("Name",), ((name,),)))
    return Report({"name": name}, (*cells, Text("Body", name)), messages=(name,))


@sample.command("quiet", help="Show nothing", epilog=EXAMPLE)
def quiet() -> Report:
    return Report({}, ())


@sample.command("warn", help="End with a warning", epilog=EXAMPLE)
@click.option("--exit-code", type=int, default=3)
def warn(exit_code: int) -> Report:
    warnings = ("1 file was skipped",)
    return Report({}, (), messages=("Done",), exit_code=exit_code, warnings=warnings)


@sample.command("lost", help="Return a report of something that went wrong", epilog=EXAMPLE)
def lost() -> Report:
    return Report({"lost": 2}, (), messages=("2 snapshots are gone",), status="error", exit_code=7)


@sample.command("unprintable", help="Return what no document can hold", epilog=EXAMPLE)
def unprintable() -> Report:
    return Report({"thing": object()}, ())


@sample.command("ask", help="Ask before going on", epilog=EXAMPLE)
@frame.pass_session
def ask(session: Session) -> Report:
    answer = session.confirm("Go on?")
    return Report({"answer": answer}, (Fields("Answer", (("answer", str(answer)),)),))


@sample.command("say", help="Say what is going on", epilog=EXAMPLE)
@frame.pass_session
def say(session: Session) -> Report:
    session.say("Working\x07")
    return Report({}, ())


@sample.command("fail", help="Fail in a known way", epilog=EXAMPLE)
@click.argument("way")
def fail(way: str) -> Report:
    raise FAILURES[way]


FAILURES: dict[str, BaseException] = {
    "refused": errors.PlanAppliedError("P1"),
    "missing": errors.PlanNotFoundError("P1"),
    "busy": errors.ConflictError("The plan is held by process 7"),
    "damaged": errors.SnapshotMissingError("S1", "the mirror"),
    "failed plan": CommandFailed(
        Failure.of(errors.ExecutionError("Step 2 failed", step=2), {"plan_id": "P1"})
    ),
    "configuration": errors.ConfigurationError("No", key="x"),
    "database": errors.DatabaseError("The disk is full"),
    "bug": ZeroDivisionError("division by zero"),
    "interrupt": KeyboardInterrupt(),
    "abort": click.Abort(),
    "file": click.FileError("plan.yaml", "is not there"),
    "broken pipe": BrokenPipeError(),
}
