"""What the routes stand on: the job, who may come in, and how pages are made."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from fairjudge.annotation.adjudication import Adjudication
from fairjudge.annotation.desk import LabelService
from fairjudge.annotation.passages import Marks
from fairjudge.annotation.tasks import LabelTask
from fairjudge.errors import InputError

_NAME = re.compile(r"[^\W_][\w .@+-]{0,39}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The secrets of a site.

    ``secret`` signs; ``progress`` opens the progress page; ``token`` opens the site, or is None
    where anybody who reaches it may come in, as on loopback.
    """

    secret: str
    progress: str
    token: str | None = None

    @property
    def cookie_suffix(self) -> str:
        """Keep the cookies of two jobs on one machine apart: cookies know no ports."""
        return hashlib.sha256(self.secret.encode()).hexdigest()[:8]

    def csrf(self, session: str) -> str:
        """Return what a form of `session` must carry."""
        return hmac.new(self.secret.encode(), session.encode(), "sha256").hexdigest()

    def admits(self, token: str) -> bool:
        """Say whether `token` opens the site."""
        return self.token is None or same(token, self.token)


def same(given: str, wanted: str) -> bool:
    """Compare secrets in constant time."""
    return secrets.compare_digest(given.encode(), wanted.encode())


def new_session() -> str:
    """Return a key that nobody can guess."""
    return secrets.token_urlsafe(24)


def annotator_name(given: str) -> str:
    """Return a name as it is kept.

    Raises InputError if it is empty, too long, or has characters that no name needs.
    """
    name = " ".join(unicodedata.normalize("NFC", given).split())
    if not _NAME.fullmatch(name):
        raise InputError(
            "a name has up to 40 letters, digits, spaces, dots, hyphens and the like, and begins "
            "with a letter or digit",
            field="name",
        )
    return name


def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("fairjudge.annotation.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One job's pages. ``marks`` are the passages to mark in each item, by its id.

    With an `adjudication`, what was said of an item is shown once it is answered.
    """

    desk: LabelService
    task: LabelTask
    access: Access
    marks: Mapping[str, Marks]
    adjudication: Adjudication | None = None
    templates: Environment = field(default_factory=_environment)

    def render(self, template: str, **values: Any) -> str:
        """Return a page; every value is escaped."""
        return self.templates.get_template(template).render(task=self.task, **values)
