"""Other prompts for a judge: reworded anchors, few-shot examples from people, and other scales.

A candidate is a prompt template and a scale, as files say them: what is kept can be used by
``fairjudge judge`` at once. Texts of summaries and people stand in a template between tags with
marks, and cannot be taken for its fields or parts.
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
from fairjudge.aligning.wording import wording_of, worth
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
"""Words of all articles of one item, where a model reads them once to word anchors."""
_ANCHOR_ITEMS, _ANCHOR_WORDS, _LONGEST_ANCHOR = 12, 40, 400
_TEN, _THREE = 10, 3
_FORBIDDEN = re.compile(r"[{}<>\x00-\x1f\x7f]")
_PART_LINE = re.compile(r"^(?=##)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedItem:
    """A possible example: ``value`` is its mean human rating, ``notes`` the annotators' comments.

    Of a pair ``second`` is the text of the other summary, and ``value`` the preference for `text`,
    from -1 to 1. ``share`` is the rating or preference on 0 to 1; ``material`` what it was judged
    against where that is short, and ``articles`` where it is long: examples in every request of a
    judge go without them. ``n_labels`` is how many labels `value` is the mean of.
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
    """A prompt and a scale to try; ``prompt`` is the text of a template's file."""

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
    """Yield `base` with more and with fewer examples, spread over the range of human ratings.

    Of ratings these are one a level, and three; of pairs six, and three.
    """
    chosen_places, wording = set(), wording_of(base.scale)
    for n in wording.example_sizes:
        places = _spread(items, len(base.scale.levels) if n is None else n)
        if len(places) < 2 or places in chosen_places:
            continue
        chosen_places.add(places)
        examples = [items[place] for place in places]
        name = f"examples-{len(examples)}"
        n_notes = sum(bool(item.notes) for item in examples)
        about = f"{pluralize(len(examples), 'example')} from {wording.about}, {n_notes} with notes"
        parts = _with_examples(base, examples)
        yield _candidate(base, "examples", name=name, about=about, parts=parts)


def _spread(items: Sequence[RatedItem], n: int) -> tuple[int, ...]:
    return spread_over(
        [item.value for item in items], n, preferred=[bool(item.notes) for item in items]
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
    """Return `base` with other `parts` of its prompt, or on another scale."""
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
        tuple(_inert("\n\n".join(lines)) for lines in parts),
        tuple(f"{wording.tag} {nearest(base.scale, item.share).answer}" for item in items),
    )
    examples, _ = fenced.render()
    role, user = base.template.parts[-1]
    prompt = f"{wording.intro}\n\n{examples}\n\n{wording.turn}\n\n{user}"
    return (*base.template.parts[:-1], (role, prompt))


def _material(item: RatedItem) -> list[str]:
    return [_cut(item.material, _MATERIAL_WORDS)] if item.material else []


def _text_with_notes(item: RatedItem, *, labelled: bool) -> str:
    """Return the summary or both, and people's notes."""
    notes = [f"People said: {_cut(note, _NOTE_WORDS)}" for note in item.notes]
    text = _cut(item.text, _MATERIAL_WORDS)
    if item.second is not None:
        second_text = _cut(item.second, _MATERIAL_WORDS)
        parts = [f"Summary 1: {text}", f"Summary 2: {second_text}"]
    else:
        parts = [f"Summary: {text}" if labelled else text]
    return "\n\n".join([*parts, *notes])


def _under_their_material(items: Sequence[RatedItem], scale: Scale) -> Fenced:
    """Group `items` by their material, and put the material above the first item of each group."""
    label, groups = wording_of(scale).label_of, defaultdict(list)
    for item in items:
        groups[item.material, item.articles].append(item)
    texts, titles = [], []
    for (_, articles), group in groups.items():
        against = [*_articles(articles), *_material(group[0])]
        for place, item in enumerate(group):
            above = against if place == 0 else []
            texts.append("\n\n".join([*above, _text_with_notes(item, labelled=bool(against))]))
            mean = f"{label(item.value)}, mean of {pluralize(item.n_labels, 'label')}"
            same = ", judged against the same as the item above" if against and place else ""
            titles.append(f"{mean}, nearest answer: {nearest(scale, item.share).answer}{same}")
    return Fenced("item", tuple(texts), tuple(titles))


def _articles(texts: Sequence[str]) -> list[str]:
    shares = zip(texts, _equal_shares(texts), strict=True)
    return [f"Article {n}: {_cut(text, words)}" for n, (text, words) in enumerate(shares, 1)]


def _equal_shares(texts: Sequence[str]) -> list[int]:
    """Return how many words to show of each text; what short texts leave, longer ones get."""
    lengths = [len(text.split(" ")) for text in texts]
    words_left, shares = _ARTICLES_WORDS, [0] * len(texts)
    shortest_first = sorted(range(len(texts)), key=lengths.__getitem__)
    for n_before, place in enumerate(shortest_first):
        shares[place] = min(lengths[place], words_left // (len(texts) - n_before))
        words_left -= shares[place]
    return shares


def _inert(text: str) -> str:
    """Escape `text`, so that a template finds no fields or parts in it."""
    cleaned = str(clean_text(text)).replace("\r", "\n")
    return _PART_LINE.sub(" ", re.sub(r"\{(?=\{)", "{ ", cleaned))


def _cut(text: str, limit: int) -> str:
    words = text.split(" ")
    return text if len(words) <= limit else " ".join([*words[:limit], "..."])


def nearest(scale: Scale, share: float) -> Level:
    """Return the level of `scale` nearest to `share`, 0 for the lowest and 1 for the highest."""
    low, high = _ends(scale)
    return min(scale.levels, key=lambda level: abs((worth(level) - low) / (high - low) - share))


def _ends(scale: Scale) -> tuple[float, float]:
    values = [worth(level) for level in scale.levels]
    return min(values), max(values)


def other_scales(base: Criterion) -> Iterator[Candidate]:
    """Yield `base` on ten levels and on three, each worth its place on the scale of `base`.

    A scale of yes and no has no other, nor has one for pairs.
    """
    if not PROTOCOLS[base.scale.protocol].graded:
        return
    n = len(base.scale.levels)
    if n < _TEN:
        at = {round(i * (_TEN - 1) / (n - 1)): i for i in range(n)}
        spread = [base.scale.levels[at[i]].anchor if i in at else "" for i in range(_TEN)]
        yield _rescaled(base, spread)
    if n > _THREE:
        thirds = [[0, 1], [*range(2, n - 2)], [n - 2, n - 1]] if n > 4 else [[0], [1, 2], [3]]
        anchors = [[base.scale.levels[i].anchor for i in third] for third in thirds]
        yield _rescaled(base, ["; or ".join(filter(None, texts)) for texts in anchors])


def _rescaled(base: Criterion, anchors: Sequence[str]) -> Candidate:
    low, high = _ends(base.scale)
    n = len(anchors)
    levels = tuple(
        Level(answer=str(i + 1), value=low + i * (high - low) / (n - 1), anchor=anchor)
        for i, anchor in enumerate(anchors)
    )
    name, about = f"scale-{n}", f"{n} levels in place of {len(base.scale.levels)}"
    sentence = f"Answer with one whole number from 1 (lowest) to {n} (highest)."
    scale = Scale(name=name, kind="choice", levels=levels, instruction=sentence)
    return _candidate(base, "scale", name=name, about=about, scale=scale)


def reworded(base: Criterion, sets: Sequence[Sequence[str]]) -> Iterator[Candidate]:
    """Yield `base` with each set of anchors: one a level, lowest first.

    Of pairs a set says when a summary is the better one, the same for both places, and what a tie
    is.
    """
    wording = wording_of(base.scale)
    for number, anchors in enumerate(sets, 1):
        name, about = f"anchors-{number}", f"anchors reworded from {wording.about} and notes"
        levels = wording.levels(base.scale, anchors)
        scale = replace(base.scale, name=f"{base.scale.name}-{name}", levels=levels)
        yield _candidate(base, "anchors", name=name, about=about, scale=scale)


def n_anchors(base: Criterion) -> int:
    """Return how many lines a set of anchors has."""
    return len(wording_of(base.scale).anchors(base.scale))


def stand_ins(base: Criterion, n_sets: int) -> tuple[tuple[str, ...], ...]:
    """Return placeholder anchor sets for a cost estimate: the current anchors, each set marked."""
    lines = wording_of(base.scale).anchors(base.scale)
    return tuple(tuple(f"{line} ({n})" for line in lines) for n in range(1, n_sets + 1))


def anchors_messages(
    base: Criterion, items: Sequence[RatedItem], *, n_sets: int
) -> tuple[Message, ...]:
    """Return messages that ask for `n_sets` sets of anchors, from `items` of the examples part."""
    examples = [items[place] for place in _spread(items, _ANCHOR_ITEMS)]
    wording = wording_of(base.scale)
    rule = "\n\n".join(text for _, text in base.template.parts)
    fields: dict[str, str | Fenced] = {
        "aspect": Fenced("aspect", (base.aspect,)),
        "rule": Fenced("rule", (rule.replace("{{support_rule}}", SUPPORT_RULE),)),
        "scale": Fenced("scale", (base.scale.answer_lines,)),
        "items": _under_their_material(examples, base.scale),
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
    """Return the usable sets of a reply, each once; a set with one bad anchor is left out.

    An anchor is one line without braces or angle brackets, at most 400 characters long: it goes
    into a prompt as the library's own words. What makes one of a pair the better names no place.
    """
    n_levels, fits = n_anchors(base), wording_of(base.scale).fits
    sets = []
    for entry in read_list(reply, "sets") or ():
        anchors = entry.get("anchors") if isinstance(entry, dict) else entry
        if isinstance(anchors, list) and len(anchors) == n_levels:
            texts = tuple(" ".join(a.split()) if isinstance(a, str) else "" for a in anchors)
            if all(map(_usable, texts)) and len(set(texts)) == n_levels and fits(texts):
                sets.append(texts)
    return tuple(dict.fromkeys(sets))[:limit]


def _usable(anchor: str) -> bool:
    return 0 < len(anchor) <= _LONGEST_ANCHOR and not _FORBIDDEN.search(anchor)


_SCHEMA = json_object({"sets": json_array(json_object({"anchors": json_array(STRING)}))})


def _template_text(
    base: Template, parts: Sequence[tuple[str, str]], *, name: str, about: str
) -> str:
    """Return a template's file: the front matter of `base` under another name, and `parts`."""
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
    # A basic string of TOML is written as one of JSON, DEL aside.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
