"""Every notebook in examples/ runs from its first cell to its last, as in Jupyter: in a loop."""

import asyncio
from pathlib import Path

import pytest
from json_files import read_json
from notebooks import code_cells, run_all, stored

EXAMPLES = Path(__file__).parents[2] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
LARGEST_BYTES = 100_000


async def run(path):
    """Run a notebook, hold what its cells show to what it keeps, and return its names."""
    names, outputs = await run_all(path)
    assert [stored(cell) for cell in code_cells(read_json(path))] == outputs, (
        f"run: python tests/notebooks.py examples/{path.name}"
    )
    return names


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_notebooks_exist():
    assert [path.name for path in NOTEBOOKS] == [
        "study_of_summaries.ipynb",
        "trusting_a_judge.ipynb",
    ]


@pytest.mark.local_model
def test_a_study_of_summaries(folder):
    pytest.importorskip("torch", reason="needs the extra [local]")
    names = asyncio.run(run(EXAMPLES / "study_of_summaries.ipynb"))
    means = {row["system"]: row["mean"] for row in names["result"].leaderboard()}
    assert means["thorough"] == max(means.values()) > means["unfaithful"]
    assert names["again"].judgements == names["result"].judgements
    assert (folder / "leaderboard.csv").read_text("utf-8").startswith("judge,aspect,")
    assert "outlet_type" in (folder / "report.html").read_text("utf-8")


@pytest.mark.local_model
def test_trusting_a_judge(folder):
    pytest.importorskip("torch", reason="needs the extra [local]")
    names = asyncio.run(run(EXAMPLES / "trusting_a_judge.ipynb"))
    assert names["report"].agreement.spearman.value > 0
    assert len(names["calibrated"]) == 117  # 39 groups of answers, three systems
    assert all("uncalibrated" in row.model_extra for row in names["calibrated"])
    assert [row.unscored for row in names["other"]] == [None, "off_scale"]
    assert (folder / "calibrated.jsonl").read_text("utf-8").count("\n") == 117
    assert (folder / "report.html").stat().st_size > 10_000


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_outputs_are_small_and_contain_no_local_paths(path):
    text = path.read_text("utf-8")
    assert len(text) < LARGEST_BYTES
    assert not [place for place in ("/home/", "/root/", "/tmp/", "/work/") if place in text]  # noqa: S108
    cells = code_cells(read_json(path))
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    outputs = [output for cell in cells for output in cell["outputs"]]
    assert {output["output_type"] for output in outputs} == {"execute_result"}
