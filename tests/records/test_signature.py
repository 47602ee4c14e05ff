"""One line that says what produced a number, and can be split again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fairjudge import __version__
from fairjudge.records.signature import signature


def test_parts_are_ordered_with_the_version_last():
    parts = {"judge": "openai:m", "temperature": 0.5, "seed": None, "prompt": "p@1"}
    assert signature(parts) == f"judge:openai:m|temperature:0.5|prompt:p@1|version:{__version__}"


def test_zero_is_included_and_none_is_not():
    assert signature({"seed": 0, "top_p": None}) == f"seed:0|version:{__version__}"


def test_empty_signature_has_only_the_version():
    assert signature({}) == f"version:{__version__}"


@given(st.dictionaries(st.sampled_from("abcde"), st.text(), max_size=5))
def test_signature_is_one_line_with_all_parts(parts):
    line = signature(parts)
    assert len(line.split("|")) == len(parts) + 1
    assert len(line.splitlines()) <= 1
    assert [part.split(":", 1)[0] for part in line.split("|")] == [*parts, "version"]
