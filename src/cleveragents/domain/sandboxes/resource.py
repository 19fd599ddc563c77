"""Kinds of things a plan may change, and how each can be isolated."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType


class ResourceType(StrEnum):
    """Kinds of things a plan may change."""

    GIT_CHECKOUT = "git-checkout"
    FS_DIRECTORY = "fs-directory"
    SQLITE = "sqlite"


class SandboxStrategy(StrEnum):
    """How a resource is isolated."""

    GIT_WORKTREE = "git_worktree"
    FILESYSTEM_COPY = "filesystem_copy"
    TRANSACTION_ROLLBACK = "transaction_rollback"
    OVERLAY = "overlay"
    IN_PLACE = "in_place"
    """Not isolated, but with snapshots: the files are the user's own. Only sessions use it."""
    PRIVATE_VIEW = "private_view"
    """The project at its own path, with changes that only a session sees. Only sessions use it."""
    NONE = "none"

    @property
    def is_private(self) -> bool:
        """Whether the sandbox is ours and may be removed; otherwise it is the resource itself."""
        return self not in (SandboxStrategy.NONE, SandboxStrategy.IN_PLACE)


STRATEGIES: Mapping[ResourceType, tuple[SandboxStrategy, ...]] = MappingProxyType(
    {
        ResourceType.GIT_CHECKOUT: (SandboxStrategy.GIT_WORKTREE, SandboxStrategy.NONE),
        ResourceType.FS_DIRECTORY: (
            SandboxStrategy.FILESYSTEM_COPY,
            SandboxStrategy.OVERLAY,
            SandboxStrategy.NONE,
        ),
        ResourceType.SQLITE: (SandboxStrategy.TRANSACTION_ROLLBACK, SandboxStrategy.NONE),
    }
)
"""The possible strategies of each type; the first is the default."""


_OF_SESSIONS = (SandboxStrategy.IN_PLACE, SandboxStrategy.PRIVATE_VIEW)
PLAN_STRATEGIES = tuple(item for item in SandboxStrategy if item not in _OF_SESSIONS)
"""What a plan file or the setting `sandbox.strategy` may name."""


def default_strategy(kind: ResourceType) -> SandboxStrategy:
    return STRATEGIES[kind][0]
