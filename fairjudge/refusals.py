"""Telling a refusal in plain text from an answer."""

from __future__ import annotations

import re

_CANNOT = (
    r"(?:won't be able to|will not be able to|can(?:no|')t|can not|could not|couldn't|won't"
    r"|will not|am unable to|'m unable to"
    r"|am not able to|'m not able to|am not comfortable|'m not comfortable|must decline to"
    r"|must decline|have to decline|need to decline|decline to|do not feel comfortable"
    r"|don't feel comfortable|am not allowed to|'m not allowed to|am not permitted to)"
)
_DO = (
    r"(?:help|assist|comply|fulfil|provide|rate|evaluat|judg|assess|scor|compar|complet|engag"
    r"|discuss|continu|respond|answer|participat|generat|creat|process|do (?:that|this|so)"
    r"|with (?:that|this)|this request|your request|to (?:this|that))"
)
_REFUSAL = re.compile(
    rf"\b(?:i|we)(?: am sorry,? but i| apologi[sz]e,? but i)?(?:,[^,.]{{0,40}},)? ?{_CANNOT}"
    rf"(?: \w+){{0,2}}? {_DO}\w*(?! (?:\w+ ){{0,4}}(?:higher|lower|above|below|more than|better))"
    rf"|\bi(?:'m| am) sorry,? (?:but )?(?:i )?{_CANNOT}(?:[,.!]|$)"
    r"|\b(?:this|the|your) (?:request|content|text|prompt) (?:violates|goes against)\b"
    r"|\bas an? (?:ai|artificial intelligence|large language|language)\b[^.]{0,60}"
    r"\b(?:can(?:no|')t|unable|not able|don't|do not)\b"
    r"|\bi must (?:respectfully )?(?:decline|refuse)\b",
    re.IGNORECASE,
)
_OPENING_CHARACTERS = 300


def looks_like_refusal(text: str) -> bool:
    """Say whether `text` opens by declining to answer, in English.

    Models also refuse in an ordinary reply with an ordinary stop. Ask this only of a text in which
    no verdict was found: "I cannot rate it higher than 2" is a verdict, and so may be an apology.
    Only the first 300 characters count; later ones often quote the articles.
    """
    opening = " ".join(text.replace("\u2019", "'").split())[:_OPENING_CHARACTERS]
    return _REFUSAL.search(opening) is not None
