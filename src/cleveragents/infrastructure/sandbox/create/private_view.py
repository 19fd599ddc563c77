"""Sandboxes that are private views: the project at its own path, with changes of a session's own.

The project is only read. What is written goes to the upper layer, in the home directory, so a view
is made in constant time. `files/views.py` mounts it, for the processes that use it.
"""

from __future__ import annotations

import os
from pathlib import Path

from msgspec.structs import replace

from cleveragents.application.ports.system import Clock
from cleveragents.domain.errors import SandboxMissingError
from cleveragents.domain.sandboxes.resource import ResourceType, SandboxStrategy
from cleveragents.domain.sandboxes.sandbox import Resource, SandboxRef
from cleveragents.infrastructure.files import write_durably
from cleveragents.infrastructure.sandbox.create.in_place import branch_of_project
from cleveragents.infrastructure.sandbox.create.maker import (
    SandboxMaker,
    creation_errors,
    new_sandbox,
)
from cleveragents.infrastructure.sandbox.files.views import Layer, unused
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.git.repository import find_repository, store_key
from cleveragents.infrastructure.sandbox.store.directories import remove_tree, sandbox_place
from cleveragents.infrastructure.sandbox.store.mirror import ensure_store, refresh_settings


class PrivateViewSandboxes(SandboxMaker):
    """Makes and removes the layers of private views under one home directory."""

    def __init__(self, git: Git, home: Path, clock: Clock) -> None:
        self._git = git
        self._home = home
        self._clock = clock

    def create(self, sandbox_id: str, plan_id: str, resource: Resource) -> SandboxRef:
        """Makes a layer; it is mounted by whoever needs to see it."""
        project, mirrors = Path(resource.path), self._home / "mirrors"
        place = sandbox_place(self._home, plan_id, resource.name)
        branch: str | None = None
        with creation_errors():
            if resource.type is ResourceType.GIT_CHECKOUT:
                repository = find_repository(project, None)
                branch = branch_of_project(repository, self._git)
                store = refresh_settings(repository, self._git, mirrors)
            else:
                key = store_key(project, ResourceType.FS_DIRECTORY)
                store = ensure_store(self._git, mirrors, key)
            write_durably(_note_of(store), os.fsencode(project))
            remove_layer(place)  # What a killed attempt may have left: there is no record of it.
            layer = Layer(place)
            layer.make(project)
            view = SandboxStrategy.PRIVATE_VIEW
            now = self._clock.now()
            made = new_sandbox(sandbox_id, plan_id, resource, view, layer.view, store, now)
            return replace(made, branch=branch)

    def check(self, sandbox: SandboxRef) -> None:
        if not Layer.of(sandbox).is_whole:
            raise SandboxMissingError(sandbox.path, "is missing")

    def reopen(self, sandbox: SandboxRef) -> None:
        """Makes a layer without changes; nothing is done to one that is there in part."""
        layer = Layer.of(sandbox)
        with creation_errors():
            try:
                layer.make(_project_of(sandbox))
            except FileExistsError as error:
                reason = "is not what was there before"
                raise SandboxMissingError(sandbox.path, reason) from error

    def remove(self, sandbox: SandboxRef) -> None:
        remove_layer(Layer.of(sandbox).place)


def _note_of(store: Path) -> Path:
    """Returns the file that names the project of a mirror: each project has one."""
    return store.with_suffix(".project")


def _project_of(sandbox: SandboxRef) -> Path:
    try:
        return Path(os.fsdecode(_note_of(Path(sandbox.store)).read_bytes()))
    except OSError as error:
        reason = "is missing, and nothing says of which project it was"
        raise SandboxMissingError(sandbox.path, reason) from error


def remove_layer(place: Path) -> None:
    """Removes a layer that no process uses; one that is not there is fine.

    Raises:
        ConflictError: a process uses the view.
    """
    with unused(place):
        remove_tree(place)
