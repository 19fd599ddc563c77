"""One call of `agents`: what was asked for, the terminal, the settings, the container."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from cleveragents.cli import terminal
from cleveragents.domain.errors import ConfigurationError, ConfirmationRequiredError, UsageError
from cleveragents.domain.settings.formats import OutputFormat
from cleveragents.infrastructure.home import home_directory

if TYPE_CHECKING:
    from cleveragents.container import Container
    from cleveragents.domain.settings.registry import Settings

COLORS = ("auto", "always", "never")
PROGRESS = ("auto", "json", "none")


class Session:
    """What commands may know about the call they serve, and how they talk to the user."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.environ = environ
        self.command = "agents"
        """The command as typed, without `agents`: `plan rollback`."""
        self.asked_format: OutputFormat | None = None
        self.asked_color = "auto"
        self.no_input = False
        self.progress = "auto"
        """How stderr tells what happens: lines for people, JSON lines, or nothing."""
        self.warnings: list[str] = []
        """Sentences that are added to the warnings of the command's report."""
        self.started = datetime.now(UTC)
        self._started_at = time.monotonic()
        self._format: OutputFormat | None = None
        self._format_was_chosen = False
        self._settings: dict[Path | None, Settings] = {}
        self._open = ExitStack()

    @property
    def home(self) -> Path:
        return home_directory(self.environ)

    @property
    def directory(self) -> Path:
        """The directory the user is in. Raises `UsageError` if it has been removed."""
        try:
            return Path.cwd()
        except FileNotFoundError as error:
            raise UsageError(
                "The current directory no longer exists", hint="Change to one that does"
            ) from error

    @property
    def duration_ms(self) -> int:
        """Milliseconds since the call began, by a clock that never goes back."""
        return round((time.monotonic() - self._started_at) * 1000)

    @property
    def format(self) -> OutputFormat:
        """The format in force: the settled one, or before that what is known so far."""
        return self._format or self.asked_format or self._default_format

    @property
    def interactive(self) -> bool:
        """Whether a question can be asked and answered."""
        return not self.no_input and terminal.is_terminal(sys.stdin, sys.stderr)

    def settle_format(self, *, tolerant: bool) -> None:
        """Decides the format for the rest of the call from flag, environment and files.

        Raises:
            ConfigurationError: a setting is refused, unless `tolerant`.
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
        """Shows a story as a story: where nobody chose a format, `plain` would drop its titles."""
        if not self._format_was_chosen and self._format is OutputFormat.PLAIN:
            self._format = OutputFormat.TABLE

    def settings(self, project: Path | None) -> Settings:
        """Returns the settings in force in a project, or outside of any.

        Read once in a call, so that one command sees one configuration.

        Raises:
            ConfigurationError: a level names an unknown key or holds a bad value.
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
        """Builds services with a project's settings; they are closed when the command ends.

        Raises:
            ConfigurationError: as `settings` does.
        """
        return self._container(self.settings(project))

    def default_container(self) -> Container:
        """Builds the services as if nothing were configured, for when the settings are refused."""
        from cleveragents.domain.settings.registry import resolve

        return self._container(resolve([]))

    def _container(self, settings: Settings) -> Container:
        from cleveragents.cli.progress import events_for
        from cleveragents.container import Container

        container = Container(
            home=self.home,
            settings=settings,
            environment=self.environ,
            events=events_for(self),
        )
        self._open.callback(container.close)
        return container

    def close(self) -> None:
        """Lets go of what the command opened."""
        self._open.close()

    def confirm(self, question: str) -> bool:
        """Asks on stderr; anything but a clear yes, the end of input too, is a no.

        Raises:
            ConfirmationRequiredError: there is no terminal, or `--no-input` was given.
        """
        if not self.interactive:
            raise ConfirmationRequiredError(f'"{question}"')
        terminal.write(sys.stderr, f"{terminal.visible_lines(question)} [y/N] ")
        return sys.stdin.readline().strip().lower() in ("y", "yes")

    def say(self, text: str) -> None:
        """Shows a status line, unless a program reads our streams or nobody wants any."""
        for_people = not self.format.is_document or terminal.is_terminal(sys.stderr)
        if for_people and self.progress == "auto":
            terminal.write(sys.stderr, f"{terminal.visible_lines(text)}\n")

    @property
    def _flags(self) -> Mapping[str, str]:
        return {} if self.asked_format is None else {"core.format": self.asked_format.value}

    @property
    def _default_format(self) -> OutputFormat:
        """The best guess while the settings are unread or refused."""
        fallback = OutputFormat.RICH if terminal.is_terminal(sys.stdout) else OutputFormat.PLAIN
        return _known_format(self.environ.get("CLEVERAGENTS_FORMAT", "")) or fallback


def guess_format(arguments: Sequence[str]) -> OutputFormat | None:
    """Finds the format asked for without parsing, for when parsing itself fails."""
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
