"""A criterion of one's own: an aspect by two small files and no code."""

from __future__ import annotations

import json
import re

import pytest
from invoking import run
from json_files import read_rows

import fairjudge as fj
from fairjudge.datasets import example_path
from fairjudge.errors import FairJudgeError, InputError
from fairjudge.judges.criterion_files import read_criterion_file

PROMPT = """+++
task = "own"
name = "tone"
version = 1
about = "Asks about tone."
+++
## user
{{text}}

How neutral is the tone?

{{scale}}
"""
SCALE = """name = "tone"
kind = "choice"
[[levels]]
answer = "slanted"
value = 1
[[levels]]
answer = "neutral"
value = 3
"""


@pytest.fixture
def criterion(tmp_path):
    (tmp_path / "tone.md").write_text(PROMPT)
    (tmp_path / "scale.toml").write_text(SCALE)
    file = tmp_path / "tone.toml"
    file.write_text('aspect = "tone"\nprompt = "tone.md"\nscale = "scale.toml"\n')
    return file


def test_any_aspect_can_be_judged(tmp_path, criterion, stub, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    stub.answer = lambda call: "It takes no side.\nVerdict: neutral"
    args = ["judge", "--references", example_path("references.json")]
    args += ["--summaries", example_path("summaries.jsonl"), "--criterion", criterion]
    args += ["--backend", "openai:m", "--base-url", stub.v1, "--cache", tmp_path / "c"]
    args += ["--reference-unit", "articles", "-o", tmp_path / "out.jsonl"]
    run(*args)
    rows = read_rows(tmp_path / "out.jsonl")
    assert {(row["aspect"], row["protocol"], row["value"]) for row in rows} == {
        ("tone", "likert", 3.0)
    }
    assert "How neutral is the tone?" in str(stub.calls[0].body)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('aspect = "tone"\nprompt = "tone.md"\n', "scale"),
        ('aspect = "tone"\nprompt = "no.md"\nscale = "scale.toml"\n', "no.md"),
        ('aspect = ""\nprompt = "tone.md"\nscale = "scale.toml"\n', "aspect"),
        ('colour = "x"\n', "colour"),
        ('aspect = "tone"\n', "a 'rule' instead of prompt and scale"),
        ('aspect = "tone"\nrule = ""\n', "rule"),
        ('aspect = "tone"\nrule = "Is it calm?"\nprompt = "tone.md"\n', "requires a scale"),
        ("aspect =", "TOML"),
    ],
)
def test_invalid_file_error_names_the_problem(criterion, text, message):
    criterion.write_text(text)
    with pytest.raises(InputError, match=message):
        read_criterion_file(criterion)


RULE = "How neutral is the tone, in its own words?"


@pytest.fixture
def judge_by(tmp_path, stub, monkeypatch):
    """Return a function that judges the example by options and returns the rows."""
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    stub.answer = lambda call: "Calm. Verdict: 2"

    def judged(*options: object) -> list[dict]:
        output = tmp_path / f"out{len(stub.calls)}.jsonl"
        args = ["judge", "--references", example_path("references.json")]
        args += ["--summaries", example_path("summaries.jsonl"), *options]
        args += ["--backend", "openai:m", "--base-url", stub.v1, "--cache", tmp_path / "c"]
        run(*args, "-o", output)
        return read_rows(output)

    return judged


def text_of(call) -> str:
    return "\n".join(message["content"] for message in call.body["messages"])


def test_a_rule_alone_is_a_criterion(judge_by, stub):
    rows = judge_by("--aspect", "tone", "--rule", RULE)
    assert {(row["aspect"], row["protocol"], row["value"]) for row in rows} == {
        ("tone", "likert", 2.0)
    }
    prompt = text_of(stub.calls[0])
    assert RULE in prompt
    assert "<article" in prompt
    assert "1: does not meet the criterion at all" in prompt
    assert "own/rule.v1@" in rows[0]["signature"]
    other = judge_by("--aspect", "tone", "--rule", "How warm is it?")
    assert other[0]["signature"] != rows[0]["signature"]


@pytest.mark.parametrize(
    ("options", "answer", "values"),
    [
        (("--protocol", "binary"), "Verdict: yes", {1.0}),
        (("--protocol", "pairwise"), "Verdict: tie", {"tie"}),
        (("--scale", "scale.toml"), "Verdict: neutral", {3.0}),
    ],
)
def test_rule_works_with_every_protocol_and_a_scale(
    judge_by, stub, tmp_path, options, answer, values
):
    (tmp_path / "scale.toml").write_text(SCALE)
    stub.answer = lambda call: answer
    options = [tmp_path / part if part == "scale.toml" else part for part in options]
    rows = judge_by("--aspect", "tone", "--rule", RULE, *options)
    assert {row["value"] for row in rows} == values


def test_file_with_only_a_rule_gives_the_same_prompt(judge_by, stub, tmp_path):
    file = tmp_path / "tone.toml"
    file.write_text(f'aspect = "tone"\nrule = "{RULE}"\n')
    (by_file,) = {row["signature"] for row in judge_by("--criterion", file)}
    n_asked = len(stub.calls)
    (by_option,) = {row["signature"] for row in judge_by("--aspect", "tone", "--rule", RULE)}
    assert by_file == by_option
    assert len(stub.calls) == n_asked  # the requests are the same, too


def test_a_rule_alone_is_judged_together_with_others(judge_by, stub, tmp_path):
    file = tmp_path / "tone.toml"
    file.write_text(f'aspect = "tone"\nrule = "{RULE}"\n')
    stub.answer = lambda call: "Faithfulness: 4\nTone: 2"
    rows = judge_by("--aspect", "faithfulness", "--criterion", file, "--together",
                    "--protocol", "likert")  # fmt: skip
    assert {(row["aspect"], row["value"]) for row in rows} == {("faithfulness", 4), ("tone", 2)}


def test_python_and_studies_accept_a_rule(stub, tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    stub.answer = lambda call: "Calm. Verdict: 2"
    model = fj.Model("openai:m", base_url=stub.v1, cache=tmp_path / "c")
    judge = fj.Judge(model, aspect="tone", rule=RULE)
    result = judge(example_path("references.json"), example_path("summaries.jsonl"))
    assert {row.value for row in result} == {2.0}
    n_asked = len(stub.calls)
    (tmp_path / "tone.toml").write_text(f'aspect = "tone"\nrule = "{RULE}"\n')
    study = tmp_path / "study.toml"
    study.write_text(
        f"""title = "rules"
[data]
references = {json.dumps(str(example_path("references.json")))}
summaries = {json.dumps(str(example_path("summaries.jsonl")))}
[models.m]
backend = "openai:m"
base_url = "{stub.v1}"
[[judge]]
name = "by-rule"
model = "m"
aspect = "tone"
rule = "{RULE}"
[[judge]]
name = "by-file"
model = "m"
criterion = "tone.toml"
"""
    )
    result = run("study", study, "--cache", tmp_path / "c")
    assert len(stub.calls) == n_asked


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rule": RULE, "prompt": "tone.md"}, "both define the criterion: use one"),
        ({"rule": RULE, "protocol": "checklist"}, "a checklist requires coverage"),
        ({"rule": RULE, "protocol": "ranking"}, "rule does not go with protocol"),
        ({"rule": "Is {{text}} calm?"}, "without {{fields}}"),
        ({"rule": RULE, "model": "local"}, "need an LLM"),
    ],
)
def test_options_incompatible_with_a_rule_raise(stub, monkeypatch, options, message):
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    model = fj.Model(options.pop("model", "openai:m"), base_url=stub.v1)
    with pytest.raises(FairJudgeError, match=re.escape(message)):
        fj.Judge(model, aspect="tone", **options)(
            example_path("references.json"), example_path("summaries.jsonl")
        )
    assert not stub.calls
