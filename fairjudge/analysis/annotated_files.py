"""Read documents with people and coreference: CoNLL-2012 files, or JSON of our own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fairjudge.bias.annotated import (
    AnnotatedDocument,
    ContentWord,
    Range,
    Word,
    spaced,
)
from fairjudge.datasets._rows import read_rows
from fairjudge.datasets._source import kind_of
from fairjudge.datasets.conll2012 import read_conll2012
from fairjudge.errors import InputError


def read_annotated(path: str | Path) -> tuple[AnnotatedDocument, ...]:
    """Read annotated documents.

    ``.json`` and ``.jsonl`` hold objects with ``id``, ``tokens`` (strings), ``people`` (pairs
    ``[start, end]`` of token positions, the end left out) and optionally ``chains`` (lists of such
    pairs), ``tags`` (Penn tags), ``text`` (in which the tokens stand in order; it gives the
    spacing) and ``content_words`` (objects with ``span``, ``people``, ``female``, ``male`` and
    perhaps ``neutral``). Every other file is read as CoNLL-2012. Raises `InputError`, which names
    the place, where a file is malformed.
    """
    path = Path(path)
    if kind_of(path) not in {".json", ".jsonl"}:
        return read_conll2012(path)
    documents = []
    for row in read_rows(path, csv_allowed=False):
        if row.problem is not None:
            raise InputError(row.problem, path=path, line=row.line, field=row.field)
        try:
            documents.append(_from_json(row.value))
        except InputError as error:
            raise InputError(error.problem, path=path, line=row.line, field=error.field) from None
    return tuple(documents)


def _from_json(value: Any) -> AnnotatedDocument:
    if not isinstance(value, dict):
        raise InputError("expected an object with 'id', 'tokens' and 'people'")
    name = value.get("id")
    if not isinstance(name, str) or not name:
        raise InputError("expected a non-empty string", field="id")
    tokens = _strings(value, "tokens")
    tags = _strings(value, "tags") if value.get("tags") is not None else [""] * len(tokens)
    if len(tags) != len(tokens):
        raise InputError(f"expected {len(tokens)} tags, found {len(tags)}", field="tags")
    chains = value.get("chains") or []
    if not isinstance(chains, list):
        raise InputError("expected a list of chains", field="chains")
    return AnnotatedDocument(
        id=name,
        words=_words(tokens, tags, value.get("text")),
        people=_ranges(value.get("people"), "people"),
        chains=tuple(_ranges(chain, "chains") for chain in chains),
        content_words=tuple(map(_content_word, value.get("content_words") or ())),
    )


def _content_word(value: Any) -> ContentWord:
    fields = value if isinstance(value, dict) else {}
    forms = {name: fields[name] for name in ("female", "male", "neutral") if fields.get(name)}
    if not {"female", "male"} <= forms.keys() or not all(
        isinstance(f, str) for f in forms.values()
    ):
        raise InputError(
            "expected an object with 'span', 'people', 'female' and 'male'", field="content_words"
        )
    (span,) = _ranges([fields.get("span")], "content_words.span")
    people = _ranges(fields.get("people"), "content_words.people")
    return ContentWord(span=span, people=people, **forms)


def _strings(value: dict[str, Any], field: str) -> list[str]:
    strings = value.get(field)
    if not isinstance(strings, list) or not all(isinstance(text, str) and text for text in strings):
        raise InputError("expected a list of non-empty strings", field=field)
    return strings


def _ranges(value: Any, field: str) -> tuple[Range, ...]:
    if not isinstance(value, list):
        raise InputError("expected a list of [start, end] pairs", field=field)
    out = []
    for pair in value:
        good = isinstance(pair, list) and len(pair) == 2 and all(type(n) is int for n in pair)
        if not good:
            raise InputError(f"expected [start, end] token positions, found {pair!r}", field=field)
        out.append(Range(start=pair[0], end=pair[1]))
    return tuple(out)


def _words(tokens: list[str], tags: list[str], text: Any) -> tuple[Word, ...]:
    if text is None:
        return spaced(tuple(zip(tokens, tags, strict=True)))
    if not isinstance(text, str):
        raise InputError("expected a string", field="text")
    words, place = [], 0
    for token, tag in zip(tokens, tags, strict=True):
        start = text.find(token, place)
        if start < 0 or text[place:start].strip():
            raise InputError(f"token {token!r} does not come next in the text", field="text")
        words.append(Word(text=token, before=text[place:start], tag=tag))
        place = start + len(token)
    if text[place:].strip():
        raise InputError(f"the tokens end before {text[place:][:20]!r}", field="text")
    return tuple(words)
