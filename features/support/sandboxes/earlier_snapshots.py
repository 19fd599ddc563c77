"""What an earlier release stored of a sandbox; the bytes and names are literal on purpose."""

from __future__ import annotations

import errno
import stat
from dataclasses import replace

from cleveragents.domain.sandboxes.uncaptured import (
    CHANGING,
    GIT_OPERATIONS,
    OTHER_GIT,
    OVERDUE,
    PLAN_LIMIT,
    STAGED_BY_NAME,
    Reason,
    special_file,
    special_kind,
    too_large,
    unreadable,
)
from cleveragents.infrastructure.sandbox.store.captured_state import CapturedState, captured_from

DOCUMENT = (
    b'{"empty_directories":[],"head":{"branch":null,"commit":null},'
    b'"index":{"listing":null,"tree":null},'
    b'"modes":{"directory":493,"executable":33261,"regular":33188},'
    b'"not_captured":['
    b'[".git","not the sandbox\'s own; a rollback moves it aside"],'
    b'[".git/BISECT_LOG","a bisection in progress"],'
    b'[".git/CHERRY_PICK_HEAD","a cherry-pick in progress"],'
    b'[".git/MERGE_HEAD","a merge in progress"],'
    b'[".git/REVERT_HEAD","a revert in progress"],'
    b'[".git/index: named","staged by name only"],'
    b'[".git/rebase-apply","a rebase in progress"],'
    b'[".git/rebase-merge","a rebase in progress"],'
    b'[".git/sequencer","a cherry-pick or revert in progress"],'
    b'["closed/","permission denied"],'
    b'["device","special file: device"],'
    b'["large","larger than 1.5 MiB"],'
    b'["late","it was not reached before the deadline"],'
    b'["log","it kept changing while it was read"],'
    b'["many","the snapshots of the plan have reached their limit"],'
    b'["pipe","special file: fifo"],'
    b'["socket","special file: socket"]],'
    b'"top_mode":493,"tree":"4b825dc642cb6eb9a060e54bf8d69288fbee4904",'
    b'"unusual_modes":{},"version":1}'
)
NAME = "457dade7bd5b23965edb0bdb1a4a3a367eed997c"
HASH = "3b280c02732060b5818c26c3b278590dc1494252b694136a0f4bc6f804e3d7bd"


def stored() -> CapturedState:
    return captured_from(DOCUMENT, ["build/", "run.log"])


def found_today() -> CapturedState:
    """Returns the same state, with the reasons that the present code gives."""
    reasons: dict[str, Reason] = {
        ".git": OTHER_GIT,
        ".git/index: named": STAGED_BY_NAME,
        **{f".git/{name}": reason for name, reason in GIT_OPERATIONS.items()},
        "closed/": unreadable(PermissionError(errno.EACCES, "Permission denied")),
        "device": special_file(special_kind(stat.S_IFCHR)),
        "large": too_large(3 << 19),
        "late": OVERDUE,
        "log": CHANGING,
        "many": PLAN_LIMIT,
        "pipe": special_file(special_kind(stat.S_IFIFO)),
        "socket": special_file(special_kind(stat.S_IFSOCK)),
    }
    return replace(stored(), not_captured=reasons)
