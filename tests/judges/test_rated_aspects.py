"""Aspects that people rate: an LLM is asked for each in every form, the local judge for three."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path

import pytest
from stub_server import StubServer

import fairjudge as fj
from fairjudge.converting import columns
from fairjudge.errors import ConfigurationError
from fairjudge.judges.asking import ASPECTS, LOCAL_ASPECTS
from fairjudge.judges.criteria import BUILTIN_SCALES, builtin_criterion
from fairjudge.judges.tasks import resolve_plan
from fairjudge.judges.together import joint_criterion

RATED = tuple(aspect for aspect in ASPECTS if aspect not in {"coverage", "faithfulness"})
CLUSTERS = [{"eid": "e", "articles": [{"aid": "a", "content": "The dam broke at noon, they say."}]}]
SUMMARIES = [{"eid": "e", "system": s, "text": f"A dam broke, says {s}."} for s in ("x", "y")]
REPLIES = {"likert": "Verdict: 4", "binary": "Verdict: no", "pairwise": "Verdict: 1"}
SCORES = {"likert": [4, 4], "binary": [0, 0], "pairwise": ["a", "b"]}


@pytest.mark.parametrize("aspect", ASPECTS)
def test_each_aspect_has_scales_and_a_joint_prompt(aspect):
    assert BUILTIN_SCALES[aspect].keys() >= {"likert", "binary"}
    for protocol in ("likert", "binary"):
        template = joint_criterion(aspect, protocol).template  # prompts/judge/together-ASPECT
        assert template is not None
        assert "scale" in template.fields
    assert columns.name_key(aspect) in columns.ASPECTS


def test_docs_list_each_aspect_and_its_judge_input():
    page = (Path(__file__).parents[2] / "docs" / "judges.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| .+ \| (.+) \| .+ \|$", page, re.MULTILINE))
    for aspect in ASPECTS:
        template = builtin_criterion(aspect, "likert", per_answer=False).template
        assert aspect in rows, f"docs/judges.md: no row of {aspect} in the table of aspects"
        for material in ("articles", "questions"):
            assert (material in rows[aspect]) == (material in template.fields)
        assert f'``"{aspect}"``' in (inspect.getdoc(fj.Judge) or "")


def test_scales_exist_only_for_aspects_and_single_answers():
    assert BUILTIN_SCALES.keys() == {*ASPECTS, "coverage-answer"}
    assert {*LOCAL_ASPECTS} < {*ASPECTS}


@pytest.mark.parametrize(
    ("aspect", "protocol"),
    [(aspect, protocol) for aspect in RATED for protocol in BUILTIN_SCALES[aspect]],
)
def test_each_aspect_is_requested_in_each_form(stub: StubServer, aspect, protocol):
    stub.answer = lambda _: REPLIES[protocol]
    model = fj.Model("openai:m", base_url=f"{stub.url}/v1")
    result = fj.Judge(model, aspect=aspect, protocol=protocol)(CLUSTERS, SUMMARIES)
    assert [row.value for row in result] == SCORES[protocol]
    assert {row.scored_by for row in result} == {"llm"}
    request = json.dumps(stub.calls[0].body)
    template = builtin_criterion(aspect, protocol, per_answer=False).template
    assert ("broke at noon" in request) == ("articles" in template.fields)
    for level in BUILTIN_SCALES[aspect][protocol].levels:
        assert level.anchor in request


def test_summeval_aspects_are_judged_in_one_call(stub: StubServer):
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
def test_local_judge_error_lists_supported_aspects(aspect):
    with pytest.raises(ConfigurationError, match=f"can judge coverage, .*'{aspect}' needs an LLM"):
        fj.Judge("local", aspect=aspect, protocol="likert")(CLUSTERS, SUMMARIES)


def test_aspects_have_one_rule_and_show_the_articles():
    with pytest.raises(ConfigurationError, match="relevance has one prompt"):
        fj.Judge("openai:m", aspect="relevance", protocol="likert", prompt_variants=2)(
            CLUSTERS, SUMMARIES
        )
    with pytest.raises(ConfigurationError, match="relevance is judged against articles"):
        resolve_plan("relevance", protocol="likert", reference_unit="qa_pairs")
    local_server = fj.Model("openai:m", base_url="http://127.0.0.1:9/v1")
    with pytest.raises(ConfigurationError, match="requires aspect coverage or faithfulness"):
        fj.Judge(local_server, aspect="fluency", protocol="ranking")(CLUSTERS, SUMMARIES)


def test_custom_prompt_may_use_an_aspect_name():
    plan = resolve_plan("relevance", protocol="likert", reference_unit="qa_pairs", own_prompt=True)
    assert plan.reference_unit == "qa_pairs"
    plans = (
        resolve_plan(aspect, protocol="likert", own_prompt=True) for aspect in ("tone", "relevance")
    )
    assert len({plan.reference_unit for plan in plans}) == 1
