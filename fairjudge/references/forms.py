"""Questions that the clauses of a cluster suggest, each with where its clause holds an answer.

A clause with one part asked for is a question, and that part is its answer: "Six people were hurt"
answers "How many people were hurt?". Clauses of several articles that share verb and participants
answer the same question. A proposal is no more than that: a reader verifies it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from fairjudge.references.phrases import (
    ACTORS,
    MODALS,
    answer_span,
    can_act,
    clause_question,
    head_key,
    is_person,
    is_somebody,
    particle,
    phrase_of,
    predicate_span,
    question_verb,
    stands_alone,
    were,
)
from fairjudge.references.syntax import Clause, Sentence, is_count

if TYPE_CHECKING:
    from spacy.tokens import Token

Kind: TypeAlias = Literal[
    "number", "time", "place", "cause", "who", "what", "said", "described", "outlook"
]
Key: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Proposal:
    """A question, empty where the clause has no words for it, and the characters that answer it.

    Proposals with the same `key` ask the same. ``exactly`` is a narrower question that this clause
    answers too, which tells a reader more.
    """

    kind: Kind
    key: Key
    question: str
    span: tuple[int, int]
    speaker: str | None = None
    exactly: str = ""


SAYING = frozenset(
    ("say", "argue", "believe", "warn", "claim", "insist", "note", "state", "explain", "suggest",
     "report", "announce", "declare", "contend", "conclude", "maintain", "reveal", "indicate",
     "assert", "allege", "confirm", "acknowledge", "admit")
)  # fmt: skip
"""Verbs of those who hold what they say."""
_LIGHT = frozenset(
    ("be", "have", "do", "make", "take", "get", "give", "go", "come", "see", "know", "include",
     "put", "let", "keep", "become", "remain", "seem", "appear", "lead", "cause")
)  # fmt: skip
_CAUSING = frozenset(("cause", "trigger", "spark", "prompt", "provoke"))
MAX_MORE_WORDS = 5
UNITS = frozenset(
    ("dollar", "euro", "pound", "crown", "cent", "percent", "point", "time", "degree", "mile",
     "kilometre", "kilometer", "metre", "meter", "foot", "inch", "ton", "tonne", "acre", "hour",
     "minute", "second", "day", "week", "month", "year", "decade", "million", "billion")
)  # fmt: skip
"""Counted nouns that measure: what was measured is not told by them."""
_SIZE = re.compile(
    r"\w[\w,.]*[- ](?:foot|meter|metre|mile|inch|kilometer|kilometre)[- ]"
    r"(?P<how>wide|long|deep|tall|high)\b"
)
NAMED_AS = ("nsubj", "nsubjpass", "dobj", "pobj")
"""Parts of a clause that it is about."""
SAID_OF = "said of"
"""What keys of "What was said about ...?" begin with."""
_CALLING = frozenset(
    ("call", "describe", "label", "dub", "dismiss", "denounce", "characterize", "regard", "hail",
     "view", "portray", "brand", "deem", "see", "condemn", "criticize", "praise")
)  # fmt: skip


def proposals(sentence: Sentence, topics: Mapping[str, str]) -> Iterator[Proposal]:
    """Yield the questions that a sentence suggests and answers.

    Last what is said in it of topics, called them, or expected of them: `topics` has the topic that
    each noun names.
    """
    asking = list(_asking_clauses(sentence))
    yield from _sizes(sentence)
    for clause in asking:
        yield from _numbers(clause)
        yield from _adverbials(clause)
        yield from _participants(clause)
        yield from _reasons(clause)
        yield from _causes(clause)
    for clause in sentence.clauses:
        yield from _reported(clause, topics)
    for clause in asking:
        yield from _descriptions(clause)
        yield from _outlook(clause)


def _asking_clauses(sentence: Sentence) -> Iterator[Clause]:
    """Yield the clauses that can be asked about."""
    for clause in sentence.clauses:
        asks = clause.subject is not None and clause.subject.tag_ in ("WP", "WDT", "WRB")
        if not (clause.negated or asks or clause.verb.dep_ == "relcl"):
            yield clause


def _sizes(sentence: Sentence) -> Iterator[Proposal]:
    """Yield "How wide was the crater?" and "How much money was the contract worth?"."""
    doc = sentence.doc
    for found in _SIZE.finditer(doc.text):
        span = doc.char_span(*found.span(), alignment_mode="expand")
        if span is None:
            continue
        noun = span[-1].head
        if noun.tag_ == "NN" and noun.i >= span.end:
            question = f"How {found['how']} was the {noun.lower_}?"
            characters = (span.start_char, span.end_char)
            yield Proposal("number", ("size", found["how"], head_key(noun)), question, characters)
    for entity in doc.ents:
        noun = entity.root.head
        inside = entity.root.dep_ in ("nmod", "compound", "nummod", "amod")
        if entity.label_ == "MONEY" and inside and noun.tag_ == "NN" and noun.ent_type_ != "MONEY":
            question = f"How much money was the {noun.lower_} worth?"
            characters = (entity.start_char, entity.end_char)
            yield Proposal("number", ("sum", head_key(noun)), question, characters)


def _numbers(clause: Clause) -> Iterator[Proposal]:
    """Yield "How many people were hurt?" and "How many shops did the firm close?"."""
    counted = _counted_of(clause.subject)
    if counted is not None and clause.subject is not None:
        key = ("count", head_key(counted), clause.lemma)
        verb = f"{clause.verb.text}" if clause.lemma not in _LIGHT else ""
        be = next((c.lower_ for c in clause.verb.children if c.dep_ in ("aux", "auxpass")), "")
        question = f"How many {counted.lower_} {be} {verb}".replace("  ", " ") + "?" if verb else ""
        yield Proposal("number", key, question, answer_span(clause.subject))
    for noun in (clause.subject, *clause.objects):
        if noun is None or noun.tag_ != "NNS" or noun.ent_type_ in ("DATE", "TIME", "MONEY"):
            continue
        number = next((c for c in noun.lefts if is_count(c)), None)
        if number is not None:
            start = min(t.idx for t in number.subtree)
            key = ("count", head_key(noun), clause.lemma)
            yield Proposal("number", key, _how_many(noun, clause), (start, noun.idx + len(noun)))


def _counted_of(subject: Token | None) -> Token | None:
    """Return "trams" of "32 of its 190 trams"."""
    if subject is None or not is_count(subject):
        return None
    of = next((c for c in subject.rights if c.lower_ == "of"), None)
    return None if of is None else next((c for c in of.children if c.tag_ == "NNS"), None)


def _how_many(noun: Token, clause: Clause) -> str:
    verb = clause.verb
    if noun is clause.subject and clause.passive:
        more = _infinitive(verb)
        return "" if more is None else f"How many {noun.lower_} were {verb.text}{more}?"
    if noun is clause.subject:
        told = clause.lemma not in _LIGHT and verb.tag_ in ("VBD", "VBP")
        what = phrase_of(clause.objects[0]) if clause.objects else ""
        return f"How many {noun.lower_} {verb.text} {what}".strip() + "?" if told else ""
    aux, rest = question_verb(verb)
    who = "" if clause.subject is None else phrase_of(clause.subject)
    return f"How many {noun.lower_} {aux} {who} {rest}?" if aux and who else ""


def _infinitive(verb: Token) -> str | None:
    """Return " to leave their homes" of "were told to leave their homes"; None where it is long."""
    child = next((c for c in verb.children if c.dep_ == "xcomp"), None)
    if child is None:
        return ""
    start, end = answer_span(child)
    words = child.doc.text[start:end]
    return f" {words}" if len(words.split()) <= MAX_MORE_WORDS else None


def _adverbials(clause: Clause) -> Iterator[Proposal]:
    """Yield "When was the bill signed?" and "Where did the plane land?"."""
    subject = clause.subject
    if subject is None or clause.lemma in _LIGHT or clause.lemma in SAYING:
        return
    for child in clause.verb.children:
        kind = _adverbial(child)
        if kind is not None:
            question = clause_question("When" if kind == "time" else "Where", clause)
            start, end = min(t.idx for t in child.subtree), answer_span(child)[1]
            yield Proposal(kind, (kind, head_key(subject), clause.lemma), question, (start, end))


def _adverbial(child: Token) -> Kind | None:
    if child.dep_ == "npadvmod" and child.ent_type_ in ("DATE", "TIME"):
        return "time"
    noun = next((c for c in child.children if c.dep_ == "pobj"), None)
    if child.dep_ != "prep" or noun is None:
        return None
    if noun.ent_type_ in ("DATE", "TIME") and child.lower_ in ("on", "in", "at", "by"):
        return "time"
    if noun.ent_type_ in ("GPE", "LOC", "FAC") and child.lower_ in ("in", "at", "near", "on"):
        return "place"
    return None


def _participants(clause: Clause) -> Iterator[Proposal]:
    """Yield "Who denied the report?", "What did the court order?", "What did it refuse to do?"."""
    subject, verb = clause.subject, clause.verb
    if subject is None or clause.passive or clause.lemma in _LIGHT:
        return
    direct = [c for c in verb.children if c.dep_ == "dobj" and c.pos_ in ("NOUN", "PROPN")]
    if direct and is_somebody(subject):
        what = phrase_of(direct[0])
        told = (verb.tag_ == "VBD" or verb.text.endswith("ed")) and " " in what
        question = f"Who {verb.text}{particle(verb)} {what}?" if told else ""
        key = ("who", clause.lemma, head_key(direct[0]))
        yield Proposal("who", key, question, answer_span(subject))
    aux, rest = question_verb(verb)
    who = phrase_of(subject) if can_act(subject) and aux else ""
    called = any(c.dep_ == "oprd" for c in verb.children)
    if direct and not called and clause.lemma not in SAYING and stands_alone(direct[0]):
        word = "Whom" if is_person(direct[0]) else "What"
        question = f"{word} {aux} {who} {rest}?" if who else ""
        key = (word, head_key(subject), clause.lemma)
        yield Proposal("what", key, question, answer_span(direct[0]))
    infinitive = next((c for c in verb.children if c.dep_ == "xcomp" and c.tag_ == "VB"), None)
    if infinitive is not None and not direct:
        question = f"What {aux} {who} {rest} to do?" if who else ""
        key = ("to do", head_key(subject), clause.lemma)
        yield Proposal("what", key, question, answer_span(infinitive))


def _reasons(clause: Clause) -> Iterator[Proposal]:
    """Yield "Why did the pier close?" for "because ...", "due to ...", "citing ..."."""
    reason = next((c for c in clause.verb.children if _is_reason(c)), None)
    if reason is not None and clause.subject is not None:
        cited = next((c for c in reason.children if c.dep_ == "dobj"), None)
        words = cited if reason.lemma_ == "cite" and cited is not None else reason
        key = ("why", head_key(clause.subject), clause.lemma)
        yield Proposal("cause", key, clause_question("Why", clause), answer_span(words))


def _is_reason(child: Token) -> bool:
    if child.dep_ == "advcl":
        marked = any(c.dep_ == "mark" and c.lower_ == "because" for c in child.children)
        return marked or child.lower_ == "citing"
    words = child.doc[child.left_edge.i : child.right_edge.i + 1].text.lower()
    return child.dep_ == "prep" and words.startswith(("because of", "due to", "owing to"))


def _causes(clause: Clause) -> Iterator[Proposal]:
    """Yield "What caused the fire?" and "What did the ban lead to?"."""
    effect, cause = _effect_and_cause(clause)
    if effect is None or cause is None:
        return
    if effect.pos_ == "NOUN" and stands_alone(cause):
        what = phrase_of(effect)
        question = f"What caused {what}?" if what else ""
        yield Proposal("cause", ("caused", head_key(effect)), question, answer_span(cause))
    if cause.pos_ in ("NOUN", "PROPN") and stands_alone(effect):
        who = phrase_of(cause)
        question = f"What did {who} lead to?" if who else ""
        yield Proposal("cause", ("led to", head_key(cause)), question, answer_span(effect))


def _effect_and_cause(clause: Clause) -> tuple[Token | None, Token | None]:
    patient = clause.patients[0] if clause.patients else None
    by_preposition = dict(reversed(clause.obliques))
    if clause.lemma in _CAUSING:
        return patient, clause.agent
    if clause.lemma in ("lead", "result") and not clause.passive:
        return by_preposition.get("to" if clause.lemma == "lead" else "in"), clause.subject
    if clause.lemma in ("blame", "attribute"):
        blamed = by_preposition.get("on" if clause.lemma == "blame" else "to")
        return (patient, blamed) if blamed is not None else (by_preposition.get("for"), patient)
    return None, None


def _reported(clause: Clause, topics: Mapping[str, str]) -> Iterator[Proposal]:
    """Yield "What did NASA say about the crater?", and "What was said about the crater?"."""
    speaker = clause.subject
    content = next((c for c in clause.verb.children if c.dep_ == "ccomp"), None)
    if clause.lemma not in SAYING or clause.negated or clause.passive:
        return
    if content is None or speaker is None:
        return
    if not (can_act(speaker) or speaker.lower_ in ("he", "she", "they")):
        return
    who, span = phrase_of(speaker), answer_span(content, leave_out=clause.verb)
    for topic in content.subtree:
        key = head_key(topic)
        if topic.dep_ in NAMED_AS and key in topics and key != head_key(speaker):
            about = phrase_of(topic)
            question = f"What did {who} say about {about}?" if who and about else ""
            topic_key = topics[key]
            by_them = ("said", head_key(speaker), topic_key)
            proposal = Proposal(
                "said", by_them, question, span, speaker=who or None, exactly=question
            )
            yield proposal
            anyone = f"What was said about {about}?" if about else ""
            yield replace(proposal, key=(SAID_OF, topic_key), question=anyone)


def _descriptions(clause: Clause) -> Iterator[Proposal]:
    """Yield "How was the story described?" for "called the story rubbish"."""
    if clause.lemma not in _CALLING or not clause.patients:
        return
    patient, children = clause.patients[0], list(clause.verb.children)
    named = [c for c in children if c.dep_ == "oprd"]
    named += [
        noun
        for c in children
        if c.dep_ == "prep" and c.lower_ == "as"
        for noun in c.children
        if noun.dep_ in ("pobj", "amod", "pcomp")
    ]
    if named and named[0].i != patient.i:
        what = phrase_of(patient)
        question = f"How {were(patient)} {what} described?" if what else ""
        key = ("described", head_key(patient))
        yield Proposal("described", key, question, answer_span(named[0]))


def _outlook(clause: Clause) -> Iterator[Proposal]:
    """Yield "What could the Fed do?", "What could happen to prices?", "What should France do?"."""
    subject = clause.subject
    if subject is None or subject.pos_ not in ("NOUN", "PROPN") or subject.head.i != clause.verb.i:
        return
    helpers = {c.lower_ for c in clause.verb.children if c.dep_ == "aux" and c.i > subject.i}
    if "have" in helpers or not helpers & MODALS:
        return
    who, acts = phrase_of(subject), is_person(subject) or subject.ent_type_ in ACTORS
    duty = bool(helpers & {"should", "must"})
    if clause.passive and (acts or duty):
        return
    if duty:
        name, question = "should", f"What should {who} do?"
    elif acts or clause.objects:
        name, question = "could", f"What could {who} do?"
    else:
        name, question = "could happen", f"What could happen to {who}?"
    span = predicate_span(clause.verb, subject)
    yield Proposal("outlook", (name, head_key(subject)), question if who else "", span)
