"""Errors of Python's calls name arguments, those of commands flags; both are one message."""

from __future__ import annotations

import re

import pytest

import fairjudge as fj
from fairjudge.datasets import example_path
from fairjudge.errors import ConfigurationError
from fairjudge.options.naming import python_words

RATED = {"eid": "e", "system": "s", "aspect": "coverage", "protocol": "likert", "judge": "j"}
ROWS = [{**RATED, "value": 3}]
CALLS = {
    "derive needs protocol=\"checklist\"": lambda: fj.Judge(
        "openai:m", aspect="coverage", protocol="likert", derive=["likert"]
    ),
    "(reference_unit=\"articles\")": lambda: fj.Judge(
        "openai:m", aspect="coverage", protocol="likert", text_unit="sentence"
    ),
    "or preset": lambda: fj.Judge("local", aspect="coverage"),
    "judge with aspect=\"faithfulness\" protocol=\"checklist\"": lambda: fj.audit.statements(ROWS),
    "judge with repeats=3": lambda: fj.audit.stability(ROWS),
    "pass one with model": lambda: fj.Judge("local", aspect="fluency", protocol="likert")(
        example_path("references.json"), example_path("summaries.jsonl")
    ),
}  # fmt: skip


@pytest.mark.parametrize("message", CALLS)
def test_call_errors_name_arguments_with_the_message_of_the_command(message: str) -> None:
    with pytest.raises(fj.FairJudgeError) as error:
        CALLS[message]()
    assert message in str(error.value)
    assert "--" not in str(error.value)
    assert "--" in (error.value.command_line_text or "")


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("--rpm 5 is too few", "requests_per_minute=5 is too few"),
        ("--questions with --pipeline paper", 'n_questions with pipeline="paper"'),
        ("--protocol likert|binary", 'protocol="likert" or protocol="binary"'),
        (
            "by --map system=COLUMN,text=COLUMN, or",
            "by map={'system': 'COLUMN', 'text': 'COLUMN'}, or",
        ),
        ("name it: --map eid=story.", "name it: map={'eid': 'story'}."),
        ("name it: --map 'eid=Which one?'", "name it: map={'eid': 'Which one?'}"),
        (
            "where a row is an article: --group COLUMN;",
            "where a row is an article: group='COLUMN';",
        ),
        ("--protocol is missing", "protocol is missing"),
        ("what 'fairjudge rank --json' writes", "what 'fairjudge rank --json' writes"),
        ("a judge's --scale does not fit", "a judge's scale does not fit"),
        ("no dashes - here -- or --", "no dashes - here -- or --"),
    ],
)
def test_flags_and_their_values_are_written_as_in_a_call(message: str, expected: str) -> None:
    assert python_words(message, fj.Judge.__init__) == expected


def test_command_errors_name_flags(cli) -> None:
    result = cli(
        *("judge", "--references", example_path("references.json")),
        *("--summaries", example_path("summaries.jsonl"), "--aspect", "coverage"),
        *("--protocol", "likert", "--derive", "likert", "-o", "out.jsonl"),
        *("--backend", "openai:m"),
        code=1,
    )
    assert re.search(r"--derive\s+needs\s+--protocol\s+checklist", result.err)


def test_unknown_argument_is_named_with_the_closest() -> None:
    with pytest.raises(ConfigurationError, match="did you mean 'seed'"):
        fj.compare([], [], sead=1)  # type: ignore[call-arg]
