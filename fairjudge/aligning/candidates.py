"""Candidate prompts for a judge: reworded anchors, few-shot examples from labels, other scales.

A candidate is a prompt template and a scale in the format of their files, so that it can be used by
``fairjudge judge``. Summaries and notes are enclosed in tags with random marks, so that they cannot
be mistaken for fields or parts of the template.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from fairjudge.aligning.decision import spread_over
from fairjudge.aligning.wording import level_value, wording_of
from fairjudge.judges.criteria import SUPPORT_RULE, Criterion
from fairjudge.parsing import read_list
from fairjudge.ports import CompletionRequest, Message, ModelRef, clean_text
from fairjudge.prompting import (
    STRING,
    Fenced,
    Template,
    json_array,
    json_object,
    load_template,
    parse_template,
    render,
)
from fairjudge.protocols import PROTOCOLS
from fairjudge.scales import Level, Scale
from fairjudge.text.counting import pluralize

CandidateKind: TypeAlias = Literal["anchors", "examples", "scale"]
KINDS: tuple[CandidateKind, ...] = ("anchors", "examples", "scale")

_MATERIAL_WORDS, _NOTE_WORDS = 300, 60
_ARTICLES_WORDS = 1000
"""Maximum words of all articles of an item in the request for anchors."""
_ANCHOR_ITEMS, _ANCHOR_WORDS, _LONGEST_ANCHOR = 12, 40, 400
_TEN, _THREE = 10, 3
_FORBIDDEN = re.compile(r"[{}<>\x00-\x1f\x7f]")
_PART_LINE = re.compile(r"^(?=##)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedItem:
    """A possible example: ``value`` is its mean human rating, ``notes`` are annotators' comments.

    For a pair, ``second`` is the text of the other summary, and ``value`` the preference for
    `text`, from -1 to 1. ``share`` is the rating or preference rescaled to [0, 1]. ``material`` is
    the reference if it is short; ``articles`` are long references, which are not part of examples
    in a judge's requests. ``n_labels`` is the number of labels averaged in `value`.
    """

    text: str
    value: float
    share: float
    n_labels: int = 1
    notes: tuple[str, ...] = ()
    material: str = ""
    articles: tuple[str, ...] = ()
    second: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A prompt and a scale to try; ``prompt`` is the text of a template file."""

    name: str
    kind: CandidateKind
    about: str
    prompt: str
    scale: Scale

    @property
    def sha256(self) -> str:
        """SHA-256 of the prompt, scale and examples, as hex digits."""
        return hashlib.sha256(f"{self.prompt}\n{self.scale!r}".encode()).hexdigest()


def few_shot(base: Criterion, items: Sequence[RatedItem]) -> Iterator[Candidate]:
    """Yield `base` with larger and smaller sets of examples, spread over the human ratings.

    For ratings, the sets have one example per level, or three; for pairs six, or three.
    """
    index_sets, wording = set(), wording_of(base.scale)
    for n in wording.example_sizes:
        indices = _spread(items, len(base.scale.levels) if n is None else n)
        if len(indices) < 2 or indices in index_sets:
            continue
        index_sets.add(indices)
        examples = [items[index] for index in indices]
        name = f"examples-{len(examples)}"
        n_notes = sum(bool(item.notes) for item in examples)
        about = f"{pluralize(len(examples), 'example')} from {wording.about}, {n_notes} with notes"
        parts = _with_examples(base, examples)
        yield _candidate(base, "examples", name=name, about=about, parts=parts)


def _spread(items: Sequence[RatedItem], n: int) -> tuple[int, ...]:
    return spread_over(
        [item.value for item in items], n, is_preferred=[bool(item.notes) for item in items]
    )


def _candidate(
    base: Criterion,
    kind: CandidateKind,
    *,
    name: str,
    about: str,
    parts: Sequence[tuple[str, str]] | None = None,
    scale: Scale | None = None,
) -> Candidate:
    """Return `base` with new `parts` of its prompt, or a new scale."""
    template = base.template
    text = _template_text(template, parts or template.parts, name=name, about=about)
    return Candidate(name=name, kind=kind, about=about, prompt=text, scale=scale or base.scale)


def _with_examples(base: Criterion, items: Sequence[RatedItem]) -> tuple[tuple[str, str], ...]:
    wording = wording_of(base.scale)
    parts = (
        [*_material(item), _text_with_notes(item, labelled=bool(item.material))] for item in items
    )
    fenced = Fenced(
        "example",
        tuple(_escape_template("\n\n".join(lines)) for lines in parts),
        tuple(f"{wording.tag} {nearest(base.scale, item.share).answer}" for item in items),
    )
    examples, _ = fenced.render()
    role, user = base.template.parts[-1]
    prompt = f"{wording.intro}\n\n{examples}\n\n{wording.turn}\n\n{user}"
    return (*base.template.parts[:-1], (role, prompt))


def _material(item: RatedItem) -> list[str]:
    return [_truncate(item.material, _MATERIAL_WORDS)] if item.material else []


def _text_with_notes(item: RatedItem, *, labelled: bool) -> str:
    """Return the summary (both for a pair) and the annotators' notes."""
    notes = [f"People said: {_truncate(note, _NOTE_WORDS)}" for note in item.notes]
    text = _truncate(item.text, _MATERIAL_WORDS)
    if item.second is not None:
        second_text = _truncate(item.second, _MATERIAL_WORDS)
        parts = [f"Summary 1: {text}", f"Summary 2: {second_text}"]
    else:
        parts = [f"Summary: {text}" if labelled else text]
    return "\n\n".join([*parts, *notes])


def _group_by_material(items: Sequence[RatedItem], scale: Scale) -> Fenced:
    """Group `items` by their material, with the material above the first item of each group."""
    label, groups = wording_of(scale).label_of, defaultdict(list)
    for item in items:
        groups[item.material, item.articles].append(item)
    texts, titles = [], []
    for (_, articles), group in groups.items():
        materials = [*_articles(articles), *_material(group[0])]
        for index, item in enumerate(group):
            text_above = materials if index == 0 else []
            texts.append(
                "\n\n".join([*text_above, _text_with_notes(item, labelled=bool(materials))])
            )
            mean = f"{label(item.value)}, mean of {pluralize(item.n_labels, 'label')}"
            note = ", judged against the same as the item above" if materials and index else ""
            titles.append(f"{mean}, nearest answer: {nearest(scale, item.share).answer}{note}")
    return Fenced("item", tuple(texts), tuple(titles))


def _articles(texts: Sequence[str]) -> list[str]:
    shares = zip(texts, _equal_shares(texts), strict=True)
    return [f"Article {n}: {_truncate(text, words)}" for n, (text, words) in enumerate(shares, 1)]


def _equal_shares(texts: Sequence[str]) -> list[int]:
    """Return the words to show of each text; words not needed by short texts go to longer ones."""
    lengths = [len(text.split(" ")) for text in texts]
    remaining_words, shares = _ARTICLES_WORDS, [0] * len(texts)
    indices_by_length = sorted(range(len(texts)), key=lengths.__getitem__)
    for n_before, index in enumerate(indices_by_length):
        shares[index] = min(lengths[index], remaining_words // (len(texts) - n_before))
        remaining_words -= shares[index]
    return shares


def _escape_template(text: str) -> str:
    """Escape `text`, so that it contains no fields or parts of a template."""
    cleaned = str(clean_text(text)).replace("\r", "\n")
    return _PART_LINE.sub(" ", re.sub(r"\{(?=\{)", "{ ", cleaned))


def _truncate(text: str, limit: int) -> str:
    words = text.split(" ")
    return text if len(words) <= limit else " ".join([*words[:limit], "..."])


def nearest(scale: Scale, share: float) -> Level:
    """Return the level of `scale` nearest to `share`, 0 for the lowest and 1 for the highest."""
    low, high = _value_range(scale)
    return min(
        scale.levels, key=lambda level: abs((level_value(level) - low) / (high - low) - share)
    )


def _value_range(scale: Scale) -> tuple[float, float]:
    values = [level_value(level) for level in scale.levels]
    return min(values), max(values)


def other_scales(base: Criterion) -> Iterator[Candidate]:
    """Yield `base` with ten and with three levels, equally spaced on the range of its scale.

    There are no other scales for yes/no and for pairs.
    """
    if not PROTOCOLS[base.scale.protocol].graded:
        return
    n = len(base.scale.levels)
    if n < _TEN:
        level_by_index = {round(i * (_TEN - 1) / (n - 1)): i for i in range(n)}
        ten_anchors = [
            base.scale.levels[level_by_index[i]].anchor if i in level_by_index else ""
            for i in range(_TEN)
        ]
        yield _scale_candidate(base, ten_anchors)
    if n > _THREE:
        thirds = [[0, 1], [*range(2, n - 2)], [n - 2, n - 1]] if n > 4 else [[0], [1, 2], [3]]
        anchors = [[base.scale.levels[i].anchor for i in third] for third in thirds]
        yield _scale_candidate(base, ["; or ".join(filter(None, texts)) for texts in anchors])


def _scale_candidate(base: Criterion, anchors: Sequence[str]) -> Candidate:
    low, high = _value_range(base.scale)
    n = len(anchors)
    levels = tuple(
        Level(answer=str(i + 1), value=low + i * (high - low) / (n - 1), anchor=anchor)
        for i, anchor in enumerate(anchors)
    )
    name, about = f"scale-{n}", f"{n} levels in place of {len(base.scale.levels)}"
    sentence = f"Answer with one whole number from 1 (lowest) to {n} (highest)."
    scale = Scale(name=name, kind="choice", levels=levels, instruction=sentence)
    return _candidate(base, "scale", name=name, about=about, scale=scale)


def reworded_candidates(base: Criterion, sets: Sequence[Sequence[str]]) -> Iterator[Candidate]:
    """Yield `base` with each set of anchors: one per level, lowest first.

    For pairs, a set has the anchor of the better summary, used for both positions, and of a tie.
    """
    wording = wording_of(base.scale)
    for number, anchors in enumerate(sets, 1):
        name, about = f"anchors-{number}", f"anchors reworded from {wording.about} and notes"
        levels = wording.levels(base.scale, anchors)
        scale = replace(base.scale, name=f"{base.scale.name}-{name}", levels=levels)
        yield _candidate(base, "anchors", name=name, about=about, scale=scale)


def n_anchors(base: Criterion) -> int:
    """Return the number of anchors in a set."""
    return len(wording_of(base.scale).anchors(base.scale))


def stand_ins(base: Criterion, n_sets: int) -> tuple[tuple[str, ...], ...]:
    """Return placeholder anchor sets for a cost estimate: the current anchors, numbered by set."""
    lines = wording_of(base.scale).anchors(base.scale)
    return tuple(tuple(f"{line} ({n})" for line in lines) for n in range(1, n_sets + 1))


def anchors_messages(
    base: Criterion, items: Sequence[RatedItem], *, n_sets: int
) -> tuple[Message, ...]:
    """Return the messages that request `n_sets` sets of anchors, from `items` of the examples."""
    examples = [items[index] for index in _spread(items, _ANCHOR_ITEMS)]
    wording = wording_of(base.scale)
    rule = "\n\n".join(text for _, text in base.template.parts)
    fields: dict[str, str | Fenced] = {
        "aspect": Fenced("aspect", (base.aspect,)),
        "rule": Fenced("rule", (rule.replace("{{support_rule}}", SUPPORT_RULE),)),
        "scale": Fenced("scale", (base.scale.answer_lines,)),
        "items": _group_by_material(examples, base.scale),
        "sets": pluralize(n_sets, "set"),
        "levels": pluralize(n_anchors(base), wording.line),
        "anchor_words": str(_ANCHOR_WORDS),
        "answer_format": 'Reply with JSON alone: {"sets": [{"anchors": ["...", "..."]}]}',
    }
    return render(load_template("judge", wording.template), fields)


def anchors_request(
    messages: tuple[Message, ...], *, target: ModelRef, **sampling: Any
) -> CompletionRequest:
    """Return the request for anchors."""
    return CompletionRequest(target=target, messages=messages, response_schema=_SCHEMA, **sampling)


def read_anchors(reply: str, *, base: Criterion, limit: int) -> tuple[tuple[str, ...], ...]:
    """Return the distinct valid sets of a reply; a set with an invalid anchor is skipped.

    An anchor is one line without braces or angle brackets, at most 400 characters long, since it is
    inserted into a prompt without tags. Anchors of pairs must not mention a position.
    """
    n_levels, is_valid_set = n_anchors(base), wording_of(base.scale).fits
    sets = []
    for entry in read_list(reply, "sets") or ():
        anchors = entry.get("anchors") if isinstance(entry, dict) else entry
        if isinstance(anchors, list) and len(anchors) == n_levels:
            texts = tuple(
                " ".join(anchor.split()) if isinstance(anchor, str) else "" for anchor in anchors
            )
            if (
                all(map(_is_valid_anchor, texts))
                and len(set(texts)) == n_levels
                and is_valid_set(texts)
            ):
                sets.append(texts)
    return tuple(dict.fromkeys(sets))[:limit]


def _is_valid_anchor(anchor: str) -> bool:
    return 0 < len(anchor) <= _LONGEST_ANCHOR and not _FORBIDDEN.search(anchor)


_SCHEMA = json_object({"sets": json_array(json_object({"anchors": json_array(STRING)}))})


def _template_text(
    base: Template, parts: Sequence[tuple[str, str]], *, name: str, about: str
) -> str:
    """Return a template file: the front matter of `base` with a new name, and `parts`."""
    front = {
        "task": base.task,
        "name": f"{base.name}-{name}",
        "version": base.version,
        "about": f"{base.about} With {about}.",
    }
    head = "".join(f"{key} = {_toml(value)}\n" for key, value in front.items())
    body = "\n".join(f"## {role}\n{text}\n" for role, text in parts)
    text = f"+++\n{head}+++\n{body}"
    parse_template(text.encode(), location=name)
    return text


def scale_text(scale: Scale) -> str:
    """Return the TOML file of `scale`."""
    lines = [f"name = {_toml(scale.name)}", f"kind = {_toml(scale.kind)}"]
    if scale.fractions:
        lines.append("fractions = true")
    if scale.instruction:
        lines.append(f"instruction = {_toml(scale.instruction)}")
    for level in scale.levels:
        lines += ["", "[[levels]]"]
        lines += [f"{key} = {_toml(getattr(level, key))}" for key in ("answer", "value", "anchor")]
        if level.aliases:
            lines.append(f"aliases = [{', '.join(map(_toml, level.aliases))}]")
    return "\n".join(lines) + "\n"


def _toml(value: object) -> str:
    # A basic TOML string is a JSON string, except for DEL.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
