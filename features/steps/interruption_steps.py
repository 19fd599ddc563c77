from __future__ import annotations

import signal

from behave import given, then, when
from behave.runner import Context
from features.support.faults.interruptions import SIGNALS, Work, ignored
from features.support.tools import Workbench, is_alive


@given("the user has had requests to end ignored")
def ignoring(context: Context) -> None:
    context.world.on_close.enter_context(ignored(signal.SIGTERM))


@when("{number} comes while the work listens")
def signal_comes(context: Context, number: str) -> None:
    context.work = Work()
    context.work.listen(signal.Signals[number])


@when("the work listens and {happens}")
def listens(context: Context, happens: str) -> None:
    context.work = Work()
    context.work.listen_while(happens)


@when("a thread listens")
def thread_listens(context: Context) -> None:
    context.work = Work()
    context.work.in_thread()


@when("the command `{command}` asks us to stop while it runs")
def command_asks(context: Context, command: str) -> None:
    context.work = Work()
    context.bench = Workbench(context.world.directory, context.world.environment)
    context.work.run(context.bench, command)


@when("the plan's tool `{command}` asks us to stop while it runs")
def plan_tool_asks(context: Context, command: str) -> None:
    context.work = Work()
    context.bench = Workbench(context.world.directory, context.world.environment)
    context.work.run_plan_tool(context.bench, command)


@when("that process is asked to end")
def asked_to_end(context: Context) -> None:
    context.process.send_signal(signal.SIGTERM)
    context.said = context.process.communicate()


@then("the work knows that it is to stop")
def knows(context: Context) -> None:
    assert context.work.knew
    assert context.work.end == "its own decision", context.work.end


@then("the work knows of nothing")
def knows_nothing(context: Context) -> None:
    assert not context.work.knew
    assert context.work.end == "nothing", context.work.end


@then("the work ends with {end}")
def ends_with(context: Context, end: str) -> None:
    assert context.work.end == end, context.work.end


@then("afterwards a signal means what it meant before")
def as_before(context: Context) -> None:
    assert [signal.getsignal(number) for number in SIGNALS] == context.work.handlers
    assert not context.work.interruption.requested()


@then("the work fails because {sentence}")
def work_failed(context: Context, sentence: str) -> None:
    assert context.work.end == sentence, context.work.end


@then("it says with the code 130 that it was interrupted")
def ends_interrupted(context: Context) -> None:
    assert context.process.returncode == 130, context.said
    assert '"code": "interrupted"' in "".join(context.said), context.said


@then("its tool no longer runs")
def tool_gone(context: Context) -> None:
    assert not is_alive((context.world.directory / "tool").read_text())
