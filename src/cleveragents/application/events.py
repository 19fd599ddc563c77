"""What is told while a command runs: how far it is, and what has just been stored.

Progress is shown and forgotten. What happens to a plan is stored first, see
`cleveragents.domain.plans.events`, and told when that is durable.
"""

from __future__ import annotations

from typing import ClassVar

import msgspec

from cleveragents.domain.plans.events import StoredEvent


class PlanStarted(msgspec.Struct, frozen=True):
    """Execution began, or went on at `first_step`."""

    type: ClassVar[str] = "progress.plan_started"
    plan_id: str
    first_step: int
    steps: int


class StepStarted(msgspec.Struct, frozen=True):
    """A tool is about to run."""

    type: ClassVar[str] = "progress.step_started"
    plan_id: str
    step_index: int
    steps: int
    name: str
    tool: str


class StepFinished(msgspec.Struct, frozen=True):
    """A step ended, well or not."""

    type: ClassVar[str] = "progress.step_finished"
    plan_id: str
    step_index: int
    steps: int
    name: str
    succeeded: bool


class PlanFinished(msgspec.Struct, frozen=True):
    """Execution ended, well or not."""

    type: ClassVar[str] = "progress.plan_finished"
    plan_id: str
    succeeded: bool


class SubplanStarted(msgspec.Struct, frozen=True):
    """A child plan began to run, or went on; `attempt` counts from 1."""

    type: ClassVar[str] = "progress.subplan_started"
    plan_id: str
    child_plan_id: str
    name: str
    attempt: int


class SubplanFinished(msgspec.Struct, frozen=True):
    """A child plan ended, well or not."""

    type: ClassVar[str] = "progress.subplan_finished"
    plan_id: str
    child_plan_id: str
    name: str
    succeeded: bool


class Stage(msgspec.Struct, frozen=True):
    """A long piece of work began: for a progress line."""

    type: ClassVar[str] = "progress.stage"
    name: str


class ProgressAdvanced(msgspec.Struct, frozen=True):
    """Progress of long work: `done` of `total` equal parts are finished."""

    type: ClassVar[str] = "progress.advanced"
    name: str
    done: int
    total: int


class ToolPrinted(msgspec.Struct, frozen=True):
    """A tool or validation that runs has printed something."""

    type: ClassVar[str] = "progress.output"
    plan_id: str | None
    text: str
    stderr: bool


class WarningIssued(msgspec.Struct, frozen=True):
    """Something the user must not miss."""

    type: ClassVar[str] = "progress.warned"
    text: str


Progress = (
    PlanStarted
    | StepStarted
    | StepFinished
    | PlanFinished
    | SubplanStarted
    | SubplanFinished
    | Stage
    | ProgressAdvanced
    | ToolPrinted
    | WarningIssued
)
Event = StoredEvent | Progress
