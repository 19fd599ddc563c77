"""What all rows share: how Python types are stored and constraints named."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from sqlalchemy import BigInteger, Float, ForeignKey, MetaData
from sqlalchemy.orm import DeclarativeBase, mapped_column

from cleveragents.infrastructure.database.column_types import ExactText, UtcDateTime

Key = Annotated[str, mapped_column(primary_key=True)]
BigInt = Annotated[int, mapped_column(BigInteger)]
PlanKey = Annotated[str, mapped_column(ForeignKey("plans.plan_id", ondelete="CASCADE"))]


class Model(DeclarativeBase):
    """Common to all rows: how Python types are stored and constraints named."""

    metadata = MetaData(
        naming_convention={
            "fk": "fk_%(table_name)s_%(column_0_name)s",
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    type_annotation_map = {str: ExactText, datetime: UtcDateTime, float: Float}
