"""Checks that relative links and pictures in our Markdown files lead to a file.

The site builder checks pages and anchors in `docs/`; this also looks at the files beside it
and at what is not a page.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
LINK = re.compile(r"\]\(([^)\s]+)[^)]*\)|(?:src|href)=\"([^\"]+)\"")
CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)


def broken(file: Path) -> list[str]:
    text = CODE.sub("", file.read_text(encoding="utf-8"))
    targets = [one or other for one, other in LINK.findall(text)]
    return [
        f"{file.relative_to(ROOT)}: {target}"
        for target in targets
        if not re.match(r"[a-z]+:|#", target)
        and not (file.parent / target.partition("#")[0]).exists()
    ]


def main() -> int:
    files = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    found = [problem for file in sorted(files) for problem in broken(file)]
    print("\n".join(found) if found else f"{len(files)} Markdown files, no broken link")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
