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
    present,
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
"""Beginnings for missing replies: the provider's error in place of a reason."""
_BY_MODEL = {
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
    prompts = {test.get("promptIdx") for _, test, _ in tests}
    for number, test, config in tests:
        with source.at(number):
            yield from _Test.of(test, config, number, several=len(prompts) > 1).entries()


def _tests(source: Source) -> Iterator[tuple[int, Json, Json]]:
    number = 0
    for line, whole in source.records():
        if "gradingResult" in whole and "provider" in whole:
            yield line, whole, {}
            continue
        holder = whole if isinstance(whole.get("results"), list) else mapping(whole, "results")
        for test in items(holder, "results"):
            number += 1
            yield number, test, mapping(whole, "config")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Test:
    """One test, its number in the file, and the configured grader."""

    fields: Json
    number: int
    item: Json
    grader: str | None
    aspects: Ids = field(default_factory=Ids)

    @staticmethod
    def of(test: Json, config: Json, number: int, *, several: bool) -> _Test:
        case, variables = mapping(test, "testCase"), mapping(test, "vars")
        metadata = {**mapping(case, "metadata"), **mapping(test, "metadata"), **variables}
        system = name_in(test, "provider", "label", "id") or "promptfoo"
        default = config.get("defaultTest")
        default = mapping(default, "options") if isinstance(default, dict) else {}
        return _Test(
            fields=test,
            number=number,
            item=judged_item(
                metadata,
                eid=lambda: first_text(test, "testIdx") or fingerprint(_canonical(variables)),
                system=f"{system}#{test.get('promptIdx')}" if several else system,
            ),
            grader=name_in(default, "provider", "id")
            or name_in(mapping(case, "options"), "provider", "id"),
        )

    def entries(self) -> Iterator[Entry]:
        """Yield the test's assertions, or the reason why it has none."""
        grading = mapping(self.fields, "gradingResult")
        graded = grading.get("componentResults") or grading.get("assertion")
        results = list(_leaves(grading)) if graded else []  # else it is promptfoo's own pass
        if self.fields.get("failureReason") == _ERROR or (not results and self.fields.get("error")):
            yield from self._failed()
            return
        if not results:
            yield Skipped(line=self.number, why="the test has no assertion")
        yield from map(self._entry, results)

    def _failed(self) -> Iterator[Entry]:
        asserted = list(items(mapping(self.fields, "testCase"), "assert"))
        if not asserted:
            yield Skipped(line=self.number, why="the test ended in an error")
        for assertion in asserted:
            yield RecordedJudgement(
                line=self.number,
                **self._judged(assertion),
                unscored="backend",
                detail=first_text(self.fields, "error") or "promptfoo reports an error",
            )

    def _entry(self, result: Json) -> Entry:
        assertion, metadata = mapping(result, "assertion"), mapping(result, "metadata")
        value = score(result.get("pass") if result.get("score") is None else result["score"])
        judged = self._judged(assertion)
        if assertion.get("type") == "human":
            if value is None:
                return Skipped(line=self.number, why="a person's assertion without a score")
            del judged["judge"], judged["scored_by"]
            return make_label(**judged, annotator="human", value=value)
        failed: UnscoredReason | None = "backend" if metadata.get("graderError") else None
        if failed is None and judged["scored_by"] == "llm" and not result.get("pass"):
            failed = _failure(first_text(result, "reason") or "")
        return RecordedJudgement(
            line=self.number,
            **judged,
            value=None if failed else value,
            unscored=failed,
            detail=(first_text(result, "reason") or "the grader failed") if failed else "",
            extra=present(result, "pass", "reason", "comment"),
        )

    def _judged(self, assertion: Json) -> dict[str, Any]:
        """Return item, aspect and judge; assertions of equal name have different aspects."""
        kind = first_text(assertion, "type") or "assertion"
        name = first_text(assertion, "metric") or kind
        scored_by = _scored_by(kind.removeprefix("not-"))
        judge = name_in(assertion, "provider", "id")
        judge = judge or (self.grader if scored_by == "llm" else None)
        return {
            **self.item,
            "aspect": self.aspects.of(name, _canonical(assertion.get("value"))),
            "judge": judge or f"promptfoo/{kind}",
            "scored_by": scored_by,
        }


def _failure(reason: str) -> UnscoredReason | None:
    """Return why the grader gave no score, if a failed assertion has a message of promptfoo.

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
    if kind in _BY_MODEL:
        return "llm"
    return "embedding" if kind == "similar" else "code"


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
