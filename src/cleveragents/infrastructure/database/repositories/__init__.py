"""The stores of `application.ports`, each on the `Session` of one transaction.

A repository holds SQL and nothing else that is hard: `models` turns records into
rows, `Session` runs the statements, and `event_rules` says which events follow
from a stored record. The repository stores those events in the same
transaction, so a record cannot change without its event, and an event cannot
describe something that was not stored.

A repository never commits, never starts a thread or process, and never looks at
files. Statements MUST work on SQLite and PostgreSQL alike.
"""

from cleveragents.infrastructure.database.repositories.checkpoints import CheckpointRepository
from cleveragents.infrastructure.database.repositories.decisions import (
    CorrectionRepository,
    DecisionRepository,
)
from cleveragents.infrastructure.database.repositories.events import EventRepository
from cleveragents.infrastructure.database.repositories.operations import (
    LeaseRepository,
    OperationRepository,
)
from cleveragents.infrastructure.database.repositories.plans import (
    PlanRepository,
    SandboxRepository,
    ValidationRepository,
)
from cleveragents.infrastructure.database.repositories.tool_calls import (
    ChangeRepository,
    ToolCallRepository,
)

__all__ = [
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
