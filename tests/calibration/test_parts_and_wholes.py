"""Labels of parts beside judgements of wholes, the level of summaries, and protocols by unit.

Figures are computed again from the rows with scipy and plain Python.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from statistics import fmean

import numpy as np
import pytest
from scipy.stats import kendalltau

from fairjudge.calibration.agreement import Resampling
from fairjudge.calibration.analysis import Settings, analyse
from fairjudge.calibration.applying import apply_calibrators
from fairjudge.calibration.grouping import group_judgements
from fairjudge.calibration.items import join
from fairjudge.domain import Judgement, Label
from fairjudge.scores.leaderboards import leaderboards

SYSTEMS = ("s", "t", "u")
QUICK = Settings(resampling=Resampling(n_resamples=200))


def world(seed: int = 3, n: int = 40) -> tuple[list[Label], dict[tuple[str, str], float]]:
    """Labels of 2 to 6 answers a summary by two people, and what each summary is worth."""
    rng = np.random.default_rng(seed)
    labels, worth = [], {}
    for d in range(n):
        n_answers = int(rng.integers(2, 7))
        for s in SYSTEMS:
            quality = rng.random()
            worth[str(d), s] = quality
            labels += [
                Label(eid=str(d), system=s, aspect="coverage", annotator=annotator,
                      unit=f"answer:0.{g}", value=int(rng.random() < quality))
                for g in range(n_answers)
                for annotator in ("ann", "bob")
            ]  # fmt: skip
    return labels, worth


def judged(worth: dict[tuple[str, str], float], **given: str) -> list[Judgement]:
    of = {"aspect": "coverage", "protocol": "likert", "judge": "j"} | given
    return [
        Judgement(eid=eid, system=s, value=1 + round(4 * q), **of) for (eid, s), q in worth.items()
    ]


def means(labels: list[Label]) -> dict[tuple[str, str], float]:
    """The mean over answers of the mean over people."""
    answers: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for label in labels:
        answers[label.eid, str(label.system)][label.unit].append(float(label.value))
    return {key: fmean(map(fmean, items.values())) for key, items in answers.items()}


def test_answer_labels_match_summary_judgements():
    labels, worth = world()
    rows = judged(worth)
    (joined,) = join(rows, labels)
    expected = means(labels)
    assert dict(zip([key[:2] for key in joined.keys], joined.human, strict=True)) == pytest.approx(
        expected
    )
    assert joined.label_scale == (0, 1)
    assert joined.notes == ("labels are of single parts (answer): averaged over each summary",)
    assert joined.ratings.shape == (len(expected), 2)
    (group,) = analyse(rows, labels, settings=QUICK).groups
    tau = kendalltau([row.value for row in rows], list(expected.values())).statistic
    assert group.agreement["pooled"]["kendall"].value == pytest.approx(tau)
    assert group.rates is None  # a mean over answers is no yes or no


def test_pair_is_compared_with_difference_of_side_means():
    labels, worth = world()
    of = {"aspect": "coverage", "protocol": "pairwise", "judge": "j"}
    rows = [
        Judgement(eid=str(d), system_a=b, system_b=a, order=order,
                  value="a" if worth[str(d), b] > worth[str(d), a] else "b", **of)
        for d in range(40)
        for a, b in (("s", "t"), ("s", "u"), ("t", "u"))
        for order in ("ab", "ba")
    ]  # fmt: skip
    (joined,) = join(rows, labels)
    mean = means(labels)
    expected = [mean[key[0], key[1]] - mean[key[0], key[2]] for key in joined.keys]
    assert joined.human == pytest.approx(expected)
    assert len(joined.keys) == 120
    # and where each pair was judged against one article at a time
    parts = [
        row.model_copy(update={"unit": f"article:{a}", "value": row.value if a else "tie"})
        for row in rows
        for a in range(3)
    ]
    (by_article,) = join(parts, labels)
    assert by_article.human == pytest.approx(expected)
    assert by_article.judged == pytest.approx(joined.judged * 2 / 3)


def test_article_judgements_match_sentence_labels_per_summary():
    rng = np.random.default_rng(5)
    of = {"aspect": "faithfulness", "judge": "j"}
    rows = [
        Judgement(eid=str(d), system=s, unit=f"article:{a}", protocol="likert",
                  value=int(rng.integers(1, 6)), **of)
        for d in range(20) for s in SYSTEMS for a in range(4)
    ]  # fmt: skip
    labels = [
        Label(eid=str(d), system=s, unit=f"sentence:{i}", aspect="faithfulness", annotator="p",
              value=int(rng.integers(0, 2)))
        for d in range(20) for s in SYSTEMS for i in range(3)
    ]  # fmt: skip
    (joined,) = join(rows, labels)
    judge = {}
    for row in rows:
        judge.setdefault((row.eid, row.system), []).append(row.value)
    assert joined.judged == pytest.approx([fmean(judge[key[:2]]) for key in joined.keys])
    assert joined.human == pytest.approx([means(labels)[key[:2]] for key in joined.keys])
    assert len(joined.notes) == 2


def test_annotator_of_some_parts_counts_only_in_part_means():
    at = {"eid": "e", "system": "s", "aspect": "coverage"}
    labels = [
        Label(**at, unit="answer:0.0", annotator="ann", value=1),
        Label(**at, unit="answer:0.1", annotator="ann", value=0),
        Label(**at, unit="answer:0.0", annotator="bob", value=0),
    ]
    (joined,) = join([Judgement(**at, protocol="likert", judge="j", value=3)], labels)
    assert joined.human.tolist() == [0.25]  # the answers' means are 1/2 and 0
    assert (joined.annotators, joined.ratings.tolist()) == (("ann",), [[0.5]])


def test_summary_without_sentences_is_grouped_with_sentences():
    """It was judged and labelled whole, where the others were judged sentence by sentence."""
    of = {"aspect": "faithfulness", "protocol": "binary", "judge": "j", "signature": "x"}
    rows = [
        Judgement(eid=str(d), system="s", unit=f"sentence:{i}", value=1, **of)
        for d in range(3) for i in range(2)
    ]  # fmt: skip
    empty = Judgement(eid="9", system="s", unscored="empty_input", **of)
    assert [key.unit for key in group_judgements([*rows, empty])] == ["sentence"]
    assert [board.unit for board in leaderboards([*rows, empty])] == ["sentence"]
    # Judged whole by another run, or beside its own sentences, it is another protocol.
    other = empty.model_copy(update={"signature": "y"})
    assert len(group_judgements([*rows, other])) == 2
    beside = empty.model_copy(update={"eid": "0"})
    assert len(group_judgements([*rows, beside])) == 2
    # Labels likewise: one of a whole beside many of parts does not stand for all.
    labels = [
        Label(eid=row.eid, system="s", unit=row.unit, aspect="faithfulness", annotator="p", value=1)
        for row in rows
    ]
    labels.append(Label(eid="9", system="s", aspect="faithfulness", annotator="p", value=0))
    whole = [
        Judgement(eid=eid, system="s", **of | {"value": 1, "signature": "w"})
        for eid in ("0", "1", "2", "9")
    ]
    (joined,) = join(whole, labels)
    assert joined.human.tolist() == [1, 1, 1, 0]


def test_protocols_with_different_units_have_separate_calibrators():
    labels, worth = world(n=60)
    of = {"aspect": "coverage", "protocol": "binary", "judge": "j"}
    rng = np.random.default_rng(1)
    whole = [Judgement(eid=e, system=s, value=int(q > 0.5), **of) for (e, s), q in worth.items()]
    parts = [
        Judgement(eid=label.eid, system=label.system, unit=label.unit,
                  value=int(label.value) if rng.random() < 0.8 else 1 - int(label.value), **of)
        for label in labels
        if label.annotator == "ann"
    ]  # fmt: skip
    analysis = analyse([*parts, *whole], labels, settings=QUICK)
    assert [group.joined.unit for group in analysis.groups] == ["answer", "summary"]
    assert [len(group.joined.keys) for group in analysis.groups] == [len(parts), len(whole)]
    assert [len(group.joined.rest) for group in analysis.groups] == [0, 0]
    alone = [analyse(items, labels, settings=QUICK).groups[0] for items in (parts, whole)]
    for together, apart in zip(analysis.groups, alone, strict=True):
        assert (
            together.agreement["pooled"]["kendall"].value
            == apart.agreement["pooled"]["kendall"].value
        )
    fitted = [group.calibration.calibrator for group in analysis.groups]
    applied = apply_calibrators(fitted, [*whole, *parts])
    assert applied.n_calibrated == len(whole) + len(parts)
    values = {row.unit.partition(":")[0]: row.value for row in applied.judgements if row.value}
    (of_parts, of_whole) = fitted
    for row in applied.judgements:
        curve = of_whole if row.unit == "summary" else of_parts
        assert row.value == pytest.approx(curve([row.model_extra["uncalibrated"]])[0])
    assert len(values) == 2
    # A calibrator of an earlier version names no unit: it is for all of them.
    old = apply_calibrators([type(of_whole)(**{
        name: getattr(of_whole, name) for name in of_whole.__dataclass_fields__} | {"unit": ""})],
        [*whole, *parts])  # fmt: skip
    assert old.n_calibrated == len(whole) + len(parts)


def test_summary_level_correlation_uses_part_means():
    labels, _ = world()
    rng = np.random.default_rng(8)
    of = {"aspect": "coverage", "protocol": "binary", "judge": "j"}
    rows = [
        Judgement(eid=label.eid, system=label.system, unit=label.unit,
                  value=int(label.value) if rng.random() < 0.7 else int(rng.integers(0, 2)), **of)
        for label in labels
        if label.annotator == "ann"
    ]  # fmt: skip
    (group,) = analyse(rows, labels, settings=QUICK).groups
    judge: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row in rows:
        judge[row.eid, str(row.system)].append(float(row.value))
    human = means(labels)
    tau = kendalltau([fmean(judge[key]) for key in human], list(human.values())).statistic
    value = group.agreement["summary"]["kendall"]
    assert value.value == pytest.approx(tau, abs=1e-12)
    assert value.n == len(human) == 120
    assert value.low < tau < value.high
    assert group.agreement["pooled"]["kendall"].n == len(rows)


def test_summhay_labels_and_word_judge_match_independent_code(shared_data):
    """A judge that says yes where most of the insight's words stand in the summary."""
    with gzip.open(
        shared_data / "coverage/summhay_conversations.jsonl.gz", "rt", encoding="utf-8"
    ) as lines:
        items = [json.loads(line) for line in lines]
    place: dict[tuple[str, str], int] = defaultdict(int)
    rows, labels, judge, people = [], [], defaultdict(list), defaultdict(list)
    for row in items:
        at = row["eid"], row["system"]
        unit = f"answer:0.{place[at]}"
        place[at] += 1
        words = set(row["unit"].lower().split())
        yes = int(len(words & set(row["text"].lower().split())) >= 0.4 * len(words))
        covered = int(row["covered"] > 0)
        item = {"eid": at[0], "system": at[1], "unit": unit, "aspect": "coverage"}
        rows.append(Judgement(**item, protocol="binary", judge="words", value=yes))
        labels.append(Label(**item, annotator="people", value=covered))
        judge[at].append(yes)
        people[at].append(covered)
    (group,) = analyse(rows, labels, settings=QUICK).groups
    value = group.agreement["summary"]["kendall"]
    tau = kendalltau([fmean(judge[at]) for at in people], [fmean(people[at]) for at in people])
    assert (value.n, len(rows)) == (114, 661)
    assert value.value == pytest.approx(tau.statistic, abs=1e-12)
