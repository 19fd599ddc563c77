"""A real home directory with a real plan in it, and how all of it looks from outside."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from cleveragents.application.events import Event
from cleveragents.application.fault_points import FaultPoint
from cleveragents.application.ports.system import EventSink, FaultPoints, Interruption
from cleveragents.cli.demo_project import make_repository
from cleveragents.container import Container
from cleveragents.domain.errors import SnapshotError
from cleveragents.infrastructure.config import load_settings
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.testing.trees import Tree
from property_tests.operation_model import Script
from property_tests.sandbox_agent import own_eyes
from property_tests.scripted_plan import BASE, START, WORK, definition


class Cut(BaseException):
    """A process ends here, for all that it can do about it."""


class Conductor(FaultPoints, Interruption):
    """Stops, ends or disturbs what runs, at one point of it."""

    def __init__(self) -> None:
        self._point: FaultPoint | None = None
        self._left = 0
        self._act = ""
        self._asked = False

    def at(self, point: str, number: int, act: str) -> None:
        """Has something happen when a point is reached for the `number`th time from now."""
        self._point, self._left, self._act = FaultPoint(point), number, act

    def rest(self) -> bool:
        """Has nothing more happen; returns whether something did."""
        happened = self._point is not None and self._left <= 0
        self._point, self._asked = None, False
        return happened

    def reach(self, point: FaultPoint) -> None:
        if point is not self._point:
            return
        self._left -= 1
        if self._left != 0:
            return
        if self._act == "ask":
            self._asked = True
        elif self._act == "cut":
            raise Cut
        else:
            raise SnapshotError("The disk is on fire")

    @contextmanager
    def listening(self) -> Generator[None]:
        yield

    def requested(self) -> bool:
        return self._asked


class Nobody(EventSink):
    def emit(self, event: Event) -> None:
        del event


class DisturbedContainer(Container):
    """The real services, with faults and interruptions at will."""

    def __init__(self, conductor: Conductor, **real: Any) -> None:
        super().__init__(**real)
        self._faults = conductor
        self._interruption = conductor


class Stage:
    """One home directory, and the projects of all plans in it."""

    def __init__(self) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="cleveragents-properties-")).resolve()
        self.home = self.directory / "home"
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.directory),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        self.projects = self.directory / "projects"
        make_repository(Git(self.environment, self.directory), self.projects / "repository", START)
        shutil.copytree(self.projects / "repository", self.projects / "files")
        shutil.rmtree(self.projects / "files" / ".git")
        with closing(sqlite3.connect(self.projects / "base.db")) as connection:
            connection.execute("CREATE TABLE goods (name)")
            connection.execute("INSERT INTO goods VALUES ('from the start')")
            connection.commit()
        self.untouched = self.look_at_projects()

    def close(self) -> None:
        shutil.rmtree(self.directory)

    def look_at_projects(self) -> Tree:
        return own_eyes(self.projects, without_git=False)

    def container(self, conductor: Conductor, script: Script, limit: int) -> Container:
        """What a new process would begin with."""
        flags = {
            "sandbox.checkpoint.max-checkpoints-per-plan": str(limit),
            "sandbox.checkpoint.auto-create-on": ",".join(sorted(script.triggers)),
        }
        settings = load_settings(
            home=self.home, project=self.projects, environ=self.environment, flags=flags
        )
        return DisturbedContainer(
            conductor,
            home=self.home,
            settings=settings,
            environment=self.environment,
            events=Nobody(),
        )

    def write_plan(self, script: Script, *, with_git: bool, with_base: bool) -> Path:
        files = {"type": "git-checkout" if with_git else "fs-directory", "path": "."}
        base = {"type": "sqlite", "path": str(self.projects / "base.db")}
        said = {
            "name": "local/scripted",
            "resources": {WORK: files, **({BASE: base} if with_base else {})},
            "policy": {"on_failure": script.policy},
            "steps": [definition(step) for step in script.steps],
        }
        file = self.directory / "plan.yaml"
        file.write_text(json.dumps(said))
        return file
