"""Prompt templates: load, check, render.

A template is a Markdown file: TOML front matter between ``+++`` lines, then ``## system`` and
``## user`` parts with ``{{field}}`` placeholders. Rendering is one pass over the template alone, so
braces in articles or replies mean nothing. Untrusted text goes in as `Fenced`: each between tags
with a mark of its own. `render` marks with a key that everybody knows, so that equal requests are
equal everywhere; before a request is sent, `seal` puts marks in their place that are made with a
secret, so that the author of a text cannot have known its mark.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from fairjudge.errors import PromptError
from fairjudge.ports import Message, Role, clean_text

_FRONT = re.compile(r"\A\+\+\+\r?\n(.*?)\r?\n\+\+\+\r?\n(.*)\Z", re.DOTALL)
_PART = re.compile(r"^## (system|user|assistant)[ \t]*$", re.MULTILINE)
_FIELD = re.compile(r"\{\{([a-z_]+)\}\}")
_NAME = re.compile(r"[a-z0-9_-]+")
_LOCK_FILE = "prompts.lock.json"
_MARK = "mark"
"""The field by which a template speaks of the marks; the words that fill it are always the same."""
_MARK_WORDS = "shown in each tag (12 hexadecimal digits)"
_MARK_LENGTH = 12
_OPEN_SECRET = b"not sealed"
"""What `render` marks with; requests that are sent are sealed with a secret that is one."""


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
    def key(self) -> str:
        """Return ``task/name.vN``."""
        return f"{self.task}/{self.name}.v{self.version}"

    @property
    def label(self) -> str:
        """Return ``task/name.vN@hash``, as signatures quote it."""
        return f"{self.key}@{self.sha256[:8]}"


@dataclass(frozen=True, slots=True)
class Fenced:
    """Untrusted text, or several, each between tags named `tag`.

    ``titles`` are shown in the opening tag, one a text (outlet names, question numbers).
    """

    tag: str
    texts: tuple[str, ...]
    titles: tuple[str, ...] = ()

    # The summaries of a cluster are judged one after another, on the same articles.
    @lru_cache(maxsize=64)  # noqa: B019  # bounded, and of values
    def render(self) -> tuple[str, tuple[tuple[int, int], ...]]:
        """Return the texts between tags, and where the two marks of each text stand."""
        content, places = "", []
        titles = self.titles or ("",) * len(self.texts)
        for text, title in zip(self.texts, titles, strict=True):
            one_line = re.sub(r"[\s<>]+", " ", title).strip()
            title = f" {one_line}" if one_line else ""  # noqa: PLW2901
            inside = _clean(f"{title}>\n{text}\n</{self.tag} ")
            mark = _mark(inside, _OPEN_SECRET)
            opening = f"{content and chr(10)}<{self.tag} "
            start = len(content) + len(opening)
            places.append((start, start + _MARK_LENGTH + len(inside)))
            content += f"{opening}{mark}{inside}{mark}>"
        return content, tuple(places)


def parse_template(data: bytes, *, where: str) -> Template:
    """Read one template file.

    `PromptError` if the front matter, the parts or the fields are not as the module's docstring
    says.
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
    comes from articles, people or models must be `Fenced`. `PromptError` if `fields` are not
    exactly those of the template.
    """
    if fields.keys() != template.fields:
        raise PromptError(
            f"template {template.label} takes {sorted(template.fields)}, got {sorted(fields)}"
        )
    return tuple(_filled(role, body, fields) for role, body in template.parts)


def _filled(role: Role, body: str, fields: Mapping[str, str | Fenced]) -> Message:
    """Return one message; what other requests may share with it ends with its first fences."""
    content, fences, shared = "", [], 0
    for words, name in _pieces(body):
        content += words
        value = fields[name] if name else ""
        if isinstance(value, Fenced):
            text, places = value.render()
            fences += [(len(content) + start, len(content) + end) for start, end in places]
            shared = shared or len(content) + len(text)
            content += text
        else:
            content += _clean(value)
    return Message(role=role, content=content, fences=tuple(fences), shared=shared)


@cache
def _pieces(body: str) -> tuple[tuple[str, str], ...]:
    """Return a part's words before each field, with the field's name; none follows the last."""
    pieces = _FIELD.split(body.replace("{{" + _MARK + "}}", _MARK_WORDS))
    return tuple(zip(map(_clean, pieces[::2]), [*pieces[1::2], ""], strict=True))


def json_object(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of a reply that is an object with all of `properties`, and no more."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def json_array(items: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of a list of `items`."""
    return {"type": "array", "items": dict(items)}


INTEGER, STRING = {"type": "integer"}, {"type": "string"}
INTEGERS = json_array(INTEGER)


def seal(messages: Sequence[Message], secret: bytes) -> tuple[Message, ...]:
    """Return `messages` as they are sent: every fence with the mark that `secret` gives its text.

    The mark is an HMAC over the text and its title, so that one text has the same bytes in all
    requests that are sealed with one secret, and a text that holds the mark of another has a mark
    of its own.
    """
    return tuple(_sealed(message, secret) if message.fences else message for message in messages)


def _sealed(message: Message, secret: bytes) -> Message:
    content, pieces, position = message.content, [], 0
    for start, end in message.fences:
        inside = content[start + _MARK_LENGTH : end]
        mark = _mark(inside, secret)
        pieces += [content[position:start], mark, inside, mark]
        position = end + _MARK_LENGTH
    sealed = "".join([*pieces, content[position:]])
    return message.model_copy(update={"content": sealed, "fences": ()})


def _mark(inside: str, secret: bytes) -> str:
    return hmac.digest(secret, inside.encode(), "sha256").hex()[:_MARK_LENGTH]


def _clean(text: str) -> str:
    return str(clean_text(text))


@cache
def load_template(task: str, name: str, version: int | None = None) -> Template:
    """Load a released template, by default its newest version, and check it against the hash lock.

    `PromptError` if there is no such template, or it was changed since its release.
    """
    key = f"{task}/{name}.v{_newest(task, name) if version is None else version}"
    file = _released() / f"{key}.md"
    if not (_NAME.fullmatch(task) and _NAME.fullmatch(name) and file.is_file()):
        keys = ", ".join(template.key for template in released_templates())
        raise PromptError(f"no prompt {key}; there are: {keys}")
    template = parse_template(file.read_bytes(), where=f"prompts/{key}.md")
    if read_lock().get(key) != template.sha256:
        raise PromptError(
            f"prompt {key} differs from its released hash: released prompts never change; "
            "add a new version and run 'fairjudge prompts lock'"
        )
    return template


def _newest(task: str, name: str) -> int:
    folder = _released() / task
    versions = [
        int(match[1])
        for file in (folder.iterdir() if _NAME.fullmatch(task) and folder.is_dir() else ())
        if (match := re.fullmatch(rf"{re.escape(name)}\.v([1-9]\d*)\.md", file.name))
    ]
    return max(versions, default=1)


def load_template_file(path: str | Path) -> Template:
    """Load a user's own template; see the module's docstring for the format."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise PromptError(f"{path}: cannot read the prompt: {error.strerror}") from None
    return parse_template(data, where=str(path))


def released_templates() -> tuple[Template, ...]:
    """Return every template that ships with the library, sorted by task, name and version."""
    templates = [
        parse_template(file.read_bytes(), where=f"prompts/{folder.name}/{file.name}")
        for folder in _released().iterdir()
        if folder.is_dir()
        for file in folder.iterdir()
        if file.name.endswith(".md")
    ]
    return tuple(sorted(templates, key=lambda t: (t.task, t.name, t.version)))


def read_lock() -> Mapping[str, str]:
    """Return the released hashes: ``task/name.vN`` to sha256."""
    locked: Mapping[str, str] = json.loads((_released() / _LOCK_FILE).read_text("utf-8"))
    return locked


def fill_field(template: Template, field: str, words: str) -> Template:
    """Return `template` with `words` in place of a field, under a hash of their own.

    `PromptError` if the words hold braces, which would be fields.
    """
    if _FIELD.search(words):
        raise PromptError(f"expected text without {{{{fields}}}}: {words!r}")
    parts = tuple((role, body.replace("{{" + field + "}}", words)) for role, body in template.parts)
    digest = hashlib.sha256(json.dumps([template.sha256, words]).encode()).hexdigest()
    return replace(template, parts=parts, fields=template.fields - {field}, sha256=digest)


def lock_new_templates(folder: Path) -> tuple[str, ...]:
    """Add the hashes of templates in `folder` that have none yet; return their names.

    `PromptError` if a template that is already locked was changed.
    """
    file = folder / _LOCK_FILE
    locked: dict[str, str] = json.loads(file.read_text("utf-8")) if file.exists() else {}
    new = []
    for path in sorted(folder.glob("*/*.md")):
        template = parse_template(path.read_bytes(), where=str(path))
        key = template.key
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
