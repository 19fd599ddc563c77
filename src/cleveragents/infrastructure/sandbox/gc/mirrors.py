"""The stores of all projects under one home directory."""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from cleveragents.application.ports.maintenance import Mirrors, RecordLookup
from cleveragents.domain.errors import ProjectRefusedError, SnapshotError
from cleveragents.domain.health.health import StoredBytes
from cleveragents.domain.health.maintenance import CollectedStore, StoreFindings
from cleveragents.domain.plans.origin import FoundPlan
from cleveragents.infrastructure.sandbox.gc.collect import collect, look
from cleveragents.infrastructure.sandbox.gc.disk_use import measure
from cleveragents.infrastructure.sandbox.gc.quarantine import PlansOnDisk
from cleveragents.infrastructure.sandbox.gc.unrecorded import directories, remove_stray
from cleveragents.infrastructure.sandbox.git.command import Git
from cleveragents.infrastructure.sandbox.git.repository import find_repository
from cleveragents.infrastructure.sandbox.store.directories import is_held, reclaim
from cleveragents.infrastructure.sandbox.store.mirror_repair import repair_mirror
from cleveragents.infrastructure.sandbox.store.packs import tree_bytes

_NOT_REMOVED = "A sandbox that no plan has could not be removed"


class ProjectMirrors(Mirrors):
    """Private repositories in `mirrors/`, each with the sandboxes made of it."""

    def __init__(self, git: Git, home: Path) -> None:
        self._git = git
        self._home = home

    def keys(self) -> Sequence[str]:
        mirrors = self._home / "mirrors"
        with _permitted(f"{mirrors} cannot be read"):
            paths = list(mirrors.iterdir()) if mirrors.is_dir() else []
        names = (path.name.removesuffix(".new") for path in paths)
        return sorted({name.removesuffix(".git") for name in names if name.endswith(".git")})

    def key_of(self, mirror: str) -> str:
        return Path(mirror).name.removesuffix(".git")

    def plan_of(self, sandbox: str) -> str:
        return Path(sandbox).parent.name

    def disk_use(self) -> StoredBytes:
        return measure(self._home, self.keys())

    def sandboxes(self) -> Mapping[str, Sequence[str]]:
        place = self._home / "sandboxes"
        with _permitted(f"{place} cannot be read"):
            return directories(place)

    def remove_sandbox(self, plan_id: str, resource: str) -> None:
        with _permitted(_NOT_REMOVED):
            remove_stray(self._home / "sandboxes" / plan_id / resource)

    def on_disk(
        self,
        projects: Sequence[str],
        *,
        among: Collection[str] | None = None,
        without: Collection[str] = (),
    ) -> Sequence[FoundPlan]:
        with _permitted(f"{self._home} cannot be read"):
            found = PlansOnDisk(self._git, self._home, projects)
            wanted = [plan for plan in found.plans() if plan not in without]
            return [found.find(plan) for plan in wanted if among is None or plan in among]

    def repair(self, mirror: str, project: str) -> Sequence[str]:
        try:
            repository = find_repository(Path(project), None)
        except ProjectRefusedError:
            return ()
        with _permitted(f"{mirror} cannot be repaired"):
            return repair_mirror(repository, Path(mirror)).replaced

    def look(self, key: str, naming: RecordLookup) -> StoreFindings:
        return look(self._git, self._store(key), self._home / "sandboxes", naming)

    def reclaim_drafts(self, *, dry_run: bool) -> int:
        sandboxes = self._home / "sandboxes"
        drafts = sorted(sandboxes.glob("*/.*.draft"))
        if dry_run:
            return sum(tree_bytes(draft) for draft in drafts if not is_held(draft))
        before = sum(map(tree_bytes, drafts))
        reclaim(sandboxes)
        return before - sum(map(tree_bytes, drafts))

    def collect(self, key: str, naming: RecordLookup, *, dry_run: bool) -> CollectedStore:
        place = self._home / "sandboxes"
        return collect(self._git, self._store(key), place, naming, dry_run=dry_run)

    def _store(self, key: str) -> Path:
        return self._home / "mirrors" / f"{key}.git"


@contextmanager
def _permitted(failure: str) -> Generator[None]:
    """Says what the system's refusal means."""
    try:
        yield
    except OSError as error:
        raise SnapshotError(
            f"{failure}: {error.strerror or error}",
            hint="Make it belong to this user, and give permission",
        ) from error
