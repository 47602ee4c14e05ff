"""Options of building references."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias

from fairjudge.options.declaring import Opt, identity_of

if TYPE_CHECKING:
    from fairjudge.references.steps import Validity

Consolidation: TypeAlias = Literal["embedding", "llm"]
Pipeline: TypeAlias = Literal["article", "paper"]
"""One call an article for all questions, or one for each question and article as in the paper."""
PAPER_ARTICLES = 10
"""The articles that DiverseSumm keeps of a cluster: those that answer most questions."""
PAPER_QUESTIONS = 20

MinSources: TypeAlias = Annotated[
    float, Opt("Minimum share of sources that must answer a question.", ge=0, le=1)
]


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildOptions:
    """Options of ``fairjudge build``; see its help.

    The default of an option that is None depends on the backend; `settled` returns it.
    """

    PANEL: ClassVar = "Building"
    max_articles: Annotated[
        int | None,
        Opt(
            "Articles kept: those that answer most questions. Default: all; with --pipeline paper "
            "and the local backend 10.",
            ge=2,
        ),
    ] = None
    n_questions: Annotated[
        int | None,
        Opt(
            "Maximum number of questions; a story on which sources differ less gets fewer. "
            "Default: one for every 60 words of the articles, 4 to 12; with --pipeline paper and "
            "the local backend 20.",
            flag="--questions",
            ge=1,
        ),
    ] = None
    facets: Annotated[
        int,
        Opt(
            "Number of questions up to which those whose answers can all be true (facets) fill up. "
            "By default one is kept where no question has rivals, and none beside rivals. Not with "
            "--pipeline paper.",
            ge=0,
        ),
    ] = 1
    min_sources: MinSources = 0.3
    consensus_filter: Annotated[
        bool,
        Opt(
            "Also drop questions on which one group holds more than half of the answers (Discord "
            "Questions).",
            flag="--consensus-filter",
        ),
    ] = False
    merge_same_sources: Annotated[
        bool,
        Opt(
            "Also drop a question when at least 80 % of the paragraphs that answer it answer "
            "another one (Discord Questions).",
            flag="--merge-same-sources",
        ),
    ] = False
    pipeline: Annotated[
        Pipeline,
        Opt(
            "How an LLM builds: by one call an article for all questions and one a question for "
            "its groups, or by DiverseSumm's steps, one call for each question and article."
        ),
    ] = "article"
    context_tokens: Annotated[
        int,
        Opt(
            "Maximum number of tokens of articles in the prompt that writes questions; longer "
            "clusters are read in parts.",
            ge=1,
        ),
    ] = 100_000
    consolidation: Annotated[
        Consolidation | None,
        Opt(
            "How answers are grouped by meaning: by the LLM, which then also names the invalid "
            "ones and labels the groups (default with an LLM), or by sentence embeddings (default "
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
            "Read the articles once more for answers that were missed, and drop passages that do "
            "not say their group's label: one call where the articles are short, else one an "
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

    def settled(self, *, llm: bool) -> SettledOptions:
        """Return these options with their defaults for a language model or the local parts."""
        by_article = llm and self.pipeline == "article"
        return SettledOptions(
            max_articles=self.max_articles or (None if by_article else PAPER_ARTICLES),
            n_questions=self.n_questions or (None if by_article else PAPER_QUESTIONS),
            facets=self.facets,
            validity=self.validity,
            pipeline="article" if by_article else "paper",
            context_tokens=self.context_tokens,
            consolidation=self.consolidation or ("llm" if by_article else "embedding"),
            post_filter=self.post_filter,
            complete=self.complete and by_article,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SettledOptions:
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
        """Return the options that identify a run."""
        return identity_of(self, later=("complete", "facets"))
