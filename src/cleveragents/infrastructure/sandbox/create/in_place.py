"""Sandboxes that are the project itself: for sessions that work on the user's own files.

Nothing is copied, and nothing here ever creates, moves or removes a file of the project. Snapshots
go to the mirror, and notes to the home directory, as for any other sandbox.
"""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from cleveragents.application.ports.system import Clock
from cleveragents.domain.errors import ProjectRefusedError, SandboxMissingError
from cleveragents.domain.sandboxes.resource import ResourceType, SandboxStrategy
from cleveragents.domain.sandboxes.sandbox import ProjectFacts, Resource, SandboxRef
from cleveragents.infrastructure.sandbox.create.inspection import (
    ProjectInspection,
    inspect_directory,
)
from cleveragents.infrastructure.sandbox.create.maker import (
    SandboxMaker,
    creation_errors,
    new_sandbox,
    require_directory,
)
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.git.repository import (
    Repository,
    find_repository,
    store_key,
)
from cleveragents.infrastructure.sandbox.store.directories import beside
from cleveragents.infrastructure.sandbox.store.mirror import ensure_store, refresh_settings
from cleveragents.infrastructure.sandbox.store.refs import mirror_use

_DETACHED = "HEAD"


def inspect_in_place(path: Path, git: Git, surroundings: ProjectInspection) -> ProjectFacts:
    """Returns the facts about a project of any kind: only its files matter.

    Raises:
        ProjectRefusedError: it is no project, but the user's home directory, for example.
    """
    repository = _repository(path, surroundings.user_home)
    root = repository.root if repository is not None else path
    found = inspect_directory(root, surroundings)
    if repository is None:
        return found
    inside = git.at(repository.git_dir)
    commit = inside.run("rev-parse", "--verify", "-q", "HEAD", ok=(0, 1, 128)).decode().strip()
    branch = inside.run("symbolic-ref", "-q", "HEAD", ok=(0, 1, 128)).decode().strip()
    return ProjectFacts(
        root=found.root,
        key=store_key(Path(found.root), ResourceType.GIT_CHECKOUT),
        type=ResourceType.GIT_CHECKOUT,
        head_commit=commit or None,
        branch=branch.removeprefix("refs/heads/") or _DETACHED,
    )


def _repository(path: Path, user_home: Path | None) -> Repository | None:
    try:
        return find_repository(path, user_home)
    except ProjectRefusedError:
        return None


class InPlaceSandboxes(SandboxMaker):
    """Hands out the project itself, and never removes it."""

    def __init__(self, git: Git, home: Path, clock: Clock) -> None:
        self._git = git
        self._home = home
        self._clock = clock

    def create(self, sandbox_id: str, plan_id: str, resource: Resource) -> SandboxRef:
        root, mirrors = Path(resource.path), self._home / "mirrors"
        branch: str | None = None
        with creation_errors():
            if resource.type is ResourceType.GIT_CHECKOUT:
                repository = find_repository(root, None)
                branch = branch_of_project(repository, self._git)
                store = refresh_settings(repository, self._git, mirrors)
            else:
                key = store_key(root, ResourceType.FS_DIRECTORY)
                store = ensure_store(self._git, mirrors, key)
            with mirror_use(store):
                sandbox = replace(
                    new_sandbox(
                        sandbox_id,
                        plan_id,
                        resource,
                        SandboxStrategy.IN_PLACE,
                        root,
                        store,
                        self._clock.now(),
                    ),
                    branch=branch,
                )
                beside(sandbox).mkdir(mode=0o700, parents=True, exist_ok=True)
        return sandbox

    def check(self, sandbox: SandboxRef) -> None:
        require_directory(Path(sandbox.path))

    def reopen(self, sandbox: SandboxRef) -> None:
        """Refuses: an empty directory in the place of a project that moved would hide it."""
        raise SandboxMissingError(sandbox.path, "is missing")

    def remove(self, sandbox: SandboxRef) -> None:
        """Leaves the project where it is: it is the user's."""


def branch_of_project(repository: Repository, git: Git) -> str:
    """Returns the project's branch; a detached `HEAD` is called that."""
    said = git.at(repository.git_dir).run("symbolic-ref", "-q", "HEAD", ok=(0, 1, 128))
    return said.decode().strip().removeprefix("refs/heads/") or _DETACHED
