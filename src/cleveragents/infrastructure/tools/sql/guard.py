"""Decides what the SQL of a plan may do: anything in its own database, nothing elsewhere."""

from __future__ import annotations

import sqlite3

_READABLE_PRAGMAS = frozenset(
    {
        "application_id",
        "auto_vacuum",
        "collation_list",
        "compile_options",
        "data_version",
        "database_list",
        "encoding",
        "foreign_key_check",
        "foreign_key_list",
        "foreign_keys",
        "freelist_count",
        "function_list",
        "index_info",
        "index_list",
        "index_xinfo",
        "integrity_check",
        "journal_mode",
        "page_count",
        "page_size",
        "pragma_list",
        "quick_check",
        "schema_version",
        "table_info",
        "table_list",
        "table_xinfo",
        "user_version",
    }
)
_SETTABLE_PRAGMAS = frozenset({"application_id", "defer_foreign_keys", "user_version"})
_QUERY_PRAGMAS = _READABLE_PRAGMAS - {
    "application_id",
    "auto_vacuum",
    "encoding",
    "foreign_keys",
    "journal_mode",
    "page_size",
    "schema_version",
    "user_version",
}
"""Pragmas whose argument only selects what to read."""
_FUNCTIONS = frozenset({"load_extension", "fts3_tokenizer"})
_REFUSED_ACTIONS = {
    sqlite3.SQLITE_ATTACH: "`ATTACH` reaches another database",
    sqlite3.SQLITE_DETACH: "`DETACH` is for another database",
    sqlite3.SQLITE_TRANSACTION: "the statements are one transaction already",
}


class SqlGuard:
    """An authorizer for SQLite that remembers what it refused."""

    def __init__(self) -> None:
        self.refused: str | None = None
        self.is_armed = False
        """Off while our own statements begin and end the transaction."""

    def __call__(
        self, action: int, first: str | None, second: str | None, _: str | None, __: str | None
    ) -> int:
        problem = self._problem(action, first, second) if self.is_armed else None
        self.refused = self.refused or problem
        return sqlite3.SQLITE_OK if problem is None else sqlite3.SQLITE_DENY

    def _problem(self, action: int, first: str | None, second: str | None) -> str | None:
        if action == sqlite3.SQLITE_PRAGMA:
            return _pragma_problem(str(first).lower(), second)
        if action == sqlite3.SQLITE_FUNCTION and str(second).lower() in _FUNCTIONS:
            return f"`{second}` loads code"
        return _REFUSED_ACTIONS.get(action)


def _pragma_problem(name: str, argument: str | None) -> str | None:
    if name in _SETTABLE_PRAGMAS or name in _QUERY_PRAGMAS:
        return None
    if name in _READABLE_PRAGMAS and argument is None:
        return None
    return f"`PRAGMA {name}` could change more than what the database holds"
