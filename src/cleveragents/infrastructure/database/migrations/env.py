"""Alembic's environment: the caller's connection and the caller's transaction."""

from __future__ import annotations

from alembic import context

from cleveragents.infrastructure.database.models import Model


def run() -> None:
    context.configure(
        connection=context.config.attributes["connection"],
        target_metadata=Model.metadata,
        # SQLite can change a table only by making it anew.
        render_as_batch=True,
        # True once the driver's own transaction handling is off, see engine.py.
        transactional_ddl=True,
    )
    context.run_migrations()


run()
