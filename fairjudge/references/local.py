"""References without an LLM, by round trip: a question stays where a reader finds its answers.

Clauses of the articles suggest questions, and where they answer them (`forms`). A trained reader
reads these sentences, and the nearest others that name whom and what a question is about; an answer
counts where the reader is sure of it and finds it where the clause has it. Questions stay that
enough articles answer, and on which a trained model sees two answers that are not the same.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fairjudge.domain import Answer, Article
from fairjudge.ports import Embedder, Reading, TrainedModels
from fairjudge.references.consolidation import SAME
from fairjudge.references.forms import NAMED_AS, SAID_OF, UNITS, Key, Kind, Proposal, proposals
from fairjudge.references.phrases import head_key
from fairjudge.references.syntax import Sentence, is_count, parse
from fairjudge.text.particulars import numbers_in
from fairjudge.text.scripts import count_words
from fairjudge.text.sentences import is_question, news_sentences
from fairjudge.text.tokens import words
from fairjudge.text.usable import usable

if TYPE_CHECKING:
    from spacy.tokens import Token

MIN_SHARE = 0.3
"""Share of the sources that must answer a valid question (DiverseSumm, section 3.1)."""
SURE = 0.5
"""P(the sentence answers the question), by the reader, from which a clause's answer counts."""
VERY_SURE = 0.9
"""The same where no clause says so, and no number tells that it is of the kind asked for."""
NEAREST = 2
"""Sentences of an article that are read beside those whose clauses answer."""
MAX_QUESTION_WORDS = 14
"""The longest question (DiverseSumm, question generation prompt)."""
MAX_ANSWER_WORDS = 40
MAX_REPEATED = 0.6
"""Share of a question's sentences that a better question may rest on as well."""
MAX_COMPARED, MAX_PAIRS, PAIRS_AT_ONCE = 512, 256, 16
"""Answers to a question that are compared, pairs of them that are read, and those read at once."""
SHOWN = 5
"""Questions named of those that were tried, where none stays."""
_TELLING: Mapping[Kind, float] = {
    "number": 1.0, "cause": 0.9, "described": 0.9, "said": 0.8, "outlook": 0.7,
    "who": 0.6, "what": 0.6, "time": 0.5, "place": 0.4,
}  # fmt: skip
_PEOPLE = frozenset(("people", "person", "resident", "civilian", "villager", "passenger"))
"""Words that count the same."""
ONE_TOPIC = 0.7
"""Cosine of two common nouns from which they name one topic, such as "audio" and "recording"."""
_SAID_BY_ANYONE = 0.2
"""What "What was said about ...?" is worth beside questions that name who said it."""


_Answers: TypeAlias = dict[str, tuple[Answer, ...]]
"""Questions with what articles answer, the best first."""


@dataclass(frozen=True, slots=True)
class _Found:
    """An answer: characters of the sentence at a place, and who says it."""

    place: int
    start: int
    end: int
    speaker: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    """A question that clauses suggest; each stands in the sentence at its place."""

    question: str
    kind: Kind
    key: Key
    by_clause: tuple[tuple[int, Proposal], ...]

    def at(self, place: int) -> list[Proposal]:
        return [clause for other, clause in self.by_clause if other == place]

    def asked(self, place: int) -> str:
        """Return what a reader is asked of a sentence."""
        return next((clause.exactly for clause in self.at(place)), "") or self.question


@dataclass(frozen=True, slots=True)
class _Cluster:
    """The sentences of a cluster in order, and the article that each is of."""

    sentences: tuple[Sentence, ...]
    aids: tuple[str, ...]
    n_articles: int
    topics: Mapping[str, str]

    def sources(self, places: Iterable[int]) -> set[str]:
        return {self.aids[place] for place in places}

    def answer(self, one: _Found) -> Answer:
        sentence = self.sentences[one.place].text
        span = sentence[one.start : one.end]
        more = {"speaker": one.speaker, "gloss": sentence if sentence != span else None}
        known = {name: value for name, value in more.items() if value}
        return Answer(aid=self.aids[one.place], answer=span, **known)


def _at_least(n_articles: int) -> int:
    """Return how many articles must answer a question."""
    return max(2, math.ceil(MIN_SHARE * n_articles))


@dataclass(slots=True)
class LocalReferences:
    """Questions and answers for clusters, without an LLM.

    What was worked out of a cluster is kept for as long as the object lives. Not safe for several
    threads.
    """

    embedder: Embedder
    models: TrainedModels
    _known: dict[tuple[tuple[str, str], ...], tuple[_Answers, _Answers]] = field(
        default_factory=dict
    )

    def generate_questions(
        self, articles: Sequence[Article], *, n_questions: int = 20
    ) -> tuple[str, ...]:
        """Return up to `n_questions` questions on a cluster, the best first.

        Where none would stay, some that too few articles answer, to say what was tried.
        """
        kept, tried = self._questions(articles)
        return tuple(kept)[:n_questions] or tuple(tried)

    def answer_question(
        self, question: str, article: Article, *, cluster: Sequence[Article]
    ) -> tuple[Answer, ...]:
        """Return what `article`, one of `cluster`, answers, word for word; often nothing.

        Only questions that `generate_questions` returns have answers.
        """
        kept, tried = self._questions(cluster)
        found = kept.get(question) or tried.get(question, ())
        return tuple(one for one in found if one.aid == article.aid)

    def _questions(self, articles: Sequence[Article]) -> tuple[_Answers, _Answers]:
        """Return the questions that stay, and the first of those that too few articles answer."""
        key = tuple((article.aid, article.content) for article in articles)
        if key not in self._known:
            kept, _ = usable(articles)
            self._known[key] = self._worked_out(kept) if len(kept) > 1 else ({}, {})
        return self._known[key]

    def _worked_out(self, articles: Sequence[Article]) -> tuple[_Answers, _Answers]:
        cluster = self._read_cluster(articles)
        candidates = _candidates(cluster)
        others = [_other_places(candidate, cluster) for candidate in candidates]
        vectors = self._vectors(cluster, candidates, others)
        answered = self._answers(candidates, others, cluster, vectors)
        valued: list[tuple[float, _Candidate, tuple[_Found, ...]]] = []
        vain: list[tuple[int, str, tuple[_Found, ...]]] = []
        for candidate, found in zip(candidates, answered, strict=True):
            n_sources = len(cluster.sources(one.place for one in found))
            if n_sources < _at_least(cluster.n_articles):
                vain.append((-n_sources, candidate.question, found))
            elif self._differ(candidate, found, cluster, vectors):
                share = n_sources / cluster.n_articles
                vague = candidate.key[0] == SAID_OF
                telling = _SAID_BY_ANYONE if vague else _TELLING[candidate.kind]
                valued.append((telling + share, candidate, found))
        valued.sort(key=lambda one: (-one[0], one[1].question))
        vain.sort(key=lambda one: one[:2])
        kept = _without_repeats(valued)
        return (
            {question: tuple(map(cluster.answer, found)) for question, found in kept.items()},
            {question: tuple(map(cluster.answer, found)) for _, question, found in vain[:SHOWN]},
        )

    def _read_cluster(self, articles: Sequence[Article]) -> _Cluster:
        texts = [
            [news_sentence.text for news_sentence in news_sentences(article.content)]
            for article in articles
        ]
        parsed = [parse(some) for some in texts]
        return _Cluster(
            sentences=tuple(sentence for some in parsed for sentence in some),
            aids=tuple(one.aid for one, some in zip(articles, parsed, strict=True) for _ in some),
            n_articles=len(articles),
            topics=topics_of(parsed, self.embedder),
        )

    def _vectors(
        self,
        cluster: _Cluster,
        candidates: Sequence[_Candidate],
        others: Sequence[Sequence[int]],
    ) -> NDArray[np.float32]:
        """Return a vector a sentence; zeros for those that are not compared with anything."""
        by_clause = {place for candidate in candidates for place, _ in candidate.by_clause}
        compared = sorted(by_clause.union(*others))
        if not compared:
            return np.zeros((len(cluster.sentences), 1), dtype=np.float32)
        found = self.embedder.embed([cluster.sentences[place].text for place in compared])
        vectors = np.zeros((len(cluster.sentences), found.shape[1]), dtype=np.float32)
        vectors[compared] = found
        return vectors

    def _answers(
        self,
        candidates: Sequence[_Candidate],
        others: Sequence[Sequence[int]],
        cluster: _Cluster,
        vectors: NDArray[np.float32],
    ) -> list[tuple[_Found, ...]]:
        """Return what the reader confirms or finds of each candidate."""
        if not candidates:
            return []
        questions = self.embedder.embed([one.question for one in candidates])
        asked = [
            (candidate, place)
            for candidate, beside, question in zip(candidates, others, questions, strict=True)
            for places in [_places(candidate, cluster, beside, vectors[beside] @ question)]
            if len(cluster.sources(places)) >= _at_least(cluster.n_articles)
            for place in places
        ]
        texts = [(one.asked(place), cluster.sentences[place].text) for one, place in asked]
        found: dict[str, list[_Found]] = defaultdict(list)
        for (candidate, place), reading in zip(asked, self.models.read(texts), strict=True):
            one = _accepted(candidate, place, reading, cluster.sentences[place])
            found[candidate.question].extend([one] if one else [])
        return [tuple(found[one.question]) for one in candidates]

    def _differ(
        self,
        candidate: _Candidate,
        found: Sequence[_Found],
        cluster: _Cluster,
        vectors: NDArray[np.float32],
    ) -> bool:
        """Whether two of the answers are not the same, or have other numbers."""
        spans = [cluster.sentences[one.place].text[one.start : one.end] for one in found]
        if candidate.kind == "number":
            return len({numbers_in(span) for span in spans}) > 1
        places = {span: one.place for span, one in zip(spans, found, strict=True)}
        pairs = _most_unlike(list(places), vectors[list(places.values())])
        asked = [(candidate.question, one, other) for one, other in pairs]
        return any(
            (self.models.same_answer(asked[start : start + PAIRS_AT_ONCE]) < SAME).any()
            for start in range(0, len(asked), PAIRS_AT_ONCE)
        )


def _most_unlike(spans: Sequence[str], vectors: NDArray[np.float32]) -> list[tuple[str, str]]:
    """Return the pairs of answers that may differ, those of the most unlike sentences first.

    Of very many answers as many as `MAX_COMPARED` are taken, spread evenly. Where one holds all
    words of the other, the two do not differ.
    """
    taken = list(range(0, len(spans), max(1, -(-len(spans) // MAX_COMPARED))))
    worded = [frozenset(words(spans[place])) for place in taken]
    first, second = np.triu_indices(len(taken), 1)
    likeness = (vectors[taken] @ vectors[taken].T)[first, second]
    order = np.argsort(likeness, kind="stable")
    unlike = (
        (spans[taken[i]], spans[taken[j]])
        for i, j in zip(first[order].tolist(), second[order].tolist(), strict=True)
        if not (worded[i] <= worded[j] or worded[j] <= worded[i])
    )
    return list(islice(unlike, MAX_PAIRS))


def _candidates(cluster: _Cluster) -> list[_Candidate]:
    """Return a candidate a key that clauses of two articles answer and one has words for."""
    by_key: dict[Key, list[tuple[int, Proposal]]] = defaultdict(list)
    for place, sentence in enumerate(cluster.sentences):
        if not is_question(sentence.text):
            for proposal in proposals(sentence, cluster.topics):
                by_key[proposal.key].append((place, proposal))
    candidates: dict[str, _Candidate] = {}
    for key, some in by_key.items():
        wordings = Counter(one.question for _, one in some if one.question)
        fewest = 1 if key[0] == "count" and not UNITS & set(key) else 2
        if len(cluster.sources(place for place, _ in some)) < fewest or not wordings:
            continue
        question = min(wordings, key=lambda text: (-wordings[text], len(text), text))
        if count_words(question) <= MAX_QUESTION_WORDS:
            candidate = _Candidate(
                question=question, kind=some[0][1].kind, key=key, by_clause=tuple(some)
            )
            candidates.setdefault(question, candidate)
    return list(candidates.values())


def topics_of(parsed: Sequence[Sequence[Sentence]], embedder: Embedder) -> dict[str, str]:
    """Return the topic that each head of subjects and objects names, of those in enough articles.

    A topic is named by its commonest noun; common nouns of like meaning name the same one.
    """
    named: dict[str, set[int]] = defaultdict(set)
    common: set[str] = set()
    for article, sentences in enumerate(parsed):
        for token in (token for sentence in sentences for token in sentence.doc):
            if token.pos_ in ("NOUN", "PROPN") and token.dep_ in NAMED_AS:
                named[head_key(token)].add(article)
                if token.pos_ == "NOUN":
                    common.add(head_key(token))
    by_share = sorted(named, key=lambda word: (-len(named[word]), word))
    alike = [word for word in by_share if word in common and len(named[word]) > 1]
    vectors = embedder.embed(alike) if alike else np.zeros((0, 1), dtype=np.float32)
    topic: dict[str, str] = {}
    for word, near in zip(alike, vectors @ vectors.T >= ONE_TOPIC, strict=True):
        if word not in topic:
            for other in np.flatnonzero(near).tolist():
                topic.setdefault(alike[other], word)
    members: dict[str, set[int]] = defaultdict(set)
    for word in by_share:
        members[topic.setdefault(word, word)] |= named[word]
    enough = _at_least(len(parsed))
    return {word: name for word, name in topic.items() if len(members[name]) >= enough}


def _other_places(candidate: _Candidate, cluster: _Cluster) -> list[int]:
    """Return the sentences that may answer though none of their clauses does."""
    by_clause = {place for place, _ in candidate.by_clause}
    return [
        place
        for place, sentence in enumerate(cluster.sentences)
        if _may_answer(candidate, sentence) and place not in by_clause
    ]


def _places(
    candidate: _Candidate,
    cluster: _Cluster,
    others: Sequence[int],
    closeness: NDArray[np.float32],
) -> list[int]:
    """Return the sentences to read: those of clauses, and in each article the nearest `others`."""
    chosen = dict.fromkeys(place for place, _ in candidate.by_clause)
    n_read: Counter[str] = Counter()
    for nearest in np.argsort(-closeness, kind="stable").tolist():
        article = cluster.aids[others[nearest]]
        if n_read[article] < NEAREST:
            n_read[article] += 1
            chosen[others[nearest]] = None
    return list(chosen)


def _may_answer(candidate: _Candidate, sentence: Sentence) -> bool:
    """Whether a sentence whose clauses do not answer is of the kind asked for, and names it."""
    kind, key = candidate.kind, candidate.key
    if key[0] == "count":
        return any(_counts(number, key[1]) for number in sentence.counts)
    return kind == "time" and sentence.timed and set(key[1:]) <= sentence.keys


def _counts(number: Token, noun: str) -> bool:
    """Whether a number counts what `noun` names; "one" is a pronoun, but for "not one tram"."""
    before = number.nbor(-1).lower_ if number.i else ""
    if noun in UNITS or before == "of" or (number.lower_ == "one" and before != "not"):
        return False
    return head_key(number.head) == noun or {noun, head_key(number.head)} <= _PEOPLE


def _accepted(
    candidate: _Candidate, place: int, reading: Reading, sentence: Sentence
) -> _Found | None:
    """Return the answer in a sentence: the clause's where the reader points at it, or its own."""
    by_clause = candidate.at(place)
    for clause in by_clause:
        start, end = clause.span
        if reading.answered >= SURE and reading.start < end and start < reading.end:
            return _Found(place, start, end, clause.speaker)
    if by_clause or reading.answered < (SURE if candidate.kind == "number" else VERY_SURE):
        return None
    fits = _fits(candidate, sentence, reading.start, reading.end)
    return _Found(place, reading.start, reading.end) if fits else None


def _fits(candidate: _Candidate, sentence: Sentence, start: int, end: int) -> bool:
    """Whether characters of a sentence are of the kind that is asked for."""
    tokens = [t for t in sentence.doc if start <= t.idx and t.idx + len(t) <= end]
    if not tokens or len(tokens) > MAX_ANSWER_WORDS:
        return False
    if candidate.kind == "number":
        return any(is_count(t) and _counts(t, candidate.key[1]) for t in tokens)
    return any(t.ent_type_ in ("DATE", "TIME") for t in tokens)


def _without_repeats(
    valued: Sequence[tuple[float, _Candidate, tuple[_Found, ...]]],
) -> dict[str, tuple[_Found, ...]]:
    """Take the best first; leave out what rests on the sentences of a question taken before."""
    chosen: dict[str, tuple[_Found, ...]] = {}
    for _, candidate, found in valued:
        cited = {one.place for one in found}
        others = [{one.place for one in some} for some in chosen.values()]
        shares = (len(cited & some) / min(len(cited), len(some)) for some in others)
        if all(share <= MAX_REPEATED for share in shares):
            chosen[candidate.question] = found
    return chosen
