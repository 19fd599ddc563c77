"""The links between mirrors and worktrees, which hold absolute paths: rewritten after a move."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from cleveragents.infrastructure.files import write_durably

_LINK = b"gitdir: "


def relink(home: Path) -> None:
    """Makes every worktree and its mirror name each other at their places in this home.

    Only links that name the same mirror in another home are written: whatever else an agent put
    in the place of one stays. Repeatable.
    """
    for admin in sorted(home.glob("mirrors/*.git/worktrees/*")):
        plan_id, _, resource = admin.name.partition("-")
        sandbox = home / "sandboxes" / plan_id / resource
        _replace(admin / "gitdir", f"sandboxes/{plan_id}/{resource}/.git", home, b"")
        mirror = f"mirrors/{admin.parent.parent.name}/worktrees/{admin.name}"
        _replace(sandbox / ".git", mirror, home, _LINK)


def _replace(link: Path, target: str, home: Path, start: bytes) -> None:
    """Rewrites a link that leads to `target` in some home, so that it leads there in this one."""
    wanted = start + os.fsencode(f"{home}/{target}\n")
    try:
        is_file = stat.S_ISREG(link.lstat().st_mode)
        found = link.read_bytes() if is_file else b""
    except OSError:
        return
    named = found.startswith(start + b"/") and found.endswith(os.fsencode(f"/{target}\n"))
    if named and found != wanted:
        write_durably(link, wanted, mode=0o644)
