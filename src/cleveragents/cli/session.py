"""One call of `agents`: its options, settings and services, and how it talks to the user."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from cleveragents.cli import terminal
from cleveragents.domain.errors import (
    ConfigurationError,
    ConfirmationRequiredError,
    InterruptedByUserError,
    UsageError,
)
from cleveragents.domain.settings.formats import OutputFormat
from cleveragents.infrastructure.home import home_directory

if TYPE_CHECKING:
    from cleveragents.container import Container
    from cleveragents.domain.plans.plan import Plan
    from cleveragents.domain.settings.registry import Settings

COLORS = ("auto", "always", "never")
PROGRESS = ("auto", "json", "none")


class Session:
    """What a command knows about its call, and how it talks to the user."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.environ = environ
        self.command = "agents"
        """The command as typed, without `agents`: `plan rollback`."""
        self.asked_format: OutputFormat | None = None
        self.asked_color = "auto"
        self.no_input = False
        self.progress = "auto"
        """How progress is shown on stderr: `auto` for people, `json` lines, or `none`."""
        self.verbose = False
        """Whether to show what tools print while they run."""
        self.every_row = False
        """Whether long tables are shown whole."""
        self.newest: Plan | None = None
        """The plan that a short form has looked up because its user named none."""
        self.warnings: list[str] = []
        """Added to the warnings of the command's report."""
        self.started = datetime.now(UTC)
        self._started_at = time.monotonic()
        self._format: OutputFormat | None = None
        self._format_was_chosen = False
        self._settings: dict[Path | None, Settings] = {}
        self._container: Container | None = None
        self._shows_work = False
        self._open = ExitStack()

    @property
    def home(self) -> Path:
        return home_directory(self.environ)

    @property
    def directory(self) -> Path:
        """The current directory. Raises `UsageError` if it was removed."""
        try:
            return Path.cwd()
        except FileNotFoundError as error:
            raise UsageError(
                "The current directory no longer exists", hint="Change to one that does"
            ) from error

    def nearby(self) -> list[str]:
        """Returns the project of the current directory.

        Outside of a repository, that may be any of the directories above; the nearest comes first.
        """
        from cleveragents.infrastructure.config import find_project

        found = find_project(self.directory, self.home)
        above = () if os.path.lexists(found / ".git") else found.parents
        return [str(found), *map(str, above)]

    @property
    def duration_ms(self) -> int:
        """Milliseconds since the call started, by a monotonic clock."""
        return round((time.monotonic() - self._started_at) * 1000)

    @property
    def format(self) -> OutputFormat:
        """The output format: the settled one, or a guess until then."""
        return self._format or self.asked_format or self._default_format

    @property
    def interactive(self) -> bool:
        """Whether the user can be asked a question."""
        return not self.no_input and terminal.is_terminal(sys.stdin, sys.stderr)

    def settle_format(self, *, tolerant: bool) -> None:
        """Decides the output format of this call from its flag, the environment and files.

        Raises:
            ConfigurationError: a setting is invalid, unless `tolerant`.
        """
        self._format = self.asked_format
        self._format_was_chosen = self._format is not None
        if self._format is not None:
            return
        from cleveragents.domain.settings.registry import FORMAT

        try:
            self._format = self.settings(None)[FORMAT]
        except ConfigurationError:
            if not tolerant:
                raise
        self._format_was_chosen = self._format is not None
        self._format = self._format or self._default_format

    def prefer_headings(self) -> None:
        """Uses `table` where `plain` is only the default, because `plain` has no headings."""
        if not self._format_was_chosen and self._format is OutputFormat.PLAIN:
            self._format = OutputFormat.TABLE

    def settings(self, project: Path | None) -> Settings:
        """Returns the settings of a project, or those outside of any project.

        They are read once per call, so that a command sees one configuration.

        Raises:
            ConfigurationError: a level has an unknown key or an invalid value.
        """
        if project not in self._settings:
            from cleveragents.infrastructure.config import load_settings

            settings = load_settings(
                home=self.home, project=project, environ=self.environ, flags=self._flags
            )
            self._settings[project] = settings
            self.warnings += [text for text in settings.warnings if text not in self.warnings]
        return self._settings[project]

    def container(self, project: Path | None) -> Container:
        """Returns services with a project's settings; they are closed when the command ends.

        All of them use one connection to the database.

        Raises:
            ConfigurationError: as `settings` does.
        """
        settings = self.settings(project)
        if self._container is None:
            self._container = self._new_container(settings)
            return self._container
        return self._container.with_settings(settings)

    def default_container(self) -> Container:
        """Builds services with default settings, for use when the configuration is invalid."""
        from cleveragents.domain.settings.registry import resolve_settings

        return self._new_container(resolve_settings([]))

    def _new_container(self, settings: Settings) -> Container:
        from cleveragents.application.events import ProgressAdvanced, Stage
        from cleveragents.cli.progress import events_for
        from cleveragents.container import Container
        from cleveragents.infrastructure.system import progress_shown, waits_shown

        events = events_for(self)
        if not self._shows_work:
            self._shows_work = True
            self._open.enter_context(waits_shown(lambda text: events.emit(Stage(text))))
            self._open.enter_context(
                progress_shown(
                    lambda name, done, total: events.emit(ProgressAdvanced(name, done, total))
                )
            )
        container = Container(
            home=self.home,
            settings=settings,
            environment=self.environ,
            events=events,
        )
        self._open.callback(events.close)
        self._open.callback(container.close)
        return container

    def close(self) -> None:
        """Closes the services that the command opened."""
        self._open.close()

    def confirm(self, question: str) -> bool:
        """Asks on stderr; anything but `y` or `yes`, including end of input, means no.

        Raises:
            ConfirmationRequiredError: there is no terminal, or `--no-input` was given.
            InterruptedByUserError: the user pressed Ctrl-C.
        """
        if not self.interactive:
            import click

            command = click.get_current_context().command
            has_preview = any(param.name == "dry_run" for param in command.params)
            raise ConfirmationRequiredError(f'"{question}"', has_preview=has_preview)
        try:
            terminal.write(sys.stderr, f"{terminal.for_stderr(question, self.environ)} [y/N] ")
            return sys.stdin.readline().strip().lower() in ("y", "yes")
        except KeyboardInterrupt:
            terminal.write(sys.stderr, "\n")
            raise InterruptedByUserError("Interrupted; nothing was changed") from None

    @property
    def shows_status(self) -> bool:
        """Whether to print status lines: not if a program reads stderr, or they are off."""
        for_people = not self.format.is_document or terminal.is_terminal(sys.stderr)
        return for_people and self.progress == "auto"

    def say(self, text: str) -> None:
        """Prints a status line if the user wants any."""
        if self.shows_status:
            terminal.write(sys.stderr, f"{terminal.for_stderr(text, self.environ)}\n")

    @property
    def _flags(self) -> Mapping[str, str]:
        return {} if self.asked_format is None else {"core.format": self.asked_format.value}

    @property
    def _default_format(self) -> OutputFormat:
        """The best guess while the settings are not read, or invalid."""
        fallback = OutputFormat.RICH if terminal.is_terminal(sys.stdout) else OutputFormat.PLAIN
        return _known_format(self.environ.get("CLEVERAGENTS_FORMAT", "")) or fallback


def guess_format(arguments: Sequence[str]) -> OutputFormat | None:
    """Finds the requested format without parsing, for use when parsing fails."""
    asked = ""
    for argument, following in zip(arguments, [*arguments, ""][1:], strict=True):
        if argument == "--":
            break
        if argument in ("-f", "--format"):
            asked = following
        elif argument.startswith("--format="):
            asked = argument.removeprefix("--format=")
        elif argument.startswith("-f"):
            asked = argument.removeprefix("-f")
    return _known_format(asked)


def _known_format(text: str) -> OutputFormat | None:
    return next((known for known in OutputFormat if known == text), None)
