from __future__ import annotations

import os
import stat

from behave import given, then, when
from behave.runner import Context
from features.support.faults import strategy_faults
from features.support.sandboxes.strategy_bench import strategy_bench

from cleveragents.domain.errors import SandboxMissingError
from cleveragents.domain.sandboxes.resource import SandboxStrategy
from cleveragents.infrastructure.sandbox.files.overlay_mounts import is_overlay, unmount
from cleveragents.testing.sqlite.store import DatabaseWorkspace
from cleveragents.testing.trees import differing, read_tree


def get(context: Context, strategy: str) -> None:
    work = strategy_bench(context)
    chosen = SandboxStrategy(strategy)
    work.before = work.original(chosen) if work.data.exists() or work.database.exists() else {}
    work.attempt(lambda: work.create(chosen))


@given("a directory made by `{command}`")
def directory(context: Context, command: str) -> None:
    strategy_bench(context).make_directory(command)


@given("a directory called `{name}` for the plan")
def called(context: Context, name: str) -> None:
    work = strategy_bench(context)
    work.data = work.world.directory / name


@given("the file system shares the bytes of {files}")
def shares(context: Context, files: str) -> None:
    work = strategy_bench(context)
    work.surroundings = lambda: strategy_faults.sharing(work, files)


@given("the kernel refuses to copy because of {reason}")
def kernel(context: Context, reason: str) -> None:
    strategy_bench(context).surroundings = lambda: strategy_faults.kernel_refuses(reason)


@given("the copy will fail because {fault}")
def will_fail(context: Context, fault: str) -> None:
    work = strategy_bench(context)
    work.surroundings = lambda: strategy_faults.COPYING[fault](work)


@given("while it is copied `{command}` is run in it")
def meanwhile(context: Context, command: str) -> None:
    work = strategy_bench(context)
    work.surroundings = lambda: strategy_faults.while_looking(work, command)


@given("{what} of another plan")
def leftover(context: Context, what: str) -> None:
    context.leftover = strategy_faults.leftover(strategy_bench(context), what)


@given("a user's database {state}")
def database(context: Context, state: str) -> None:
    strategy_faults.DATABASES[state](strategy_bench(context))


@given("a file without a byte for a database")
def empty_database(context: Context) -> None:
    strategy_bench(context).database.touch()


@given("somebody writes to it while it is copied")
def written_meanwhile(context: Context) -> None:
    strategy_faults.restless(strategy_bench(context), 1)


@given("a plan has the sandbox called {strategy}")
@when("a plan gets the sandbox called {strategy}")
def get_sandbox(context: Context, strategy: str) -> None:
    get(context, strategy)


@when("the sandbox is removed, twice")
def removed_twice(context: Context) -> None:
    work = strategy_bench(context)
    for _ in range(2):
        work.maker.remove(work.sandbox)


@then("the sandbox is the directory, bit for bit, and the directory is untouched")
def bit_for_bit(context: Context) -> None:
    work = strategy_bench(context)
    assert not differing(read_tree(work.place), work.before), work.before
    assert not differing(read_tree(work.data), work.before)
    times = [(work.place / path, work.data / path) for path in work.before]
    for copied, original in times:
        if original.is_file() and not original.is_symlink():
            assert copied.stat().st_mtime_ns == original.stat().st_mtime_ns


@then("the file {name} takes no room in the sandbox")
def takes_no_room(context: Context, name: str) -> None:
    assert (strategy_bench(context).place / name).stat().st_blocks == 0


@then("the file {name} in the sandbox is nobody else's")
def separate(context: Context, name: str) -> None:
    assert (strategy_bench(context).place / name).stat().st_nlink == 1


@then("the sandbox says that it lacks `{path}`, a {reason}")
def lacks(context: Context, path: str, reason: str) -> None:
    work = strategy_bench(context)
    assert [(item.path, item.reason) for item in work.sandbox.skipped] == [(path, reason)]
    assert not os.path.lexists(work.place / path)


@then("the sandbox was made by {method}")
def made_by(context: Context, method: str) -> None:
    assert strategy_bench(context).sandbox.copied_by == method, strategy_bench(context).error


@then("no trace of the sandbox is left")
def no_trace(context: Context) -> None:
    home = strategy_bench(context).home
    assert not list(home.glob("sandboxes/*")), list(home.glob("sandboxes/**/*"))


@then("that leftover is gone")
def leftover_gone(context: Context) -> None:
    assert not context.leftover.parent.exists(), list(context.leftover.parent.iterdir())


@then("that leftover is left alone")
def leftover_stays(context: Context) -> None:
    assert (context.leftover / "inside").is_dir()


@then("a check says that it is missing")
def is_missing(context: Context) -> None:
    work = strategy_bench(context)
    assert not list(work.home.glob("sandboxes/*"))
    try:
        work.maker.check(work.sandbox)
    except SandboxMissingError as error:
        assert "is missing" in error.message
    else:
        raise AssertionError("the check found it")


@then("the directory is as it was")
def directory_as_it_was(context: Context) -> None:
    work = strategy_bench(context)
    assert not differing(read_tree(work.data), work.before)


@then("its copy holds {rows:d} rows, and has the name and the permission bits of the original")
def holds_rows(context: Context, rows: int) -> None:
    work = strategy_bench(context)
    assert work.place.name == work.database.name
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (work.place, work.database)}
    assert len(modes) == 1, modes
    copied = DatabaseWorkspace(work.sandbox, lambda: work.store)
    assert copied.run("SELECT count(*) FROM t") == [(rows,)]
    work.maker.check(work.sandbox)


@then("nothing was changed beside the original")
def untouched_beside(context: Context) -> None:
    work = strategy_bench(context)
    shared = f"{work.database.name}-shm"  # Readers of a live log leave their mark there.
    found = differing(work.original(SandboxStrategy.TRANSACTION_ROLLBACK), work.before)
    assert [name for name in found if name != shared or name not in work.before] == [], found


@then("its copy is without a byte too")
def copy_is_empty(context: Context) -> None:
    assert strategy_bench(context).place.read_bytes() == b""


@given("an overlay of a directory made by `{command}`")
def overlay(context: Context, command: str) -> None:
    work = strategy_bench(context)
    if not strategy_faults.can_mount(work):
        context.scenario.skip("overlays cannot be mounted here")
        return
    work.make_directory(command)
    get(context, "overlay")
    place = work.place
    work.cleanup.callback(lambda: unmount(place) if is_overlay(place) else None)


@given("directories in sandboxes of the strategy {strategy}")
def directories(context: Context, strategy: str) -> None:
    work = strategy_bench(context)
    if strategy == "overlay" and not strategy_faults.can_mount(work):
        context.scenario.skip("overlays cannot be mounted here")
    context.make_sandbox = work.directories(SandboxStrategy(strategy))


@given("the agent has run `{command}` there")
@when("the agent runs `{command}` there")
def agent_runs(context: Context, command: str) -> None:
    strategy_bench(context).shell(command, strategy_bench(context).place)


@then("the sandbox holds only {paths}")
def sandbox_holds(context: Context, paths: str) -> None:
    found = sorted(path for path in read_tree(strategy_bench(context).place) if path != ".")
    assert found == paths.split(", "), found


@when("the computer is restarted and the sandbox is checked")
def rebooted(context: Context) -> None:
    work = strategy_bench(context)
    unmount(work.place)
    assert not list(work.place.iterdir())
    work.maker.check(work.sandbox)
    work.maker.check(work.sandbox)


@given("for the overlay {circumstance}")
def overlay_circumstance(context: Context, circumstance: str) -> None:
    strategy_faults.OVERLAYS[circumstance](strategy_bench(context))


@when("somebody tries to {act} the overlay")
def try_overlay(context: Context, act: str) -> None:
    work = strategy_bench(context)
    with work.surroundings():
        work.attempt(lambda: getattr(work.maker, act)(work.sandbox))


@given("a system that {lack}")
def lacking(context: Context, lack: str) -> None:
    work = strategy_bench(context)
    work.surroundings = lambda: strategy_faults.system_without(work, lack)


@then("the hint is to use `{what}`")
def hint(context: Context, what: str) -> None:
    error = strategy_bench(context).error
    assert error is not None and what in (error.hint or ""), error


@when("a snapshot is taken of one with a FIFO called .gitignore")
def with_fifo(context: Context) -> None:
    work = context.make_sandbox()
    os.mkfifo(work.root / ".gitignore")
    context.taken = work.acts().snapshot()


@then("the snapshot names it as a special file")
def named_special(context: Context) -> None:
    found = [(item.path, item.reason) for item in context.taken.not_captured]
    assert found == [(".gitignore", "special file: fifo")], found
