"""Files of lines by their names, named one by one or in a folder."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import fairjudge as fj
from fairjudge.errors import InputError

ONE = "The dam above Dunmere broke at noon. ||||| Two thousand people left."
TWO = "Drivers of the tram went on strike. ||||| The city offered four per cent."


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(name: str, *lines: str) -> str:
    text = "".join(f"{line}\n" for line in lines).encode()
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    return name


@pytest.mark.parametrize(
    "name",
    [
        "val.txt.src.cleaned", "val.source.txt", "val.src.txt", "val.out.src", "val.src.cleaned.gz",
        "val.src",
    ],
)  # fmt: skip
@pytest.mark.parametrize("how", ["each", "alone", "folder"])
def test_document_files_are_never_read_as_a_system(name, how):
    source = write(f"in/{name}", ONE, TWO)
    target = write(f"in/{name.replace('source', 'target').replace('src', 'tgt')}", "a", "b")
    by_name = {"each": (source, target), "alone": (source,), "folder": ("in",)}[how]
    result = fj.convert(*by_name)
    assert [len(cluster.articles) for cluster in result.clusters] == [2, 2]
    assert [(summary.eid, summary.system, summary.text) for summary in result.summaries] == [
        ("1", "reference", "a"), ("2", "reference", "b"),
    ]  # fmt: skip
    assert result.left_out == {}


def test_folder_yields_systems_or_error(cli):
    write("in/test.src", ONE, TWO)
    write("in/test.tgt", "a", "b")
    for name in ("bart.hypo", "led.pred", "lead1.out", "gpt.txt", "t5.decoded.txt", "opt.out.gz"):
        write(f"in/{name}", f"{name} 1", f"{name} 2")
    write("in/notes.txt", "one line")
    write("in/slides.pdf", "x", "y")
    write("in/.hidden", "x")
    Path("in/latin.out").write_bytes(b"caf\xe9\nb\n")
    Path("in/old").mkdir()
    result = fj.convert("in")
    systems = {"reference", "bart", "led", "lead1", "gpt", "t5", "opt"}
    assert {summary.system for summary in result.summaries} == systems
    assert len(result.summaries) == 14
    left_out = dict(why.split(": ", 1) for why in result.left_out)
    assert "not UTF-8" in left_out.pop(str(Path("in/latin.out")))
    assert left_out == {
        str(Path("in/notes.txt")): "1 line for the 2 of test.src",
        str(Path("in/slides.pdf")): "not a data file by its name",
        str(Path("in/old")): "a folder",
    }
    output = cli("convert", "in", "-o", "data", code=0)
    assert "notes.txt: 1 line for the 2 of test.src" in " ".join(output.out.split())
    with pytest.raises(InputError, match="1 line for the 2"):
        fj.convert("in/test.src", "in/notes.txt")
    output = cli("study", "init", "in", code=0)
    rows = fj.read_summaries("converted/summaries.jsonl").records
    assert {row.system for row in rows} == systems


def test_table_next_to_line_files_is_read_as_a_table():
    write("test.src", ONE, TWO)
    write("gpt.out.jsonl", '{"output": "a"}', '{"output": "b"}')
    result = fj.convert("test.src", "gpt.out.jsonl")
    assert [(summary.eid, summary.system, summary.text) for summary in result.summaries] == [
        ("1", "gpt", "a"), ("2", "gpt", "b"),
    ]  # fmt: skip
