"""Aspects that people rate: an LLM is asked for each in every form, the local judge for three."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from stub_server import StubServer

import fairjudge as fj
from fairjudge.errors import ConfigurationError
from fairjudge.judges.criteria import ASPECTS, BUILTIN_SCALES
from fairjudge.judges.tasks import resolve_plan

RATED = ("relevance", "consistency", "coherence", "fluency", "balance", "quality")
CLUSTERS = [{"eid": "e", "articles": [{"aid": "a", "content": "The dam broke at noon, they say."}]}]
SUMMARIES = [{"eid": "e", "system": s, "text": f"A dam broke, says {s}."} for s in ("x", "y")]
REPLIES = {"likert": "Verdict: 4", "binary": "Verdict: no", "pairwise": "Verdict: 1"}
SCORES = {"likert": [4, 4], "binary": [0, 0], "pairwise": ["a", "b"]}


def test_the_aspects_are_those_of_the_page():
    assert set(ASPECTS) == {"coverage", "faithfulness", *RATED}
    page = (Path(__file__).parents[2] / "docs" / "judges.md").read_text("utf-8")
    for aspect in ASPECTS:
        assert f"| `{aspect}` |" in page


@pytest.mark.parametrize("aspect", RATED)
@pytest.mark.parametrize("protocol", REPLIES)
def test_each_is_asked_for_in_each_form(stub: StubServer, aspect, protocol):
    stub.answer = lambda _: REPLIES[protocol]
    model = fj.Model("openai:m", base_url=f"{stub.url}/v1")
    result = fj.Judge(model, aspect=aspect, protocol=protocol)(CLUSTERS, SUMMARIES)
    assert [row.value for row in result] == SCORES[protocol]
    assert {row.scored_by for row in result} == {"llm"}
    request = json.dumps(stub.calls[0].body)
    assert ("broke at noon" in request) == (aspect not in {"coherence", "fluency"})
    for level in BUILTIN_SCALES[aspect][protocol].levels:
        assert level.anchor in request


def test_the_four_of_summeval_are_asked_for_together(stub: StubServer):
    four = ("relevance", "consistency", "coherence", "fluency")
    entries = {aspect: {"reasoning": "r", "verdict": "3"} for aspect in four}
    stub.answer = lambda _: json.dumps(entries)
    from fairjudge.judges.asking import AskedAspect

    together = tuple(AskedAspect(aspect=aspect) for aspect in four)
    model = fj.Model("openai:m", base_url=f"{stub.url}/v1")
    judge = fj.Judge(model, aspect="relevance", protocol="likert", together=together)
    assert [row.value for row in judge(CLUSTERS, SUMMARIES)] == [3] * 8
    assert len(stub.calls) == 2


@pytest.mark.parametrize("aspect", sorted({*RATED} - {"balance"}))
def test_the_local_judge_says_what_it_can(aspect):
    with pytest.raises(ConfigurationError, match=f"can judge coverage, .*'{aspect}' needs an LLM"):
        fj.Judge("local", aspect=aspect, protocol="likert")(CLUSTERS, SUMMARIES)


def test_they_have_one_wording_and_articles_beside_them():
    with pytest.raises(ConfigurationError, match="relevance has one prompt"):
        fj.Judge("openai:m", aspect="relevance", protocol="likert", prompt_variants=2)(
            CLUSTERS, SUMMARIES
        )
    with pytest.raises(ConfigurationError, match="relevance is judged against articles"):
        resolve_plan("relevance", protocol="likert", reference_unit="qa_pairs")
    local_server = fj.Model("openai:m", base_url="http://127.0.0.1:9/v1")
    with pytest.raises(ConfigurationError, match="requires aspect coverage or faithfulness"):
        fj.Judge(local_server, aspect="fluency", protocol="ranking")(CLUSTERS, SUMMARIES)


def test_a_custom_prompt_may_have_such_a_name():
    plan = resolve_plan("relevance", protocol="likert", reference_unit="qa_pairs", own_prompt=True)
    assert plan.reference_unit == "qa_pairs"
    plans = (
        resolve_plan(aspect, protocol="likert", own_prompt=True) for aspect in ("tone", "relevance")
    )
    assert len({plan.reference_unit for plan in plans}) == 1
