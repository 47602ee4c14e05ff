"""From the list of backends to a judgement by the larger local model."""

from __future__ import annotations

import json

import pytest

from fairjudge.datasets import example_path
from fairjudge.errors import MissingExtraError
from fairjudge.scorers import large_package

pytestmark = pytest.mark.local_model


JUDGE = (
    "judge", "--backend", "local-large", "--references", example_path("clusters.json"),
    "--summaries", example_path("summaries.jsonl"), "--aspect", "faithfulness",
    "--protocol", "likert",
)  # fmt: skip


@pytest.fixture
def without_packages(monkeypatch):
    monkeypatch.setattr(large_package, "PACKAGES", ("no-such-package-of-anybody",))


def test_plan_and_run_name_the_missing_extra(cli, without_packages, tmp_path):
    listed = cli("backends", "list", "--json", "-")
    assert json.loads(listed.out)["local-large"] == {"installed": False}
    for plan in (["--plan"], []):
        refused = cli(*JUDGE, *plan, "-o", tmp_path / "j.jsonl", code=1)
        assert "pip install 'fairjudge[local-large]'" in refused.err
    assert not (tmp_path / "j.jsonl").exists()


def test_large_local_judge_has_its_own_name(cli, tmp_path):
    try:
        large_package.check_installed()
    except MissingExtraError:
        pytest.skip("the packages of the extra local-large are not installed")
    judged = cli(*JUDGE, "--limit", "3", "-o", tmp_path / "j.jsonl", code=0)
    assert "By the embedded default" in judged.out + judged.err
    rows = [json.loads(line) for line in (tmp_path / "j.jsonl").read_text("utf-8").splitlines()]
    assert {row["judge"] for row in rows} == {"local-large"}
    assert all("fairjudge-mpnet:" in row["signature"] for row in rows)
    assert all(1 <= row["value"] <= 5 for row in rows)
