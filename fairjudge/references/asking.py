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
        *_count_questions(frames, articles, at_least),
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
        self.by_patient: dict[Topic, list[tuple[int, Clause]]] = defaultdict(list)
        self.participles: dict[str, Counter[str]] = defaultdict(Counter)
        for number, sentences in enumerate(articles):
            for sentence in sentences:
                for clause in sentence.clauses:
                    self._add(number, clause)

    def _add(self, number: int, clause: Clause) -> None:
        if clause.verb.tag_ == "VBN":
            self.participles[clause.key][clause.verb.lower_] += 1
        if not clause.passive:
            subject = self.topic_of(clause.subject)
            if subject is not None:
                self.by_subject[subject].append((number, clause))
        for patient in clause.patients:
            topic = self.topic_of(patient)
            if topic is not None and patient.dep_ in ("dobj", "nsubjpass"):
                self.by_patient[topic].append((number, clause))

    def topic_of(self, token: Token | None) -> Topic | None:
        """Return the first topic that `token` names."""
        if token is None or token.pos_ not in ("NOUN", "PROPN"):
            return None
        return next((topic for topic in self.topics if refers(topic.term, token)), None)

    def share(self, topic: Topic, mood: str) -> float:
        """Return the share of a topic's clauses that are in `mood`."""
        held = self.by_subject.get(topic, []) + self.by_patient.get(topic, [])
        return sum(mood in clause.modality for _, clause in held) / len(held) if held else 0.0

    def participle(self, key: str, lemma: str) -> str:
        """Return a verb's past participle: as the cluster writes it, or by rule."""
        seen = self.participles.get(key)
        if seen:
            return min(seen, key=lambda word: (-seen[word], word))
        if lemma in lex.IRREGULAR_PARTICIPLES:
            return lex.IRREGULAR_PARTICIPLES[lemma]
        if lemma.endswith("y") and lemma[-2:-1] not in tuple("aeiou"):
            return lemma[:-1] + "ied"
        return lemma + ("d" if lemma.endswith("e") else "ed")


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
        return
    yield f"What caused {phrase}?" if past else f"What is causing {phrase}?"
    yield f"What effect {do} {phrase} have?"
    yield f"What should happen to {phrase}?"
    yield f"What is expected to happen to {phrase}?"
    yield f"What {'did' if past else 'do'} people think of {phrase}?"
    if topic.term.head in lex.LEVEL_NOUNS:
        yield f"How high {are} {phrase}?"
    elif topic.term.head in _MONEY:
        article = "" if topic.plural or phrase.startswith("the ") else "the "
        yield f"How large {are} {article}{phrase}?"


_MONEY = frozenset(map(lex.canonical, lex.MONEY_NOUNS))


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


def _count_questions(frames: _Frames, articles: Sequence[Parsed], at_least: int) -> Iterator[str]:
    """Yield "How many people were injured?" for counts that several articles give."""
    uses: dict[tuple[str, str], list[tuple[int, Clause, str]]] = defaultdict(list)
    for number, clause, noun, plain in _counts(articles):
        head = "people" if noun in lex.PEOPLE else lex.canonical(noun)
        uses[(head, clause.key)].append((number, clause, plain))
    for (head, key), held in uses.items():
        if len({number for number, _, _ in held}) < at_least:
            continue
        nouns = Counter(plain for _, _, plain in held)
        plain = (
            "people"
            if head == "people" and len(nouns) > 1
            else min(nouns, key=lambda n: (-nouns[n], n))
        )
        clauses = [clause for _, clause, _ in held]
        be = (
            "will be" if sum("future" in c.modality for c in clauses) * 2 > len(clauses) else "were"
        )
        yield f"How many {plain} {be} {frames.participle(key, clauses[0].lemma)}?"


def _counts(articles: Sequence[Parsed]) -> Iterator[tuple[int, Clause, str, str]]:
    """Yield (article, clause, lemma, noun) for every number of things that a verb acts on."""
    for position, sentences in enumerate(articles):
        for sentence in sentences:
            if not sentence.numbers:
                continue
            for clause in sentence.clauses:
                for noun in clause.patients:
                    if noun.lemma_.lower() in lex.UNITS:
                        continue
                    if is_count(noun) and clause.passive:
                        yield position, clause, "people", "people"
                    elif any(is_count(c) and counted_noun(c) == noun for c in noun.lefts):
                        yield position, clause, noun.lemma_.lower(), noun.lower_


def _frame_questions(frames: _Frames, at_least: int) -> Iterator[str]:
    for topic in frames.topics:
        for key, active, passive in _by_verb(topic, frames):
            articles = {number for number, _ in (*active, *passive)}
            if key in ("have", "do", "say") or len(articles) < at_least:
                continue
            if key == "be":
                yield from _copula_questions(topic, [c for _, c in active], frames)
            elif len(active) >= len(passive):
                yield from _active_questions(topic, [c for _, c in active], frames)
            else:
                yield from _passive_questions(topic, [c for _, c in passive], frames)


_Held = list[tuple[int, Clause]]


def _by_verb(topic: Topic, frames: _Frames) -> Iterator[tuple[str, _Held, _Held]]:
    active: dict[str, _Held] = defaultdict(list)
    passive: dict[str, _Held] = defaultdict(list)
    for number, clause in frames.by_subject.get(topic, []):
        active[clause.key].append((number, clause))
    for number, clause in frames.by_patient.get(topic, []):
        passive[clause.key].append((number, clause))
    for key in dict.fromkeys((*active, *passive)):
        yield key, active.get(key, []), passive.get(key, [])


def _active_questions(topic: Topic, clauses: Sequence[Clause], frames: _Frames) -> Iterator[str]:
    lemma = Counter(clause.lemma for clause in clauses).most_common(1)[0][0]
    auxiliary = _auxiliary(topic, clauses)
    core = f"{auxiliary} {topic.phrase} {lemma}"
    if lemma in lex.MOVE_VERBS:
        yield f"How much {core}?"
    if lemma in lex.PROMISE_VERBS and topic.agent:
        yield f"What {core}?"
    tail = _usual_object(clauses, frames)
    if tail is not None:
        whole = f"{core} {tail}".strip()
        yield from (f"Why {whole}?", f"When {_foreseen(whole)}?")
        if _is_open(clauses):
            yield f"{whole}?"


def _passive_questions(topic: Topic, clauses: Sequence[Clause], frames: _Frames) -> Iterator[str]:
    auxiliary = _auxiliary(topic, clauses)
    participle = frames.participle(clauses[0].key, clauses[0].lemma)
    if auxiliary in ("will", "should"):
        core = f"{auxiliary} {topic.phrase} be {participle}"
    else:
        past, present = ("were", "are") if topic.plural else ("was", "is")
        core = f"{past if auxiliary == 'did' else present} {topic.phrase} {participle}"
    yield from (f"Why {core}?", f"When {_foreseen(core)}?")
    if _is_open(clauses):
        yield f"{core}?"


def _foreseen(core: str) -> str:
    """Ask when something will be, where the articles say when it should."""
    return "will" + core.removeprefix("should") if core.startswith("should ") else core


def _is_open(clauses: Sequence[Clause]) -> bool:
    """Whether the clauses disagree, or speak of what is still to come."""
    unsettled = sum(bool(c.modality & {"future", "duty", "negated"}) for c in clauses)
    return unsettled * 4 >= len(clauses)


def _copula_questions(topic: Topic, clauses: Sequence[Clause], frames: _Frames) -> Iterator[str]:
    past = sum("past" in c.modality for c in clauses) * 2 > len(clauses)
    be = ("were" if topic.plural else "was") if past else ("are" if topic.plural else "is")
    complements: Counter[str] = Counter()
    for clause in clauses:
        for token in clause.objects:
            other = frames.topic_of(token)
            if token.dep_ == "acomp":
                complements[token.lower_] += 1
            elif other is not None and other is not topic:
                complements[other.phrase] += 1
        for prep, noun in clause.obliques:
            other = frames.topic_of(noun)
            if other is not None and other is not topic and noun.head.head == clause.verb:
                complements[f"{prep} {other.phrase}"] += 1
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


def _usual_object(clauses: Sequence[Clause], frames: _Frames) -> str | None:
    """Return the object that most clauses share; "" where the verb takes none, None if unclear."""
    objects = [[t for t in c.objects if t.dep_ == "dobj"] for c in clauses]
    complete = sum(not some and _stands_alone(c) for c, some in zip(clauses, objects, strict=True))
    if complete * 2 > len(clauses):
        return ""
    tails = Counter(
        other.phrase
        for some in objects
        for other in [frames.topic_of(noun) for noun in some]
        if other is not None
    )
    if not tails:
        return None
    words = min(tails, key=lambda phrase: (-tails[phrase], phrase))
    return words if tails[words] >= 2 else None


def _stands_alone(clause: Clause) -> bool:
    return not any(c.dep_ in ("ccomp", "xcomp", "prt", "acomp") for c in clause.verb.children)
