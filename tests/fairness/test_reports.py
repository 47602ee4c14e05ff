"""From clusters, summaries and supports to the JSON that other programs read."""

import json

import numpy as np
import pytest

from fairjudge.domain import Summary
from fairjudge.errors import InputError
from fairjudge.fairness.coverage_report import CoverageOptions, report_coverage
from fairjudge.fairness.proportional_report import ProportionalOptions, report_proportional
from fairjudge.fairness.to_json import coverage_json, proportional_json
from fairjudge.fairness.values import label_corpus
from fairjudge.reports.fairness_tables import proportional_tables
from fairjudge.text.tokens import Normaliser, Runs
from tests.fairness.conftest import make_cluster, make_support

QUICK = ProportionalOptions(n_resamples=200)
QUICK_COVERAGE = CoverageOptions(n_resamples=200, n_permutations=200)


def test_proportional_json_has_the_documented_shape_and_values(odd_corpus):
    corpus, summaries = odd_corpus
    result = proportional_json(report_proportional(corpus, summaries, options=QUICK))
    system = result["systems"]["s"]
    # good: terms a = slow servic slow food (4), b = nice wine (2): p_x = (2/3, 1/3).
    #   summary: slow a, servic a, nice b, wine b: p_y = (1/2, 1/2); 1/2 < .8 * 2/3: unfair,
    #   UER = (2/3 - 1/2) / 2 = 1/12
    # partly: a = slow, b = nice: p_x = (1/2, 1/2); summary "nice wine": p_y = (0, 1): UER 1/4
    # one, single: one value, p_y = p_x: 0
    assert system["n"] == 4
    assert system["bur"]["value"] == pytest.approx(50.0)
    assert system["uer"]["value"] == pytest.approx(100 * (1 / 12 + 1 / 4) / 4)
    assert system["one_value"] == 2
    assert system["several_values"]["n"] == 2
    assert system["several_values"]["bur"]["value"] == pytest.approx(100.0)
    for name in ("bur", "uer", "auc", "sof"):
        # four samples tell nothing of others
        assert (system[name]["low"], system[name]["high"]) == (None, None)
    assert system["by_value"]["a"]["n"] == 3
    assert system["novel_terms"]["value"] == 0.0
    assert json.loads(json.dumps(result, allow_nan=False)) == result


@pytest.mark.parametrize(
    ("summary", "ngrams", "novel"),
    [
        ("Slow service, nice wine.", 1, 0.0),
        ("Slow service, cheap beer.", 1, 50.0),
        ("Slow slow cheap trains.", 1, 50.0),  # each as often as it stands
        ("Slow service, nice wine.", 2, 100 / 3),  # "service nice" is in no document
    ],
)
def test_novel_terms_occur_in_no_document(summary, ngrams, novel):
    cluster = make_cluster("c", [("a", "Slow service."), ("b", "Nice wine.")])
    runs = Normaliser() if ngrams == 1 else Runs(Normaliser(), ngrams)
    report = report_proportional(
        label_corpus([cluster], attribute="side"),
        [Summary(eid="c", system="s", text=summary)],
        options=ProportionalOptions(n_resamples=100, normaliser=runs),
    )
    result = proportional_json(report)
    figure = result["systems"]["s"]["novel_terms"]
    assert figure["value"] == pytest.approx(novel)
    assert (figure["low"], figure["high"]) == (None, None)  # of one summary
    (note,) = [n for n in proportional_tables(result)[0].notes if n.startswith("Terms of summ")]
    assert note == f"Terms of summaries that are in no document, in percent: s {novel:.1f}."


def test_proportional_counts_and_names_unmeasurable_samples(odd_corpus):
    corpus, summaries = odd_corpus
    result = proportional_json(report_proportional(corpus, summaries, options=QUICK))
    assert result["systems"]["s"]["excluded"] == 4
    assert {entry["eid"]: entry["reason"] for entry in result["excluded"]} == {
        "unlabelled": "no_values", "silent": "empty_summary",
        "unsupported": "no_support", "blank": "no_text",
    }  # fmt: skip
    assert result["notes"][0] == (
        "3 documents without a known 'side' were excluded: unlabelled/unlabelled-0, "
        "unlabelled/unlabelled-1, partly/partly-2"
    )


def test_proportional_accepts_scores_and_names_missing_ones(odd_corpus):
    corpus, summaries = odd_corpus
    options = ProportionalOptions(n_resamples=100, scorer="bart_score:tiny")
    scores = {("good", "s"): {"a": -1.0, "b": -1.0}}
    report = report_proportional(corpus, summaries, options=options, scores=scores)
    result = proportional_json(report)
    # equal scores: p_y = (1/2, 1/2) as with unigrams above
    (sample,) = (sample for sample in result["samples"] if sample["eid"] == "good")
    assert sample["summary"] == [0.5, 0.5]
    assert result["systems"]["s"]["excluded_by_reason"]["unscored"] == 4
    assert "scorer:bart_score:tiny" in result["signature"]
    assert "temperature:0.1" in result["signature"]


def test_set_incompatible_with_the_target_is_excluded(odd_corpus):
    corpus, summaries = odd_corpus
    options = ProportionalOptions(target={"b": 1.0}, n_resamples=100)
    result = proportional_json(report_proportional(corpus, summaries, options=options))
    reasons = {entry["eid"]: entry["reason"] for entry in result["excluded"]}
    assert reasons["one"] == "target_absent"
    assert "target:b=1" in result["signature"]


def test_coverage_json_by_hand(odd_corpus):
    corpus, summaries = odd_corpus
    supports = [
        # means .9, .5, .1: p(a) = .7, p(b) = .1, overall .5: EC = (.2 + .4) / 2 = .3
        make_support("good", [[1.0, 0.8], [0.4, 0.6], [0.2, 0.0]]),
        # the third document has no value and is left out: p = .8 and .4, overall .6: EC = .2
        make_support("partly", [[0.8], [0.4], [1.0]]),
        make_support("one", [[1.0], [1.0]]),
        make_support("unsupported", [[0.0], [0.0]]),
    ]
    result = coverage_json(report_coverage(corpus, summaries, supports, options=QUICK_COVERAGE))
    system = result["systems"]["s"]
    assert system["n"] == 2
    assert system["equal_coverage"]["value"] == pytest.approx(0.25)
    assert system["r_ec"]["value"] == 0.0
    # c = (.2, -.4) and (.2, -.2): means .2 and -.3, CP = .25
    assert system["by_value"]["a"]["mean"] == pytest.approx(0.2)
    assert system["by_value"]["b"]["mean"] == pytest.approx(-0.3)
    assert {"low", "high", "p_value"} <= system["by_value"]["a"].keys()
    assert system["coverage_parity"]["value"] == pytest.approx(0.25)
    assert (system["over"], system["under"]) == ("a", "b")
    assert system["excluded"] == 6
    assert {entry["eid"]: entry["reason"] for entry in result["excluded"]} == {
        "one": "one_value", "single": "one_value", "unlabelled": "no_values",
        "silent": "empty_summary", "unsupported": "no_support", "blank": "unscored",
    }  # fmt: skip
    good = next(sample for sample in result["samples"] if sample["eid"] == "good")
    # with b on the first document p(b) = .9, p(a) = .3 and EC = .3 too: 2 of 3 reach it
    assert good["p_value"] == pytest.approx(2 / 3)
    assert good["exact"]
    assert json.loads(json.dumps(result, allow_nan=False)) == result


def test_empty_coverage_is_null_with_reason(odd_corpus):
    corpus, summaries = odd_corpus
    result = coverage_json(report_coverage(corpus, summaries, [], options=QUICK_COVERAGE))
    system = result["systems"]["s"]
    assert system["n"] == 0
    assert system["equal_coverage"]["value"] is None
    assert "no samples" in system["coverage_parity"]["why"]
    assert (system["over"], system["under"]) == (None, None)


def test_similarity_scorers_are_labelled(odd_corpus):
    corpus, summaries = odd_corpus
    support = make_support("good", [[0.5], [0.2], [-0.1]], kind="similarity")
    report = report_coverage(corpus, summaries, [support], options=QUICK_COVERAGE)
    assert any("similarity" in note for note in report.notes)
    assert "kind:similarity" in report.signature


def test_systems_do_not_affect_each_other(odd_corpus):
    corpus, summaries = odd_corpus
    another = [Summary(eid=s.eid, system="another", text="nice") for s in summaries]
    alone = report_proportional(corpus, summaries, options=QUICK).systems["s"]
    beside = report_proportional(corpus, [*another, *summaries], options=QUICK).systems["s"]
    assert alone == beside


def test_mismatched_input_raises(odd_corpus):
    corpus, summaries = odd_corpus
    with pytest.raises(InputError, match="two summaries of 'good' by 's'"):
        report_proportional(corpus, [summaries[0], summaries[0]], options=QUICK)
    with pytest.raises(InputError, match="no summary belongs"):
        report_proportional(corpus, [Summary(eid="elsewhere", system="s", text="x")], options=QUICK)
    with pytest.raises(InputError, match="target value 'z'"):
        report_proportional(corpus, summaries, options=ProportionalOptions(target={"z": 1.0}))
    twice = [make_support("good", [[1.0]] * 3)] * 2
    with pytest.raises(InputError, match="two supports of 'good'"):
        report_coverage(corpus, summaries, twice, options=QUICK_COVERAGE)


def test_summaries_of_unknown_clusters_are_named(odd_corpus):
    corpus, summaries = odd_corpus
    stray = Summary(eid="elsewhere", system="s", text="x")
    result = report_proportional(corpus, [*summaries, stray], options=QUICK)
    assert any("elsewhere" in note for note in result.notes)


def test_fifty_values_are_measured():
    values = [f"v{i:02}" for i in range(50)]
    clusters = [make_cluster("c", [(v, f"common {v}word") for v in values])]
    corpus = label_corpus(clusters, attribute="side")
    summaries = [Summary(eid="c", system="s", text="Common v00word")]
    result = proportional_json(report_proportional(corpus, summaries, options=QUICK))
    # v00 gets 2 of 51 hits, the others 1 each: nobody is below .8 / 50
    assert result["systems"]["s"]["bur"]["value"] == 0.0
    assert len(result["systems"]["s"]["by_value"]) == 50
    support = make_support("c", [[float(i == 0)] for i in range(50)])
    result = coverage_json(report_coverage(corpus, summaries, [support], options=QUICK_COVERAGE))
    # p(v00) = 1, others 0, overall .02: EC = (.98 + 49 * .02) / 50
    assert result["systems"]["s"]["equal_coverage"]["value"] == pytest.approx(1.96 / 50)


def test_human_labels_correct_a_biased_scorer():
    # People see no difference between values; the scorer gives a 0.2 more than b everywhere.
    rng = np.random.default_rng(3)
    clusters, summaries, scored, human = [], [], [], []
    for place in range(120):
        eid = f"c{place}"
        clusters.append(make_cluster(eid, [("a", "x"), ("a", "y"), ("b", "z"), ("b", "w")]))
        summaries.append(Summary(eid=eid, system="s", text="x"))
        truth = rng.uniform(0.3, 0.6, (4, 3))
        lift = np.array([[0.2], [0.2], [0.0], [0.0]])
        scored.append(make_support(eid, truth + lift))
        if place < 40:
            human.append(make_support(eid, truth))
    corpus = label_corpus(clusters, attribute="side")
    options = CoverageOptions(n_resamples=200, n_permutations=200, error_rate=0.05)
    report = report_coverage(corpus, summaries, scored, options=options, human=human)
    system = coverage_json(report)["systems"]["s"]
    corrected = system["corrected"]["difference"]["a"]
    assert system["by_value"]["a"]["low"] > 0.05
    assert corrected["uncorrected"] == pytest.approx(0.1, abs=0.02)
    assert corrected["low"] < 0 < corrected["high"]
    assert corrected["n_labelled"] == system["corrected"]["n_labelled"] == 40
    # half of the documents have each value: c moves by at most 2 * .05 / 2
    band = system["sensitivity"]["by_value"]["a"]
    assert band["low"] == pytest.approx(band["mean"] - 0.05)
    assert band["tipping_rate"] == pytest.approx(band["mean"])
    assert system["dominance"]["n_tied"] == 120
    assert "fewer than two values" in system["dominance"]["unfair_share"]["why"]


def test_missing_and_unmatched_summaries_are_reported():
    sides = [("a", "slow service"), ("b", "nice wine")]
    corpus = label_corpus([make_cluster(eid, sides) for eid in ("one", "two")], attribute="side")
    texts = [
        Summary(eid="one", system="whole", text="slow wine"),
        Summary(eid="two", system="whole", text="slow wine"),
        Summary(eid="one", system="partly", text="slow wine"),
        Summary(eid="elsewhere", system="partly", text="slow wine"),
    ]
    result = report_proportional(corpus, texts, options=QUICK)
    assert result.notes[-2:] == (
        "excluded summaries of 1 unknown cluster: elsewhere",
        "'partly' has no summary of 1 of 2 clusters: two",
    )
    assert not any("whole" in note for note in result.notes)


def test_low_permutation_p_value_means_unfair():
    sides = [(side, "slow service") for side in "aaaabbbb"]
    clusters = [make_cluster(eid, sides) for eid in ("unequal", "equal")]
    supports = [
        make_support("unequal", [[1.0]] * 4 + [[0.0]] * 4),  # p = 2 of 70
        make_support("equal", [[0.9], [0.1]] * 4),
    ]
    texts = [Summary(eid=eid, system="s", text="slow service") for eid in ("unequal", "equal")]
    corpus = label_corpus(clusters, attribute="side")
    result = coverage_json(report_coverage(corpus, texts, supports, options=QUICK_COVERAGE))
    unfair = {sample["eid"]: sample["unfair"] for sample in result["samples"]}
    assert unfair == {"unequal": True, "equal": False}
    assert result["systems"]["s"]["r_ec"]["value"] == pytest.approx(0.5)


def test_stop_word_summary_is_empty_except_in_the_released_variant():
    corpus = label_corpus(
        [make_cluster(eid, [("a", "slow"), ("b", "wine")]) for eid in "xy"], attribute="side"
    )
    texts = [
        Summary(eid="x", system="s", text="the of and"),
        Summary(eid="y", system="s", text="slow wine"),
    ]

    def reasons(**options):
        report = report_proportional(
            corpus, texts, options=ProportionalOptions(n_resamples=100, **options)
        )
        return {item["eid"]: item["reason"] for item in proportional_json(report)["excluded"]}

    assert reasons().get("x") == "empty_summary"
    assert reasons(released=True).get("x") != "empty_summary"
