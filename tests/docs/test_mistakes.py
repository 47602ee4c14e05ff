"""Each mistake of docs/mistakes.md ends in the message and exit code that the page shows.

A block's `$ fairjudge` command, or its `>>> ` lines, run in a folder of the bundled example, which
the setups that the comment above the block names have changed.
"""

from __future__ import annotations

import gzip
import json
import re
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cli_tools import Done, journalist, write_jsonl
from stub_server import Fault, StubServer

from fairjudge.datasets import example_path
from fairjudge.errors import FairJudgeError

PAGE = (Path(__file__).parents[2] / "docs" / "mistakes.md").read_text("utf-8")
SERVER = "http://localhost:8000"
"""The server of the page's commands, whose part the stub takes."""
BLOCK = re.compile(
    r"^### (?P<title>[^\n]+)\n\n"
    r"(?:<!-- setup: (?P<setups>[^\n]+) -->\n)?"
    r"```text\n(?P<entered>(?:(?:\$|>>>) [^\n]+\n|    [^\n]+\n)+)(?P<message>.*?)"
    r"(?:exit code (?P<code>\d)\n)?```\n\n(?P<advice>[^\n#`<][^\n]*|`[^\n]+)$",
    re.DOTALL | re.MULTILINE,
)
FIRST_RUN = (
    "judge --references references.json --summaries summaries.jsonl --aspect coverage "
    f"--protocol likert --backend openai:gpt-4o-mini --base-url {SERVER}/v1 -o first.jsonl"
)


@dataclass(frozen=True)
class Machine:
    """What a setup may change besides the files of the working folder."""

    server: StubServer
    patch: pytest.MonkeyPatch
    run: Callable[[str], Done]


def rows_of(path: str) -> list[Any]:
    text = Path(path).read_text("utf-8")
    return json.loads(text) if text.startswith("[") else [*map(json.loads, text.splitlines())]


def change(path: str, row: int, **fields: Any) -> None:
    """Change fields of one row of a JSONL file; None takes a field away."""
    rows = rows_of(path)
    rows[row] = {name: v for name, v in (rows[row] | fields).items() if v is not None}
    write_jsonl(Path(path), rows)


def table(*names: str, encoding: str = "utf-8") -> None:
    rows = [
        (row["eid"], row["system"], "The café by the dam.") for row in rows_of("summaries.jsonl")
    ]
    text = "".join(",".join(row) + "\n" for row in [names, *rows])
    Path("summaries.csv").write_bytes(text.encode(encoding))


def repeat_first() -> None:
    rows = rows_of("summaries.jsonl")
    write_jsonl(Path("summaries.jsonl"), [*rows, rows[0]])


def break_line() -> None:
    lines = Path("summaries.jsonl").read_text("utf-8").splitlines()
    lines[2] = lines[2][:200]
    Path("summaries.jsonl").write_text("\n".join(lines) + "\n", "utf-8")


def cut_archive() -> None:
    packed = gzip.compress(Path("references.json").read_bytes())
    Path("references.json.gz").write_bytes(packed[:3000])


def judged(name: str = "judgements.jsonl", prefix: str = "") -> None:
    """Write a judge's ratings of the example's summaries."""
    more = {"aspect": "coverage", "protocol": "likert", "judge": "gpt"}
    rows = [
        {"eid": prefix + row["eid"], "system": row["system"], **more, "value": 1 + n % 5}
        for n, row in enumerate(rows_of("summaries.jsonl"))
    ]
    write_jsonl(Path(name), rows)


def labelled(aspect: str = "coverage", **fields: Any) -> None:
    """Keep the example's labels of whole summaries, with `fields` changed in the fourth."""
    judged()
    rows = [row for row in rows_of("labels.jsonl") if row["unit"] == "summary"]
    rows = [row | {"aspect": aspect} for row in rows if row["aspect"] == "coverage"]
    write_jsonl(Path("labels.jsonl"), rows)
    change("labels.jsonl", 3, **fields)


def with_attributes() -> None:
    clusters = rows_of("clusters.json")
    for cluster in clusters:
        for n, article in enumerate(cluster["articles"]):
            article["attributes"] = {"party": ("green", "red")[n % 2], "country": "Arrel"}
    Path("clusters.json").write_text(json.dumps(clusters), "utf-8")


def study(old: str, new: str) -> None:
    text = (
        '[data]\nreferences = "references.json"\nsummaries = ["summaries.jsonl"]\n'
        '[models.main]\nbackend = "openai:gpt-4o-mini"\n[budget]\nmax_cost = 5.0\n'
        '[[judge]]\nmodel = "main"\naspect = "coverage"\nprotocol = "likert"\n'
    )
    assert old in text
    Path("study.toml").write_text(text.replace(old, new), "utf-8")


def answering(status: int, message: str, code: str) -> Callable[[Machine], object]:
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
    fault = Fault(status=status, body=json.dumps({"error": error}).encode())
    return lambda machine: setattr(machine.server, "answer", lambda _: fault)


SETUPS: dict[str, Callable[[Machine], object]] = {
    "rejected key": answering(401, "Incorrect API key provided.", "invalid_api_key"),
    "no such model": answering(404, "The model `gpt-4o-mimi` does not exist.", "model_not_found"),
    "no litellm": lambda machine: machine.patch.setitem(sys.modules, "litellm", None),
    "column model": lambda _: table("eid", "model", "text"),
    "semicolons": lambda _: Path("dams.csv").write_text("quellen;fassung\nEin Damm.;Er brach.\n"),
    "latin-1": lambda _: table("eid", "system", "text", encoding="latin-1"),
    "broken line": lambda _: break_line(),
    "cut archive": lambda _: cut_archive(),
    "folder": lambda _: Path("data").mkdir(),
    "duplicate": lambda _: repeat_first(),
    "unknown cluster": lambda _: change("summaries.jsonl", 2, eid="dunmere-dam"),
    "no text": lambda _: change("summaries.jsonl", 2, text=None),
    "empty text": lambda _: change("summaries.jsonl", 2, text=""),
    "other run": lambda machine: machine.run(FIRST_RUN + " --run runs/first --limit 1"),
    "judged": lambda _: judged(),
    "other baseline": lambda _: judged("old.jsonl", prefix="2023-"),
    "label 6": lambda _: labelled(value=6),
    "labels of fluency": lambda _: labelled("fluency"),
    "attributes": lambda _: with_attributes(),
    "misspelt study": lambda _: study("max_cost", "max_costs"),
    "missing file study": lambda _: study("summaries.jsonl", "summary.jsonl"),
}


@pytest.fixture
def machine(
    tmp_path: Path,
    stub: StubServer,
    monkeypatch: pytest.MonkeyPatch,
    no_keys: None,
    cli: Callable[..., Done],
) -> Machine:
    """A folder with the bundled example, no keys, and a server that answers any prompt."""
    for name in ("clusters.json", "references.json", "summaries.jsonl", "labels.jsonl"):
        (tmp_path / name).write_bytes(example_path(name).read_bytes())  # type: ignore[union-attr]
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ".cache"))
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)
    stub.answer = journalist

    def run(line: str) -> Done:
        return cli(*shlex.split(line.replace(SERVER, stub.url)))

    return Machine(server=stub, patch=monkeypatch, run=run)


def outcome(entered: str, machine: Machine) -> tuple[int | None, str]:
    """Return the exit code of a command, None of Python, and what it says at its end."""
    if entered.startswith("$ fairjudge "):
        result = machine.run(entered.removeprefix("$ fairjudge ").replace("\\\n", " "))
        findings = "".join(re.findall(r"^In short: .*\n", result.out, re.MULTILINE))
        return result.code, findings + result.err.replace(machine.server.url, SERVER)
    code = re.sub(r"^>>> ", "", entered, flags=re.MULTILINE)
    with pytest.raises(FairJudgeError) as error:
        exec(code, {})  # noqa: S102  # our own documentation
    return None, f"{type(error.value).__name__}: {error.value}\n"


def setups_of(mistake: re.Match[str]) -> list[str]:
    return mistake["setups"].split(", ") if mistake["setups"] else []


MISTAKES = list(BLOCK.finditer(PAGE))


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda match: match["title"])
def test_mistake_gives_the_documented_output(mistake: re.Match[str], machine: Machine) -> None:
    for name in setups_of(mistake):
        SETUPS[name](machine)
    code = None if mistake["entered"].startswith(">>>") else int(mistake["code"] or 1)
    assert outcome(mistake["entered"], machine) == (code, mistake["message"])


def test_every_block_of_the_page_is_run() -> None:
    assert len(MISTAKES) >= 30
    assert PAGE.count("```text\n") == PAGE.count("\n### ") == len(MISTAKES)
    assert {name for match in MISTAKES for name in setups_of(match)} == set(SETUPS)
