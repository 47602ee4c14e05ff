"""What pyproject declares is what is on disk, and importing is cheap."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from fnmatch import fnmatch
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

import fairjudge
from fairjudge.cli._main import COMMANDS

ROOT = Path(__file__).parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
SETUP = PYPROJECT["tool"]["setuptools"]


def folder_of(package: str) -> Path:
    return ROOT.joinpath(*package.split("."))


def on_disk() -> set[str]:
    result = set()
    links = [path for path in (ROOT / "fairjudge").iterdir() if path.is_symlink()]
    for root in (ROOT / "fairjudge", *links):
        for folder in [root, *root.rglob("*")]:
            # folders that hold data only are packages all the same
            if (
                folder.is_dir()
                and folder.name != "__pycache__"
                and any(map(Path.is_file, folder.iterdir()))
            ):
                result.add(".".join(folder.relative_to(ROOT).parts))
    return result


def test_declared_packages_match_those_on_disk():
    assert set(SETUP["packages"]) == on_disk()


USERS_OWN = {"pandas", "pytest"}
"""Used where the user has them: tables are made for pandas, and pytest loads the plug-in."""


def imported() -> dict[str, str]:
    """Return the packages of others that modules import, each with a module that does."""
    by_name: dict[str, str] = {}
    for package in SETUP["packages"]:
        for file in folder_of(package).glob("*.py"):
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
                    names = [node.module]
                by_name |= {name.partition(".")[0]: f"{package}.{file.stem}" for name in names}
    return {name: by for name, by in by_name.items() if name not in sys.stdlib_module_names}


def test_every_package_that_is_imported_is_declared():
    project = PYPROJECT["project"]
    extras = [line for lines in project["optional-dependencies"].values() for line in lines]
    declared = {
        re.split(r"[^A-Za-z0-9._-]", line, maxsplit=1)[0].lower().replace("_", "-")
        for line in [*project["dependencies"], *extras]
    }
    of = packages_distributions()
    undeclared = {
        name: by
        for name, by in imported().items()
        if name in of
        and name not in {"fairjudge", *USERS_OWN}
        and not declared.intersection(d.lower().replace("_", "-") for d in of[name])
    }
    assert undeclared == {}


def test_dependencies_with_relied_on_behaviour_have_upper_bounds():
    extras = PYPROJECT["project"]["optional-dependencies"]["anthropic"]
    for name in ("aiohttp", "anthropic", "httpx2", "langchain-core", "langchain-openai", "openai"):
        (line,) = (
            line
            for line in (*PYPROJECT["project"]["dependencies"], *extras)
            if re.match(rf"{name}[^a-z0-9-]", line)
        )
        assert "<" in line, line


def test_every_non_module_file_is_declared_as_data():
    declared = SETUP["package-data"]
    missing = [
        f"{package}: {file.name}"
        for package in SETUP["packages"]
        for file in folder_of(package).iterdir()
        if file.is_file()
        and file.suffix not in {".py", ".pyc"}
        and not any(fnmatch(file.name, pattern) for pattern in declared.get(package, []))
    ]
    assert missing == []


def test_every_pattern_of_data_matches_a_file():
    for package, patterns in SETUP["package-data"].items():
        for pattern in patterns:
            assert list(folder_of(package).glob(pattern)), (package, pattern)


def loaded_after(statement: str) -> list[str]:
    code = f"import sys, json\n{statement}\nprint(json.dumps(sorted(sys.modules)))"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300
    )
    return json.loads(result.stdout)


HEAVY = {"langgraph", "langchain_core", "langchain_openai", "torch", "transformers", "anthropic",
         "openai", "litellm", "spacy", "sklearn", "scipy", "numpy", "pydantic", "diskcache",
         "httpx", "typer", "rich"}  # fmt: skip


@pytest.mark.parametrize(
    ("statement", "unwanted"),
    [
        ("import fairjudge", HEAVY),
        ("import fairjudge.cli._main", HEAVY - {"typer", "rich"}),
        ("import fairjudge.domain, fairjudge.errors", HEAVY - {"pydantic"}),
        # half a second; what is needed of it, `scipy.special` has
        ("import fairjudge.run.judged, fairjudge.cli.calibrate", {"scipy.stats"}),
    ],
)
def test_importing_loads_nothing_heavy(statement, unwanted):
    assert unwanted & set(loaded_after(statement)) == set()


def commands_loaded_after(*arguments: str) -> set[str]:
    run = "from typer.testing import CliRunner; "
    run += f"assert not CliRunner().invoke(app, {list(arguments)}).exit_code"
    loaded = loaded_after(f"from fairjudge.cli._main import app; {run}")
    modules = {place.partition(":")[0] for place, _ in COMMANDS.values()}
    return {name for name in modules if f"fairjudge.cli.{name}" in loaded}


def test_commands_are_imported_lazily():
    assert commands_loaded_after("--help") == set()
    assert commands_loaded_after("judge", "--help") == {"judge"}
    assert commands_loaded_after("bias", "words", "--help") == {"bias"}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_help_of_a_command_loads_nothing_heavy(name):
    run = "from typer.testing import CliRunner; "
    run += f"assert not CliRunner().invoke(app, [{name!r}, '--help']).exit_code"
    loaded = set(loaded_after(f"from fairjudge.cli._main import app; {run}"))
    assert (HEAVY - {"typer", "rich", "pydantic"}) & loaded == set()


def test_all_is_the_public_surface():
    public = {name for name in vars(fairjudge) if not name.startswith("_")}
    submodules = {name for name in public if f"fairjudge.{name}" in sys.modules}
    assert public - submodules - {"annotations"} <= set(fairjudge.__all__)
    assert all(hasattr(fairjudge, name) for name in fairjudge.__all__)


def test_version_matches_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["version"] == fairjudge.__version__
