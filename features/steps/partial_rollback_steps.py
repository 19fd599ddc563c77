from __future__ import annotations

from behave import given, when
from behave.runner import Context
from features.support.plans import plans


def part(context: Context, paths: str, label: str, *options: str) -> list[str]:
    named = [word for path in paths.split() for word in ("--path", path)]
    return plans(context).rollback(label, *named, *options)


def only(context: Context, number: int) -> list[str]:
    return ["plan", "rollback", plans(context).plan_id, "--only-step", str(number), "--yes"]


@given('{path} alone has been rolled back to "{label}"')
def has_been_rolled_back(context: Context, path: str, label: str) -> None:
    plans(context).prepare(*part(context, path, label, "--yes"))


@given("step {number:d} alone has been rolled back")
def step_rolled_back(context: Context, number: int) -> None:
    plans(context).prepare(*only(context, number))


@when('the user takes {paths} back to "{label}"')
def roll_part_back(context: Context, paths: str, label: str) -> None:
    plans(context).act(*part(context, paths, label, "--yes"))


@when('the user rehearses taking {paths} back to "{label}"')
def rehearse_part(context: Context, paths: str, label: str) -> None:
    plans(context).act(*part(context, paths, label, "--dry-run"))


@when("the user rolls back only step {number:d}")
def roll_step_back(context: Context, number: int) -> None:
    plans(context).act(*only(context, number))


@when("the user rehearses rolling back only step {number:d}")
def rehearse_step(context: Context, number: int) -> None:
    plans(context).act(*only(context, number)[:-1], "--dry-run")


@when("the user asks for a rollback with {arguments}")
def rollback_with(context: Context, arguments: str) -> None:
    plans(context).act("plan", "rollback", plans(context).plan_id, *arguments.split())
