"""A second pass over the articles: missed answers, and passages that do not say their label."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fairjudge.domain import Answer, Article, QuestionAnswers, Unscored
from fairjudge.parsing import read_list, read_object
from fairjudge.prompting import INTEGER, INTEGERS, Fenced, json_array, json_object, load_template
from fairjudge.references.asker import AskingStep
from fairjudge.references.extracting import MAX_GLOSS_WORDS, VOICE, voice_of
from fairjudge.references.llm import MAX_ANSWER_WORDS
from fairjudge.references.ports import CompletionResult, MissedAnswer
from fairjudge.references.replies import QuotableArticle
from fairjudge.references.writing import numbered_articles
from fairjudge.text.counting import pluralize
from fairjudge.text.scripts import first_words

_SHOWN_WORDS = 30
"""Maximum number of words of the passage shown with a label."""
_LIMIT = 2000
_PER_ARTICLE = 600
_ADDED = json_object({"answer": INTEGER, **VOICE})
_ARTICLE = json_object({"article": INTEGER, "says": INTEGERS, "added": json_array(_ADDED)})
_SCHEMA = json_object({"unsupported": INTEGERS, "articles": json_array(_ARTICLE)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One article in a reply: the numbers of labels that it supports, and missed answers."""

    says: frozenset[int]
    added: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class _Place:
    """A group with a number in the prompt, and the articles that support or dispute it."""

    question: int
    group: int
    label: str
    quote: str
    support: frozenset[str]
    dispute: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Passage:
    """A passage with a number in the prompt: its place in its group, and its line."""

    question: int
    group: int
    position: int
    aid: str
    line: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A reply: its rows by index of the article, and the indices of unsupported passages."""

    rows: Mapping[int, Row]
    unsupported: frozenset[int] = frozenset()


class LlmCompleter(AskingStep):
    """A `Completer` that shows all groups and some articles in one call."""

    async def complete(
        self, questions: Sequence[QuestionAnswers], articles: Sequence[Article]
    ) -> CompletionResult | Unscored:
        """See `fairjudge.references.ports.Completer`."""
        places = list(_places(questions))
        passages = list(_passages(questions, articles))

        def earlier_groups(article: Article) -> str:
            numbers = [str(n) for n, place in enumerate(places, 1) if article.aid in place.support]
            return f"; found before: {', '.join(numbers) or 'none'}"

        reply = await self.asker.ask(
            load_template("reference", "completion"),
            {
                "groups": Fenced("groups", ("\n".join(_lines(questions, places)),)),
                "articles": numbered_articles(articles, more=earlier_groups),
                "passages": Fenced("passages", (_numbered(passages),)),
                "max_words": str(MAX_ANSWER_WORDS),
                "gloss_words": str(MAX_GLOSS_WORDS),
            },
            schema=_SCHEMA,
            parse=lambda text, _: read_completion(
                text, n_articles=len(articles), n=len(places), n_passages=len(passages)
            ),
            usual_limit=_LIMIT + _PER_ARTICLE * len(articles),
        )
        if isinstance(reply, Unscored):
            return reply
        supported = (passage for n, passage in enumerate(passages) if n not in reply.unsupported)
        confirmed = frozenset(
            (passage.question, passage.group, passage.aid) for passage in supported
        )
        unsupported = tuple(
            (passage.question, passage.group, passage.position)
            for passage in (passages[n] for n in sorted(reply.unsupported))
        )
        completed = _completed(reply.rows, places, articles, confirmed)
        return replace(completed, unsupported=unsupported)


def _places(questions: Sequence[QuestionAnswers]) -> Iterator[_Place]:
    for q, question in enumerate(questions):
        for g, group in enumerate(question.groups()):
            quote = min((answer.answer for answer in group.answers), key=len)
            sides = frozenset(group.supported_by), frozenset(group.disputed_by)
            yield _Place(q, g, group.label or quote, quote, *sides)


def _passages(
    questions: Sequence[QuestionAnswers], articles: Sequence[Article]
) -> Iterator[_Passage]:
    """Yield the passages of `articles` in groups, by article and then in the order of labels."""
    for number, article in enumerate(articles, 1):
        label = 0
        for q, question in enumerate(questions):
            for g, group in enumerate(question.answer_groups):
                label += 1
                for position, answer in enumerate(group):
                    if answer.aid == article.aid:
                        gloss = f" [{answer.gloss}]" if answer.gloss else ""
                        text = " ".join(f"{answer.answer}{gloss}".split())
                        line = f"article {number}, answer {label}: {text}"
                        yield _Passage(q, g, position, article.aid, line)


def _numbered(passages: Sequence[_Passage]) -> str:
    return "\n".join(f"{n}. {passage.line}" for n, passage in enumerate(passages, 1)) or "none"


def _lines(questions: Sequence[QuestionAnswers], places: Sequence[_Place]) -> Iterator[str]:
    """Yield each question, followed by its groups with a quote each, numbered consecutively."""
    last = -1
    for number, place in enumerate(places, 1):
        if place.question != last:
            yield " ".join(questions[place.question].question.split())
            last = place.question
        quote = first_words(" ".join(place.quote.split()), _SHOWN_WORDS)
        yield f"{number}. {' '.join(place.label.split())} [{quote}]"


def _completed(
    rows: Mapping[int, Row],
    places: Sequence[_Place],
    articles: Sequence[Article],
    confirmed: Collection[tuple[int, int, str]],
) -> CompletionResult:
    """Return what a reply adds and doubts.

    ``confirmed`` has (question index, group index, ``aid``) of articles with a passage that says
    the group's label; they need no further one.
    """
    missed: list[MissedAnswer] = []
    doubtful: list[tuple[int, int, str]] = []
    n_absent = 0
    for number, row in rows.items():
        article = articles[number]
        text = QuotableArticle(article)
        for item in row.added:
            place = places[item["answer"] - 1]
            at = (place.question, place.group, article.aid)
            if at in confirmed or article.aid in place.dispute:
                continue
            passage = text.find(item["quote"])
            if passage is None:
                n_absent += 1
                continue
            answer = Answer(aid=article.aid, answer=passage.text, **voice_of(item))
            missed.append(
                MissedAnswer(
                    index=place.question,
                    group=place.group,
                    answer=answer,
                    start=passage.start,
                    end=passage.end,
                )
            )
        doubtful += [
            (place.question, place.group, article.aid)
            for n, place in enumerate(places)
            if article.aid in place.support and n not in row.says
        ]
    n_missing = len(articles) - len(rows)
    problem = (
        f"nothing was said of {n_missing} of {pluralize(len(articles), 'article')}"
        if n_missing
        else ""
    )
    return CompletionResult(
        missed=tuple(missed), doubtful=tuple(doubtful), n_absent=n_absent, problem=problem
    )


def read_completion(text: str, *, n_articles: int, n: int, n_passages: int = 0) -> Reply | Unscored:
    """Return a reply on articles, `n` answers and `n_passages` passages, each numbered from 1.

    Items in another format and articles with invalid numbers are skipped.
    """
    rows: dict[int, Row] = {}
    for entry in read_list(text, "articles") or ():
        number = entry.get("article") if isinstance(entry, dict) else None
        if type(number) is not int or not 1 <= number <= n_articles:
            continue
        says, added = entry.get("says"), entry.get("added", [])
        if not isinstance(says, list) or not all(_is_valid_number(answer, n) for answer in says):
            continue
        valid_items = tuple(
            item
            for item in (added if isinstance(added, list) else [])
            if isinstance(item, dict)
            and _is_valid_number(item.get("answer"), n)
            and isinstance(item.get("quote"), str)
        )
        rows[number - 1] = Row(says=frozenset(answer - 1 for answer in says), added=valid_items)
    if not rows:
        return Unscored(reason="unparseable", detail="no article in the form asked for", raw=text)
    numbers = (read_object(text, "unsupported") or {}).get("unsupported")
    unsupported = frozenset(
        number - 1
        for number in (numbers if isinstance(numbers, list) else [])
        if _is_valid_number(number, n_passages)
    )
    return Reply(rows=rows, unsupported=unsupported)


def _is_valid_number(number: Any, n: int) -> bool:
    return type(number) is int and 1 <= number <= n
