"""Placeholders: what goes in comes out, and nothing is read twice."""

from __future__ import annotations

import unittest

from hypothesis import given
from hypothesis import strategies as st

from cleveragents.domain.errors import UsageError
from cleveragents.domain.plans.template import LITERAL_BRACES, names_in, render

NAMES = st.from_regex(r"[a-z_][a-z0-9_-]{0,8}(\.[a-z_][a-z0-9_]{0,8}){0,2}", fullmatch=True)
PIECES = st.lists(st.tuples(st.text(), NAMES, st.text()), max_size=6)


def escaped(text: str) -> str:
    """Writes text so that it stands for itself."""
    return text.replace("{", "{\0").replace("{\0{\0", LITERAL_BRACES).replace("{\0", "{")


class Templates(unittest.TestCase):
    @given(PIECES.filter(lambda pieces: all("\0" not in a + b for a, _, b in pieces)))
    def test_values_replace_names_and_are_never_read_again(
        self, pieces: list[tuple[str, str, str]]
    ) -> None:
        # A brace that touches a placeholder would become part of it: keep them apart.
        text = "".join(f"{escaped(a)} {{{{ {name} }}}} {escaped(b)} " for a, name, b in pieces)
        values = {name: f"<{{{{ {name} }}}}>" for _, name, _ in pieces}
        expected = "".join(f"{a} {values[name]} {b} " for a, name, b in pieces)
        self.assertEqual(render(text, values), expected)
        self.assertEqual(names_in(text), list(dict.fromkeys(name for _, name, _ in pieces)))

    @given(st.text(alphabet="{} a'\"\n.|"))
    def test_any_text_is_filled_or_refused(self, text: str) -> None:
        try:
            rendered = render(text, {"a": "{{ a }}"})
        except UsageError:
            return
        if "{{" not in text:
            self.assertEqual(rendered, text)


if __name__ == "__main__":
    unittest.main()
