"""Choosing the parts that build references."""

from __future__ import annotations

from typing import Literal, TypeAlias

from fairjudge.app.models import Models
from fairjudge.errors import ConfigurationError
from fairjudge.prompting import load_template
from fairjudge.references.embedded import (
    EmbeddingConsolidator,
    LocalAnswerer,
    LocalQuestionWriter,
)
from fairjudge.references.llm import (
    Asker,
    LlmAnswerer,
    LlmConsolidator,
    LlmPostFilter,
    LlmQuestionWriter,
)
from fairjudge.references.local import LocalReferences
from fairjudge.references.ports import Builder, Consolidator
from fairjudge.signature import signature

Consolidation: TypeAlias = Literal["embedding", "llm"]


def make_builder(models: Models, *, consolidation: Consolidation, post_filter: bool) -> Builder:
    """Return the parts for these models.

    Raises
    ------
    ConfigurationError
        If an LLM is to consolidate and the backend is ``local``, or a package is missing.
    """
    if models.llm is None:
        return _local_builder(models, consolidation)
    asker = Asker(backend=models.llm.backend, target=models.llm.target, **models.llm.sampling)
    consolidator: Consolidator = (
        LlmConsolidator(asker=asker)
        if consolidation == "llm"
        else EmbeddingConsolidator(embedder=models.embedder())
    )
    writer = LlmQuestionWriter(asker=asker)
    steps = ("questions", "answers", *(["consolidation"] if consolidation == "llm" else []))
    return Builder(
        seed_writer=writer,
        writer=writer,
        answerer=LlmAnswerer(asker=asker),
        consolidator=consolidator,
        post_filter=LlmPostFilter(asker=asker) if post_filter else None,
        signature=signature(
            {
                "builder": str(models.llm.target),
                "base_url": models.llm.target.base_url,
                "prompts": ",".join(
                    load_template("reference", step).label
                    for step in (*steps, *(["filter"] if post_filter else []))
                ),
                "consolidation": consolidation,
                "encoder": models.embedder().fingerprint if consolidation == "embedding" else None,
                "seed": asker.seed,
                "max_output_tokens": models.llm.sampling.get("max_output_tokens"),
            }
        ),
    )


def _local_builder(models: Models, consolidation: Consolidation) -> Builder:
    if consolidation == "llm":
        raise ConfigurationError(
            "--consolidation llm needs an LLM: give one by --backend provider:model"
        )
    embedder = models.embedder()
    references = LocalReferences(embedder=embedder)
    writer = LocalQuestionWriter(references=references)
    return Builder(
        seed_writer=writer,
        writer=writer,
        answerer=LocalAnswerer(references=references),
        consolidator=EmbeddingConsolidator(embedder=embedder),
        post_filter=None,
        signature=signature(
            {"builder": "local", "encoder": embedder.fingerprint, "consolidation": consolidation}
        ),
    )
