"""Read CoNLL-2012 files: the words, PERSON entities and coreference chains of documents.

The layout is that of the CoNLL-2012 shared task (OntoNotes 5.0): one token per line in columns
separated by white space, an empty line after each sentence, ``#begin document`` and
``#end document`` around each part. Named entities are in column 10, coreference is in the last.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from fairjudge.bias.annotated import AnnotatedDocument, Range, with_spaces
from fairjudge.datasets._source import read_lines
from fairjudge.errors import InputError

PERSON = "PERSON"
_BEGIN = re.compile(r"#begin document \((?P<name>.*)\); part (?P<part>\d+)\s*$")
_MIN_COLUMNS = 12
_WORD, _POS, _ENTITY, _CHAIN = 3, 4, 10, -1
_UNESCAPED_TOKENS = {
    "-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}",
    "/.": ".", "/?": "?", "/-": "-",
}  # fmt: skip


def read_conll2012(path: Path) -> tuple[AnnotatedDocument, ...]:
    """Read all document parts of a file, optionally gzip; ``id`` is ``<name>.<part>``.

    Chains are in the order of their first mention, and a longer mention precedes one within it.
    OntoNotes has no chains of a single mention. Raises `InputError`, with file and line, for other
    files and unbalanced brackets.
    """
    documents: list[AnnotatedDocument] = []
    current: _Draft | None = None
    for number, line in enumerate(read_lines(path), start=1):
        if line.startswith("#begin"):
            if current is not None:
                raise InputError(
                    "a document begins before the last one ended", path=path, line=number
                )
            current = _Draft(path=path, header=line, line=number)
        elif line.startswith("#end"):
            if current is None:
                raise InputError(
                    "'#end document' without '#begin document'", path=path, line=number
                )
            documents.append(current.finish(number))
            current = None
        elif current is not None:
            current.add(line, number)
        elif line.strip() and not line.startswith("#"):
            raise InputError("expected '#begin document (name); part 000'", path=path, line=number)
    if current is not None:
        raise InputError(
            "the file is cut off: no '#end document' for the document that begins here",
            path=path,
            line=current.line,
        )
    if not documents:
        raise InputError("the file has no documents", path=path)
    return tuple(documents)


@dataclass(slots=True, kw_only=True)
class _Draft:
    """A document during parsing; ``tokens`` are words with their Penn tags."""

    path: Path
    header: str
    line: int
    tokens: list[tuple[str, str]] = field(default_factory=list)
    people: list[Range] = field(default_factory=list)
    mentions: dict[str, list[Range]] = field(default_factory=lambda: defaultdict(list))
    open_entity: tuple[int, str] | None = None
    open_mentions: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))

    def add(self, line: str, number: int) -> None:
        columns = line.split()
        if not columns:
            self._end_sentence(number)
            return
        if columns[0].startswith("#"):
            return
        if len(columns) < _MIN_COLUMNS:
            problem = f"expected at least {_MIN_COLUMNS} columns, found {len(columns)}"
            raise self._error(problem, number)
        self._entity(columns[_ENTITY], number)
        self._chain(columns[_CHAIN], number)
        word = columns[_WORD]
        self.tokens.append((_UNESCAPED_TOKENS.get(word, word), columns[_POS]))

    def finish(self, number: int) -> AnnotatedDocument:
        self._end_sentence(number)
        header = _BEGIN.match(self.header)
        if header is None:
            raise self._error("expected '#begin document (name); part 000'", self.line)
        chains = (tuple(sorted(spans, key=_outer_first)) for spans in self.mentions.values())
        return AnnotatedDocument(
            id=f"{header['name']}.{int(header['part'])}",
            words=with_spaces(tuple(self.tokens)),
            people=tuple(self.people),
            chains=tuple(sorted(chains, key=lambda spans: _outer_first(spans[0]))),
        )

    def _entity(self, cell: str, number: int) -> None:
        index = len(self.tokens)
        if cell.startswith("("):
            if self.open_entity is not None:
                raise self._error("a named entity begins within another", number)
            self.open_entity = (index, cell.strip("(*)"))
        if cell.endswith(")"):
            if self.open_entity is None:
                raise self._error("closing bracket without an open named entity", number)
            start, label = self.open_entity
            if label == PERSON:
                self.people.append(Range(start=start, end=index + 1))
            self.open_entity = None

    def _chain(self, cell: str, number: int) -> None:
        index = len(self.tokens)
        for piece in cell.split("|"):
            chain = piece.strip("()")
            if piece in {"-", "_"}:
                continue
            if not chain.isdigit():
                raise self._error(
                    f"expected a coreference cell such as '(12)', found {cell!r}", number
                )
            if piece.startswith("("):
                self.open_mentions[chain].append(index)
            if piece.endswith(")"):
                if not self.open_mentions[chain]:
                    raise self._error(
                        f"closing bracket without an open mention of chain {chain}", number
                    )
                start = self.open_mentions[chain].pop()
                self.mentions[chain].append(Range(start=start, end=index + 1))

    def _end_sentence(self, number: int) -> None:
        if self.open_entity is not None:
            raise self._error("the sentence ends within a named entity", number)
        for chain, starts in self.open_mentions.items():
            if starts:
                raise self._error(f"the sentence ends within a mention of chain {chain}", number)

    def _error(self, problem: str, number: int) -> InputError:
        return InputError(problem, path=self.path, line=number)


def _outer_first(span: Range) -> tuple[int, int]:
    return span.start, -span.end
