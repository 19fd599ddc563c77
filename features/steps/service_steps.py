from __future__ import annotations

import re
from unittest.mock import Mock

from behave import then, when
from behave.runner import Context
from features.support import wiring
from features.support.plans import plans

from cleveragents.domain import errors


@when("a program looks for the services")
def look_for_services(context: Context) -> None:
    context.container = plans(context).container(Mock())
    context.services = wiring.service_classes()


@when("a program looks for the errors")
def look_for_errors(context: Context) -> None:
    context.errors = wiring.error_names()


@when("a program closes a container that it has not used")
def close_unused(context: Context) -> None:
    wiring.unused_container(context.world.home / "none").close()


@when("a program prunes the plan's checkpoints")
def prune(context: Context) -> None:
    plans(context).before = plans(context).everything()
    container = plans(context).container(Mock())
    context.pruned = container.checkpoint_service().prune_checkpoints(plans(context).plan_id)
    container.close()


@then("each of them comes from the container, and always the same one")
def from_container(context: Context) -> None:
    built, again = (wiring.built_by(context.container) for _ in range(2))
    missing = [service for service in context.services if service not in built]
    assert not missing, missing
    assert all(built[service] is again[service] for service in context.services)


@then("they are")
def they_are(context: Context) -> None:
    found = [service.__name__ for service in context.services]
    assert found == [row["service"] for row in context.table], found


@then("none of them can be built without a collaborator")
def no_optional(context: Context) -> None:
    found = {service.__name__: wiring.optional(service) for service in context.services}
    assert found == {name: [] for name in found}, found


@then("no other module of the package calls their constructors")
def one_builder(context: Context) -> None:
    names = {service.__name__ for service in context.services}
    assert wiring.builders(names) == {"container.py"}, wiring.builders(names)


@then("the tree at the top of their module names each of them once")
def one_tree(context: Context) -> None:
    tree = (errors.__doc__ or "").split("```")[1]
    named = [
        name for line in tree.splitlines() for name in re.findall(r"^[│├└─ ]*([A-Z]\w+)", line)
    ]
    assert sorted(named) == sorted(context.errors), {*named} ^ {*context.errors}


@then("there still is no home directory")
def no_home(context: Context) -> None:
    assert not (context.world.home / "none").exists()


@then("it reports {count:d} removed")
def removed_count(context: Context, count: int) -> None:
    assert context.pruned == count, context.pruned
