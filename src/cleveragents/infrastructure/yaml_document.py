"""Reads YAML as plain data that remembers its lines.

Stricter than YAML: one document, no repeated keys, no merge keys, only text keys, only
the types of JSON; and bounded, so that no file can take all memory or the stack.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import JsonValue

from cleveragents.domain.errors import PlanFileError
from cleveragents.domain.plan_file import Location

MAX_BYTES = 10_000_000
MAX_DEPTH = 64
_VALUE_COST = 100

_MERGE = "tag:yaml.org,2002:merge"
_PLAIN = {f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null")}
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_UNTYPED: Any = yaml  # its published stubs leave `parse` and `compose` without types


@dataclass(frozen=True)
class YamlDocument:
    """A YAML file's content, and the line on which each part of it begins."""

    path: str
    data: JsonValue
    lines: dict[Location, int]

    def line(self, location: Location) -> int:
        """Returns the line of the place, or of the nearest place around it."""
        while location not in self.lines:
            location = location[:-1]
        return self.lines[location]

    def error(self, location: Location, problem: str, *, hint: str | None = None) -> PlanFileError:
        return PlanFileError(self.path, problem, line=self.line(location), hint=hint)


def read_document(path: Path) -> YamlDocument:
    """Reads one YAML file.

    Raises:
        PlanFileError: the file cannot be read, is not YAML, or is more than we accept.
    """
    return parse_document(str(path), _read_text(path))


def parse_document(path: str, text: str) -> YamlDocument:
    """Parses text; `path` is only for messages.

    Raises:
        PlanFileError: as `read_document` does.
    """
    try:
        _check_depth(path, text)
        node: yaml.Node | None = _UNTYPED.compose(text, Loader=_LOADER)
    except yaml.YAMLError as error:
        raise _syntax_error(path, text, error) from error
    if node is None:
        raise PlanFileError(path, "the file is empty", hint="A plan needs `name` and `steps`")
    reader = _NodeReader(path)
    data = reader.value(node, (), node.start_mark.line + 1)
    return YamlDocument(path, data, reader.lines)


def _read_text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise PlanFileError(str(path), _unreadable(error)) from error
    if len(raw) > MAX_BYTES:
        raise PlanFileError(
            str(path),
            f"the file is larger than {MAX_BYTES:,} bytes",
            hint="Keep large contents in the project and copy them with a `shell` step",
        )
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise PlanFileError(
            str(path), "the file is not UTF-8 text", line=line, hint="Save it as UTF-8"
        ) from error


def _unreadable(error: OSError) -> str:
    match error.errno:
        case errno.ENOENT:
            return "there is no such file"
        case errno.EISDIR:
            return "is a directory, not a plan file"
        case _:
            return f"the file cannot be read: {error.strerror}"


def _check_depth(path: str, text: str) -> None:
    """Stops before composing, which recurses without a bound of its own."""
    depth = 0
    for event in _UNTYPED.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH:
            raise PlanFileError(
                path, f"nested more than {MAX_DEPTH} deep", line=event.start_mark.line + 1
            )


def _syntax_error(path: str, text: str, error: yaml.YAMLError) -> PlanFileError:
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return PlanFileError(path, "the file holds characters that YAML does not allow")
    index = error.problem_mark.line
    problem = error.problem or "this is not valid YAML"
    line = text.splitlines()[index : index + 1]
    indentation = line[0][: len(line[0]) - len(line[0].lstrip())] if line else ""
    hint = "Indent with spaces: YAML does not allow tabs" if "\t" in indentation else None
    where = f"{error.context}, {problem}" if error.context else problem
    return PlanFileError(path, where, line=index + 1, hint=hint)


class _NodeReader:
    """Turns composed nodes into data, expanding aliases within a bound."""

    def __init__(self, path: str) -> None:
        self.lines: dict[Location, int] = {}
        self._path = path
        self._budget = 2 * MAX_BYTES
        self._constructor: Any = yaml.constructor.SafeConstructor()

    def value(self, node: yaml.Node, location: Location, line: int) -> JsonValue:
        self._spend(node, location, line)
        self.lines[location] = line
        if isinstance(node, yaml.SequenceNode):
            return [
                self.value(item, (*location, index), item.start_mark.line + 1)
                for index, item in enumerate(node.value)
            ]
        if isinstance(node, yaml.MappingNode):
            return {
                key: self.value(item, (*location, key), at) for key, item, at in self._items(node)
            }
        return self._scalar(node, line)

    def _spend(self, node: yaml.Node, location: Location, line: int) -> None:
        text = len(node.value) if isinstance(node, yaml.ScalarNode) else 0
        self._budget -= _VALUE_COST + text
        if self._budget < 0 or len(location) > MAX_DEPTH:
            raise self._error("with its aliases the file holds more than a plan may", line)

    def _items(self, node: yaml.MappingNode) -> Iterator[tuple[str, yaml.Node, int]]:
        seen: dict[str, int] = {}
        for key_node, item in node.value:
            line = key_node.start_mark.line + 1
            if key_node.tag == _MERGE:
                raise self._error("merge keys (`<<`) are not supported", line)
            key = self._scalar(key_node, line) if isinstance(key_node, yaml.ScalarNode) else None
            if not isinstance(key, str):
                raise self._error("a key must be text", line, hint="Put it in quotes")
            if key in seen:
                raise self._error(f"`{key}` is given twice, first on line {seen[key]}", line)
            seen[key] = line
            yield key, item, line

    def _scalar(self, node: yaml.Node, line: int) -> JsonValue:
        if node.tag not in _PLAIN:
            kind = node.tag.rpartition(":")[2]
            raise self._error(
                f"`{node.value}` is read as a {kind}, which a plan cannot hold",
                line,
                hint="Put it in quotes to make it text",
            )
        text = node.value.encode(errors="ignore").decode()
        if "\0" in text or text != node.value:
            raise self._error("text may not hold NUL or half a surrogate pair", line)
        try:
            return self._constructor.construct_object(node)
        except ValueError as error:
            raise self._error(f"`{node.value[:40]}` is not a valid value", line) from error

    def _error(self, problem: str, line: int, *, hint: str | None = None) -> PlanFileError:
        return PlanFileError(self._path, problem, line=line, hint=hint)
