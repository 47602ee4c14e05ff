"""Every number that a command says stands in that command's own tables, on data that vary."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import typer
from align_study import EXAMPLES, judge, pair_judge, write_data, write_pairs
from cli_tools import cluster, journalist, write_jsonl
from json_files import read_json
from report_study import run
from sentence_checker import altered, texts_of, without_figure
from sentence_inputs import write_inputs
from typer.testing import CliRunner

from fairjudge.reports.kinds import KINDS, make_tables
from fairjudge.reports.report_page import make_figures
from fairjudge.reports.tables import TextTable, columns, to_text

COMMANDS = {
    "rank": "rank pairs.jsonl",
    "compare": "compare one.jsonl two.jsonl",
    "audit position": "audit position pairs.jsonl",
    "audit parse": "audit parse one.jsonl",
    "audit stability": "audit stability repeats.jsonl",
    "audit length": "audit length pairs.jsonl --summaries summaries.jsonl",
    "audit covered": "audit covered answers.jsonl --references references.jsonl",
    "calibrate": "calibrate one.jsonl --labels labels.jsonl",
    "check": "check one.jsonl --baseline two.jsonl --labels labels.jsonl",
    "fairness proportional": "fairness proportional references.jsonl --summaries summaries.jsonl "
    "--attribute side",
    "bias words": "bias words references.jsonl --summaries summaries.jsonl --resamples 100",
    "bias quality": "bias quality controlled.jsonl --judgements relevance.jsonl",
    "bias distinguishability": "bias distinguishability controlled.jsonl "
    "--summaries variants.jsonl --representation counts",
    "cascade": "calibrate cascade --local cheap.jsonl --judged one.jsonl --labels labels.jsonl "
    "-o thresholds.json",
    "fairness coverage": "fairness coverage references.jsonl --summaries summaries.jsonl "
    "--attribute side --scorer judgements:support.jsonl",
    "fairness overall": "fairness overall coverage.json other.json --measure equal_coverage",
    "fairness agreement": "fairness agreement coverage.json other.json",
    "fairness people": "fairness people coverage.json proportional.json --leanings leanings.jsonl",
    "fairness compare": "fairness compare coverage.json --baseline alpha",
    "fairness temperature": "fairness temperature references.jsonl --summaries summaries.jsonl "
    "--attribute side --scorer matrix:scores.jsonl --human shares.jsonl",
    "fairness oracle": "fairness oracle references.jsonl --attribute side --documents 2",
    "fairness chunk-size": "fairness chunk-size references.jsonl --summaries summaries.jsonl "
    "--scorer entailment --sizes 0,8",
    "audit verbosity": "audit verbosity longer.jsonl",
    "audit statements": "audit statements statements.jsonl --references references.jsonl",
    "audit citations": "audit citations statements.jsonl --summaries citing.jsonl "
    "--references references.jsonl",
    "audit order": "audit order --references references.jsonl --summaries summaries.jsonl {model}",
    "audit order --of groups": "audit order --of groups --references references.jsonl "
    "--summaries summaries.jsonl {model}",
    "audit checks": "audit checks --references references.jsonl --summaries summaries.jsonl "
    "--aspect faithfulness {model}",
    "bias entities": "bias entities people.jsonl --summaries naming.jsonl",
    "cascade --guarantee": "calibrate cascade --local pairs.jsonl --labels preferences.jsonl "
    "--guarantee 0.6 -o kept.json",
    "references apply": "references apply references.jsonl validity.jsonl -o valid.jsonl",
}
FIRST = {
    "coverage": COMMANDS["fairness coverage"],
    "other": COMMANDS["fairness coverage"].replace("support", "other"),
    "proportional": COMMANDS["fairness proportional"],
}
"""Reports that other commands read."""


WITHOUT_FIGURES = {
    "audit parse",
    "cascade",
    "cascade --guarantee",
    "references apply",
    "audit order --of groups",  # of which the stub's replies have no share
}
TESTED_APART = {
    "align": "test_numbers_in_align_sentences_are_in_its_tables",
    "build": "test_build_counts_add_up_over_its_tables",
}


@pytest.fixture(scope="module", params=range(3))
def inputs(request, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp(f"seed{request.param}")
    write_inputs(folder, request.param)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name, command in FIRST.items():
            run(*command.split(), "--json", f"{name}.json")
    return folder


@pytest.fixture
def model(stub, monkeypatch) -> str:
    """The options of a server that answers every prompt, always the same one alike."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    stub.answer = journalist
    return f"--backend openai:stub --base-url {stub.v1}"


def findings_and_tables(kind: str, command: str) -> tuple[list[str], list[str]]:
    """Run a command; return what it says, and what its tables show."""
    from fairjudge.cli._main import app

    result = CliRunner().invoke(app, [*command.split(), "--json", "found.json"])
    if any(few in str(result.exception) for few in ("a cascade needs", "no guarantee is possible")):
        pytest.skip("too few clusters for a cascade")
    # 3: much without a score; 4: a check that fails
    assert result.exit_code in {0, 3, 4}, (result.output, result.exception)
    report = read_json("found.json")
    tables = make_tables(kind, report)
    assert tables
    # what the terminal says first is what the JSON has
    assert all(
        " ".join(item.split()) in " ".join(result.output.split()) for item in report["findings"]
    )
    assert [line for width in (60, 80, 120) for line in broken_figures(tables, width)] == []
    return report["findings"], texts_of(tables)


def broken_figures(tables: Iterable[TextTable], width: int) -> Iterator[str]:
    """Yield the lines at whose end an interval or a percentage goes on in the next line."""
    for table in tables:
        cells = replace(table, title="", notes=())
        for line in to_text(cells, width=width).splitlines():
            for cell in re.split(r"\s{2,}", line):
                if re.search(r"\[[-+]?[\d.]+,$|^[-+]?[\d.]+\]|^%|[<>]=?$", cell.strip()):
                    yield f"{width}: {line}"


@pytest.mark.parametrize("name", COMMANDS)
def test_numbers_in_sentences_are_in_the_tables(inputs, model, monkeypatch, name):
    monkeypatch.chdir(inputs)
    kind = name.removesuffix(" --of groups")
    findings, tables = findings_and_tables(kind, COMMANDS[name].format(model=model))
    assert findings
    assert without_figure(findings, tables) == []
    changes = [*altered(findings, tables)]
    assert len(without_figure(changes, tables)) == len(changes)
    report = read_json("found.json")
    assert bool(make_figures(kind, report)) == (name not in WITHOUT_FIGURES)


@pytest.mark.parametrize("pairs", [False, True])
@pytest.mark.parametrize("sees", [EXAMPLES, None])
def test_numbers_in_align_sentences_are_in_its_tables(tmp_path, monkeypatch, stub, sees, pairs):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    (write_pairs if pairs else write_data)()
    stub.answer = (pair_judge if pairs else judge)(sees="how people" if sees else None)
    command = (
        "calibrate align --references clusters.jsonl --summaries summaries.jsonl --labels "
        f"labels.jsonl --aspect faithfulness -o aligned --backend openai:stub --base-url {stub.v1}"
    )
    command += " --protocol pairwise" if pairs else ""
    findings, tables = findings_and_tables("align", command)
    assert len(findings) > 2
    assert without_figure(findings, tables) == []
    changes = [*altered(findings, tables)]
    assert changes
    assert len(without_figure(changes, tables)) == len(changes)


def test_build_counts_add_up_over_its_tables(tmp_path, monkeypatch, stub):
    from fairjudge.cli._main import app

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    stub.answer = journalist
    write_jsonl(Path("clusters.jsonl"), [cluster("bridge"), cluster("tower", 5)])
    model = f"--backend openai:stub --base-url {stub.v1}"
    result = CliRunner().invoke(app, f"build clusters.jsonl -o r.jsonl {model}".split())
    assert result.exit_code == 0, result.output
    counts = [int(n) for n in re.findall(r"articles used, (\d+) question", result.output)]
    assert len(counts) == 2
    assert f"In short: {sum(counts)} questions on 2 clusters." in result.output


def commands(app: typer.Typer) -> Iterator[tuple[str, set[str]]]:
    """Yield every command as it is typed, with the names of its parameters."""

    def walk(command, names) -> Iterator[tuple[str, set[str]]]:
        for name, subcommand in getattr(command, "commands", {}).items():
            yield " ".join((*names, name)), {parameter.name for parameter in subcommand.params}
            yield from walk(subcommand, (*names, name))

    yield from walk(typer.main.get_command(app), ())


def test_every_command_with_sentences_is_checked():
    """The others have no sentences: of their JSON no rule says anything."""
    from fairjudge.cli._main import app

    kinds = {"calibrate align": "align", "calibrate cascade": "cascade"}
    with_findings = KINDS.keys() - {"bias inputs", "references recall"}
    saying = {name for name, _ in commands(app) if kinds.get(name, name) in with_findings}
    assert {kinds.get(name, name) for name in saying} | {"cascade --guarantee"} == with_findings
    checked = {name.removesuffix(" --of groups") for name in COMMANDS} | TESTED_APART.keys()
    assert checked == with_findings


def test_every_command_with_plots_saves_them():
    from fairjudge.cli._main import app

    kinds = {name.removesuffix(" --of groups") for name in COMMANDS}
    saving = {name for name, parameters in commands(app) if "figures" in parameters}
    # calibrate, a command and a group, has its own: tests/journeys/test_figures.py
    assert saving | {"calibrate"} == (kinds - WITHOUT_FIGURES) | {"report"}


def test_checker_finds_a_number_missing_from_tables():
    table = TextTable(title="Means of c7", columns=columns("system"), rows=(("a", "4.49 of 12"),))
    texts = [
        "a has 4.49, about 4, of 12.",
        "b has 4.50.",
        "a leaves out 7.",
        "Next: judge 30 more.",
    ]
    assert without_figure(texts, texts_of([table])) == [
        "'b has 4.50.' has ['4.50']",
        "'a leaves out 7.' has ['7']",
    ]
