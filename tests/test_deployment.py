"""What others run: the action for CI, the skill's page for agents, and the container's files.

No container is built here: Dockerfile and compose.yaml are parsed, held to hadolint's rules that
concern them, and the command that they run is tried.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from built_copies import ROOT, built, environment_of, source_copy
from cli_tools import write_jsonl
from command_fixtures import cli

from fairjudge.datasets import example_path

__all__ = ["cli"]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))["services"]["annotate"]


def docker_lines() -> list[tuple[str, str]]:
    text = (ROOT / "Dockerfile").read_text("utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(line.split(" ", 1)[0], line.split(" ", 1)[1]) for line in lines]


def run_action(folder: Path, binaries: Path, **given: str) -> tuple[int, str]:
    """Run the steps of the action in order, as a runner does; return exit code and summary."""
    inputs = {name: option.get("default", "") for name, option in ACTION["inputs"].items()} | given
    summary, output = folder / "summary.md", folder / "output.txt"
    for step in ACTION["runs"]["steps"]:
        assert step["shell"] == "bash"
        own = {
            name: re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda match: inputs[match[1]], value)
            for name, value in step["env"].items()
        }
        runner = {"GITHUB_STEP_SUMMARY": summary, "GITHUB_OUTPUT": output, "RUNNER_TEMP": folder}
        pip = {"PIP_NO_INDEX": "1", "PIP_NO_DEPS": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        path = {"PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}", "HOME": str(folder)}
        result = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=folder, env=own | pip | path | {name: str(p) for name, p in runner.items()},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if result.returncode:
            return result.returncode, summary.read_text() if summary.exists() else result.stderr
    return 0, summary.read_text()


def anchors(folder: Path, name: str, flipped: int) -> None:
    rows: list[dict[str, Any]] = [
        {"eid": f"e{n}", "system": "s", "aspect": "coverage", "protocol": "binary", "judge": "j",
         "value": float((n % 2) ^ (n < flipped))}
        for n in range(60)
    ]  # fmt: skip
    write_jsonl(folder / name, rows)


def test_action_exit_status_matches_the_gate(tmp_path: Path) -> None:
    wheel = built("wheel", source_copy(tmp_path / "source"), tmp_path / "made")
    binaries = environment_of(None, tmp_path / "environment").parent
    assert not (binaries / "fairjudge").exists()
    labels = [
        {"eid": f"e{n}", "system": "s", "aspect": "coverage", "annotator": "ann", "value": n % 2}
        for n in range(60)
    ]
    write_jsonl(tmp_path / "labels.jsonl", labels)
    anchors(tmp_path, "old.jsonl", 0)
    anchors(tmp_path, "worse.jsonl", 40)
    files = {"baseline": "old.jsonl", "labels": "labels.jsonl", "package": str(wheel)}
    code, summary = run_action(tmp_path, binaries, judgements="old.jsonl", **files)
    assert code == 0, summary
    assert (binaries / "fairjudge").exists()
    assert "In short: Passed" in summary
    report = (tmp_path / "output.txt").read_text().strip().removeprefix("report=")
    assert json.loads(Path(report).read_text())
    code, summary = run_action(tmp_path, binaries, judgements="worse.jsonl", **files)
    assert code == 4
    assert "In short: Failed" in summary
    code, summary = run_action(tmp_path, binaries, judgements="$(touch hacked)", **files)
    assert code == 1
    assert not (tmp_path / "hacked").exists()


def test_dockerfile_passes_hadolint() -> None:
    lines = docker_lines()
    names = [name for name, _ in lines]
    assert names[0] == "FROM"
    assert re.fullmatch(r"python:3\.\d+-slim", lines[0][1])  # DL3006, DL3007: a tag, not latest
    assert "ADD" not in names  # DL3020
    for name, value in lines:
        if name == "COPY":
            assert all((ROOT / item).exists() for item in value.split()[:-1])
        if name == "RUN" and "pip install" in value:
            assert "--no-cache-dir" in value  # DL3042
        if name in {"ENTRYPOINT", "CMD"}:
            assert json.loads(value)  # DL3025: the form of a list
        if name == "WORKDIR":
            assert value.startswith("/")  # DL3000
    user = names.index("USER")
    assert user < names.index("ENTRYPOINT")
    assert dict(lines)["USER"] != "root"  # DL3002


def test_container_command_serves_the_published_port(
    cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("references.json", "summaries.jsonl"):
        shutil.copyfile(example_path(name), name)  # type: ignore[arg-type]
    lines = dict(docker_lines())
    words = [*json.loads(lines["ENTRYPOINT"]), *COMPOSE["command"]]
    assert words[0] == "fairjudge"
    cli(*words[1:], "--dry-run", code=0)
    assert f"--port={lines['EXPOSE']}" in words
    assert COMPOSE["ports"] == [f"127.0.0.1:{lines['EXPOSE']}:{lines['EXPOSE']}"]
    assert COMPOSE["volumes"][0].endswith(f":{lines['WORKDIR']}")


def test_skill_is_short_and_states_when_to_use_it() -> None:
    _, front, body = (ROOT / "SKILL.md").read_text("utf-8").split("---\n", 2)
    text = yaml.safe_load(front)
    assert text["name"] == "fairjudge"
    assert 40 < len(text["description"]) < 1024
    assert len(body.splitlines()) < 80
