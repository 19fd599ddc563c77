from __future__ import annotations

import socket

from behave import given, then, when
from behave.runner import Context
from features.support.golden import typed
from features.support.manifests import manifest
from features.support.terminals import at_terminal
from features.support.world import World

_QUESTION = "[y/N]"


@given('the user has answered {key} to "{command}"')
@when('the user types "{command}" at a terminal and answers {key}')
def answers(context: Context, command: str, key: str) -> None:
    at_terminal(context.world, *typed(command), typed=[(_QUESTION, f"{key}\n")])
    assert context.world.last.stdout.count(_QUESTION) == 1, context.world.last


@when('the user types "{command}" at a terminal and is not asked')
def is_not_asked(context: Context, command: str) -> None:
    at_terminal(context.world, *typed(command), typed=[(_QUESTION, "n\n")])
    assert _QUESTION not in context.world.last.stdout, context.world.last


@given("a Docker socket can be reached")
def docker_socket(context: Context) -> None:
    world: World = context.world
    place = world.directory / "docker.sock"
    daemon = world.on_close.enter_context(socket.socket(socket.AF_UNIX))
    daemon.bind(str(place))
    world.environment["DOCKER_HOST"] = f"unix://{place}"


@then('the error output says {times} "{text}"')
def says_times(context: Context, times: str, text: str) -> None:
    last = context.world.last
    assert last.stderr.count(text) == {"once": 1, "never": 0}[times], last


@then("the files of the project are as before, but for its git")
def as_before_but_git(context: Context) -> None:
    now = manifest(context.world.project)
    found, wanted = (
        {path: entry for path, entry in each.items() if path.split("/")[0] != ".git"}
        for each in (now, context.files_before)
    )
    assert found == wanted, (found, wanted)


@then("`{place}` has the layer of the session, with more than {count:d} bytes")
def has_layer(context: Context, place: str, count: int) -> None:
    data = context.world.last.json["data"]
    for name in place.split("."):
        data = data[name]
    (layer,) = data
    assert layer["project"] == str(context.world.project), layer
    assert layer["bytes"] > count, layer
    assert layer["created_at"], layer


@then("nobody else can look into the home directory")
def home_is_private(context: Context) -> None:
    mode = context.world.home.stat().st_mode
    assert mode & 0o077 == 0, oct(mode)
