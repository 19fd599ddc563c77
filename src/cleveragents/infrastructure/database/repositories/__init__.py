"""The stores of `application.ports`, each on the session of one transaction."""

from cleveragents.infrastructure.database.repositories import (
    checkpoints,
    control,
    events,
    execution,
    in_effect,
    plans,
)
from cleveragents.infrastructure.database.repositories.changes import ChangeRepository
from cleveragents.infrastructure.database.repositories.checkpoints import CheckpointRepository
from cleveragents.infrastructure.database.repositories.control import (
    LeaseRepository,
    OperationRepository,
)
from cleveragents.infrastructure.database.repositories.corrections import CorrectionRepository
from cleveragents.infrastructure.database.repositories.events import EventRepository
from cleveragents.infrastructure.database.repositories.execution import (
    DecisionRepository,
    ToolCallRepository,
)
from cleveragents.infrastructure.database.repositories.plans import (
    PlanRepository,
    SandboxRepository,
)
from cleveragents.infrastructure.database.repositories.validations import ValidationRepository

FOR_CHECKPOINTS = tuple(
    statement
    for module in (checkpoints, control, events, execution, in_effect, plans)
    for statement in module.FOR_CHECKPOINTS
)
"""The statements that making a checkpoint and going back to one run."""

__all__ = [
    "FOR_CHECKPOINTS",
    "ChangeRepository",
    "CheckpointRepository",
    "CorrectionRepository",
    "DecisionRepository",
    "EventRepository",
    "LeaseRepository",
    "OperationRepository",
    "PlanRepository",
    "SandboxRepository",
    "ToolCallRepository",
    "ValidationRepository",
]
