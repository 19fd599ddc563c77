"""Sessions: what `agents run` says before and after the command."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cleveragents.application.services.session_service import SessionResult
from cleveragents.domain.plans.session import Isolation, SessionProcess
from cleveragents.domain.sandboxes.change import ChangeOperation, PathChange
from cleveragents.domain.sandboxes.sandbox import SandboxRef
from cleveragents.domain.wording import first_lines, joined, listed

_SHOWN = 5
_WORDS = {
    ChangeOperation.CREATED: "added",
    ChangeOperation.MODIFIED: "modified",
    ChangeOperation.DELETED: "deleted",
    ChangeOperation.TYPE_CHANGED: "type changed",
    ChangeOperation.MODE_CHANGED: "mode changed",
}


def start_line(isolation: Isolation, project: str, sandbox: SandboxRef) -> str:
    """Says what is real before the command starts."""
    if isolation is Isolation.IN_PLACE:
        return (
            f"In place: the command works on your own files in {_from_home(project)}, with "
            "checkpoints to go back to. Writes elsewhere are real."
        )
    if isolation is Isolation.PRIVATE:
        return (
            f"Private view of {_from_home(project)}. Writes elsewhere are real. "
            'Apply the result with "agents apply".'
        )
    return (
        f"Copy of {_from_home(project)}: the command works in {sandbox.path}, and your files stay "
        "as they are until you apply the result. Writes elsewhere are real."
    )


def docker_warning(socket: str) -> str:
    return (
        f"Docker can be reached at {socket}: containers that mount the project write to your own "
        "files, which no checkpoint of this session holds"
    )


def _from_home(path: str) -> str:
    """Returns a path as a user writes it."""
    home = f"{Path.home()}/"
    return f"~/{path.removeprefix(home)}" if path.startswith(home) else path


def end_lines(result: SessionResult, left: Sequence[SessionProcess] = ()) -> list[str]:
    """Says what changed, and how to go on; `left` are processes that still run."""
    plan = result.plan
    rows = [(change.path, _WORDS[change.operation]) for change in _files(result.changes)]
    counts = [
        f"{count} {word}"
        for word in _WORDS.values()
        if (count := sum(1 for _, done in rows if done == word))
    ]
    ended = f"Session {plan.id}"
    if left:
        names = listed([str(process) for process in left])
        still = [
            f"Still running: {names}. What they change is recorded until they end, or until you "
            f"run: agents plan cancel {plan.id}"
        ]
    else:
        still = []
    if not rows:
        return [f"{ended} changed no files.", *still]
    lines = first_lines([f"{word:<12} {path}" for path, word in rows], _SHOWN)
    return [f"{ended}: {joined(counts)}.", *lines, *still, *next_lines(result)]


def next_lines(result: SessionResult) -> list[str]:
    return [f"{what}: {command}" for what, command in _next(result)]


def report_data(result: SessionResult) -> dict[str, object]:
    """Returns the fields of `--report`."""
    plan = result.plan
    session = plan.session
    return {
        "plan_id": plan.id,
        "isolation": session.isolation if session else None,
        "command": list(session.command) if session else [],
        "exit_code": session.exit_code if session else None,
        "checkpoints": result.checkpoints,
        "changes": [
            {"path": change.path, "status": _WORDS[change.operation]}
            for change in _files(result.changes)
        ],
        "next": [command for _, command in _next(result)],
    }


def _next(result: SessionResult) -> list[tuple[str, str]]:
    plan = result.plan
    rows = [("Look", f"agents diff {plan.id}")]
    if plan.session is not None and plan.session.works_in_place:
        return [*rows, ("Undo", f"agents rollback {plan.id} @first")]
    return [*rows, ("Apply", f"agents apply {plan.id}")]


def _files(changes: Sequence[PathChange]) -> list[PathChange]:
    """Returns the changes without directories that a file inside already shows."""
    inside = {change.path.rpartition("/")[0] for change in changes}
    return [change for change in changes if change.path not in inside]
