"""When an article was published, as far as its record says."""

from __future__ import annotations

import re

from fairjudge.domain import Article

_KEYS = ("date", "published", "published_at", "publish_date", "publication_date", "datetime")
_IN_KEY = re.compile(r"\d{4}-\d\d(?:-\d\d)?|[^\n<>]{1,30}")
_IN_URL = re.compile(r"(?<!\d)((?:19|20)\d\d)([/-])(\d\d?)(?:\2(\d\d?))?(?!\d)")


def published(article: Article) -> str:
    """Return the date that a further key of the record or its address holds, or an empty string.

    As ``2022-07-28``, ``2022-07``, or the first 30 characters of a key in another form.
    """
    extra = article.model_extra or {}
    for key in _KEYS:
        value = extra.get(key)
        if isinstance(value, str) and (match := _IN_KEY.match(value.strip())):
            return match[0]
    for year, _, month, day in _IN_URL.findall(article.url):
        if 1 <= int(month) <= 12 and (not day or 1 <= int(day) <= 31):
            return "-".join([year, f"{int(month):02}", *([f"{int(day):02}"] if day else [])])
    return ""


def outlet_and_date(article: Article) -> str:
    """Return what a prompt says of where `article` comes from."""
    parts = (article.domain or article.title or article.aid, published(article))
    return ", ".join(part for part in parts if part)
