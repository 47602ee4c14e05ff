"""Wording: questions that the clauses of a cluster suggest. Every text here is a proposal only."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from fairjudge.references import lexicon as lex
from fairjudge.references.matching import counted_noun, is_count
from fairjudge.references.naming import refers
from fairjudge.references.syntax import Clause
from fairjudge.references.topics import Parsed, Topic

if TYPE_CHECKING:
    from spacy.tokens import Token
else:
    Token = Any

MAX_WORDS = 14
"""The longest question, in words (DiverseSumm, question generation prompt)."""


def propose(
    articles: Sequence[Parsed], topics: Sequence[Topic], *, at_least: int
) -> tuple[str, ...]:
    """Return the texts of all questions worth trying on a cluster, without repeats.

    Parameters
    ----------
    articles : sequence of parsed articles
    topics : sequence of Topic
        What they speak of, most widely named first.
    at_least : int
        How many articles must hold a frame before it is asked about.
    """
    frames = _Frames(articles, topics)
    texts = [
        *_count_questions(articles, at_least),
        *(text for topic in topics for text in _topic_questions(topic, frames)),
        *_say_about(topics, frames),
        *_frame_questions(frames, at_least),
    ]
    fitting = (text[0].upper() + text[1:] for text in texts if len(text.split()) <= MAX_WORDS)
    return tuple(dict.fromkeys(fitting))


class _Frames:
    """The clauses of a cluster, by the topics that take part in them."""

    def __init__(self, articles: Sequence[Parsed], topics: Sequence[Topic]) -> None:
        self.topics = topics
        self.by_subject: dict[Topic, list[tuple[int, Clause]]] = defaultdict(list)
        self.participles: dict[str, Counter[str]] = defaultdict(Counter)
        for number, sentences in enumerate(articles):
            for sentence in sentences:
                for clause in sentence.clauses:
                    self._add(number, clause)

    def _add(self, number: int, clause: Clause) -> None:
        if clause.verb.tag_ == "VBN":
            self.participles[clause.key][clause.verb.lower_] += 1
        topic = self.topic_of(clause.subject)
        if topic is not None:
            self.by_subject[topic].append((number, clause))

    def topic_of(self, token: Token | None) -> Topic | None:
        """Return the first topic that `token` names."""
        if token is None or token.pos_ not in ("NOUN", "PROPN"):
            return None
        return next((topic for topic in self.topics if refers(topic.term, token)), None)

    def share(self, topic: Topic, mood: str) -> float:
        """Return the share of a topic's clauses that are in `mood`."""
        held = self.by_subject.get(topic, [])
        return sum(mood in clause.modality for _, clause in held) / len(held) if held else 0.0


def _topic_questions(topic: Topic, frames: _Frames) -> Iterator[str]:
    past = frames.share(topic, "past") > frames.share(topic, "future")
    phrase, are = topic.phrase, "are" if topic.plural else "is"
    do = "did" if past else ("do" if topic.plural else "does")
    if topic.agent:
        yield f"What will {phrase} do next?"
        yield f"What should {phrase} do?"
        yield f"How {do} {phrase} respond?"
        yield f"What {do} {phrase} say?"
        return
    if topic.single:
        yield f"How likely {are} {phrase}?"
        yield f"What could cause {phrase}?"
        yield f"What effect would {phrase} have?"
    else:
        yield f"What caused {phrase}?" if past else f"What is causing {phrase}?"
        yield f"What effect {do} {phrase} have?"
        yield f"What should happen to {phrase}?"
        yield f"What is expected to happen to {phrase}?"
    if topic.term.head in lex.LEVEL_NOUNS:
        yield f"How high {are} {phrase}?"
    if not past:
        yield f"What {are} {phrase} like?"


def _say_about(topics: Sequence[Topic], frames: _Frames) -> Iterator[str]:
    for speaker in topics:
        held = [c for _, c in frames.by_subject.get(speaker, []) if c.lemma in lex.SAY_VERBS]
        if not speaker.agent or len(held) < 2:
            continue
        past = sum(c.verb.tag_ == "VBD" for c in held) * 2 >= len(held)
        do = "did" if past else ("do" if speaker.plural else "does")
        for topic in topics[:6]:
            if topic is not speaker:
                yield f"What {do} {speaker.phrase} say about {topic.phrase}?"


def _count_questions(articles: Sequence[Parsed], at_least: int) -> Iterator[str]:
    """Yield "How many people were injured?" for counts that several articles give."""
    seen: dict[tuple[str, str], set[int]] = defaultdict(set)
    uses: dict[tuple[str, str], Counter[tuple[str, str, bool]]] = defaultdict(Counter)
    for number, clause, noun, plain in _counts(articles):
        head = "people" if noun in lex.PEOPLE else lex.canonical(noun)
        key = (head, clause.key)
        seen[key].add(number)
        uses[key][(plain, _participle_use(clause), "future" in clause.modality)] += 1
    for key, numbers in seen.items():
        if len(numbers) >= at_least:
            nouns = {plain for plain, _, _ in uses[key]}
            (plain, verb, future), _ = uses[key].most_common(1)[0]
            if key[0] == "people" and len(nouns) > 1:
                plain = "people"
            yield f"How many {plain} {'will be' if future else ''} {verb}?".replace("  ", " ")


def _counts(articles: Sequence[Parsed]) -> Iterator[tuple[int, Clause, str, str]]:
    for position, sentences in enumerate(articles):
        for sentence in sentences:
            for clause in sentence.clauses:
                patients = [t for t in clause.patients if t is not None]
                for noun in patients:
                    if noun.like_num and is_count(noun):
                        yield position, clause, "people", "people"
                    elif any(is_count(c) and counted_noun(c) is noun for c in noun.lefts):
                        yield position, clause, noun.lemma_.lower(), noun.lower_


def _participle_use(clause: Clause) -> str:
    return f"were {clause.verb.lemma_.lower()}"


def _frame_questions(frames: _Frames, at_least: int) -> Iterator[str]:
    for topic, held in frames.by_subject.items():
        by_verb: dict[str, list[tuple[int, Clause]]] = defaultdict(list)
        for number, clause in held:
            by_verb[clause.key].append((number, clause))
        for clauses in by_verb.values():
            if len({number for number, _ in clauses}) >= at_least:
                yield from _verb_questions(topic, [clause for _, clause in clauses], frames)


def _verb_questions(topic: Topic, clauses: Sequence[Clause], frames: _Frames) -> Iterator[str]:
    lemma = Counter(clause.lemma for clause in clauses).most_common(1)[0][0]
    if lemma in ("have", "do", "say"):
        return
    if lemma == "be":
        yield from _copula_questions(topic, clauses, frames)
        return
    auxiliary = _auxiliary(topic, clauses)
    tail = _usual_object(clauses, frames)
    core = f"{auxiliary} {topic.phrase} {lemma}"
    whole = f"{core} {tail}".strip()
    yield f"{whole}?"
    yield f"Why {whole}?"
    yield f"When {whole}?"
    if lemma in lex.MOVE_VERBS:
        yield f"How much {core}?"
    if lemma in lex.PROMISE_VERBS and topic.agent:
        yield f"What {core}?"


def _copula_questions(topic: Topic, clauses: Sequence[Clause], frames: _Frames) -> Iterator[str]:
    past = sum("past" in c.modality for c in clauses) * 2 > len(clauses)
    be = ("were" if topic.plural else "was") if past else ("are" if topic.plural else "is")
    complements = Counter(
        token.lower_ if token.dep_ == "acomp" else other.phrase
        for clause in clauses
        for token in clause.objects
        for other in [frames.topic_of(token)]
        if token.dep_ == "acomp" or (other is not None and other is not topic)
    )
    complements.update(
        f"{prep} {other.phrase}"
        for clause in clauses
        for prep, noun in clause.obliques
        for other in [frames.topic_of(noun)]
        if other is not None and other is not topic and noun.head.head is clause.verb
    )
    for words, count in sorted(complements.items()):
        if count >= 2:
            yield f"{be} {topic.phrase} {words}?"


def _auxiliary(topic: Topic, clauses: Sequence[Clause]) -> str:
    moods = Counter(mood for clause in clauses for mood in clause.modality)
    if moods["duty"] * 2 > len(clauses):
        return "should"
    if moods["future"] * 2 >= len(clauses):
        return "will"
    if moods["past"] * 2 >= len(clauses):
        return "did"
    return "do" if topic.plural else "does"


def _usual_object(clauses: Sequence[Clause], frames: _Frames) -> str:
    """Return the object or the prepositional phrase that most of the clauses share."""
    tails: Counter[str] = Counter()
    for clause in clauses:
        for noun in clause.objects:
            other = frames.topic_of(noun)
            if other is not None:
                tails[other.phrase] += 1
    if not tails:
        return ""
    words, count = min(tails.items(), key=lambda item: (-item[1], item[0]))
    return words if count >= 2 else ""
