from __future__ import annotations

from behave import given, then, when
from behave.runner import Context
from features.support.templates import FILLED, NESTED, Filling, NestedCheck
from features.support.values import row_values


@given("these values")
def template_values(context: Context) -> None:
    context.filling = Filling(row_values(context.table))


@given("a plan whose input is nested and names something unknown")
def nested_plan(context: Context) -> None:
    context.check = NestedCheck()


@when("the text `{text}` is filled")
def fill_text(context: Context, text: str) -> None:
    context.filling.fill(text)


@when("a text of {count:d} opening braces is filled")
def fill_braces(context: Context, count: int) -> None:
    context.filling.fill("{{ " * (count // 2))


@when("a nested value is filled")
def fill_nested(context: Context) -> None:
    context.filling.fill_value(NESTED)


@when("its placeholders are checked")
def check_placeholders(context: Context) -> None:
    context.check.check()


@then("the result is `{result}`")
def filled_text(context: Context, result: str) -> None:
    assert context.filling.error is None, context.filling.error
    assert context.filling.result == result, context.filling.result


@then("every text in it is filled, and its keys, numbers and flags are as before")
def filled_nested(context: Context) -> None:
    assert context.filling.result == FILLED, context.filling.result


@then("filling is refused because {problem}")
def filling_refused(context: Context, problem: str) -> None:
    assert context.filling.error is not None, context.filling.result
    assert context.filling.error.message == problem, context.filling.error.message


@then("the unknown names are found at their places")
def unknown_found(context: Context) -> None:
    found = tuple(problem.location for problem in context.check.problems)
    assert found == NestedCheck.EXPECTED, found
