"""docs/performance.md says what the benchmarks' results hold."""

from __future__ import annotations

import pytest


def test_page_matches_the_results() -> None:
    pytest.importorskip("torch", reason="needs the extra [local]")
    import performance

    assert performance.PAGE.read_text("utf-8") == performance.page(), (
        "run benchmarks/performance.py --render"
    )
