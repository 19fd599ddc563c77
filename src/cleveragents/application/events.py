"""What is told while a command runs: how far it is, and what has just been stored.

Progress is shown and forgotten. What happens to a plan is stored first, see
`cleveragents.domain.plans.events`, and told when that is durable.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from cleveragents.domain.plans.events import StoredEvent


@dataclass(frozen=True)
class PlanStarted:
    """Execution began, or went on at `first_step`."""

    type: ClassVar[str] = "progress.plan_started"
    plan_id: str
    first_step: int
    steps: int


@dataclass(frozen=True)
class StepStarted:
    """A tool is about to run."""

    type: ClassVar[str] = "progress.step_started"
    plan_id: str
    step_index: int
    steps: int
    name: str
    tool: str


@dataclass(frozen=True)
class StepFinished:
    """A step ended, well or not."""

    type: ClassVar[str] = "progress.step_finished"
    plan_id: str
    step_index: int
    steps: int
    name: str
    succeeded: bool


@dataclass(frozen=True)
class PlanFinished:
    """Execution ended, well or not."""

    type: ClassVar[str] = "progress.plan_finished"
    plan_id: str
    succeeded: bool


@dataclass(frozen=True)
class SubplanStarted:
    """A child plan began to run, or went on; `attempt` counts from 1."""

    type: ClassVar[str] = "progress.subplan_started"
    plan_id: str
    child_plan_id: str
    name: str
    attempt: int


@dataclass(frozen=True)
class SubplanFinished:
    """A child plan ended, well or not."""

    type: ClassVar[str] = "progress.subplan_finished"
    plan_id: str
    child_plan_id: str
    name: str
    succeeded: bool


@dataclass(frozen=True)
class Stage:
    """A long piece of work began: for a progress line."""

    type: ClassVar[str] = "progress.stage"
    name: str


@dataclass(frozen=True)
class ProgressAdvanced:
    """Of a long piece of work, `done` of `total` equal parts are behind us: for a progress bar."""

    type: ClassVar[str] = "progress.advanced"
    name: str
    done: int
    total: int


@dataclass(frozen=True)
class ToolPrinted:
    """A tool or validation that runs has printed something."""

    type: ClassVar[str] = "progress.output"
    plan_id: str | None
    text: str
    stderr: bool


@dataclass(frozen=True)
class WarningIssued:
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
