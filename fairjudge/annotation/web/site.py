"""The dependencies of the routes: the job, access control, and templates."""

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

_CONTROL = dict.fromkeys((*range(9), 11, 12, *range(14, 32), *range(127, 160)), " ")
_NAME = re.compile(r"[^\W_][\w .@+-]{0,39}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The secrets of a site.

    ``secret`` signs forms; ``progress`` grants access to the progress page, and ``token`` to the
    site. ``token`` is None if the site is open to everyone who reaches it, as on loopback.
    """

    secret: str
    progress: str
    token: str | None = None

    @property
    def cookie_suffix(self) -> str:
        """A suffix for cookie names: browsers do not separate cookies of jobs by port."""
        return hashlib.sha256(self.secret.encode()).hexdigest()[:8]

    def csrf(self, session: str) -> str:
        """Return the CSRF token for forms of `session`."""
        return hmac.new(self.secret.encode(), session.encode(), "sha256").hexdigest()

    def admits(self, token: str) -> bool:
        """Whether `token` grants access to the site."""
        return self.token is None or secrets_match(token, self.token)


def secrets_match(secret: str, expected: str) -> bool:
    """Compare secrets in constant time."""
    return secrets.compare_digest(secret.encode(), expected.encode())


def new_session() -> str:
    """Return a random key of a session."""
    return secrets.token_urlsafe(24)


def annotator_name(text: str) -> str:
    """Return an annotator's name in NFC with single spaces.

    Raises InputError if it is empty, longer than 40 characters, or has other characters than
    letters, digits, spaces and ``_.@+-``.
    """
    name = " ".join(unicodedata.normalize("NFC", text).split())
    if not _NAME.fullmatch(name):
        raise InputError(
            "a name has up to 40 letters, digits, spaces, dots, hyphens and the like, and begins "
            "with a letter or digit",
            field="name",
        )
    return name


def _printable(value: object) -> object:
    """Replace control characters of a text, which HTML does not allow, by spaces, one for one."""
    return value.translate(_CONTROL) if type(value) is str else value


def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("fairjudge.annotation.web"),
        autoescape=True,
        finalize=_printable,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """The site of a job. ``marks`` are the passages to mark in each item, by its id.

    With an ``adjudication``, the opinions on an item are shown once it is labelled.
    """

    desk: LabelService
    task: LabelTask
    access: Access
    marks: Mapping[str, Marks]
    adjudication: Adjudication | None = None
    templates: Environment = field(default_factory=_environment)

    def render(self, template: str, **values: Any) -> str:
        """Render `template` with escaped `values`, and return the page."""
        return self.templates.get_template(template).render(task=self.task, **values)
