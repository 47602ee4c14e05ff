"""The secret stored with a cache, from which the marks around untrusted text are derived."""

from __future__ import annotations

import os
import secrets
import uuid
from contextlib import suppress
from pathlib import Path

from fairjudge.files import check_regular

LENGTH = 32
"""Length of a secret in bytes."""
_FILE = "secret"


def new_secret() -> bytes:
    """Return 32 random bytes."""
    return secrets.token_bytes(LENGTH)


def folder_secret(folder: Path) -> bytes:
    """Return the secret in `folder`, created at the first call, readable by its owner only.

    If it can neither be read nor written, a new secret is returned for this process. The marks are
    as safe, but a provider's prompt cache does not recognise the prompts of the next run.
    `InputError` if the path is a pipe or a device.
    """
    file = folder / _FILE
    with suppress(OSError):
        secret = _read_secret(file)
        return secret if len(secret) == LENGTH else _create(file)
    return new_secret()


def _read_secret(file: Path) -> bytes:
    check_regular(file)
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return b""


def _create(file: Path) -> bytes:
    """Write a new secret atomically, unless another process has; return the secret on disk."""
    draft = file.with_name(f"{_FILE}.{uuid.uuid4().hex[:12]}")
    secret = new_secret()
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as secret_file:
            secret_file.write(secret)
        if file.exists() and len(_read_secret(file)) != LENGTH:  # damaged
            draft.replace(file)
        else:
            with suppress(FileExistsError):
                os.link(draft, file)
        return _read_secret(file)
    finally:
        draft.unlink(missing_ok=True)
