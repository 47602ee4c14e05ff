"""The secret kept with a cache, which the marks around untrusted text are made with."""

from __future__ import annotations

import os
import secrets
import uuid
from contextlib import suppress
from pathlib import Path

from fairjudge.files import check_regular

LENGTH = 32
"""Bytes of a secret."""
_FILE = "secret"


def new_secret() -> bytes:
    """Return 32 random bytes."""
    return secrets.token_bytes(LENGTH)


def folder_secret(folder: Path) -> bytes:
    """Return the secret in `folder`, made when it is first asked for; readable by its owner alone.

    Where it can neither be read nor written, one that holds for this call: requests are sealed as
    well, and a provider's prompt cache does not know them again. A pipe or a device in its place is
    refused unread (`InputError`).
    """
    file = folder / _FILE
    with suppress(OSError):
        kept = _read(file)
        return kept if len(kept) == LENGTH else _written(file)
    return new_secret()


def _read(file: Path) -> bytes:
    check_regular(file)
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return b""


def _written(file: Path) -> bytes:
    """Write a secret whole, unless another process has done so meanwhile; return what stands."""
    new = file.with_name(f"{_FILE}.{uuid.uuid4().hex[:12]}")
    made = new_secret()
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as opened:
            opened.write(made)
        if file.exists() and len(_read(file)) != LENGTH:  # damaged: ours are of one length
            new.replace(file)
        else:
            with suppress(FileExistsError):
                os.link(new, file)
        return _read(file)
    finally:
        new.unlink(missing_ok=True)
