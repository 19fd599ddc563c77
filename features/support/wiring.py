"""What the package says about its own services, found by looking and not by a list."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import msgspec

import cleveragents
from cleveragents.application import services
from cleveragents.container import Container
from cleveragents.domain.errors import CleverAgentsError
from cleveragents.infrastructure.config import load_settings

PACKAGE = Path(cleveragents.__file__).parent
_NO_MAKERS = {"build_adapters", "close", "forget_recorder", "join_recorder", "with_settings"}


def service_classes() -> list[type]:
    """Every class of the services' modules that is not a record, by name.

    These are the modules of `services` itself, and `*_service` in its packages.
    """
    found: list[type] = []
    for module in pkgutil.walk_packages(services.__path__, f"{services.__name__}."):
        package, _, name = module.name.rpartition(".")
        if name.endswith("_service") or (package == services.__name__ and not module.ispkg):
            loaded = importlib.import_module(module.name)
            found += [
                item
                for _, item in inspect.getmembers(loaded, inspect.isclass)
                if item.__module__ == module.name and not _is_record(item)
            ]
    return sorted(found, key=lambda item: item.__name__)


def _is_record(item: type) -> bool:
    return is_dataclass(item) or issubclass(item, msgspec.Struct)


def built_by(container: Container) -> dict[type, Any]:
    """What the container's methods give, by class."""
    makers = [
        method
        for name, method in inspect.getmembers(container, inspect.ismethod)
        if not name.startswith("_") and name not in _NO_MAKERS
    ]
    return {type(item): item for item in (maker() for maker in makers)}


def optional(service: type) -> list[str]:
    """Parameters of the constructor that could be left out, or be None, or be anything."""
    parameters = list(inspect.signature(service).parameters.values())
    assert parameters, service
    return [
        parameter.name
        for parameter in parameters
        if parameter.default is not parameter.empty
        or parameter.annotation in (parameter.empty, "object", "Any")
        or "None" in str(parameter.annotation)
    ]


def builders(names: set[str]) -> set[str]:
    """The modules in which one of these classes is called."""
    return {
        str(file.relative_to(PACKAGE))
        for file in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names
    }


def unused_container(home: Path) -> Container:
    settings = load_settings(home=home, project=None, environ={}, flags={})
    return Container(home=home, settings=settings, environment={}, events=Mock())


def error_names() -> list[str]:
    """Returns the names of all errors that the package defines, wherever that is."""
    for module in pkgutil.walk_packages(cleveragents.__path__, "cleveragents."):
        if "migrations" not in module.name and not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    found, waiting = list[str](), [CleverAgentsError]
    while waiting:
        kind = waiting.pop()
        if kind.__module__.startswith("cleveragents."):
            found.append(kind.__name__)
        waiting += kind.__subclasses__()
    return found
