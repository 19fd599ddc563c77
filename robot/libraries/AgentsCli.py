"""Drives the installed `agents` as a person does: a directory, a command, a look at the result.

Each test gets a temporary place of its own with a home directory for the program, a home
directory for the person, and a scratch git repository. The place is removed when the test
passed and left for inspection when it failed.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from robot.api import logger
from robot.api.deco import keyword, library

Fingerprint = dict[str, str]

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
            [self.command, *arguments],
            cwd=place / "repository",
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=110,
            check=False,
        )
        self.exit_code, self.stdout, self.stderr = done.returncode, done.stdout, done.stderr
        logger.info(
            f"{line}\nexit {self.exit_code}\n--- stdout\n{self.stdout}\n--- stderr\n{self.stderr}"
        )

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
        mark = f"touch {shlex.quote(str(self.place / 'executed'))}"
        (self.repository / ".gitattributes").write_text("* filter=evil diff=evil merge=evil\n")
        self._commit("Attributes")
        program = self.place / "evil.sh"
        program.write_text(f"#!/bin/sh\n{mark}\nexit 1\n")
        program.chmod(0o755)
        hooks = self.repository / ".git" / "hooks"
        hooks.mkdir(exist_ok=True)
        for name in HOOKS:
            shutil.copy(program, hooks / name)
        for key in PROGRAM_KEYS:
            self.git("config", key, str(program))
        for key in ("commit.gpgsign", "tag.gpgsign", "filter.evil.required"):
            self.git("config", key, "true")
        self._repository_at_start = fingerprint(self.repository)

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
