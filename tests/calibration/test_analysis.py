"""Joining, the whole analysis, its JSON, audits and applying; real replies where they are there."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from builders import make_judgement, make_label
from scipy import stats as scipy_stats

from fairjudge.auditing.reports import parse_report
from fairjudge.calibration.agreement import Resampling
from fairjudge.calibration.analysis import Settings, analyse
from fairjudge.calibration.applying import apply_calibrators
from fairjudge.calibration.audits import EXTENDED, audit_position, audit_verbosity
from fairjudge.calibration.baselines import baseline_scores, document_groups
from fairjudge.calibration.calibrators import Calibrator
from fairjudge.calibration.curves import Line
from fairjudge.calibration.items import join
from fairjudge.calibration.to_json import (
    analysis_json,
    audits_json,
)
from fairjudge.domain import Article, Cluster, Judgement, Label, Summary, Undefined
from fairjudge.errors import InputError

FAST = Settings(resampling=Resampling(n_resamples=100))
DATA = Path(__file__).parents[2] / ".." / "shared" / "data" / "summeval"


def judgement(eid="d1", system="s1", value=3.0, **fields):
    return make_judgement(eid=eid, system=system, value=value, **fields)


def label(eid="d1", system="s1", value=3.0, annotator="p1", **fields):
    return make_label(eid=eid, system=system, annotator=annotator, value=value, **fields)


def pair(eid="d1", value="a", order="ab", a="s1", b="s2", **fields):
    return make_judgement(eid=eid, system_a=a, system_b=b, order=order, value=value, **fields)


def unscored(**more):
    return judgement(value=None, unscored="unparseable", **more)


def world(n_documents=40, n_systems=4, n_people=3, seed=0):
    """Return a judge that follows quality, and people who do."""
    rng = np.random.default_rng(seed)
    judgements, labels = [], []
    for d in range(n_documents):
        for s in range(n_systems):
            quality = 3 + 0.5 * (s - 1.5) + rng.normal()
            where = {"eid": f"d{d}", "system": f"s{s}"}
            score = float(np.clip(round(quality + rng.normal()), 1, 5))
            judgements.append(judgement(**where, value=score))
            labels += [
                label(
                    **where,
                    annotator=f"p{k}",
                    value=float(np.clip(round(quality + 0.7 * rng.normal()), 1, 5)),
                )
                for k in range(n_people)
            ]
    return judgements, labels


def report(judgements, labels, settings=FAST, **more):
    result = analysis_json(
        analyse(judgements, labels, settings=settings, **more), signature={}, list_all=False
    )
    json.dumps(result, allow_nan=False)  # No NaN anywhere: missing is null with its reason.
    return result


# Joining --------------------------------------------------------------------------------------


def test_unmatched_rows_are_counted_and_listed_both_ways():
    (joined,) = join(
        [judgement("d1"), judgement("d2"), judgement("d3")],
        [label("d2"), label("d3"), label("d4"), label("d5")],
    )
    assert [key[0] for key in joined.keys] == ["d2", "d3"]
    assert [key[0] for key in joined.rest] == ["d1"]
    assert [key[0] for key in joined.unjudged] == ["d4", "d5"]


@pytest.mark.parametrize(("list_all", "n_listed"), [(False, 20), (True, 25)])
def test_twenty_unmatched_rows_are_listed_by_default(list_all, n_listed):
    rows = [judgement("d", value=3.0), *(judgement(f"r{i:02}") for i in range(25))]
    labels = [label("d"), *(label(f"l{i:02}") for i in range(26))]
    result = analysis_json(analyse(rows, labels, settings=FAST), signature={}, list_all=list_all)
    unmatched = result["groups"][0]["unmatched"]
    assert unmatched["judged_without_label"] == 25
    assert unmatched["labelled_without_judgement"] == 26
    judged, labelled = (
        unmatched[f"{kind}_items"]
        for kind in ("judged_without_label", "labelled_without_judgement")
    )
    assert [item["eid"] for item in judged] == [f"r{i:02}" for i in range(n_listed)]
    assert judged[0] == {"eid": "r00", "system": "s1", "unit": "summary"}
    assert len(labelled) == n_listed + list_all


def test_reruns_are_averaged_and_reported():
    (joined,) = join([judgement(value=2.0), judgement(value=5.0)], [label()])
    assert joined.judged.tolist() == [3.5]
    assert joined.counts.repeated == 1
    group = report([judgement(value=2.0), judgement(value=5.0)], [label()])["groups"][0]
    assert "1 judgement of an item that has another (re-runs); averaged" in group["notes"]


def test_repeated_labels_are_averaged_and_reported():
    (joined,) = join([judgement()], [label(value=2.0), label(value=4.0), label(annotator="q")])
    assert joined.human.tolist() == [3.0]
    assert joined.counts.repeated_labels == 1


def test_adjudicated_labels_are_excluded_and_reported():
    decided = label(value=5.0, annotator="judge of judges", adjudicated=True)
    other = label(eid="d2", value=5.0, adjudicated=True)
    rows = [judgement(), judgement(eid="d2")]
    (joined,) = join(rows, [label(value=2.0), decided, other])
    assert joined.human.tolist() == [2.0]
    assert joined.annotators == ("p1",)
    assert joined.counts.adjudicated_labels == 2
    notes = report(rows, [label(value=2.0), decided, other])["groups"][0]["notes"]
    text = "excluded: such items were chosen because judge and people disagree"
    assert f"2 adjudicated labels {text}" in notes
    assert not any("adjudicated" in item for item in report(rows, [label()])["groups"][0]["notes"])
    (of_others,) = join(rows, [label(), decided], annotators=["p*"])
    assert of_others.counts.adjudicated_labels == 0


def test_only_adjudicated_labels_yield_no_measures():
    with pytest.raises(InputError, match="all labels are adjudicated"):
        join([judgement()], [label(adjudicated=True)])


def test_unscored_items_are_counted_by_reason_and_have_no_value():
    (joined,) = join([unscored(), judgement("d2")], [label("d1"), label("d2")])
    assert joined.counts.unscored == {"unparseable": 1}
    assert [key[0] for key in joined.keys] == ["d2"]
    assert [key[0] for key in joined.unjudged] == ["d1"]


def test_values_off_scale_or_of_wrong_type_are_excluded_and_counted():
    rows = [judgement(f"d{i}", value=float(1 + i % 5)) for i in range(20)]
    rows += [judgement("x", value=50.0), judgement("y", value="a")]
    labels = [label(f"d{i}", value=float(1 + i % 5)) for i in range(20)]
    (joined,) = join(rows, labels)
    assert joined.judge_scale == joined.label_scale == (1.0, 5.0)
    assert (joined.counts.off_scale, joined.counts.mistyped) == (1, 1)
    assert len(joined.keys) == 20


@pytest.mark.parametrize("n_labels", [3, 20])
def test_label_off_the_scale_of_the_others_raises(n_labels):
    rows = [judgement(f"d{i}", value=float(1 + i % 5)) for i in range(n_labels)]
    labels = [label(f"d{i}", value=float(1 + i % 5)) for i in range(1, n_labels)]
    with pytest.raises(InputError, match=r"the label 30 by .* in 'd0' lies off the scale 1 to 5"):
        join(rows, [label("d0", value=30.0), *labels])


def test_given_scale_applies_to_every_label():
    rows = [judgement(f"d{i}", value=float(1 + i % 5)) for i in range(20)]
    labels = [label(f"d{i}", value=float(i % 5)) for i in range(19)] + [label("d19", value=30.0)]
    (joined,) = join(rows, labels, label_scale=(0.0, 100.0))
    assert joined.label_scale == (0.0, 100.0)
    with pytest.raises(InputError, match="off the scale 0 to 10"):
        join(rows, labels, label_scale=(0.0, 10.0))


def test_labels_of_another_aspect_raise():
    with pytest.raises(InputError, match="the labels are of 'tone', the judgements of 'coverage'"):
        join([judgement()], [label().model_copy(update={"aspect": "tone"})])


def test_group_without_scores_does_not_fail():
    rows = [judgement(f"d{i}", value=float(1 + i % 5)) for i in range(12)]
    rows += [unscored().model_copy(update={"judge": "silent", "eid": f"d{i}"}) for i in range(12)]
    labels = [label(f"d{i}", value=float(1 + i % 5)) for i in range(12)]
    scored, silent = analyse(rows, labels, settings=Settings()).groups
    assert len(scored.joined.keys) == 12
    assert silent.joined.counts.unscored == {"unparseable": 12}
    assert isinstance(silent.agreement, Undefined)


def test_annotators_are_chosen_by_pattern():
    rows, labels = [judgement()], [label(annotator="expert1"), label(annotator="turk1", value=5.0)]
    (joined,) = join(rows, labels, annotators=("expert*",))
    assert joined.annotators == ("expert1",)
    with pytest.raises(InputError, match=r"nobody.*expert1"):
        join(rows, labels, annotators=("nobody*",))


def test_mixed_scales_raise_and_are_named():
    labels = [label(f"d{i}", value=float(1 + i % 5)) for i in range(20)]
    labels += [label(f"d{i}", annotator="hundred", value=5.0 * i) for i in range(20)]
    with pytest.raises(InputError, match=r"p1 1 to 5, hundred 0 to 100"):
        join([judgement(f"d{i}") for i in range(20)], labels)


def test_pairwise_verdict_as_label_of_one_summary_raises():
    with pytest.raises(InputError, match="expected a number"):
        join([judgement()], [label(value="a")])


def test_other_scale_is_rescaled_only_for_errors():
    rows, labels = world()
    hundred = [r.model_copy(update={"value": (r.value - 1) * 25}) for r in rows]
    plain, stretched = report(rows, labels)["groups"][0], report(hundred, labels)["groups"][0]
    assert stretched["scales"] == {"judge": [0.0, 100.0], "labels": [1.0, 5.0]}
    for group, other in ((plain, stretched),):
        for name in ("rmse", "ece"):
            assert group["calibration"]["before"][name]["value"] == pytest.approx(
                other["calibration"]["before"][name]["value"]
            )
    assert stretched["agreement"]["pooled"]["kappa"]["why"] == (
        "the judge's scale is not the labels' one"
    )


def test_parts_are_averaged_if_labels_are_per_summary():
    rows = [judgement(unit=f"sentence:{i}", value=float(v)) for i, v in enumerate((1, 2, 5, 4))]
    (joined,) = join(rows, [label(value=2.0)])
    assert joined.judged.tolist() == [3.0]
    assert any("averaged over each summary" in note for note in joined.notes)
    (exact,) = join(rows, [label(unit="sentence:2")])
    assert exact.judged.tolist() == [5.0]
    assert len(exact.rest) == 3


def test_both_orders_of_a_pair_are_combined_by_system():
    # (s1, s2) in order ab says a, in order ba says a: s1 wins both. The same written as (s2, s1)
    # must come out alike: there s1 is b.
    straight = [pair(value="a", order="ab"), pair(value="a", order="ba")]
    turned = [pair(value="a", order="ab"), pair(value="b", order="ab", a="s2", b="s1")]
    for rows in (straight, turned):
        (joined,) = join(rows, [label(system="s1", value=5.0), label(system="s2", value=2.0)])
        assert joined.judged.tolist() == [1.0]
        assert joined.human.tolist() == [3.0]
        assert joined.counts.one_order == 0
    (half,) = join(
        [pair(value="tie"), pair(value="b", order="ba")],
        [
            Label(
                eid="d1", system_a="s2", system_b="s1", aspect="coverage", annotator="p", value="a"
            )
        ],
    )
    assert half.judged.tolist() == [-0.5]
    assert half.human.tolist() == [-1.0]


# The analysis ---------------------------------------------------------------------------------


def test_results_match_scipy_and_keys_match_the_format():
    rows, labels = world()
    (group,) = report(rows, labels)["groups"]
    keys = {"judge", "aspect", "protocol", "n_items", "n_unscored", "agreement", "human"}
    assert keys | {"baselines", "calibration", "ppi"} <= set(group)
    assert set(group["agreement"]) == {"pooled", "per_document", "system", "summary"}
    assert group["agreement"]["summary"]["kendall"] == group["agreement"]["pooled"]["kendall"]
    x = [r.value for r in rows]
    y = np.reshape([label.value for label in labels], (-1, 3)).mean(axis=1)
    pooled = group["agreement"]["pooled"]
    assert pooled["kendall"]["value"] == pytest.approx(scipy_stats.kendalltau(x, y).statistic)
    assert pooled["spearman"]["value"] == pytest.approx(scipy_stats.spearmanr(x, y).statistic)
    assert pooled["pearson"]["value"] == pytest.approx(scipy_stats.pearsonr(x, y).statistic)
    ratings = np.reshape([label.value for label in labels], (-1, 3))
    leave_one_out = [
        scipy_stats.pearsonr(ratings[:, j], np.delete(ratings, j, axis=1).mean(axis=1)).statistic
        for j in range(3)
    ]
    assert group["human"]["pooled"]["pearson"]["value"] == pytest.approx(np.mean(leave_one_out))
    for figures in (pooled, group["human"]["pooled"]):
        for figure in figures.values():
            assert figure["low"] <= figure["value"] <= figure["high"]


def test_the_same_seed_gives_the_same_report():
    rows, labels = world()
    assert report(rows, labels) == report(rows, labels)


def test_calibration_lowers_the_error_of_a_lenient_judge():
    rows, labels = world()
    lenient = [r.model_copy(update={"value": min(5.0, r.value + 1.0)}) for r in rows]
    result = report(lenient, labels)["groups"][0]["calibration"]
    assert result["before"]["bias"]["value"] > 0.5
    assert abs(result["after"]["bias"]["value"]) < 0.1
    assert result["after"]["rmse"]["value"] < result["before"]["rmse"]["value"]
    assert result["calibrator"]["curve"]["method"] == "isotonic"


def test_ppi_rows_for_means_and_differences():
    rows, labels = world(n_documents=100)
    few = [label for label in labels if int(label.eid[1:]) < 30]
    result = report(rows, few)["groups"][0]["ppi"]
    means = {item["system"]: item for item in result if item["kind"] == "mean"}
    assert set(means) == {"s0", "s1", "s2", "s3"}
    assert means["s0"]["n_labelled"] == 30
    assert means["s0"]["n_unlabelled"] == 70
    y = [item.value for item in few if item.system == "s0"]
    assert means["s0"]["classical"]["value"] == pytest.approx(np.mean(y))
    assert sum(item["kind"] == "difference" for item in result) == 6
    everything = report(rows, labels)["groups"][0]["ppi"][0]
    assert "every judged item is labelled" in everything["ppi"]["why"]
    assert everything["classical"]["value"] is not None


def test_random_judge_has_no_agreement():
    rows, labels = world(n_documents=60)
    rng = np.random.default_rng(1)
    values = rng.permutation([4.0] * 225 + [5.0] * 15)
    worthless = [
        r.model_copy(update={"value": float(v)}) for r, v in zip(rows, values, strict=True)
    ]
    (group,) = report(worthless, labels)["groups"]
    spearman = group["agreement"]["pooled"]["spearman"]
    assert spearman["low"] < 0.0 < spearman["high"]
    assert group["human"]["pooled"]["spearman"]["low"] > 0.5
    assert group["replaceability"]["winning_rate"] == 0.0


@pytest.mark.parametrize(
    ("change", "place", "word"),
    [
        (lambda js, ls: ([j.model_copy(update={"value": 3.0}) for j in js], ls),
         ("agreement", "pooled", "spearman"), "the judge's scores are all 3"),
        (lambda js, ls: (js, [x.model_copy(update={"value": 3.0}) for x in ls]),
         ("human", "pooled", "kendall"), "labels by p0 are all 3"),
        (lambda js, ls: (js, [x for x in ls if x.annotator == "p0"]),
         ("human", "pooled", "pearson"), "no annotator shares 10 items"),
        (lambda js, ls: ([j for j in js if j.system == "s0"], ls),
         ("agreement", "system", "kendall"), "1 system"),
        (lambda js, ls: (js[:3], ls),
         ("calibration", "calibrator"), "needs 30"),
        (lambda js, ls: (js, ls[:0]),
         ("agreement",), "0 items"),
        (lambda js, ls: (js, [x for x in ls if x.annotator != "p0"]),
         ("replaceability",), "the test needs 3"),
    ],
)  # fmt: skip
def test_degenerate_data_report_the_reason(change, place, word):
    (group,) = report(*change(*world()))["groups"]
    value = group
    for name in place:
        value = value[name]
    assert word in value["why"]
    assert value.get("value") is None


def test_protocols_are_compared_on_common_items_with_holm():
    rows, labels = world()
    rng = np.random.default_rng(0)
    poor = [
        r.model_copy(update={"judge": "poor", "value": float(rng.integers(1, 6))})
        for r in rows[:-8]
    ]
    (comparison,) = report([*rows, *poor], labels)["comparisons"]
    assert (comparison["first"], comparison["second"]) == ("j (likert)", "poor (likert)")
    assert comparison["n_items"] == len(rows) - 8
    assert comparison["difference"]["value"] > 0.3
    assert comparison["adjusted_p_value"] < 0.05


@pytest.mark.parametrize(("n_documents", "n_compared"), [(9, 0), (10, 1)])
def test_judges_are_compared_from_10_items(n_documents, n_compared):
    rows, labels = world(n_documents=n_documents, n_systems=1)
    other = [row.model_copy(update={"judge": "other"}) for row in rows]
    assert len(report([*rows, *other], labels)["comparisons"]) == n_compared


def test_judge_comparison_resamples_whole_documents():
    """Four systems alike in each document say no more than one: the interval stays as wide."""
    rows, labels = world(n_systems=1)
    rng = np.random.default_rng(0)
    rows += [
        row.model_copy(update={"judge": "other", "value": float(rng.integers(1, 6))})
        for row in rows
    ]

    def width(names):
        items = [row.model_copy(update={"system": name}) for row in rows for name in names]
        texts = [label.model_copy(update={"system": name}) for label in labels for name in names]
        (comparison,) = report(items, texts)["comparisons"]
        return comparison["difference"]["high"] - comparison["difference"]["low"]

    assert width("abcd") == pytest.approx(width("a"), rel=0.15)


def test_protocols_are_compared_on_shared_items():
    rows, labels = world()
    other = [row.model_copy(update={"judge": "other"}) for row in rows]
    (comparison,) = report([*rows[:-8], *other], labels)["comparisons"]
    assert comparison["n_items"] == len(rows) - 8
    (comparison,) = report([*rows[:-8], *other[4:]], labels)["comparisons"]
    assert comparison["n_items"] == len(rows) - 12


def test_probabilities_are_assessed_and_scaled():
    rows, labels = world(n_documents=60)
    rng = np.random.default_rng(0)
    sure = []
    for row in rows:
        top = int(row.value)
        by_name = {str(v): 0.01 for v in range(1, 6)} | {str(top): 0.96}
        sure.append(row.model_copy(update={"probabilities": by_name}))
    result = report(sure, labels)["groups"][0]["calibration"]["distribution"]
    assert result["n"] == len(rows)
    assert result["before"]["sharpness"]["value"] == pytest.approx(0.96)
    assert result["temperature"]["value"] > 1.5  # It was too sure.
    assert result["after"]["log_loss"]["value"] < result["before"]["log_loss"]["value"]
    assert (
        "no probabilities"
        in report(rows, labels)["groups"][0]["calibration"]["distribution"]["why"]
    )
    assert rng is not None


def test_named_system_families_are_compared():
    rows, labels = world()  # Systems s0 to s3.
    # The judge flatters s0 and s2 by 1.5 points.
    rows = [
        row.model_copy(update={"value": min(row.value + 1.5, 5.0)})
        if row.system in ("s0", "s2")
        else row
        for row in rows
    ]
    settings = replace(FAST, families=(("ours", "s[02]"), ("theirs", "s1"), ("theirs", "s*")))
    (group,) = report(rows, labels, settings=settings)["groups"]
    families = {item["group"]: item for item in group["fairness"]["groups"]["family"]}
    assert {name: family["n"] for name, family in families.items()} == {"ours": 80, "theirs": 80}
    assert families["ours"]["error_gap"]["low"] > 0
    assert families["ours"]["flagged"]


@pytest.mark.parametrize(("n", "few"), [(1, True), (14, True), (15, False)])
def test_warns_below_fifteen_documents(n, few):
    rows = [judgement(f"d{i}", value=1.0 + i % 5) for i in range(n)]
    labels = [label(f"d{i}", value=1.0 + (i + 1) % 5) for i in range(n)]
    elsewhere = [judgement("judged-alone", value=3.0)], [label("labelled-alone", value=4.0)]
    (group,) = report([*rows, *elsewhere[0]], [*labels, *elsewhere[1]])["groups"]
    assert (group["n_documents"], group["few_documents"]) == (n, few)
    noun = "document" if n == 1 else "documents"
    assert (f"{n} {noun}: intervals over so few are rough" in group["notes"]) == few


def test_few_documents_are_noted():
    rows, labels = world()
    few = {f"d{d}" for d in range(14)}
    (group,) = report([r for r in rows if r.eid in few], labels)["groups"]
    assert "14 documents: intervals over so few are rough" in group["notes"]
    (group,) = report(rows, labels)["groups"]
    assert not any("rough" in note for note in group["notes"])


def test_baselines_and_groups_from_summaries_and_clusters():
    rows, labels = world()
    summaries = [
        Summary(eid=r.eid, system=r.system, text="word " * (3 + int(r.system[1:]))) for r in rows
    ]
    clusters = [
        Cluster(eid=f"d{d}", articles=(Article(aid="1", content="a word", domain=f"o{d % 2}"),))
        for d in range(40)
    ]
    (group,) = report(rows, labels, summaries=summaries, clusters=clusters)["groups"]
    assert set(group["baselines"]) == {
        "longest",
        "shortest",
        "lead_overlap",
        "source_overlap",
        "random",
    }
    longest = group["baselines"]["longest"]["pooled"]["pearson"]["value"]
    shortest = group["baselines"]["shortest"]["pooled"]["pearson"]["value"]
    assert longest > 0.2  # Length goes with the system here, and so with quality.
    assert shortest == pytest.approx(-longest)
    assert {"system", "outlet", "length"} == set(group["fairness"]["groups"])
    support = {(r.eid, r.system): 0.5 for r in rows[:5]}
    (part,) = report(rows, labels, support=support)["groups"]
    assert "such a score for 5 of 160 items" in part["baselines"]["embedding_support"]["why"]
    # An empty summary has no support: the other 159 items are measured, and one is counted.
    support = {(r.eid, r.system): float(row % 7) for row, r in enumerate(rows) if row}
    (part,) = report(rows, labels, support=support)["groups"]
    spearman = part["baselines"]["embedding_support"]["pooled"]["spearman"]
    assert (spearman["n"], spearman["n_excluded"]) == (159, 1)


def test_baseline_scores_by_hand():
    cluster = Cluster(
        eid="d", articles=(Article(aid="1", content="The cat sat. " + "x " * 200 + "dog"),)
    )
    result = baseline_scores([Summary(eid="d", system="s", text="A cat, a dog!")], [cluster])
    assert result["longest"]["d", "s"] == 4.0
    assert result["shortest"]["d", "s"] == -4.0
    assert result["lead_overlap"]["d", "s"] == 0.25  # Of a, cat, a, dog only cat is in the lead.


def test_document_groups_take_the_majority_of_articles():
    def cluster(eid, *values):
        articles = tuple(
            Article(aid=str(i), content="", attributes={"side": v}) for i, v in enumerate(values)
        )
        return Cluster(eid=eid, articles=articles)

    result = document_groups(
        [cluster("x", "l", "l", "r"), cluster("y", "l", "r"), cluster("z", "r")]
    )
    assert result == {"side": {"x": "l", "z": "r"}}
    assert document_groups([cluster("x", "l")]) == {}


def test_baselines_of_an_empty_summary_and_a_lead_of_100_words():
    lead = " ".join(f"w{i}" for i in range(101))
    cluster = Cluster(eid="d", articles=(Article(aid="1", content=lead),))
    result = baseline_scores(
        [Summary(eid="d", system="s", text="w99 w100"), Summary(eid="d", system="t", text=""),
         Summary(eid="elsewhere", system="s", text="w1")],
        [cluster],
    )  # fmt: skip
    assert result["lead_overlap"] == {("d", "s"): 0.5, ("d", "t"): 0.0}
    assert result["longest"]["d", "t"] == 0.0
    assert "lead_overlap" not in baseline_scores([Summary(eid="d", system="s", text="a")])


def test_documents_can_be_grouped_by_outlet():
    def cluster(eid, *domains):
        articles = tuple(
            Article(aid=str(i), content="", domain=name) for i, name in enumerate(domains)
        )
        return Cluster(eid=eid, articles=articles)

    result = document_groups([cluster("x", "a.org", "a.org", "b.org"), cluster("y", "b.org", "")])
    assert result == {}  # y has no majority: one of two articles
    result = document_groups([cluster("x", "a.org", "a.org", "b.org"), cluster("y", "b.org")])
    assert result == {"outlet": {"x": "a.org", "y": "b.org"}}


# Audits and applying --------------------------------------------------------------------------


def test_position_audit_reports_percentages_and_counts():
    rows = [
        pair("d1", "a", "ab"), pair("d1", "b", "ba"),  # a was first, then b was: First.
        pair("d2", "a", "ab"), pair("d2", "b", "ba"),
        pair("d2", "a", "ba"),  # a re-run, which counts: consistent
        pair("d3", "a", "ab"),  # one order alone
        pair("d4", "a", None),
        pair("d5", None, "ab", unscored="refused"),
    ]  # fmt: skip
    (group,) = audits_json(audit_position(rows))["groups"]
    assert (group["n_pairs"], group["n_unscored"], group["n_one_order"]) == (2, 1, 1)
    assert (group["n_unknown_order"], group["n_repeated"]) == (1, 1)
    assert group["first"]["value"] == pytest.approx(50.0)
    assert group["second"]["value"] == 0.0
    assert group["consistency"]["value"] == pytest.approx(50.0)


def test_position_audit_by_systems_and_closeness():
    rows = [
        row
        for d in range(6)
        for row in (
            pair(f"d{d}", "a", "ab", b=f"s{2 + d % 2}"),
            pair(f"d{d}", "b" if d % 2 else "a", "ba", b=f"s{2 + d % 2}"),
        )
    ]
    quality = {(f"d{d}", f"s{s}"): {1: 3.0, 2: 5.0, 3: 3.2}[s] for d in range(6) for s in (1, 2, 3)}
    (audit,) = audit_position(rows, quality=quality)
    assert set(audit.by_systems) == {"s1 vs s2", "s1 vs s3"}
    assert audit.by_systems["s1 vs s3"].first.value == 1.0
    assert audit.by_closeness["close"].first.value == 1.0
    assert audit.by_closeness["far apart"].first.value == 0.0


def test_verbosity_audit_of_scores_and_pairs():
    rows = []
    for d, (short, long) in enumerate([(3, 4), (3, 3), (5, 2), (2, 4)]):
        rows += [judgement(f"d{d}", value=float(short))]
        rows += [judgement(f"d{d}", "s1" + EXTENDED, value=float(long))]
    rows.append(judgement("d9", "s1" + EXTENDED))
    for d, (first, second) in enumerate([("a", "a"), ("a", "b"), ("b", "b")]):
        rows.append(pair(f"d{d}", first, "ab", b="s1" + EXTENDED))
        rows.append(pair(f"d{d}", second, "ba", b="s1" + EXTENDED))
    likert, pairwise = audits_json(audit_verbosity(rows))["groups"]
    for group, protocol in ((likert, "likert"), (pairwise, "pairwise")):
        key = (group["judge"], group["aspect"], group["protocol"])
        assert key == ("j", "coverage", protocol)
    assert likert["original"]["value"] == pytest.approx(25.0)
    assert likert["extended"]["value"] == pytest.approx(50.0)
    assert (likert["n"], likert["n_unmatched"]) == (4, 1)
    assert pairwise["original"]["value"] == pytest.approx(100 / 3)
    assert pairwise["extended"]["value"] == pytest.approx(100 / 3)
    assert audit_verbosity([judgement()]) == ()


def test_parse_audit_counts_reasons():
    report = parse_report([judgement(), unscored(eid="d2"), unscored(eid="d3")])
    (audit,) = report["groups"]
    assert (audit["n_judgements"], audit["n_unscored"]) == (3, 2)
    assert audit["unscored"] == {"unparseable": 2}
    assert audit["scored_by"] == {"llm": 1}


def test_applying_a_calibrator_keeps_every_row():
    calibrator = Calibrator(
        curve=Line(intercept=1.0, slope=0.5, low=1.0, high=5.0),
        n_labels=50,
        score_range=(2.0, 5.0),
        label_range=(1.0, 5.0),
        judge="j",
        aspect="coverage",
        protocol="likert",
    )
    rows = [judgement(value=4.0), judgement(value=1.0), unscored(), pair(), judgement(judge="k")]
    applied = apply_calibrators([calibrator], rows)
    assert [row.value for row in applied.judgements] == [3.0, 2.0, None, "a", 3.0]
    assert applied.judgements[0].to_json()["uncalibrated"] == 4.0
    assert (applied.n_calibrated, applied.n_outside) == (2, 1)
    assert (applied.n_other, applied.n_unscored) == (2, 1)


# Real data ------------------------------------------------------------------------------------


@pytest.mark.skipif(not DATA.exists(), reason="the shared SummEval data are not here")
@pytest.mark.parametrize(
    ("aspect", "first", "second", "consistent"),
    [("consistency", 6.7, 25.2, 64.4), ("relevance", 22.0, 7.5, 66.9)],
)
def test_published_position_bias_of_gpt_35(aspect, first, second, consistent):
    # Figures of issue 4 for Shen et al.'s (2023) head-to-head replies: A, B, or C for a tie.
    rows = []
    with (DATA / f"pairwise_gpt-3.5_{aspect}.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            letter = re.match(r"\s*\(?([ABC])\b", record["response"])
            assert letter is not None
            sides = ("b", "a", "tie") if record["swapped"] else ("a", "b", "tie")
            rows.append(
                pair(
                    record["eid"],
                    sides["ABC".index(letter[1])],
                    "ba" if record["swapped"] else "ab",
                    a=record["system_a"],
                    b=record["system_b"],
                )
            )
    (group,) = audits_json(audit_position(rows))["groups"]
    assert group["n_pairs"] == 1100
    assert group["first"]["value"] == pytest.approx(first, abs=0.05)
    assert group["second"]["value"] == pytest.approx(second, abs=0.05)
    assert group["consistency"]["value"] == pytest.approx(consistent, abs=0.05)


def test_labels_of_summaries_and_of_their_parts_may_share_a_file():
    """Judged summaries are joined with summary labels, whatever scale the parts' labels are on."""
    judged = [
        Judgement(eid=str(i), system="s", aspect="coverage", protocol="likert", judge="j", value=3)
        for i in range(4)
    ]
    whole = [
        Label(eid=str(i), system="s", aspect="coverage", annotator="p", value=1 + i)
        for i in range(4)
    ]
    parts = [
        Label(
            eid=str(i), system="s", aspect="coverage", annotator="p", value=1, unit=f"answer:0.{g}"
        )
        for i in range(4)
        for g in range(9)
    ]
    (joined,) = join(judged, [*parts, *whole])
    assert joined.label_scale == (1, 5)
    assert len(joined.keys) == 4


def test_labels_of_judged_parts_take_precedence_over_summary_labels():
    labels = [label(value=1.0), label(unit="sentence:1", value=4.0), label(unit="answer:0.0")]
    rows = [judgement(unit="sentence:1", value=5.0), judgement(unit="sentence:2", value=2.0)]
    (parts,) = join(rows, labels)
    assert parts.human.tolist() == [4.0]
    # where no such part is labelled, the labels of whole summaries count, and no other part's
    (whole,) = join(rows, [labels[0], labels[2]])
    assert (whole.human.tolist(), whole.judged.tolist()) == ([1.0], [3.5])
    # nor does a judgement of the whole ask for labels of it: those of its parts are averaged
    (averaged,) = join([judgement(value=2.0)], [labels[2], label(unit="answer:0.1", value=1.0)])
    assert averaged.human.tolist() == [(labels[2].value + 1.0) / 2]


def test_judged_aspect_without_labels_is_noted():
    rows = [judgement(), judgement(aspect="faithfulness")]
    with_labels, without = join(rows, [label()])
    assert with_labels.notes == ()
    assert "no labels for aspect 'faithfulness'" in without.notes
