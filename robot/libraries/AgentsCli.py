"""Drives the installed `agents` as a person does: a directory, a command, a look at the result.

Each test gets a temporary place of its own with a home directory for the program, a home
directory for the person, and a scratch git repository. The place is removed when the test
passed and left for inspection when it failed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from robot.api import SkipExecution, logger
from robot.api.deco import keyword, library

Fingerprint = dict[str, str]

WAIT_SECONDS = 1200
NOBODY = 65534
SYSTEM_PYTHON = "/usr/bin/python3"
ULID = re.compile(r"[0-9A-HJKMNP-TV-Z]{26}")
ENVELOPE = ("command", "status", "exit_code", "data", "timing", "messages")

HOOKS = (
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-rewrite",
    "post-update",
    "pre-auto-gc",
    "pre-commit",
    "pre-push",
    "pre-receive",
    "prepare-commit-msg",
    "reference-transaction",
    "update",
)
PROGRAM_KEYS = (
    "alias.status",
    "core.editor",
    "core.fsmonitor",
    "core.pager",
    "core.sshCommand",
    "credential.helper",
    "diff.evil.command",
    "diff.evil.textconv",
    "diff.external",
    "filter.evil.clean",
    "filter.evil.process",
    "filter.evil.smudge",
    "gpg.program",
    "merge.evil.driver",
    "uploadpack.packObjectsHook",
)


COUNT_LINES = """
from cleveragents.tools import ParameterType, ToolParameter, ToolSpec, tool

PATH = ToolParameter(type=ParameterType.STRING, description="A file")


@tool(ToolSpec(name="count-lines", read_only=True, parameters={"path": PATH}))
def count_lines(call):
    with open(call.input["path"]) as file:
        return str(sum(1 for _ in file))
"""


@library(scope="TEST", auto_keywords=False)
class AgentsCli:
    """One user, one repository, and what the last command said."""

    ROBOT_LISTENER_API_VERSION = 3

    def __init__(self, command: str) -> None:
        self.ROBOT_LIBRARY_LISTENER = self
        self.command = command
        self._place: Path | None = None
        self.environment: dict[str, str] = {}
        self.exit_code = -1
        self.stdout = ""
        self.stderr = ""
        self.sandbox = ""
        self._repository_at_start: Fingerprint = {}
        self._started: subprocess.Popen[str] | None = None
        self._mounted: Path | None = None
        self._user: int | None = None
        """Who runs the program, if not the one who runs the tests."""

    @property
    def place(self) -> Path:
        """The test's own directory, made when it is first needed."""
        if self._place is None:
            self._place = Path(tempfile.mkdtemp(prefix="cleveragents-robot-")).resolve()
            self._furnish(self._place)
        return self._place

    @property
    def home(self) -> Path:
        return self.place / "cleveragents-home"

    @property
    def repository(self) -> Path:
        return self.place / "repository"

    def _furnish(self, place: Path) -> None:
        person = place / "person"
        person.mkdir()
        kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
        self.environment = kept | {
            "HOME": str(person),
            "CLEVERAGENTS_HOME": str(place / "cleveragents-home"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "NO_COLOR": "1",
            "TZ": "UTC",
        }
        repository = place / "repository"
        repository.mkdir()
        self.git("init", "--quiet", "--initial-branch=main")
        (repository / "README.md").write_text("# Scratch\n")
        (repository / "run.sh").write_text("#!/bin/sh\necho hello\n")
        (repository / "run.sh").chmod(0o755)
        self._commit("Start")

    def _commit(self, message: str) -> None:
        """Commits everything without an identity in the configuration; that is the new start."""
        self.git("add", "--all")
        identity = ("-c", "user.name=Robot", "-c", "user.email=robot@example.invalid")
        self.git(*identity, "commit", "--quiet", "--allow-empty", "--message", message)
        self._repository_at_start = fingerprint(self.repository)

    def end_test(self, data: object, result: Any) -> None:
        """Called by Robot after each test."""
        if self._place is None:
            return
        if self._started is not None:
            self.the_run_is_killed()
        if self._mounted is not None:
            subprocess.run(["umount", "--lazy", str(self._mounted)], check=False)
            self._mounted = None
        if result.passed:
            shutil.rmtree(self._place, ignore_errors=True)
        else:
            logger.console(f"\n{result.name}: left for inspection in {self._place}")
        self._place = None

    def git(self, *arguments: str) -> str:
        """Runs git as the person would, in their repository."""
        mine = {name: text for name, text in self.environment.items() if name != "GIT_DIR"}
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.repository,
            env=mine,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    @keyword("The User Runs")
    def the_user_runs(self, line: str) -> None:
        """Runs a command line that starts with `agents`, in the repository, in a new process."""
        place = self.place
        program, *arguments = shlex.split(line)
        if program != "agents":
            raise AssertionError(f"`{program}` is not the program under test")
        done = subprocess.run(
            [*self._program(), *arguments],
            cwd=place / "repository",
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=WAIT_SECONDS,
            check=False,
            user=self._user,
            group=self._user,
            extra_groups=None if self._user is None else [],
        )
        self.exit_code, self.stdout, self.stderr = done.returncode, done.stdout, done.stderr
        logger.info(
            f"{line}\nexit {self.exit_code}\n--- stdout\n{self.stdout}\n--- stderr\n{self.stderr}"
        )

    def _program(self) -> list[str]:
        if self._user is None:
            return [self.command]
        # The interpreter of the tests may be where only root can go.
        return [SYSTEM_PYTHON, "-m", "cleveragents"]

    @keyword("Private Views Are Permitted")
    def private_views_are_permitted(self) -> None:
        """Skips the test where the system permits no mount namespaces."""
        own = [] if os.geteuid() == 0 else ["--user", "--map-current-user"]
        done = subprocess.run(
            ["unshare", *own, "--mount", "true"], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise SkipExecution(f"Namespaces are not permitted here: {done.stderr}")

    @keyword("Another User Has Taken Over")
    def another_user_has_taken_over(self) -> None:
        """From here on, the program runs without any privileges."""
        if os.geteuid() != 0:
            return
        place = self.place
        (packages,) = Path(self.command).parents[1].glob("lib/python*/site-packages")
        self.environment["PYTHONPATH"] = str(packages)
        for directory, _, names in os.walk(place):
            for name in (".", *names):
                os.chown(Path(directory, name), NOBODY, NOBODY, follow_symlinks=False)
        self._user = NOBODY
        self.the_user_runs("agents --version")
        if self.exit_code != 0:
            self._user = None
            raise SkipExecution(f"Another user cannot run Python here: {self.stderr}")
        own = ["unshare", "--user", "--map-current-user", "--mount", "true"]
        if subprocess.run(own, user=NOBODY, check=False).returncode != 0:
            raise SkipExecution("User namespaces are not permitted here")

    @keyword("The Git Directory Is Elsewhere")
    def the_git_directory_is_elsewhere(self) -> None:
        real = self.place / "real.git"
        (self.repository / ".git").rename(real)
        (self.repository / ".git").write_text(f"gitdir: {real}\n")
        self._repository_at_start = fingerprint(self.repository)

    @keyword("The Repository Has")
    def the_repository_has(self, path: str, *lines: str) -> None:
        found = (self.repository / path).read_text().splitlines()
        if found != [*lines]:
            raise AssertionError(f"{path} is {found}")

    @keyword("The User Writes The File")
    def the_user_writes_the_file(self, path: str, *lines: str) -> None:
        """Writes lines to a file in the repository; from then on that is how it started."""
        file = self.repository / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(f"{line}\n" for line in lines))
        self._repository_at_start = fingerprint(self.repository)

    @keyword("The User Commits")
    def the_user_commits(self, message: str) -> None:
        self._commit(message)

    @keyword("The Repository Is Hostile")
    def the_repository_is_hostile(self) -> None:
        """Configures everything by which a repository can make git run something of its own.

        Whatever runs leaves a mark outside the repository.
        """
        (self.repository / ".gitattributes").write_text("* filter=evil diff=evil merge=evil\n")
        self._commit("Attributes")
        program = self._trap()
        hooks = self.repository / ".git" / "hooks"
        hooks.mkdir(exist_ok=True)
        for name in HOOKS:
            shutil.copy(program, hooks / name)
        for key in PROGRAM_KEYS:
            self.git("config", key, str(program))
        for key in ("commit.gpgsign", "tag.gpgsign", "filter.evil.required"):
            self.git("config", key, "true")
        self._repository_at_start = fingerprint(self.repository)

    @keyword("The User's Git Configuration Is Hostile")
    def the_git_configuration_is_hostile(self) -> None:
        """Puts the same traps into the person's own configuration, which git reads everywhere."""
        program = self._trap()
        hooks = self.place / "person" / "hooks"
        hooks.mkdir()
        for name in HOOKS:
            shutil.copy(program, hooks / name)
        file = str(self.place / "person" / ".gitconfig")
        for key in PROGRAM_KEYS:
            self.git("config", "--file", file, key, str(program))
        self.git("config", "--file", file, "core.hooksPath", str(hooks))
        self.git("config", "--file", file, "commit.gpgsign", "true")
        attributes = self.place / "person" / "attributes"
        attributes.write_text("* filter=evil diff=evil merge=evil\n")
        self.git("config", "--file", file, "core.attributesFile", str(attributes))

    @keyword("The User Has No Git Identity")
    def the_user_has_no_identity(self) -> None:
        """Makes sure of it: git itself must refuse to commit here."""
        self.git("config", "user.useConfigOnly", "true")
        self._repository_at_start = fingerprint(self.repository)
        try:
            self.git("commit", "--allow-empty", "--message", "refused")
        except subprocess.CalledProcessError:
            return
        raise AssertionError("git has found an identity somewhere")

    @keyword("The Repository Has A Submodule")
    def the_repository_has_a_submodule(self) -> None:
        head = self.git("rev-parse", "HEAD")
        self.git("update-index", "--add", "--cacheinfo", f"160000,{head},vendor/library")
        identity = ("-c", "user.name=Robot", "-c", "user.email=robot@example.invalid")
        self.git(*identity, "commit", "--quiet", "--message", "Submodule")
        self._repository_at_start = fingerprint(self.repository)

    @keyword("The Mark Is Named In")
    def the_mark_is_named_in(self, variable: str) -> None:
        """Tells tools, by their environment, the file that must not come about."""
        self.environment[variable] = str(self.place / "executed")

    def _trap(self) -> Path:
        """A program that leaves a mark outside the repository, and fails."""
        program = self.place / "evil.sh"
        mark = shlex.quote(str(self.place / "executed"))
        program.write_text(f"#!/bin/sh\ntouch {mark}\nexit 1\n")
        program.chmod(0o755)
        return program

    @keyword("Nothing Of The Repository Was Executed")
    def nothing_was_executed(self) -> None:
        if (self.place / "executed").exists():
            raise AssertionError("Something that the repository configures was executed")

    @keyword("The Environment Has")
    def the_environment_has(self, name: str, value: str) -> None:
        _ = self.place
        self.environment[name] = value

    @keyword("The Exit Code Is")
    def the_exit_code_is(self, expected: int) -> None:
        if self.exit_code != expected:
            raise AssertionError(
                f"The exit code is {self.exit_code}, not {expected}\n{self.stdout}\n{self.stderr}"
            )

    @keyword("Standard Output Is")
    def standard_output_is(self, expected: str) -> None:
        _equal(self.stdout.strip(), expected)

    @keyword("Standard Output Contains")
    def standard_output_contains(self, expected: str) -> None:
        if expected not in self.stdout:
            raise AssertionError(f"`{expected}` is not in:\n{self.stdout}")

    @keyword("Standard Error Contains")
    def standard_error_contains(self, expected: str) -> None:
        if expected not in self.stderr:
            raise AssertionError(f"`{expected}` is not in:\n{self.stderr}")

    @keyword("The Document")
    def the_document(self) -> dict[str, Any]:
        """The JSON document that the last command printed, on stdout or, failed, on stderr."""
        for text in (self.stdout, self.stderr):
            try:
                document = json.loads(text)
            except ValueError:
                continue
            if isinstance(document, dict):
                return document
        raise AssertionError(f"No JSON document in:\n{self.stdout}\n{self.stderr}")

    @keyword("The Data Field")
    def the_data_field(self, path: str) -> Any:
        """The value at a path such as `execution.sandbox.path` or `checkpoints.0.label`."""
        return _at(self.the_document(), f"data.{path}")

    @keyword("The Whole Of The Data")
    def the_whole_of_the_data(self) -> Any:
        return self.the_document()["data"]

    @keyword("The Data Field '${path}' Is")
    def the_data_field_is(self, path: str, expected: object) -> None:
        _equal(self.the_data_field(path), expected)

    @keyword("The Error Field '${path}' Is")
    def the_error_field_is(self, path: str, expected: object) -> None:
        _equal(_at(self.the_document(), f"error.{path}"), expected)

    @keyword("The Error Says")
    def the_error_says(self, expected: str) -> None:
        message = json.dumps(_at(self.the_document(), "error"), ensure_ascii=False)
        if expected not in message:
            raise AssertionError(f"`{expected}` is not in: {message}")

    @keyword("The Option ${option} Loads None Of")
    def the_option_loads_none_of(self, option: str, *packages: str) -> None:
        """Lets Python itself say which modules a call imports."""
        python = Path(self.command).parent / "python"
        done = subprocess.run(
            [python, "-X", "importtime", "-m", "cleveragents", option],
            cwd=self.place,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
        )
        lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
        loaded = {line.rpartition("|")[2].strip().partition(".")[0] for line in lines}
        if "cleveragents" not in loaded:
            raise AssertionError(f"Python did not say what it imports:\n{done.stderr}")
        if too_much := sorted(loaded.intersection(packages)):
            raise AssertionError(f"Loaded: {', '.join(too_much)}")

    @keyword("The Fingerprint Of")
    def the_fingerprint_of(self, directory: str) -> Fingerprint:
        """Every path below a directory with its type, permission bits and bytes."""
        return fingerprint(Path(directory))

    @keyword("The Directory Equals")
    def the_directory_equals(self, directory: str, expected: Fingerprint) -> None:
        _same(fingerprint(Path(directory)), expected)

    @keyword("The Sandbox Is")
    def the_sandbox_is(self, path: str) -> None:
        """Says which directory `The Sandbox …` keywords look at from here on."""
        self.sandbox = path

    @keyword("The Fingerprint After The First Step Of")
    def the_fingerprint_after_the_first_step(self, plan_file: str) -> Fingerprint:
        """Does by hand, in a clone of the repository, what the plan's first step says."""
        clone = self.place / "by-hand"
        bare = self.environment | {"GIT_CONFIG_GLOBAL": os.devnull}
        bare = {name: text for name, text in bare.items() if name[:4] != "GIT_" or "CONF" in name}
        command = yaml.safe_load(Path(plan_file).read_text())["steps"][0]["with"]["command"]
        subprocess.run(
            ["git", "clone", "--quiet", "--no-local", str(self.repository), str(clone)],
            env=bare,
            check=True,
        )
        subprocess.run(["/bin/sh", "-c", command], cwd=clone, env=bare, check=True)
        return _without_git(fingerprint(clone))

    @keyword("The Fingerprint Of The Sandbox")
    def the_fingerprint_of_the_sandbox(self) -> Fingerprint:
        return _without_git(fingerprint(Path(self.sandbox)))

    @keyword("The Sandbox Equals")
    def the_sandbox_equals(self, expected: Fingerprint) -> None:
        """Compares every file, mode, link and directory, but for what git keeps in `.git`."""
        _same(_without_git(fingerprint(Path(self.sandbox))), _without_git(expected))

    @keyword("The Repository Is As It Was At The Start")
    def the_repository_is_as_it_was(self) -> None:
        """Compares files, index, refs, config and every object with the start, byte for byte."""
        _same(fingerprint(self.repository), self._repository_at_start)

    @keyword("The Document Has The Fields Of An Envelope")
    def the_document_is_an_envelope(self) -> None:
        _equal(tuple(self.the_document()), ENVELOPE)

    @keyword("The Document's Status Is")
    def the_status_is(self, expected: str) -> None:
        _equal(self.the_document()["status"], expected)

    @keyword("The Messages Say")
    def the_messages_say(self, expected: str) -> None:
        messages = self.the_document()["messages"]
        if not any(expected in message for message in messages):
            raise AssertionError(f"`{expected}` is not in: {messages}")

    @keyword("The Data Field '${path}' Is An Id")
    def the_data_field_is_an_id(self, path: str) -> None:
        value = self.the_data_field(path)
        if not isinstance(value, str) or not ULID.fullmatch(value):
            raise AssertionError(f"{value!r} is not an id")

    @keyword("Each Of '${path}' Has")
    def each_has(self, path: str, *fields: str) -> None:
        """Compares with None only: 0 and the empty list are values."""
        items = self.the_data_field(path)
        if not items:
            raise AssertionError(f"`{path}` is empty")
        for item in items:
            if without := [field for field in fields if item.get(field) in (None, "")]:
                raise AssertionError(f"No {', '.join(without)} in: {item}")

    @keyword("The Change Of '${file}' Is")
    def the_change_is(self, file: str, action: str) -> None:
        changes = self.the_data_field("changes_reverted")
        if {"file": file, "action": action} not in changes:
            raise AssertionError(f"{file} is not {action} in: {changes}")

    @keyword("The Error Has A Hint")
    def the_error_has_a_hint(self) -> None:
        if not _at(self.the_document(), "error.hint"):
            raise AssertionError(f"No hint in: {self.stdout}")

    @keyword("The Checkpoint Labelled")
    def the_checkpoint_labelled(self, label: str) -> str:
        """The id of the newest checkpoint with that label in what the last command said."""
        listed = self.the_data_field("checkpoints")
        found = [item["checkpoint_id"] for item in listed if item["label"] == label]
        if not found:
            raise AssertionError(f"No checkpoint is labelled `{label}` in: {listed}")
        return found[-1]

    @keyword("The Triggers Of ${plan} Are")
    def the_triggers_are(self, plan: str, *expected: str) -> None:
        _equal([item["trigger"] for item in self._checkpoints(plan)], list(expected))

    @keyword("The Status Of The Plan")
    def the_status_of_the_plan(self, plan: str) -> dict[str, Any]:
        """What the status shows, without the time it took to show it."""
        self.the_user_runs(f"agents plan status {plan} --format json")
        self.the_exit_code_is(0)
        return self.the_document()["data"]

    @keyword("The Status Of The Plan Is")
    def the_status_of_the_plan_is(self, plan: str, expected: dict[str, Any]) -> None:
        _equal(self.the_status_of_the_plan(plan), expected)

    def _checkpoints(self, plan: str) -> list[dict[str, Any]]:
        self.the_user_runs(f"agents plan checkpoint list {plan} --format json")
        self.the_exit_code_is(0)
        return self.the_data_field("checkpoints")

    @keyword("The Output Is")
    def the_output_is(self, expected: str) -> None:
        """Checks that the output has the form that a format promises."""
        self.the_exit_code_is(0)
        OUTPUT_CHECKS[expected](self.stdout)

    @keyword("The User Starts")
    def the_user_starts(self, line: str) -> None:
        """Starts a command and does not wait for it."""
        place = self.place
        self._started = subprocess.Popen(
            [self.command, *shlex.split(line)[1:]],
            cwd=place / "repository",
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    @keyword("The Place To Wait For Is Named In")
    def the_place_is_named_in(self, variable: str) -> None:
        self.environment[variable] = str(self.place / "go-on")

    @keyword("The User Lets The Long Work Finish")
    def the_long_work_may_finish(self) -> None:
        (self.place / "go-on").touch()

    @keyword("The Run Has Written")
    def the_run_has_written(self, file: str) -> None:
        """Waits until a sandbox has the file; that sandbox is looked at from here on."""
        deadline = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < deadline:
            found = list((self.home / "sandboxes").glob(f"*/*/{file}"))
            if found:
                self.sandbox = str(found[0].parent)
                return
            time.sleep(0.02)
        raise AssertionError(f"No sandbox has {file}")

    @keyword("The Run Is Killed")
    def the_run_is_killed(self) -> None:
        """Kills the command and what it started, as a machine that goes down does."""
        run = self._run_under_way()
        tools = _descendants(run.pid)
        run.kill()
        run.communicate()
        for process in tools:
            _kill(process)
        self._started = None

    @keyword("The Run Has Ended With")
    def the_run_has_ended_with(self, expected: int) -> None:
        """Waits for the command that was started; the last command stays the last one."""
        run = self._run_under_way()
        stdout, stderr = run.communicate(timeout=WAIT_SECONDS)
        self._started = None
        if run.returncode != expected:
            raise AssertionError(f"It ended with {run.returncode}\n{stdout}\n{stderr}")

    @keyword("The User Presses Control-C")
    def the_user_presses_control_c(self) -> None:
        run = self._run_under_way()
        run.send_signal(signal.SIGINT)
        self.stdout, self.stderr = run.communicate(timeout=WAIT_SECONDS)
        self.exit_code = run.returncode
        self._started = None

    def _run_under_way(self) -> subprocess.Popen[str]:
        if self._started is None:
            raise AssertionError("No run was started")
        return self._started

    @keyword("The Sandbox Holds The File")
    def the_sandbox_holds(self, file: str) -> None:
        if not Path(self.sandbox, file).is_file():
            raise AssertionError(f"{file} is not in {_names_in(self.sandbox)}")

    @keyword("The User Writes Into The Sandbox")
    def the_user_writes_into_the_sandbox(self, path: str, *lines: str) -> None:
        Path(self.sandbox, path).write_text("".join(f"{line}\n" for line in lines))

    @keyword("A FIFO Replaces A File Of The Sandbox")
    def a_fifo_replaces(self, path: str) -> None:
        Path(self.sandbox, path).unlink()
        os.mkfifo(Path(self.sandbox, path))

    @keyword("The Sandbox Has A FIFO")
    def the_sandbox_has_a_fifo(self, path: str) -> None:
        if not Path(self.sandbox, path).is_fifo():
            raise AssertionError(f"{path} is not a FIFO")

    @keyword("The Sandbox Lacks The File")
    def the_sandbox_lacks(self, file: str) -> None:
        if Path(self.sandbox, file).exists():
            raise AssertionError(f"{file} is in {_names_in(self.sandbox)}")

    @keyword("The Sandbox Holds The Lines")
    def the_sandbox_holds_lines(self, file: str, *lines: str) -> None:
        """Compares the whole file."""
        _equal(Path(self.sandbox, file).read_text().splitlines(), list(lines))

    @keyword("The Sandbox Holds The Line")
    def the_sandbox_holds_line(self, file: str, line: str) -> None:
        found = Path(self.sandbox, file).read_text().splitlines()
        if line not in found:
            raise AssertionError(f"`{line}` is not in {found}")

    @keyword("A Package Offers The Tool")
    def a_package_offers(self, tool: str) -> None:
        """Puts a package where Python finds it, with the metadata an installer writes."""
        self._install(tool, COUNT_LINES)

    @keyword("A Broken Package Offers The Tool")
    def a_broken_package_offers(self, tool: str) -> None:
        self._install(tool, "import no_such_module\n")

    def _install(self, tool: str, module: str) -> None:
        packages = self.place / "packages"
        metadata = packages / "acme-1.2.dist-info"
        metadata.mkdir(parents=True)
        (packages / "acme_tools.py").write_text(module)
        (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.2\n")
        (metadata / "entry_points.txt").write_text(
            f"[cleveragents.tools]\n{tool} = acme_tools:count_lines\n"
        )
        self.environment["PYTHONPATH"] = str(packages)

    @keyword("The Repository Is On A Small Disk")
    def the_repository_is_on_a_small_disk(self) -> None:
        """Moves it onto a file system of its own, or skips the test where none can be mounted."""
        aside = self.place / "aside"
        shutil.copytree(self.repository, aside, symlinks=True)
        mount = ["mount", "-t", "tmpfs", "-o", "size=8m,mode=755", "tmpfs", str(self.repository)]
        if subprocess.run(mount, capture_output=True, check=False).returncode:
            raise SkipExecution("nothing can be mounted here")
        self._mounted = self.repository
        shutil.copytree(aside, self.repository, symlinks=True, dirs_exist_ok=True)
        self._repository_at_start = fingerprint(self.repository)

    @keyword("The Disk Of The Repository Has Room For Pages")
    def the_disk_has_room_for(self, pages: int) -> None:
        ballast = self.repository / ".git" / "ballast"
        ballast.unlink(missing_ok=True)
        disk = os.statvfs(self.repository)
        with ballast.open("wb") as stream:
            os.posix_fallocate(stream.fileno(), 0, (disk.f_bavail - int(pages)) * disk.f_frsize)

    @keyword("The Disk Of The Repository Has Room Again")
    def the_disk_has_room_again(self) -> None:
        (self.repository / ".git" / "ballast").unlink()

    @keyword("The Sandbox Is Moved Away")
    def the_sandbox_is_moved_away(self) -> None:
        Path(self.sandbox).rename(self.place / "moved-away")

    @keyword("A Link To A Directory Of The User Is In Its Place")
    def a_link_is_in_its_place(self) -> None:
        precious = self.place / "precious"
        precious.mkdir()
        (precious / "precious.txt").write_text("not yours\n")
        Path(self.sandbox).symlink_to(precious)

    @keyword("The Directory Of The User Is As It Was")
    def the_directory_is_as_it_was(self) -> None:
        _equal(_names_in(self.place / "precious"), ["precious.txt"])
        _equal((self.place / "precious" / "precious.txt").read_text(), "not yours\n")

    @keyword("Temporary Files Have A Place Of Their Own")
    def temporary_files_have_a_place(self) -> None:
        place = self.place / "temporary"
        place.mkdir()
        self.environment["TMPDIR"] = str(place)

    @keyword("There Are No Temporary Files")
    def there_are_no_temporary_files(self) -> None:
        _equal(_names_in(self.place / "temporary"), [])

    @keyword("The Home Of The Program Is Empty")
    def the_home_is_empty(self) -> None:
        _equal(_names_in(self.home) if self.home.exists() else [], [])

    @keyword("The Repository Path")
    def the_repository_path(self) -> str:
        return str(self.repository)

    @keyword("The Home Path")
    def the_home_path(self) -> str:
        return str(self.home)

    @keyword("The Command Is Installed From The Wheel")
    def the_command_is_installed(self) -> None:
        """Makes sure that the source tree is not what is being tested."""
        python = Path(self.command).parent / "python"
        done = subprocess.run(
            [python, "-c", "import cleveragents; print(cleveragents.__file__)"],
            cwd=tempfile.gettempdir(),
            capture_output=True,
            text=True,
            check=False,
        )
        if "site-packages" not in done.stdout:
            raise AssertionError(
                f"{self.command} is not an installed wheel: {done.stdout}{done.stderr}"
            )


def _names_in(directory: str | Path) -> list[str]:
    return sorted(path.name for path in Path(directory).iterdir())


def _descendants(process: int) -> list[int]:
    """Processes that one started, and those that these started."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents.setdefault(int(fields[1]), []).append(int(entry.name))
    found: list[int] = []
    waiting = [process]
    while waiting:
        children = parents.get(waiting.pop(), [])
        found += children
        waiting += children
    return found


def _kill(process: int) -> None:
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        return


def _is_json(text: str) -> None:
    _equal(tuple(json.loads(text)), ENVELOPE)


def _is_yaml(text: str) -> None:
    _equal(tuple(yaml.safe_load(text)), ENVELOPE)


def _is_rich(text: str) -> None:
    has_panel = "╭─" in text and "╯" in text
    is_list = re.search(r"^@-1 ", text, re.MULTILINE)
    # A panel that is too narrow for a path is printed without its frame.
    is_too_wide = re.search(r"^sandbox\n  /", text, re.MULTILINE)
    if not (has_panel or is_list or is_too_wide):
        raise AssertionError(f"Neither a panel nor a list in:\n{text}")


def _is_table(text: str) -> None:
    if not re.search(r"^\+-[-+]*-\+$", text, re.MULTILINE):
        raise AssertionError(f"No grid in:\n{text}")


def _is_text_for_eyes(text: str) -> None:
    """Columns set apart by spaces; NO_COLOR is set, so there is no colour."""
    if "\x1b" in text or "\t" in text or not re.search(r"\S {2,}\S", text):
        raise AssertionError(f"Not aligned text:\n{text}")


def _is_records(text: str) -> None:
    lines = [line for line in text.splitlines() if "\t" not in line]
    if lines or not text:
        raise AssertionError(f"Not records of fields: {lines}")


OUTPUT_CHECKS: dict[str, Callable[[str], None]] = {
    "rich": _is_rich,
    "color": _is_text_for_eyes,
    "table": _is_table,
    "plain": _is_records,
    "json": _is_json,
    "yaml": _is_yaml,
}


def fingerprint(directory: Path) -> Fingerprint:
    """Each path below a directory, `.git` included: type, permission bits, and bytes or target."""
    found: Fingerprint = {}
    for parent, directories, files in os.walk(directory):
        for name in [*directories, *files]:
            path = Path(parent, name)
            found[str(path.relative_to(directory))] = _describe(path)
    return found


def _describe(path: Path) -> str:
    status = path.lstat()
    mode = f"{stat.S_IMODE(status.st_mode):04o}"
    if stat.S_ISLNK(status.st_mode):
        return f"link {path.readlink()}"
    if stat.S_ISDIR(status.st_mode):
        return f"directory {mode}"
    if stat.S_ISREG(status.st_mode):
        return f"file {mode} {hashlib.sha256(path.read_bytes()).hexdigest()}"
    return f"special {stat.S_IFMT(status.st_mode):o} {mode}"


def _without_git(found: Fingerprint) -> Fingerprint:
    return {path: what for path, what in found.items() if path.split("/")[0] != ".git"}


def _same(actual: Fingerprint, expected: Fingerprint) -> None:
    differences = [
        f"{path}: {actual.get(path, 'absent')}, expected {expected.get(path, 'absent')}"
        for path in sorted(actual.keys() | expected.keys())
        if actual.get(path) != expected.get(path)
    ]
    if differences:
        raise AssertionError("\n".join([f"{len(differences)} paths differ", *differences[:50]]))


def _at(document: Any, path: str) -> Any:
    """The value at a dotted path; a number is an index."""
    value = document
    for part in path.split("."):
        try:
            value = value[int(part)] if isinstance(value, list) else value[part]
        except (KeyError, IndexError, TypeError, ValueError):
            shown = json.dumps(document, indent=2)
            raise AssertionError(f"There is no `{path}` in:\n{shown}") from None
    return value


def _equal(actual: object, expected: object) -> None:
    """Compares as values, and as text where Robot had only text to give."""
    wanted = expected if type(expected) is type(actual) else str(expected)
    if actual != wanted and str(actual) != wanted:
        raise AssertionError(f"{actual!r}, expected {expected!r}")
