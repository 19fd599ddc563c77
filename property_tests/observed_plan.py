"""A real plan and its sandboxes, read from outside and described in the words of the model."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from cleveragents.application.ports.records import Database, Transaction
from cleveragents.domain.checkpoints.checkpoint import Checkpoint, CheckpointGroup
from cleveragents.domain.checkpoints.operation import Operation, OperationStatus
from cleveragents.domain.sandboxes.sandbox import SandboxRef
from cleveragents.domain.tools.tool import ToolCall
from cleveragents.testing.trees import Node, Tree, read_tree
from property_tests.operation_model import Call, Decision, State
from property_tests.scripted_plan import BASE, Contents


@dataclass(frozen=True)
class Seen:
    """Everything about a plan at one moment."""

    state: State
    groups: dict[int, tuple[object, ...]]
    """Label, kind, trigger, step and decision of every group that is kept."""
    calls: dict[int, Call]
    decisions: dict[int, Decision]
    steps: dict[int, int | None]
    """The step that each standing decision says it belongs to."""
    records: tuple[CheckpointGroup, ...]
    checkpoints: tuple[Checkpoint, ...]
    operations: tuple[Operation, ...]
    corrections: tuple[object, ...]
    decision_ids: dict[int, str]
    sandboxes: tuple[SandboxRef, ...]

    def number_of(self, checkpoint: Checkpoint) -> int:
        """Returns the number of the group a checkpoint belongs to."""
        return next(item.sequence for item in self.records if item.id == checkpoint.group_id)

    @property
    def visible(self) -> list[str]:
        """The ids of the checkpoints that are in sight."""
        return [item.id for item in self.checkpoints if self.number_of(item) in self.state.visible]

    @property
    def is_something_pending(self) -> bool:
        return any(item.status is OperationStatus.PENDING for item in self.operations)


def look_at(database: Database, plan_id: str) -> Seen:
    with database.read() as transaction:
        return _Looking(transaction, plan_id).seen()


class _Looking:
    """One look, in one transaction; numbers stand for ids."""

    def __init__(self, transaction: Transaction, plan_id: str) -> None:
        self._transaction = transaction
        self._plan = transaction.plans.get(plan_id)
        self._groups = tuple(transaction.checkpoints.groups(plan_id))
        self._checkpoints = tuple(transaction.checkpoints.list(plan_id, set_aside=True))
        self._decisions = transaction.decisions.list(plan_id, superseded=True)
        self._calls = transaction.tool_calls.list(plan_id)
        self._sandboxes = tuple(transaction.sandboxes.list(plan_id))
        self._numbers = {item.id: item.sequence for item in (*self._groups, *self._decisions)}

    def seen(self) -> Seen:
        plan = self._plan
        return Seen(
            state=self._state(),
            groups=self._tell_groups(),
            calls={item.sequence: _model_call(item) for item in self._calls},
            decisions=self._tell_decisions(),
            steps={
                item.sequence: item.step_index
                for item in self._decisions
                if item.superseded_by is None
            },
            records=self._groups,
            checkpoints=self._checkpoints,
            operations=tuple(self._transaction.operations.list(plan.id)),
            corrections=tuple(self._transaction.corrections.list(plan.id)),
            decision_ids={item.sequence: item.id for item in self._decisions},
            sandboxes=self._sandboxes,
        )

    def _state(self) -> State:
        plan, transaction = self._plan, self._transaction
        groups = {item.id: self._numbers[item.group_id] for item in self._checkpoints}
        visible = transaction.checkpoints.list(plan.id)
        return State(
            files=contents_of(self._sandboxes),
            phase=plan.phase.value,
            state=plan.state.value,
            attempt=plan.attempt,
            done=plan.last_completed_step,
            choices=plan.choices,
            last=None if plan.last_checkpoint_id is None else groups[plan.last_checkpoint_id],
            visible=frozenset(groups[item.id] for item in visible),
            calls=frozenset(item.sequence for item in self._calls if item.undone_by is None),
            decisions=frozenset(
                item.sequence for item in self._decisions if item.superseded_by is None
            ),
            children={
                self._numbers[child.spawn_decision_id or ""]: child.state.value
                for child in transaction.plans.children(plan.id)
            },
            failed_at=None if plan.error is None else plan.error.step_index,
            cancelled_because=plan.cancel_reason,
            finished=plan.finished_at is not None,
        )

    def _tell_groups(self) -> dict[int, tuple[object, ...]]:
        return {
            self._numbers[item.group_id]: (
                item.metadata.label,
                item.checkpoint_type.value,
                item.metadata.trigger,
                item.metadata.step_index,
                self._numbers[item.decision_id] if item.decision_id else None,
            )
            for item in self._checkpoints
        }

    def _tell_decisions(self) -> dict[int, Decision]:
        influences = self._transaction.decisions.influences(self._plan.id)
        return {
            item.sequence: Decision(
                parent=self._numbers[item.parent_id] if item.parent_id else None,
                chosen=item.chosen_option,
                place=item.place,
                step=None if item.place else item.step_index,
                influences=frozenset(self._numbers[one] for one in influences.get(item.id, ())),
                question=item.question,
            )
            for item in self._decisions
        }


def _model_call(call: ToolCall) -> Call:
    output = call.output if call.tool == "read-file" else None
    return Call(call.step_index, call.tool, call.status.value, output)


def contents_of(sandboxes: Sequence[SandboxRef]) -> Contents:
    """Returns what every sandbox holds, read by our own eyes."""
    return {
        item.resource: (rows_of if item.resource == BASE else read_tree)(Path(item.path))
        for item in sandboxes
    }


def rows_of(database: Path) -> Tree:
    """Returns the tables and rows of a database."""
    found: Tree = {}
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        for name, sql in connection.execute("SELECT name, sql FROM sqlite_master").fetchall():
            found[name] = Node("table", 0, sql.encode())
            for number, value in connection.execute(f"SELECT rowid, * FROM {name}").fetchall():
                found[f"{name}/{number}"] = Node("row", 0, value.encode())
    return found
