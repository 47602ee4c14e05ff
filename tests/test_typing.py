"""Type checkers and help() see the calls as they are, of a wheel and of an editable install."""

from __future__ import annotations

import importlib.util
import inspect
import json
import pydoc
import subprocess
import sys
from collections.abc import Callable
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import pytest
from built_copies import built, environment_of, source_copy
from missing import missing

import fairjudge as fj
from fairjudge.options.building import BuildOptions
from fairjudge.options.judging import JudgeOptions
from fairjudge.options.summarizing import SummarizeOptions

OPTIONS = [(fj.build, BuildOptions), (fj.Judge, JudgeOptions), (fj.summarize, SummarizeOptions)]
RIGHT = """\
import fairjudge as fj

model = fj.Model("openai:m", max_cost=5)
references = fj.build("c.jsonl", model=model, n_questions=4)
judge = fj.Judge(model, aspect="coverage", protocol="checklist", samples=3, derive=["likert"])
result = judge(references, "s.jsonl", limit=10)
n: int = len(result)
markdown: str = result.leaderboard(seed=1).to_markdown()
fj.summarize("c.jsonl", model=model, n_words=50, sweeps=["temperature=0.5,1"]).save("s.jsonl")
fj.fairness.coverage("c.jsonl", "s.jsonl", attribute="party").table().to_csv()
fj.bias.words("c.jsonl", "s.jsonl", seed=1).to_dict()
fj.audit.position(result, close_within=1.0).to_dict()
fj.align("r", "s", "l", model=model, aspect="coverage", reference_unit="article")


async def awaited() -> int:
    return len(await fj.abuild("c.jsonl", pipeline="paper"))
"""
WRONG = """\
import fairjudge as fj

fj.build("c.jsonl", n_question=4)
fj.build("c.jsonl", n_questions="four")
fj.Judge("local", aspect="coverage", protocol="likart")
fj.Judge("local", aspect="coverage", temprature=1.0)
fj.summarize("c.jsonl", model="openai:m", strategy="indirect")
fj.align("r", "s", "l", model="m", aspect="coverage", reference_units="article")
fj.fairness.coverage("c.jsonl", "s.jsonl", attribute=3)
fj.fairness.covrage("c.jsonl")
fj.bias.words("c.jsonl", "s.jsonl", seeds=1)
fj.biuld("c.jsonl")
"""
N_RIGHT, N_WRONG = RIGHT.count("\n"), WRONG.count("\nfj.")
# Modules whose types the two files rest on; the rest of the library is checked by itself.
MYPY = """\
[mypy]
follow_imports = skip
[mypy-fairjudge,fairjudge.api.*,fairjudge.options.*,fairjudge.domain,fairjudge.errors,\
fairjudge.judges.asking,fairjudge.fairness,fairjudge.bias]
follow_imports = silent
"""


@pytest.fixture(scope="module", params=["wheel", "editable"])
def installed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the Python of an environment in which the library is installed."""
    folder = tmp_path_factory.mktemp(request.param)
    result = built(request.param, source_copy(folder / "source"), folder / "made")
    return environment_of(result, folder / "environment")


def mypy_lines(python: Path, folder: Path) -> set[tuple[str, int]]:
    (folder / "mypy.ini").write_text(MYPY)
    command = ["-m", "mypy", "--config-file", "mypy.ini", "--python-executable", str(python)]
    command += ["--cache-dir", str(python.parents[2] / "mypy"), "--no-error-summary"]
    files = ["right.py", "wrong.py"]
    result = subprocess.run(
        [sys.executable, *command, *files],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.stderr == ""
    errors = [line for line in result.stdout.splitlines() if ": error:" in line]
    return {(line.split(":")[0], int(line.split(":")[1])) for line in errors}


def pyright_lines(python: Path, folder: Path) -> set[tuple[str, int]]:
    if importlib.util.find_spec("basedpyright") is None:
        missing("basedpyright (the group 'release')")
    (folder / "pyrightconfig.json").write_text('{"typeCheckingMode": "standard"}')
    command = ["-m", "basedpyright", "--outputjson", "--pythonpath", str(python)]
    result = subprocess.run(
        [sys.executable, *command], cwd=folder, capture_output=True, text=True, check=False
    )
    errors = json.loads(result.stdout)["generalDiagnostics"]
    return {(Path(error["file"]).name, error["range"]["start"]["line"] + 1) for error in errors}


@pytest.mark.parametrize("checker", [mypy_lines, pyright_lines])
def test_correct_calls_type_check_and_wrong_ones_fail(
    installed: Path, checker: Callable[[Path, Path], set[tuple[str, int]]], tmp_path: Path
) -> None:
    (tmp_path / "right.py").write_text(RIGHT)
    (tmp_path / "wrong.py").write_text(WRONG)
    assert checker(installed, tmp_path) == {("wrong.py", 3 + place) for place in range(N_WRONG)}


def widened(hint: str) -> str:
    """Return what a call takes where a dataclass of options holds `hint`."""
    return hint.replace("tuple[", "Sequence[").replace(", ...]", "]").replace("Path", "str | Path")


@pytest.mark.parametrize(("call", "kind"), OPTIONS)
def test_a_call_has_every_option_as_a_keyword_of_the_declared_type_and_default(
    call: Any, kind: Any
) -> None:
    parameters = inspect.signature(call).parameters
    declared = kind.__annotations__
    for field in fields(kind):
        parameter = parameters[field.name]
        assert parameter.kind is inspect.Parameter.KEYWORD_ONLY
        default = inspect.Parameter.empty if field.default is MISSING else field.default
        assert parameter.default == default
        bare = declared[field.name].removeprefix("Annotated[").split(", Opt(")[0]
        if field.name not in {"cascade", "protocol", "min_sources"}:  # read from more, or an alias
            # the module that a type is taken from aside
            assert parameter.annotation.replace("asking.", "") == widened(bare)
    others = parameters.keys() - {field.name for field in fields(kind)}
    assert others <= {"clusters", "model", "run", "jury"}


@pytest.mark.parametrize("call", [fj.build, fj.abuild, fj.Judge, fj.summarize, fj.align])
def test_help_shows_and_explains_every_keyword(call: Any) -> None:
    text = pydoc.render_doc(call, renderer=pydoc.plaintext)
    explained = inspect.getdoc(call).partition("Parameters\n")[2].partition("Raises\n")[0]
    for name in inspect.signature(call).parameters:
        assert f"{name}: " in text
        assert name in explained


@pytest.mark.parametrize("module", [fj.fairness, fj.bias])
def test_measures_are_listed_and_documented(module: Any) -> None:
    assert dir(module) == sorted(module.__all__)
    assert all(inspect.getdoc(getattr(module, name)) for name in module.__all__)
