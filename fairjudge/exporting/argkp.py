"""ArgKP in one file: one row per argument and key point; ``label`` is 1 if the two match.

Every answer of a reference is an argument, every group is a key point. Within a question each
argument is paired with each key point. If all answers are whole articles, as in references imported
from ArgKP, the other articles are arguments too; they match no key point.

Source: IBM/KPA_2021_shared_task 2f5e2d5, ``kpm_data``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from fairjudge.domain import Reference
from fairjudge.exporting.targets import ExportResult, csv_line, group_text

_COLUMNS = ("eid", "topic", "stance", "arg_id", "argument", "key_point_id", "key_point", "label")


def write(references: Sequence[Reference]) -> tuple[Iterator[bytes], ExportResult]:
    """Return CSV with a header."""
    rows = [row for reference in references for row in _rows(reference)]
    return map(csv_line, [_COLUMNS, *rows]), ExportResult(n_rows=len(rows))


def _rows(reference: Reference) -> Iterator[tuple[Any, ...]]:
    article_texts = {
        (article.aid, article.content): None for article in reference.articles if article.content
    }
    stances = {article.aid: article.attributes.get("stance", "") for article in reference.articles}
    for q, question in enumerate(reference.question_answers):
        groups = question.groups()
        arguments = {
            (answer.aid, answer.answer): None for group in groups for answer in group.answers
        }
        if article_texts.keys() >= arguments.keys():
            arguments = article_texts | arguments
        for aid, text in arguments:
            for g, group in enumerate(groups):
                label = any((answer.aid, answer.answer) == (aid, text) for answer in group.answers)
                yield (
                    reference.eid, question.question, stances.get(aid, ""), aid, text,
                    f"{q}.{g}", group_text(group), int(label),
                )  # fmt: skip
