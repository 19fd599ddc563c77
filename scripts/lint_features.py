"""Checks the manner of the feature files: short, declarative, in the user's words."""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gherkin.parser import Parser

MAX_STEPS = 8
MAX_SCENARIOS = 15
ARTICLES = re.compile(r"\b(a|an|the|its|their)\b\s*", re.IGNORECASE)
FORBIDDEN = re.compile(
    r"\b(context|mock(ed|s)?|stub|fixture|assert(s|ion)?|instance of|None|True|False"
    r"|\w+\(\)|_[a-z]\w*|[A-Z][a-z]+[A-Z]\w*(Service|Repository|Manager|Error|Model))\b"
)

Node = dict[str, Any]


def scenarios(node: Node) -> Iterator[Node]:
    """Every scenario of a feature, those inside its rules included."""
    for child in node.get("children", []):
        if "rule" in child:
            yield from scenarios(child["rule"])
        elif "scenario" in child:
            yield child["scenario"]


def backgrounds(node: Node) -> Iterator[Node]:
    for child in node.get("children", []):
        if "rule" in child:
            yield from backgrounds(child["rule"])
        elif "background" in child:
            yield child["background"]


def problems_of(scenario: Node) -> Iterator[tuple[int, str]]:
    """What is wrong with one scenario or background, with the line."""
    line, steps = scenario["location"]["line"], scenario["steps"]
    whens = count_of_actions(steps)
    if scenario["keyword"] == "Background" and whens:
        yield line, "a background has no When"
    elif whens > 1:
        yield line, f"{whens} When steps; one is the behaviour, the others are Givens"
    if len(steps) > MAX_STEPS:
        yield line, f"{len(steps)} steps; at most {MAX_STEPS}"
    for step in steps:
        # What stands in quotation marks is what the user types or sees.
        text = re.sub(r'"[^"]*"|`[^`]*`', "", step["text"])
        if found := FORBIDDEN.search(text):
            yield step["location"]["line"], f"`{found[0]}` is not a word of the user's"


def count_of_actions(steps: list[Node]) -> int:
    """How many steps are Whens, an And after a When being one more."""
    kind, whens = "", 0
    for step in steps:
        kind = kind if step["keywordType"] == "Conjunction" else step["keywordType"]
        whens += kind == "Action"
    return whens


def check(file: Path, wordings: dict[str, dict[str, str]]) -> Iterator[str]:
    """What is wrong with one file; collects the wording of its steps."""
    document: Any = Parser().parse(file.read_text(encoding="utf-8"))
    feature: Node = document.get("feature") or {}
    found = list(scenarios(feature))
    if not found:
        yield f"{file}:1: no scenario"
    if len(found) > MAX_SCENARIOS:
        yield f"{file}:1: {len(found)} scenarios; at most {MAX_SCENARIOS}"
    for scenario in [*backgrounds(feature), *found]:
        for line, problem in problems_of(scenario):
            yield f"{file}:{line}: {problem}"
        for step in scenario["steps"]:
            place = f"{file}:{step['location']['line']}"
            bare = ARTICLES.sub("", re.sub(r'"[^"]*"', '""', step["text"])).casefold()
            wordings[bare].setdefault(re.sub(r'"[^"]*"', '""', step["text"]).casefold(), place)


def main() -> int:
    wordings: dict[str, dict[str, str]] = defaultdict(dict)
    files = sorted(Path(sys.argv[1]).rglob("*.feature"))
    problems = [problem for file in files for problem in check(file, wordings)]
    for variants in wordings.values():
        if len(variants) > 1:
            (first, place), (other, there) = list(variants.items())[:2]
            problems.append(f"{there}: `{other}` and `{first}` ({place}) are one step in two words")
    print("\n".join([*problems, f"{len(files)} feature files, {len(problems)} problems"]))
    return 1 if problems or not files else 0


if __name__ == "__main__":
    sys.exit(main())
