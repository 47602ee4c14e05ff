"""Questions about what is said, and about what may or should come, suggested by clauses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from fairjudge.references.forms import SAYING, Proposal, asking_clauses
from fairjudge.references.phrases import answer_span, head_key, phrase_of, predicate_span
from fairjudge.references.syntax import Clause, Sentence
from fairjudge.references.wording import ACTORS, MODALS, can_act, is_person, were

NAMED_AS = ("nsubj", "nsubjpass", "dobj", "pobj")
"""Parts of a clause that it is about."""
SAID_OF = "said of"
"""What keys of "What was said about ...?" begin with."""
_CALLING = frozenset(
    ("call", "describe", "label", "dub", "dismiss", "denounce", "characterize", "regard", "hail",
     "view", "portray", "brand", "deem", "see", "condemn", "criticize", "praise")
)  # fmt: skip


def spoken(sentence: Sentence, topics: Mapping[str, str]) -> Iterator[Proposal]:
    """Yield what a sentence says that people say of topics, call them, or expect of them.

    `topics` has the topic that each noun names.
    """
    for clause in sentence.clauses:
        yield from _reported(clause, topics)
    for clause in asking_clauses(sentence):
        yield from _descriptions(clause)
        yield from _outlook(clause)


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
            said = Proposal("said", by_them, question, span, speaker=who or None, exactly=question)
            yield said
            anyone = f"What was said about {about}?" if about else ""
            yield replace(said, key=(SAID_OF, topic_key), question=anyone)


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
