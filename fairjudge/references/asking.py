"""Wording: questions that a cluster suggests. Every text here is a proposal; answers decide.

Two sources: fixed forms around what several articles speak of, each only for nouns it makes sense
of; and clauses turned round ("2,300 people had to leave" gives "How many people had to leave?").
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fairjudge.references import lexicon as lex
from fairjudge.references.naming import same_term, term_of
from fairjudge.references.syntax import Clause
from fairjudge.references.topics import Parsed, Topic
from fairjudge.references.turning import turned_counts, turned_times

if TYPE_CHECKING:
    from spacy.tokens import Token
else:
    Token = Any

MAX_WORDS = 14
"""The longest question, in words (DiverseSumm, question generation prompt)."""


_NAMELESS_FAILURE = re.compile(r"\bthe (?:failure|collapse|crash)s?\?")
"""A failure without what failed, not needed where that can be named."""


WIDELY_NAMED = 0.3
"""What a question gains by being on what all articles name rather than none."""


SAY_WEIGHT = 0.2
"""Of "What did ... say?", which fits any story and is asked only where little else can be."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A question to try. ``weight`` says how telling questions of its form are, in (0, 1]."""

    text: str
    weight: float


def propose(
    articles: Sequence[Parsed], topics: Sequence[Topic], *, at_least: int
) -> tuple[Proposal, ...]:
    """Return all questions worth trying on a cluster, without repeats, the most telling first.

    Parameters
    ----------
    articles : sequence of parsed articles
    topics : sequence of Topic
        What at least two of them speak of, most widely named first.
    at_least : int
        How many articles must name what a fixed form is put around.
    """
    central = [topic for topic in topics if len(topic.articles) >= at_least]
    frames = Frames(articles, topics)
    found = [
        *(Proposal(text, 1.0) for text in turned_counts(articles)),
        *(Proposal(text, 0.9) for text in turned_times(articles, topics)),
        *_money(topics, frames),
        *(
            replace(one, weight=one.weight + WIDELY_NAMED * len(topic.articles) / len(articles))
            for topic in central
            for one in _about(topic, frames)
        ),
        *_verbs(central, frames, at_least),
        *_moves(central, frames),
        *_affected(central, topics, frames),
    ]
    if any(one.text.startswith("Why did the ") for one in found):
        found = [one for one in found if not _NAMELESS_FAILURE.search(one.text)]
    best: dict[str, Proposal] = {}
    for one in sorted(found, key=lambda p: -p.weight):
        text = one.text[0].upper() + one.text[1:]
        if len(text.split()) <= MAX_WORDS:
            best.setdefault(text, Proposal(text, one.weight))
    return tuple(best.values())


class Frames:
    """The clauses of a cluster, by the topics that take part in them."""

    def __init__(self, articles: Sequence[Parsed], topics: Sequence[Topic]) -> None:
        self._topics = topics
        self.by_subject: dict[Topic, list[tuple[int, Clause]]] = defaultdict(list)
        self.by_object: dict[Topic, list[tuple[int, Clause]]] = defaultdict(list)
        self.articles = articles
        for number, sentences in enumerate(articles):
            for clause in (clause for sentence in sentences for clause in sentence.clauses):
                subject = None if clause.passive else self.topic_of(clause.subject)
                if subject is not None:
                    self.by_subject[subject].append((number, clause))
                for topic in filter(None, map(self.topic_of, clause.patients)):
                    self.by_object[topic].append((number, clause))

    def topic_of(self, token: Token | None) -> Topic | None:
        """Return the first topic that `token` names."""
        if token is None or token.pos_ not in ("NOUN", "PROPN"):
            return None
        term = term_of(token)
        return next((topic for topic in self._topics if same_term(topic.term, term)), None)

    def sorts_led_by(self, topic: Topic) -> frozenset[str]:
        """Return the names of the sorts of events of which `topic` is the most widely named."""
        sorts = {"accident": lex.ACCIDENTS, "act": lex.ACTS, "process": lex.PROCESSES}
        plain = [t for t in self._topics if not (t.term.name or t.agent)]
        leaders = {
            sort: next((t for t in plain if t.term.head in heads), None)
            for sort, heads in sorts.items()
        }
        act = leaders["act"]
        if act is not None and act.term.head in lex.PROCESSES:  # a strike, not its dispute
            leaders["process"] = act
        return frozenset(sort for sort, leader in leaders.items() if leader is topic)

    def in_doubt(self, topic: Topic) -> int:
        """Return how many articles speak of `topic` as something that may or may not come."""
        return sum(
            any(
                sentence.lemmas & lex.LIKELY_WORDS and any(self.topic_of(t) is topic for t in doc)
                for sentence in sentences
                for doc in [sentence.doc]
            )
            for sentences in self.articles
        )

    def share(self, topic: Topic, mood: str) -> float:
        """Return the share of a topic's clauses that are in `mood`."""
        held = self.by_subject.get(topic, []) + self.by_object.get(topic, [])
        return sum(mood in clause.modality for _, clause in held) / len(held) if held else 0.0


def _about(topic: Topic, frames: Frames) -> Iterator[Proposal]:
    """Yield the fixed forms that make sense of `topic`."""
    phrase, head = topic.phrase, topic.term.head
    if topic.term.name or topic.agent:
        if topic.agent and not topic.plural:
            yield Proposal(f"What should {phrase} do?", 0.6)
            yield Proposal(f"What will {phrase} do next?", 0.55)
            yield Proposal(f"What {_do(topic, frames)} {phrase} say?", SAY_WEIGHT)
        return
    if _may_come(topic, frames):
        phrase = phrase if topic.single else f"a {head}"
        yield Proposal(f"How likely is {phrase}?", 0.9)
        yield Proposal(f"What could cause {phrase}?", 0.9)
        yield Proposal(f"What effect would {phrase} have?", 0.75)
        return
    yield from _event_forms(topic, frames.sorts_led_by(topic))
    if head in lex.ASKED_LEVELS:
        are = "are" if topic.plural else "is"
        yield Proposal(f"How high {are} {phrase}?", 0.6)
        if head in lex.TROUBLES:
            yield Proposal(f"What is causing {phrase}?", 0.8)
        yield Proposal(f"What is expected to happen to {phrase}?", 0.7)
    if head in lex.SITES:
        yield Proposal(f"What will happen to {phrase}?", 0.65)


def _may_come(topic: Topic, frames: Frames) -> bool:
    return topic.term.head in lex.POSSIBLE_EVENTS and frames.in_doubt(topic) >= 2


def _event_forms(topic: Topic, first: frozenset[str]) -> Iterator[Proposal]:
    """Yield what is asked of events; of each sort only the one that is most widely named."""
    head = topic.term.head
    phrase = _the(topic) if topic.single else topic.phrase
    if "accident" in first:
        yield Proposal(f"What caused {phrase}?", 1.0)
        yield Proposal(f"Who is to blame for {phrase}?", 0.9)
    if "act" in first:
        yield Proposal(f"What do people think of {phrase}?", 0.8)
        yield Proposal(f"What effect will {phrase} have?", 0.75)
    if first and head in lex.MOTIVATED:
        yield Proposal(f"What is behind {phrase}?", 0.9)
    if "process" in first:
        yield Proposal(f"How long will {phrase} last?", 0.95)
        yield Proposal(f"How should {phrase} be ended?", 0.85)
        yield Proposal(f"How will {phrase} end?", 0.7)
    if first & {"accident", "process"}:
        yield Proposal(f"What should be done about {phrase}?", 0.75)
    if head in lex.PROPOSALS:
        yield Proposal(f"What will happen to {phrase}?", 0.6)


def _do(topic: Topic, frames: Frames) -> str:
    if frames.share(topic, "past") > frames.share(topic, "future"):
        return "did"
    return "do" if topic.plural else "does"


def _money(topics: Sequence[Topic], frames: Frames) -> Iterator[Proposal]:
    """Yield "How much will the repairs cost?" for what the articles say costs money."""
    costing: dict[Topic, set[int]] = defaultdict(set)
    for topic in topics:
        for number, clause in frames.by_subject.get(topic, []):
            if clause.lemma == "cost" and not topic.agent:
                costing[topic].add(number)
        head = topic.term.head
        if head in lex.MONEY_HEADS:
            yield Proposal(f"How large {'are' if topic.plural else 'is'} {_the(topic)}?", 0.8)
        elif head in lex.COSTLY and topic.articles:
            costing[topic] |= set(topic.articles)
    for topic, numbers in costing.items():
        if len(numbers) >= 2 and not topic.agent:
            yield Proposal(f"How much will {_the(topic)} cost?", 0.95)


def _the(topic: Topic) -> str:
    if topic.term.name or topic.phrase.startswith("the "):
        return topic.phrase
    return f"the {topic.phrase.removeprefix('an ').removeprefix('a ')}"


def _verbs(central: Sequence[Topic], frames: Frames, at_least: int) -> Iterator[Proposal]:
    """Yield "Why did the spillway fail?" where the failure is widely told, and once of what."""
    tellers: set[int] = set()
    verbs: dict[Topic, Counter[str]] = defaultdict(Counter)
    for number, topic, lemma in _failures(frames):
        tellers.add(number)
        if topic in central[:3] and topic is not None and _is_thing(topic):
            verbs[topic][lemma] += 1
    if len(tellers) < at_least or not verbs:
        return
    topic = max(verbs, key=lambda t: (verbs[t].total(), len(t.articles)))
    lemma = min(verbs[topic], key=lambda v: (-verbs[topic][v], v))
    yield Proposal(f"Why did {_the(topic)} {lemma}?", 1.0)
    yield Proposal(f"Who is to blame for the failure of {_the(topic)}?", 0.9)


_PLAIN_MOVES = {lex.RISE: "rise", lex.FALL: "fall"}
"""The plainest of the verbs that stand for one another."""


def _is_thing(topic: Topic) -> bool:
    return not (topic.agent or topic.term.name or topic.term.head in lex.LEVELS)


def _moves(central: Sequence[Topic], frames: Frames) -> Iterator[Proposal]:
    """Yield "How much did shares fall?" for what goes up or down by an amount."""
    for topic in (t for t in central if t.term.head in lex.LEVELS):
        moves = [
            (number, clause)
            for number, clause in frames.by_subject.get(topic, [])
            if clause.lemma in lex.MOVE_VERBS and any(t.like_num for t in clause.verb.subtree)
        ]
        verbs = Counter(_PLAIN_MOVES.get(clause.key, clause.lemma) for _, clause in moves)
        if len({number for number, _ in moves}) >= 2:
            lemma = min(verbs, key=lambda v: (-verbs[v], v))
            yield Proposal(f"How much did {topic.phrase} {lemma}?", 0.85)


def _failures(frames: Frames) -> Iterator[tuple[int, Topic | None, str]]:
    """Yield (article, topic, verb) for what fails: "it collapsed", "the failure of the spillway".

    The topic is None where it is not told, or is none.
    """
    for number, sentences in enumerate(frames.articles):
        for token in (t for s in sentences for t in s.doc if t.lemma_.lower() in lex.FAILURES):
            inside = [c for c in token.lefts if c.dep_ == "compound"] + _of(token)
            topics = list(filter(None, map(frames.topic_of, inside)))
            yield number, topics[0] if topics else None, lex.FAILURES[token.lemma_.lower()]
        for clause in (c for s in sentences for c in s.clauses):
            if clause.lemma in lex.FAIL_VERBS and not clause.modality & {"future", "negated"}:
                subject = clause.subject
                parts = [] if subject is None else [subject, *_of(subject)]
                for topic in filter(None, map(frames.topic_of, parts)):
                    yield number, topic, clause.lemma


def _of(noun: Token) -> list[Token]:
    return [c for p in noun.rights if p.lower_ == "of" for c in p.children if c.dep_ == "pobj"]


def _affected(
    central: Sequence[Topic], topics: Sequence[Topic], frames: Frames
) -> Iterator[Proposal]:
    """Yield "How has the strike affected businesses?" for the events most spoken of."""
    for event in central:
        if not frames.sorts_led_by(event) or _may_come(event, frames):
            continue
        have = "have" if event.plural else "has"
        tense = "will" if frames.share(event, "future") > 0.5 else have
        verb = "affect" if tense == "will" else "affected"
        for group in topics:
            often = 4 * len(group.articles) >= len(frames.articles)
            if (
                often
                and group.term.head in lex.AFFECTED_GROUPS
                and group.plural
                and not group.term.name
            ):
                group_name = group.phrase.removeprefix("the ")
                yield Proposal(f"How {tense} {_the(event)} {verb} {group_name}?", 0.8)
