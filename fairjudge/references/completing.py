"""A second pass over the articles: missed answers, and passages that do not support their label."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fairjudge.domain import Answer, Article, QuestionAnswers, Unscored
from fairjudge.parsing import read_list, read_object
from fairjudge.prompting import INTEGER, INTEGERS, Fenced, json_array, json_object, load_template
from fairjudge.references.asker import ModelStep
from fairjudge.references.extracting import MAX_GLOSS_WORDS, VOICE, voice_of
from fairjudge.references.llm import MAX_ANSWER_WORDS
from fairjudge.references.ports import CompletionResult, MissedAnswer
from fairjudge.references.replies import QuotableArticle
from fairjudge.references.writing import numbered_articles
from fairjudge.text.counting import pluralize
from fairjudge.text.scripts import first_words

_QUOTE_WORDS = 30
"""Maximum number of words of the passage shown with a label."""
_LIMIT = 2000
_PER_ARTICLE = 600
_ADDED = json_object({"answer": INTEGER, **VOICE})
_ARTICLE = json_object({"article": INTEGER, "says": INTEGERS, "added": json_array(_ADDED)})
_SCHEMA = json_object({"unsupported": INTEGERS, "articles": json_array(_ARTICLE)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One article of a reply: the indices of labels that it supports, and missed answers."""

    says: frozenset[int]
    added: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class _NumberedGroup:
    """A group numbered in the prompt, and the articles that support or dispute it."""

    question: int
    group: int
    label: str
    quote: str
    support: frozenset[str]
    dispute: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Passage:
    """A passage numbered in the prompt: its position in its group, and its line."""

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


class LlmCompleter(ModelStep):
    """A `Completer` whose calls contain all groups and some of the articles."""

    async def complete(
        self, questions: Sequence[QuestionAnswers], articles: Sequence[Article]
    ) -> CompletionResult | Unscored:
        """See `fairjudge.references.ports.Completer`."""
        groups = list(_numbered_groups(questions))
        passages = list(_passages(questions, articles))

        def earlier_groups(article: Article) -> str:
            numbers = [str(n) for n, group in enumerate(groups, 1) if article.aid in group.support]
            return f"; found before: {', '.join(numbers) or 'none'}"

        reply = await self.asker.ask(
            load_template("reference", "completion"),
            {
                "groups": Fenced("groups", ("\n".join(_group_lines(questions, groups)),)),
                "articles": numbered_articles(articles, note=earlier_groups),
                "passages": Fenced("passages", (_passage_lines(passages),)),
                "max_words": str(MAX_ANSWER_WORDS),
                "gloss_words": str(MAX_GLOSS_WORDS),
            },
            schema=_SCHEMA,
            parse=lambda text, _: read_completion(
                text, n_articles=len(articles), n=len(groups), n_passages=len(passages)
            ),
            default_limit=_LIMIT + _PER_ARTICLE * len(articles),
        )
        if isinstance(reply, Unscored):
            return reply
        supporting_passages = (
            passage for n, passage in enumerate(passages) if n not in reply.unsupported
        )
        confirmed_keys = frozenset(
            (passage.question, passage.group, passage.aid) for passage in supporting_passages
        )
        unsupported_keys = tuple(
            (passage.question, passage.group, passage.position)
            for passage in (passages[n] for n in sorted(reply.unsupported))
        )
        result = _completion_result(reply.rows, groups, articles, confirmed_keys)
        return replace(result, unsupported=unsupported_keys)


def _numbered_groups(questions: Sequence[QuestionAnswers]) -> Iterator[_NumberedGroup]:
    for q, question in enumerate(questions):
        for g, group in enumerate(question.groups()):
            quote = min((answer.answer for answer in group.answers), key=len)
            sides = frozenset(group.supported_by), frozenset(group.disputed_by)
            yield _NumberedGroup(q, g, group.label or quote, quote, *sides)


def _passages(
    questions: Sequence[QuestionAnswers], articles: Sequence[Article]
) -> Iterator[_Passage]:
    """Yield the passages of `articles` in the groups, ordered by article, then by label."""
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


def _passage_lines(passages: Sequence[_Passage]) -> str:
    return "\n".join(f"{n}. {passage.line}" for n, passage in enumerate(passages, 1)) or "none"


def _group_lines(
    questions: Sequence[QuestionAnswers], groups: Sequence[_NumberedGroup]
) -> Iterator[str]:
    """Yield each question and its groups, each with a quote; groups are numbered consecutively."""
    last = -1
    for number, group in enumerate(groups, 1):
        if group.question != last:
            yield " ".join(questions[group.question].question.split())
            last = group.question
        quote = first_words(" ".join(group.quote.split()), _QUOTE_WORDS)
        yield f"{number}. {' '.join(group.label.split())} [{quote}]"


def _completion_result(
    rows: Mapping[int, Row],
    groups: Sequence[_NumberedGroup],
    articles: Sequence[Article],
    confirmed_keys: Collection[tuple[int, int, str]],
) -> CompletionResult:
    """Return the missed answers and doubtful labels of a reply.

    ``confirmed`` has (question index, group index, ``aid``) of articles with a passage that
    supports the group's label; they need no further passage.
    """
    missed: list[MissedAnswer] = []
    doubtful: list[tuple[int, int, str]] = []
    n_absent = 0
    for number, row in rows.items():
        article = articles[number]
        text = QuotableArticle(article)
        for item in row.added:
            group = groups[item["answer"] - 1]
            key = (group.question, group.group, article.aid)
            if key in confirmed_keys or article.aid in group.dispute:
                continue
            passage = text.find(item["quote"])
            if passage is None:
                n_absent += 1
                continue
            answer = Answer(aid=article.aid, answer=passage.text, **voice_of(item))
            missed.append(
                MissedAnswer(
                    index=group.question,
                    group=group.group,
                    answer=answer,
                    start=passage.start,
                    end=passage.end,
                )
            )
        doubtful += [
            (group.question, group.group, article.aid)
            for n, group in enumerate(groups)
            if article.aid in group.support and n not in row.says
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
    """Parse a reply on articles, `n` labels and `n_passages` passages, each numbered from 1.

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
