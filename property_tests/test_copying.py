"""What a process tells of a directory it copied is understood as it was meant."""

from __future__ import annotations

import os
import unittest

from hypothesis import given
from hypothesis import strategies as st

from cleveragents.infrastructure.sandbox.create.copy_worker import receive, send
from cleveragents.infrastructure.sandbox.create.directory_copy import CopyResult

_PATHS = st.binary(min_size=1, max_size=20).filter(lambda path: 0 not in path).map(os.fsdecode)
_MODES = st.integers(0, 0o7777)
_KINDS = st.sampled_from(["fifo", "socket", "device"])


class TestAnswers(unittest.TestCase):
    @given(
        st.lists(_PATHS, max_size=5),
        st.lists(st.tuples(_PATHS, _MODES), max_size=5),
        st.dictionaries(_PATHS, _KINDS, max_size=5),
        st.dictionaries(_PATHS, st.integers(1, 133), max_size=5),
        st.booleans(),
        st.integers(0),
    )
    def test_an_answer_says_what_became_of_a_directory(
        self,
        inside: list[str],
        later: list[tuple[str, int]],
        special: dict[str, str],
        unreadable: dict[str, int],
        all_shared: bool,
        written: int,
    ) -> None:
        copied = CopyResult()
        copied.inside, copied.later = inside, later
        copied.special, copied.unreadable = special, unreadable
        copied.all_shared, copied.files, copied.written_bytes = all_shared, len(inside), written
        failed = FileExistsError(17, "File exists", *inside[:1])
        reader, writer = os.pipe()
        try:
            send(writer, copied)
            send(writer, failed)
            answers = receive(reader), receive(reader)
        finally:
            os.close(reader)
            os.close(writer)
        assert vars(answers[0]) == vars(copied)
        assert repr(answers[1]) == repr(failed)
