"""`agents demo`: the main job on a scratch repository, from the first step to the way back."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cleveragents.cli import frame
from cleveragents.cli.report import Fields, Report, Section, Table, Text
from cleveragents.cli.session import Session

if TYPE_CHECKING:
    from cleveragents.domain.checkpoint import Checkpoint
    from cleveragents.domain.operation import RollbackResult
    from cleveragents.domain.plan import Plan

_PROJECT = {
    "README.md": "# Greetings\n\nA small project.\n",
    "src/main.py": 'print("nothing to say yet")\n',
}
_BAD_STEP = "tidy up"


@frame.command(
    "demo",
    help="Show it all on a scratch repository: run, look, break, roll back",
    epilog=(
        "Nothing of yours is touched: project and records are in a temporary directory,\n"
        "which is removed at the end.\n\nExample:\n  agents demo"
    ),
)
@click.option("--keep", is_flag=True, help="Keep the directory, to look around in it.")
@frame.pass_session
def demo(session: Session, keep: bool) -> Report:
    directory = Path(tempfile.mkdtemp(prefix="cleveragents-demo-"))
    session.prefer_headings()
    scratch = _scratch_session(session, directory)
    try:
        return _show(scratch, directory, keep=keep)
    finally:
        scratch.close()
        if not keep:
            shutil.rmtree(directory, ignore_errors=True)


def _scratch_session(session: Session, directory: Path) -> Session:
    """Returns a session with a home of its own, so that neither records nor settings mix."""
    ours = {
        name: value
        for name, value in session.environ.items()
        if not name.startswith("CLEVERAGENTS_")
    }
    scratch = Session({**ours, "CLEVERAGENTS_HOME": str(directory / "home")})
    scratch.asked_format = session.format
    return scratch


def _show(session: Session, directory: Path, *, keep: bool) -> Report:
    from cleveragents.infrastructure.sandbox.scratch import make_repository

    project = directory / "project"
    container = session.container(None)
    make_repository(container.git(), project, _PROJECT)
    before = _contents(project)
    plan_file = directory / "plan.yaml"
    plan_file.write_text(files("cleveragents.demo").joinpath("plan.yaml").read_text())

    session.say("An agent's plan runs in a private copy of a small git project.")
    plan = container.plan_service().use(plan_file, project, {})
    container.plan_executor().execute(plan.id)
    service = container.checkpoint_service()
    checkpoints = service.list_checkpoints(plan.id).checkpoints
    sandbox = Path(container.plan_service().status(plan.id).sandboxes[0].path)
    broken = _listing(sandbox)

    session.say(f"The last step, `{_BAD_STEP}`, deleted the sources. Going back to before it.")
    target = next(item for item in checkpoints if item.metadata.label == f"before {_BAD_STEP}")
    result = service.rollback_to_checkpoint(plan.id, target)
    untouched = _contents(project) == before
    sections = (
        _what_ran(plan),
        _checkpoint_table(checkpoints, target),
        Text(f"3. The last step, `{_BAD_STEP}`, went wrong and left only", broken),
        _way_back(result),
        Text("5. The sandbox now holds, read back from disk and compared", _listing(sandbox)),
        _what_is_true(result, untouched=untouched, kept=directory if keep else None),
    )
    data: dict[str, object] = {
        "plan_id": plan.id,
        "checkpoints": [item.id for item in checkpoints],
        "rolled_back_to": target.id,
        "changes_reverted": [
            {"file": change.file, "action": change.action.value} for change in result.changes
        ],
        "verified": result.verified,
        "project_untouched": untouched,
        "directory": str(directory) if keep else None,
    }
    return Report(data, sections, ("Rollback verified: the mistake is gone, the good work is not",))


def _what_ran(plan: Plan) -> Section:
    steps = ", ".join(f"{number}. {item.step.name}" for number, item in enumerate(plan.course, 1))
    return Fields(
        "1. A plan ran in a sandbox",
        (("plan", plan.name), ("steps", steps), ("project", "is not touched by any of it")),
    )


def _checkpoint_table(checkpoints: Sequence[Checkpoint], target: Checkpoint) -> Section:
    return Table(
        "2. Checkpoints were made by themselves",
        ("Checkpoint", "Label", "State"),
        tuple(
            (
                item.id,
                f"{item.metadata.label}{'   <- going back here' if item == target else ''}",
                item.metadata.state_hash[:12],
            )
            for item in checkpoints
        ),
    )


def _way_back(result: RollbackResult) -> Section:
    return Table(
        "4. Rolled back to before it",
        ("File", "Action"),
        tuple((change.file, change.action.value) for change in result.changes),
    )


def _what_is_true(result: RollbackResult, *, untouched: bool, kept: Path | None) -> Section:
    rows = [
        ("verified", "yes: bytes, modes and names are those of the checkpoint"),
        ("nothing is lost", f"the broken state is kept as {result.safety_checkpoint_id}"),
        ("project", "byte for byte as it was" if untouched else "CHANGED"),
    ]
    if kept is not None:
        rows.append(("kept in", str(kept)))
        rows.append(("look around", f"CLEVERAGENTS_HOME={kept}/home agents plan list"))
    return Fields("6. What is true now", tuple(rows))


def _contents(root: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()
    }


def _listing(sandbox: Path) -> str:
    names = [
        str(path.relative_to(sandbox))
        for path in sorted(sandbox.rglob("*"))
        if path.is_file() and path.name != ".git"
    ]
    return "\n".join(f"  {name}" for name in names)
