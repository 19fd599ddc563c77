"""What a listener hears, and listeners that do not live long."""

from __future__ import annotations

import json
import os
import signal
from typing import Any

from features.support.plans import Plans

from cleveragents.application.events import Event
from cleveragents.application.ports.system import EventSink
from cleveragents.domain.plans.events import (
    DecisionSuperseded,
    PlanCancelled,
    PlanEventRecord,
    ToolCompleted,
    ToolRetried,
)

ENTERED = {
    "the plan was cancelled, it is too late": lambda plan: PlanCancelled(plan, "it is too late"),
    "the plan was cancelled": lambda plan: PlanCancelled(plan, ""),
    "step 2 is tried again": lambda plan: ToolRetried(plan, 1, "shell", 1, 3),
    "the root decision no longer stands": lambda plan: DecisionSuperseded(
        plan, "D", "What should be done?", "O"
    ),
    "step 1 took 90 seconds": lambda plan: ToolCompleted(plan, "C", 0, "shell", "project", 90_000),
    "step 1 ended, and nobody looked": lambda plan: ToolCompleted(
        plan, "C", 0, "shell", "project", None
    ),
}


class Listener(EventSink):
    """Remembers what it hears."""

    def __init__(self) -> None:
        self.heard: list[Event] = []

    def emit(self, event: Event) -> None:
        self.heard.append(event)


class Deadly(EventSink):
    """Kills the process when an event of one kind is emitted; the event is stored by then."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def emit(self, event: Event) -> None:
        if event.type == self._kind:
            os.kill(os.getpid(), signal.SIGKILL)


def enter(plans: Plans, listener: EventSink, event: PlanEventRecord, *, fail: bool = False) -> None:
    """Enters an event as a program would; the transaction may fail afterwards."""
    container = plans.container(listener)
    try:
        with container.database().write() as transaction:
            transaction.events.add(event)
            if fail:
                raise RuntimeError("the transaction fails")
    finally:
        container.close()


def executed_until(plans: Plans, kind: str) -> bool:
    """Executes the plan in a child that dies when `kind` is emitted; returns whether it died."""
    child = os.fork()
    if child == 0:
        try:
            plans.container(Deadly(kind)).plan_executor().execute(plans.plan_id)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def lines(text: str) -> list[dict[str, Any]]:
    """The JSON lines of a stream, which must hold nothing else."""
    return [json.loads(line) for line in text.splitlines()]
