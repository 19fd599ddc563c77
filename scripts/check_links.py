"""Checks that relative links and pictures in our Markdown files lead to a file.

The site builder checks pages and anchors in `docs/`; this also looks at the files beside it
and at what is not a page. It also checks that the code that `docs/internals/architecture.md`
names exists: table rows with a file and a call, and types with their file.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
LINK = re.compile(r"\]\(([^)\s]+)[^)]*\)|(?:src|href)=\"([^\"]+)\"")
CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)
SOURCE = ROOT / "src" / "cleveragents"
MAP = ROOT / "docs" / "internals" / "architecture.md"
HOP = re.compile(r"^\| \d+ \| `([^`]+)` \| `([^`]+)` \|", re.MULTILINE)
TYPE = re.compile(r"(?:\*\*(\w+)\*\*|`(\w+)\(\)`) \(`([\w/]+\.py)`\)")


def broken(file: Path) -> list[str]:
    text = CODE.sub("", file.read_text(encoding="utf-8"))
    targets = [one or other for one, other in LINK.findall(text)]
    return [
        f"{file.relative_to(ROOT)}: {target}"
        for target in targets
        if not re.match(r"[a-z]+:|#", target)
        and not (file.parent / target.partition("#")[0]).exists()
    ]


def unknown_code() -> list[str]:
    """Returns what the map of the code names and the code does not have."""
    text = MAP.read_text(encoding="utf-8")
    named = [*HOP.findall(text), *((file, one or two) for one, two, file in TYPE.findall(text))]
    return [
        f"{MAP.relative_to(ROOT)}: `{name}` is not in {file}"
        for file, name in named
        if "/" in file and name not in _definitions(SOURCE / file)
    ]


def _definitions(file: Path) -> set[str]:
    """Returns the names of the functions, classes and methods that a module defines."""
    if not file.exists():
        return set()
    found: set[str] = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        if isinstance(node, ast.ClassDef):
            methods = (item for item in node.body if isinstance(item, ast.FunctionDef))
            found |= {f"{node.name}.{method.name}" for method in methods}
    return found


def main() -> int:
    files = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    found = [problem for file in sorted(files) for problem in broken(file)] + unknown_code()
    print("\n".join(found) if found else f"{len(files)} Markdown files, no broken link")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
