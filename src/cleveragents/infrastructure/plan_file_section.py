"""One mapping of a plan file, read key by key: every complaint names its line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NoReturn, TypeVar

from pydantic import JsonValue

from cleveragents.domain.names import NAME, nearest
from cleveragents.domain.plan_file import Location
from cleveragents.domain.template import is_template
from cleveragents.infrastructure.yaml_document import YamlDocument

Choice = TypeVar("Choice", bound=StrEnum)


class Section:
    """A mapping at one place of the document.

    Every method raises PlanFileError, with the line, when the file does not say
    what is asked for.
    """

    def __init__(
        self, document: YamlDocument, location: Location, data: JsonValue, what: str
    ) -> None:
        self._document = document
        self._location = location
        self._what = what
        if not isinstance(data, dict):
            self.fail(f"{what} must be a mapping of keys and values")
        self._data: dict[str, JsonValue] = data

    def fail(self, problem: str, key: str | None = None, *, hint: str | None = None) -> NoReturn:
        place = self._location if key is None else (*self._location, key)
        raise self._document.error(place, problem, hint=hint)

    def allow(self, known: Sequence[str]) -> None:
        """Refuses keys that are not known."""
        for key in self._data:
            if key not in known:
                self.fail(f"{self._what} has no key `{key}`", key, hint=nearest(key, known))

    def need(self, *keys: str) -> None:
        for key in keys:
            if key not in self._data:
                self.fail(f"{self._what} needs `{key}`")

    def __contains__(self, key: str) -> bool:
        return key in self._data

    @property
    def data(self) -> dict[str, JsonValue]:
        return self._data

    def get(self, key: str) -> JsonValue:
        return self._data.get(key)

    def text(self, key: str, default: str = "") -> str:
        value = self._data.get(key, default)
        if not isinstance(value, str):
            self.fail(f"`{key}` must be text", key, hint="Put the value in quotes")
        return value

    def plain_text(self, key: str, default: str = "") -> str:
        """Reads text that is used as it is, so that a placeholder in it would be a mistake."""
        value = self.text(key, default)
        if not value.strip():
            self.fail(f"`{key}` is empty", key)
        if is_template(value):
            self.fail(
                f"`{key}` cannot hold `{{{{ … }}}}`",
                key,
                hint="Placeholders are filled in the `with` of a step and the `run` of a tool",
            )
        return value

    def texts(self, key: str) -> list[str]:
        """Reads a list of texts that are not empty; none when the key is absent."""
        found = self._data.get(key, [])
        texts = [item for item in found if isinstance(item, str)] if isinstance(found, list) else []
        if texts != found or not all(text.strip() for text in texts):
            self.fail(
                f"`{key}` must be a list of texts", key, hint=f"Write it like `{key}: [word]`"
            )
        return texts

    def optional_text(self, key: str) -> str | None:
        return self.text(key) if key in self._data else None

    def named(self, key: str, pattern: re.Pattern[str], example: str) -> str:
        value = self.text(key)
        if pattern.fullmatch(value) is None:
            self.fail(f"`{value}` cannot be a `{key}`", key, hint=f"Write it like `{example}`")
        return value

    def choice(self, key: str, default: Choice) -> Choice:
        value = self.text(key, default.value)
        choices = type(default)
        if value not in list(choices):
            self.fail(f"`{key}` cannot be `{value}`", key, hint=nearest(value, list(choices)))
        return choices(value)

    def flag(self, key: str, *, default: bool) -> bool:
        value = self._data.get(key, default)
        if not isinstance(value, bool):
            self.fail(f"`{key}` must be `true` or `false`", key)
        return value

    def number(self, key: str, default: int, *, least: int, most: int) -> int:
        value = self._data.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int):
            self.fail(f"`{key}` must be a whole number", key)
        if not least <= value <= most:
            self.fail(f"`{key}` must be between {least} and {most}", key)
        return value

    def fraction(self, key: str) -> float | None:
        """Reads a number from 0 to 1, if there is one."""
        value = self._data.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            self.fail(f"`{key}` must be a number from 0 to 1", key)
        return float(value)

    def inside(self, key: str, what: str | None = None) -> Section:
        """Returns the mapping under a key."""
        location = (*self._location, key)
        return Section(self._document, location, self._data[key], what or f"`{key}`")

    def entries(self, key: str, what: str) -> Iterator[tuple[str, Section]]:
        """Yields the named entries under a key, none when the key is absent."""
        if key in self._data:
            section = self.inside(key)
            for name in section._data:
                yield name, section.inside(name, f"{what} `{name}`")

    def items(self, key: str, what: str) -> Iterator[Section]:
        """Yields the mappings listed under a key, which must be there and not be empty."""
        found = self._data.get(key)
        if not isinstance(found, list):
            self.fail(f"`{key}` must be a list", key)
        if not found:
            self.fail(f"`{key}` is empty", key)
        for index, item in enumerate(found):
            location = (*self._location, key, index)
            yield Section(self._document, location, item, f"{what} {index + 1}")


def check_name(section: Section, name: str, what: str, key: str | None = None) -> None:
    """Raises PlanFileError unless people can write the name in a plan file."""
    if NAME.fullmatch(name) is None:
        section.fail(f"`{name}` cannot be the name of {what}", key, hint="Write it like `my-name`")
