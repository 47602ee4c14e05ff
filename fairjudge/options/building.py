"""Options of building references (``fairjudge build``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias

from fairjudge.options.declaring import Opt, identity_of

if TYPE_CHECKING:
    from fairjudge.references.steps import Validity

Consolidation: TypeAlias = Literal["embedding", "llm"]
Pipeline: TypeAlias = Literal["article", "paper"]
"""One call per article for all questions, or one per question and article as in the paper."""
PAPER_ARTICLES = 10
"""Maximum number of articles per cluster in DiverseSumm; those that answer most are kept."""
PAPER_QUESTIONS = 20

MinSources: TypeAlias = Annotated[
    float, Opt("Minimum share of sources that must answer a question.", ge=0, le=1)
]


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildOptions:
    """Options of ``fairjudge build``; see its help.

    The default of an option that is None depends on the backend; see `with_defaults`.
    """

    PANEL: ClassVar = "Building"
    max_articles: Annotated[
        int | None,
        Opt(
            "Maximum number of articles per cluster; those that answer the most questions are "
            "kept. Default: all; with --pipeline paper and the local backend 10.",
            ge=2,
        ),
    ] = None
    n_questions: Annotated[
        int | None,
        Opt(
            "Maximum number of questions per cluster; stories on which sources differ less get "
            "fewer. Default: one per 60 words of the articles, between 4 and 12; with --pipeline "
            "paper and the local backend 20.",
            flag="--questions",
            ge=1,
        ),
    ] = None
    facets: Annotated[
        int,
        Opt(
            "Minimum number of questions: if fewer have conflicting answers (rivals), questions "
            "whose answers can all be true (facets) are added up to this number. Not with "
            "--pipeline paper.",
            ge=0,
        ),
    ] = 1
    min_sources: MinSources = 0.3
    consensus_filter: Annotated[
        bool,
        Opt(
            "Also drop questions where one group contains more than half of the answers (Discord "
            "Questions).",
            flag="--consensus-filter",
        ),
    ] = False
    merge_same_sources: Annotated[
        bool,
        Opt(
            "Also drop a question if at least 80 % of the paragraphs that answer it also answer "
            "another question (Discord Questions).",
            flag="--merge-same-sources",
        ),
    ] = False
    pipeline: Annotated[
        Pipeline,
        Opt(
            "Calls of an LLM. article: one per article for all questions, and one per question to "
            "group its answers. paper: DiverseSumm's steps, one per question and article."
        ),
    ] = "article"
    context_tokens: Annotated[
        int,
        Opt(
            "Maximum number of article tokens in the prompt that generates questions; longer "
            "clusters are split into parts.",
            ge=1,
        ),
    ] = 100_000
    consolidation: Annotated[
        Consolidation | None,
        Opt(
            "Method that groups answers by meaning. llm: the LLM, which also marks invalid answers "
            "and labels the groups (default with an LLM). embedding: sentence embeddings (default "
            "with --pipeline paper and the local backend)."
        ),
    ] = None
    post_filter: Annotated[
        bool,
        Opt(
            "With --pipeline paper: let the LLM drop answers that do not address their question, "
            "and questions whose answers do not differ."
        ),
    ] = True

    complete: Annotated[
        bool,
        Opt(
            "Read the articles a second time: add missed answers, and drop passages that do not "
            "state the label of their group. Takes one call for short articles, else one per "
            "article. Not with --pipeline paper.",
            flag="--complete",
        ),
    ] = False

    @property
    def validity(self) -> Validity:
        """The conditions on which a question is kept."""
        from fairjudge.references.steps import Validity

        return Validity(
            min_source_share=self.min_sources,
            max_largest_share=0.5 if self.consensus_filter else None,
            max_source_overlap=0.8 if self.merge_same_sources else None,
        )

    def with_defaults(self, *, llm: bool) -> ResolvedBuildOptions:
        """Return these options with the defaults for an LLM or for the local models."""
        is_by_article = llm and self.pipeline == "article"
        return ResolvedBuildOptions(
            max_articles=self.max_articles or (None if is_by_article else PAPER_ARTICLES),
            n_questions=self.n_questions or (None if is_by_article else PAPER_QUESTIONS),
            facets=self.facets,
            validity=self.validity,
            pipeline="article" if is_by_article else "paper",
            context_tokens=self.context_tokens,
            consolidation=self.consolidation or ("llm" if is_by_article else "embedding"),
            post_filter=self.post_filter,
            complete=self.complete and is_by_article,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedBuildOptions:
    """`BuildOptions` with every default filled in."""

    max_articles: int | None
    n_questions: int | None
    validity: Validity
    pipeline: Pipeline
    context_tokens: int
    consolidation: Consolidation
    post_filter: bool
    complete: bool = False
    facets: int = 1

    def identity(self) -> dict[str, Any]:
        """Return the options by name, as part of a run's identity."""
        return identity_of(self, omit_if_default=("complete", "facets"))
