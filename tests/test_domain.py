"""Values: what ids may be, which verdicts are ones, and what tells tasks apart."""

from __future__ import annotations

import pytest
from builders import make_task
from pydantic import ValidationError

from fairjudge.domain import ChecklistEntry, Cluster, Estimate, Judgement, Summary

RATING = {"eid": "e", "system": "s", "aspect": "coverage", "protocol": "likert", "judge": "j"}


@pytest.mark.parametrize(("eid", "text_id"), [(7, "7"), ("7", "7"), (0, "0")])
def test_integers_are_ids(eid, text_id):
    assert Summary(eid=eid, system="s", text="t").eid == text_id


@pytest.mark.parametrize("eid", [1.5, True, False, None, ["7"]])
def test_other_values_are_not_ids(eid):
    with pytest.raises(ValidationError):
        Summary(eid=eid, system="s", text="t")


@pytest.mark.parametrize("value", [1, 0, -1, 2.5])
def test_finite_numbers_are_values(value):
    assert Judgement.model_validate(RATING | {"value": value}).value == value


@pytest.mark.parametrize(
    "value", [True, False, float("inf"), float("nan"), 10**400, "c", "", "ab", [1]]
)
def test_non_finite_numbers_and_unknown_sides_are_not_values(value):
    with pytest.raises(ValidationError):
        Judgement.model_validate(RATING | {"value": value})


def task(**fields):
    return make_task(**{"systems": ("s",), "texts": ("t",), "aspect": "coverage"} | fields)


def test_each_repeat_and_variant_is_a_separate_task():
    ids = {
        task().id,
        task(repeat=0).id,
        task(repeat=1).id,
        task(variant="p.v1").id,
        task(repeat=0, variant="p.v1").id,
    }
    assert len(ids) == 5
    assert task().id == task().id


@pytest.mark.parametrize("covered", [0, 0.5, 1])
def test_group_is_covered_fully_partly_or_not(covered):
    assert ChecklistEntry(unit="answer:0.0", covered=covered).covered == covered


@pytest.mark.parametrize("covered", [0.25, 2, -1])
def test_group_coverage_rejects_other_shares(covered):
    with pytest.raises(ValidationError, match=r"1, 0\.5 or 0"):
        ChecklistEntry(unit="answer:0.0", covered=covered)


def test_record_repr_shows_its_fields_and_shortens_long_values():
    row = {"eid": "e", "system": "s", "text": "It rained. " * 30, "note": 1}
    text = repr(Summary.model_validate(row))
    assert text == f"Summary(eid='e', system='s', text='{('It rained. ' * 30)[:57]}...', note=1)"
    articles = [{"aid": aid, "content": "It rained for a week."} for aid in "abcd"]
    cluster = Cluster.model_validate({"eid": "e", "articles": articles})
    assert repr(cluster) == "Cluster(eid='e', articles=<list of 4>)"
    assert repr(cluster.articles[0]) == "Article(aid='a', content='It rained for a week.')"


def test_an_estimate_shows_its_interval_and_its_units():
    estimate = Estimate(value=0.61234, low=0.5, high=0.71, n=40, n_excluded=2, p_value=0.002)
    assert repr(estimate) == "Estimate(0.6123 [0.5, 0.71], n=40, n_excluded=2, p=0.002)"
    assert f"{Estimate(value=3.0, n=2)}" == "Estimate(3, n=2)"
