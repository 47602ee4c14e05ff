"""Make the builder of references from models and options."""

from __future__ import annotations

from collections.abc import Sequence

from fairjudge.engine.models import Llm, Models
from fairjudge.errors import ConfigurationError
from fairjudge.options.building import Consolidation, ResolvedBuildOptions
from fairjudge.prompting import Template, load_template
from fairjudge.records.signature import signature
from fairjudge.references.asker import Asker
from fairjudge.references.completing import LlmCompleter
from fairjudge.references.embedded import (
    EmbeddingConsolidator,
    UnlabelledGrouper,
)
from fairjudge.references.extracting import LlmArticleAnswerer
from fairjudge.references.grouping import LlmGrouper
from fairjudge.references.llm import (
    LlmAnswerer,
    LlmConsolidator,
    LlmPostFilter,
    LlmQuestionWriter,
)
from fairjudge.references.local import LocalReferences
from fairjudge.references.ports import ArticleBuilder, Builder, Consolidator, Grouper
from fairjudge.references.writing import LlmClusterWriter

LOCAL_BUILDER = "local-points"
"""The builder without an LLM in signatures and run identities; changing it starts new runs."""


def make_builder(models: Models, options: ResolvedBuildOptions) -> Builder | ArticleBuilder:
    """Return the builder for these models; local models have one pipeline.

    Raises
    ------
    ConfigurationError
        If the local backend is used with ``consolidation="llm"``, or a package is missing.
    """
    consolidation = options.consolidation
    if models.llm is None:
        return _local_builder(models, consolidation)
    asker = Asker(backend=models.llm.backend, target=models.llm.target, **models.llm.sampling)
    if options.pipeline == "article":
        return _article_builder(models, models.llm, asker, options)
    consolidator: Consolidator = (
        LlmConsolidator(asker=asker)
        if consolidation == "llm"
        else EmbeddingConsolidator(load=lambda: models.embedder)
    )
    writer = LlmQuestionWriter(asker=asker)
    names = ["questions", "answers"]
    names += ["consolidation"] if consolidation == "llm" else []
    names += ["filter"] if options.post_filter else []
    prompts = [load_template("reference", name, version=1) for name in names]
    return Builder(
        seed_writer=writer,
        writer=writer,
        answerer=LlmAnswerer(asker=asker),
        consolidator=consolidator,
        post_filter=LlmPostFilter(asker=asker) if options.post_filter else None,
        signature=_signature(models, models.llm, prompts, consolidation),
    )


def _article_builder(
    models: Models, llm: Llm, asker: Asker, options: ResolvedBuildOptions
) -> ArticleBuilder:
    consolidation = options.consolidation
    embeddings = EmbeddingConsolidator(load=lambda: models.embedder)
    is_llm_grouping = consolidation == "llm"
    grouper: Grouper = (
        LlmGrouper(asker=asker, fallback=embeddings)
        if is_llm_grouping
        else UnlabelledGrouper(consolidator=embeddings)
    )
    names = ["questions", "answers"]
    names += ["groups"] if is_llm_grouping else []
    names += ["completion"] if options.complete else []
    prompts = [load_template("reference", name) for name in names]
    return ArticleBuilder(
        writer=LlmClusterWriter(asker=asker),
        answerer=LlmArticleAnswerer(asker=asker),
        grouper=grouper,
        completer=LlmCompleter(asker=asker) if options.complete else None,
        signature=_signature(models, llm, prompts, consolidation),
    )


def _signature(
    models: Models, llm: Llm, prompts: Sequence[Template], consolidation: Consolidation
) -> str:
    return signature(
        {
            "builder": str(llm.target),
            "base_url": llm.target.base_url,
            "prompts": ",".join(prompt.label for prompt in prompts),
            "consolidation": consolidation,
            "encoder": models.embedder.fingerprint if consolidation == "embedding" else None,
            "seed": llm.sampling.get("seed"),
            "max_output_tokens": llm.sampling.get("max_output_tokens"),
        }
    )


def _local_builder(models: Models, consolidation: Consolidation) -> Builder:
    if consolidation == "llm":
        raise ConfigurationError(
            "--consolidation llm needs an LLM: pass one with --backend provider:model"
        )
    embedder, trained_models = models.embedder, models.trained
    references = LocalReferences(embedder=embedder, models=trained_models)
    return Builder(
        seed_writer=references,
        writer=references,
        answerer=references,
        consolidator=references,
        post_filter=None,
        signature=signature(
            {
                "builder": LOCAL_BUILDER,
                "encoder": embedder.fingerprint,
                "model": trained_models.identity,
                "consolidation": consolidation,
            }
        ),
    )
