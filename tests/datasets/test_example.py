"""The bundled example is what its README says it is."""

import math
from collections import defaultdict
from statistics import fmean

import pytest

from fairjudge.datasets import (
    example_path,
    match_summaries,
    read_clusters,
    read_labels,
    read_references,
    read_summaries,
    why_not_buildable,
)
from fairjudge.text.sentences import split_sentences

EVENTS = {"dunmere-spillway", "serrin-tram-strike"}
SYSTEMS = {"thorough", "one-sided", "unfaithful"}


@pytest.fixture(scope="module")
def references():
    return read_references(example_path("references.json")).records


@pytest.fixture(scope="module")
def summaries():
    return read_summaries(example_path("summaries.jsonl"))


@pytest.fixture(scope="module")
def labels():
    return read_labels(example_path("labels.jsonl")).records


def test_two_events_of_eight_articles_from_three_types_of_outlet():
    clusters = read_clusters(example_path("clusters.json")).records
    assert {cluster.eid for cluster in clusters} == EVENTS
    for cluster in clusters:
        assert why_not_buildable(cluster) is None
        assert len(cluster.articles) == 8
        assert all(150 <= len(article.content.split()) <= 300 for article in cluster.articles)
        assert all(article.domain.endswith(".example") for article in cluster.articles)
        types = {article.attributes["outlet_type"] for article in cluster.articles}
        assert types == {"local", "national", "trade"}


def test_references_match_the_clusters(references):
    clusters = read_clusters(example_path("clusters.json")).records
    assert [r.articles for r in references] == [c.articles for c in clusters]


def test_every_answer_is_verbatim_in_its_article_and_every_question_valid(references):
    for reference in references:
        contents = {article.aid: article.content for article in reference.articles}
        assert len(reference.question_answers) >= 5
        for question in reference.question_answers:
            answers = [answer for group in question.answer_groups for answer in group]
            assert all(answer.answer in contents[answer.aid] for answer in answers)
            assert len(question.answer_groups) >= 2
            # at least 30 % of the articles answer (DiverseSumm, section 3.1)
            assert len({answer.aid for answer in answers}) >= 0.3 * len(contents)


def test_three_summaries_of_each_event_of_comparable_length(references, summaries):
    match_summaries(summaries, references)
    pairs = {(summary.eid, summary.system) for summary in summaries}
    assert pairs == {(eid, system) for eid in EVENTS for system in SYSTEMS}
    lengths = [len(summary.text.split()) for summary in summaries]
    assert max(lengths) < 1.3 * min(lengths)


def units(labels):
    """Labels of units by (eid, system, aspect, annotator), in file order."""
    grouped = defaultdict(list)
    for label in labels:
        if label.unit != "summary":
            grouped[label.eid, label.system, label.aspect, label.annotator].append(label)
    return grouped


def test_unit_labels_follow_from_their_basis(labels):
    for (_, _, _, annotator), value in units(labels).items():
        n_doubtful = 0
        for label in value:
            basis = label.to_json()["basis"]
            if basis in {"partial", "debatable"}:
                n_doubtful += 1
                expected = {"rater1": 0, "rater2": 1, "rater3": n_doubtful % 2}[annotator]
            else:
                expected = int(basis in {"full", "supported"})
            assert label.value == expected


def test_labels_of_whole_summaries_follow_from_the_unit_labels(labels):
    grouped = units(labels)
    whole = [label for label in labels if label.unit == "summary"]
    assert len(whole) == 2 * 3 * 2 * 3  # events, systems, aspects, annotators
    for label in whole:
        of_units = grouped[label.eid, label.system, label.aspect, label.annotator]
        mean = fmean(item.value for item in of_units)
        assert label.value == 1 + math.floor(4 * mean + 0.5)


def test_every_answer_group_and_sentence_has_a_label(references, summaries, labels):
    answers = {
        reference.eid: [
            f"answer:{q}.{g}"
            for q, question in enumerate(reference.question_answers)
            for g in range(len(question.answer_groups))
        ]
        for reference in references
    }
    sentences = {(s.eid, s.system): len(split_sentences(s.text)) for s in summaries}
    for (eid, system, aspect, _), value in units(labels).items():
        expected = (
            answers[eid]
            if aspect == "coverage"
            else [f"sentence:{i}" for i in range(sentences[eid, system])]
        )
        assert [label.unit for label in value] == expected


def test_annotators_differ_slightly_but_agree_on_the_system_order(labels):
    scores = defaultdict(dict)
    for label in labels:
        if label.unit == "summary":
            scores[label.eid, label.aspect, label.annotator][label.system] = label.value
    for (_, aspect, _), by_system in scores.items():
        if aspect == "faithfulness":
            assert by_system["thorough"] >= by_system["one-sided"] > by_system["unfaithful"]
        else:
            assert by_system["thorough"] > max(by_system["one-sided"], by_system["unfaithful"])
    values = defaultdict(set)
    for label in labels:
        values[label.eid, label.system, label.aspect, label.unit].add(label.value)
    share_disputed = fmean(len(value) > 1 for value in values.values())
    assert 0 < share_disputed < 0.1
