"""What is published: the archives, their metadata, the light install, and how to cite it."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tomllib
import zipfile
from email.parser import HeaderParser
from pathlib import Path

import jsonschema
import pytest
import yaml
from built_copies import ROOT, built, source_copy, unpacked
from command_fixtures import server
from missing import missing
from stub_server import StubServer

__all__ = ["server"]

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
LIGHT_MB = 400


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return the source archive, and the wheel that is built of it alone."""
    folder = tmp_path_factory.mktemp("release")
    sdist = built("sdist", source_copy(folder / "source"), folder / "sdist")
    return sdist, built("wheel", unpacked(sdist, folder / "unpacked"), folder / "wheel")


def test_the_wheel_of_the_source_archive_holds_every_package(archives: tuple[Path, Path]) -> None:
    setup = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]
    with zipfile.ZipFile(archives[1]) as wheel:
        names = set(wheel.namelist())
    for package in setup["packages"]:
        folder = ROOT.joinpath(*package.split("."))
        files = [path for path in folder.iterdir() if path.is_file() and path.suffix != ".pyc"]
        inside = {f"{package.replace('.', '/')}/{path.name}" for path in files}
        assert inside <= names, package


def test_twine_accepts_wheel_and_source_archive(archives: tuple[Path, Path]) -> None:
    if importlib.util.find_spec("twine") is None:
        missing("twine (the group 'release')")
    command = [sys.executable, "-m", "twine", "check", "--strict", *map(str, archives)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout
    assert result.stdout.count("PASSED") == 2


def test_metadata_has_the_fields_shown_by_the_index(archives: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(archives[1]) as wheel:
        (name,) = (name for name in wheel.namelist() if name.endswith("/METADATA"))
        metadata = HeaderParser().parsestr(wheel.read(name).decode())
    classifiers = metadata.get_all("Classifier")
    for version in ("3.11", "3.12", "3.13"):
        assert f"Programming Language :: Python :: {version}" in classifiers
    assert metadata["License-Expression"] == "Apache-2.0"
    assert len(metadata["Keywords"].split(",")) >= 5


def test_the_citation_follows_its_schema_and_names_this_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["version"] == PROJECT["version"]
    assert citation["license"] == PROJECT["license"]
    package = importlib.util.find_spec("cffconvert")  # not imported: it is here without its needs
    if package is None:
        missing("cffconvert, which has the schema")
    (folder,) = package.submodule_search_locations
    schema = Path(folder) / "schemas" / "1.2.0" / "schema.json"
    plain = json.loads(json.dumps(citation, default=str))
    jsonschema.validate(plain, json.loads(schema.read_text("utf-8")))


@pytest.mark.large
def test_the_light_install_is_small_and_works_in_an_empty_environment(
    archives: tuple[Path, Path], server: StubServer, capsys, tmp_path: Path
) -> None:
    home = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", home], check=True)
    pip = [home / "bin" / "python", "-I", "-m", "pip", "install", "--quiet"]
    wheel = ["--constraint", ROOT / "constraints.txt", archives[1]]
    subprocess.run([*pip, "--disable-pip-version-check", *wheel], check=True)
    (site,) = home.glob("lib/python*/site-packages")
    tools = ("pip", "setuptools", "pkg_resources", "_distutils_hack")
    sizes = {
        path.name: sum(item.stat().st_size for item in path.rglob("*") if item.is_file())
        for path in site.iterdir()
        if path.is_dir() and not path.name.startswith(tools)
    }
    heaviest = sorted(sizes.items(), key=lambda pair: -pair[1])[:8]
    n_mb = sum(sizes.values()) / 1e6
    parts = ", ".join(f"{name} {size / 1e6:.0f}" for name, size in heaviest)
    with capsys.disabled():
        sys.stdout.write(f"\nLight install: {n_mb:.0f} MB, of which {parts}\n")
    assert n_mb <= LIGHT_MB

    def run(*words: str, code: int = 0) -> str:
        command = [home / "bin" / "fairjudge", *words]
        result = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, check=False,
            env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "OPENAI_API_KEY": "sk-test"},
        )  # fmt: skip
        assert result.returncode == code, result.stderr
        return result.stdout + result.stderr

    example = site / "fairjudge" / "datasets" / "example"
    judged = ("--aspect", "coverage", "--protocol", "likert", "-o", "judged.jsonl")
    run(
        "judge", "--references", f"{example}/references.json",
        "--summaries", f"{example}/summaries.jsonl", *judged,
        "--backend", "openai:stub", "--base-url", f"{server.url}/v1",
    )  # fmt: skip
    run("calibrate", "judged.jsonl", "--labels", f"{example}/labels.jsonl", "--resamples", "100")
    run("report", "judged.jsonl", "-o", "page.html")
    assert (tmp_path / "page.html").stat().st_size > 10_000
    assert "fairjudge[local]" in run("quickstart", code=1)
    assert "fairjudge[anthropic]" in run(
        "summarize", f"{example}/clusters.json", "-o", "s.jsonl", "--backend", "anthropic:m",
        code=1,
    )  # fmt: skip
