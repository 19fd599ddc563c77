"""Finds names that nothing uses, with vulture; `[tool.vulture]` configures it.

The fields of a record and the members of an enumeration are data: they are stored and
printed whole, without being named. They are left out here rather than listed by hand in
`vulture_whitelist.py`, which is for what a library calls by name.
"""

from __future__ import annotations

import ast
import sys
from functools import cache
from pathlib import Path

from vulture import Vulture
from vulture.config import make_config


@cache
def data_lines(file: Path) -> frozenset[int]:
    """The lines on which a class declares a field or a member."""
    classes = [
        node
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    ]
    return frozenset(
        statement.lineno
        for each in classes
        for statement in each.body
        if isinstance(statement, ast.AnnAssign)
        or (isinstance(statement, ast.Assign) and is_enumeration(each))
    )


def is_enumeration(node: ast.ClassDef) -> bool:
    return any(ast.unparse(base).endswith("Enum") for base in node.bases)


def main() -> int:
    config = make_config([])
    vulture = Vulture(
        ignore_names=config["ignore_names"], ignore_decorators=config["ignore_decorators"]
    )
    vulture.scavenge(config["paths"], exclude=config["exclude"])
    unused = [
        item
        for item in vulture.get_unused_code(min_confidence=config["min_confidence"])
        if not (item.typ == "variable" and item.first_lineno in data_lines(Path(item.filename)))
    ]
    for item in unused:
        print(item.get_report())
    return 1 if unused else 0


if __name__ == "__main__":
    sys.exit(main())
