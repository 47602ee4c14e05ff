"""Choose the verdict among the statements of a reply, and check it against the scale.

The most explicit statement counts (`Rank`): a requested form (JSON, tags) or a label with verdict,
final or overall; then other labels, and answers on their own; then scores in prose. There is no
verdict if two statements of the same rank contradict each other, unless the later one revises the
former, or if the conclusion of the prose contradicts the statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from fairjudge.domain import Unscored, UnscoredReason
from fairjudge.parsing._answers import Answer, Problem, Rank, answer_at
from fairjudge.parsing._clean import blank, blank_all, lowercase, normalise, without_quotations
from fairjudge.parsing._context import is_denied
from fairjudge.parsing._grammar import Statements
from fairjudge.parsing._json import JsonValue, json_verdicts
from fairjudge.parsing._sides import leading_side
from fairjudge.parsing._thoughts import first_turn, without_reasoning
from fairjudge.parsing._tokens import words_of
from fairjudge.parsing._words import REVISED
from fairjudge.parsing.refusals import looks_like_refusal
from fairjudge.scales import Position, Scale

PARSER_VERSION = "9"
"""Part of every judgement's signature; raise it whenever any reply would be parsed differently."""
_AFTER_SETTLED = re.compile(r"[^\n]{0,20}\n|[^\n]{20}|[\"']?\s{0,3}(?:\}|\]\]|</)")
"""Follows a verdict that a longer reply would not have changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A verdict, and its span in the reply (half-open, in characters)."""

    value: float | Position
    start: int
    end: int


def read_verdict(
    text: str, scale: Scale, *, aspect: str = "", cut_off: bool = False
) -> float | Position | Unscored:
    """Return the verdict that a judge's reply states.

    The most explicit statement is chosen first, and then checked against `scale`: one labelled
    verdict, final or overall, or with the name of `aspect`, has priority over all others. Scores
    that are negated, hypothetical, quoted, reported, or part of a list do not count. Nothing is
    rescaled, rounded or guessed. Linear in the length of `text`.

    `aspect` is the judged aspect, if known: it distinguishes "Fluency: 4" from "Grammar: 5".

    With `cut_off` the token limit ended the reply. Then a verdict counts only if it is stated as
    such (not mentioned among unfinished reasons), and is followed by the end of a line, of JSON or
    of a tag, or by 20 more characters: "1" may be the beginning of "10", or of "1 out of 10". A
    reply that consists of an answer counts if no other answer begins with it.

    ``Unscored`` has the reason ``"off_scale"`` (8/10 on 1 to 5), ``"refused"``, or
    ``"unparseable"`` (none stated, or several that contradict each other); its ``raw`` is `text`.
    """
    reading = locate_verdict(text, scale, aspect=aspect, cut_off=cut_off)
    return reading if isinstance(reading, Unscored) else reading.value


def locate_verdict(
    text: str, scale: Scale, *, aspect: str = "", cut_off: bool = False
) -> Reading | Unscored:
    """Return the verdict as `read_verdict` does, with its span in `text`."""
    turn = first_turn(text)
    if turn != text and isinstance(reading := _locate(turn, scale, aspect=aspect), Reading):
        return reading
    return _locate(text, scale, aspect=aspect, cut_off=cut_off)


def _locate(text: str, scale: Scale, *, aspect: str, cut_off: bool = False) -> Reading | Unscored:
    content = without_reasoning(text)
    if not content.strip():
        detail = "the reply holds reasoning and no answer" if text.strip() else "the reply is empty"
        return Unscored(reason="unparseable", detail=detail, raw=text)
    statements = _statements(content, scale, aspect)
    answer = _choose(statements, content)
    if answer is None:
        if looks_like_refusal(content.strip()):
            return Unscored(reason="refused", detail="the judge declined", raw=text)
        return Unscored(reason="unparseable", detail="no verdict found", raw=text)
    if answer.value is None or (cut_off and not _is_settled(answer, statements, text, scale)):
        return _unusable(answer, text, scale)
    return Reading(value=answer.value, start=answer.start, end=answer.end)


_TICKED_BOX = r"(?:[☑☒●◉]|\[[xX✓✔]\]|\([xX✓✔•]\))"
_UNTICKED_BOX = rf"(?:\[\s?\]|\(\s?\)|[☐○◯⬜])(?:(?!{_TICKED_BOX})[^\n])*"
_BOXES = re.compile(rf"{_TICKED_BOX}|{_UNTICKED_BOX}")
_ITEM = re.compile(r"^[ \t]{0,12}(?:\d{1,2}[.)]|[-*•+](?![*-]))\s{1,4}\S[^\n]*", re.MULTILINE)
_FENCED = re.compile(r"^```[^\n]{0,20}\n(?:(?!```)[^\n]*\n)*```", re.MULTILINE)


def _statements(content: str, scale: Scale, aspect: str) -> list[Answer]:
    """Return every statement of a reply, at its offsets in the reply.

    `content` is the reply with blanked reasoning.
    """
    statements: list[Answer] = []
    text = normalise(_keep_ticked(content))
    for json_value in json_verdicts(content, aspect=aspect, kind=scale.kind):
        if json_value.verdicts and not _is_only_mentioned(text, json_value.start, json_value.end):
            statements += _from_json(json_value, content, scale)
        text = blank(text, json_value.start, json_value.end)
    if not text.strip():
        return statements
    text = without_quotations(text)
    if scale.kind == "pair" and (leader := leading_side(text)):
        return [*statements, leader]
    if scale.kind == "number":
        text = blank_all(_CALCULATION, text)
        text = blank_all(_scale_words(scale.answers[0], scale.answers[-1]), text)
    statements += [*_forms(text, scale), *_off_scale_answers(text, scale)]
    lists: dict[bool, list[tuple[int, int]]] = {}
    for item in _ITEM.finditer(content):
        lists.setdefault(item[0].lstrip()[0].isdigit(), []).append(item.span())
    items = sorted(span for spans in lists.values() if len(spans) > 1 for span in spans)
    fences = [match.span() for match in _FENCED.finditer(content)]
    has_text_after = any(content[end:].strip() for _, end in fences[-1:])
    for statement in Statements(text, words_of(text, scale), scale, items, aspect.lower()):
        is_fenced = has_text_after and any(a <= statement.start < b for a, b in fences)
        statements.append(replace(statement, rank=Rank.MENTIONED) if is_fenced else statement)
    return statements


def _keep_ticked(text: str) -> str:
    """Blank the unticked ones of two or more checkboxes, and put each on a separate line."""
    boxes = list(_BOXES.finditer(text))
    line = text[: boxes[0].start()].rpartition("\n")[2] if boxes else ""
    if len(boxes) < 2 or line.strip(" -*•>#") or not re.search(_TICKED_BOX, text):
        return text
    text = re.sub(_UNTICKED_BOX, lambda box: "\n" * len(box[0]), text)
    return re.sub(rf"\s?{_TICKED_BOX}", lambda box: "☑".rjust(len(box[0]), "\n"), text)


_SENTENCE = re.compile(r"(?<!e\.g)[.!?;](?=\s|$)|(?<!:)(?<!: )\n|。|\]\]|</\w+>")
_TAG = re.compile(r"</?\w+[^<>\n]{0,40}>")
_SENTENCE_CONTINUES = re.compile(
    r"[\"'`]?\s{1,3}(?!because|since|as|due|for|out|with|and|but)[a-z]"
)


_CALCULATION = re.compile(
    r"(?<![^\s:])\d[^\n=:]{0,70}[-+*]\s?[^\n=:]{0,70}=\s{0,3}(?=\d)(?!\d[\d.]*\s?%)"
)
"""The calculation before a resulting score: "5 - 1 for an omission =" before "4"."""


def _is_only_mentioned(text: str, start: int, end: int) -> bool:
    """Return whether a form is only mentioned in a sentence: 'the summary says {"verdict": 5}'."""
    text_before = _SENTENCE.split(text[max(0, start - 160) : start])[-1]
    return is_denied(_TAG.sub(" ", text_before)) or bool(_SENTENCE_CONTINUES.match(text, end))


_FORM = re.compile(
    r"☑\s?|\[\[|\[result\]\s{0,4}|#{4}\s|\\boxed\{(?:\\text(?:bf)?\{)?"
    r"|<(?:final_)?(?:verdict|score|rating|answer|grade|judge?ment|decision|choice|winner|result|label|preference|final)"
    r"(?:\s[^<>\n\d]{0,30}(?P<top>\d{1,4})?[\x22\x27 ]?)?>\s{0,8}",
    re.IGNORECASE,
)
_OPENING = re.compile(r"[(\[\"'\s]{0,3}")
_CLOSED = re.compile(
    r"\s{0,3}(?:\n|$|</\w{1,20}>)|[\])}\"'$.,:;!]{1,9}(?:\s{0,3}</\w{1,20}>)?(?=\W|$)"
)


def _forms(text: str, scale: Scale) -> Iterator[Answer]:
    """Yield answers in forms that prompts ask for: "[[B]]", "<score>4</score>"."""
    for match in _FORM.finditer(text):
        if match["top"] and float(match["top"]) != scale.levels[-1].value:
            continue
        opening_marks = _OPENING.match(text, match.end())
        position = opening_marks.end() if opening_marks else match.end()
        answer = answer_at(text, position, scale)
        closing_marks = _CLOSED.match(text, answer.end) if answer else None
        if (
            answer
            and closing_marks
            and not _is_only_mentioned(text, match.start(), closing_marks.end())
        ):
            yield replace(answer, rank=Rank.FINAL)


_OFF_SCALE_ANSWER = re.compile(
    r"(?:^|\n|[.;]\s|\b(?:final|overall|with)\s)\W{0,8}(?:verdict|score|rating|grade|answer|winner|preference)\s?[:=]\s?\W{0,3}"
    r"(?P<answer>[A-Z]|[-+]?\d{1,6}(?:\.\d{1,4})?)[\s.*\"')\]]{0,20}(?:\n|$)",
    re.IGNORECASE,
)


def _off_scale_answers(text: str, scale: Scale) -> Iterator[Answer]:
    """Yield final values under a label that are not on this scale: "Grade: C"."""
    for match in _OFF_SCALE_ANSWER.finditer(text):
        start, end = match.span("answer")
        if answer_at(text, start, scale) is None and (
            match["answer"].isupper() or scale.kind != "number"
        ):
            yield Answer(start=start, end=end, value=None, problem="off_scale", rank=Rank.FINAL)


def _from_json(json_value: JsonValue, text: str, scale: Scale) -> Iterator[Answer]:
    """Read each value under a verdict's key as a separate reply; yield one answer or a problem.

    Different values, or prose in the object that contradicts the value, are the problem "several".
    """
    readings = [
        (
            value_text,
            _answer_of_value(value, value_text, worse=worse, top=json_value.top, scale=scale),
        )
        for value, worse in json_value.verdicts
        if value is not None and not _is_template(value_text := _as_text(value), scale)
    ]
    values = {value for _, (value, _) in readings if value is not None}
    if not readings:
        return
    value_text, (value, problem) = next(
        (r for r in reversed(readings) if r[1][0] is not None), readings[-1]
    )
    start = max(text.rfind(value_text, json_value.start, json_value.end), json_value.start)
    answer = Answer(start=start, end=start + len(value_text), value=value, rank=Rank.FINAL)
    is_contradicted = value is not None and _contradicts(
        _statements(json_value.prose, scale, ""), answer, ""
    )
    if len(values) > 1 or is_contradicted:
        answer = replace(answer, value=None, problem="several")
    yield answer if value is not None else replace(answer, problem=problem)


def _as_text(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _answer_of_value(
    value: object, value_text: str, *, worse: bool, top: str, scale: Scale
) -> tuple[float | Position | None, Problem | None]:
    """Return a JSON value on the scale, or its problem."""
    if isinstance(value, bool) and scale.kind == "number":
        return None, "several"
    if top and value_text.replace(".", "", 1).isdecimal() and scale.kind == "number":
        value_text += f"/{top}"
    verdict, problem = _read_value(value_text, scale)
    return (_FLIPPED.get(verdict) if worse else verdict), problem


@lru_cache(maxsize=64)  # judges answer with few values
def _read_value(value_text: str, scale: Scale) -> tuple[float | Position | None, Problem | None]:
    """Return the verdict in `value_text` as a separate reply, or its problem."""
    answer = _choose(_statements(value_text, scale, ""), value_text)
    if answer is None:
        is_answer_form = re.fullmatch(r"[A-Z]|[-+]?\d{1,6}(?:\.\d{1,4})?", value_text)
        return None, "off_scale" if is_answer_form else "several"
    return answer.value, answer.problem


_FLIPPED: dict[object, Position] = {"first": "second", "second": "first", "tie": "tie"}


def _is_template(value: str, scale: Scale) -> bool:
    """Return whether a verdict's value repeats the prompt's placeholder: "1-5", "yes|no"."""
    low, high = scale.answers[0], scale.answers[-1]
    return value.strip() in {f"{low}-{high}", f"{low}–{high}", "...", "|".join(scale.answers), ""}


def _choose(statements: Sequence[Answer], text: str) -> Answer | None:
    """Return the most explicit answer; if several contradict, the last if it revises them."""
    best = max((s.rank for s in statements if s.rank), default=None)
    top = sorted((s for s in statements if s.rank == best), key=lambda s: (s.end, s.start))
    if not top or best is None:
        return None
    last = top[-1]
    if any((s.value, s.problem) != (last.value, last.problem) for s in top):
        return _resolve_contradiction(top, best, text)
    revisions = [
        s for s in statements if s.revises and s.start > last.end and s.rank >= Rank.ASSIGNED
    ]
    if revisions and revisions[-1].value != last.value:
        return revisions[-1]
    if best > Rank.ASSIGNED and last.value is not None and _contradicts(statements, last, text):
        return replace(last, value=None, problem="several")
    return last


def _resolve_contradiction(top: list[Answer], best: Rank, text: str) -> Answer:
    """Return the last answer if it revises those that differ; else the problem "several"."""
    last = top[-1]
    contrary_answers = [s for s in top if (s.value, s.problem) != (last.value, last.problem)]
    on_scale = [s for s in top if s.problem != "off_scale"]
    if best == Rank.MENTIONED and len({s.value for s in on_scale}) == 1:
        return on_scale[-1]
    is_correction = last.revises and not any(s.revises for s in contrary_answers)
    if is_correction or _is_revised(text, contrary_answers[-1], last):
        return last
    return replace(last, start=top[0].start, value=None, problem="several")


def _contradicts(statements: Sequence[Answer], last: Answer, text: str) -> bool:
    """Return whether the conclusion or the description in the prose is another verdict."""
    conclusions = [s for s in statements if s.rank is Rank.ASSIGNED and s.value is not None]
    if not conclusions and isinstance(last.value, str):
        conclusions = [s for s in statements if s.rank is Rank.NAMED and s.value is not None]
    claims = [s for s in statements if s.rank is Rank.CLAIMED]
    if claims and all(s.value != last.value for s in claims):
        return True
    if not conclusions or (
        conclusions[0].rank is Rank.NAMED and any(s.value == last.value for s in conclusions)
    ):
        return False
    return any(s.value != last.value and not _is_revised(text, s, last) for s in conclusions)


def _is_revised(text: str, former: Answer, last: Answer) -> bool:
    """Return whether the words between two answers revise the former ("correction: ...")."""
    return bool(_REVISION.search(lowercase(text[max(former.end, last.end - 2_000) : last.end])))


_REVISION = re.compile(rf"\b{REVISED}\b")


def _is_settled(answer: Answer, statements: list[Answer], text: str, scale: Scale) -> bool:
    """Return whether a truncated reply states `answer` in a way that its rest would not change.

    An earlier, complete statement of the same answer suffices. A reply that consists of an answer
    comes from a limit of one token, as in G-Eval: it counts if one token identifies each level.
    """
    if scale.has_distinct_first_tokens and text.strip() == text[answer.start : answer.end].strip():
        return True
    return any(
        statement.rank >= Rank.ASSIGNED
        and statement.value == answer.value
        and _AFTER_SETTLED.match(text, statement.end)
        for statement in statements
    )


def _unusable(answer: Answer, text: str, scale: Scale) -> Unscored:
    if answer.value is not None:
        return Unscored(reason="unparseable", detail="no verdict that was settled", raw=text)
    excerpt = text[answer.start : answer.end].strip()
    reason: UnscoredReason = "off_scale" if answer.problem == "off_scale" else "unparseable"
    detail = f"more than one verdict at {excerpt[:200]!r}"
    if reason == "off_scale":
        detail = f"{excerpt!r} is not among {', '.join(scale.answers)}"
    return Unscored(reason=reason, detail=detail, raw=text)


@cache
def _scale_words(low: str, high: str) -> re.Pattern[str]:
    """Match descriptions of the scale: "1-5", "from 1 to 5", "5-point", "(1 = poor)", "满分5分"."""
    low, high = re.escape(low), re.escape(high)
    line = r"[ ]{0,4}\d{1,2}\s?[=:][^\n]{2,80}"
    return re.compile(
        rf"(?<![\w.,/-])(?:on\s(?:a|the)\sscale\s(?:of|from)\s)?(?:from\s)?{low}\s?(?:-|to|through|and|\.\.+|~)\s?{high}(?![\w/]|[.,-]\d)"
        rf"|\bout\sof\s{high}(?=\s?[:)])|\b(?:{high}|four|five|six|seven|ten)-?\s?point\b|{high}(?:段階|点)中|(?:满分|总分)[为是]?\s?\d{{1,3}}\s?分"
        rf"|\([^()\n]{{0,80}}\d\s?=[^()\n]{{0,80}}\)|^{line}\n(?:{line}(?:\n|$)){{1,10}}",
        re.IGNORECASE | re.MULTILINE,
    )
