"""People and coreference in plain documents, by a spaCy pipeline and rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from fairjudge.bias.annotated import Range
from fairjudge.bias.coreference import chains_of
from fairjudge.scorers.people import LABELS, load_people_finder
from fairjudge.text.sentences import split_sentences


def annotated(
    texts: Sequence[tuple[str, str]], *, pipeline: str | None, genders: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """Yield each (id, text) as a document that ``bias inputs -o`` reads.

    Raises as `load_people_finder`.
    """
    finder = load_people_finder(pipeline, tags=True)
    for name, text in texts:
        document = finder.read(text)
        word_tokens = [token for token in document if not token.is_space]
        place = {token.i: number for number, token in enumerate(word_tokens)}
        people = [
            Range(start=place[inside[0].i], end=place[inside[-1].i] + 1)
            for entity in document.ents
            if entity.label_ in LABELS
            and (inside := [token for token in entity if not token.is_space])
        ]
        tokens = [token.text for token in word_tokens]
        chains = chains_of(tokens, people, _sentences(text, word_tokens), genders)
        yield {
            "id": name,
            "tokens": tokens,
            "tags": [token.tag_ for token in word_tokens],
            "people": [list(asdict(person).values()) for person in people],
            "chains": [[list(asdict(mention).values()) for mention in chain] for chain in chains],
            "text": text,
        }


def _sentences(text: str, tokens: Sequence[Any]) -> list[int]:
    """Return the number of the sentence that each token stands in."""
    ends = [span.end for span in split_sentences(text)]
    chains, number = [], 0
    for token in tokens:
        while number < len(ends) - 1 and token.idx >= ends[number]:
            number += 1
        chains.append(number)
    return chains
