"""Options are declared once: commands, Python and study files know the same names and bounds."""

from dataclasses import MISSING, fields

import pytest
from cli_tools import cluster, summary
from typer.main import get_command

import fairjudge as fj
from fairjudge.cli._main import app
from fairjudge.errors import ConfigurationError
from fairjudge.options.building import BuildOptions
from fairjudge.options.checking import make_options
from fairjudge.options.declaring import declared_options
from fairjudge.options.judging import JudgeOptions
from fairjudge.options.models import Model
from fairjudge.options.summarizing import SummarizeOptions

COMMANDS = {"build": BuildOptions, "judge": JudgeOptions, "summarize": SummarizeOptions}
OF_LOCAL_MODELS = {"embedding_model", "entailment_model", "engine"}
WITHOUT = {
    "build": {"entailment_model"},
    "judge": set(),
    "summarize": {"target", *OF_LOCAL_MODELS},
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_has_every_declared_option_with_its_flag_default_and_bounds(command):
    params = {param.name: param for param in get_command(app).commands[command].params}
    for option in (*declared_options(COMMANDS[command]), *declared_options(Model)):
        if option.name in WITHOUT[command]:
            assert option.name not in params
            continue
        param = params[option.name]
        flag = option.opt.flag or f"--{option.name.replace('_', '-')}"
        assert flag in param.opts
        assert param.default in {option.default, None}
        assert (param.min, param.max) == (option.opt.ge, option.opt.le)


@pytest.mark.parametrize("kind", [*COMMANDS.values(), Model])
def test_option_bounds_are_enforced_in_python(kind):
    needed = {field.name: "coverage" for field in fields(kind) if field.default is MISSING}
    bounded = [item for item in declared_options(kind) if item.opt.ge is not None]
    assert bounded
    for option in bounded:
        with pytest.raises(ConfigurationError, match=f"call: {option.name}: expected .* or more"):
            make_options(kind, {**needed, option.name: option.opt.ge - 1}, "call")
    for option in (item for item in bounded if item.opt.le is not None):
        with pytest.raises(ConfigurationError, match=f"call: {option.name}: expected .* or less"):
            make_options(kind, {**needed, option.name: option.opt.le + 1}, "call")


def test_model_error_names_the_argument_out_of_bounds():
    with pytest.raises(
        ConfigurationError, match="concurrency: expected 1 or more, found the number 0"
    ):
        fj.Model(concurrency=0)
    with pytest.raises(
        ConfigurationError, match="--store requires the URL of a PostgreSQL database"
    ):
        fj.Model(store="mysql://host/database")


def test_samples_use_a_positive_temperature_by_default():
    def options_of(**options):
        return fj.Judge("openai:m", aspect="coverage", protocol="likert", **options).options

    assert options_of().sampling_temperature == 0.0
    assert options_of(samples=5).sampling_temperature == 1.0
    assert options_of(samples=5, temperature=0.3).sampling_temperature == 0.3


def test_python_jury_shares_one_budget(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    first, second = (
        fj.Model(f"openai:{name}", base_url=f"{server.url}/v1", cache="cache", max_calls=3)
        for name in ("one", "two")
    )
    judge = fj.Judge([first, second], aspect="faithfulness", protocol="likert", jury="median")
    result = judge([cluster()], [summary("a"), summary("b")])
    assert len(server.calls) == 3  # the first member's limit, for both
    (jury, *_) = result.judgements
    assert jury.judge == "jury-median(openai:one,openai:two)"
    assert {row.judge for row in result} == {jury.judge, "openai:one", "openai:two"}
    assert [row.unscored for row in result if row.judge == "openai:two"].count("budget") == 1


def test_replaced_models_share_a_budget_on_request():
    model = fj.Model("openai:m", max_calls=3)
    other = fj.Model("openai:other").with_budget(model.budget)
    assert other.budget is model.budget
    assert fj.Model("openai:m", max_calls=3).budget is not model.budget
    assert repr(model) == "Model('openai:m')"
