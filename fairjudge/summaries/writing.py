"""Summaries of clusters by an LLM: DiverseSumm C.2, with fairness and length instructions.

``direct`` puts all articles into one prompt, ``differences`` too, for a summary of what they say
differently alone (DiverseSumm's own task); ``extract`` picks salient sentences an article first,
for models with a short context. Stubs are excluded, as in judging.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from fairjudge.domain import Article, Cluster, Summary, Unscored
from fairjudge.errors import ConfigurationError
from fairjudge.judges.criteria import fence_articles
from fairjudge.parsing import without_reasoning
from fairjudge.parsing.outcomes import complete_or_unscored, is_cut_off, saying_cut_off
from fairjudge.ports import Backend, CompletionRequest, ModelRef
from fairjudge.prompting import Fenced, load_template, render
from fairjudge.text.scripts import count_words
from fairjudge.text.spellings import spellings_of
from fairjudge.text.tokens import named_words
from fairjudge.text.usable import worth_reading

Strategy: TypeAlias = Literal["direct", "extract", "differences"]

SENTENCES_PER_ARTICLE = 5
"""DiverseSumm, footnote 4."""
TOKENS_PER_WORD, WORDS_PER_SENTENCE = 1.6, 28
"""Of news in English, with room to spare: a summary of the length asked for is not cut off."""
_MAX_NAME_WORDS, _MAX_NAME_LENGTH = 4, 40
"""What the name of a group may have at most to stand in a prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LengthAndFairness:
    """The length wanted of a summary, and the attribute that it is to be fair to.

    ``fair_attribute`` names an article attribute whose values are all to be heard in proportion
    (FairSumm 7).
    """

    fair_attribute: str | None = None
    n_sentences: int | None = None
    n_words: int | None = None

    @property
    def n_tokens(self) -> int:
        """How many tokens a summary of the wanted length may take; 0 where none is wanted."""
        words = max(self.n_words or 0, (self.n_sentences or 0) * WORDS_PER_SENTENCE)
        return round(words * TOKENS_PER_WORD)

    def instructions(self, articles: Sequence[Article], *, max_tokens: int) -> str:
        """Return the sentences that the prompt on `articles` ends with.

        Where no length is wanted, the reply is to fit `max_tokens`, its limit.
        """
        lines = []
        if self.n_sentences:
            lines.append(f"Write {_count(self.n_sentences, 'sentence')}, no more and no fewer.")
        if self.n_words:
            lines.append(f"Write about {_count(self.n_words, 'word')}.")
        if not lines:
            most = max(20, int(max_tokens / TOKENS_PER_WORD) // 10 * 10)
            lines.append(
                f"Take the room you need, up to {most} words: completeness matters more than "
                "brevity."
            )
        if self.fair_attribute:
            lines.append(_fairness(articles, self.fair_attribute))
        return "\n".join(lines)


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}{'s' * (n != 1)}"


def has_attribute(articles: Sequence[Article], attribute: str) -> bool:
    """Say whether any of `articles` has a value of `attribute`."""
    return bool(spellings_of(a.attributes.get(attribute) for a in articles).values)


def _fairness(articles: Sequence[Article], attribute: str) -> str:
    """Say which groups there are and which sources are of each (coverage fairness, A.6)."""
    numbers: dict[str, list[int]] = {}
    given = [article.attributes.get(attribute) for article in articles]
    spellings = spellings_of(given)
    for number, value in enumerate(map(spellings.label, given), start=1):
        if value is not None:
            numbers.setdefault(named_words(value), []).append(number)
    groups = [
        (_group(value, place), found)
        for place, (value, found) in enumerate(sorted(numbers.items()), start=1)
    ]
    shares = ", ".join(f"{name}: {len(found)}" for name, found in groups)
    places = "; ".join(f"{name}: {', '.join(map(str, found))}" for name, found in groups)
    name = named_words(attribute)
    return (
        f"The sources differ in {name} ({shares}). Counted in the order shown, these are {places}. "
        "Give every one of these groups room in proportion to its number of sources, and do not "
        "let one speak for another."
    )


def _group(value: str, number: int) -> str:
    """Return how a prompt names a group: in words of ours where its own may be an instruction.

    Names stand outside the fences, and are words of others.
    """
    short = len(value) <= _MAX_NAME_LENGTH and count_words(value) <= _MAX_NAME_WORDS
    return value if value and short else f"group {number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Summarizer:
    """A model with a strategy; ``system`` names the result, by default ``<model>-<strategy>``.

    Raises `ConfigurationError` where a summary of the wanted length would not fit
    ``max_output_tokens``.
    """

    backend: Backend
    target: ModelRef
    strategy: Strategy = "direct"
    wishes: LengthAndFairness = LengthAndFairness()
    temperature: float = 0.0
    seed: int | None = None
    max_output_tokens: int = 1024
    system: str | None = None

    def __post_init__(self) -> None:
        if self.wishes.n_tokens > self.max_output_tokens:
            raise ConfigurationError(
                f"a summary of that length takes up to {self.wishes.n_tokens} tokens, and a reply "
                f"may have {self.max_output_tokens}: give more by --max-output-tokens"
            )

    @property
    def name(self) -> str:
        """Return the name of the resulting system."""
        return self.system or f"{self.target.model}-{self.strategy}"

    async def summarize(self, cluster: Cluster) -> Summary | Unscored:
        """Return a summary of the articles that have content, or why there is none."""
        articles = worth_reading(cluster.articles)
        if not articles:
            return Unscored(reason="empty_input", detail="no article has content")
        wanted = self.wishes.fair_attribute
        if wanted is not None and not has_attribute(articles, wanted):
            detail = f"no article with content has the attribute {wanted!r}"
            return Unscored(reason="empty_input", detail=detail)
        fields: dict[str, str | Fenced] = {
            "instructions": self.wishes.instructions(articles, max_tokens=self.max_output_tokens)
        }
        if self.strategy == "extract":
            extracts = await self._extracts(articles)
            if isinstance(extracts, Unscored):
                return extracts
            template, fields["extracts"] = "fuse", extracts
        else:
            template, fields["articles"] = self.strategy, fence_articles(articles)
        written = await self._complete(template, fields)
        if isinstance(written, Unscored):
            return written
        return Summary(eid=cluster.eid, system=self.name, text=written)

    async def _extracts(self, articles: Sequence[Article]) -> Fenced | Unscored:
        n = str(SENTENCES_PER_ARTICLE)
        fenced = (fence_articles((article,)) for article in articles)
        found = await asyncio.gather(
            *(self._complete("extract", {"article": one, "n_sentences": n}) for one in fenced)
        )
        texts = []
        for article, extract in zip(articles, found, strict=True):
            if isinstance(extract, Unscored):
                return extract
            texts.append(f"{article.title}\n\n{extract}".strip())
        return Fenced("source", tuple(texts), tuple(article.domain for article in articles))

    async def _complete(self, template: str, fields: Mapping[str, str | Fenced]) -> str | Unscored:
        """Return what the model wrote after its reasoning."""
        request = CompletionRequest(
            target=self.target,
            messages=render(load_template("summarize", template), fields),
            temperature=self.temperature,
            seed=self.seed,
            max_output_tokens=self.max_output_tokens,
        )
        written = await complete_or_unscored(self.backend, request)
        if isinstance(written, Unscored):
            return written
        if is_cut_off(written):
            why = Unscored(reason="unparseable", detail="no whole text", raw=written.text)
            return saying_cut_off(why)
        text = without_reasoning(written.text).strip()
        if not text:
            detail = "the reply holds reasoning and no text"
            return Unscored(reason="unparseable", detail=detail, raw=written.text)
        return text
