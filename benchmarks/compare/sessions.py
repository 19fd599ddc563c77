"""What sessions cost: making a private view, and running a build in a session."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.compare.results import Check, Tree
from benchmarks.compare.trees import make_project

_ROOT = Path(__file__).parents[2]
_TRIES = 5
_BUILD = Path(__file__).with_name("build.py")
_LARGEST = 100_000


def session_checks(place: Path, files: int, say: Callable[[str], None]) -> list[Check]:
    """Returns what a private view and a build in a session cost, with their limits."""
    project = place / "project"
    make_project(project, Tree(files))
    say("private view beside a worktree")
    checks = [_view_beside_worktree(place, project, files)]
    shutil.rmtree(project)
    make_project(project, Tree(20))
    say("builds in sessions")
    return [*checks, *_builds(place, project)]


def _view_beside_worktree(place: Path, project: Path, files: int) -> Check:
    """Compares making and mounting a view with `git worktree add` of the same project."""
    views: list[float] = []
    worktrees: list[float] = []
    for number in range(_TRIES):
        views.append(_in_other_process("view", str(project), str(place / f"layer{number}")))
        worktree = place / f"worktree{number}"
        started = time.perf_counter()
        _git(project, "worktree", "add", "--quiet", "--detach", str(worktree))
        worktrees.append(time.perf_counter() - started)
        _git(project, "worktree", "remove", "--force", str(worktree))
    ratio = statistics.median(views) / statistics.median(worktrees)
    limit = 0.02 if files >= _LARGEST else None
    return Check(f"private view against git worktree add, {files:,} files", ratio, "times", limit)


def _builds(place: Path, project: Path) -> list[Check]:
    """Compares builds in sessions with the same build without; each measures itself.

    A session's start and end are not part of the build. The builds take turns.
    """
    bare: list[float] = []
    overlay: list[float] = []
    in_place: list[float] = []
    private: list[float] = []
    for number in range(_TRIES):
        home = place / f"home{number}"
        bare.append(_built(project, [*_build_command()]))
        overlay.append(_in_other_process("build", str(project), str(place / f"bare{number}")))
        in_place.append(_built(project, [*_agents("-i"), *_build_command()], home))
        private.append(
            _built(project, [*_agents("--isolation", "private"), *_build_command()], home)
        )
        shutil.rmtree(home)
    pairs = (
        ("a build of 10,000 files in place, against no session", in_place, bare),
        ("the same in a private view, against a bare overlay", private, overlay),
    )
    return [
        Check(name, statistics.median(ours) / statistics.median(theirs), "times", 1.05)
        for name, ours, theirs in pairs
    ]


def _build_command() -> Sequence[str]:
    return (sys.executable, str(_BUILD))


def _agents(*isolation: str) -> Sequence[str]:
    return (sys.executable, "-m", "cleveragents", "run", *isolation, "--")


def _built(project: Path, command: Sequence[str], home: Path | None = None) -> float:
    """Runs a build and returns the seconds that it took by its own clock."""
    variables = {} if home is None else {"CLEVERAGENTS_HOME": str(home)}
    os.sync()
    done = subprocess.run(
        command,
        cwd=project,
        env=os.environ | variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    shutil.rmtree(project / "out", ignore_errors=True)
    return float(done.stdout)


def _in_other_process(act: str, project: str, layer: str) -> float:
    """Does something in a process that may have mounts of its own; returns its seconds."""
    command = [sys.executable, "-m", "benchmarks.compare.sessions", act, project, layer]
    os.sync()
    done = subprocess.run(command, cwd=_ROOT, check=True, stdout=subprocess.PIPE)
    return float(json.loads(done.stdout))


def _git(project: Path, *arguments: str) -> None:
    variables = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *arguments], cwd=project, env=os.environ | variables, check=True)


def main(act: str, project: str, place: str) -> float:
    from cleveragents.infrastructure.sandbox.files.namespaces import own_mounts
    from cleveragents.infrastructure.sandbox.files.overlay_mounts import (
        bind,
        keep_mounts_private,
        make_read_only,
        mount_view,
    )
    from cleveragents.infrastructure.sandbox.files.views import Layer

    started = time.perf_counter()
    layer = Layer(Path(place))
    layer.make(Path(project))
    own_mounts()
    keep_mounts_private()
    bind(Path(project), layer.lower)
    make_read_only(layer.lower)
    mount_view(layer.lower, layer.upper, layer.work, layer.view)
    made = time.perf_counter() - started
    if act == "view":
        return made
    with tempfile.TemporaryFile() as output:
        subprocess.run(_build_command(), cwd=layer.view, stdout=output, check=True)
        output.seek(0)
        return float(output.read())


if __name__ == "__main__":
    print(json.dumps(main(*sys.argv[1:])))
