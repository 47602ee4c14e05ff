"""Without the extras: what needs one says so before anything else, and names it."""

from __future__ import annotations

import importlib.util
import sys
from functools import partial
from pathlib import Path

import pytest

import fairjudge as fj
from fairjudge.errors import MissingExtraError

CLUSTERS = '{"eid": "e", "articles": [{"aid": "a", "content": "The dam broke at noon."}]}\n'


@pytest.fixture(params=["torch", "spacy"])
def light(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Take one package of the extra [local] away."""
    value = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == request.param else value(name)
    )


@pytest.mark.usefixtures("light")
@pytest.mark.parametrize(
    "command",
    [
        ("quickstart",),
        ("build", "c.jsonl", "-o", "r.jsonl"),
        ("judge", "--references", "c.jsonl", "--summaries", "s.jsonl", "--aspect", "faithfulness",
         "--protocol", "likert", "-o", "j.jsonl"),
    ],
)  # fmt: skip
def test_local_backend_names_its_extra_first(cli, command):
    result = cli(*command, code=1)
    output = result.err.replace("\n", " ")
    assert f"'fairjudge {command[0]}' without an LLM (--backend) needs an extra" in output
    assert "pip install 'fairjudge[local]'" in output
    assert list(Path().iterdir()) == []


@pytest.mark.usefixtures("light")
def test_an_llm_needs_no_extra(cli, server):
    Path("c.jsonl").write_text(CLUSTERS)
    Path("s.jsonl").write_text('{"eid": "e", "system": "s", "text": "A dam broke."}\n')
    cli(
        "judge", "--references", "c.jsonl", "--summaries", "s.jsonl", "--aspect", "faithfulness",
        "--protocol", "likert", "-o", "j.jsonl", "--backend", "openai:m",
        "--base-url", f"{server.url}/v1", code=0,
    )  # fmt: skip


@pytest.mark.parametrize(("package", "extra"), [("pandas", "pandas"), ("pyarrow", "parquet")])
def test_tables_name_their_extra(monkeypatch, package, extra):
    Path("t.parquet").write_bytes(b"PAR1 and more")
    monkeypatch.setitem(sys.modules, package, None)
    calls = {
        "pandas": fj.JudgeResult(()).to_pandas,
        "pyarrow": partial(fj.read_summaries, "t.parquet"),
    }
    with pytest.raises(MissingExtraError, match=rf"pip install 'fairjudge\[{extra}\]'"):
        calls[package]()
