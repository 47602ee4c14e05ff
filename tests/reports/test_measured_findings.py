"""Sentences on audits, ranks, fairness and bias: what the interval allows, and no more."""

from __future__ import annotations

import pytest

from fairjudge.records.schema import SCHEMA
from fairjudge.reports.kinds import make_findings, with_findings


def figure(value, low, high, **more):
    return {"value": value, "low": low, "high": high, **more}


def of(kind, **group):
    return make_findings(kind, {"groups": [{"judge": "j", "aspect": "coverage", **group}]})


@pytest.mark.parametrize(
    ("difference", "phrase"),
    [
        (figure(12.0, 4.0, 20.0, p_value=0.01), "prefers the summary shown first, by 12.0 [4.0"),
        (figure(-12.0, -20.0, -4.0, p_value=0.01), "prefers the summary shown second"),
        (figure(3.0, -4.0, 10.0, p_value=0.4), "shows no significant position bias"),
        (figure(9.0, 9.0, 9.0, p_value=0.5), "shows no significant position bias"),
    ],
)
def test_position_preference_follows_the_interval(difference, phrase):
    (text, *sentences) = of(
        "audit position",
        first_minus_second=difference,
        consistency=figure(95.0, 90.0, 98.0),
        n_pairs=40,
    )
    assert phrase in text
    assert "95.0 [90, 98] % of 40 pairs" in text
    assert not sentences


def test_unmeasured_position_is_not_called_unbiased():
    none = figure(None, None, None, why="no values")
    text = of("audit position", first_minus_second=none, consistency=none, n_pairs=0)
    assert text == ("j in coverage: position bias not estimated: no values.",)


def test_unmentioned_groups_are_not_called_equally_mentioned():
    none = figure(None, None, None, why="no identifier of any group")
    system = {"by_group": {"female": {"difference": none}}}
    text = make_findings("bias words", {"systems": {"s": system}, "reference": "source"})
    assert text == ("Inclusion of groups not estimated: no system has a value.",)


def test_inconsistent_judge_should_be_asked_in_both_orders():
    *_, last = of(
        "audit position",
        first_minus_second=figure(0.0, -1.0, 1.0),
        consistency=figure(89.9, 80.0, 95.0),
        n_pairs=40,
    )
    assert last.startswith("Next: judge every pair in both orders")


@pytest.mark.parametrize(
    ("low", "high", "phrase", "n"),
    [
        (-9.0, -2.0, "prefers the longer version of summaries", 2),
        (2.0, 9.0, "prefers the original version of summaries", 1),
        (-2.0, 2.0, "shows no significant preference", 1),
    ],
)
def test_preference_for_longer_versions_is_reported(low, high, phrase, n):
    result = of(
        "audit verbosity",
        probe="filler",
        original_minus_extended=figure((low + high) / 2, low, high, p_value=0.01),
        extended=figure(60.0, 50.0, 70.0),
        n=30,
    )
    assert phrase in result[0]
    assert len(result) == n


def test_length_effects_are_named_by_their_side():
    effect = figure(0.6, 0.2, 1.0, p_value=0.003)
    (text,) = of("audit length", why=None, length_effect=effect)
    assert text == (
        "j in coverage favours longer summaries: 0.60 [0.20, 1.00] log-odds for a typical "
        "difference."
    )
    (text,) = of("audit length", why="all are as long", length_effect=figure(None, None, None))
    assert text == "j in coverage: effect of length not estimated: all are as long."


def test_unreadable_replies_are_counted_and_many_give_a_warning():
    by_name = {"protocol": "likert", "unscored": {"refused": 6}}
    few = of("audit parse", n_unscored=5, n_judgements=100, **by_name)
    assert few == ("j in coverage, likert: 5 of 100 judgements (5 %) without a score: 6 refused.",)
    many = of("audit parse", n_unscored=6, n_judgements=100, **by_name)
    assert many[1].startswith("Next: read some of these replies")
    none = of("audit parse", n_unscored=0, n_judgements=1, **by_name)
    assert none == ("j in coverage, likert: every one of 1 judgement has a score.",)


def test_systems_with_most_and_fewest_omissions_are_named():
    def group(system, *values):
        voices = [{"name": "post.example"}]
        figures = [{"value": value, "voices": voices} for value in values]
        return {"judge": "j", "system": system, "n": 9, "uncovered": figures}

    report = {"groups": [group("a", 0, 0.5), group("b", 0, 0, 0), group("c", 0.5)]}
    assert make_findings("audit covered", report) == (
        "b leaves out the most, 3 of 9 groups of answers, most often those of post.example.",
        "c leaves out the fewest, 0 of 9 groups of answers.",
    )
    jury = [item | {"judge": name} for name in ("j", "k") for item in report["groups"]]
    assert make_findings("audit covered", {"groups": jury})[3] == (
        "c leaves out the fewest, 0 of 9 groups of answers, according to k."
    )


def test_failed_checks_are_named():
    def check(name, n_kept):
        return {"name": name, "kept": figure(n_kept, None, None)}

    report = {"judge": "j", "aspect": "coverage", "checks": [check("itself", 95.0)]}
    assert "passes every consistency (metamorphic) test" in make_findings("audit checks", report)[0]
    report["checks"].append(check("instruction", 94.0))
    (text,) = make_findings("audit checks", report)
    assert text.endswith("instruction (94.0 % passed).")
    report["checks"] = [check("itself", None)]
    assert make_findings("audit checks", report) == ("j in coverage: no check could be run.",)


@pytest.mark.parametrize(
    ("verdicts", "outcome"),
    [
        (["same", "better"], "Passed."),
        (
            ["same", "cannot tell"],
            "Passed, but cannot tell whether agreement with human labels fell by more than the "
            "margin: of b, likert, 9 anchors in 6 documents are too few; about 97 documents are "
            "needed, if the change of -0.03 is true. This fails with --strict.",
        ),
        (
            ["cannot tell", "cannot tell"],
            "Cannot tell whether agreement with human labels fell by more than the margin: of a, "
            "likert, 9 anchors in 6 documents are too few; about 97 documents are needed, if the "
            "change of -0.03 is true; of b, likert, 9 anchors in 6 documents are too few; about 97 "
            "documents are needed, if the change of -0.03 is true. This fails with --strict.",
        ),
    ],
)
def test_check_passes_only_with_enough_evidence(verdicts, outcome):
    groups = [
        {"aspect": aspect, "protocol": "likert", "unit": "", "verdict": verdict, "n_labelled": 9,
         "n_without_after": 0, "n_without_before": 0, "n_absent_after": 0, "reason": "",
         "n_items": 9, "n_documents": 6, "documents_needed": 97,
         "agreement": figure(-0.03, -0.2, 0.2), "shift": figure(0.1, -0.2, 0.4)}
        for aspect, verdict in zip("ab", verdicts, strict=True)
    ]  # fmt: skip
    counts = {"n_unscored": 0, "n_judgements": 9, "max_unscored": 0.05}
    assert make_findings("check", {"outcome": "passed", "groups": groups, **counts}) == (outcome,)


def ranked(*best_ranks, n_level=1, separated=False, effect=(0.0, -1.0, 1.0), n_documents=15):
    names = "abcdefgh"
    systems = [
        {"system": names[n], "best_rank": rank, "rank": 1 if n < n_level else n + 1}
        for n, rank in enumerate(best_ranks)
    ]
    return of(
        "rank", why=None, systems=systems, separated=separated, position_effect=figure(*effect),
        n_documents=n_documents,
    )  # fmt: skip


def test_first_rank_is_claimed_only_without_rivals():
    assert ranked(1, 2, 2) == (
        "a ranks first for j in coverage; no other system may rank first (95 %).",
    )
    assert ranked(1, 2, 2, n_documents=14)[0].endswith(
        "; no other system may rank first (95 %; but intervals from 14 clusters are too narrow)."
    )
    assert ranked(1, 1, 2)[0].endswith("; b may rank first too (95 %).")
    assert ranked(1, None)[0].endswith("; b may rank first too (95 %).")
    assert "cannot be estimated" in ranked(1, 2, separated=True)[0]
    assert ranked(1, 1, 2, n_level=2) == (
        "a and b tie for first place for j in coverage; no other system may rank first (95 %).",
    )
    assert ranked(1, 1, 1, n_level=2)[0].endswith("; c may rank first too (95 %).")
    assert ranked(1, 1, n_level=2) == ("a and b tie for first place for j in coverage.",)
    assert "Being shown second helps significantly" in ranked(1, 2, effect=(-0.4, -0.6, -0.2))[1]


def fair(measure, p_value=0.01, n=6, difference=0.1, excluded=()):
    row = {"n": n, "difference": figure(difference, 0.0, 0.2, p_holm=p_value)}
    place = "coverage_by_value" if measure == "coverage" else "by_value"
    systems = {name: {"n": n, place: {"left": row}} for name in "abcde"}
    report = {"measure": measure, "attribute": "party", "systems": systems}
    return make_findings(f"fairness {measure}", report | {"excluded": list(excluded)})


@pytest.mark.parametrize("measure", ["coverage", "proportional"])
def test_over_and_under_representation_must_be_significant(measure):
    assert fair(measure)[0] == (
        "party, significantly (p < 0.05): left over-represented by a, b, c and 2 more."
    )
    assert "left under-represented" in fair(measure, difference=-0.1)[0]
    assert fair(measure, p_value=0.05)[0] == (
        "No value of party is significantly over- or under-represented on average."
    )
    assert fair(measure, n=4)[0] == "Fewer than 5 summaries per system are too few to test party."
    excluded = [{"system": name, "reason": "one_value"} for name in "aacd"]
    title = {"coverage": "Coverage", "proportional": "Proportional representation"}[measure]
    assert fair(measure, excluded=excluded[:1])[1] == (
        f"{title} by party: 1 summary by a excluded, all their documents share one value."
    )
    assert fair(measure, excluded=[*excluded, {"system": "e", "reason": "no_text"}])[1] == (
        f"{title} by party: 5 summaries by a, c, d and 1 more excluded, all their documents share "
        "one value, no text in any document that has a value."
    )


def test_findings_come_first_in_json_and_need_a_rule():
    report = {"groups": []}
    assert with_findings("audit position", report) == {"schema": SCHEMA, **report}
    assert make_findings("plan", {"calls": 3}) == ()
    result = with_findings("audit parse", {"groups": [
        {"judge": "j", "aspect": "a", "protocol": "p", "n_unscored": 0, "n_judgements": 2}
    ]})  # fmt: skip
    assert [*result] == ["schema", "findings", "groups"]


def changed(n=6, **differences):
    systems = {
        name: {"equal_coverage": {"n": n, "difference": figure(value, None, None, p_holm=p_holm)}}
        for name, (value, p_holm) in differences.items()
    }
    report = {"baseline": "base", "systems": systems, "excluded": {"bur": {"a": {"no_text": 2}}}}
    return make_findings("fairness compare", report)


def test_fairer_than_baseline_must_be_significant():
    first, last = changed(a=(-0.1, 0.01), b=(0.1, 0.049), c=(0.2, 0.05), d=(None, None))
    assert first == (
        "Significantly, against base, fairer: a in Equal Coverage; less fair: b in Equal Coverage."
    )
    assert last == "Up to 2 samples excluded per system and measure."
    assert changed(c=(0.2, 0.05))[0] == "No system differs significantly from base in any measure."
    assert changed(5, c=(0.2, 0.07))[0] == (
        "Fewer than 6 common clusters are too few to test differences from base."
    )


def test_the_fairest_overall_has_the_lowest_score():
    scored = {"value": 0.5, "normalised": {"x": 0.5}}
    systems = {"a": scored, "b": scored | {"value": 0.1}, "c": {"value": None, "why": "no score"}}
    result = make_findings("fairness overall", {"measure": "bur", "systems": systems})
    assert result[0].startswith("b is the fairest of 2 systems over all data sets (0.100;")
    assert result[-1] == "Not ranked: c (no score)."
    nobody = {"measure": "bur", "systems": {"c": systems["c"]}}
    assert make_findings("fairness overall", nobody) == ("Not ranked: c (no score).",)


def test_scorers_agree_where_the_correlation_is_significant():
    def agreed(p_value, value=0.4):
        result = figure(value, 0.01, 0.7, n=9, p_value=p_value)
        return make_findings("fairness agreement", {"equal_coverage": result})

    assert agreed(0.04) == (
        "On Equal Coverage the scorers agree significantly (rho 0.40 [0.01, 0.70], n = 9).",
    )
    assert "the scorers neither agree nor disagree significantly" in agreed(0.05)[0]
    assert "neither agree nor disagree significantly" in agreed(0.05, -0.4)[0]
    assert "the scorers rank in significantly opposite order" in agreed(0.01, -0.4)[0]
    assert agreed(None) == ("Equal Coverage: 9 in common are too few to test agreement.",)
    assert agreed(None, None) == ()
    measures = {"equal_coverage with bur": figure(-0.4, -0.7, -0.1, n=9, p_value=0.01)}
    assert make_findings("fairness agreement", measures) == (
        "Equal Coverage and BUR % rank in significantly opposite order (rho -0.40 [-0.70, -0.10], "
        "n = 9).",
    )


def test_significantly_worse_judge_or_jury_is_reported():
    row = {"judge": "j", "unit": "", "behind": None, "mark": None, "n_requests": None}
    rows = [
        row | {"protocol": "likert", "kendall": figure(-0.4, -0.6, -0.1, p_value=0.01)},
        row | {"protocol": "binary", "kendall": figure(0.1, -0.2, 0.3, p_value=0.4)},
    ]
    by_name = {"protocols": [{"aspect": "coverage", "rows": rows}], "groups": []}
    opposite, none = make_findings("calibrate", by_name)
    assert opposite == (
        "In coverage likert (j) has a significantly negative correlation with human labels "
        "over summaries: tau-b -0.40 [-0.60, -0.10]."
    )
    assert none.startswith("In coverage no protocol agrees significantly with human labels")

    def jury(gain):
        best = {"name": "best single judge", "rmse": figure(0.5, 0.4, 0.6), "gain": gain}
        effective = {"value": None, "why": "one judge"}
        jury = {
            "judges": ["a", "b"], "aspect": "coverage", "why": None, "compared": [best],
            "rmse": figure(0.6, 0.5, 0.7), "effective_number": effective, "members": [],
        }  # fmt: skip
        return make_findings("calibrate", {"juries": [jury], "groups": []})[0]

    assert "has a significantly higher error than" in jury(figure(-0.1, -0.2, -0.05))
    assert "does not have a significantly lower error than" in jury(figure(-0.1, -0.2, 0.05))
    assert "has a significantly lower error than" in jury(figure(0.1, 0.05, 0.2))


def test_bias_is_not_tested_on_few_originals():
    def words(p_holm, **more):
        difference = figure(0.4, None, None, p_holm=p_holm)
        system = {"by_group": {"female": {"difference": difference}}}
        return make_findings("bias words", {"reference": "source", "systems": {"s": system}} | more)

    assert words(None) == (
        "Fewer than 5 original documents are too few to test which groups are mentioned more "
        "or less often.",
    )
    assert words(0.01)[1].startswith("On natural documents")
    assert words(0.01, controlled=True) == (
        "Mentioned significantly more or less than in the source: s: female more.",
    )

    def told(**bounds):
        system = {"counts": figure(0.67, bounds.get("low"), bounds.get("high")), "dense": None}
        return make_findings("bias distinguishability", {"systems": {"s": system}})

    assert told() == (
        "Fewer than 5 original documents are too few to test whether the group can be predicted.",
    )
    assert "can be predicted significantly" in told(low=0.1, high=0.9)[0]


def test_system_mentioning_only_one_group_is_reported():
    def entities(low, high, female=0.0, male=0.97, why="odds of 0"):
        exact = {"low": low, "high": high, "p_value": 1e-9, "p_holm": 1e-9}
        system = {
            "inclusion": {"value": None, "why": why},
            "by_group": {"female": {"value": female, "n": 120}, "male": {"value": male, "n": 100}},
            "odds_ratios": [{"group": "female", "other": "male", "exact": exact}],
            "n_hallucinated": 0,
        }
        return make_findings("bias entities", {"systems": {"men": system}})[0]

    assert entities(None, 0.0017) == (
        "men names 97 of 100 people of group male and none of 120 people of group female: the "
        "odds ratio of female to male is at most 0.0017 (exact 95 % bound; p < 0.001)."
    )
    assert entities(2.5, None, female=1.0, male=0.5).startswith(
        "men names 120 of 120 people of group female and 50 of 100 people of group male: the odds "
        "ratio of female to male is at least 2.50 "
    )
    # an interval that holds 1 bounds nothing
    assert entities(None, 1.2) == "No inclusion score for men: odds of 0."


@pytest.mark.parametrize(
    ("best", "size"), [(50, "50 words"), (1, "1 word"), (0, "single sentences")]
)
def test_the_best_chunk_size_is_named(best, size):
    rows = [figure(n / 100, 0.0, 1.0, max_words=n) for n in (0, 1, 50)]
    (finding,) = make_findings("fairness chunk-size", {"best": best, "identified": rows})
    assert f"Chunks of {size} find" in finding
    assert f"{best / 100:.3f}" in finding
    assert make_findings("fairness chunk-size", {"best": None, "identified": []}) == ()


def test_oracle_reports_what_a_scorer_misses():
    measures = {
        "bur": {"difference": figure(30.0, 20.0, 40.0, p_holm=0.001)},
        "uer": {"difference": figure(3.0, -1.0, 7.0, p_holm=0.05)},
        "sof": {"difference": figure(-9.0, -12.0, -2.0, p_holm=0.001)},
    }
    assert make_findings("fairness oracle", {"measures": measures}) == (
        "The scorer detects the planted unfairness significantly in BUR %.",
        "It does not in UER %: fair values of these are no evidence of fairness.",
        "In SOF % the planted unfairness scores significantly fairer than the balanced summaries: "
        "do not use this scorer for it.",
    )
    del measures["bur"], measures["sof"]
    assert make_findings("fairness oracle", {"measures": measures}) == (
        "The scorer does not detect the planted unfairness in UER %: fair values of these are no "
        "evidence of fairness.",
    )


def test_cascade_reports_savings_and_cost():
    report = {
        "low": 0.2,
        "high": 0.7,
        "n": 40,
        "saved": figure(57.3, 50.0, 63.0),
        "error_added": figure(0.01, -0.01, 0.03),
        "agreement_lost": figure(0.02, 0.0, 0.05),
    }
    first, second = make_findings("cascade", report)
    assert "local score between 0.2 and 0.7, which saves 57.3 [50, 63] % " in first
    assert "error: 0.010 [-0.010, 0.030]; loss in Kendall's tau-b: 0.020" in second


def promised(**more):
    report = {
        "judge": "j",
        "aspect": "coverage",
        "protocol": "binary",
        "agreement_promised": 0.9,
        "confidence": 0.95,
        "threshold": 0.8,
        "n_labelled": 200,
        "test": "binomial",
        "kept": figure(0.6, 0.5, 0.7),
        "n_kept_labelled": 120,
        "agreement": figure(0.95, 0.9, 0.98),
        "overall": figure(0.85, 0.8, 0.9),
        "n_one_order": 0,
    }
    return make_findings("cascade --guarantee", report | more)


def test_guarantee_reports_accepted_share_or_none():
    first, second, overall = promised()
    assert "a confidence of 0.80 or more agree with humans at least 90 % of the time" in first
    assert "with 95 % certainty (200 labelled items; test: binomial)" in first
    assert second == (
        "Kept: a share of 0.60 [0.50, 0.70] of all items; of the 120 labelled items kept, a share "
        "of 0.95 [0.90, 0.98] agrees."
    )
    assert (
        overall == "Without a threshold a share of 0.85 [0.80, 0.90] of the labelled items agrees."
    )
    assert promised(n_one_order=1)[-1].startswith("Judged in one order only: 1 pair.")
    none, _, last = promised(threshold=None, n_one_order=1)
    assert none.startswith(
        "j, coverage, binary: no confidence threshold guarantees that its answers agree"
    )
    assert last.startswith("No answer is kept; next: more labels")
