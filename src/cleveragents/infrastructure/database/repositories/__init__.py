"""The stores of `application.ports`, each on the session of one transaction."""

from cleveragents.infrastructure.database.repositories.checkpoints import CheckpointRepository
from cleveragents.infrastructure.database.repositories.control import (
    LeaseRepository,
    OperationRepository,
)
from cleveragents.infrastructure.database.repositories.execution import (
    DecisionRepository,
    ToolCallRepository,
)
from cleveragents.infrastructure.database.repositories.plans import (
    PlanRepository,
    SandboxRepository,
)

__all__ = [
    "CheckpointRepository",
    "DecisionRepository",
    "LeaseRepository",
    "OperationRepository",
    "PlanRepository",
    "SandboxRepository",
    "ToolCallRepository",
]
