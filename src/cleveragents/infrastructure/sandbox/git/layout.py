"""Where things are in a project's private mirror, and git on them.

`<key>.git` is the repository that the git of a sandbox uses, so an agent can
write to all of it: configuration, attributes, hooks. Our own git therefore
takes objects and refs from there, and everything that could steer it from
`<key>.private`, which holds links to those and no configuration but ours.
"""

from __future__ import annotations

from pathlib import Path

from cleveragents.domain.sandboxes.sandbox import SandboxRef
from cleveragents.infrastructure.sandbox.git.command import Git

SHARED = ("objects", "packed-refs", "refs", "shallow", "worktrees")
"""What `<key>.private` links to in `<key>.git`."""


def private_directory(mirror: Path) -> Path:
    return mirror.with_suffix(".private")


def admin_directory(sandbox: SandboxRef) -> Path:
    """Where git keeps HEAD and index of the sandbox; the sandbox's `.git` points there."""
    return Path(sandbox.store) / "worktrees" / f"{sandbox.plan_id}-{sandbox.resource}"


def git_on_mirror(git: Git, mirror: Path) -> Git:
    return git.at(private_directory(mirror))


def git_on_sandbox(git: Git, sandbox: SandboxRef) -> Git:
    return git.at(admin_directory(sandbox)).with_variables(
        GIT_COMMON_DIR=str(private_directory(Path(sandbox.store))), GIT_WORK_TREE=sandbox.path
    )
