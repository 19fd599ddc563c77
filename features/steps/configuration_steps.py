from __future__ import annotations

import os
import stat
import tomllib
from unittest.mock import patch

from behave import given, then
from behave.runner import Context
from features.support import settings


@given(
    "the user's file keeps {user} checkpoints, the project's {project}, the environment {variable}"
)
def limits(context: Context, user: str, project: str, variable: str) -> None:
    settings.limits(context.world, user, project, variable)


@given("the user's file says")
def user_file(context: Context) -> None:
    settings.store(settings.user_file(context.world), context.text or "")


@given('the user\'s file says "{content}"')
def user_file_line(context: Context, content: str) -> None:
    settings.store(settings.user_file(context.world), content)


@given('the user\'s file is the one in their own directory and says "{content}"')
def own_directory(context: Context, content: str) -> None:
    settings.home_in_own_directory(context.world, content)


@given('the user\'s file is a link to one in their dotfiles that says "{content}"')
def dotfiles(context: Context, content: str) -> None:
    target = settings.store(context.world.directory / "dotfiles" / "agents.toml", content)
    settings.user_file(context.world).parent.mkdir()
    settings.user_file(context.world).symlink_to(target)


@given("the user's file is a link to itself")
def linked_to_itself(context: Context) -> None:
    settings.odd_user_file(context.world, "a link to itself")


@given("the user's file is under a file")
def under_a_file(context: Context) -> None:
    settings.odd_user_file(context.world, "under a file")


@given('the user\'s file is holding a value "{content}"')
def holding(context: Context, content: str) -> None:
    settings.store(settings.user_file(context.world), content)


@given("the project's file is {kind}")
def odd_project_file(context: Context, kind: str) -> None:
    settings.odd_project_file(context.world, kind)


@given("a {mark} above the current directory, whose project keeps 20 checkpoints")
def project_above(context: Context, mark: str) -> None:
    settings.project_above(context.world, mark)


@given("the disk is full")
def full_disk(context: Context) -> None:
    context.world.runner = "in-process"
    disk = patch.object(os, "fsync", settings.full_disk)
    disk.start()
    context.add_cleanup(disk.stop)


@then("the user's file says now")
def user_file_now(context: Context) -> None:
    said = settings.user_file(context.world).read_text()
    assert said.strip() == (context.text or "").strip(), said
    leftovers = [path.name for path in settings.user_file(context.world).parent.iterdir()]
    assert leftovers == ["config.toml"], leftovers


@then("the project's file says now")
def project_file_now(context: Context) -> None:
    said = settings.project_file(context.world).read_text()
    assert said.strip() == (context.text or "").strip(), said


@then("the project's file is without settings")
def project_file_without(context: Context) -> None:
    said = settings.project_file(context.world).read_text()
    assert "checkpoints" not in said, said


@then("the file in the dotfiles keeps {limit:d} checkpoints")
def dotfiles_keep(context: Context, limit: int) -> None:
    said = (context.world.directory / "dotfiles" / "agents.toml").read_text()
    checkpoint = tomllib.loads(said)["sandbox"]["checkpoint"]
    assert checkpoint == {"max-checkpoints-per-plan": limit}, said


@then("the user's file is still a link")
def still_a_link(context: Context) -> None:
    assert settings.user_file(context.world).is_symlink()


@then("nothing was stored")
def nothing_stored(context: Context) -> None:
    assert not settings.user_file(context.world).exists()
    assert not settings.project_file(context.world).exists()


@then("only the user can read the home directory and its file")
def private(context: Context) -> None:
    path = settings.user_file(context.world)
    modes = [stat.S_IMODE(place.stat().st_mode) for place in (path.parent, path)]
    assert modes == [0o700, 0o600], modes
