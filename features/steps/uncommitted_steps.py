from __future__ import annotations

from functools import partial
from pathlib import Path

from behave import given, then, when
from behave.runner import Context
from features.support.situations.uncommitted_bench import OPTION, uncommitted_bench


@given("a project that holds the home directory of CleverAgents")
def home_inside(context: Context) -> None:
    world = uncommitted_bench(context).work.world
    world.home = world.project / "home"
    world.environment["CLEVERAGENTS_HOME"] = str(world.home)


@given("a project that changes {count:d} times while it is copied")
def changing(context: Context, count: int) -> None:
    bench = uncommitted_bench(context)
    bench.meanwhile = partial(bench.changing, count)


@given("a project in which README.md becomes {something} just before it is copied")
def becoming(context: Context, something: str) -> None:
    bench = uncommitted_bench(context)
    bench.meanwhile = partial(bench.becoming, something)


@given("a plan has been made that starts from the files as they are")
def made(context: Context) -> None:
    bench = uncommitted_bench(context)
    assert bench.agents("plan", "use", bench.plan(), OPTION).exit_code == 0


@given("a plan was killed when it had copied README.md")
def killed_while_copying(context: Context) -> None:
    bench = uncommitted_bench(context)
    assert bench.killed_at("README.md"), "it was not killed"
    assert list((bench.work.world.home / "sandboxes").glob("*/project/README.md"))


@given("the user has written README.md again")
def written_again(context: Context) -> None:
    (uncommitted_bench(context).work.project / "README.md").write_text("again")


@when("a plan starts from the files as they are")
def start(context: Context) -> None:
    bench = uncommitted_bench(context)
    bench.agents("plan", "run", bench.plan(), OPTION)


@when("an ordinary user's plan starts from the files as they are")
def start_as_ordinary_user(context: Context) -> None:
    bench = uncommitted_bench(context)
    bench.agents_of_ordinary_user("plan", "run", bench.plan(), OPTION)


@when("a plan starts from the last commit")
def start_from_commit(context: Context) -> None:
    bench = uncommitted_bench(context)
    bench.agents("plan", "run", bench.plan())


@when("the plan is executed")
def execute(context: Context) -> None:
    uncommitted_bench(context).agents("plan", "execute", "@latest")


@when("a plan that starts from them ruins them and is rolled back")
def ruin_and_return(context: Context) -> None:
    bench = uncommitted_bench(context)
    bench.agents("plan", "run", bench.plan("rm -rf * && echo 9 > README.md"), OPTION)
    before = bench.before
    assert bench.agents("plan", "rollback", "@latest", "@first", "--yes").exit_code == 0
    bench.agents("plan", "status", "@latest")
    bench.before = before


@then("the sandbox holds them all, but not {left_out}")
def holds_all(context: Context, left_out: str) -> None:
    bench = uncommitted_bench(context)
    found, wanted = bench.found(), bench.wanted(left_out)
    names = found.keys() | wanted.keys()
    wrong = {n: (found.get(n), wanted.get(n)) for n in names if found.get(n) != wanted.get(n)}
    assert not wrong, wrong


@then("the sandbox holds just what the last commit holds")
def holds_commit(context: Context) -> None:
    bench = uncommitted_bench(context)
    assert bench.git(bench.sandbox, "status", "--porcelain") == b""
    assert not (bench.sandbox / "new").exists()


@then("HEAD, branch and index of the sandbox are those of the last commit")
def git_is_at_commit(context: Context) -> None:
    bench = uncommitted_bench(context)
    heads = [bench.git(place, "rev-parse", "HEAD") for place in (bench.work.project, bench.sandbox)]
    assert heads[0] == heads[1], heads
    branch = bench.git(bench.sandbox, "symbolic-ref", "HEAD").decode().strip()
    assert branch == f"refs/heads/cleveragents/plan-{bench.data['plan_id']}", branch
    staged = bench.git(bench.sandbox, "diff", "--cached", "--name-only")
    assert staged == b"", staged


@then("the project is as it was, to the byte and the time")
def untouched(context: Context) -> None:
    assert not uncommitted_bench(context).touched(), uncommitted_bench(context).touched()


@then('it is warned that "{warning}"')
def warned(context: Context, warning: str) -> None:
    last = uncommitted_bench(context).work.world.last
    assert warning in last.json["messages"] or warning in last.stderr, last


@then("it is refused whole, because {reason}")
def refused(context: Context, reason: str) -> None:
    bench = uncommitted_bench(context)
    last = bench.work.world.last
    assert last.exit_code == 4, last
    assert reason in last.json["error"]["message"], last
    assert last.json["error"]["hint"], last
    made = Path(bench.work.world.home, "sandboxes")
    assert not made.exists() or not list(made.iterdir()), list(made.iterdir())


@then("the plan says that it {does} what is not committed")
def wish(context: Context, does: str) -> None:
    includes = uncommitted_bench(context).data["include_uncommitted"]
    assert includes is (does == "includes"), includes
