"""Prompt templates: load, check, render.

A template is a Markdown file: TOML front matter between ``+++`` lines, then ``## system`` and
``## user`` parts with ``{{field}}`` placeholders. Rendering is one pass over the template alone, so
braces in articles or replies have no effect. Untrusted text is passed as `Fenced`: it is enclosed
in tags with a mark, an HMAC of the text. `render` computes marks with a public key, so that equal
requests are equal on all machines. Before a request is sent, `seal` replaces the marks by ones
computed with a secret, so that the author of a text cannot know its mark.
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
"""The template field that describes the marks; it is always filled with `_MARK_WORDS`."""
_MARK_WORDS = "shown in each tag (12 hexadecimal digits)"
_MARK_LENGTH = 12
_PUBLIC_KEY = b"not sealed"
"""The key of the marks of `render`; `seal` replaces them before a request is sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A checked prompt template.

    ``sha256`` is the hash of the file, used in signatures; ``fields`` are the names that `render`
    requires.
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
        """Return ``task/name.vN@hash``, used in signatures."""
        return f"{self.key}@{self.sha256[:8]}"


@dataclass(frozen=True, slots=True)
class Fenced:
    """One or more untrusted texts, each enclosed in tags named `tag`.

    ``titles`` are added to the opening tags, one per text (outlet names, question numbers).
    """

    tag: str
    texts: tuple[str, ...]
    titles: tuple[str, ...] = ()

    # The summaries of a cluster are judged one after another, on the same articles.
    @lru_cache(maxsize=64)  # noqa: B019  # bounded; the class is a frozen value
    def render(self) -> tuple[str, tuple[tuple[int, int], ...]]:
        """Return the enclosed texts, and the positions of the two marks of each text."""
        content, positions = "", []
        titles = self.titles or ("",) * len(self.texts)
        for text, title in zip(self.texts, titles, strict=True):
            title_line = re.sub(r"[\s<>]+", " ", title).strip()
            title = f" {title_line}" if title_line else ""  # noqa: PLW2901
            inside = _clean(f"{title}>\n{text}\n</{self.tag} ")
            mark = _mark(inside, _PUBLIC_KEY)
            opening = f"{content and chr(10)}<{self.tag} "
            start = len(content) + len(opening)
            positions.append((start, start + _MARK_LENGTH + len(inside)))
            content += f"{opening}{mark}{inside}{mark}>"
        return content, tuple(positions)


def parse_template(data: bytes, *, location: str) -> Template:
    """Parse the content of one template file.

    `PromptError` if it does not have the format of the module's docstring.
    """
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise PromptError(f"{location}: not UTF-8 text") from None
    match = _FRONT.match(text)
    if match is None:
        raise PromptError(f"{location}: expected TOML front matter between two '+++' lines")
    try:
        front_matter = tomllib.loads(match[1])
    except (ValueError, RecursionError) as error:
        raise PromptError(f"{location}: front matter is not TOML: {error}") from None
    missing_fields = {"task", "name", "version", "about"} - front_matter.keys()
    if missing_fields:
        raise PromptError(f"{location}: front matter lacks {', '.join(sorted(missing_fields))}")
    if not isinstance(front_matter["version"], int):
        raise PromptError(
            f"{location}: version must be a whole number, not {front_matter['version']!r}"
        )
    parts = _split_parts(match[2], location=location)
    fields = {field for _, body in parts for field in _FIELD.findall(body)} - {_MARK}
    return Template(
        task=str(front_matter["task"]),
        name=str(front_matter["name"]),
        version=front_matter["version"],
        about=str(front_matter["about"]),
        parts=parts,
        fields=frozenset(fields),
        sha256=hashlib.sha256(text.encode()).hexdigest(),
    )


def _split_parts(body: str, *, location: str) -> tuple[tuple[Role, str], ...]:
    pieces = _PART.split(body)
    if pieces[0].strip() or len(pieces) < 3:
        raise PromptError(
            f"{location}: expected '## system' and '## user' parts and nothing before"
        )
    roles: Sequence[Role] = pieces[1::2]  # type: ignore[assignment]  # the pattern allows no other
    parts = tuple((role, text.strip()) for role, text in zip(roles, pieces[2::2], strict=True))
    if parts[-1][0] != "user":
        raise PromptError(f"{location}: the last part must be '## user'")
    return parts


def render(template: Template, fields: Mapping[str, str | Fenced]) -> tuple[Message, ...]:
    """Fill `template` and return its messages.

    Plain strings are for trusted text (a scale's instruction, a count); text from articles, people
    or models must be `Fenced`. `PromptError` if `fields` are not exactly those of the template.
    """
    if fields.keys() != template.fields:
        raise PromptError(
            f"template {template.label} requires {sorted(template.fields)}, got {sorted(fields)}"
        )
    return tuple(_fill(role, body, fields) for role, body in template.parts)


def _fill(role: Role, body: str, fields: Mapping[str, str | Fenced]) -> Message:
    """Render one message; its shared prefix ends after the first fenced texts."""
    content, fences, shared = "", [], 0
    for words, name in _pieces(body):
        content += words
        value = fields[name] if name else ""
        if isinstance(value, Fenced):
            text, positions = value.render()
            fences += [(len(content) + start, len(content) + end) for start, end in positions]
            shared = shared or len(content) + len(text)
            content += text
        else:
            content += _clean(value)
    return Message(role=role, content=content, fences=tuple(fences), shared=shared)


@cache
def _pieces(body: str) -> tuple[tuple[str, str], ...]:
    """Split a part into pairs of text and the field after it ("" after the last text)."""
    pieces = _FIELD.split(body.replace("{{" + _MARK + "}}", _MARK_WORDS))
    return tuple(zip(map(_clean, pieces[::2]), [*pieces[1::2], ""], strict=True))


def json_object(properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of an object that has exactly `properties`."""
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
    """Return `messages` with the marks of all tags filled in, computed with `secret`.

    A mark is an HMAC of the text and its title: with one secret, a text has the same bytes in all
    requests, and a text that contains the mark of another text has a different mark itself.
    """
    return tuple(
        _seal_message(message, secret) if message.fences else message for message in messages
    )


def _seal_message(message: Message, secret: bytes) -> Message:
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
    """Load a released template, by default its newest version, and check its hash.

    `PromptError` if there is no such template, or if it was changed after its release.
    """
    key = f"{task}/{name}.v{_newest(task, name) if version is None else version}"
    file = _prompts_folder() / f"{key}.md"
    if not (_NAME.fullmatch(task) and _NAME.fullmatch(name) and file.is_file()):
        keys = ", ".join(template.key for template in released_templates())
        raise PromptError(f"no prompt {key}; choose from: {keys}")
    template = parse_template(file.read_bytes(), location=f"prompts/{key}.md")
    if read_lock().get(key) != template.sha256:
        raise PromptError(
            f"prompt {key} differs from its released hash: released prompts never change; "
            "add a new version and run 'fairjudge prompts lock'"
        )
    return template


def _newest(task: str, name: str) -> int:
    folder = _prompts_folder() / task
    versions = [
        int(match[1])
        for file in (folder.iterdir() if _NAME.fullmatch(task) and folder.is_dir() else ())
        if (match := re.fullmatch(rf"{re.escape(name)}\.v([1-9]\d*)\.md", file.name))
    ]
    return max(versions, default=1)


def load_template_file(path: str | Path) -> Template:
    """Load a user's template; the format is in the module's docstring."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise PromptError(f"{path}: cannot read the prompt: {error.strerror}") from None
    return parse_template(data, location=str(path))


def released_templates() -> tuple[Template, ...]:
    """Return all released templates, sorted by task, name and version."""
    templates = [
        parse_template(file.read_bytes(), location=f"prompts/{folder.name}/{file.name}")
        for folder in _prompts_folder().iterdir()
        if folder.is_dir()
        for file in folder.iterdir()
        if file.name.endswith(".md")
    ]
    return tuple(sorted(templates, key=lambda t: (t.task, t.name, t.version)))


def read_lock() -> Mapping[str, str]:
    """Return the released hashes: ``task/name.vN`` to sha256."""
    hashes: Mapping[str, str] = json.loads((_prompts_folder() / _LOCK_FILE).read_text("utf-8"))
    return hashes


def fill_field(template: Template, field: str, words: str) -> Template:
    """Return `template` with `field` replaced by `words`; the hash covers both.

    `PromptError` if `words` contain fields.
    """
    if _FIELD.search(words):
        raise PromptError(f"expected text without {{{{fields}}}}: {words!r}")
    parts = tuple((role, body.replace("{{" + field + "}}", words)) for role, body in template.parts)
    digest = hashlib.sha256(json.dumps([template.sha256, words]).encode()).hexdigest()
    return replace(template, parts=parts, fields=template.fields - {field}, sha256=digest)


def lock_new_templates(folder: Path) -> tuple[str, ...]:
    """Add the hashes of new templates in `folder` to the lock file; return their keys.

    `PromptError` if a locked template was changed.
    """
    file = folder / _LOCK_FILE
    hashes: dict[str, str] = json.loads(file.read_text("utf-8")) if file.exists() else {}
    new_keys = []
    for path in sorted(folder.glob("*/*.md")):
        template = parse_template(path.read_bytes(), location=str(path))
        key = template.key
        if f"{path.parent.name}/{path.stem}" != key:
            raise PromptError(
                f"{path}: the front matter has {key!r}, which does not match the path"
            )
        if key not in hashes:
            hashes[key] = template.sha256
            new_keys.append(key)
        elif hashes[key] != template.sha256:
            raise PromptError(f"{path}: released prompts never change; add a new version")
    file.write_text(json.dumps(dict(sorted(hashes.items())), indent=1) + "\n", "utf-8")
    return tuple(new_keys)


def _prompts_folder() -> Traversable:
    return resources.files("fairjudge.prompts")
