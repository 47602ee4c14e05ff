"""Commands that are named as next: for the labels, articles and references that there are."""

from __future__ import annotations

import shlex
from itertools import pairwise
from pathlib import Path

import pytest

from fairjudge.domain import Label
from fairjudge.judges.asking import ASPECTS
from fairjudge.reports.next_commands import (
    Data,
    command_after_build,
    command_after_judging,
    command_after_summaries,
    commands_after_conversion,
    label_protocols,
    ranking_obstacle,
)
from fairjudge.text.own_aspects import built_in_aspects

FOLDER = Path("my data")
CLUSTERS, SUMMARIES = FOLDER / "c.jsonl", FOLDER / "s.jsonl"


def label(aspect: str, value: float | str) -> Label:
    pair = {"system_a": "a", "system_b": "b"} if isinstance(value, str) else {"system": "a"}
    by_name = {"eid": "e", "aspect": aspect, "annotator": "p", "value": value}
    return Label.model_validate(by_name | pair)


def data(**more: object) -> Data:
    by_name = {"clusters": CLUSTERS, "summaries": [SUMMARIES], "labels": FOLDER / "l.jsonl"}
    return Data(folder=FOLDER, **by_name | more)  # type: ignore[arg-type]


def test_suggested_protocol_matches_the_labels():
    labels = [label("tone", 0), label("tone", 1), label("focus", 3), label("style", "tie")]
    assert label_protocols(labels) == {"tone": "binary", "focus": "likert", "style": "pairwise"}


@pytest.mark.parametrize(
    ("labelled", "aspect", "protocol", "asks"),
    [
        ({"fluency": "pairwise", "tone": "likert"}, "fluency", "pairwise", True),
        ({"coherence": "binary"}, "coherence", "binary", True),
        ({"balance": "binary"}, "balance", "binary", True),
        ({"balance": "likert"}, "balance", "likert", False),
        ({"faithfulness": "likert", "fluency": "likert"}, "faithfulness", "likert", False),
    ],
)
def test_labelled_summaries_suggest_judge_and_calibrate_with_baselines(
    labelled, aspect, protocol, asks
):
    judging, calibrating, *_ = commands_after_conversion(data(label_protocols=labelled))
    words = shlex.split(judging.command)
    assert words[words.index("--aspect") + 1] == aspect
    assert words[words.index("--protocol") + 1] == protocol
    assert ("--backend" in words) == asks
    output = words[words.index("-o") + 1]
    assert calibrating.purpose == "Then"
    assert shlex.split(calibrating.command)[2:] == [
        *(output, "--labels", "my data/l.jsonl", "--summaries", str(SUMMARIES)),
        *("--clusters", str(CLUSTERS)),
    ]


def test_labels_only_on_custom_aspects():
    purposes = {
        item.purpose: item.command
        for item in commands_after_conversion(data(label_protocols={"x": "likert"}))
    }
    assert "value:ASPECT=x" in purposes["To calibrate on these labels"]
    judging = shlex.split(purposes["Next"])
    assert judging[judging.index("-o") + 1] == shlex.split(purposes["Then"])[2]
    assert judging[judging.index("--references") + 1] == str(CLUSTERS)
    assert judging[judging.index("--aspect") + 1] == "x"
    assert "--rule" in judging


@pytest.mark.parametrize(
    "more_kinds", [{}, {"tone": "likert"}, {"fluency": "binary", "tone": "binary"}]
)
def test_labels_on_coverage_need_references_first(more_kinds):
    """No own criterion under the name of a built-in aspect, and one way to judge it."""
    labelled = {"coverage": "binary"} | more_kinds
    commands = [
        *commands_after_conversion(data(label_protocols=labelled, has_several_articles=True))
    ]
    assert not any("faithfulness" in command.command for command in commands)
    words = [shlex.split(command.command) for command in commands]
    kinds = [word[1] for word in words if word[0] == "fairjudge"]
    first = ["judge", "calibrate"] if "fluency" in more_kinds else []
    last = ["judge"] if "tone" in more_kinds else []
    assert kinds == [*first, "build", "judge", *(["calibrate"] if not first else []), *last]
    built, judged = words[len(first)], words[len(first) + 1]
    assert judged[judged.index("--references") + 1] == built[-1]
    assert judged[judged.index("--protocol") + 1] == "binary"
    assert not any("'coverage'" in command.command for command in commands)
    references = data(
        label_protocols=labelled, references=FOLDER / "r.jsonl", has_several_articles=True
    )
    assert "--aspect coverage" in next(iter(commands_after_conversion(references))).command


@pytest.mark.parametrize("several", [False, True])
def test_coverage_is_suggested_for_multi_article_clusters(several):
    commands = [
        str(item)
        for item in commands_after_conversion(data(labels=None, has_several_articles=several))
    ]
    assert [line.partition(":")[0] for line in commands] == [
        "Next", *(("For coverage, first", "and then") if several else ()),
    ]  # fmt: skip
    references = data(labels=None, references=FOLDER / "r.jsonl", has_several_articles=several)
    (only,) = commands_after_conversion(references)
    assert "--aspect coverage" in only.command


def test_unlabelled_judgements_suggest_annotate_and_pairs_preferences():
    commands = command_after_judging(data(labels=None), Path("j.jsonl"), ["tone"], is_paired=True)
    annotating, calibrating = commands.command.split("; ")
    assert "--task preference --aspect tone" in annotating
    output = shlex.split(annotating)[-1]
    assert shlex.split(calibrating)[2:5] == ["j.jsonl", "--labels", output]
    other = command_after_judging(
        data(label_protocols={"tone": "likert"}), Path("j.jsonl"), ["focus"]
    )
    assert "-o 'my data/labels_focus.jsonl'" in other.command


def test_summaries_and_references_suggest_judge():
    summarized = command_after_summaries(CLUSTERS, SUMMARIES).command
    assert f"--references {shlex.quote(str(CLUSTERS))}" in summarized
    assert "--aspect coverage" in command_after_build(FOLDER / "r.jsonl").command


def test_the_built_in_aspects_are_those_with_prompts():
    assert built_in_aspects() == {*ASPECTS}


@pytest.mark.parametrize(
    ("systems", "documents", "ending"),
    [
        (5, 15, ""),
        (4, 15, "4 systems (it takes 5)"),
        (9, 14, "14 labelled documents (it takes 15)"),
    ],
)
@pytest.mark.parametrize("paired", [False, True])
def test_labels_too_few_to_rank_are_noted(systems, documents, ending, paired):
    """By the aspect with the most of them: a second one with fewer changes nothing."""
    names = [f"s{n}" for n in range(systems)]
    sides = [{"system_a": a, "system_b": b} for a, b in pairwise(names)]
    rated = sides if paired else [{"system": name} for name in names]
    labels = [
        Label(eid=f"e{n}", aspect="tone", annotator="p", value="a" if paired else 1, **item)
        for n in range(documents) for item in rated
    ]  # fmt: skip
    few = Label(eid="e", system="s", aspect="focus", annotator="p", value=1)
    why = ranking_obstacle([*labels, few])
    assert why.endswith(ending) if ending else not why
    assert not ranking_obstacle([])
