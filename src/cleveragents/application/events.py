"""What happens while a plan runs, as records for progress and audit."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PlanStarted:
    """Execution began, or went on at `first_step`."""

    plan_id: str
    first_step: int
    steps: int


@dataclass(frozen=True)
class StepStarted:
    """A tool is about to run."""

    plan_id: str
    step_index: int
    steps: int
    name: str
    tool: str


@dataclass(frozen=True)
class StepFinished:
    """A step ended, well or not."""

    plan_id: str
    step_index: int
    steps: int
    name: str
    succeeded: bool


@dataclass(frozen=True)
class StepRetried:
    """A step failed and was taken back, and is tried for the `attempt`-th time more."""

    plan_id: str
    step_index: int
    tool: str
    attempt: int


@dataclass(frozen=True)
class CheckpointCreated:
    """A checkpoint is durable."""

    plan_id: str
    checkpoint_id: str
    label: str
    trigger: str


@dataclass(frozen=True)
class PlanFinished:
    """Execution ended, well or not."""

    plan_id: str
    succeeded: bool


@dataclass(frozen=True)
class Stage:
    """A long piece of work began: for a progress line."""

    name: str


@dataclass(frozen=True)
class Advanced:
    """Of a long piece of work, `done` of `total` equal parts are behind us: for a progress bar."""

    name: str
    done: int
    total: int


@dataclass(frozen=True)
class Warned:
    """Something the user must not miss."""

    text: str


Event = (
    PlanStarted
    | StepStarted
    | StepFinished
    | StepRetried
    | CheckpointCreated
    | PlanFinished
    | Stage
    | Advanced
    | Warned
)
