"""HistoryService: takes operations back, and takes that back too."""

from __future__ import annotations

from cleveragents.application.services.checkpoint_service import CheckpointService
from cleveragents.application.services.rollback.intents import UndoRedo
from cleveragents.domain.checkpoints.operation import OperationKind, RollbackPreview, RollbackResult


class HistoryService:
    """Undo and redo. Both are operations themselves: whole or not at all, and in the log."""

    def __init__(self, checkpoints: CheckpointService) -> None:
        self._checkpoints = checkpoints

    def preview(self, plan_id: str, kind: OperationKind) -> RollbackPreview:
        """Says what undoing or redoing would do; raises what it would.

        Raises:
            NothingToUndoError: there is nothing to undo, or redo.
            StateGoneError: what it leads to was deleted.
        """
        return self._checkpoints.preview(plan_id, UndoRedo(kind))

    def take_back(
        self, plan_id: str, kind: OperationKind, expected: str | None = None
    ) -> RollbackResult:
        """Undoes the last rollback or correction, or redoes what was undone last.

        Args:
            plan_id: The plan.
            kind: Which of the two.
            expected: The operation that a preview named.

        Raises:
            ConflictError: another process holds the plan, or has done something meanwhile.
        """
        return self._checkpoints.carry_out(plan_id, UndoRedo(kind, expected))
