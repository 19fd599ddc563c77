"""What an apply leaves out: files of the sandboxes that no checkpoint holds.

They are named before the question, and the sandbox is kept for them. What a tool can make again
is only mentioned.
"""

from __future__ import annotations

from collections.abc import Sequence

from cleveragents.domain.plans.apply import ApplyMode, ApplyRequest, LeftOut, LeftOutFile
from cleveragents.domain.sandboxes.patterns import PathPatterns
from cleveragents.domain.sandboxes.sandbox import UncapturedFile
from cleveragents.domain.sandboxes.uncaptured import IGNORED

_ALL = "all"
_NAMED = 20


def is_wanted(file: UncapturedFile, request: ApplyRequest) -> bool:
    """Says whether a file that no checkpoint holds is to be applied too.

    A new branch is a commit, and no commit has ignored files.
    """
    if not file.can_be_added:
        return False
    if request.mode is ApplyMode.BRANCH and file.reason == IGNORED.text:
        return False
    if PathPatterns(request.include_ignored).takes(file.path):
        return True
    return _ALL in request.include_ignored and file.rebuildable is None


def summed_up(files: Sequence[tuple[str, UncapturedFile]]) -> LeftOut:
    """Returns what is left out, of files with the names of their resources."""
    counted = [(resource, item) for resource, item in files if item.rebuildable is None]
    rebuildable = {item.rebuildable for _, item in files if item.rebuildable is not None}
    return LeftOut(
        files=tuple(
            LeftOutFile(
                resource=resource,
                path=item.path,
                reason=item.reason,
                size_bytes=item.size_bytes,
            )
            for resource, item in counted[:_NAMED]
        ),
        count=len(counted),
        size_bytes=sum(item.size_bytes for _, item in counted),
        rebuildable=tuple(sorted(rebuildable)),
    )
