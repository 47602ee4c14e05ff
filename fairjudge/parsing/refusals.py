"""Recognise refusals in plain text."""

from __future__ import annotations

import re

_OPENING_CHARACTERS = 400

_REFUSAL = re.compile(
    r"""
    \b(?:i['\u2019]?m|i\s+am|we['\u2019]?re|we\s+are)\s+(?:(?:really|very|so|deeply)\s+)?
        (?:sorry|afraid|unable|not\s+able|not\s+allowed|not\s+comfortable|not\s+permitted)\b
        (?!,?\s+(?:to|that)\s+(?:say|hear))
    | ^\W*(?:sorry|apologies|unfortunately|my\s+apologies|i\s+apologi[sz]e)\b
    | \b(?:i|we)\s+(?:can\s?not
        |can['\u2019]?t|won['\u2019]?t|will\s+not|must\s+decline|have\s+to\s+decline
        |decline|am\s+unable|do\s+not\s+feel\s+comfortable|don['\u2019]?t\s+feel\s+comfortable)\b
        \s+(?:to\s+)?(?:\w+\s+){0,3}?(?:help|assist|provide|rate|evaluate|assess|judge|score|answer
        |comply|fulfil+|complete|do|give|offer|continue|engage|discuss|comment|respond|compare
        |rating|evaluating|judging|scoring|comparing|assessing|answering)\b
        (?!\s+(?:\w+\s+){0,4}(?:higher|lower|above|below|more\s+than|better)\b)
    | \bas\s+an\s+(?:ai|artificial\s+intelligence|llm|automated|language)\b[^.!?\n]{0,60}
        \b(?:can\s?not|can['\u2019]?t|unable|not\s+able|do\s+not|don['\u2019]?t|won['\u2019]?t)\b
    | \bi\s+(?:must|have\s+to)\s+(?:respectfully\s+)?(?:decline|refuse)\b
    | \b(?:this|the|your)\s+(?:request|content|text|prompt)\s+(?:violates|goes\s+against)\b
    | \bagainst\s+(?:my|our|the)\s+(?:\w+\s+){0,2}(?:policy|policies|guidelines|programming)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_QUOTED = re.compile(r'"[^"\n]{0,1000}"|\u201c[^\u201d\n]{0,1000}\u201d|«[^»\n]{0,1000}»')


def looks_like_refusal(text: str) -> bool:
    """Return whether `text` opens with a refusal, outside quotations.

    A heuristic: a reply that declines first and answers afterwards matches too. Use it on texts
    without a verdict. Linear in the length of `text`.
    """
    return bool(
        _REFUSAL.search(_QUOTED.sub(" ", text[: 2 * _OPENING_CHARACTERS])[:_OPENING_CHARACTERS])
    )
