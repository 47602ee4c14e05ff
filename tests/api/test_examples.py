"""Every public name has an example in its docstring, and every example runs."""

import doctest
import importlib
import inspect
import pkgutil
import shutil

import pytest

import fairjudge as fj
import fairjudge.api
from fairjudge.datasets import example_path

FILES = ("clusters.json", "references.json", "summaries.jsonl", "labels.jsonl")
MODULES = [
    f"fairjudge.api.{module.name}" for module in pkgutil.iter_modules(fairjudge.api.__path__)
]
NOT_CALLED = {"Estimate", "FairJudgeError", "Undefined", "__version__"}
RESULTS = {"Calibration", "Cascade", "Findings", "JudgeResult", "References", "Summaries"}
"""What calls return: the examples of the calls show them."""


def public():
    names = {name: getattr(fj, name) for name in fj.__all__ if name not in NOT_CALLED | RESULTS}
    modules = {name: names.pop(name) for name in ("audit", "bias", "fairness")}
    yield from names.items()
    audit = modules["audit"]
    for name, function in vars(audit).items():
        if inspect.isfunction(function) and function.__module__ == audit.__name__:
            yield f"audit.{name}", function
    for package in ("bias", "fairness"):
        for name in modules[package].__all__:
            yield f"{package}.{name}", getattr(modules[package], name)


NAMES = dict(public())


def is_twin(name):
    """Say whether `name` is the async twin of another: `abuild`, of `build`."""
    head, _, last = name.rpartition(".")
    sync = f"{head}.{last[1:]}" if head else last[1:]
    return last.startswith("a") and sync in NAMES


@pytest.mark.parametrize(("name", "value"), list(NAMES.items()))
def test_every_public_name_is_documented_with_an_example(name, value):
    documentation = inspect.getdoc(value)
    assert documentation
    assert is_twin(name) or "\nExamples\n--------\n>>> " in documentation


@pytest.mark.parametrize(("name", "value"), list(NAMES.items()))
def test_every_public_name_is_typed(name, value):
    signature = inspect.signature(value.__init__ if inspect.isclass(value) else value)
    untyped = [
        parameter.name
        for parameter in signature.parameters.values()
        if parameter.annotation is parameter.empty and parameter.name != "self"
    ]
    assert untyped == []


def examples():
    """Yield each docstring's examples once: a call and its async twin share theirs."""
    finder, tests = doctest.DocTestFinder(exclude_empty=True), set()
    for module in (*MODULES, "fairjudge.datasets.readers", "fairjudge.datasets.example"):
        for test in finder.find(importlib.import_module(module), module):
            if test.examples and test.docstring not in tests:
                tests.add(test.docstring)
                local = "local" in test.docstring
                marks = [pytest.mark.local_model] if local else []
                yield pytest.param(test, id=test.name.removeprefix("fairjudge."), marks=marks)


@pytest.mark.parametrize("example", list(examples()))
def test_examples_run(example, tmp_path, monkeypatch):
    if "local" in example.docstring:
        pytest.importorskip("torch", reason="needs the extra [local]")
    for name in FILES:
        shutil.copyfile(example_path(name), tmp_path / name)
    monkeypatch.chdir(tmp_path)
    texts = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=texts.append)
    assert "".join(texts) == ""
