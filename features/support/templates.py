"""Filling placeholders, and what came of it."""

from __future__ import annotations

from cleveragents.domain.errors import UsageError
from cleveragents.domain.plans.plan_file import (
    Location,
    PlanDefinition,
    StepDefinition,
    TemplateProblem,
    check_templates,
    default_resources,
)
from cleveragents.domain.plans.template import render, render_value
from cleveragents.domain.record import JsonValue

NESTED: JsonValue = {"{{ who }}": ["{{ who }}", {"a": "hi {{ who }}"}, 1, True, None]}
FILLED: JsonValue = {"{{ who }}": ["world", {"a": "hi world"}, 1, True, None]}


class Filling:
    """Values, and the text or value they were put into."""

    def __init__(self, values: dict[str, str]) -> None:
        self.values = values
        self.result: JsonValue = None
        self.error: UsageError | None = None

    def fill(self, text: str) -> None:
        try:
            self.result = render(text, self.values)
        except UsageError as error:
            self.error = error

    def fill_value(self, value: JsonValue) -> None:
        self.result = render_value(value, self.values)


class NestedCheck:
    """A plan whose only step names `nobody` in a list and in a mapping."""

    EXPECTED: tuple[Location, ...] = (
        ("steps", 0, "with", "list", 1),
        ("steps", 0, "with", "map", "key"),
    )

    def __init__(self) -> None:
        step = StepDefinition.model_validate(
            {
                "name": "nested",
                "tool": "other",
                "with": {
                    "list": ["{{ who }}", "{{ nobody }}"],
                    "map": {"key": "{{ nobody }}"},
                    "number": 1,
                },
            }
        )
        self.plan = PlanDefinition(name="nested", resources=default_resources(), steps=[step])
        self.problems: list[TemplateProblem] = []

    def check(self) -> None:
        self.problems = check_templates(self.plan, ["who"])
