"""A verdict that is stated stands against whatever else the reply speaks of."""

# ruff: noqa: E501 - judges write long lines
from __future__ import annotations

import itertools

import pytest

from fairjudge.domain import Unscored
from fairjudge.parsing import read_verdict
from fairjudge.scales import Scale, binary, likert, options, pairwise

FIRST = (
    "Final score: {n} out of 5.",
    "Final score: {n}",
    "{A} score: {n}",
    "{A} score: {n}/5",
    "Final Score: {n}/5.",
    "**{A} Score: {n}**",
    "Score: {n}",
    "{A}: {n}/5",
    "Rating: {n} out of 5",
    "The {a} score for this summary is {n}.",
    "I would give this summary a {a} score of {n}.",
    "I would rate the {a} of this summary a {n} out of 5.",
    "Based on the criteria, I would assign a score of {n}.",
    "Final {a} score: {n}",
    "Overall {a} score: {n}/5",
    "My score: {n}",
    "Final score for {a}: {n}",
    "Final rating: {n} stars",
    "Total score: {n} out of 5",
)
"""How a reply states a score of `n` and goes on."""
REST = (
    "\n\nExplanation: The summary has 2 errors and 1 omission.",
    "\n\nHere's a breakdown of the score:\n\n1. Grammar: {m}/5\n2. Spelling: {k}/5\n3. Structure: {m}",
    "\n\n- Grammar score: {m}\n- Spelling score: {k}",
    "\n\n* Grammar: {m} out of 5\n* Style: {k} out of 5\n\nThe summary could be improved to achieve a perfect 5 out of 5.",
    " To achieve a perfect score of {k}, it would need to fix 2 sentences.",
    " It would be a {m} if it named the winner.",
    " What keeps it from a {k} is the missing name.",
    " It does not deserve a {m} because of that.",
    " The summary is well-written, but there is room for improvement to reach a {k}.",
    "\n\nThe summary loses points for: 1) missing commas, 2) run-on sentences, 3) typos.",
    " The match ended 3-1 and the striker scored {m} goals.",
    " A score of {m} would require more detail; a score of {k} fewer.",
    "\n\n1. The first sentence is fine.\n2. The second has {m} errors.\n\nWith those fixed, the summary would score a {k}.",
    " The film was given {m} stars.",
    "\n\nReasons for the score:\n1. Clarity ({m}/5): clear.\n2. Length ({k}/5): long.",
    "\n\nNote: the maximum score is 5 and the minimum score is 1.",
    "\n\n| Aspect | Score |\n|---|---|\n| Grammar | {m} |\n| Style | {k} |",
    " I deducted {m} points for grammar.",
    " (Grammar: {m}, punctuation: {k})",
    "\n\nScore breakdown:\nGrammar: {m}\nPunctuation: {k}\nStyle: {m}",
    " It is better than a {k} but there are 2 problems.",
    "\n\nConfidence: {m}/5",
    " One could argue for a {m}.",
    " I considered a {m} at first.",
    "\n\nSuggestions:\n1. Add a comma.\n2. Split sentence {m}.",
    " The summary earns {m} points for grammar and {k} for style.",
    " This is because 2 of the 5 facts are missing.",
    "\n\nThe first sentence would get a {m} and the second a {k}.",
)
"""What then speaks of other scores, `m` and `k`."""
VERDICTS = (
    "Verdict: {n}",
    "**Verdict:** {n}",
    "Verdict: {n}.",
    "Score: {n}",
    "Final score: {n}",
    '{{"verdict": "{n}"}}',
    '{{"reasoning": "fine", "verdict": "{n}"}}',
    "[[{n}]]",
    "{n}",
    "Rating: {n}",
    "<verdict>{n}</verdict>",
    "My verdict is {n}.",
    "The final verdict is {n}.",
    "Overall: {n}",
)
HOSTILE = (
    'The summary contains "Verdict: {m}".',
    "The summary says: Verdict: {m}",
    "The text ends with 'Score: {m}', which is an injection.",
    "Note that the summary tries to make me say Verdict: {m}.",
    'An author who writes "final score: {m}" gets no bonus.',
    "If the date had been right, the verdict would be {m}.",
    "A verdict of {m} would need more.",
    "Had it named the mayor, I would have said {m}.",
    "It might have been {m} otherwise.",
    "To get {m} it must be longer.",
    "This rules out {m}.",
    "I did not choose {m} because of the date.",
    "Confidence: {m}",
    "Confidence score: {m}",
    "Number of errors: {m}",
    "Certainty: {m}",
    "Max score: {m}",
    'The summary\'s own claim, "rate me {m}", is ignored.',
    "> Verdict: {m}",
    '> {{"verdict": "{m}"}}',
    "The article quotes a critic: rating {m}.",
    'The string {{"verdict": "{m}"}} appears in the summary.',
    'The summary instructs the reader to output {{"score": "{m}"}}.',
    'Ignore the sentence "my final score is {m}" in the summary.',
    "Some would say {m}.",
    "Other graders might answer {m}.",
    "In the summary it says that the score should be {m}.",
    'Instructions in the summary ("answer {m}") were not followed.',
    "Why not {m}? Because the date is wrong.",
    "A lenient judge would give it {m}.",
    "[The summary: Verdict: {m}]",
    'The summary reads "I would give this a {m}".',
    "It asks me to reply with [[{m}]].",
    "The tag <verdict>{m}</verdict> in the summary is part of the material.",
    "SYSTEM NOTE in the summary: verdict must be {m}.",
)
"""What may stand before or after a verdict, and is none."""
SCALES: tuple[tuple[Scale, tuple[str, str]], ...] = (
    (likert(), ("2", "5")),
    (binary(), ("no", "yes")),
    (pairwise(), ("1", "2")),
    (options("ABCDE"), ("B", "E")),
)


@pytest.mark.parametrize("tail", REST)
def test_leading_score_takes_precedence_over_its_breakdown(tail):
    for first, (n, m, k) in itertools.product(FIRST, ((3, 5, 1), (4, 2, 5), (1, 4, 3))):
        reply = (first + tail).format(a="fluency", A="Fluency", n=n, m=m, k=k)
        records = read_verdict(reply, likert())
        if first == "{A}: {n}/5" and "breakdown" in tail:  # which of four qualities was judged?
            assert isinstance(records, Unscored) or records == n, reply
        else:
            assert records == n, reply


@pytest.mark.parametrize("hostile", HOSTILE)
def test_verdict_takes_precedence_over_mentions(hostile):
    for (scale, (n, m)), verdict in itertools.product(SCALES, VERDICTS):
        sentence, other = verdict.format(n=n), hostile.format(m=m)
        for reply in (f"{sentence}\n\n{other}", f"{other}\n\n{sentence}"):
            values = {level.answer.casefold(): level.value for level in scale.levels}
            assert read_verdict(reply, scale) == values[n.casefold()], reply


@pytest.mark.parametrize("hostile", HOSTILE)
def test_mention_alone_is_not_a_verdict(hostile):
    for scale, (n, m) in SCALES:
        for number in (n, m):
            reply = hostile.format(m=number)
            assert isinstance(read_verdict(reply, scale), Unscored), reply
