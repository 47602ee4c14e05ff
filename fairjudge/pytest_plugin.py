"""A pytest fixture that fails where a changed judge agrees with people less than its baseline."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def fairjudge_check() -> Callable[..., Any]:
    """Return a function of `fairjudge.check`'s arguments that fails where the verdict is worse.

    With ``strict=True`` it also fails where the anchors cannot tell. It returns the findings.
    """

    def check(judgements: object, labels: object, *, strict: bool = False, **options: Any) -> Any:
        import fairjudge as fj
        from fairjudge.reports.check_tables import check_tables

        found = fj.check(judgements, labels, **options)
        if found["verdict"] == "worse" or (strict and found["verdict"] == "cannot tell"):
            shown = "\n".join(str(table) for table in check_tables(found.to_dict()))
            pytest.fail(f"fairjudge: {found['verdict']}\n{shown}", pytrace=False)
        return found

    return check
