"""Prompt templates: load, check, render.

A template is a Markdown file: TOML front matter between ``+++`` lines, then ``## system`` and
``## user`` parts with ``{{field}}`` placeholders. Rendering is one pass over the template alone, so
braces in articles or replies mean nothing. Untrusted text goes in as `Fenced`: between tags with a
mark that its author cannot have known, since it is a hash over all the text of the request.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from fairjudge.errors import PromptError
from fairjudge.protocols import Message, Role

_FRONT = re.compile(r"\A\+\+\+\r?\n(.*?)\r?\n\+\+\+\r?\n(.*)\Z", re.DOTALL)
_PART = re.compile(r"^## (system|user|assistant)[ \t]*$", re.MULTILINE)
_FIELD = re.compile(r"\{\{([a-z_]+)\}\}")
_NAME = re.compile(r"[a-z0-9_-]+")
_LOCK_FILE = "prompts.lock.json"
_MARK = "mark"
"""The field that a template uses to name the mark its fences carry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A checked prompt template.

    ``sha256`` is over the file's bytes and stands in signatures; ``fields`` are the names that
    `render` must be given, no more and no fewer.
    """

    task: str
    name: str
    version: int
    about: str
    parts: tuple[tuple[Role, str], ...]
    fields: frozenset[str]
    sha256: str

    @property
    def label(self) -> str:
        """Return ``task/name.vN@hash``, as signatures quote it."""
        return f"{self.task}/{self.name}.v{self.version}@{self.sha256[:8]}"


@dataclass(frozen=True, slots=True)
class Fenced:
    """Untrusted text, or several, each between tags named `tag`.

    ``titles`` are shown in the opening tag, one a text (outlet names, question numbers).
    """

    tag: str
    texts: tuple[str, ...]
    titles: tuple[str, ...] = ()

    def render(self, mark: str) -> str:
        """Return the texts between tags that carry `mark`."""
        titles = self.titles or ("",) * len(self.texts)
        return "\n".join(
            f"<{self.tag} {mark}{f' {_one_line(title)}' if title else ''}>\n{text}\n"
            f"</{self.tag} {mark}>"
            for text, title in zip(self.texts, titles, strict=True)
        )


def _one_line(title: str) -> str:
    return re.sub(r"[\s<>]+", " ", title).strip()


def parse_template(data: bytes, *, where: str) -> Template:
    """Read one template file.

    Raises
    ------
    PromptError
        If the front matter, the parts or the fields are not as the module's docstring says.
    """
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise PromptError(f"{where}: not UTF-8 text") from None
    match = _FRONT.match(text)
    if match is None:
        raise PromptError(f"{where}: expected TOML front matter between two '+++' lines")
    try:
        front = tomllib.loads(match[1])
    except (ValueError, RecursionError) as error:
        raise PromptError(f"{where}: front matter is not TOML: {error}") from None
    missing = {"task", "name", "version", "about"} - front.keys()
    if missing:
        raise PromptError(f"{where}: front matter lacks {', '.join(sorted(missing))}")
    if not isinstance(front["version"], int):
        raise PromptError(f"{where}: version must be a whole number, not {front['version']!r}")
    parts = _split_parts(match[2], where=where)
    fields = {field for _, body in parts for field in _FIELD.findall(body)} - {_MARK}
    return Template(
        task=str(front["task"]),
        name=str(front["name"]),
        version=front["version"],
        about=str(front["about"]),
        parts=parts,
        fields=frozenset(fields),
        sha256=hashlib.sha256(text.encode()).hexdigest(),
    )


def _split_parts(body: str, *, where: str) -> tuple[tuple[Role, str], ...]:
    pieces = _PART.split(body)
    if pieces[0].strip() or len(pieces) < 3:
        raise PromptError(f"{where}: expected '## system' and '## user' parts and nothing before")
    roles: Sequence[Role] = pieces[1::2]  # type: ignore[assignment]  # the pattern allows no other
    parts = tuple((role, text.strip()) for role, text in zip(roles, pieces[2::2], strict=True))
    if parts[-1][0] != "user":
        raise PromptError(f"{where}: the last part must be '## user'")
    return parts


def render(template: Template, fields: Mapping[str, str | Fenced]) -> tuple[Message, ...]:
    """Fill `template` and return its messages.

    Plain strings are the library's own words (a scale's instruction, a count); everything that
    comes from articles, people or models must be `Fenced`.

    Raises
    ------
    PromptError
        If `fields` are not exactly those of the template.
    """
    if fields.keys() != template.fields:
        raise PromptError(
            f"template {template.label} takes {sorted(template.fields)}, got {sorted(fields)}"
        )
    mark = _mark(template, fields)
    filled = {
        name: value.render(mark) if isinstance(value, Fenced) else value
        for name, value in fields.items()
    }
    filled[_MARK] = mark
    return tuple(
        Message(role=role, content=_FIELD.sub(lambda match: filled[match[1]], body))
        for role, body in template.parts
    )


def _mark(template: Template, fields: Mapping[str, str | Fenced]) -> str:
    """Return a mark that depends on every byte of the request: fixed for caching, unforgeable."""
    digest = hashlib.sha256(template.sha256.encode())
    for name in sorted(fields):
        value = fields[name]
        texts = (*value.texts, *value.titles) if isinstance(value, Fenced) else (value,)
        for text in (name, *texts):
            encoded = text.encode("utf-8", errors="replace")
            digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return digest.hexdigest()[:12]


@cache
def load_template(task: str, name: str, version: int = 1) -> Template:
    """Load a released template and check it against the hash lock.

    Raises
    ------
    PromptError
        If there is no such template, or it was changed since its release.
    """
    file = _released() / task / f"{name}.v{version}.md"
    if not (_NAME.fullmatch(task) and _NAME.fullmatch(name) and file.is_file()):
        known = ", ".join(f"{t.task}/{t.name}.v{t.version}" for t in released_templates())
        raise PromptError(f"no prompt {task}/{name}.v{version}; there are: {known}")
    template = parse_template(file.read_bytes(), where=f"prompts/{task}/{file.name}")
    key = f"{task}/{name}.v{version}"
    locked = read_lock().get(key)
    if locked != template.sha256:
        raise PromptError(
            f"prompt {key} differs from its released hash: released prompts never change; "
            f"add a v{version + 1} and run 'fairjudge prompts lock'"
        )
    return template


def load_template_file(path: str | Path) -> Template:
    """Load a user's own template; see the module's docstring for the format."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise PromptError(f"{path}: cannot read the prompt: {error.strerror}") from None
    return parse_template(data, where=str(path))


def released_templates() -> tuple[Template, ...]:
    """Return every template that ships with the library, sorted by task, name and version."""
    found = [
        parse_template(file.read_bytes(), where=f"prompts/{folder.name}/{file.name}")
        for folder in _released().iterdir()
        if folder.is_dir()
        for file in folder.iterdir()
        if file.name.endswith(".md")
    ]
    return tuple(sorted(found, key=lambda t: (t.task, t.name, t.version)))


def read_lock() -> Mapping[str, str]:
    """Return the released hashes: ``task/name.vN`` to sha256."""
    locked: Mapping[str, str] = json.loads((_released() / _LOCK_FILE).read_text("utf-8"))
    return locked


def lock_new_templates(folder: Path) -> tuple[str, ...]:
    """Add the hashes of templates in `folder` that have none yet; return their names.

    Raises
    ------
    PromptError
        If a template that is already locked was changed.
    """
    file = folder / _LOCK_FILE
    locked: dict[str, str] = json.loads(file.read_text("utf-8")) if file.exists() else {}
    new = []
    for path in sorted(folder.glob("*/*.md")):
        template = parse_template(path.read_bytes(), where=str(path))
        key = f"{template.task}/{template.name}.v{template.version}"
        if f"{path.parent.name}/{path.stem}" != key:
            raise PromptError(f"{path}: the front matter says {key!r}, the path says otherwise")
        if key not in locked:
            locked[key] = template.sha256
            new.append(key)
        elif locked[key] != template.sha256:
            raise PromptError(f"{path}: released prompts never change; add a new version")
    file.write_text(json.dumps(dict(sorted(locked.items())), indent=1) + "\n", "utf-8")
    return tuple(new)


def _released() -> Traversable:
    return resources.files("fairjudge.prompts")
