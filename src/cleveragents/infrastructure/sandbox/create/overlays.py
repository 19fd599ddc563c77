"""Sandboxes of large directories on Linux: overlays, made in constant time.

The directory itself is the lower layer and only read. What the plan writes is
in `.<resource>.overlay/upper`, beside the place where the overlay is mounted.
Overlayfs leaves undefined what a sandbox shows of files that others change in
the lower directory meanwhile.
"""

from __future__ import annotations

import os
from pathlib import Path

from cleveragents.application.ports.system import Clock
from cleveragents.domain.errors import ProjectRefusedError
from cleveragents.domain.sandboxes.resource import ResourceType, SandboxStrategy
from cleveragents.domain.sandboxes.sandbox import Resource, SandboxRef
from cleveragents.infrastructure.files import write_durably
from cleveragents.infrastructure.sandbox.create.maker import (
    SandboxMaker,
    creation_errors,
    make_again,
    new_sandbox,
    require_directory,
)
from cleveragents.infrastructure.sandbox.files.overlay_mounts import (
    LOWER,
    detach,
    layers_of,
    mount_overlay,
    require_mounted,
)
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.git.repository import store_key
from cleveragents.infrastructure.sandbox.store.directories import (
    remove_tree,
    remove_with_parent,
    sandbox_place,
)
from cleveragents.infrastructure.sandbox.store.mirror import ensure_store


class OverlaySandboxes(SandboxMaker):
    """Makes and removes overlays under one home directory."""

    def __init__(self, git: Git, home: Path, clock: Clock) -> None:
        self._git = git
        self._home = home
        self._clock = clock

    def create(self, sandbox_id: str, plan_id: str, resource: Resource) -> SandboxRef:
        lower = Path(resource.path)
        place = sandbox_place(self._home, plan_id, resource.name)
        with creation_errors():
            remove_sandbox(place)  # What a killed attempt may have left: there is no record of it.
            key = store_key(lower, ResourceType.FS_DIRECTORY)
            store = ensure_store(self._git, self._home / "mirrors", key)
            try:
                self._make(lower, place)
            except BaseException:
                remove_sandbox(place)
                raise
        return new_sandbox(
            sandbox_id, plan_id, resource, SandboxStrategy.OVERLAY, place, store, self._clock.now()
        )

    def check(self, sandbox: SandboxRef) -> None:
        """Mounts it again where a reboot has unmounted it."""
        require_directory(Path(sandbox.path))
        require_mounted(sandbox)

    def reopen(self, sandbox: SandboxRef) -> None:
        make_again(Path(sandbox.path))
        self.check(sandbox)

    def remove(self, sandbox: SandboxRef) -> None:
        remove_sandbox(Path(sandbox.path))

    def _make(self, lower: Path, place: Path) -> None:
        layers = layers_of(place)
        for directory in (place, layers, layers / "upper", layers / "work"):
            directory.mkdir(mode=0o700, parents=True)
        # The top of an overlay has the mode of the upper layer's top.
        os.chmod(layers / "upper", lower.stat().st_mode & 0o7777)
        try:
            mount_overlay(lower, layers / "upper", layers / "work", place)
        except OSError as error:
            raise ProjectRefusedError(
                str(lower),
                f"an overlay of it cannot be mounted: {error.strerror or error}",
                hint="Use `strategy: filesystem_copy`, which works everywhere",
            ) from error
        write_durably(layers / LOWER, os.fsencode(lower))


def remove_sandbox(place: Path) -> None:
    """Nothing is deleted while the overlay is mounted: through it one would reach both layers."""
    detach(place)
    remove_tree(place)
    remove_with_parent(layers_of(place))
