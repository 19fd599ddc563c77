from __future__ import annotations

from behave import given, then, when
from behave.runner import Context
from features.support.faults import sandbox_faults
from features.support.sandboxes.sandbox_bench import bench
from features.support.situations.project_bench import projects

from cleveragents.domain.errors import ConfigurationError, ProjectRefusedError
from cleveragents.testing.trees import differing, read_tree

GITS = {"missing": None, "too old": "echo git version 2.30.2", "not a git": "exit 1"}


@given("the user has run `{command}`")
def user_ran(context: Context, command: str) -> None:
    projects(context).user(command)


@given("a plan has worked on the project `{path}`")
def plan_has_worked(context: Context, path: str) -> None:
    found = projects(context)
    found.sandbox(found.place / path, "FIRST")
    found.work.moments["first"] = found.work.look()


@given("the user's git is {state}")
def other_git(context: Context, state: str) -> None:
    found = projects(context)
    programs = found.work.world.directory / "programs"
    programs.mkdir()
    if script := GITS[state]:
        (programs / "git").write_text(f"#!/bin/sh\n{script}\n")
        (programs / "git").chmod(0o755)
    found.work.environment["PATH"] = str(programs)


@given("an ordinary user works with it")
def ordinary(context: Context) -> None:
    found = projects(context)
    found.work.surroundings = found.work.as_ordinary_user


@given("objects cannot be linked, because {why}")
def no_links(context: Context, why: str) -> None:
    bench(context).surroundings = lambda: sandbox_faults.without_links(why)


@when("a plan is to work on the project `{path}`")
def plan_is_to_work(context: Context, path: str) -> None:
    projects(context).sandbox(projects(context).place / path, "NEXT")


@when("a plan is to work on the only project there is")
def plan_works_on_only(context: Context) -> None:
    (path,) = (path for path in projects(context).place.iterdir() if path.name != ".git")
    projects(context).sandbox(path, "NEXT")


@then("the project is refused, because {reason}")
def project_refused(context: Context, reason: str) -> None:
    error = projects(context).expect_refusal(reason)
    assert isinstance(error, ProjectRefusedError), error


@then("it is refused for the installation, because {reason}")
def installation_refused(context: Context, reason: str) -> None:
    error = projects(context).expect_refusal(reason)
    assert isinstance(error, ConfigurationError), error
    assert error.hint == "Install git 2.38 or later"


@then("nothing has been made for it")
def nothing_made(context: Context) -> None:
    home = projects(context).work.world.home
    assert not list(home.glob("sandboxes/*")), list(home.glob("sandboxes/*"))
    assert not list(home.glob("mirrors/*.git/worktrees/*"))


@then("its sandbox holds what the commit holds")
def holds_commit(context: Context) -> None:
    projects(context).expect_commit()


@then("the agent can work in it, and go back")
def agent_works(context: Context) -> None:
    projects(context).expect_work()


@then("nothing in the user's directory has changed")
def directory_unchanged(context: Context) -> None:
    found = projects(context)
    assert not differing(found.before, read_tree(found.place))


@then("the first plan's checkpoint is whole")
def first_checkpoint_whole(context: Context) -> None:
    work = projects(context).work
    work.acts().verify(work.moments["first"].id)
    assert work.fsck() == "", work.fsck()
