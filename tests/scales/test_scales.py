"""Scales own their prompt line, schema, tokens and values; files that describe them are checked."""

from __future__ import annotations

import pytest

from fairjudge.errors import InputError
from fairjudge.parsing import read_verdict
from fairjudge.scales import (
    Level,
    Scale,
    binary,
    likert,
    load_scale,
    options,
    pairwise,
    stars,
    to_verdict,
)

ALL = [likert(), binary(), pairwise(), options("ABCDE"), stars()]


@pytest.mark.parametrize("scale", ALL, ids=lambda s: s.name)
def test_every_answer_is_read_as_its_own_value(scale):
    for level in scale.levels:
        for reply in (level.answer, f"Verdict: {level.answer}", f'{{"verdict": "{level.answer}"}}'):
            assert read_verdict(reply, scale) == level.value
        assert scale.answer_of_token(f" {level.answer}") == level.answer


@pytest.mark.parametrize("scale", ALL, ids=lambda s: s.name)
def test_prompt_line_is_not_parsed_as_a_verdict(scale):
    assert not isinstance(read_verdict(scale.prompt_line, scale), int | float | str)


def test_prompt_line_describes_each_level_and_schema_lists_the_answers():
    scale = likert(("bad", "poor", "fair", "good", "fine"))
    assert "- 4: good" in scale.prompt_line
    assert scale.schema["properties"]["verdict"]["enum"] == ["1", "2", "3", "4", "5"]
    assert list(scale.schema["properties"]) == ["reasoning", "verdict"]


def test_tokens_match_answers_or_their_unambiguous_prefixes():
    words = options(["not_supported", "partially_supported", "supported"])
    assert words.answer_of_token(" partial") == "partially_supported"
    assert words.answer_of_token("n") is None
    assert binary().answer_of_token("Yes") == "yes"
    assert pairwise().answer_of_token(" B") == "2"
    assert likert().answer_of_token("7") is None
    assert likert().answer_of_token("") is None
    assert likert().has_distinct_first_tokens
    assert not likert([""] * 10).has_distinct_first_tokens


@pytest.mark.parametrize(
    ("position", "order", "verdict"),
    [
        ("first", "ab", "a"),
        ("second", "ab", "b"),
        ("first", "ba", "b"),
        ("second", "ba", "a"),
        ("tie", "ab", "tie"),
        ("tie", "ba", "tie"),
    ],
)
def test_pair_positions_become_systems(position, order, verdict):
    assert to_verdict(position, order) == verdict


def test_decision_questions_follow_the_scale_kind():
    assert likert().question("q", "How good?").kind == "score"
    assert binary(yes="right").question("q", "Right?").kind == "predicate"
    assert pairwise().question("q", "Which?").kind == "choice"
    assert likert().question("q", "?").options["5"] == "meets it fully"


def test_labels_distinguish_scales_with_equal_names():
    assert likert().label != likert(("a", "b", "c", "d", "e")).label
    assert likert().label == likert().label


GOOD = """
name = "readability"
kind = "number"
[[levels]]
answer = "1"
value = 1
anchor = "hard to read"
[[levels]]
answer = "2"
value = 2
"""


def test_a_scale_file_is_read(tmp_path):
    path = tmp_path / "scale.toml"
    path.write_text(GOOD)
    scale = load_scale(path)
    assert scale.name == "readability"
    assert scale.levels[0] == Level(answer="1", value=1.0, anchor="hard to read")
    assert read_verdict("Verdict: 2", scale) == 2.0


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (("name", "nome"), "nome"),
        (('name = "readability"', ""), "name"),
        (('"number"', '"stars"'), "kind"),
        (("value = 2", "value = true"), "levels[2].value"),
        (("value = 2", 'value = "good"'), "levels[2].value"),
        (("value = 2", "value = 1"), "levels.value"),
        (('answer = "2"', 'answer = "1"'), "levels"),
        (('answer = "2"', 'answer = "3"'), "levels.answer"),
        (('answer = "2"', "answer = 2"), "levels[2].answer"),
        (('anchor = "hard to read"', "colour = 1"), "levels[1].colour"),
        (('anchor = "hard to read"', "aliases = [1]"), "levels[1].aliases"),
        (('kind = "number"', 'kind = "pair"'), "levels.value"),
    ],
)
def test_invalid_field_is_named_with_its_file(tmp_path, change, field):
    path = tmp_path / "scale.toml"
    path.write_text(GOOD.replace(*change))
    with pytest.raises(InputError) as error:
        load_scale(path)
    assert (error.value.path, error.value.field) == (str(path), field)


def test_invalid_toml_or_missing_file_raises(tmp_path):
    path = tmp_path / "scale.toml"
    with pytest.raises(InputError):
        load_scale(path)
    path.write_text("levels = [")
    with pytest.raises(InputError):
        load_scale(path)


def test_a_scale_needs_two_levels():
    with pytest.raises(InputError):
        Scale(name="x", kind="choice", levels=(Level(answer="a", value=1.0),))
