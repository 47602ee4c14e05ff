"""The weights of all-mpnet-base-v2, from the five packages with the parts of its archive."""

from __future__ import annotations

import hashlib
import io
import zipfile
from pathlib import Path

from fairjudge.errors import ConfigurationError
from fairjudge.scorers._pretrained import package_file

BASE = "all-mpnet-base-v2"
"""Name of the base encoder of the larger models."""
PACKAGES = tuple(f"{BASE}-pypi-part-{part:03}" for part in range(1, 6))
SHA256 = "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658"
"""SHA-256 of the published ``model.safetensors``."""
_MEMBER = f"{BASE}/model.safetensors"


def check_installed() -> None:
    """Raise `MissingExtraError` if a package is missing, without opening the packages."""
    for package in PACKAGES:
        _part_path(package)


def published_weights() -> bytes:
    """Return the content of ``model.safetensors`` (438 MB), verified by its SHA-256.

    Raises
    ------
    MissingExtraError
        If one of the packages is not installed.
    ConfigurationError
        If the packages have other contents.
    """
    archive = b"".join(_part_path(package).read_bytes() for package in PACKAGES)
    try:
        content = zipfile.ZipFile(io.BytesIO(archive)).read(_MEMBER)
    except (zipfile.BadZipFile, KeyError) as error:
        raise ConfigurationError(
            f"cannot read the packages of the larger model: {error}"
        ) from error
    if hashlib.sha256(content).hexdigest() != SHA256:
        raise ConfigurationError(
            f"{PACKAGES[0]} to 005 do not contain the published weights; reinstall them"
        )
    return content


def _part_path(package: str) -> Path:
    """Return the file with this package's part of the archive."""
    return package_file(package, ".zip.", feature="the larger local model", extra="local-large")
