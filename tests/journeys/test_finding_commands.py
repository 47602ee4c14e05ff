"""A user looks for a command: the first screen, groups, help at any width, names that are wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from cli_tools import write_jsonl
from typer.main import get_command

from fairjudge.cli._main import app
from fairjudge.options.declaring import Panel


def commands(group: Any = None, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the words and the command of all that can be called, groups' defaults too."""
    group = group or get_command(app)
    default = getattr(group, "default", None)
    if default is not None:
        yield path, default
    for name, below in getattr(group, "commands", {}).items():
        words = f"{path} {name}".strip()
        if hasattr(below, "commands"):
            yield from commands(below, words)
        else:
            yield words, below


COMMANDS = dict(commands())
GROUPS = [name for name, below in get_command(app).commands.items() if hasattr(below, "commands")]


def sections(text: str) -> dict[str, str]:
    """Return the sections of a help by title."""
    _, *parts = re.split(r"^(\w[\w ]*):\n", text, flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def test_the_first_screen_lists_at_most_12_commands_and_fits_a_terminal(cli):
    text = sections(cli("--help").out)
    groups = re.findall(r"^  (\w+)", text.pop("Groups of commands"), re.MULTILINE)
    text.pop("Options")
    names = re.findall(r"^  (\w+)", "".join(text.values()), re.MULTILINE)
    assert len(names) <= 12
    assert sorted([*names, *groups]) == sorted(get_command(app).commands)
    assert set(groups) <= set(GROUPS)


@pytest.mark.parametrize("width", [80, 120])
def test_help_shows_every_option_in_a_section_untruncated(width):
    root = get_command(app)
    size = {"terminal_width": width, "max_content_width": width}
    for name, command in [*COMMANDS.items(), *((name, root.commands[name]) for name in GROUPS)]:
        function = getattr(command, "default", None) or command
        with function.make_context(name, [], resilient_parsing=True, **size) as context:
            text = function.get_help(context)
        for line in text.splitlines():
            assert len(line) <= width or len(line.split()) < 3, line  # choices are one word
            assert "…" not in line
        by_panel = sections(text)
        subcommands = by_panel.pop("Commands", "")
        assert not re.search(r"\.\.\.$", subcommands, re.MULTILINE), name
        assert "--help" in [*by_panel.values()][-1], name
        assert [*by_panel] == sorted(by_panel, key=get_args(Panel).index), name
        for param in function.params:
            if param.param_type_name == "option":
                panel = by_panel[param.rich_help_panel]
                assert re.search(rf"(^|[ ,]){param.opts[0]}\b", panel, re.MULTILINE), (name, param)
        below = getattr(function, "others", None) or getattr(command, "commands", {})
        for other in below:
            assert re.search(rf"^  {other} +[A-Z]", subcommands, re.MULTILINE), (name, other)


def test_a_group_runs_its_default_command_unless_the_first_word_names_another(cli):
    write_jsonl(
        Path("judged.jsonl"),
        [
            {
                "eid": f"e{n}", "system": "s", "aspect": "coverage", "protocol": "likert",
                "judge": "j", "value": n % 5 + 1,
            }
            for n in range(30)
        ],
    )  # fmt: skip
    labels = [
        {"eid": f"e{n}", "system": "s", "aspect": "coverage", "annotator": "a", "value": n % 4 + 1}
        for n in range(30)
    ]
    write_jsonl(Path("labels.jsonl"), labels)
    for words in (
        ("judged.jsonl", "--labels", "labels.jsonl"),
        ("--labels", "labels.jsonl", "judged.jsonl"),
    ):
        result = cli(
            "calibrate", *words, "--resamples", "100", "--save", "c.json", "--json", "-", code=0
        )
        assert json.loads(result.out)["groups"]
    result = cli("calibrate", "apply", "c.json", "judged.jsonl", "-o", "calibrated.jsonl")
    assert "30 judgements calibrated" in result.err
    refused = cli("calibrate", "judged.jsonl", code=2)
    assert "Usage: fairjudge calibrate [OPTIONS]" in refused.err
    assert "--labels" in refused.err
    for name in ("study", "calibrate"):
        assert "COMMAND [ARGS]..." in cli(name).err + cli(name).out
    assert "--plan" in cli("study", "--help").out


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("apply", ["calibrate apply", "references apply"]),
        ("align", ["calibrate align"]),
        ("cascad", ["calibrate cascade"]),
        ("plan", ["batch plan"]),
        ("load-batch", ["batch load"]),
        ("import", ["data import", "cache import"]),
        ("spilt", ["fairness split"]),
        ("judg", ["judge"]),
        ("audit positon", ["audit position"]),
        ("fairness calibrate", ["calibrate"]),
    ],
)
def test_unknown_command_gets_suggestions_from_all_groups(cli, words, meant):
    result = cli(*words.split(), code=2)
    names = " or ".join(f"'fairjudge {name}'" for name in meant)
    assert f"No such command '{words.split()[-1]}'. Did you mean {names}?" in " ".join(
        result.err.split()
    )


@pytest.mark.parametrize(
    ("typed", "names"),
    [
        ("fairjudge cal", ["calibrate"]),
        ("fairjudge calibrate a", ["apply", "align"]),
        ("fairjudge calibrate --la", ["--labels", "--label-scale"]),
        ("fairjudge calibrate --labels l.jsonl --la", ["--label-scale"]),
        ("fairjudge calibrate apply --sk", ["--skip-bad"]),
        ("fairjudge data im", ["import"]),
    ],
)
def test_shell_completion_of_names_and_options(cli, monkeypatch, typed, names):
    monkeypatch.setenv("_FAIRJUDGE_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", typed)
    monkeypatch.setenv("COMP_CWORD", str(len(typed.split()) - 1))
    assert cli().out.split() == names


def test_dissimilar_name_gets_no_suggestion(cli):
    assert "No such command 'xyzzy'.\n" in cli("xyzzy").err
