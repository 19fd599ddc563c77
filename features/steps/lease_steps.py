from __future__ import annotations

from datetime import timedelta

from behave import given, then, when
from behave.runner import Context
from features.support.postgres import new_database
from features.support.situations.leases import (
    ANOTHER,
    PLAN,
    Host,
    TwoHosts,
    close_in_the_middle,
    fail_to_give_back,
    heartbeats,
    leave_in_fork,
)


def two(context: Context) -> TwoHosts:
    if "two_hosts" not in context:
        context.two_hosts = TwoHosts(context.world.home)
        context.world.on_close.callback(context.two_hosts.close)
    return context.two_hosts


def host(context: Context, name: str) -> Host:
    return two(context).hosts[name]


@given("the plan is held by the first host")
def held(context: Context) -> None:
    host(context, "first").hold()


@given("the records are on a server")
def on_server(context: Context) -> None:
    context.two_hosts = TwoHosts(context.world.home, new_database())
    context.world.on_close.callback(context.two_hosts.close)


@given("the plan is held by the first host, whose leases are short")
def held_shortly(context: Context) -> None:
    two(context).shorten()
    host(context, "first").hold()


@given("the plan is held by a program that closes its services in the middle")
def held_by_program(context: Context) -> None:
    two(context).shorten()


@given("another plan was held by it too, and is done")
def another_held(context: Context) -> None:
    with host(context, "first").locks.hold(ANOTHER) as lease:
        assert lease.plan_id == ANOTHER


@given("its lease has ended, and the second host has taken the plan over")
def taken_over(context: Context) -> None:
    two(context).take_over()


@given("the database is busy for the next {count:d} renewals")
def busy(context: Context, count: int) -> None:
    host(context, "first").under_locks.busy_for = count


@given("all leases are gone from the records")
def no_leases(context: Context) -> None:
    host(context, "second").work.close()
    with two(context).sql.write() as transaction:
        transaction.leases._session.run("DELETE FROM locks")  # pyright: ignore[reportAttributeAccessIssue] # below the port


@given("the clock of the second host is a day ahead")
def clock_ahead(context: Context) -> None:
    host(context, "second").clock.ahead = timedelta(days=1)


@then("its tool may continue")
def may_continue(context: Context) -> None:
    assert not host(context, "first").locks.must_stop()


@given("its tool has to end")
@then("its tool has to end")
def has_to_end(context: Context) -> None:
    assert host(context, "first").locks.must_stop()


@given("giving it back failed because the database was busy")
def not_given_back(context: Context) -> None:
    fail_to_give_back(host(context, "first"))


@when("the work takes longer than a lease")
def long_work(context: Context) -> None:
    two(context).wait_for_renewals(5)
    assert not host(context, "first").under_locks.busy_for


@when("the program has closed them")
def program_closes(context: Context) -> None:
    close_in_the_middle(two(context))


@when("the first host holds it once more, and one of the two is done")
def held_twice(context: Context) -> None:
    with host(context, "first").locks.hold(PLAN):
        pass


@when("a fork of the first host ends")
def fork_ends(context: Context) -> None:
    leave_in_fork(host(context, "first"))


@given("the {name:w} host {act}")
@when("the {name:w} host {act}")
def host_acts(context: Context, name: str, act: str) -> None:
    two(context).do(act, host(context, name))


@then("the host is refused because {sentence}")
def host_refused(context: Context, sentence: str) -> None:
    error = two(context).refusal
    assert error is not None
    assert error.message == sentence.replace("PLAN", PLAN), error.message
    assert (error.code, error.exit_code, error.retryable) == ("busy", 6, True)


@then("a process of the second host is refused because {sentence}")
def second_host_refused(context: Context, sentence: str) -> None:
    two(context).stop_second_clock_in_lease()
    two(context).do("wants to hold the plan once more", host(context, "second"))
    host_refused(context, sentence)


@then("the plan is still held by the {name:w} host, for the {number:d}. time")
def still_held(context: Context, name: str, number: int) -> None:
    lease = two(context).lease()
    assert lease is not None and not lease.released, lease
    assert (lease.holder, lease.fencing) == (host(context, name).holder, number), lease


@then("nobody holds the plan")
def not_held(context: Context) -> None:
    assert host(context, "second").locks.holder(PLAN) is None


@then("nothing runs in the background")
def nothing_runs(context: Context) -> None:
    assert not heartbeats()


@then("nothing of the first host is stored")
def not_stored(context: Context) -> None:
    assert two(context).stored() != host(context, "first").holder.host


@then("the first host can no longer write")
def cannot_write(context: Context) -> None:
    two(context).do("writes", host(context, "first"))
    assert two(context).refusal is not None
    not_stored(context)


@then("it is stored")
def is_stored(context: Context) -> None:
    assert two(context).refusal is None, two(context).refusal
    assert two(context).stored() == host(context, "second").holder.host
