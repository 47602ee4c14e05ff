"""Options of calls are declared once: the command of a call has each, and Python its bounds."""

from __future__ import annotations

import inspect
from typing import Annotated, Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import fairjudge as fj
from fairjudge.cli._main import COMMANDS, app
from fairjudge.cli.application import Application
from fairjudge.cli.parameters import Call, call_of, with_options
from fairjudge.errors import ConfigurationError
from fairjudge.options.checking import checks_arguments
from fairjudge.options.declaring import REQUIRED, Annotators, LabelScale, Opt, declared_options

CALLS = {
    "audit checks": fj.audit.checks,
    "audit citations": fj.audit.citations,
    "audit covered": fj.audit.covered,
    "audit length": fj.audit.length,
    "audit order": fj.audit.order,
    "audit parse": fj.audit.parse,
    "audit position": fj.audit.position,
    "audit stability": fj.audit.stability,
    "bias distinguishability": fj.bias.distinguishability,
    "bias entities": fj.bias.entities,
    "bias inputs": fj.bias.inputs,
    "bias words": fj.bias.words,
    "calibrate": fj.calibrate,
    "calibrate align": fj.align,
    "check": fj.check,
    "compare": fj.compare,
    "convert": fj.convert,
    "fairness agreement": fj.fairness.agreement,
    "fairness chunk-size": fj.fairness.chunk_size,
    "fairness compare": fj.fairness.compare,
    "fairness coverage": fj.fairness.coverage,
    "fairness oracle": fj.fairness.oracle,
    "fairness overall": fj.fairness.overall,
    "fairness proportional": fj.fairness.proportionality,
    "rank": fj.rank,
    "report": fj.report,
}
BOUNDED = [
    (name, option.name)
    for name, call in CALLS.items()
    for option in declared_options(call)
    if option.opt.ge is not None or option.opt.le is not None
]


def parameters_of(name: str) -> dict[str, Any]:
    group, *words = name.split()
    command = get_command(app).commands[group]
    for part in words:
        command = command.commands[part]
    command = getattr(command, "default", None) or command
    return {flag: param for param in command.params for flag in param.opts}


@pytest.mark.parametrize("name", CALLS)
def test_command_has_every_declared_option_of_its_call(name):
    params = parameters_of(name)
    options = declared_options(CALLS[name])
    assert options
    for option in options:
        param = params[option.name if option.opt.argument else option.flag]
        assert param.help == option.opt.help
        assert param.required == (option.default is REQUIRED)
        if not option.opt.argument:
            assert (param.min, param.max) == (option.opt.ge, option.opt.le)


@pytest.mark.parametrize(("name", "option"), BOUNDED)
def test_call_enforces_option_bounds(name, option):
    call = CALLS[name]
    (declaration,) = (item for item in declared_options(call) if item.name == option)
    parameters = inspect.signature(call).parameters.values()
    needed = {
        parameter.name: "x"
        for parameter in parameters
        if parameter.default is REQUIRED and parameter.kind is not inspect.Parameter.VAR_POSITIONAL
        and parameter.kind is not inspect.Parameter.VAR_KEYWORD
    }  # fmt: skip
    if declaration.opt.ge is not None:
        with pytest.raises(ConfigurationError, match=f"{option}: expected .* or more"):
            call(**needed | {option: declaration.opt.ge - 1})
    if declaration.opt.le is not None:
        with pytest.raises(ConfigurationError, match=f"{option}: expected .* or less"):
            call(**needed | {option: declaration.opt.le + 1})


def test_every_command_is_found_by_its_name():
    commands = get_command(app).commands
    assert list(commands) == list(COMMANDS)
    assert all(commands[name].name == name for name in COMMANDS)
    with pytest.raises(KeyError):
        commands["no such command"]


@checks_arguments
def measure(
    texts: Annotated[
        object,
        Opt(
            "Texts.",
            argument=True,
            reader=lambda path, *, skip_bad: [f"{path.name}, skipping" if skip_bad else path.name],
        ),
    ],
    *more: Annotated[object, Opt("More files.", argument=True)],
    n_draws: Annotated[int, Opt("Draws.", ge=1, le=9)] = 3,
    annotators: Annotators = "*",
    label_scale: LabelScale = None,
    pairs: Annotated[
        list[str],
        Opt(
            "Pairs.", flag="--pair", short="-p", parse=lambda text: text.split("="), repeatable=True
        ),
    ] = (),  # type: ignore[assignment]
    strict: Annotated[bool, Opt("Be strict.")] = False,
    kept: Annotated[bool, Opt("Keep.")] = True,
    progress: bool | None = None,
) -> dict[str, Any]:
    """Return what was given."""
    return dict(locals())  # fmt: skip


def run(*given: str) -> Any:
    """Return what the command of `measure` returns, or its error."""
    application, options = Application(rich_markup_mode=None), {}

    @application.command("measure")
    @with_options(asked=call_of(measure))
    def command(
        *, asked: Call[dict[str, Any]], skip_bad: Annotated[bool, Opt("Skip.")] = False
    ) -> None:
        """Measure."""
        options.update(asked(skip_bad=skip_bad, progress=False))

    result = CliRunner().invoke(application, list(given))
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return options if result.exit_code == 0 else result.output


def test_call_accepts_parsed_command_line_values():
    result = run("a.txt", "b.txt", "c.txt", "--draws", "4", "--annotators", "x", "--annotators",
                "y", "--label-scale", "0-100", "-p", "a=b", "--pair", "c=d", "--strict",
                "--no-kept", "--skip-bad")  # fmt: skip
    assert result["texts"] == ["a.txt, skipping"]
    assert [path.name for path in result["more"]] == ["b.txt", "c.txt"]
    assert result["n_draws"] == 4
    assert result["annotators"] == ("x", "y")
    assert result["label_scale"] == (0.0, 100.0)
    assert result["pairs"] == (["a", "b"], ["c", "d"])
    assert (result["strict"], result["kept"], result["progress"]) == (True, False, False)


def test_omitted_option_has_the_default_of_the_call():
    result = run("a.txt", "b.txt")
    assert result["texts"] == ["a.txt"]
    assert result | {"texts": 0, "more": 0} == {
        "texts": 0, "more": 0, "n_draws": 3, "annotators": "*", "label_scale": None, "pairs": (),
        "strict": False, "kept": True, "progress": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--draws", "10"), "--draws': Input should be less than or equal to 9"),
        (("--draws", "many"), "not a whole number"),
        (("--label-scale", "5-1"), "Invalid value for --label-scale: expected LOW-HIGH such as"),
        (("--strict", "--no-strict"), "No such option: --no-strict"),
    ],
)
def test_invalid_command_line_raises(words, message):
    assert message in run("a.txt", "b.txt", *words)


def test_unimported_type_is_a_declaration_error():
    def call(*, of: Annotated[Unknown, Opt("Of.")] = None) -> None:  # noqa: F821
        """Do nothing."""

    with pytest.raises(NameError, match="Unknown"):
        declared_options(call)
