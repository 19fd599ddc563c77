from __future__ import annotations

from behave import given, then, when
from behave.runner import Context
from benchmarks.compare.exactness import Witness, standing_of
from benchmarks.compare.judging import SESSION_IN_PLACE, failures, judge, limit_of
from benchmarks.compare.page import page
from benchmarks.compare.results import Check, Measured, Restored, Role, Scenario, Standing
from features.support.situations.comparisons import (
    RESTORED,
    ROLES,
    STANDINGS,
    TOUCHES,
    ComparisonDraft,
    make_tree,
    restored_wrongly,
    seconds,
)


def number(text: str) -> int:
    return int(text.replace(",", ""))


@given("a tree of {files} files on which these took so many milliseconds")
def peers_measured(context: Context, files: str) -> None:
    peers = [
        Measured(
            row["technique"],
            Role.PEER,
            watches=row["watches"] == "yes",
            standing=STANDINGS[row["restores are"]],
            seconds={Scenario.NOTHING: seconds(row["nothing changed"])},
        )
        for row in context.table
    ]
    context.comparison = ComparisonDraft(number(files), peers)


@given("ours, {where}, took {milliseconds} milliseconds")
def ours_measured(context: Context, where: str, milliseconds: str) -> None:
    context.comparison.add_ours(where, milliseconds)


@given("ours, {where}, took {milliseconds} milliseconds and is {standing}")
def ours_measured_inexact(context: Context, where: str, milliseconds: str, standing: str) -> None:
    context.comparison.add_ours(where, milliseconds, standing)


@given("{measured} bytes where {limit:d} are allowed")
def check_measured(context: Context, measured: str, limit: int) -> None:
    context.comparison.add_check(Check("memory a file", number(measured), "bytes", limit))


@given("rsync was not there")
def no_rsync(context: Context) -> None:
    context.comparison.add_note("rsync --link-dest: rsync is not installed")


@given("a session in place took back an ignored file, but did not bring it again")
def session_not_exact(context: Context) -> None:
    done = Restored(Standing.EXACT, Standing.INEXACT)
    context.comparison.add_kinds(SESSION_IN_PLACE, {"an ignored file": done})


@given('"{failed}" failed at it, "{near}" left a permission bit wrong, and "{exact}" nothing')
def others_restored(context: Context, failed: str, near: str, exact: str) -> None:
    results = {
        failed: Restored(Standing.INEXACT, Standing.INEXACT, "ValueError: no"),
        near: Restored(Standing.EXACT, Standing.NEAR_EXACT),
        exact: Restored(Standing.EXACT, None),
    }
    for name, done in results.items():
        context.comparison.add_kinds(name, {"an ignored file": done})


@given("a tree that was read")
def looked_at(context: Context) -> None:
    make_tree(context.world.project)
    context.witness = Witness(context.world.project)
    context.wanted = context.witness.fingerprint()


@when("afterwards there is {what}")
def touched(context: Context, what: str) -> None:
    TOUCHES[what](context.world.project)


@then("another look finds that it differs")
def differs(context: Context) -> None:
    assert context.witness.fingerprint() != context.wanted


@then("another look finds that nothing differs")
def is_the_same(context: Context) -> None:
    assert context.witness.fingerprint() == context.wanted


@when("a restore leaves {what} wrong")
def restore_wrongly(context: Context, what: str) -> None:
    context.standing = standing_of(RESTORED, restored_wrongly(what))


@when("the comparison is judged")
def judge_comparison(context: Context) -> None:
    comparison = context.comparison.finished()
    context.judgements = judge(comparison.trees[0])
    context.sentences = failures(comparison)


@when("the limit for 1 changed file among {files} is asked for, {where}")
def ask_for_limit(context: Context, files: str, where: str) -> None:
    context.limit = limit_of(ROLES[where], Scenario.ONE, number(files))


@when("the page is written")
def write_page(context: Context) -> None:
    context.page = page(context.comparison.finished())


@then("the technique is {standing}")
def technique_is(context: Context, standing: str) -> None:
    assert str(context.standing) == standing, context.standing


@then("ours costs {ratio} of {rival}, and the limit of {limit} is {verdict}")
def ours_costs(context: Context, ratio: str, rival: str, limit: str, verdict: str) -> None:
    (judgement,) = context.judgements
    found = (f"{judgement.ratio:.2f}", judgement.fastest, str(judgement.limit), judgement.kept)
    assert found == (ratio, rival, limit, verdict == "kept"), judgement


@then("the command fails with these sentences")
def fails_with(context: Context) -> None:
    assert context.sentences == context.text.splitlines(), context.sentences


@then("ours may cost {limit} of the fastest")
def limit_is(context: Context, limit: str) -> None:
    assert str(context.limit).lower() == limit, context.limit


@then("it holds these lines")
def page_holds(context: Context) -> None:
    lines = context.page.splitlines()
    missing = [line for line in context.text.splitlines() if line not in lines]
    assert not missing, (missing, context.page)
