"""Backends: the clients of models, and their registry.

Importing this package imports no client library; `open_backend` imports the one that is needed.
"""

from __future__ import annotations

import importlib.util
import os
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any, Literal

from fairjudge.backends.guarding import Guarding, keys_in_environment
from fairjudge.backends.http import DEFAULT_TIMEOUT_SECONDS, check_base_url
from fairjudge.backends.ports import AnyBackend, Pipeline, Warn
from fairjudge.cache.secret import new_secret
from fairjudge.errors import ConfigurationError, MissingExtraError
from fairjudge.ports import ModelRef
from fairjudge.scorers.trained_record import LARGE
from fairjudge.text.suggestions import did_you_mean

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

__all__ = [
    "BackendKind",
    "asks_a_server",
    "backend_kinds",
    "decides",
    "loads_its_model",
    "open_backend",
    "resolve_target",
]

LOCAL, LOCAL_LARGE = "local", LARGE
"""The embedded default and its larger models, which are not language models and not opened here."""
ENTRY_POINT_GROUP = "fairjudge.backends"


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendKind:
    """A provider: the part before the colon of ``provider:model``.

    ``path`` is ``"module:Class"``; the class is called with a `ModelRef` and the keyword arguments
    ``timeout_seconds`` and ``warn``. ``what`` is its description. ``extra`` is the extra of
    FairJudge that it needs, and ``needs`` the package that the extra installs if it has another
    name. ``key_variable`` is the environment variable of its key; ``url_variables`` are those for
    the URL of its server.
    ``decides`` is true for decision models, which answer typed questions instead of writing text.
    ``answers_from`` is the origin of answers: a server (which may echo a key), a model loaded into
    this process, or a file.

    A package can add a provider with an entry point of the group ``fairjudge.backends``, whose name
    is the provider and whose value is the class; see docs/contributing/backend.md.
    """

    provider: str
    path: str
    what: str
    needs: str | None = None
    extra: str | None = None
    key_variable: str | None = None
    url_variables: tuple[str, ...] = ()
    decides: bool = False
    answers_from: Literal["server", "process", "file"] = "server"

    @property
    def package(self) -> str | None:
        """The package that must be installed, or None."""
        return self.needs or self.extra

    @property
    def is_installed(self) -> bool:
        """Whether the package that it needs is installed."""
        return self.package is None or importlib.util.find_spec(self.package) is not None

    @property
    def has_key(self) -> bool:
        """Whether its key is set, or it needs none."""
        return self.key_variable is None or bool(os.environ.get(self.key_variable, "").strip())


_KINDS: Mapping[str, BackendKind] = {
    kind.provider: kind
    for kind in (
        BackendKind(
            provider="openai",
            path="fairjudge.backends.openai:OpenAIBackend",
            what="OpenAI, or any server with its chat completions format at --base-url",
            key_variable="OPENAI_API_KEY",
            url_variables=("OPENAI_BASE_URL", "OPENAI_API_BASE"),
        ),
        BackendKind(
            provider="anthropic",
            path="fairjudge.backends.anthropic:AnthropicBackend",
            what="Anthropic, or any server with its messages format at --base-url",
            extra="anthropic",
            key_variable="ANTHROPIC_API_KEY",
            url_variables=("ANTHROPIC_BASE_URL",),
        ),
        BackendKind(
            provider="litellm",
            path="fairjudge.backends.litellm:LiteLLMBackend",
            what="any provider that litellm supports: litellm:provider/model",
            extra="litellm",
        ),
        BackendKind(
            provider="langchain",
            path="fairjudge.backends.langchain:LangChainBackend",
            what="any chat model of LangChain: langchain:provider/model",
            extra="langchain",
        ),
        BackendKind(
            provider="transformers",
            path="fairjudge.backends.transformers:TransformersBackend",
            what="a language model in this process: transformers:<hub id, folder or GGUF file>",
            needs="transformers",
            extra="local",
            answers_from="process",
        ),
        BackendKind(
            provider="openai-decisions",
            path="fairjudge.backends.openai_decisions:OpenAIDecisionsBackend",
            what="decision models behind OpenAI's Decisions API",
            key_variable="OPENAI_API_KEY",
            url_variables=("OPENAI_BASE_URL", "OPENAI_API_BASE"),
            decides=True,
        ),
        BackendKind(
            provider="systemone",
            path="fairjudge.backends.systemone:SystemOneBackend",
            what="decision models behind /v1/systemone at --base-url",
            decides=True,
        ),
        BackendKind(
            provider="litellm-decisions",
            path="fairjudge.backends.litellm:LiteLLMDecisionsBackend",
            what="decision models of any provider that litellm supports",
            extra="litellm",
            decides=True,
        ),
        BackendKind(
            provider="transformers-decision",
            path="fairjudge.backends.transformers:TransformersDecisionBackend",
            what="a chat model in this process as a decision model",
            needs="transformers",
            extra="local",
            decides=True,
            answers_from="process",
        ),
        BackendKind(
            provider="replay",
            path="fairjudge.backends.replay:ReplayBackend",
            what="replies recorded to a file: replay:<file>",
            answers_from="file",
        ),
    )
}


def backend_kinds() -> tuple[BackendKind, ...]:
    """Return every provider: the built-in ones, then those of entry points sorted by name.

    Plug-ins are not imported, so that only their names and packages are known.
    """
    plug_ins = _plug_ins()
    from_plug_ins = (
        BackendKind(provider=name, path=plug_ins[name].value, what=_origin(plug_ins[name]))
        for name in sorted(plug_ins)
    )
    return (*_KINDS.values(), *from_plug_ins)


def _plug_ins() -> dict[str, EntryPoint]:
    points = entry_points(group=ENTRY_POINT_GROUP)
    return {point.name: point for point in points if point.name not in _KINDS}


def _origin(point: EntryPoint) -> str:
    package = point.module if point.dist is None else point.dist.name
    return f"from the package {package}"


def _plug_in(point: EntryPoint) -> BackendKind:
    """Import a plug-in and return its `BackendKind`.

    A class with a method ``decide`` and no ``complete`` is a decision backend; its attributes
    ``key_variable`` and ``answers_from`` are optional.
    """
    try:
        backend_class = point.load()
    except (ImportError, AttributeError) as error:
        raise ConfigurationError(
            f"backend {point.name!r} {_origin(point)} cannot be imported: {error}"
        ) from error
    return BackendKind(
        provider=point.name,
        path=point.value,
        what=_origin(point),
        key_variable=getattr(backend_class, "key_variable", None),
        decides=hasattr(backend_class, "decide") and not hasattr(backend_class, "complete"),
        answers_from=getattr(backend_class, "answers_from", "server"),
    )


def resolve_target(spec: str, *, base_url: str | None = None) -> ModelRef:
    """Parse ``provider:model``, such as ``"openai:gpt-4o-mini"``, and resolve its server.

    Without `base_url` the provider's environment variable (such as OPENAI_BASE_URL) is read here,
    once, since the server is part of every cache key.

    Raises
    ------
    ConfigurationError
        If `spec` has no colon or model, the provider is unknown, or the URL is invalid.
    """
    provider, colon, model = spec.partition(":")
    if not colon or not model:
        raise ConfigurationError(
            f"{spec!r} is not a backend; write it as provider:model, such as openai:gpt-4o-mini "
            "('fairjudge backends list' shows the providers)"
        )
    urls = (os.environ.get(name, "").strip() for name in _find(provider).url_variables)
    url = base_url or next((url for url in urls if url), None)
    return ModelRef(
        provider=provider, model=model, base_url=None if url is None else check_base_url(url)
    )


def open_backend(
    target: ModelRef,
    *,
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
    warn: Warn | None = None,
    secret: bytes | None = None,
    chat: BaseChatModel | None = None,
) -> AnyBackend:
    """Open the backend of `target`, guarded by `Guarding`.

    `chat` is the LangChain chat model of `target`, if the caller made it.

    Requests to a model contain marks derived from `secret` (`fairjudge.prompting.seal`), usually
    that of the reply cache, by default a new one. Requests to a recording are not changed. `warn`
    is called with one sentence about a problem that does not stop the work.

    Raises
    ------
    ConfigurationError
        If the provider is unknown, its key is missing, or an extra is not installed.
    """
    kind = _find(target.provider)
    if not kind.is_installed and kind.extra is not None and chat is None:
        raise MissingExtraError(f"backend {target.provider!r}", extra=kind.extra)
    backend_class = pkgutil.resolve_name(kind.path)
    options: dict[str, Any] = {"timeout_seconds": timeout_seconds, "warn": warn}
    if chat is not None and target.provider == "langchain":
        options["chat"] = chat
    backend: AnyBackend = backend_class(target, **options)
    if kind.answers_from == "file":
        return backend
    keys = keys_in_environment(kind.key_variable) if kind.answers_from == "server" else ()
    return Pipeline(backend, Guarding(target, secret=secret or new_secret(), keys=keys))


def decides(target: ModelRef) -> bool:
    """Return whether `target` answers typed questions instead of writing text."""
    return _find(target.provider).decides


def asks_a_server(target: ModelRef) -> bool:
    """Return whether `target` is behind a server, which may cache prompts and truncate them."""
    return _find(target.provider).answers_from == "server"


def loads_its_model(target: ModelRef) -> bool:
    """Return whether opening `target` loads a model into this process."""
    return _find(target.provider).answers_from == "process"


def _find(provider: str) -> BackendKind:
    if provider in _KINDS:
        return _KINDS[provider]
    plug_ins = _plug_ins()
    if provider in plug_ins:
        return _plug_in(plug_ins[provider])
    names = [*_KINDS, *sorted(plug_ins), LOCAL, LOCAL_LARGE]
    hint = did_you_mean(provider, names) or "."
    raise ConfigurationError(f"unknown backend {provider!r}{hint} Choose from: {', '.join(names)}")
