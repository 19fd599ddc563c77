"""Alembic's environment: the caller's connection and the caller's transaction."""

from __future__ import annotations

from alembic import context

from cleveragents.infrastructure.database.tables import METADATA


def run() -> None:
    context.configure(
        connection=context.config.attributes["connection"],
        target_metadata=METADATA,
        # SQLite can change a table only by creating it again.
        render_as_batch=True,
        # True because the driver's own transaction handling is off, see location.py.
        transactional_ddl=True,
    )
    context.run_migrations()


run()
