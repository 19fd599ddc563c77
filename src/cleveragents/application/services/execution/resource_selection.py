"""Which resources a plan works on, and how each of them is isolated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from cleveragents.application.ports.sandboxes import Sandboxes
from cleveragents.application.ports.system import IdSource
from cleveragents.domain.errors import ProjectRefusedError
from cleveragents.domain.plans.plan_file import PlanDefinition, ResourceDefinition
from cleveragents.domain.sandboxes.resource import ResourceType, SandboxStrategy
from cleveragents.domain.sandboxes.sandbox import Resource


@dataclass(frozen=True)
class SelectedResources:
    """What a new plan works on."""

    root: Path
    """What paths in the plan are relative to."""
    definition: PlanDefinition
    """The plan file, with what shares a sandbox."""
    resources: Sequence[Resource]
    """Those with a sandbox of their own."""
    key: str
    """Names the private mirror of the first resource."""


class ResourceSelection:
    """Finds the resources that a plan file names; the project is only read."""

    def __init__(
        self, sandboxes: Sandboxes, id_source: IdSource, strategy: SandboxStrategy
    ) -> None:
        """Args: `strategy` is what the user prefers where the plan file names none."""
        self._sandboxes = sandboxes
        self._ids = id_source
        self._strategy = strategy

    def of(
        self, plan_id: str, definition: PlanDefinition, project: Path, *, include_uncommitted: bool
    ) -> SelectedResources:
        """Returns the resources of a new plan.

        Args:
            plan_id: The plan.
            definition: Its plan file.
            project: The project, or a directory in it.
            include_uncommitted: Whether sandboxes of repositories will start from the
                files as they are then, not from `HEAD`.

        Raises:
            ProjectRefusedError: the project cannot be sandboxed whole.
        """
        root = self._root(definition, project)
        found, keys = self._found(plan_id, definition, root)
        definition, resources = self._shared(definition, found)
        if include_uncommitted:
            # Only repositories have something committed: all else is taken as it is in any case.
            resources = [
                replace(item, include_uncommitted=item.type is ResourceType.GIT_CHECKOUT)
                for item in resources
            ]
        return SelectedResources(root, definition, resources, keys[resources[0].name])

    def _root(self, definition: PlanDefinition, project: Path) -> Path:
        """Returns what paths in the plan are relative to; without git any directory will do."""
        try:
            return Path(self._sandboxes.project_root(project))
        except ProjectRefusedError:
            kinds = {wanted.type for wanted in definition.resources.values()}
            if ResourceType.GIT_CHECKOUT in kinds:
                raise
            return project.absolute()

    def _found(
        self, plan_id: str, definition: PlanDefinition, root: Path
    ) -> tuple[list[Resource], dict[str, str]]:
        """Returns the plan's resources, and their keys by name."""
        found: list[Resource] = []
        keys: dict[str, str] = {}
        for position, (name, wanted) in enumerate(definition.resources.items()):
            facts = self._sandboxes.inspect(root / wanted.path, wanted.type)
            keys[name] = facts.key
            found.append(
                Resource(
                    id=self._ids.new(),
                    plan_id=plan_id,
                    name=name,
                    type=wanted.type,
                    strategy=self._strategy_of(wanted, definition, facts.root),
                    path=facts.root,
                    position=position,
                )
            )
        return found, keys

    def _strategy_of(
        self, wanted: ResourceDefinition, definition: PlanDefinition, path: str
    ) -> SandboxStrategy:
        strategy = wanted.chosen_strategy(self._strategy)
        if strategy is SandboxStrategy.NONE and definition.policy.require_sandbox:
            raise ProjectRefusedError(
                path,
                "the setting `sandbox.strategy` is `none`, and the plan requires sandboxes",
                hint="Change the setting, or set `policy.require_sandbox: false` in the plan",
            )
        return strategy

    def _shared(
        self, definition: PlanDefinition, resources: Sequence[Resource]
    ) -> tuple[PlanDefinition, list[Resource]]:
        """Returns the definition that says what shares a sandbox, and what has one of its own."""
        shared = self._sandboxes.shared_places(resources)
        own = {item.name: item for item in resources if item.name not in shared}
        wanted = dict(definition.resources)
        for name, place in shared.items():
            strategy = own[place.sandbox].strategy
            if wanted[name].strategy not in (None, strategy):
                raise ProjectRefusedError(
                    next(item.path for item in resources if item.name == name),
                    f"{name} shares the sandbox of the resource {place.sandbox}, whose strategy "
                    f"is `{strategy}`",
                    hint=f"Leave out the strategy of {name}",
                )
            wanted[name] = replace(wanted[name], shared=place)
        return replace(definition, resources=wanted), list(own.values())
