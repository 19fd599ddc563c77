"""The only place git is started.

Repository content is data, never code: whatever hooks, filters, fsmonitor,
pagers, signing or credential helpers the repository or the user configured,
none of it runs because of us. `docs/internals/threat-model.md` lists the ways
and what closes each.
"""

from __future__ import annotations

import os
import subprocess  # nosec B404 # git is started with a fixed argument list, never through a shell
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO

from cleveragents.domain.errors import ConfigurationError, GitCommandError

MINIMUM_VERSION = (2, 38)
_IDENTITY = "CleverAgents"
_EMAIL = "checkpoints@cleveragents.invalid"

_HARMLESS = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.untrackedCache": "false",
    "core.attributesFile": "/dev/null",
    "core.excludesFile": "/dev/null",
    "core.fsync": "all",
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
_KEPT_VARIABLES = ("PATH", "TMPDIR", "LD_LIBRARY_PATH", "SYSTEMROOT")
_USER_CONFIGURATION = (
    "HOME",
    "XDG_CONFIG_HOME",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
)


def _isolated(environment: Mapping[str, str]) -> dict[str, str]:
    """Returns what git may know: nothing the caller's `GIT_*` or home could steer."""
    kept = {name: environment[name] for name in _KEPT_VARIABLES if name in environment}
    return kept | {
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
class Git:
    """git on one repository, isolated from every configuration but the repository's own.

    What remains of the repository's own configuration is overridden key by key
    (`_HARMLESS`); filters have free names, so commands that would run them take
    `without_filters()`.
    """

    environment: Mapping[str, str]
    directory: Path
    """The git directory, always given explicitly: discovery could find another."""
    overrides: Mapping[str, str] = field(default_factory=dict[str, str])
    variables: Mapping[str, str] = field(default_factory=dict[str, str])

    def at(self, directory: Path) -> Git:
        """Returns git on another repository."""
        return replace(self, directory=directory, overrides={}, variables={})

    def with_variables(self, **variables: str) -> Git:
        return replace(self, variables={**self.variables, **variables})

    def without_filters(self) -> Git:
        """Returns the same git with every configured clean and smudge program switched off."""
        listing = self.run("config", "--list", "--name-only", "-z", ok=(0, 1))
        names = {
            key[len("filter.") : key.rindex(".")]
            for key in os.fsdecode(listing).split("\0")
            if key.startswith("filter.") and key.count(".") > 1
        }
        off = {"clean": "", "smudge": "", "process": "", "required": "false"}
        overrides = {f"filter.{name}.{key}": off[key] for name in sorted(names) for key in off}
        return replace(self, overrides={**self.overrides, **overrides})

    def run(
        self,
        *arguments: str,
        stdin: bytes | None = None,
        ok: Sequence[int] = (0,),
        timeout: float | None = None,
    ) -> bytes:
        """Returns what git printed.

        Raises:
            GitCommandError: git ended with a status not in `ok`.
        """
        done = self._start(arguments, stdin, timeout)
        if done.returncode not in ok:
            raise GitCommandError(
                f"git {arguments[0]}", done.returncode, done.stderr.decode(errors="replace")
            )
        return done.stdout

    def succeeds(self, *arguments: str) -> bool:
        """Returns whether git ended with status 0: for questions, not for acts."""
        return self._start(arguments, None, None).returncode == 0

    def user_setting(self, key: str) -> str | None:
        """Returns a setting as the user's own git would see it; reading runs nothing."""
        visible = {
            name: self.environment[name] for name in _USER_CONFIGURATION if name in self.environment
        }
        isolated = {
            name: value
            for name, value in _isolated(self.environment).items()
            if name not in _USER_CONFIGURATION
        }
        done = subprocess.run(  # nosec B603
            ["git", f"--git-dir={self.directory}", "config", "--includes", "-z", "--get", key],
            env={**isolated, **visible},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
        return os.fsdecode(done.stdout).rstrip("\0") if done.returncode == 0 else None

    @contextmanager
    def session(self, *arguments: str) -> Generator[tuple[IO[bytes], IO[bytes]]]:
        """Runs a git that answers questions as they are asked: (its stdin, its stdout)."""
        process = subprocess.Popen(  # nosec B603
            self._command(arguments),
            env=self._variables(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        if process.stdin is None or process.stdout is None:  # pragma: no cover # PIPE was asked for
            raise GitCommandError(f"git {arguments[0]}", -1, "no pipes")
        try:
            yield process.stdin, process.stdout
        finally:
            process.stdin.close()
            process.stdout.close()
            process.wait()

    def _start(
        self, arguments: Sequence[str], stdin: bytes | None, timeout: float | None
    ) -> subprocess.CompletedProcess[bytes]:
        try:
            return subprocess.run(  # nosec B603
                self._command(arguments),
                env=self._variables(),
                input=stdin if stdin is not None else b"",
                capture_output=True,
                check=False,
                timeout=timeout,
                start_new_session=True,
            )
        except FileNotFoundError as missing:
            raise ConfigurationError(
                "git is not installed, or not on the PATH",
                hint=f"Install git {'.'.join(map(str, MINIMUM_VERSION))} or later",
            ) from missing

    def _command(self, arguments: Sequence[str]) -> list[str]:
        settings = {**_HARMLESS, **self.overrides}
        options = [part for key in settings for part in ("-c", f"{key}={settings[key]}")]
        return ["git", f"--git-dir={self.directory}", "--no-pager", *options, *arguments]

    def _variables(self) -> dict[str, str]:
        return {**_isolated(self.environment), **self.variables}
