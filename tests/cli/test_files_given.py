"""Files on a command line: inputs stay as they are, pipes and odd names end in one message."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from cli_tools import building, cluster, finish, judging, start, write_jsonl
from typer.main import get_command

from fairjudge.cli._main import app
from fairjudge.cli.application import FOLDER_PARAMETERS, OUTPUT_PARAMETERS

PRECIOUS = b'{"eid": "what people did by hand"}\n'
LABELS = ("--labels", "x", "--judged", "y", "-o", "z")
COMMANDS = {
    "build": ("build", "IN", "-o", "OUT"),
    "build --json": ("build", "IN", "-o", "x", "--json", "OUT"),
    "build --prices": ("build", "x", "--prices", "IN", "-o", "OUT"),
    "convert": ("convert", "IN", "-o", "x", "--json", "OUT"),
    "summarize": ("summarize", "IN", "--backend", "openai:m", "-o", "OUT"),
    "judge": ("judge", "--references", "IN", "--summaries", "x", "--aspect", "a", "-o", "OUT"),
    "judge --summaries": (
        "judge", "--references", "x", "--summaries", "y", "--summaries", "IN", "-o", "OUT",
    ),
    "study --json": ("study", "IN", "--json", "OUT"),
    "study init": ("study", "init", "IN", "-o", "OUT"),
    "judge --json": (
        "judge", "--references", "x", "--summaries", "IN", "-o", "y", "--json", "OUT",
    ),
    "judge --scale": (
        "judge", "--references", "x", "--summaries", "y", "--scale", "IN", "-o", "OUT",
    ),
    "cascade": ("calibrate", "cascade", "--local", "IN", *LABELS, "--json", "OUT"),
    "cascade --ask": (
        "calibrate", "cascade", "--local", "x", "--labels", "IN", "-o", "y", "--guarantee", "0.9",
        "--ask", "OUT",
    ),
    "compare": ("compare", "IN", "x", "--json", "OUT"),
    "rank": ("rank", "IN", "--json", "OUT"),
    "split": ("fairness", "split", "IN", "-o", "OUT"),
    "plan": ("batch", "plan", "IN", "--json", "OUT"),
    "plan --batch": ("batch", "plan", "IN", "--batch", "OUT"),
    "load-batch": ("batch", "load", "IN", "--json", "OUT"),
    "import": ("data", "import", "IN", "-o", "OUT", "--protocol", "likert"),
    "import --scale": ("data", "import", "x", "--scale", "IN", "-o", "OUT", "--protocol", "likert"),
    "import --labels": ("data", "import", "IN", "--labels", "OUT"),
    "import --references": ("data", "import", "IN", "--references", "OUT"),
    "import --clusters": ("data", "import", "IN", "--summaries", "x", "--clusters", "OUT"),
    "export": ("data", "export", "IN", "-o", "OUT", "--to", "csv"),
    "export --summaries": (
        "data", "export", "x", "--summaries", "IN", "-o", "OUT", "--to", "label-studio",
    ),
    "annotate": ("annotate", "IN", "--task", "answers", "-o", "OUT"),
    "annotate --controls": (
        "annotate", "x", "--task", "answers", "--controls", "IN", "-o", "OUT",
    ),
    "calibrate --save": ("calibrate", "x", "--labels", "IN", "--save", "OUT"),
    "calibrate --html": ("calibrate", "x", "--labels", "IN", "--html", "OUT"),
    "calibrate --json": ("calibrate", "IN", "--labels", "x", "--json", "OUT"),
    "align --json": (
        "calibrate", "align", "--references", "x", "--summaries", "y", "--labels", "IN",
        "--aspect", "a", "--json", "OUT",
    ),
    "check --save": ("check", "x", "--baseline", "IN", "--labels", "y", "--save", "OUT"),
    "check --json": ("check", "IN", "--baseline", "x", "--labels", "y", "--json", "OUT"),
    "references apply": ("references", "apply", "IN", "x", "-o", "OUT"),
    "references apply --json": (
        "references", "apply", "x", "IN", "-o", "y", "--json", "OUT",
    ),
    "references recall": ("references", "recall", "x", "IN", "--json", "OUT"),
    "apply": ("calibrate", "apply", "x", "IN", "-o", "OUT"),
    "report": ("report", "x", "IN", "-o", "OUT"),
    "report --labels": ("report", "x", "--labels", "IN", "-o", "OUT"),
    "audit parse": ("audit", "parse", "IN", "--json", "OUT"),
    "audit position": ("audit", "position", "--labels", "IN", "--json", "OUT"),
    "fairness coverage": ("fairness", "coverage", "IN", "--summaries", "x", "--attribute", "a",
                          "--scorer", "unigrams", "--json", "OUT"),
    "fairness coverage --scorer": (
        "fairness", "coverage", "x", "--summaries", "y", "--attribute", "a",
        "--scorer", "matrix:IN", "--save-supports", "OUT",
    ),
    "fairness compare": ("fairness", "compare", "x", "IN", "--baseline", "b", "--json", "OUT"),
    "cache export": ("cache", "export", "OUT", "--cache", "IN/.."),
    "bias words": ("bias", "words", "IN", "--summaries", "x", "--json", "OUT"),
    "bias inputs": ("bias", "inputs", "IN", "-o", "OUT"),
}  # fmt: skip


@pytest.mark.parametrize("how", ["same", "dots", "symbolic", "hard"])
@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "cache export"])
def test_no_command_overwrites_its_input(cli, name, how):
    source = Path("in.jsonl")
    source.write_bytes(PRECIOUS)
    output = Path("out.jsonl")
    if how == "symbolic":
        output.symlink_to(source)
    elif how == "hard":
        os.link(source, output)
    else:
        output = source if how == "same" else Path("..") / Path.cwd().name / "in.jsonl"
    items = [
        part.replace("IN", str(source)) if part != "OUT" else output for part in COMMANDS[name]
    ]
    result = cli(*items, code=1)
    (line,) = result.err.splitlines()
    assert "would overwrite the input in.jsonl" in line
    assert source.read_bytes() == PRECIOUS
    assert sorted(path.name for path in Path().iterdir()) == sorted({"in.jsonl", output.name})


def commands(group=None, prefix: str = ""):
    for name, command in (group or get_command(app)).commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{name} ")
        else:
            yield f"{prefix}{name}", command


def test_every_writing_command_is_tested():
    """A new option for a file to write belongs among the `OUTPUT_PARAMETERS`."""
    for name, command in commands():
        writing = OUTPUT_PARAMETERS & {param.name for param in command.params}
        paths = {
            param.name: param.help or ""
            for param in command.params
            if "Path" in str(param.type_descriptor.annotation)
        }
        result = paths.keys() - OUTPUT_PARAMETERS - FOLDER_PARAMETERS
        for option in result:
            assert "rite " not in paths[option], (name, option)
            assert "Keep " not in paths[option], (name, option)
        if writing and result:
            assert name.split()[0] in {case[0] for case in COMMANDS.values()}, name


def test_two_outputs_need_different_files(cli, clusters):
    result = cli("build", clusters, "-o", "x.json", "--json", "x.json")
    assert (result.code, "are the same file" in result.err) == (1, True)
    assert not Path("x.json").exists()


def test_files_of_the_run_folder_cannot_be_outputs(cli, references, summaries, server):
    result = cli(*judging(server), "-o", "run/judgements.jsonl", "--run", "run", code=1)
    assert "would overwrite a file of the run" in result.err
    assert server.calls == []


def test_output_may_be_overwritten(cli, references, summaries, server):
    for _ in range(2):
        assert cli(*judging(server), "--json", "numbers.json").code == 0


@pytest.mark.parametrize("make", ["fifo", "device", "socket"])
@pytest.mark.parametrize("name", ["build", "judge", "judge --scale", "calibrate --json", "report"])
def test_pipes_and_devices_are_not_taken_for_inputs(name, make):
    """A process of its own: read as files, they would hang it or fill the memory."""
    source = Path("in.jsonl")
    if make == "fifo":
        os.mkfifo(source)
    elif make == "socket":
        os.mknod(source, 0o140600)
    else:
        source = Path("/dev/zero")
    items = [str(source) if part == "IN" else part for part in COMMANDS[name]]
    result = finish(start(*items), timeout=120)
    assert result.code == 1
    assert result.err == (
        f"error: {source}: expected a file, found a pipe or a device; write its content to a file "
        "first\n"
    )


@pytest.mark.parametrize("name", ["build", "judge", "report", "calibrate --json", "annotate"])
def test_too_long_file_name_gives_one_error(cli, name):
    for which in ("IN", "OUT"):
        items = ["n" * 300 if part == which else part for part in COMMANDS[name]]
        result = cli(*items, code=1)
        (line,) = result.err.splitlines()
        assert line.endswith("File name too long")


@pytest.mark.parametrize(
    ("args", "option"),
    [
        (("build", "x", "-o", "y", "--output", "z"), "-o / --output"),
        (("judge", "--protocol", "likert", "--protocol", "binary"), "--protocol"),
        (("judge", "--references", "x", "--references", "y"), "--references"),
        (("build", "x", "-o", "y", "--post-filter", "--no-post-filter"), "--post-filter"),
        (("audit", "checks", "--summaries", "x", "--summaries", "y"), "--summaries"),
        (("fairness", "coverage", "x", "--attribute", "a", "--attribute", "b"), "--attribute"),
        (("cache", "stats", "--cache", "a", "--cache", "b"), "--cache"),
    ],
)
def test_single_value_option_cannot_be_repeated(cli, args, option):
    result = cli(*args, code=2)
    assert result.err.splitlines()[-1] == (
        f"Error: Option '{option}' takes one value: run the command once per value (2)"
    )


HUGE = "9" * 400


def judgement(**more: object) -> dict[str, object]:
    return {
        "eid": "e", "system": "s", "aspect": "coverage", "protocol": "likert", "judge": "j",
        "value": 3, **more,
    }  # fmt: skip


def files_with_odd_values() -> dict[str, tuple[str, ...]]:
    """Write files, and return the commands that read them."""
    write_jsonl(Path("clusters.jsonl"), [cluster()])
    reply = {"eid": "e", "system_a": "a", "system_b": "b", "response": "A", "order": []}
    write_jsonl(Path("replies.jsonl"), [reply])
    row = {"group": "g", "gender": [], "first_names": ["A"]}
    Path("names.json").write_text(json.dumps([row]))
    Path("scale.toml").write_text(
        f'name = "s"\nkind = "number"\n[[levels]]\nanswer = "1"\nvalue = {HUGE}\n'
    )
    Path("prices.toml").write_text(
        f'[[price]]\nmodel = "openai:m"\ninput = {HUGE}\noutput = 1\ndate = "x"\nsource = "x"\n'
    )
    Path("calibrator.json").write_text(
        '{"fairjudge_calibrators": 1, "calibrators": [{"fairjudge_calibrator": 1, "n_labels": '
        f'{HUGE}, "curve": {{"method": "linear", "slope": {HUGE}}}}}]}}'
    )
    write_jsonl(Path("judgements.jsonl"), [judgement()])
    write_jsonl(Path("huge.jsonl"), [judgement(support=int(HUGE))])
    attributed = cluster()
    attributed["articles"][0]["attributes"] = {"stars": int(HUGE)}
    write_jsonl(Path("attributes.jsonl"), [attributed])
    Path("thresholds.json").write_text(f'{{"low": {HUGE}, "high": 1}}')
    options = ("--references", "clusters.jsonl", "--summaries", "s.jsonl", "-o", "o.jsonl")
    write_jsonl(Path("s.jsonl"), [{"eid": "bridge", "system": "s", "text": "The bridge closed."}])
    faithful = ("judge", *options, "--aspect", "faithfulness")
    return {
        "order": ("data", "import", "replies.jsonl", "-o", "o.jsonl", "--protocol", "pairwise"),
        "gender": ("bias", "inputs", "clusters.jsonl", "-o", "o.jsonl", "--names", "names.json"),
        "scale": (*faithful, "--scale", "scale.toml", "--prompt", "s.jsonl"),
        "import scale": (
            "data", "import", "replies.jsonl", "-o", "o.jsonl", "--protocol", "likert",
            "--scale", "scale.toml",
        ),
        "prices": (*faithful, "--backend", "openai:m", "--prices", "prices.toml"),
        "thresholds": (*faithful, "--cascade", "thresholds.json"),
        "calibrator": ("calibrate", "apply", "calibrator.json", "judged.jsonl", "-o", "o.jsonl"),
        "judgement": ("audit", "parse", "huge.jsonl"),
        "attribute": ("build", "attributes.jsonl", "-o", "o.jsonl"),
        "attribute of values": (
            "fairness", "proportional", "attributes.jsonl", "--summaries", "s.jsonl",
            "--attribute", "stars",
        ),
        "store": (*faithful, "--store", "postgresql://[::1/db"),
        "other store": (*faithful, "--store", "postgresql://u:p@[bad]/db"),
    }  # fmt: skip


CASES = (
    "order", "gender", "scale", "import scale", "prices", "thresholds", "calibrator", "judgement",
    "attribute", "attribute of values", "store", "other store",
)  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_invalid_values_give_one_error(cli, case, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-key-of-some-length")
    result = cli(*files_with_odd_values()[case])
    assert result.code == 1, (result.out, result.err)
    (line,) = result.err.splitlines()
    assert line.startswith("error: ")
    assert len(line) < 700
    assert not Path("o.jsonl").exists()


def test_build_accepts_its_input(cli, clusters, server):
    assert cli(*building(server)).code == 0
