"""A pytest fixture that fails if a changed judge agrees with humans less than its baseline."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def fairjudge_check() -> Callable[..., Any]:
    """Return `fairjudge.check`, wrapped to fail the test if the change does not pass.

    It has the same arguments and defaults, and returns the findings.
    """

    def check(*args: Any, **options: Any) -> Any:
        import fairjudge as fj

        result = fj.check(*args, **options)
        if result["outcome"] != "passed":
            pytest.fail(f"fairjudge: {result['outcome']}\n{result!r}", pytrace=False)
        return result

    return check
