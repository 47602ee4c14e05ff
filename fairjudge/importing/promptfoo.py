"""promptfoo's results: one judgement per assertion and test.

Source: promptfoo/promptfoo, ``src/types/index.ts`` and ``src/types/results.ts``; the files written
by ``-o results.json`` or ``.jsonl``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from fairjudge.domain import ScoredBy, UnscoredReason
from fairjudge.importing.records import Entry, RecordedJudgement, Skipped, make_label
from fairjudge.importing.sources import (
    Ids,
    Json,
    Source,
    fingerprint,
    first_text,
    items,
    judged_item,
    mapping,
    name_in,
    non_null_fields,
    score,
)

_ERROR = 2
"""``failureReason`` of a test that could not be run or graded."""
_UNREADABLE = re.compile(
    r"Could not extract JSON from [\w:-]+ response"
    r"|[\w:-]+ produced (?:a )?malformed response"
    r"|Model grader produced a malformed response"
    r"|LLM-proposed evaluation (?:steps|result) (?:is|are) not in JSON format"
    r"|Error parsing (?:output|response|JSON)\b"
    r"|(?:Invalid|Unable to parse) (?:JSON|grader (?:output|response))\b",
    re.IGNORECASE,
)
"""Beginnings of promptfoo's reasons for unparseable replies of graders (``src/matchers``)."""
_UNREACHED = re.compile(
    r"(?:Grading failed|Grader (?:error|failed))\b\W"
    r"|(?:API(?: call)?|Provider|Request|HTTP) error\b\W"
    r"|(?:Request|API call) (?:timed out|failed|aborted)\b"
    r"|(?:429|5\d\d) (?:Too Many|Internal|Bad|Service|Gateway)"
    r"|Rate limit(?:ed| exceeded)\b"
    r"|(?:TypeError: )?fetch failed\b|(?:Error: )?(?:getaddrinfo )?E(?:NOTFOUND|CONN\w+)\b",
    re.IGNORECASE,
)
"""Beginnings of reasons that are an error of the provider, without a reply of the grader."""
_MODEL_GRADED = {
    "llm-rubric", "model-graded-closedqa", "model-graded-factuality", "factuality", "g-eval",
    "answer-relevance", "context-faithfulness", "context-recall", "context-relevance",
    "select-best", "agent-rubric", "search-rubric", "conversation-relevance", "pi",
}  # fmt: skip


def recognises(source: Source) -> bool:
    """Return whether the file has evaluated tests."""
    first = source.first
    if "gradingResult" in first and "provider" in first:
        return True
    results = first.get("results")
    tests = results.get("results") if isinstance(results, dict) else results
    return isinstance(tests, list) and any(
        isinstance(test, dict) and {"gradingResult", "failureReason"} & test.keys()
        for test in tests[:1]
    )


def read(source: Source) -> Iterator[Entry]:
    """Yield each assertion; those by a person are labels."""
    tests = list(_tests(source))
    prompts = {row.get("promptIdx") for _, row, _ in tests}
    for number, row, config in tests:
        with source.locate_errors(number):
            test = _Test.from_row(row, config, number, has_several_prompts=len(prompts) > 1)
            yield from test.entries()


def _tests(source: Source) -> Iterator[tuple[int, Json, Json]]:
    number = 0
    for line, row in source.records():
        if "gradingResult" in row and "provider" in row:
            yield line, row, {}
            continue
        holder = row if isinstance(row.get("results"), list) else mapping(row, "results")
        for test in items(holder, "results"):
            number += 1
            yield number, test, mapping(row, "config")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Test:
    """One test, its number in the file, and the configured grader."""

    fields: Json
    number: int
    item: Json
    grader: str | None
    aspects: Ids = field(default_factory=Ids)

    @staticmethod
    def from_row(row: Json, config: Json, number: int, *, has_several_prompts: bool) -> _Test:
        case, variables = mapping(row, "testCase"), mapping(row, "vars")
        metadata = {**mapping(case, "metadata"), **mapping(row, "metadata"), **variables}
        system = name_in(row, "provider", "label", "id") or "promptfoo"
        default = config.get("defaultTest")
        default = mapping(default, "options") if isinstance(default, dict) else {}
        return _Test(
            fields=row,
            number=number,
            item=judged_item(
                metadata,
                eid=lambda: first_text(row, "testIdx") or fingerprint(_canonical(variables)),
                system=f"{system}#{row.get('promptIdx')}" if has_several_prompts else system,
            ),
            grader=name_in(default, "provider", "id")
            or name_in(mapping(case, "options"), "provider", "id"),
        )

    def entries(self) -> Iterator[Entry]:
        """Yield the test's assertions, or the reason why it has none."""
        grading_result = mapping(self.fields, "gradingResult")
        has_results = grading_result.get("componentResults") or grading_result.get("assertion")
        # Without results it is promptfoo's default pass.
        results = list(_leaves(grading_result)) if has_results else []
        if self.fields.get("failureReason") == _ERROR or (not results and self.fields.get("error")):
            yield from self._failures()
            return
        if not results:
            yield Skipped(line=self.number, why="the test has no assertion")
        yield from map(self._entry, results)

    def _failures(self) -> Iterator[Entry]:
        assertions = list(items(mapping(self.fields, "testCase"), "assert"))
        if not assertions:
            yield Skipped(line=self.number, why="the test ended in an error")
        for assertion in assertions:
            yield RecordedJudgement(
                line=self.number,
                **self._judgement_fields(assertion),
                unscored="backend",
                detail=first_text(self.fields, "error") or "promptfoo reports an error",
            )

    def _entry(self, result: Json) -> Entry:
        assertion, metadata = mapping(result, "assertion"), mapping(result, "metadata")
        value = score(result.get("pass") if result.get("score") is None else result["score"])
        fields = self._judgement_fields(assertion)
        if assertion.get("type") == "human":
            if value is None:
                return Skipped(line=self.number, why="a person's assertion without a score")
            del fields["judge"], fields["scored_by"]
            return make_label(**fields, annotator="human", value=value)
        unscored: UnscoredReason | None = "backend" if metadata.get("graderError") else None
        if unscored is None and fields["scored_by"] == "llm" and not result.get("pass"):
            unscored = _failure(first_text(result, "reason") or "")
        return RecordedJudgement(
            line=self.number,
            **fields,
            value=None if unscored else value,
            unscored=unscored,
            detail=(first_text(result, "reason") or "the grader failed") if unscored else "",
            extra=non_null_fields(result, "pass", "reason", "comment"),
        )

    def _judgement_fields(self, assertion: Json) -> dict[str, Any]:
        """Return item, aspect and judge; assertions of equal name have different aspects."""
        kind = first_text(assertion, "type") or "assertion"
        name = first_text(assertion, "metric") or kind
        scored_by = _scored_by(kind.removeprefix("not-"))
        judge = name_in(assertion, "provider", "id")
        judge = judge or (self.grader if scored_by == "llm" else None)
        return {
            **self.item,
            "aspect": self.aspects.unique_id(name, _canonical(assertion.get("value"))),
            "judge": judge or f"promptfoo/{kind}",
            "scored_by": scored_by,
        }


def _failure(reason: str) -> UnscoredReason | None:
    """Return the reason of a missing score, by promptfoo's message in a failed assertion.

    In older versions nothing else distinguishes a grader's failure from score 0.
    """
    if _UNREADABLE.match(reason):
        return "unparseable"
    return "backend" if _UNREACHED.match(reason) else None


def _leaves(result: Json) -> Iterator[Json]:
    """Yield the results of single assertions, also within assertion sets."""
    parts = list(items(result, "componentResults"))
    for part in parts:
        yield from _leaves(part)
    if not parts:
        yield result


def _scored_by(kind: str) -> ScoredBy:
    if kind in _MODEL_GRADED:
        return "llm"
    return "embedding" if kind == "similar" else "code"


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
