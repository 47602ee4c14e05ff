"""Person names in texts that are longer than a spaCy pipeline takes at once."""

from __future__ import annotations

import pytest

from fairjudge.scorers.people import PeopleFinder


@pytest.fixture
def finder() -> PeopleFinder:
    spacy = pytest.importorskip("spacy")
    pipeline = spacy.blank("en")
    pipeline.add_pipe("entity_ruler").add_patterns([{"label": "PERSON", "pattern": "Ada Reyes"}])
    pipeline.max_length = 20_000
    return PeopleFinder(pipeline, fingerprint="test")


@pytest.mark.parametrize("space", [" ", "\n\n", "  "])
def test_a_long_text_is_read_in_parts_and_every_mention_is_found(finder, space):
    texts = [space.join(["The mayor Ada Reyes spoke."] * n) for n in (1, 700, 900, 9000)]
    assert [len(names) for names in finder.find(texts)] == [1, 700, 900, 9000]


def test_a_long_text_without_sentence_ends_is_read_too(finder):
    text = "so Ada Reyes said and " * 10_000
    n_found = len(finder.find([text])[0])
    assert 9_900 <= n_found <= 10_000  # a cut between words may part a name
    assert finder.find(["x" * 50_000]) == ((),)
