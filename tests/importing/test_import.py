"""Recorded replies become judgements: columns, orders, re-runs, and what cannot be read."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from pathlib import Path
from statistics import mean

import pytest
from json_files import read_rows
from scipy.stats import kendalltau, pearsonr, spearmanr

from fairjudge.datasets import read_labels, read_replies
from fairjudge.errors import InputError
from fairjudge.importing import import_replies, scale_from_options
from fairjudge.scales import binary, likert, options, pairwise

ROW = {"eid": "e1", "system": "s1", "aspect": "coverage", "judge": "j", "response": "Score: 4"}
PAIR = {
    "eid": "e1",
    "system_a": "x",
    "system_b": "y",
    "aspect": "coverage",
    "judge": "j",
    "response": "A",
}


def only(rows, **rest):
    return import_replies(rows, **rest).judgements[0]


def test_a_reply_becomes_a_judgement_with_its_raw_text():
    result = only([ROW], scale=likert())
    assert (result.value, result.unscored, result.raw) == (4.0, None, "Score: 4")
    assert (result.protocol, result.judge, result.unit, result.scored_by) == (
        "likert",
        "j",
        "summary",
        "llm",
    )
    assert "parser:" in result.signature
    assert "source:import" in result.signature


def test_an_unreadable_reply_is_unscored_with_its_reason():
    rows = [{**ROW, "eid": str(n), "response": r} for n, r in enumerate(["8/10", "?", None])]
    imported = import_replies(rows, scale=likert())
    assert [j.unscored for j in imported.judgements] == [
        "off_scale",
        "unparseable",
        "unparseable",
    ]
    assert [j.value for j in imported.judgements] == [None, None, None]
    assert [line for line, _ in imported.unscored] == [1, 2, 3]


def test_letters_and_words_map_to_their_rank():
    letters = scale_from_options("likert", answers="A,B,C,D,E")
    assert only([{**ROW, "response": "D"}], scale=letters).value == 4.0
    words = scale_from_options("likert", answers="not_supported, partially_supported,supported")
    assert only([{**ROW, "response": "Partially supported."}], scale=words).value == 2.0


@pytest.mark.parametrize(
    ("extra", "response", "value", "order"),
    [
        ({}, "A", "a", "ab"),
        ({"swapped": False}, "B", "b", "ab"),
        ({"swapped": True}, "A", "b", "ba"),
        ({"swapped": True}, "B", "a", "ba"),
        ({"swapped": "true"}, "A", "b", "ba"),
        ({"swapped": "0"}, "A", "a", "ab"),
        ({"order": "ba"}, "A", "b", "ba"),
        ({"order": "ba", "swapped": True}, "C", "tie", "ba"),
    ],
)
def test_pair_verdicts_name_systems_in_either_order(extra, response, value, order):
    result = only([{**PAIR, **extra, "response": response}], scale=pairwise("ABC"))
    assert (result.value, result.order, result.protocol) == (value, order, "pairwise")


def test_repeated_judgements_are_kept_and_numbered():
    rows = [ROW, {**ROW, "system": "s2"}, {**ROW, "response": "Score: 2"}]
    imported = import_replies(rows, scale=likert())
    assert [(j.system, j.value, j.repeat) for j in imported.judgements] == [
        ("s1", 4.0, 0), ("s2", 4.0, None), ("s1", 2.0, 1),
    ]  # fmt: skip
    assert imported.lines == (1, 2, 3)
    assert [(item.line, item.former) for item in imported.repeated] == [(3, (1,))]


def test_given_repeat_numbers_are_kept_unless_duplicated():
    rows = [{**ROW, "repeat": 5}, {**ROW, "repeat": 2}]
    assert [j.repeat for j in import_replies(rows, scale=likert()).judgements] == [5, 2]
    rows = [{**ROW, "repeat": 5}, {**ROW, "repeat": 5}]
    assert [j.repeat for j in import_replies(rows, scale=likert()).judgements] == [0, 1]


def test_last_reply_only_option_is_reported():
    rows = [ROW, {**ROW, "system": "s2"}, {**ROW, "response": "Score: 2"}]
    imported = import_replies(rows, scale=likert(), repeats="last")
    assert [j.repeat for j in imported.judgements] == [None, None]
    assert [(j.system, j.value) for j in imported.judgements] == [("s1", 2.0), ("s2", 4.0)]
    (again,) = imported.repeated
    assert (again.line, again.former, again.item["system"]) == (3, (1,), "s1")
    assert imported.n_replies == 3


def test_both_orders_of_a_pair_are_separate_items():
    rows = [{**PAIR, "swapped": False}, {**PAIR, "swapped": True}]
    assert len(import_replies(rows, scale=pairwise("ABC")).judgements) == 2


def test_columns_are_mapped_and_other_fields_carried_through():
    row = {"doc": "e1", "model": "s1", "asp": "coverage", "text": "3", "seed": 7, "unit": None}
    mapping = {"eid": "doc", "system": "model", "aspect": "asp", "response": "text"}
    result = only([row], scale=likert(), mapping=mapping, judge="me")
    assert (result.eid, result.system, result.aspect, result.value, result.judge) == (
        "e1", "s1", "coverage", 3.0, "me",
    )  # fmt: skip
    assert result.to_json()["seed"] == 7
    assert "text" not in result.to_json()


def test_raw_replaces_response_and_parsed_json_is_read():
    row = {name: item for name, item in ROW.items() if name != "response"}
    assert only([{**row, "raw": "Score: 5"}], scale=likert()).value == 5.0
    assert only([{**row, "response": {"verdict": "2"}}], scale=likert()).value == 2.0
    assert only([{**row, "response": 3}], scale=likert()).value == 3.0


@pytest.mark.parametrize(
    ("row", "options", "field"),
    [
        ({**ROW, "eid": None}, {}, "eid"),
        ({k: v for k, v in ROW.items() if k != "system"}, {}, "system"),
        ({k: v for k, v in ROW.items() if k != "judge"}, {}, "judge"),
        ({k: v for k, v in ROW.items() if k != "response"}, {}, "response"),
        (ROW, {"mapping": {"aspect": "nothing"}}, "aspect"),
        (ROW, {"mapping": {"colour": "x"}}, "colour"),
    ],
)
def test_a_missing_field_is_named_with_its_line(row, options, field):
    with pytest.raises(InputError) as error:
        import_replies([ROW, row], scale=likert(), path="f.jsonl", **options)
    assert error.value.field == field


@pytest.mark.parametrize(
    ("extra", "field"),
    [({"swapped": "maybe"}, "swapped"), ({"order": "x"}, "order"),
     ({"order": "ab", "swapped": True}, "order")],
)  # fmt: skip
def test_invalid_order_raises(extra, field):
    with pytest.raises(InputError) as error:
        import_replies([{**PAIR, **extra}], scale=pairwise("ABC"))
    assert (error.value.field, error.value.line) == (field, 1)


def test_scale_and_protocol_must_fit():
    with pytest.raises(InputError):
        import_replies([ROW], scale=pairwise(), protocol="likert")
    with pytest.raises(InputError):
        scale_from_options("pairwise", scale="1-5")
    with pytest.raises(InputError):
        scale_from_options("likert", scale="1-5", with_stars=True)
    for text in ("5-1", "x", "1-500", ""):
        with pytest.raises(InputError):
            scale_from_options("likert", scale=text)
    with pytest.raises(InputError):
        scale_from_options("pairwise", answers="A,B,C,D")
    with pytest.raises(InputError):
        scale_from_options("likert", answers="A,,B")


def test_binary_options_mean_yes_and_no_in_either_order():
    assert scale_from_options("binary", answers="yes,no") == binary()
    scale = scale_from_options("binary", answers="absent,present")
    assert only([{**ROW, "response": "Present."}], scale=scale).value == 1.0
    assert scale.protocol == "binary"
    assert scale_from_options("likert", scale="0-10").answers[-1] == "10"
    assert scale_from_options("likert", answers="A,B").protocol == options("AB").protocol


@pytest.fixture(scope="module")
def summeval() -> Path:
    default = Path(__file__).parents[3] / "shared" / "data"
    folder = Path(os.environ.get("FAIRJUDGE_SHARED_DATA", default)) / "summeval"
    if not folder.is_dir():
        pytest.skip(f"the recorded replies are not at {folder}; set FAIRJUDGE_SHARED_DATA")
    return folder


def imported_from(path: Path, protocol, **scale):
    loaded = read_replies(path)
    return import_replies(
        (record.to_json() for record in loaded),
        scale=scale_from_options(protocol, **scale),
        lines=loaded.lines,
        path=path,
        repeats="last",
    )


def test_three_hundred_recorded_letters_are_repeats(summeval):
    """The file holds 2,700 replies on 100 x 12 x 2 items; counted with the json module alone."""
    imported = imported_from(summeval / "judge_gpt-3.5_mcq.jsonl", "likert", answers="A,B,C,D,E")
    rows = read_rows(summeval / "judge_gpt-3.5_mcq.jsonl")
    last = {(r["eid"], r["system"], r["aspect"]): r["response"] for r in rows}
    assert (imported.n_replies, len(imported.judgements), len(imported.repeated)) == (
        2700, 2400, 300,
    )  # fmt: skip
    by_name = {(j.eid, j.system, j.aspect): "ABCDE"[int(j.value) - 1] for j in imported.judgements}
    assert by_name == last


@pytest.mark.parametrize(
    ("aspect", "spearman", "pearson", "kendall"),
    [("consistency", 0.424, 0.532, 0.379), ("relevance", 0.447, 0.461, 0.356)],
)
def test_agreement_with_experts_matches_the_publication(
    summeval, aspect, spearman, pearson, kendall
):
    """Shen et al. (2023), reason-then-score, pooled, against the mean of three experts.

    They agree to 0.001; the authors evidently rounded the 32 half points to whole numbers
    (Python's ``round`` on ours gives their figures to the third place), which is not done here.
    """
    imported = imported_from(summeval / "judge_gpt-3.5_rts.jsonl", "likert", scale="1-5")
    labels = defaultdict(list)
    for label in read_labels(summeval / "labels.jsonl"):
        if label.annotator.startswith("expert"):
            labels[label.eid, label.system, label.aspect].append(label.value)
    pairs = [
        (judgement.value, mean(labels[judgement.eid, judgement.system, aspect]))
        for judgement in imported.judgements
        if judgement.aspect == aspect
    ]
    assert len(pairs) == 1200
    judged, people = zip(*pairs, strict=True)
    for statistic, published in ((spearmanr, spearman), (pearsonr, pearson), (kendalltau, kendall)):
        assert statistic(judged, people)[0] == pytest.approx(published, abs=1.1e-3)


@pytest.mark.parametrize(
    ("aspect", "first", "second", "consistent"),
    [("consistency", 6.7, 25.2, 64.4), ("relevance", 22.0, 7.5, 66.9)],
)
def test_position_bias_matches_the_publication(summeval, aspect, first, second, consistent):
    """Shen et al. (2023), head to head: percent of the 1,100 pairs judged in both orders."""
    path = summeval / f"pairwise_gpt-3.5_{aspect}.jsonl"
    verdicts = defaultdict(dict)
    for judgement in imported_from(path, "pairwise", answers="A,B,C").judgements:
        verdicts[judgement.eid, judgement.system_a, judgement.system_b][judgement.order] = (
            judgement.value
        )
    kinds = Counter((v["ab"], v["ba"]) for v in verdicts.values())
    n = sum(kinds.values())
    assert n == 1100
    same = sum(count for (first, other), count in kinds.items() if first == other)
    assert 100 * kinds["a", "b"] / n == pytest.approx(first, abs=0.051)
    assert 100 * kinds["b", "a"] / n == pytest.approx(second, abs=0.051)
    assert 100 * same / n == pytest.approx(consistent, abs=0.051)
