"""Runs the migrations. The only module of the program that loads Alembic."""

from __future__ import annotations

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection

_SCRIPTS = "cleveragents.infrastructure.database:migrations"
"""Package data, which Alembic finds through importlib.resources, even in a wheel."""


def upgrade(connection: Connection, revision: str) -> None:
    """Migrates the schema to `revision` in the transaction of `connection`.

    The caller commits.
    """
    configuration = Config(attributes={"connection": connection})
    configuration.set_main_option("script_location", _SCRIPTS)
    command.upgrade(configuration, revision)
