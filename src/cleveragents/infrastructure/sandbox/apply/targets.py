"""AllTargets: every kind of resource that a plan's result can be written into."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import assert_never

from cleveragents.application.ports.system import FaultPoints
from cleveragents.application.ports.targets import OpenTarget, Targets
from cleveragents.domain.plans.apply import ApplyMode, ApplyRequest, Target, TargetWork
from cleveragents.domain.sandboxes.resource import ResourceType, SandboxStrategy
from cleveragents.infrastructure.sandbox.apply.directory_target import (
    DirectoryTarget,
    plan_directory,
)
from cleveragents.infrastructure.sandbox.apply.file_plan import os_errors_refused
from cleveragents.infrastructure.sandbox.apply.git_plan import plan_git
from cleveragents.infrastructure.sandbox.apply.git_target import GitTarget
from cleveragents.infrastructure.sandbox.apply.journal import ApplyJournal, ApplyProgress
from cleveragents.infrastructure.sandbox.apply.merge_workspace import MergeWorkspace
from cleveragents.infrastructure.sandbox.apply.project_writer import ProjectWriter
from cleveragents.infrastructure.sandbox.apply.reversal import plan_reversal
from cleveragents.infrastructure.sandbox.apply.sqlite_target import SqliteTarget, plan_database
from cleveragents.infrastructure.sandbox.git.command import Git, git_on_mirror
from cleveragents.infrastructure.sandbox.store.blobs import BlobReader
from cleveragents.infrastructure.sandbox.store.directories import sandbox_place, scratch
from cleveragents.infrastructure.sandbox.store.refs import mirror_use


class AllTargets(Targets):
    """Chooses by the type of the resource; what `plan` stored in the mirror, `open` reads."""

    def __init__(self, git: Git, home: Path, faults: FaultPoints) -> None:
        self._git = git
        self._home = home
        self._faults = faults

    def plan(self, work: TargetWork, request: ApplyRequest) -> Target:
        resource, store = work.resource, Path(work.sandbox.store)
        makes_branch = (
            request.mode is ApplyMode.BRANCH and resource.type is ResourceType.GIT_CHECKOUT
        )
        # Without isolation the plan has worked in the resource itself, so all of it is there.
        if work.sandbox.strategy is SandboxStrategy.NONE or not (work.changes or makes_branch):
            return Target(
                resource_id=resource.id,
                resource=resource.name,
                type=resource.type,
                path=resource.path,
                store="",
                document="",
                files=(),
            )
        mirror = git_on_mirror(self._git, store)
        with (
            os_errors_refused(resource.path),
            mirror_use(store),
            closing(BlobReader(mirror)) as objects,
            scratch(sandbox_place(self._home, work.plan_id, resource.name)) as workspace,
        ):
            match resource.type:
                case ResourceType.GIT_CHECKOUT:
                    merging = MergeWorkspace(mirror, objects, workspace)
                    return plan_git(self._git, merging, work, request)
                case ResourceType.FS_DIRECTORY:
                    return plan_directory(mirror, work, request)
                case ResourceType.SQLITE:
                    return plan_database(mirror, objects, workspace, work, request)
                case _ as never:
                    assert_never(never)

    def reverse(self, target: Target) -> Target:
        if not target.document:
            return target
        store = Path(target.store)
        mirror = git_on_mirror(self._git, store)
        with (
            os_errors_refused(target.path),
            mirror_use(store),
            closing(BlobReader(mirror)) as objects,
        ):
            journal = ApplyJournal.load(objects.read(target.document))
            place = sandbox_place(self._home, journal.plan_id, target.resource)
            with scratch(place) as workspace:
                return plan_reversal(mirror, objects, workspace, journal, target)

    @contextmanager
    def open(self, target: Target) -> Generator[OpenTarget]:
        store, held = Path(target.store), ExitStack()
        mirror = git_on_mirror(self._git, store)
        try:
            with os_errors_refused(target.path):
                held.enter_context(mirror_use(store))
                objects = held.enter_context(closing(BlobReader(mirror)))
                journal = ApplyJournal.load(objects.read(target.document))
                sandbox = sandbox_place(self._home, journal.plan_id, target.resource)
                workspace = held.enter_context(scratch(sandbox))
                move, git_dir = journal.move, journal.git_dir
                progress = ApplyProgress(mirror, journal.plan_id, target.resource, target.document)
                opened: OpenTarget
                if journal.database is not None:
                    opened = SqliteTarget(mirror, journal, journal.database, objects, workspace)
                elif git_dir is None or move is None:
                    writer = ProjectWriter(journal, objects, progress, self._faults)
                    opened = DirectoryTarget(journal.root, sandbox, writer)
                else:
                    merging = MergeWorkspace(mirror, objects, workspace)
                    writer = ProjectWriter(journal, objects, progress, self._faults)
                    opened = GitTarget(
                        journal, git_dir, move, merging, objects, writer, self._faults
                    )
            yield opened
        finally:
            # What is left of a workspace is removed by a later command: no reason to fail.
            with suppress(OSError):
                held.close()
