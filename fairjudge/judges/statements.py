"""Faithfulness checklists: for each statement of a summary, whether articles support it.

Fields of the prompt, reading and checking of replies, and verdicts from lists; without I/O.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from fairjudge.domain import Article, JudgeTask, StatementEntry, Unscored, Verdict
from fairjudge.judges.criteria import article_texts, support_rule
from fairjudge.parsing import indices_in, read_entries, whole_number
from fairjudge.prompting import INTEGER, INTEGERS, STRING, Fenced, json_array, json_object
from fairjudge.scales import verdict_from_lead
from fairjudge.text.quoting import find_quote
from fairjudge.text.statements import statement_texts

SENTENCES_PER_CALL = 20
"""Maximum number of sentences per call."""
READER_VERSION = 1
"""Version of `read_statements`; part of the signature."""
NO_SENTENCE = Unscored(reason="empty_input", detail="the summary has no sentence")

LIKERT_SHARES = (0.5, 0.25, 0.1)
"""Maximum shares of unsupported statements for the ratings 2, 3 and 4; see `likert_of`."""
PAIRWISE_MARGIN = 0.05
"""Minimum difference of the supported shares for a win in a pair; less is a tie."""

_VERDICTS = ("supported", "contradicted", "absent")
_ENTRY = json_object(
    {
        "sentence": INTEGER,
        "statement": STRING,
        "articles": INTEGERS,
        "quote": STRING,
        "verdict": STRING | {"enum": list(_VERDICTS)},
        "grave": {"type": "boolean"},
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryPart:
    """Sentences ``first`` to ``last`` (inclusive) of a summary, counted from 1."""

    first: int
    last: int


class StatementsForm:
    """The form for statements; see `fairjudge.judges.checklist_judge.ChecklistForm`."""

    prompt = "faithfulness-checklist"
    repair_prompt = "statements-repair"
    schema: Mapping[str, Any] = json_object({"entries": json_array(_ENTRY)})
    no_items = NO_SENTENCE
    version: Mapping[str, int] = {"block": SENTENCES_PER_CALL, "reader": READER_VERSION}

    def parts(self, task: JudgeTask) -> Sequence[SummaryPart]:
        """Return ranges of sentences of similar length."""
        n = len(statement_texts(task.texts[0]))
        n_parts = -(-n // SENTENCES_PER_CALL)
        bounds = [round(index * n / n_parts) for index in range(n_parts + 1)] if n_parts else []
        return tuple(SummaryPart(first=start + 1, last=end) for start, end in pairwise(bounds))

    def fields(self, task: JudgeTask, part: SummaryPart) -> dict[str, str | Fenced]:
        """Return the fields of the prompt: numbered articles and sentences, and the range."""
        sentences = statement_texts(task.texts[0])
        lines = [f"[{n}] {' '.join(sentence.split())}" for n, sentence in enumerate(sentences, 1)]
        return {
            "articles": _fence_numbered(task.articles),
            "support_rule": support_rule(task),
            "text": Fenced("summary", ("\n".join(lines),)),
            "which": _range_name(part, len(sentences)),
        }

    def repair_fields(self, part: SummaryPart) -> dict[str, str]:
        """Return the fields of the repair prompt."""
        return {"which": _range_name(part, None)}

    def read(
        self, task: JudgeTask, part: SummaryPart, text: str
    ) -> tuple[StatementEntry, ...] | Unscored:
        """See `read_statements`."""
        return read_statements(text, part, task.articles)

    def verdict(self, entries: tuple[StatementEntry, ...]) -> dict[str, Any]:
        """Return the share of supported statements, and the statements."""
        return {"value": share_supported(entries), "statements": entries}


def _fence_numbered(articles: Sequence[Article]) -> Fenced:
    names = [article.domain or article.title for article in articles]
    titles = tuple(f"{n} {name}".strip() for n, name in enumerate(names, 1))
    return Fenced("article", article_texts(articles), titles)


def _range_name(part: SummaryPart, n_sentences: int | None) -> str:
    if part.first == part.last:
        return f"sentence {part.first}"
    if (part.first, part.last) == (1, n_sentences):
        return f"all {n_sentences} sentences"
    return f"sentences {part.first} to {part.last}"


def read_statements(
    reply: str, part: SummaryPart, articles: Sequence[Article]
) -> tuple[StatementEntry, ...] | Unscored:
    """Parse a reply on `part`: the statements of its sentences, or why the reply cannot be used.

    Every sentence needs a statement. A supported or contradicted statement must cite articles and
    quote one of them; the entry contains the matching passage of the article.
    """
    rows = read_entries(reply)
    if isinstance(rows, Unscored):
        return rows
    outcomes = [(n, _entry(row, part, articles)) for n, row in enumerate(rows, 1)]
    problems = [f"entry {n} {problem}" for n, problem in outcomes if isinstance(problem, str)]
    entries = [entry for _, entry in outcomes if isinstance(entry, StatementEntry)]
    if not problems:
        numbers = {entry.sentence + 1 for entry in entries}
        missing_numbers = [n for n in range(part.first, part.last + 1) if n not in numbers]
        problems = [f"sentence {n} has no entry" for n in missing_numbers]
    if problems:
        detail = "; ".join(problems)
        return Unscored(reason="unparseable", detail=detail, raw=reply)
    return tuple(sorted(entries, key=lambda entry: entry.sentence))


def _entry(row: object, part: SummaryPart, articles: Sequence[Article]) -> StatementEntry | str:
    """Return the entry of `row`, or its problem."""
    claim = _claim(row, part) if isinstance(row, dict) else "is no object"
    if isinstance(claim, str) or not isinstance(row, dict):
        return str(claim)
    evidence = {} if claim["verdict"] == "absent" else _evidence(row, articles)
    if isinstance(evidence, str):
        return evidence
    severity = {} if claim["verdict"] == "supported" else {"grave": row.get("grave") is True}
    return StatementEntry.model_validate({**claim, **evidence, **severity})


def _claim(row: Mapping[str, Any], part: SummaryPart) -> dict[str, Any] | str:
    """Return the sentence, the statement and the verdict, or their problem."""
    number = whole_number(row.get("sentence"))
    if number is None or not part.first <= number <= part.last:
        return f"has no sentence from {part.first} to {part.last}"
    statement, verdict = row.get("statement"), row.get("verdict")
    if not (isinstance(statement, str) and any(map(str.isalnum, statement))):
        return "has no statement"
    verdict = verdict.strip().casefold() if isinstance(verdict, str) else None
    if verdict not in _VERDICTS:
        return "has no verdict that was asked for"
    return {"sentence": number - 1, "statement": " ".join(statement.split()), "verdict": verdict}


def _evidence(row: Mapping[str, Any], articles: Sequence[Article]) -> dict[str, Any] | str:
    """Return the articles (the quoted article first) and the quote, or their problem."""
    indices = indices_in(row.get("articles"), len(articles))
    if not indices:
        return f"does not name articles from 1 to {len(articles)}"
    cited_articles = [articles[index] for index in indices]
    quote = _find_quote(row.get("quote"), cited_articles)
    if quote is None:
        return "has a quote that does not stand in an article that it names"
    source, passage = quote
    aids = dict.fromkeys([source.aid, *(article.aid for article in cited_articles)])
    return {"articles": tuple(aids), "quote": passage}


def _find_quote(quote: object, articles: Sequence[Article]) -> tuple[Article, str] | None:
    """Return the first article that contains `quote`, and the matching passage."""
    for article, text in zip(articles, article_texts(articles), strict=True):
        span = find_quote(quote, text) if isinstance(quote, str) else None
        if span is not None:
            return article, text[span.start : span.end]
    return None


def share_supported(entries: Sequence[StatementEntry]) -> float:
    """Return the share of supported statements, in [0, 1]."""
    return sum(entry.verdict == "supported" for entry in entries) / len(entries)


def worst_of(entries: Sequence[StatementEntry]) -> float:
    """Return 0 if a statement is contradicted, else 0.5 if a statement is absent, else 1."""
    values = {"supported": 1.0, "absent": 0.5, "contradicted": 0.0}
    return min(values[entry.verdict] for entry in entries)


def likert_of(entries: Sequence[StatementEntry]) -> int:
    """Return the rating, 1 to 5, by the levels of the faithfulness scale.

    The share of unsupported statements limits the rating. One severe error limits it to 2, several
    to 1. A single error that is not severe is rated 4, however few statements there are.
    """
    n_unsupported = sum(entry.verdict != "supported" for entry in entries)
    n_severe = sum(entry.grave for entry in entries)
    if n_unsupported == 0:
        return 5
    share = n_unsupported / len(entries)
    half, quarter, tenth = LIKERT_SHARES
    if n_severe > 1 or share > half:
        return 1
    if n_severe == 1:
        return 2
    if share <= tenth or n_unsupported == 1:
        return 4
    return 3 if share <= quarter else 2


def pairwise_of(a: Sequence[StatementEntry], b: Sequence[StatementEntry]) -> Verdict:
    """Return the more faithful summary: fewer severe errors, then the larger supported share."""
    lead = sum(entry.grave for entry in b) - sum(entry.grave for entry in a)
    if lead:
        return verdict_from_lead(lead, 1)
    return verdict_from_lead(share_supported(a) - share_supported(b), PAIRWISE_MARGIN - 1e-9)


def most_severe_first(entries: Sequence[StatementEntry]) -> Iterator[StatementEntry]:
    """Yield the unsupported statements: severe errors first, then contradicted before absent."""
    order = {"contradicted": 0, "absent": 1}
    errors = [entry for entry in entries if entry.verdict in order]
    yield from sorted(errors, key=lambda entry: (not entry.grave, order[entry.verdict]))
