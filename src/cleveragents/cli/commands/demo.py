"""`agents demo`: the whole life of a plan in a scratch repository."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import click

from cleveragents.cli import frame
from cleveragents.cli.session import Session
from cleveragents.reports.report import Report

_PROJECT = {
    "README.md": "# Greetings\n\nA small project.\n",
    "draft.tmp": "do not keep this\n",
    "src/main.py": 'print("nothing to say yet")\n',
}
_MISTAKE = "tidy up"
_INSTEAD = "leftovers"
_GUIDANCE = "keep the sources"
_ACTS = 6
"""The run, the rollback, the undo, the correction, the run after it and the apply."""


@frame.command(
    "demo",
    help="Run, roll back, undo, correct and apply a plan in a scratch repository",
    epilog=(
        "Your files are not touched: the project and its records are in a temporary directory,\n"
        "which is removed at the end.\n\n"
        "Examples:\n  agents demo\n  agents demo --keep"
    ),
)
@click.option("--keep", is_flag=True, help="Keep the temporary directory.")
@frame.pass_session
def demo(session: Session, keep: bool) -> Report:
    directory = Path(tempfile.mkdtemp(prefix="cleveragents-demo-"))
    session.prefer_headings()
    scratch = _scratch_session(session, directory)
    try:
        return _show(scratch, directory, _Bar(session).advance, keep=keep)
    finally:
        scratch.close()
        if not keep:
            shutil.rmtree(directory, ignore_errors=True)


def _scratch_session(session: Session, directory: Path) -> Session:
    """Returns a session with its own home, so that records and settings are not shared."""
    ours = {
        name: value
        for name, value in session.environ.items()
        if not name.startswith("CLEVERAGENTS_")
    }
    scratch = Session({**ours, "CLEVERAGENTS_HOME": str(directory / "home")})
    scratch.asked_format = session.format
    scratch.progress = "none"  # The report tells what each step did.
    return scratch


class _Bar:
    """Shows on a terminal how far the demonstration is."""

    def __init__(self, session: Session) -> None:
        from cleveragents.cli.progress import events_for

        self._events = events_for(session)
        self._done = 0

    def advance(self) -> None:
        from cleveragents.application.events import ProgressAdvanced

        self._done += 1
        self._events.emit(ProgressAdvanced("Running the demo", self._done, _ACTS))


def _show(session: Session, directory: Path, advance: Callable[[], None], *, keep: bool) -> Report:
    from cleveragents.application.services.rollback.intents import UndoRedo
    from cleveragents.cli.demo_project import make_repository
    from cleveragents.cli.demo_story import Story, demo_report
    from cleveragents.domain.checkpoints.operation import OperationKind
    from cleveragents.domain.plans.apply import ApplyRequest

    project = directory / "project"
    container = session.container(None)
    make_repository(container.git(), project, _PROJECT)
    before = _contents(project)
    plan_file = directory / "plan.yaml"
    plan_file.write_text(files("cleveragents.demo").joinpath("plan.yaml").read_text())

    plan = container.plan_service().use(plan_file, project, {})
    container.plan_executor().execute(plan.id)
    service = container.checkpoint_service()
    checkpoints = service.list_checkpoints(plan.id).checkpoints
    sandbox = Path(container.plan_service().status(plan.id).sandboxes[0].path)
    broken = _files(sandbox)
    advance()

    target = next(item for item in checkpoints if item.metadata.label == f"before {_MISTAKE}")
    rollback = service.rollback_to_checkpoint(plan.id, target)
    advance()

    undo = container.rollback_procedure().run(plan.id, UndoRedo(OperationKind.UNDO))
    undone = _files(sandbox)
    advance()

    decisions = container.decision_service().tree(plan.id).decisions
    mistaken = next(item for item in decisions if item.place is not None)
    correction = container.correction_service().revert(mistaken, _GUIDANCE, _INSTEAD)
    advance()
    container.plan_executor().execute(plan.id)
    corrected = _files(sandbox)
    project_untouched = _contents(project) == before
    advance()

    applied = container.plan_apply_service().apply(plan.id, ApplyRequest())
    advance()
    return demo_report(
        Story(
            plan=plan,
            checkpoints=checkpoints,
            target=target,
            broken=broken,
            rollback=rollback,
            undo=undo,
            undone=undone,
            correction=correction,
            corrected=corrected,
            project_untouched=project_untouched,
            applied=applied,
            project=_files(project),
            kept=directory if keep else None,
        )
    )


def _contents(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }


def _files(root: Path) -> dict[str, bytes]:
    """Returns the contents of all files outside of `.git`."""
    return {name: data for name, data in _contents(root).items() if Path(name).parts[0] != ".git"}
