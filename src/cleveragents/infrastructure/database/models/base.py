"""What all rows share: how Python types are stored and constraints named."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, cast

from sqlalchemy import BigInteger, Float, ForeignKey, MetaData, Table
from sqlalchemy.orm import DeclarativeBase, mapped_column

from cleveragents.infrastructure.database.column_types import ExactText, UtcDateTime

Key = Annotated[str, mapped_column(primary_key=True)]
BigInt = Annotated[int, mapped_column(BigInteger)]
PlanKey = Annotated[str, mapped_column(ForeignKey("plans.plan_id", ondelete="CASCADE"))]

StoredRow = Any
"""A row as it is read: its columns are attributes."""

Values = dict[str, Any]
"""The columns of a row by name, as they are given to a statement."""


class Model(DeclarativeBase):
    """Common to all rows: how Python types are stored and constraints named.

    The classes describe tables and turn records into columns and back. Rows are
    written and read by plain statements, not as objects of these classes: a
    checkpoint is made so often that keeping track of objects would cost more
    than SQLite itself.
    """

    metadata = MetaData(
        naming_convention={
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {str: ExactText, datetime: UtcDateTime, float: Float}

    @classmethod
    def table(cls) -> Table:
        return cast(Table, cls.__table__)
