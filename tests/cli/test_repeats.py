"""Live judging, several times and by several wordings of the prompt."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cli_tools import judging, openai, text_of
from json_files import read_json, read_judgements
from stub_server import Reply

ASKED = ("--references", "references.jsonl", "--summaries", "summaries.jsonl")
TWICE = ("--repeats", "2", "--prompt-variants", "3")


def by_wording(call) -> Reply:
    """The reordered prompt alone gives 5, the others 3."""
    verdict = "5" if "Here is the question to settle" in text_of(call) else "3"
    return Reply(text=f"Verdict: {verdict}")


def test_every_repeat_and_prompt_variant_is_kept_and_measured(cli, references, summaries, server):
    server.answer = by_wording
    result = cli(*judging(server), *TWICE, "--json", "out.json", code=0)
    rows_written = read_judgements()
    assert len(server.calls) == len(rows_written) == 6 * 2 * 3
    assert [(row["variant"], row["repeat"]) for row in rows_written[:6]] == [
        (name, repeat)
        for name in ("coverage-single.v3", "coverage-single-reworded.v2",
                     "coverage-single-reordered.v2")
        for repeat in (0, 1)
    ]  # fmt: skip
    assert len({row["signature"] for row in rows_written}) == 3
    report = read_json("out.json")
    assert report["systems"]["system0"]["mean"] == pytest.approx((3 + 3 + 5) / 3)
    (group,) = report["stability"]
    assert group["flips"]["value"] == 0.0
    # of three pairs of prompts two differ
    assert group["flips_between_variants"]["value"] == pytest.approx(2 / 3)
    assert "Stability of" in result.out


def test_agreeing_prompts_with_live_calls_are_not_called_copies(cli, references, summaries, server):
    server.answer = lambda call: Reply(text="Verdict: 3")
    cli(*judging(server), "--prompt-variants", "3", "--json", "out.json", code=0)
    (group,) = read_json("out.json")["stability"]
    assert (group["flips_between_variants"]["value"], group["alike"]) == (0.0, False)


def test_existing_judgements_are_not_repeated(cli, references, summaries, server):
    cli(*judging(server))
    n_once = len(server.calls)
    assert cli(*judging(server), "--repeats", "3").code == 0
    assert (n_once, len(server.calls)) == (6, 18)


def test_plan_counts_repeats_and_prompt_variants(cli, references, summaries, server):
    result = cli("batch", "plan", *ASKED, "--aspect", "faithfulness", "--preset", "budget", *TWICE,
               "--backend", "openai:stub-model", "--json", "-", code=0)  # fmt: skip
    (plan,) = json.loads(result.out)["models"]
    once = cli("batch", "plan", *ASKED, "--aspect", "faithfulness", "--preset", "budget",
               "--backend", "openai:stub-model", "--json", "-")  # fmt: skip
    assert plan["calls"] == 6 * json.loads(once.out)["models"][0]["calls"]


def test_custom_prompt_variant_is_added_to_the_default(cli, references, summaries, server):
    Path("own.md").write_text(
        '+++\ntask = "own"\nname = "mine"\nversion = 1\nabout = "x"\n+++\n'
        "## user\n{{articles}} {{text}} Judge! {{scale}}\n"
    )
    assert cli(*judging(server), "--paraphrase", "own.md").code == 0
    assert {row["variant"] for row in read_judgements()} == {"coverage-single.v3", "mine.v1"}
    assert all("repeat" not in row for row in read_judgements())


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--backend", "local", "--repeats", "2"), "--repeats needs an LLM"),
        (("--backend", "local", "--prompt-variants", "2"), "--prompt-variants needs an LLM"),
        (
            ("--aspect", "faithfulness", "--protocol", "checklist", "--prompt-variants", "2"),
            "a checklist has one prompt",
        ),
    ],
)
def test_unrepeatable_judges_raise(cli, references, summaries, server, more, message):
    base = () if "--backend" in more else openai(server)
    aspect = () if "--aspect" in more else ("--aspect", "coverage", "--protocol", "likert")
    result = cli("judge", *ASKED, "-o", "judgements.jsonl", *aspect, *base, *more, code=1)
    assert message in result.err
