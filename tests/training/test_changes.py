"""Planted changes change what they say they do, and only that."""

from __future__ import annotations

import random

import pytest

from training import changes

SENTENCE = (
    "Unemployment in France rose to 9.5 percent on Tuesday because of strikes, "
    "the minister Paul Brun said."
)


def plant(kind, sentence=SENTENCE, seed=1):
    return changes.changed(
        sentence,
        random.Random(seed),
        names=["Maria Costa"],
        causes=["a cold winter"],
        kinds=(kind,),
    )


@pytest.mark.parametrize("kind", ["number", "name", "speaker", "opposite", "swap", "cause"])
def test_change_keeps_most_words(kind):
    changed = plant(kind)
    assert changed is not None
    assert changed.kind == kind
    assert changed.text != SENTENCE
    assert len(set(SENTENCE.split()) ^ set(changed.text.split())) <= 8


def test_each_change_matches_its_name():
    assert "a cold winter, the minister" in plant("cause").text
    assert "Maria Costa" in plant("name").text
    assert "fell to" in plant("opposite").text
    assert "was not closed" in plant("negation", "The road was closed.").text
    assert plant("negation", "The road was not closed.").text == "The road was closed."
    assert plant("swap", "He says France beat Spain.").text == "He says Spain beat France."


def test_changed_number_differs():
    for seed in range(50):
        changed = plant("number", "It has 7 rooms.", seed)
        assert changed.text != "It has 7 rooms."
        assert changed.text.startswith("It has ")


@pytest.mark.parametrize("kind", ["number", "name", "speaker", "cause", "swap", "opposite"])
def test_sentence_without_targets_is_unchanged(kind):
    assert plant(kind, "It rained.") is None


def test_equal_seed_gives_the_same_change():
    draws = [
        changes.changed(SENTENCE, random.Random(7), names=["Lima"], causes=["rain"])
        for _ in range(2)
    ]
    assert draws[0] == draws[1]
