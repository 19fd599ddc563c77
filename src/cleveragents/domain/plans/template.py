"""Placeholders such as `{{ name }}` in a plan: only names, no expressions.

A placeholder is a name, or names joined by dots, between `{{` and `}}`. Values are inserted
unchanged and not rendered again, so braces in a value have no meaning. `{{ '{{' }}` stands for
two literal opening braces; closing braces need no escape.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from cleveragents.domain.errors import UsageError
from cleveragents.domain.names import nearest
from cleveragents.domain.record import JsonValue

LITERAL_BRACES = "{{ '{{' }}"

_OPEN = "{{"
_CLOSE = "}}"
_NAME = re.compile(r"[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)*", re.ASCII)
_ESCAPES = ("'{{'", '"{{"')


def is_template(text: str) -> bool:
    """Returns whether rendering could change the text."""
    return _OPEN in text


def names_in(text: str) -> list[str]:
    """Returns the names in the text, each once, in the order they appear.

    Raises:
        UsageError: a placeholder is not closed or not a name.
    """
    return list(dict.fromkeys(name for _, name in _pieces(text) if name is not None))


def render(text: str, values: Mapping[str, str]) -> str:
    """Returns the text with every placeholder replaced by its value.

    Raises:
        UsageError: a name is not in `values`, or a placeholder is not closed or not a name.
    """
    return "".join(
        literal + (value_of(name, values) if name is not None else "")
        for literal, name in _pieces(text)
    )


def render_value(value: JsonValue, values: Mapping[str, str]) -> JsonValue:
    """Renders every string inside the value; keys and other types stay unchanged.

    Raises:
        UsageError: as `render` does.
    """
    if isinstance(value, str):
        # Most values have no placeholder, and every step renders its whole input.
        return render(value, values) if _OPEN in value else value
    if isinstance(value, list):
        return [render_value(item, values) for item in value]
    if isinstance(value, dict):
        return {key: render_value(item, values) for key, item in value.items()}
    return value


def template_values(
    arguments: Mapping[str, str], resources: Mapping[str, str], outputs: Mapping[str, str]
) -> dict[str, str]:
    """Returns the value of every placeholder of a step.

    Args:
        arguments: The value of every argument of the plan.
        resources: The path of every sandbox, by resource name.
        outputs: The saved outputs of earlier steps, by `save_as` name.
    """
    return {
        **arguments,
        **{f"resources.{name}.path": path for name, path in resources.items()},
        **{f"outputs.{name}": output for name, output in outputs.items()},
    }


def value_of(name: str, values: Mapping[str, str]) -> str:
    """Returns the value of a name.

    Raises:
        UsageError: the name is unknown; the hint has the nearest name, or all of them.
    """
    if name in values:
        return values[name]
    raise UsageError(f"`{{{{ {name} }}}}` is not a known placeholder", hint=nearest(name, values))


def _pieces(text: str) -> Iterator[tuple[str, str | None]]:
    """Splits the text into literal parts, each with the name that follows it."""
    position = 0
    # Each character is read once, however many braces there are.
    while (start := text.find(_OPEN, position)) >= 0:
        end = text.find(_CLOSE, start + len(_OPEN))
        inside = text[start + len(_OPEN) : end]
        if end < 0 or "\n" in inside:
            raise UsageError(
                "`{{` is not closed by `}}` on the same line",
                hint=f"Write {LITERAL_BRACES} for two literal opening braces",
            )
        literal, position = text[position:start], end + len(_CLOSE)
        name = inside.strip()
        if name in _ESCAPES:
            yield literal + _OPEN, None
        elif _NAME.fullmatch(name):
            yield literal, name
        else:
            raise UsageError(
                f"`{text[start:position]}` is not a name between braces",
                hint=f"Write {LITERAL_BRACES} for two literal opening braces",
            )
    yield text[position:], None
