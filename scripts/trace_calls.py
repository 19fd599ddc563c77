"""Counts the modules and functions of `cleveragents` that an act goes through.

    python scripts/trace_calls.py [--list] [--limit ACT=MODULES/FUNCTIONS ...]

The acts, each in a small git project, in a process that has done the same before, with the
adapters built and the database open: every command that acts does both once, so that is not part
of an act.

- `step`: one `write-file` step of a plan with its two checkpoints, from the event that
  says that it begins to the one that says that the next begins;
- `rollback`: `CheckpointService.rollback_to_checkpoint` past two steps;
- `apply`: `PlanApplyService.apply` of a plan that made two files.

What is counted: every function or method of the package that is called, in any thread,
once for each place in the source. Properties, generators and functions inside functions
count; lambdas, comprehensions and generator expressions do not, being part of the function
that they stand in, and nor does what a library generates, such as the `__init__` of a
dataclass. A module counts when one of its functions does. What other processes do, git
among them, is not seen.

Commit e3a7344 has 73 modules and 322 functions for `step`, 73 and 445 for `rollback`, 97
and 590 for `apply`.

With `--limit` the exit code is 1 when an act goes through more than that. Run it from the
top of the repository; it uses the support of the features.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType

sys.path.insert(0, str(Path(__file__).parents[1]))

from features.support.plans import Plans
from features.support.world import World

import cleveragents
from cleveragents.application.events import Event, StepStarted
from cleveragents.domain.plans.apply import ApplyMode, ApplyRequest

PACKAGE = f"{Path(cleveragents.__file__).parent}{os.sep}"


@dataclass
class Trace:
    """What was called while it was running."""

    running: bool = False
    calls: int = 0
    codes: set[CodeType] = field(default_factory=set)

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if not self.running or event != "call" or not code.co_filename.startswith(PACKAGE):
            return
        self.calls += 1
        if not code.co_name.startswith("<"):
            self.codes.add(code)

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Looks at all calls of this thread and of those that are started meanwhile."""
        threading.setprofile(self)
        sys.setprofile(self)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)  # type: ignore[arg-type]

    def of(self, act: Callable[[], object]) -> None:
        with self.installed():
            self.running = True
            act()
            self.running = False

    def by_module(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for code in self.codes:
            found[code.co_filename.removeprefix(PACKAGE)].append(code.co_qualname)
        return {module: sorted(found[module]) for module in sorted(found)}


class FromStepToStep:
    """Has a trace run from the event that begins the second step to that of the third."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._steps = 0

    def emit(self, event: Event) -> None:
        if isinstance(event, StepStarted):
            self._steps += 1
            self._trace.running = self._steps == 2


class Nobody:
    """Listens to no event."""

    def emit(self, event: Event) -> None:
        pass


class Acts:
    """The acts, on a project of their own."""

    def __init__(self, world: World) -> None:
        self._plans = Plans(world)
        self._made = 0

    def all(self) -> dict[str, Trace]:
        return {"step": self.step(), "rollback": self.rollback(), "apply": self.apply()}

    def step(self) -> Trace:
        trace = Trace()
        self._make("one", "two", "three")
        with closing(self._plans.container(FromStepToStep(trace))) as container:
            container.build_adapters()
            executor = container.plan_executor()
            with trace.installed():
                executor.execute(self._plans.plan_id)
        return trace

    def rollback(self) -> Trace:
        trace = Trace()
        self._make("one", "two", "three")
        self._plans.prepare("plan", "execute", self._plans.plan_id)
        checkpoint_id = self._plans.checkpoint("after one")["checkpoint_id"]
        with closing(self._plans.container(Nobody())) as container:
            container.build_adapters()
            service = container.checkpoint_service()
            with container.database().read() as stored:
                checkpoint = stored.checkpoints.get(checkpoint_id)
            trace.of(lambda: service.rollback_to_checkpoint(self._plans.plan_id, checkpoint))
        return trace

    def apply(self) -> Trace:
        trace = Trace()
        self._make("one", "two")
        self._plans.prepare("plan", "execute", self._plans.plan_id)
        with closing(self._plans.container(Nobody())) as container:
            container.build_adapters()
            service = container.plan_apply_service()
            with container.database().read() as stored:
                stored.plans.get(self._plans.plan_id)
            request = ApplyRequest(mode=ApplyMode.COMMIT)
            trace.of(lambda: service.apply(self._plans.plan_id, request))
        return trace

    def _make(self, *steps: str) -> None:
        """Makes a plan; each step writes a file that was not there before."""
        self._made += 1
        self._plans.define(
            {"step": step, "does": f"writes {step}-{self._made}.txt"} for step in steps
        )
        self._plans.prepare("plan", "use", str(self._plans.file))


def traces() -> dict[str, Trace]:
    """Does all acts twice, and returns what the second time went through."""
    world = World(runner="in-process")
    world.environment |= {
        "GIT_AUTHOR_NAME": "Ada",
        "GIT_AUTHOR_EMAIL": "ada@example.org",
        "GIT_COMMITTER_NAME": "Ada",
        "GIT_COMMITTER_EMAIL": "ada@example.org",
    }
    with closing(world):
        acts = Acts(world)
        acts.all()
        return acts.all()


def limit(text: str) -> tuple[str, tuple[int, int]]:
    """Reads such as `rollback=50/250`."""
    act, _, numbers = text.partition("=")
    modules, _, functions = numbers.partition("/")
    return act, (int(modules), int(functions))


def main() -> int:
    parser = argparse.ArgumentParser(description="Counts the modules and functions of an act")
    parser.add_argument("--list", action="store_true", help="also name the functions")
    parser.add_argument(
        "--limit", type=limit, nargs="+", default=[], metavar="ACT=MODULES/FUNCTIONS"
    )
    options = parser.parse_args()
    found = traces()
    print(f"{'act':10}{'modules':>9}{'functions':>11}{'calls':>8}")
    for act, trace in found.items():
        print(f"{act:10}{len(trace.by_module()):9}{len(trace.codes):11}{trace.calls:8}")
    if options.list:
        for act, trace in found.items():
            print(f"\n{act}")
            for module, functions in trace.by_module().items():
                print(f"  {module}: {', '.join(functions)}")
    exceeded = [
        f"{act} goes through more than {modules} modules or {functions} functions"
        for act, (modules, functions) in options.limit
        if len(found[act].by_module()) > modules or len(found[act].codes) > functions
    ]
    for line in exceeded:
        print(line)
    return 1 if exceeded else 0


if __name__ == "__main__":
    sys.exit(main())
