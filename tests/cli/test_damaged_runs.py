"""A run's folder in which something else stands: one error that names it, and no traceback."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from cli_tools import building, journalist, judging, openai

DAMAGES = {
    "half": lambda data: data[: len(data) // 2],
    "zeroes": lambda data: bytes(len(data)),
    "something else": lambda data: b"this was a file once\n" * 200,
    "nothing": lambda data: b"",
    "nested without end": lambda data: b"[" * 5_000 + b"\n",
    "rows of another kind": lambda data: b'{"x": 1}\n' + data,
    "other types": lambda data: b'{"eid": [], "system": {}, "task": 1, "retry": 0}\n',
    "a list": lambda data: b"[]\n",
}


def summarizing(server) -> tuple[str, ...]:
    return ("summarize", "clusters.jsonl", "-o", "s.jsonl", *openai(server))


@pytest.mark.parametrize("make", [building, summarizing, judging])
def test_damaged_file_is_repaired_or_named(cli, clusters, references, summaries, server, make):
    server.answer = journalist
    command = (*make(server), "--run", "damaged")
    assert cli(*make(server), "--run", "whole").code == 0
    output = Path(command[command.index("-o") + 1])
    before = output.read_bytes()
    for file in sorted(Path("whole").iterdir()):
        if file.name == ".lock":
            continue
        for damage_name, damage in DAMAGES.items():
            shutil.copytree("whole", "damaged")
            (Path("damaged") / file.name).write_bytes(damage(file.read_bytes()))
            result = cli(*command)
            if result.code == 0:
                assert output.read_bytes() == before, (file.name, damage_name)
            else:
                assert result.code == 1, (file.name, damage_name)
                (line,) = result.err.splitlines()
                assert line.startswith("error: damaged"), (file.name, damage_name, line)
            shutil.rmtree("damaged")
