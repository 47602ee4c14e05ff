"""What a test cannot do without."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def missing(what: str) -> NoReturn:
    """Skip; in continuous integration, which brings everything, fail."""
    if os.environ.get("FAIRJUDGE_CI"):
        pytest.fail(f"{what}, which .ci/run should have brought", pytrace=False)
    pytest.skip(what)
