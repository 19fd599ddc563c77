"""Reads YAML as plain data, and remembers on which line each value begins.

Stricter than YAML: one document, no repeated keys, no merge keys, only text as keys, and only
the types of JSON. Size and depth are bounded, so that no file can exhaust memory or the stack.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from cleveragents.domain.errors import PlanFileError
from cleveragents.domain.plans.plan_file import Location
from cleveragents.domain.record import JsonValue

MAX_BYTES = 10_000_000
MAX_DEPTH = 64
_MAX_BITS = 64
"""Python refuses to write much larger numbers in decimal, and no tool can use them."""
_VALUE_COST = 100
"""Bytes that one value counts for in addition to its text."""

_MERGE = "tag:yaml.org,2002:merge"
_PLAIN = {f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "null")}
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_UNTYPED: Any = yaml  # its published stubs leave `parse` and `compose` without types


@dataclass(frozen=True)
class YamlDocument:
    """The content of a YAML file, and the line on which each value begins."""

    path: str
    data: JsonValue
    lines: dict[Location, int]

    def line(self, location: Location) -> int:
        """Returns the line of a location in the plan's records, or of the nearest around it."""
        return self.lines[self._written(location)]

    def keys(self, location: Location) -> list[str]:
        """Returns the keys of the mapping at a location."""
        found: Any = self.data
        for part in self._written(location):
            found = found[part]
        return list(found)

    def _written(self, location: Location) -> Location:
        """Returns the location as the file has it, as far as it has it."""
        found: Location = ()
        for part in location:
            # The same subplans may be written as the input of the tool `spawn-subplan`.
            written = "with" if part == "subplans" and (*found, part) not in self.lines else part
            if (*found, written) not in self.lines:
                break
            found = (*found, written)
        return found

    def error(self, location: Location, problem: str, *, hint: str | None = None) -> PlanFileError:
        return PlanFileError(self.path, problem, line=self.line(location), hint=hint)


def read_document(path: Path) -> YamlDocument:
    """Reads one YAML file.

    Raises:
        PlanFileError: the file cannot be read, is not YAML, or exceeds the bounds.
    """
    return parse_document(str(path), _read_text(path))


def parse_document(path: str, text: str) -> YamlDocument:
    """Parses text; messages name `path`.

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
        problem, hint = _unreadable(error)
        raise PlanFileError(str(path), problem, hint=hint) from error
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


def _unreadable(error: OSError) -> tuple[str, str]:
    """Returns what is wrong, and a hint."""
    match error.errno:
        case errno.ENOENT:
            return "the file does not exist", "Give the path of a plan file, as YAML"
        case errno.EISDIR:
            return "this is a directory, not a plan file", "Give the path of a file in it"
        case _:
            return f"the file cannot be read: {error.strerror}", "Check its permissions"


def _check_depth(path: str, text: str) -> None:
    """Refuses deep nesting before composing, which recurses without a bound."""
    depth = 0
    for event in _UNTYPED.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_DEPTH:
            raise PlanFileError(
                path,
                f"the file is nested more than {MAX_DEPTH} levels deep",
                line=event.start_mark.line + 1,
            )


_TABS = "Indent with spaces: YAML does not allow tabs"
_QUOTES = "Close all brackets and quotes, and quote text that contains `: ` or ` #`"


def _syntax_error(path: str, text: str, error: yaml.YAMLError) -> PlanFileError:
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return PlanFileError(path, "the file contains characters that YAML does not allow")
    index = error.problem_mark.line
    problem = error.problem or "this is not valid YAML"
    line = text.splitlines()[index : index + 1]
    indentation = line[0][: len(line[0]) - len(line[0].lstrip())] if line else ""
    hint = _TABS if "\t" in indentation else _QUOTES
    where = f"{error.context}, {problem}" if error.context else problem
    return PlanFileError(path, where, line=index + 1, hint=hint)


class _NodeReader:
    """Turns composed nodes into data; bounds what aliases may expand to."""

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
            raise self._error("the file is too large after its aliases are expanded", line)

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
                raise self._error(f"`{key}` is already set on line {seen[key]}", line)
            seen[key] = line
            yield key, item, line

    def _scalar(self, node: yaml.Node, line: int) -> JsonValue:
        if node.tag not in _PLAIN:
            kind = node.tag.rpartition(":")[2]
            raise self._error(
                f"YAML reads `{node.value}` as a {kind}, which a plan cannot contain",
                line,
                hint="Put it in quotes to make it text",
            )
        text = node.value.encode(errors="ignore").decode()
        if "\0" in text or text != node.value:
            raise self._error("text cannot contain NUL or an unpaired surrogate", line)
        try:
            value = self._constructor.construct_object(node)
        except ValueError as error:
            raise self._error(f"`{node.value[:40]}` is not a valid value", line) from error
        if isinstance(value, int) and value.bit_length() > _MAX_BITS:
            raise self._error(f"`{node.value[:40]}` is too large a number", line)
        return value

    def _error(self, problem: str, line: int, *, hint: str | None = None) -> PlanFileError:
        return PlanFileError(self._path, problem, line=line, hint=hint)
