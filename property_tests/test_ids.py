"""However people write an id, it names one record or none, never a wrong one."""

from __future__ import annotations

import unittest

from hypothesis import assume, given
from hypothesis import strategies as st

from cleveragents.domain.errors import AmbiguousIdError
from cleveragents.domain.ids import choose

ids = st.lists(
    st.text("0123456789ABCDEFGHJKMNPQRSTVWXYZ", min_size=26, max_size=26), min_size=1, unique=True
)


class Ids(unittest.TestCase):
    @given(ids, st.data(), st.sampled_from(["", "cp_", "CP_"]), st.booleans())
    def test_a_full_id_names_itself_in_any_spelling(
        self, known: list[str], data: st.DataObject, prefix: str, lower: bool
    ) -> None:
        chosen = data.draw(st.sampled_from(known))
        spelled = prefix + (chosen.lower() if lower else chosen)
        self.assertEqual(choose(spelled, "plan", known), chosen)

    @given(ids, st.text("0123456789ABC", min_size=1, max_size=3))
    def test_a_prefix_names_the_only_one_that_has_it(self, known: list[str], prefix: str) -> None:
        fitting = [each for each in known if each.startswith(prefix)]
        if len(fitting) > 1:
            with self.assertRaises(AmbiguousIdError):
                choose(prefix, "plan", known)
        else:
            self.assertEqual(choose(prefix, "plan", known), fitting[0] if fitting else None)

    @given(ids, st.integers(1, 40))
    def test_places_count_from_the_newest(self, known: list[str], back: int) -> None:
        expected = known[-back] if back <= len(known) else None
        self.assertEqual(choose(f"@-{back}", "plan", known), expected)

    @given(ids, st.text())
    def test_other_text_names_nothing(self, known: list[str], text: str) -> None:
        assume(not text.isascii() or not text.replace("_", "").replace("@", "").isalnum())
        assume(not text.startswith("@"))
        self.assertIsNone(choose(text, "plan", known))
