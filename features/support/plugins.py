"""Packages that offer tools, installed for one scenario."""

from __future__ import annotations

import importlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

from features.support.clocks import has_content, wait_until
from features.support.tools import Workbench

from cleveragents.domain.errors import ConfigurationError, InterruptedByUserError
from cleveragents.infrastructure.tools.registry import Tools
from cleveragents.tools import Tool, ToolInvocation, ToolSpec

MODULE = """
import os, subprocess, sys, threading, time
from pathlib import Path
from cleveragents.domain.errors import ExecutionError
from cleveragents.tools import ParameterType, ToolParameter, ToolResult, ToolSpec, tool

text = ToolParameter(type=ParameterType.STRING, description="Some text")

@tool(ToolSpec(name="count-words", description="Count words", read_only=True,
               parameters={"text": text}))
def count_words(call):
    print("counting")
    return str(len(call.input["text"].split()))

@tool(ToolSpec(name="look-around", read_only=True))
def look_around(call):
    answers = [os.getcwd(), os.environ["CLEVERAGENTS_RESOURCE_PROJECT"], os.environ.get("GIT_DIR")]
    return ToolResult(output=" ".join(map(str, answers)) + sys.stdin.read())

@tool(ToolSpec(name="talk", read_only=True))
def talk(call):
    return "x" * 1_000_000

def makes(name, act, **more):
    return tool(ToolSpec(name=name, writes=True, **more))(act)

raise_error = makes("raise-error", lambda call: print("so far") or 1 / 0)
raise_nothing = makes("raise-nothing", lambda call: [][:] or (_ for _ in ()).throw(KeyError()))

def refuse_act(call):
    raise ExecutionError("not today", hint="Come again", day=Path("monday"))
refuse = makes("refuse", refuse_act)
leave = makes("leave", lambda call: sys.exit(3))
give_number = makes("give-number", lambda call: 12)

def sleep_act(call):
    print("going to sleep", flush=True)
    Path("pid.txt").write_text(str(os.getpid()))
    time.sleep(60)
sleep = makes("sleep", sleep_act, timeout=1)

def long_sleep_act(call):
    Path("pid.txt").write_text(str(os.getpid()))
    time.sleep(60)
long_sleep = makes("long-sleep", long_sleep_act)

def background_act(call):
    if os.fork() == 0:
        Path("pid.txt").write_text(str(os.getpid()))
        time.sleep(60)
    while not Path("pid.txt").exists() or not Path("pid.txt").read_text():
        time.sleep(0.01)
    return "done"
background = makes("background", background_act)

LOCK = threading.Lock()

def take_lock_act(call):
    with LOCK:
        return "taken"
take_lock = makes("take-lock", take_lock_act)

def leave_thread_act(call):
    threading.Thread(target=time.sleep, args=(60,)).start()
    return "done"
leave_thread = makes("leave-thread", leave_thread_act)
shell = makes("shell", lambda call: "hacked")
record_decision = makes("record-decision", lambda call: "hacked")
runs = makes("runs", lambda call: "", run="echo hello")
odd = makes("odd name", lambda call: "")
not_a_tool = 12
"""


class Packages:
    """A place on the import path; what is there is gone with the scenario."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory / "packages"
        self.directory.mkdir()
        (self.directory / "acme_tools.py").write_text(MODULE)
        (self.directory / "acme_broken.py").write_text("import no_such_module")
        (self.directory / "acme_exits.py").write_text("raise SystemExit(9)")
        sys.path.insert(0, str(self.directory))

    def install(self, package: str, entries: Mapping[str, str]) -> None:
        name, _, version = package.partition(" ")
        place = self.directory / f"{name}-{version}.dist-info"
        place.mkdir()
        (place / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
        )
        lines = [f"{entry} = {where}" for entry, where in entries.items()]
        (place / "entry_points.txt").write_text("\n".join(["[cleveragents.tools]", *lines]))
        importlib.invalidate_caches()

    def remove(self) -> None:
        sys.path.remove(str(self.directory))
        for name in [name for name in sys.modules if name.startswith("acme_")]:
            del sys.modules[name]


def run_with(tools: Tools, bench: Workbench, name: str, given: dict[str, str]) -> None:
    """Runs a tool of a package as a plan would."""
    bench.other_tools = tools
    bench.run_spec(tools.specs()[name], dict(given))


def refused_registration(tools: Tools, tool: Tool) -> str | None:
    try:
        tools.register(tool)
    except ConfigurationError as error:
        return error.message
    return None


def greet(call: ToolInvocation) -> str:
    return f"hello from process {os.getpid()}"


def greeter(name: str) -> Tool:
    return Tool(ToolSpec(name=name, read_only=True), greet)


def closure(name: str) -> Tool:
    """A tool whose function has no name that another process could import."""
    secret = "from a closure"
    answer: Callable[[ToolInvocation], str] = lambda call: f"hello {secret}"  # noqa: E731
    return Tool(ToolSpec(name=name, read_only=True), answer)


def hold_lock(lock: threading.Lock) -> Callable[[], None]:
    """Takes the lock in another thread; gives what releases it."""
    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            held.set()
            done.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()

    def release() -> None:
        done.set()
        thread.join()

    return release


def stop_with(tools: Tools, bench: Workbench, name: str, given: dict[str, str]) -> str:
    """Runs a tool and sends the signal of Ctrl-C a moment later; gives what was said."""
    bench.make("file", "evil", "a" * 40 + "b")
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    try:
        with bench.interruption.listening():
            timer.start()
            run_with(tools, bench, name, given)
    except InterruptedByUserError as error:
        return error.message
    finally:
        timer.join()
    return "nothing"


def run_and_kill(tools: Tools, bench: Workbench, name: str) -> None:
    """Runs a tool in a program of its own, and kills that without warning."""
    program = os.fork()
    if program == 0:
        run_with(tools, bench, name, {})
        os._exit(0)
    wait_until(lambda: has_content(bench.file("pid.txt")))
    os.kill(program, signal.SIGKILL)
    os.waitpid(program, 0)
    wait_until(lambda: not bench.alive())
