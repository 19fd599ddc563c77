"""Runs the migrations. The only module of the program that loads SQLAlchemy and Alembic."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, NullPool, create_engine
from sqlalchemy.exc import DBAPIError

from cleveragents.infrastructure.database.session import DriverConnection

_SCRIPTS = "cleveragents.infrastructure.database:migrations"
"""Package data, which Alembic finds through importlib.resources, even in a wheel."""


@dataclass(frozen=True)
class Migration:
    """A transaction in which the schema can change."""

    connection: Connection

    @property
    def driver(self) -> DriverConnection:
        """The driver's own connection, for statements that are not migrations."""
        found: Any = self.connection.connection.driver_connection
        return found

    def upgrade(self, revision: str) -> None:
        """Migrates the schema to `revision`."""
        configuration = Config(attributes={"connection": self.connection})
        configuration.set_main_option("script_location", _SCRIPTS)
        command.upgrade(configuration, revision)


@contextmanager
def migration(connect: Callable[[], Any], *, is_sqlite: bool) -> Generator[Migration]:
    """Opens a connection and commits its transaction if the block does not raise.

    Raises:
        The driver's own errors, not those of SQLAlchemy, which wraps them.
    """

    def opened() -> Any:
        connection = connect()
        # SQLAlchemy relies on a driver that begins transactions by itself.
        if not is_sqlite:
            connection.autocommit = False
        return connection

    dialect = "sqlite" if is_sqlite else "postgresql+psycopg"
    engine = create_engine(f"{dialect}://", creator=opened, poolclass=NullPool)
    try:
        with engine.begin() as connection:
            yield Migration(connection)
    except DBAPIError as error:
        raise error.orig or error from error
