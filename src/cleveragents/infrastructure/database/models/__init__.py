"""The rows: one class per table, each turning into a domain record and back.

Ids refer to other tables by foreign key only where the other row must exist as
long as this one; what names an operation, or a checkpoint that retention may
drop, is plain text. `migrations/` makes these tables; a test compares the two.
"""

from cleveragents.infrastructure.database.models.base import Model
from cleveragents.infrastructure.database.models.changes import ChangeModel
from cleveragents.infrastructure.database.models.checkpoints import (
    CheckpointGroupModel,
    CheckpointModel,
)
from cleveragents.infrastructure.database.models.control import LockModel, OperationModel
from cleveragents.infrastructure.database.models.corrections import (
    CorrectionModel,
    DecisionDependencyModel,
)
from cleveragents.infrastructure.database.models.events import EventModel
from cleveragents.infrastructure.database.models.execution import DecisionModel, ToolCallModel
from cleveragents.infrastructure.database.models.plans import (
    PlanModel,
    ResourceModel,
    SandboxModel,
)
from cleveragents.infrastructure.database.models.validations import ValidationModel

__all__ = [
    "ChangeModel",
    "CheckpointGroupModel",
    "CheckpointModel",
    "CorrectionModel",
    "DecisionDependencyModel",
    "DecisionModel",
    "EventModel",
    "LockModel",
    "Model",
    "OperationModel",
    "PlanModel",
    "ResourceModel",
    "SandboxModel",
    "ToolCallModel",
    "ValidationModel",
]
