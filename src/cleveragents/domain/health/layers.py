"""The layers of private views: what sessions changed, and nobody has applied or discarded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from cleveragents.domain.record import Record
from cleveragents.domain.sandboxes.resource import SandboxStrategy
from cleveragents.domain.sandboxes.sandbox import Resource, SandboxRef, SandboxState


class Layer(Record):
    """What one private view holds."""

    plan_id: str
    project: str
    bytes: int
    created_at: datetime


def has_layer(sandbox: SandboxRef) -> bool:
    is_view = sandbox.strategy is SandboxStrategy.PRIVATE_VIEW
    return is_view and sandbox.state is not SandboxState.CLEANED_UP


def layers(
    sandboxes: Sequence[SandboxRef],
    resources: Iterable[Resource],
    stored: Mapping[str, Mapping[str, int]],
) -> tuple[Layer, ...]:
    """Returns the layers, the oldest first.

    Args:
        sandboxes: All sandboxes.
        resources: What they were made of.
        stored: What sandboxes take on disk, by plan and resource.
    """
    paths = {resource.id: resource.path for resource in resources}
    found = [
        Layer(
            plan_id=sandbox.plan_id,
            project=paths[sandbox.resource_id],
            bytes=stored.get(sandbox.plan_id, {}).get(sandbox.resource, 0),
            created_at=sandbox.created_at,
        )
        for sandbox in filter(has_layer, sandboxes)
    ]
    return tuple(sorted(found, key=lambda layer: layer.created_at))
