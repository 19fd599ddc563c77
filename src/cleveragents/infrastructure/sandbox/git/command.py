"""The only place git is started.

Repository content is data, never code: whatever hooks, filters, fsmonitor,
pagers, signing or credential helpers the repository or the user configured,
none of it runs because of us. `docs/internals/threat-model.md` lists the ways
and what closes each.

A project's mirror is `<key>.git`, the repository that the git of a sandbox uses, so an agent
can write to all of it: configuration, attributes, hooks. Our own git therefore takes objects
and refs from there, and everything that could steer it from `<key>.private`, which holds
links to those and no configuration but ours.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess  # nosec B404 # git is started with a fixed argument list, never through a shell
from collections.abc import Container, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

from cleveragents.domain.errors import (
    ConfigurationError,
    GitCommandError,
    NoSpaceError,
    SnapshotError,
)
from cleveragents.domain.sandboxes.sandbox import SandboxRef
from cleveragents.infrastructure.files import FULL_DISK

MINIMUM_VERSION = (2, 38)
_INSTALL = f"Install git {'.'.join(map(str, MINIMUM_VERSION))} or later"
# Inside a sandbox git would speak of that directory only; a deleted one it cannot start in.
_NOWHERE = "/"
_IDENTITY = "CleverAgents"
_PIECE = 1 << 20
_SAYS_FULL = (*map(os.strerror, FULL_DISK), "Out of diskspace")
_NEARLY_NOTHING = 64 << 10
_EMAIL = "checkpoints@cleveragents.invalid"

_HARMLESS = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.untrackedCache": "false",
    "core.attributesFile": "/dev/null",
    "core.excludesFile": "/dev/null",
    "core.fsync": "all",
    # Larger files are read piece by piece.
    "core.bigFileThreshold": "16m",
    "core.quotePath": "false",
    "core.pager": "cat",
    "core.askPass": "",
    "credential.helper": "",
    "commit.gpgSign": "false",
    "tag.gpgSign": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "protocol.allow": "never",
    "submodule.recurse": "false",
    "diff.external": "",
    "log.showSignature": "false",
    "safe.directory": "*",
}
PRIVATE = ".private"
"""The suffix of the directory that steers our own git, beside a mirror's `.git`."""
SHARED = ("objects", "packed-refs", "refs", "shallow", "worktrees")
"""What `<key>.private` links to in `<key>.git`."""
_KEPT_VARIABLES = ("PATH", "TMPDIR", "LD_LIBRARY_PATH", "SYSTEMROOT")
_USER_CONFIGURATION = (
    "HOME",
    "XDG_CONFIG_HOME",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
)


_ISOLATING = {
    "LC_ALL": "C",
    "HOME": "/nonexistent",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_AUTHOR_NAME": _IDENTITY,
    "GIT_AUTHOR_EMAIL": _EMAIL,
    "GIT_COMMITTER_NAME": _IDENTITY,
    "GIT_COMMITTER_EMAIL": _EMAIL,
}


@dataclass(frozen=True)
class GitProcess:
    """A git that was started and answers questions as they are asked."""

    process: subprocess.Popen[bytes]
    stdin: IO[bytes]
    stdout: IO[bytes]

    def end(self) -> None:
        """Ends it: git stops when nothing more can be asked."""
        for stream in (self.stdin, self.stdout):
            with suppress(BrokenPipeError):
                stream.close()
        self.process.wait()


@dataclass(frozen=True)
class Git:
    """git on one repository, isolated from every configuration but the repository's own.

    What remains of the repository's own configuration is overridden key by key
    (`_HARMLESS`). Filters have free names, so nothing that would run them is
    ever called on a repository whose configuration is not ours.
    """

    environment: Mapping[str, str]
    directory: Path
    """The git directory, always given explicitly: discovery could find another."""
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    patience: float = 600.0
    """Seconds until a command counts as hanging."""

    def at(self, directory: Path) -> Git:
        """Returns git on another repository."""
        return replace(self, directory=directory, variables={})

    def with_variables(self, **variables: str) -> Git:
        return replace(self, variables={**self.variables, **variables})

    def run(self, *arguments: str, stdin: bytes | None = None, ok: Sequence[int] = (0,)) -> bytes:
        """Returns what git printed.

        Raises:
            GitCommandError: git ended with a status not in `ok`, or did not end.
            NoSpaceError: git says that the disk is full.
            ConfigurationError: git cannot be started.
        """
        return self.complete(*arguments, stdin=stdin, ok=ok).stdout

    def complete(
        self,
        *arguments: str,
        stdin: bytes | None = None,
        ok: Container[int] | None = None,
        as_user: bool = False,
    ) -> subprocess.CompletedProcess[bytes]:
        """Returns how git ended and what it printed, also on its standard error.

        Args:
            arguments: What git is to do.
            stdin: What it reads.
            ok: The statuses that it may end with; None for any.
            as_user: Whether it sees the user's configuration; only to read that.

        Raises:
            GitCommandError: git ended with a status not in `ok`, or did not end.
            NoSpaceError: git says that the disk is full.
            ConfigurationError: git cannot be started.
        """
        command, variables = self._call(arguments)
        if as_user:
            command = ["git", f"--git-dir={self.directory}", *arguments]
            known = self.environment
            variables = {
                name: value for name, value in variables.items() if name not in _USER_CONFIGURATION
            } | {name: known[name] for name in _USER_CONFIGURATION if name in known}
        try:
            done = subprocess.run(  # nosec B603
                command,
                env=variables,
                cwd=_NOWHERE,
                input=stdin or b"",
                capture_output=True,
                check=False,
                timeout=self.patience,
                start_new_session=True,
            )
        except OSError as error:
            raise _not_started(error) from error
        except subprocess.TimeoutExpired as late:
            raise GitCommandError(
                "git", -1, f"it was still running after {self.patience:g} seconds"
            ) from late
        if ok is not None and done.returncode not in ok:
            raise self._failed(arguments[0], done.returncode, done.stderr)
        return done

    def beginning(self, limit: int, *arguments: str) -> bytes:
        """Returns at most `limit` bytes of what git prints, and stops git there; else like `run`.

        However much git has to say, no more than that is ever in memory.
        """
        started = self.start(*arguments, stderr=subprocess.PIPE)
        with started.process as process:
            begun = started.stdout.read(limit)
            if len(begun) == limit:
                return begun
            said = process.stderr.read() if process.stderr else b""
        if process.returncode != 0:
            raise self._failed(arguments[0], process.returncode, said)
        return begun

    def succeeds(self, *arguments: str) -> bool:
        """Returns whether git ended with status 0: for questions, not for acts."""
        return self.complete(*arguments).returncode == 0

    def require_version(self) -> str:
        """Returns git's version, such as `2.43.0`.

        Raises:
            ConfigurationError: git is missing, or too old for what is asked of it.
        """
        said = os.fsdecode(self.complete("version").stdout).strip()
        numbers = re.search(r"(\d+)\.(\d+)", said)
        if numbers is None or tuple(map(int, numbers.groups())) < MINIMUM_VERSION:
            raise ConfigurationError(f"{said or 'this git'} is too old", hint=_INSTALL)
        return said.removeprefix("git version ")

    def settings(self, *, of_user: bool = False) -> dict[str, str]:
        """Returns the repository's own settings, by their names in lower case.

        With `of_user`, these are all settings that the user's own git would see; reading them
        runs nothing.
        """
        arguments = ("config", "--includes", "-z", "--list")
        done = self.complete(*arguments, ok=None if of_user else (0,), as_user=of_user)
        entries = (line.partition("\n") for line in os.fsdecode(done.stdout).split("\0") if line)
        return {key: value if is_given else "true" for key, is_given, value in entries}

    def feed(
        self, arguments: Sequence[str], stdin: bytes, other: Git, taking: Sequence[str]
    ) -> None:
        """Gives what git prints to another git as it comes, however much that is.

        Raises:
            GitCommandError: one of the two failed.
            ConfigurationError: git cannot be started.
        """
        giver, taker = self.start(*arguments), other.start(*taking, stderr=subprocess.PIPE)
        said = b""
        try:
            with suppress(BrokenPipeError):  # Its status tells.
                giver.stdin.write(stdin)
                giver.stdin.close()
                shutil.copyfileobj(giver.stdout, taker.stdin, _PIECE)
                taker.stdin.close()
            if taker.process.stderr:
                said = taker.process.stderr.read()
        finally:
            giver.end()
            taker.end()
        for at, ended, command in ((other, taker, taking[0]), (self, giver, arguments[0])):
            if ended.process.returncode != 0:
                raise at._failed(command, ended.process.returncode, said)

    @contextmanager
    def session(self, *arguments: str) -> Generator[tuple[IO[bytes], IO[bytes]]]:
        """Runs a git that answers questions as they are asked: (its stdin, its stdout)."""
        process = self.start(*arguments)
        try:
            yield process.stdin, process.stdout
        finally:
            process.end()

    def start(self, *arguments: str, stderr: int = subprocess.DEVNULL) -> GitProcess:
        """Starts a git that stays until its `end`."""
        command, variables = self._call(arguments)
        try:
            process = subprocess.Popen(  # nosec B603
                command,
                env=variables,
                cwd=_NOWHERE,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                start_new_session=True,
            )
        except OSError as error:
            raise _not_started(error) from error
        if process.stdin is None or process.stdout is None:  # pragma: no cover # PIPE was asked for
            raise GitCommandError("git", -1, "no pipes")
        return GitProcess(process, process.stdin, process.stdout)

    def _failed(self, command: str, status: int, stderr: bytes) -> SnapshotError:
        """Returns the error for a git that failed; it does not always say that the disk is full."""
        said = stderr.decode(errors="replace")
        is_full = any(sign in said for sign in _SAYS_FULL)
        with suppress(OSError):
            disk = os.statvfs(self.directory)
            is_full |= disk.f_bavail * disk.f_frsize < _NEARLY_NOTHING
            is_full |= disk.f_favail == 0 < disk.f_files
        failure = GitCommandError(f"git {command}", status, said)
        if not is_full or status < 0:
            return failure
        return NoSpaceError(
            f"There is no space left on the disk: {failure.message}",
            hint="Free some space and try again",
        )

    def _call(self, arguments: Sequence[str]) -> tuple[list[str], dict[str, str]]:
        """Returns the command, and all that git may know.

        Nothing in it comes from the caller's `GIT_*` or home, which could steer git.
        """
        options = [part for key in _HARMLESS for part in ("-c", f"{key}={_HARMLESS[key]}")]
        command = ["git", f"--git-dir={self.directory}", "--no-pager", *options, *arguments]
        known = self.environment
        kept = {name: known[name] for name in _KEPT_VARIABLES if name in known}
        return command, {**kept, **_ISOLATING, **self.variables}


def admin_directory(sandbox: SandboxRef) -> Path:
    """Where git keeps HEAD and index of the sandbox; the sandbox's `.git` points there."""
    return Path(sandbox.store) / "worktrees" / f"{sandbox.plan_id}-{sandbox.resource}"


def git_on_mirror(git: Git, mirror: Path, **variables: str) -> Git:
    return replace(git, directory=mirror.with_suffix(PRIVATE), variables=variables)


def git_on_sandbox(git: Git, sandbox: SandboxRef) -> Git:
    common = str(Path(sandbox.store).with_suffix(PRIVATE))
    variables = {"GIT_COMMON_DIR": common, "GIT_WORK_TREE": sandbox.path}
    return replace(git, directory=admin_directory(sandbox), variables=variables)


def is_on(setting: str | None) -> bool:
    """Returns whether git would take the value of a setting for true."""
    word = (setting or "").lower()
    return word in ("true", "yes", "on") or bool(re.fullmatch(r"[+-]?0*[1-9]\d*", word))


def _not_started(error: OSError) -> ConfigurationError:
    return ConfigurationError(
        f"git cannot be started: {error.strerror}: is it installed, and on the PATH?",
        hint=_INSTALL,
    )
