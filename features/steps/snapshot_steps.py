from __future__ import annotations

import itertools
from pathlib import Path

from behave import given, then, when
from behave.parser import parse_feature
from behave.runner import Context
from features.support.faults.broken_stores import FLAWED
from features.support.sandboxes.sandbox_bench import SandboxBench, bench

from cleveragents.domain.sandboxes.sandbox import SandboxStrategy
from cleveragents.testing import snapshots as contract
from cleveragents.testing.snapshots import Capability, ContractWorkspace

CAPABILITIES = {
    SandboxStrategy.GIT_WORKTREE: frozenset(
        {Capability.IGNORE_RULES, Capability.GIT_STATE, Capability.PLAIN_DIRECTORY}
    ),
}
FEATURE = Path(__file__).parent.parent / "snapshots.feature"


def workplaces(work: SandboxBench) -> contract.MakeSandbox:
    numbers = itertools.count()

    def make_sandbox() -> ContractWorkspace:
        sandbox = work.sandbox_of(f"PLAN{next(numbers)}")
        offered = CAPABILITIES[sandbox.strategy]
        return ContractWorkspace(sandbox, lambda: work.store, offered, work.world.environment)

    return make_sandbox


@given("a sandbox of a {strategy} store")
def sandbox_of_store(context: Context, strategy: str) -> None:
    assert SandboxStrategy(strategy) in CAPABILITIES
    context.make_sandbox = workplaces(bench(context))


@given("a store of snapshots that {flaw}")
def flawed_store(context: Context, flaw: str) -> None:
    work = bench(context)
    work.make_store = FLAWED[flaw]
    context.make_sandbox = workplaces(work)


@when("the store is to prove that {promise}")
def prove_by_store(context: Context, promise: str) -> None:
    checks = {check.__name__: check for check in contract.CONTRACT}
    context.outcome = None
    try:
        checks[promise.replace(" ", "_")](context.make_sandbox)
    except (contract.ContractError, contract.NotOfferedError) as error:
        context.outcome = error


@when("somebody counts the promises of snapshot stores")
def count_store_promises(context: Context) -> None:
    context.promises = {check.__name__.replace("_", " ") for check in contract.CONTRACT}


@then("the store has proved it")
def store_proved(context: Context) -> None:
    assert context.outcome is None, context.outcome


@then("the store says that it does not offer this")
def store_offers_not(context: Context) -> None:
    assert isinstance(context.outcome, contract.NotOfferedError), context.outcome


@then("the store is caught")
def store_caught(context: Context) -> None:
    assert isinstance(context.outcome, contract.ContractError), context.outcome


@then("the lists name each of them for every strategy")
def every_promise_listed(context: Context) -> None:
    feature = parse_feature(FEATURE.read_text(), filename=str(FEATURE))
    listed = [
        (row["strategy"], row["promise"])
        for scenario in feature.walk_scenarios(with_outlines=True)
        for examples in getattr(scenario, "examples", [])
        for row in (examples.table or [])
        if "strategy" in row.headings
    ]
    wanted = [(each.value, name) for each in CAPABILITIES for name in context.promises]
    assert sorted(listed) == sorted(wanted), set(wanted) ^ set(listed)
    assert all(check.__doc__ and "\n" not in check.__doc__ for check in contract.CONTRACT)
