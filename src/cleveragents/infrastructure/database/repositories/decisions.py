"""Decisions, and the attempts to correct them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from cleveragents.application.ports.records import CorrectionStore, DecisionStore
from cleveragents.domain.decisions.correction import CorrectionAttempt
from cleveragents.domain.decisions.decision import Decision
from cleveragents.domain.errors import CorrectionNotFoundError, DecisionNotFoundError
from cleveragents.domain.plans.events import (
    DecisionCreated,
    DecisionReinstated,
    DecisionSuperseded,
)
from cleveragents.infrastructure.database.models import (
    CORRECTIONS,
    DECISIONS,
    INFLUENCES,
    Influence,
)
from cleveragents.infrastructure.database.repositories.plans import RecordRepository
from cleveragents.infrastructure.database.session import id_lists

_DECISION = f"{DECISIONS.select} WHERE decision_id = :decision_id"
_ALL = f"{DECISIONS.select} WHERE plan_id = :plan_id ORDER BY sequence, decision_id"
_STANDING = (
    f"{DECISIONS.select} WHERE plan_id = :plan_id AND superseded_by IS NULL"
    " ORDER BY sequence, decision_id"
)
_NEXT = "SELECT coalesce(max(sequence), 0) + 1 FROM decisions WHERE plan_id = :plan_id"
_INFLUENCES = (
    "SELECT edge.decision_id, edge.influenced_by_id FROM decision_dependencies AS edge"
    " JOIN decisions ON decisions.decision_id = edge.decision_id"
    " WHERE plan_id = :plan_id ORDER BY edge.decision_id, edge.influenced_by_id"
)
_SUPERSEDE = (
    "UPDATE decisions SET superseded_by = :by"
    " WHERE decision_id IN (:ids) AND superseded_by IS NULL"
    " RETURNING sequence, plan_id, decision_id, question"
)
_REINSTATE = (
    "UPDATE decisions SET superseded_by = NULL"
    " WHERE decision_id IN (:ids) AND superseded_by IS NOT NULL"
    " RETURNING sequence, plan_id, decision_id, question"
)

_CORRECTION = f"{CORRECTIONS.select} WHERE correction_attempt_id = :attempt_id"
_OF_OPERATION = f"{CORRECTIONS.select} WHERE operation_id = :operation_id"
_CORRECTIONS = (
    f"{CORRECTIONS.select} WHERE plan_id = :plan_id ORDER BY created_at, correction_attempt_id"
)


class DecisionRepository(RecordRepository, DecisionStore):
    """The decision tree of plans; superseded decisions stay as rows."""

    def add(self, decision: Decision, influenced_by: Collection[str] = ()) -> None:
        self._session.insert(DECISIONS, DECISIONS.row(decision))
        causes = sorted({*influenced_by})
        edges = [INFLUENCES.row(Influence(decision.id, cause)) for cause in causes]
        self._session.insert(INFLUENCES, *edges)
        self._events.add(
            DecisionCreated(
                decision.plan_id,
                decision.id,
                decision.decision_type.value,
                decision.question,
                decision.chosen_option,
                decision.step_index,
            )
        )

    def save(self, decision: Decision) -> None:
        self._session.update(DECISIONS, DECISIONS.row(decision))

    def influences(self, plan_id: str) -> Mapping[str, Sequence[str]]:
        found: dict[str, list[str]] = {}
        for decision_id, cause in self._session.rows(_INFLUENCES, plan_id=plan_id):
            found.setdefault(decision_id, []).append(cause)
        return found

    def get(self, decision_id: str) -> Decision:
        found = self._session.find(DECISIONS, _DECISION, decision_id=decision_id)
        if not found:
            raise DecisionNotFoundError(decision_id)
        return found[0]

    def ids(self, prefix: str) -> Sequence[str]:
        return self._ids_starting_with("decisions", "decision_id", prefix)

    def next_sequence(self, plan_id: str) -> int:
        [[number]] = self._session.rows(_NEXT, plan_id=plan_id)
        return number

    def list(self, plan_id: str, *, superseded: bool = False) -> Sequence[Decision]:
        return self._session.find(DECISIONS, _ALL if superseded else _STANDING, plan_id=plan_id)

    def supersede(self, decision_ids: Collection[str], by: str) -> None:
        for sql, values in id_lists(_SUPERSEDE, decision_ids):
            for _, plan_id, decision_id, question in sorted(
                self._session.rows(sql, by=by, **values)
            ):
                self._events.add(DecisionSuperseded(plan_id, decision_id, question, by))

    def reinstate(self, decision_ids: Collection[str]) -> None:
        for sql, values in id_lists(_REINSTATE, decision_ids):
            for _, plan_id, decision_id, question in sorted(self._session.rows(sql, **values)):
                self._events.add(DecisionReinstated(plan_id, decision_id, question))


class CorrectionRepository(RecordRepository, CorrectionStore):
    """All correction attempts, including failed ones."""

    def add(self, attempt: CorrectionAttempt) -> None:
        self._session.insert(CORRECTIONS, CORRECTIONS.row(attempt))

    def save(self, attempt: CorrectionAttempt) -> None:
        self._session.update(CORRECTIONS, CORRECTIONS.row(attempt))

    def get(self, attempt_id: str) -> CorrectionAttempt:
        found = self._session.find(CORRECTIONS, _CORRECTION, attempt_id=attempt_id)
        if not found:
            raise CorrectionNotFoundError(attempt_id)
        return found[0]

    def of_operation(self, operation_id: str) -> CorrectionAttempt | None:
        found = self._session.find(CORRECTIONS, _OF_OPERATION, operation_id=operation_id)
        return found[0] if found else None

    def ids(self, prefix: str) -> Sequence[str]:
        return self._ids_starting_with("correction_attempts", "correction_attempt_id", prefix)

    def list(self, plan_id: str) -> Sequence[CorrectionAttempt]:
        return self._session.find(CORRECTIONS, _CORRECTIONS, plan_id=plan_id)
