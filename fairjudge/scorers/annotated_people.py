"""Annotate people and coreference in plain documents, with a spaCy pipeline and rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from fairjudge.bias.annotated import Range
from fairjudge.bias.coreference import coreference_chains
from fairjudge.scorers.people import LABELS, load_people_finder
from fairjudge.text.sentences import split_sentences


def annotate_documents(
    texts: Sequence[tuple[str, str]], *, pipeline: str | None, genders: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    """Yield an annotated document per (id, text), in the format of ``bias inputs -o``.

    Raises the errors of `load_people_finder`.
    """
    finder = load_people_finder(pipeline, tags=True)
    for name, text in texts:
        document = finder.read(text)
        word_tokens = [token for token in document if not token.is_space]
        index_by_position = {token.i: number for number, token in enumerate(word_tokens)}
        people = [
            Range(
                start=index_by_position[entity_tokens[0].i],
                end=index_by_position[entity_tokens[-1].i] + 1,
            )
            for entity in document.ents
            if entity.label_ in LABELS
            and (entity_tokens := [token for token in entity if not token.is_space])
        ]
        tokens = [token.text for token in word_tokens]
        chains = coreference_chains(tokens, people, _sentence_indices(text, word_tokens), genders)
        yield {
            "id": name,
            "tokens": tokens,
            "tags": [token.tag_ for token in word_tokens],
            "people": [list(asdict(person).values()) for person in people],
            "chains": [[list(asdict(mention).values()) for mention in chain] for chain in chains],
            "text": text,
        }


def _sentence_indices(text: str, tokens: Sequence[Any]) -> list[int]:
    """Return the index of each token's sentence."""
    ends = [span.end for span in split_sentences(text)]
    indices, index = [], 0
    for token in tokens:
        while index < len(ends) - 1 and token.idx >= ends[index]:
            index += 1
        indices.append(index)
    return indices
