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
    NONE = "none"


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


def default_strategy(kind: ResourceType) -> SandboxStrategy:
    return STRATEGIES[kind][0]
