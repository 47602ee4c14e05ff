"""Probes of verbosity: what is added, how much, and what is refused."""

from __future__ import annotations

import pytest

from fairjudge.auditing.probes import FILLER, PROBES, add_probes
from fairjudge.domain import Article, Cluster, Summary
from fairjudge.errors import ConfigurationError, InputError
from fairjudge.text.sentences import sentence_texts

CLUSTERS = (
    Cluster(
        eid="e1",
        articles=(
            Article(aid="a", content="The bridge fell. Nobody was hurt."),
            Article(aid="b", content="The mayor resigned. A vote follows in May."),
        ),
    ),
    Cluster(eid="e2", articles=(Article(aid="c", content="Prices rose by four percent."),)),
)
SUMMARY = Summary(eid="e1", system="s", text="The bridge fell.")


def added(probe, summary=SUMMARY, clusters=CLUSTERS):
    ((original, longer),) = add_probes([summary], clusters, [probe], split_sentences=sentence_texts)
    assert original == summary
    assert longer.system == f"s:{probe}"
    assert longer.text.startswith(summary.text)
    return longer.text.removeprefix(summary.text).strip()


def test_extended_probe_repeats_the_summary():
    assert added("extended") == SUMMARY.text


def test_filler_probe_is_as_long_without_content():
    text = added("filler")
    assert text == FILLER[0]
    assert len(text.split()) >= len(SUMMARY.text.split())


def test_supported_probe_adds_new_sentences_of_the_same_cluster():
    """Three words are wanted; the first sentence of the second article has three."""
    assert added("supported") == "The mayor resigned."


def test_unsupported_probe_adds_sentences_of_another_cluster():
    assert added("unsupported") == "Prices rose by four percent."


def test_empty_summaries_and_exhausted_articles_are_excluded():
    whole = Summary(eid="e2", system="s", text="Prices rose by four percent.")
    empty = Summary(eid="e1", system="s", text=" ")
    assert add_probes([whole], CLUSTERS, ["supported"], split_sentences=sentence_texts) == ()
    assert add_probes([empty], CLUSTERS, PROBES, split_sentences=sentence_texts) == ()


def test_unknown_probes_and_missing_other_cluster_raise():
    with pytest.raises(ConfigurationError, match="unknown probe 'longer'"):
        add_probes([SUMMARY], CLUSTERS, ["longer"], split_sentences=sentence_texts)
    with pytest.raises(InputError, match="two or more clusters"):
        add_probes([SUMMARY], CLUSTERS[:1], ["unsupported"], split_sentences=sentence_texts)
