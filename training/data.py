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
"""Points ask both support and coverage."""
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
"""Unsupported is neutral or contradicted: its source does not say which."""
MEASURED_ONLY = frozenset({"ling_in_loop", "climate-fever", "fib-xsum", "fib-cnn_dm"})
"""Sources that state no licence (or none that allows it): never trained on."""
PASSAGE_WORDS = 120
"""Longest passage; of a longer one, the window that shares most is taken."""
ARTICLE_WORDS = 220
"""Pairs whose passage is longer are left out: no window would hold what was judged."""
CALIBRATE = 1600
"""Most examples a head is calibrated on."""
SENTENCE_END = re.compile(r"(?<=[.!?]) +(?=[A-Z\"“'])")
_WRITTEN = {"-LRB-": "(", "-RRB-": ")", "``": '"', "''": '"'}


@dataclass(frozen=True, slots=True)
class Example:
    """One thing to learn or to measure; ``task`` says which head answers.

    The encoder reads ``first`` and ``second``: statement and passage, unit and passage, question
    and sentence, or an answer and another to ``question``. ``label`` is support's class (of points
    too), else 0 or 1; ``span`` are the characters of ``second`` that answer (end exclusive), (0, 0)
    where none do; ``source`` is where it is from, ``group`` what it is split by.
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
        """What the encoder reads first: of an answer, with its question before it."""
        return f"{self.question} {self.first}" if self.question else self.first


@functools.cache
def rows(name: str, *, folder: Path = DATA) -> list[Row]:
    """Return the rows of one of `FILES`; they are read once."""
    with gzip.open(folder / FILES[name], "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def hashes(*, folder: Path = DATA) -> dict[str, str]:
    """Return the SHA-256 of every file that is read."""
    return {
        path: hashlib.sha256((folder / path).read_bytes()).hexdigest() for path in FILES.values()
    }


def share(group: str) -> float:
    """Return a number in [0, 1) that depends on the group's name alone."""
    return int(hashlib.sha256(group.encode()).hexdigest()[:8], 16) / 2**32


def split_of(group: str, *, test: float = 0.05, calibrate: float = 0.04) -> Split:
    """Return where a group belongs, by its name alone."""
    return _split_at(share(group), test, calibrate)


def split_documents(documents: Iterable[str], *, test: int, calibrate: int) -> dict[str, Split]:
    """Split documents into exact numbers, ordered by the hash of their names."""
    ordered = sorted(set(documents), key=share)
    return {name: _split_at(place, test, calibrate) for place, name in enumerate(ordered)}


def _split_at(place: float, test: float, calibrate: float) -> Split:
    return "test" if place < test else "calibrate" if place < test + calibrate else "train"


def qamr(split: Split, *, folder: Path) -> list[Row]:
    """Return QAMR's rows of a split, which goes by document."""
    return [
        row
        for row in rows("qamr", folder=folder)
        if split_of(row["document"], test=0.12, calibrate=0.06) == split
    ]


def window(passage: str, statement: str, *, limit: int = PASSAGE_WORDS) -> str:
    """Return the run of at most `limit` words of `passage` that shares most words with `statement`.

    It begins at a sentence where the passage has sentences.
    """
    if len(passage.split()) <= limit:
        return passage
    wanted = set(re.findall(r"\w+", statement.lower()))
    sentences = [
        s for part in SENTENCE_END.split(passage) for s in re.split(r" (?=<t>)| \. ", part)
    ]
    best, best_shared = "", -1
    for start in range(len(sentences)):
        words: list[str] = []
        for sentence in sentences[start:]:
            more = sentence.split()
            if words and len(words) + len(more) > limit:
                break
            words += more
        shared = len(wanted & set(re.findall(r"\w+", " ".join(words[:limit]).lower())))
        if shared > best_shared:
            best, best_shared = " ".join(words[:limit]), shared
    return best


def support(split: Split, *, folder: Path = DATA) -> Iterator[Example]:
    """Yield labelled pairs; of `MEASURED_ONLY` sources only where `split` is test."""
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
    """Yield people's labels of units in summaries of one document."""
    for name, test, calibrate in (("realsumm", 40, 6), ("pyrxsum", 15, 10)):
        source_rows = rows(name, folder=folder)
        where = split_documents((row["eid"] for row in source_rows), test=test, calibrate=calibrate)
        for row in source_rows:
            if where[row["eid"]] == split:
                unit, text, covered = row["unit"], row["text"], int(row["covered"])
                yield Example("coverage", unit, text, covered, name, row["eid"])


def planted_coverage(split: Split, *, folder: Path = DATA, seed: int = 0) -> Iterator[Example]:
    """Yield units that a summary covers, changed by script, and sentences of it as they are."""
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
    """Yield two to four units of a summary as one, covered where at least half of them are.

    People's units are short; what is asked elsewhere (insights, answers) is longer.
    """
    draw = random.Random(f"merged coverage {split} {seed}")
    summaries: dict[tuple[str, str, str], list[Example]] = defaultdict(list)
    for example in coverage(split, folder=folder):
        summaries[example.source, example.group, example.second].append(example)
    for (source, group, text), units in summaries.items():
        for _ in range(len(units) // 2):
            chosen = draw.sample(units, k=min(len(units), draw.choice((2, 2, 3, 4))))
            whole = " ".join(f"{unit.first.strip().rstrip('.')}." for unit in chosen)
            covered = 2 * sum(unit.label for unit in chosen) >= len(chosen)
            yield Example("coverage", whole, text, int(covered), f"{source} merged", group)


def untokenised(tokens: Sequence[str], answer: tuple[int, int]) -> tuple[str, tuple[int, int]]:
    """Join tokens as they are written, and return where the answer's characters stand."""
    text, starts, ends, opened = "", [], [], False
    for token in tokens:
        word = _WRITTEN.get(token, token)
        closes = word == '"' and opened
        tight = word in {".", ",", ";", ":", "!", "?", ")", "%"} or word.startswith(("'", "n't"))
        glue = (
            not text
            or tight
            or closes
            or text.endswith(("(", "$", "£"))
            or (opened and text.endswith('"'))
        )
        text += "" if glue else " "
        starts.append(len(text))
        text += word
        ends.append(len(text))
        if word == '"':
            opened = not opened
    return text, (starts[answer[0]], ends[answer[1] - 1])


def reading(split: Split, *, folder: Path = DATA, seed: int = 0) -> Iterator[Example]:
    """Yield questions with the answer's span, and equally many over sentences without an answer.

    A fifth of the sentences are read with a neighbour from their document before or behind them.
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
        # A question of which every word stands in the other sentence may well have an answer there.
        options = [t for t in options if not content or any(w not in t.lower() for w in content)]
        if options and draw.random() < (0.75 if split == "train" else 1.0):
            kind = "qamr none, near" if near else "qamr none, far"
            shared = [sum(word in text.lower() for word in content) for text in options]
            nearest = options[shared.index(max(shared))]
            yield Example("reading", question, nearest, 0, kind, document)


def same(split: Split, *, folder: Path = DATA, seed: int = 0) -> Iterator[Example]:
    """Yield pairs of answers to one question.

    From QAMR: spans that overlap mostly, against other spans, other sentences' answers and spans
    with a number, name or negation changed. From entailment: statements that support and such that
    contradict each other, without a question. In training also the invented answers of
    `benchmarks/`.
    """
    draw = random.Random(f"same {split} {seed}")
    yield from _same_of_qamr(split, folder, draw)
    sources = ("snli", "conjnli", "counterfactual-snli", "fever", "docnli-mnli")
    for example in support(split, folder=folder):
        if example.source in sources and example.label in {SUPPORTED, CONTRADICTED}:
            words = [len(text.split()) for text in (example.first, example.second)]
            # One that says much more is no paraphrase.
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
    everything = [_answer(row) for row in questions]
    texts = [text_of(several[0]) for several in by_sentence.values()]
    names = list(dict.fromkeys(n for text in texts for n in changes.names_of(text)))
    for row in questions:
        answer = _answer(row)
        others = _others(row, by_sentence[row["sentence"]], everything, names, draw)
        for other, label, kind in others:
            first, two = (answer, other) if draw.random() < 0.5 else (other, answer)
            question = row["question"].strip()
            yield Example("same", first, two, label, kind, row["document"], question=question)


def _others(
    row: Row,
    siblings: Sequence[Row],
    everything: Sequence[str],
    names: Sequence[str],
    draw: random.Random,
) -> Iterator[tuple[str, int, str]]:
    """Yield what a row's answer is compared to, whether it is the same, and its source."""
    answer = _answer(row)
    overlapping, apart = [], []
    for other in siblings:
        (start, end), (other_start, other_end) = row["answer"], other["answer"]
        common = min(end, other_end) - max(start, other_start)
        longest = max(end - start, other_end - other_start)
        if _answer(other) == answer:
            continue
        if common * 2 >= longest:
            overlapping.append(_answer(other))
        elif common <= 0:
            apart.append(_answer(other))
    if overlapping:
        yield draw.choice(overlapping), 1, "qamr"
    if apart:
        yield draw.choice(apart), 0, "qamr"
    if draw.random() < 0.25:
        yield draw.choice(everything), 0, "qamr"
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
    """Return a row's sentence as people write it."""
    return untokenised(row["tokens"], (0, 1))[0]


def _answer(row: Row) -> str:
    text, (start, end) = untokenised(row["tokens"], tuple(row["answer"]))
    return text[start:end]


def pairs_of(examples: Sequence[Example]) -> list[tuple[str, str]]:
    """Return (passage, statement), as the models take them."""
    return [(example.second, example.first) for example in examples]


def spread(rows: Sequence[T], limit: int) -> list[T]:
    """Return at most `limit` rows, taken evenly."""
    return list(rows[:: max(1, -(-len(rows) // limit))])


def some_of(values: Sequence[str], limit: int, draw: random.Random) -> list[str]:
    """Draw at most `n` of the values."""
    return draw.sample(values, k=min(limit, len(values)))


def read_curve(run: Path) -> list[dict[str, Any]]:
    """Return the rows of a run's learning curve."""
    return [json.loads(line) for line in (run / "curve.jsonl").read_text("utf-8").splitlines()]
