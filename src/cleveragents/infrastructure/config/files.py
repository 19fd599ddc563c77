"""Reads and changes one configuration file."""

from __future__ import annotations

import fcntl
import os
import re
import stat
import tomllib
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from cleveragents.domain.errors import ConfigurationError
from cleveragents.domain.settings.registry import Key, Level, SettingEntry, find_key, plain_value
from cleveragents.domain.wording import size
from cleveragents.infrastructure.file_locks import wait_for_lock
from cleveragents.infrastructure.home import create_private_directory

MAX_BYTES = 1024 * 1024


def read_global_file(path: Path) -> list[SettingEntry]:
    """Returns the values of the user's file, which may be a symbolic link, as dotfiles often are.

    Raises:
        ConfigurationError: the file cannot be read or is not TOML.
    """
    return _entries(Level.GLOBAL, path, _read(path, os.O_RDONLY))


def read_project_file(path: Path) -> list[SettingEntry]:
    """Returns the values of a project's file.

    A project may come from anywhere, so a symbolic link could read any file of the user.

    Raises:
        ConfigurationError: the file is a link, is not regular, cannot be read or is not TOML.
    """
    refuse_link(path)
    return _entries(Level.PROJECT, path, _read(path, os.O_RDONLY | os.O_NOFOLLOW))


def refuse_link(path: Path) -> None:
    """Raises `ConfigurationError` if the file or its directory is a symbolic link."""
    for part in (path.parent, path):
        if os.path.islink(part):
            raise ConfigurationError(
                f"{part} is a symbolic link, which is not allowed for a project's configuration",
                hint="Replace it with a regular file",
                source=str(path),
            )


def write_value(path: Path, level: Level, key: Key[Any], value: object) -> object:
    """Sets a key, keeping comments and order, and returns the old value or `None`.

    After a failure the file is unchanged.

    Raises:
        ConfigurationError: the file cannot be read, or cannot be written.
    """
    _make_directory(path, level)
    *parents, last = key.name.split(".")
    with _changing(path, level, key) as (document, entries):
        for entry in entries:
            if entry.name != key.name or not _has(document, entry.name):
                _remove(document, entry.name)
        table: Any = document
        for name in parents:
            inner: Any = table.setdefault(name, {})
            if not isinstance(inner, dict):
                raise _problem(path, f"has a value where a table is expected: `{name}`")
            table = cast("Any", inner)
        table[last] = plain_value(value)
    return _value(entries)


def remove_value(path: Path, level: Level, key: Key[Any]) -> object:
    """Removes a key under all its names, and returns the old value or `None`.

    Raises:
        ConfigurationError: the file cannot be read, or cannot be written.
    """
    if not _read(path, os.O_RDONLY):
        return None
    with _changing(path, level, key) as (document, entries):
        for entry in entries:
            _remove(document, entry.name)
    return _value(entries)


def _make_directory(path: Path, level: Level) -> None:
    try:
        if level is Level.GLOBAL:
            create_private_directory(path.parent)
        else:
            path.parent.mkdir(exist_ok=True)
    except OSError as error:
        raise _problem(path, f"cannot be written: {error.strerror}") from error


@contextmanager
def _changing(path: Path, level: Level, key: Key[Any]) -> Generator[tuple[Any, list[SettingEntry]]]:
    """Yields the document to change and its values of the key; then replaces the file."""
    import tomlkit

    from cleveragents.infrastructure.files import write_durably

    path = Path(os.path.realpath(path))
    try:
        with _locked(path.parent):
            content = _read(path, os.O_RDONLY)
            entries = [e for e in _entries(level, path, content) if _means(key, e)]
            document = tomlkit.parse(content)
            yield document, entries
            changed = tomlkit.dumps(document)
            if changed != content:
                write_durably(path, changed.encode(), _mode(path, level))
    except OSError as error:
        raise _problem(path, f"cannot be written: {error.strerror}") from error


def _mode(path: Path, level: Level) -> int:
    """Returns the permissions of the file; a new file is private unless it is a project's."""
    if path.exists():
        return stat.S_IMODE(path.stat().st_mode)
    return 0o600 if level is Level.GLOBAL else 0o666


def _means(key: Key[Any], entry: SettingEntry) -> bool:
    """Returns whether the entry sets the key; other mistakes in the file do not matter here."""
    try:
        return find_key(entry) is key
    except ConfigurationError:
        return False


def _value(entries: list[SettingEntry]) -> object:
    return entries[-1].value if entries else None


def _has(document: Any, dotted: str) -> bool:
    """Returns whether the name is a path of tables, rather than a quoted key with dots."""
    head, dot, rest = dotted.partition(".")
    return head in document and (not dot or _has(document[head], rest))


def _remove(document: Any, dotted: str) -> None:
    head, dot, rest = dotted.partition(".")
    if dot and head in document:
        _remove(document[head], rest)
    else:
        del document[dotted]


@contextmanager
def _locked(directory: Path) -> Generator[None]:
    """Locks the directory, so that two writers do not lose each other's change."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        wait_for_lock(descriptor, directory, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _read(path: Path, flags: int) -> str:
    """Returns the text of a regular file, or an empty text if it does not exist."""
    try:
        content = _content(path, flags)
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        raise _problem(path, f"cannot be read: {error.strerror}") from error
    if len(content) > MAX_BYTES:
        raise _problem(path, f"is larger than {size(MAX_BYTES)}")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _problem(path, f"is not UTF-8, line {line}", line=line) from error


def _content(path: Path, flags: int) -> bytes:
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _problem(path, "is not a regular file")
    with os.fdopen(descriptor, "rb") as file:
        return file.read(MAX_BYTES + 1)


def _entries(level: Level, path: Path, content: str) -> list[SettingEntry]:
    try:
        document = tomllib.loads(content)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"line (\d+)", str(error))
        line = int(found[1]) if found else content.count("\n") + 1
        raise _problem(path, f"is not valid TOML, line {line}: {error}", line=line) from error
    return [SettingEntry(level, str(path), name, value) for name, value in _flat(document)]


def _flat(table: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flat(cast("Mapping[str, object]", value), f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _problem(path: Path, problem: str, *, line: int | None = None) -> ConfigurationError:
    return ConfigurationError(f"{path} {problem}", source=str(path), line=line)
