from __future__ import annotations

from behave import given, then, when
from behave.runner import Context
from features.support.packed import Packed


@given("a repository with many versions of a file, packed {way}")
def packed(context: Context, way: str) -> None:
    context.packed = Packed(context.world.project)
    context.packed.pack(way)


@given("all its objects were read without git")
@when("all its objects are read without git")
def read_all(context: Context) -> None:
    if context.packed.found:
        context.packed.read_again()
    else:
        context.packed.read_all()


@given("in which the {file:w} {damage}")
def damaged(context: Context, file: str, damage: str) -> None:
    context.packed.damage(f"the {file}", damage)


@given("another version was packed and all its objects were read without git")
@when("another version is packed and all its objects are read without git")
def packed_meanwhile(context: Context) -> None:
    context.packed.pack_another()
    context.packed.read_all()


@when("its packs are combined and all its objects are read without git")
def combined_meanwhile(context: Context) -> None:
    context.packed.combine()
    context.packed.read_all()


@when("without git somebody reads {what}")
def read_special(context: Context, what: str) -> None:
    name = context.packed.special(what)
    context.packed.found = {name: context.packed.packs.read(name)}


@then("all of them are what git says")
def as_git_says(context: Context) -> None:
    found = context.packed.found
    wrong = [name for name, data in found.items() if data != context.packed.said_by_git(name)]
    assert len(found) > 10 and not wrong, wrong


@then("git has to be asked")
def left_to_git(context: Context) -> None:
    assert list(context.packed.found.values()) == [None]


@then("git has to be asked for at least one, and the others are what git says")
def never_wrong(context: Context) -> None:
    found, truth = context.packed.found, context.packed.truth
    assert None in found.values()
    assert all(data in (None, truth[name]) for name, data in found.items())
