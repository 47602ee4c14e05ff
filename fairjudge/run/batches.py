"""Batch files: write the requests of a plan, and import their replies into the cache."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fairjudge.cache.files import AnyCache
from fairjudge.errors import BackendError, ConfigurationError, InputError
from fairjudge.files import read_file
from fairjudge.ports import CompletionRequest, DecisionRequest
from fairjudge.records.folder import write_output

if TYPE_CHECKING:
    from fairjudge.backends.batch_rows import BatchFormat


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchImport:
    """The number of replies that were cached, and the key and reason of each failed row."""

    n_stored: int
    failed: tuple[tuple[str, str], ...]


def write_batch(
    path: Path, requests: Mapping[str, CompletionRequest | DecisionRequest]
) -> tuple[Path, ...]:
    """Write the requests in the batch format of their provider, identified by cache key.

    Returns
    -------
    tuple of Path
        The files: `path`, or several numbered files if the requests exceed the provider's limits
        per file. Without requests, `path` is empty.

    Raises
    ------
    ConfigurationError
        If the backend does not support batches, or the requests are for several providers.
    """
    if not requests:
        write_output(path, "")
        return (path,)
    form = _format(requests)
    parts = list(_parts(form, requests))
    paths = [path]
    if len(parts) > 1:
        paths = [path.with_stem(f"{path.stem}-{number}") for number in range(1, len(parts) + 1)]
    for part, file in zip(parts, paths, strict=True):
        if form.list_name is None:
            write_output(file, "".join(line + "\n" for line in part))
        else:
            write_output(file, f'{{"{form.list_name}": [\n' + ",\n".join(part) + "\n]}\n")
    return tuple(paths)


def _format(requests: Mapping[str, CompletionRequest | DecisionRequest]) -> BatchFormat:
    """Return the format that all `requests` share."""
    from fairjudge.backends.batch_rows import batch_format

    targets = dict.fromkeys(request.target for request in requests.values())
    formats = {target: batch_format(target) for target in targets}
    for request in requests.values():
        if isinstance(request, DecisionRequest) or formats[request.target] is None:
            raise ConfigurationError(
                f"{request.target} has no batch files; supported are openai: (also vLLM servers "
                "with --base-url), anthropic:, litellm:gemini/... and langchain:google_genai/..."
            )
    names = {form.name: form for form in formats.values() if form is not None}
    if len(names) != 1:
        providers = " and ".join(names)
        raise ConfigurationError(f"a batch file needs models of one provider, not of {providers}")
    return next(iter(names.values()))


def _parts(
    form: BatchFormat, requests: Mapping[str, CompletionRequest | DecisionRequest]
) -> Iterator[list[str]]:
    """Yield the rows of each file."""
    part: list[str] = []
    size = 0
    for key, request in requests.items():
        if not isinstance(request, CompletionRequest):
            continue
        line = json.dumps(form.row(key, request), ensure_ascii=False)
        n_bytes = len(line.encode("utf-8")) + 2
        if part and (len(part) == form.max_rows or size + n_bytes > form.max_bytes):
            yield part
            part, size = [], 0
        part.append(line)
        size += n_bytes
    if part:
        yield part


def import_batch(paths: Sequence[Path], *, cache: AnyCache) -> BatchImport:
    """Store the replies of results files in `cache`, where the planned command finds them.

    Rows may be in any order and in several files (OpenAI writes errors to a separate file). Failed
    and expired requests are not stored, so that the command sends them again.

    Raises
    ------
    InputError
        If a file cannot be read, or a line is not a row of a batch's results.
    """
    failed: list[tuple[str, str]] = []
    n_rows = 0
    for path in paths:
        for number, line in _lines(path):
            n_rows += 1
            try:
                row = json.loads(line)
                problem = _store(row, cache)
            except (LookupError, TypeError, AttributeError, ValueError, RecursionError) as error:
                message = f"not a line of a batch's results: {error!r}"
                raise InputError(message, path=path, line=number) from None
            if problem is not None:
                failed.append((str(row.get("custom_id", row.get("key"))), problem))
    return BatchImport(n_stored=n_rows - len(failed), failed=tuple(failed))


def _lines(path: Path) -> list[tuple[int, str]]:
    """Return the lines with text, each with its number."""
    try:
        text = read_file(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"cannot read: {error}", path=path) from None
    # Not splitlines(): replies may contain other line separators, such as U+2028.
    return [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]


def _store(row: Mapping[str, Any], cache: AnyCache) -> str | None:
    """Store the reply of a row in `cache`, or return the reason why it has none."""
    from fairjudge.backends.batch_rows import read_result
    from fairjudge.backends.caching import is_cacheable

    try:
        result = read_result(row)
    except BackendError as error:
        return str(error)
    if not is_cacheable(result.completion):
        return "the reply is incomplete"
    reply = result.completion.model_dump(mode="json", exclude_defaults=True)
    cache.put(result.key, {"model": result.model, "reply": reply})
    return None
