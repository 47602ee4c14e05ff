"""A pytest fixture that fails where a changed judge agrees with people less than its baseline."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def fairjudge_check() -> Callable[..., Any]:
    """Return `fairjudge.check`, made to fail the test where the change does not pass.

    It takes the same arguments with the same defaults, and returns the findings.
    """

    def check(*args: Any, **options: Any) -> Any:
        import fairjudge as fj

        result = fj.check(*args, **options)
        if result["outcome"] != "passed":
            pytest.fail(f"fairjudge: {result['outcome']}\n{result!r}", pytrace=False)
        return result

    return check
