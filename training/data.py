"""Examples of the tasks from `../shared/data`, split by document or group."""

from __future__ import annotations

import functools
import gzip
import hashlib
import itertools
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

from training import changes

Split: TypeAlias = Literal["train", "calibrate", "test"]
Task: TypeAlias = Literal["support", "points", "coverage", "reading", "same"]
"""Points train both support and coverage."""
Row: TypeAlias = dict[str, Any]
T = TypeVar("T")

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"
FILES = {
    "entailment": "entailment/pairs.jsonl.gz",
    "realsumm": "coverage/realsumm.jsonl.gz",
    "pyrxsum": "coverage/pyrxsum.jsonl.gz",
    "summhay": "coverage/summhay_conversations.jsonl.gz",
    "qamr": "reading/qamr.jsonl.gz",
    "nanco": "nanco/nanco.json",
    "key_points": "keypoints/train.jsonl.gz",
    "key_points_dev": "keypoints/dev.jsonl.gz",
}
SUPPORTED, NEUTRAL, CONTRADICTED, UNSUPPORTED = 0, 1, 2, 3
LABELS = {"supported": 0, "neutral": 1, "contradicted": 2, "unsupported": 3}
"""Unsupported is neutral or contradicted, if the source does not distinguish them."""
MEASURED_ONLY = frozenset({"ling_in_loop", "climate-fever", "fib-xsum", "fib-cnn_dm"})
"""Sources without a licence that permits training: only for evaluation."""
PASSAGE_WORDS = 120
"""Maximum length of a passage; of a longer one, the window with most common words is used."""
ARTICLE_WORDS = 220
"""Pairs with a longer passage are excluded: a window may lack the evidence."""
CALIBRATE = 1600
"""Maximum number of examples to calibrate a head."""
SENTENCE_END = re.compile(r"(?<=[.!?]) +(?=[A-Z\"“'])")
_WRITTEN = {"-LRB-": "(", "-RRB-": ")", "``": '"', "''": '"'}


@dataclass(frozen=True, slots=True)
class Example:
    """One example for training or evaluation; ``task`` selects the head.

    The input is ``first`` and ``second``: statement and passage, unit and passage, question and
    sentence, or two answers to ``question``. ``label`` is the class for support and points, else 0
    or 1. ``span`` is the answer's character range in ``second`` (end-exclusive), (0, 0) if there is
    none. ``source`` is the data set, ``group`` the unit of splitting.
    """

    task: Task
    first: str
    second: str
    label: int
    source: str
    group: str
    span: tuple[int, int] = (0, 0)
    question: str = ""

    @property
    def read_first(self) -> str:
        """The encoder's first text: ``first``, with its question in front if there is one."""
        return f"{self.question} {self.first}" if self.question else self.first


@functools.cache
def rows(name: str, *, folder: Path = DATA) -> list[Row]:
    """Return the rows of one of `FILES` (cached)."""
    with gzip.open(folder / FILES[name], "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def hashes(*, folder: Path = DATA) -> dict[str, str]:
    """Return the SHA-256 of every data file."""
    return {
        path: hashlib.sha256((folder / path).read_bytes()).hexdigest() for path in FILES.values()
    }


def share(group: str) -> float:
    """Return a number in [0, 1) that depends only on the group's name."""
    return int(hashlib.sha256(group.encode()).hexdigest()[:8], 16) / 2**32


def split_of(group: str, *, test: float = 0.05, calibrate: float = 0.04) -> Split:
    """Return a group's split, which depends only on its name."""
    return _split_at(share(group), test, calibrate)


def split_documents(documents: Iterable[str], *, test: int, calibrate: int) -> dict[str, Split]:
    """Split documents, sorted by the hash of their names, into exact numbers per split."""
    sorted_documents = sorted(set(documents), key=share)
    return {name: _split_at(place, test, calibrate) for place, name in enumerate(sorted_documents)}


def _split_at(place: float, test: float, calibrate: float) -> Split:
    return "test" if place < test else "calibrate" if place < test + calibrate else "train"


def qamr(split: Split, *, folder: Path) -> list[Row]:
    """Return QAMR's rows of a split of its documents."""
    return [
        row
        for row in rows("qamr", folder=folder)
        if split_of(row["document"], test=0.12, calibrate=0.06) == split
    ]


def window(passage: str, statement: str, *, limit: int = PASSAGE_WORDS) -> str:
    """Return the window of at most `limit` words of `passage` with most words of `statement`.

    It begins at a sentence if the passage has sentences.
    """
    if len(passage.split()) <= limit:
        return passage
    statement_words = set(re.findall(r"\w+", statement.lower()))
    sentences = [
        s for part in SENTENCE_END.split(passage) for s in re.split(r" (?=<t>)| \. ", part)
    ]
    best, best_overlap = "", -1
    for start in range(len(sentences)):
        words: list[str] = []
        for sentence in sentences[start:]:
            sentence_words = sentence.split()
            if words and len(words) + len(sentence_words) > limit:
                break
            words += sentence_words
        shared = len(statement_words & set(re.findall(r"\w+", " ".join(words[:limit]).lower())))
        if shared > best_overlap:
            best, best_overlap = " ".join(words[:limit]), shared
    return best


def support(split: Split, *, folder: Path = DATA) -> Iterator[Example]:
    """Yield labelled pairs; those of `MEASURED_ONLY` sources only if `split` is test."""
    for row in rows("entailment", folder=folder):
        source, group = row["source"], f"{row['source']}:{row['group']}"
        if len(row["premise"].split()) > ARTICLE_WORDS:
            continue
        if split_of(group) != split or (source in MEASURED_ONLY and split != "test"):
            continue
        statement = row["hypothesis"].strip()
        passage = window(row["premise"].strip(), statement)
        if len(statement.split()) <= 70:
            yield Example("support", statement, passage, LABELS[row["label"]], source, group)


def coverage(split: Split, *, folder: Path = DATA) -> Iterator[Example]:
    """Yield human labels of units in summaries of one document."""
    for name, test, calibrate in (("realsumm", 40, 6), ("pyrxsum", 15, 10)):
        source_rows = rows(name, folder=folder)
        split_by_document = split_documents(
            (row["eid"] for row in source_rows), test=test, calibrate=calibrate
        )
        for row in source_rows:
            if split_by_document[row["eid"]] == split:
                unit, text, covered = row["unit"], row["text"], int(row["covered"])
                yield Example("coverage", unit, text, covered, name, row["eid"])


def planted_coverage(split: Split, *, folder: Path = DATA, seed: int = 0) -> Iterator[Example]:
    """Yield covered units with planted changes (label 0), and sentences of summaries (label 1)."""
    draw = random.Random(f"planted coverage {split} {seed}")
    positives = [example for example in coverage(split, folder=folder) if example.label]
    names = list(dict.fromkeys(n for example in positives for n in changes.names_of(example.first)))
    kinds = ("number", "name", "negation", "opposite", "swap")
    for example in positives:
        others = some_of(names, 8, draw)
        change = changes.changed(example.first, draw, names=others, causes=[], kinds=kinds)
        if change and draw.random() < 0.4:
            kind = f"planted {change.kind}"
            yield Example("coverage", change.text, example.second, 0, kind, example.group)
        sentences = [s for s in re.split(r"(?<=[.!?]) ", example.second) if len(s.split()) > 4]
        if sentences and draw.random() < 0.15:
            copy = draw.choice(sentences)
            yield Example("coverage", copy, example.second, 1, "planted copy", example.group)


def merged_coverage(split: Split, *, folder: Path = DATA, seed: int = 0) -> Iterator[Example]:
    """Yield two to four units of a summary merged, covered if at least half of them are.

    Annotated units are shorter than the insights and answers that are judged in use.
    """
    draw = random.Random(f"merged coverage {split} {seed}")
    summaries: dict[tuple[str, str, str], list[Example]] = defaultdict(list)
    for example in coverage(split, folder=folder):
        summaries[example.source, example.group, example.second].append(example)
    for (source, group, text), units in summaries.items():
        for _ in range(len(units) // 2):
            chosen = draw.sample(units, k=min(len(units), draw.choice((2, 2, 3, 4))))
            merged_unit = " ".join(f"{unit.first.strip().rstrip('.')}." for unit in chosen)
            covered = 2 * sum(unit.label for unit in chosen) >= len(chosen)
            yield Example("coverage", merged_unit, text, int(covered), f"{source} merged", group)


def untokenised(tokens: Sequence[str], answer: tuple[int, int]) -> tuple[str, tuple[int, int]]:
    """Join tokens with normal spacing, and return the text and the answer's character range."""
    text, starts, ends, in_quotes = "", [], [], False
    for token in tokens:
        word = _WRITTEN.get(token, token)
        closes = word == '"' and in_quotes
        tight = word in {".", ",", ";", ":", "!", "?", ")", "%"} or word.startswith(("'", "n't"))
        glue = (
            not text
            or tight
            or closes
            or text.endswith(("(", "$", "£"))
            or (in_quotes and text.endswith('"'))
        )
        text += "" if glue else " "
        starts.append(len(text))
        text += word
        ends.append(len(text))
        if word == '"':
            in_quotes = not in_quotes
    return text, (starts[answer[0]], ends[answer[1] - 1])


def reading(split: Split, *, folder: Path = DATA, seed: int = 0) -> Iterator[Example]:
    """Yield questions with the answer's span, and an equal number on sentences without an answer.

    A fifth of the sentences are preceded or followed by another sentence of their document.
    """
    draw = random.Random(f"reading {split} {seed}")
    questions = qamr(split, folder=folder)
    sentences: dict[str, dict[str, str]] = defaultdict(dict)
    for row in questions:
        sentences[row["document"]][row["sentence"]] = text_of(row)
    documents = sorted(sentences)
    for row in questions:
        question, document = row["question"].strip(), row["document"]
        text, (start, end) = untokenised(row["tokens"], tuple(row["answer"]))
        others = [t for key, t in sentences[document].items() if key != row["sentence"]]
        if others and draw.random() < 0.2:
            other = draw.choice(others)
            if draw.random() < 0.5:
                text, start, end = f"{other} {text}", start + len(other) + 1, end + len(other) + 1
            else:
                text = f"{text} {other}"
        yield Example("reading", question, text, 1, "qamr", document, (start, end))
        near = bool(others) and draw.random() < 0.6
        pool = others if near else list(sentences[draw.choice(documents)].values())
        options = [t for t in draw.sample(pool, k=min(3, len(pool))) if t not in text]
        content = set(re.findall(r"\w{4,}", question.lower()))
        # A sentence that contains all words of the question may answer it.
        options = [t for t in options if not content or any(w not in t.lower() for w in content)]
        if options and draw.random() < (0.75 if split == "train" else 1.0):
            kind = "qamr none, near" if near else "qamr none, far"
            shared = [sum(word in text.lower() for word in content) for text in options]
            nearest = options[shared.index(max(shared))]
            yield Example("reading", question, nearest, 0, kind, document)


def same(split: Split, *, folder: Path = DATA, seed: int = 0) -> Iterator[Example]:
    """Yield pairs of answers to one question.

    From QAMR: same are spans that mostly overlap; different are other spans, other sentences'
    answers, and spans with a changed number, name or negation. From entailment: supported (same)
    and contradicted (different) statements, without a question. For training also the invented
    answers in `benchmarks/`.
    """
    draw = random.Random(f"same {split} {seed}")
    yield from _same_of_qamr(split, folder, draw)
    sources = ("snli", "conjnli", "counterfactual-snli", "fever", "docnli-mnli")
    for example in support(split, folder=folder):
        if example.source in sources and example.label in {SUPPORTED, CONTRADICTED}:
            words = [len(text.split()) for text in (example.first, example.second)]
            # A much longer text is no paraphrase.
            if max(words) <= 1.6 * min(words) and draw.random() < 0.5:
                label = int(example.label == SUPPORTED)
                first, two, group = example.first, example.second, example.group
                yield Example("same", first, two, label, "entailment", group, question="?")
    if split == "train":
        yield from _invented()


def _same_of_qamr(split: Split, folder: Path, draw: random.Random) -> Iterator[Example]:
    questions = qamr(split, folder=folder)
    by_sentence: dict[str, list[Row]] = defaultdict(list)
    for row in questions:
        by_sentence[row["sentence"]].append(row)
    all_answers = [_answer(row) for row in questions]
    texts = [text_of(sentence_rows[0]) for sentence_rows in by_sentence.values()]
    names = list(dict.fromkeys(n for text in texts for n in changes.names_of(text)))
    for row in questions:
        answer = _answer(row)
        others = _others(row, by_sentence[row["sentence"]], all_answers, names, draw)
        for other, label, kind in others:
            first, two = (answer, other) if draw.random() < 0.5 else (other, answer)
            question = row["question"].strip()
            yield Example("same", first, two, label, kind, row["document"], question=question)


def _others(
    row: Row,
    siblings: Sequence[Row],
    all_answers: Sequence[str],
    names: Sequence[str],
    draw: random.Random,
) -> Iterator[tuple[str, int, str]]:
    """Yield answers to pair with a row's answer, whether they are the same, and their sources."""
    answer = _answer(row)
    overlapping_answers, disjoint_answers = [], []
    for other in siblings:
        (start, end), (other_start, other_end) = row["answer"], other["answer"]
        common = min(end, other_end) - max(start, other_start)
        longest = max(end - start, other_end - other_start)
        if _answer(other) == answer:
            continue
        if common * 2 >= longest:
            overlapping_answers.append(_answer(other))
        elif common <= 0:
            disjoint_answers.append(_answer(other))
    if overlapping_answers:
        yield draw.choice(overlapping_answers), 1, "qamr"
    if disjoint_answers:
        yield draw.choice(disjoint_answers), 0, "qamr"
    if draw.random() < 0.25:
        yield draw.choice(all_answers), 0, "qamr"
    if draw.random() < 0.15:
        yield answer, 1, "qamr copy"
    others = some_of(names, 8, draw)
    kinds = ("number", "name", "negation", "opposite")
    change = changes.changed(answer, draw, names=others, causes=[], kinds=kinds)
    if change:
        yield change.text, 0, "qamr changed"


def _invented() -> Iterator[Example]:
    path = ROOT / "benchmarks" / "invented_answers.json"
    for entry in json.loads(path.read_text(encoding="utf-8")):
        for first, two in itertools.permutations(entry["answers"], 2):
            question, texts = entry["question"], (first["Answer"], two["Answer"])
            same = int(first["cluster_global"] == two["cluster_global"])
            yield Example("same", *texts, same, "invented", question, question=question)


def text_of(row: Row) -> str:
    """Return a row's sentence with normal spacing."""
    return untokenised(row["tokens"], (0, 1))[0]


def _answer(row: Row) -> str:
    text, (start, end) = untokenised(row["tokens"], tuple(row["answer"]))
    return text[start:end]


def pairs_of(examples: Sequence[Example]) -> list[tuple[str, str]]:
    """Return (passage, statement) pairs, the models' input."""
    return [(example.second, example.first) for example in examples]


def spread(rows: Sequence[T], limit: int) -> list[T]:
    """Return at most `limit` evenly spaced rows."""
    return list(rows[:: max(1, -(-len(rows) // limit))])


def some_of(values: Sequence[str], limit: int, draw: random.Random) -> list[str]:
    """Draw at most `limit` of the values."""
    return draw.sample(values, k=min(limit, len(values)))


def read_curve(run: Path) -> list[dict[str, Any]]:
    """Return the rows of a run's learning curve."""
    return [json.loads(line) for line in (run / "curve.jsonl").read_text("utf-8").splitlines()]
