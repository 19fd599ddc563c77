"""Methods of services that are called in another process.

A method is known by its qualified name. Its annotations say how arguments and result are read.
A parameter that is annotated with a protocol takes any of some records, which is sent with the
name of its type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, get_type_hints

import msgspec

from cleveragents.domain.errors import ConflictError

Ask = Callable[[str, list[Any]], Any]
"""Sends the name of a method with encoded arguments, and returns the encoded result."""


class Calls:
    """The methods that can be called, and how values travel."""

    def __init__(self, methods: Iterable[Callable[..., Any]], records: Iterable[type]) -> None:
        """Args: `records` are what a parameter annotated with a protocol takes."""
        self._hints: Mapping[str, Mapping[str, Any]] = {
            method.__qualname__: get_type_hints(method) for method in methods
        }
        self._records: Mapping[str, type[object]] = {each.__name__: each for each in records}

    def ask(self, method: str, arguments: Sequence[object], ask: Ask) -> Any:
        """Calls a method in another process."""
        sent = [self._encoded(item) for item in arguments]
        return self._decoded(ask(method, sent), self._hints[method]["return"])

    def answer(self, services: Iterable[object], method: str, arguments: Sequence[Any]) -> Any:
        """Calls a method of one of the services for another process; returns the encoded result.

        Raises:
            ConflictError: this version has no such method, or other arguments.
        """
        name = method.rpartition(".")[2]
        owner = next((each for each in services if _method(each, name) == method), None)
        try:
            *hints, _ = self._hints[method].values()
            given = [self._decoded(*pair) for pair in zip(arguments, hints, strict=True)]
        except (msgspec.ValidationError, ValueError, KeyError) as error:
            raise ConflictError(
                f"The process that records the session is of another version: {error}",
                hint="Use the version of `agents` that started the session until it ends",
            ) from error
        return self._encoded(getattr(owner, name)(*given))

    def has(self, method: str) -> bool:
        return method in self._hints

    def _encoded(self, value: object) -> Any:
        data = msgspec.to_builtins(value)
        name = type(value).__name__
        return [name, data] if name in self._records else data

    def _decoded(self, data: Any, hint: Any) -> Any:
        if getattr(hint, "_is_protocol", False):
            name, fields = data
            return msgspec.convert(fields, self._records[name])
        return msgspec.convert(data, hint)


class PartlyRemote:
    """A service of which some methods run in the process that records the session."""

    def __init__(self, service: object, calls: Calls, ask: Ask) -> None:
        self._service = service
        self._calls = calls
        self._ask = ask

    def __getattr__(self, name: str) -> Any:
        method = _method(self._service, name)
        if not self._calls.has(method):
            found: object = getattr(self._service, name)
            return found
        return partial(self._call, method)

    def _call(self, method: str, *arguments: object) -> Any:
        return self._calls.ask(method, arguments, self._ask)


def _method(service: object, name: str) -> str:
    return f"{type(service).__qualname__}.{name}"
