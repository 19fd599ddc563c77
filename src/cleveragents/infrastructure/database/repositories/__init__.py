"""The stores of `application.ports.records`, each on the `DatabaseSession` of one transaction.

A repository holds SQL: `models` turns records into rows, and `DatabaseSession` runs the
statements. Where a repository stores a record, it also stores the events that
follow, in the same transaction. So a record cannot change without its event, and
an event cannot describe something that was not stored.

A repository never commits, never starts a thread or process, and never looks at
files. Statements MUST work on SQLite and PostgreSQL alike.
"""

from cleveragents.infrastructure.database.repositories.checkpoints import (
    CheckpointRepository,
    OperationRepository,
)
from cleveragents.infrastructure.database.repositories.decisions import (
    CorrectionRepository,
    DecisionRepository,
)
from cleveragents.infrastructure.database.repositories.plans import (
    EventRepository,
    LeaseRepository,
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
