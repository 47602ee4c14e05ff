"""`langgraph.json` names the graphs so that LangGraph's own tools can open them."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from pathlib import Path

import pytest
from json_files import read_json
from langgraph.graph.state import CompiledStateGraph

ROOT = Path(__file__).parents[2]
CONFIG = read_json(ROOT / "langgraph.json")


def resolve(path: str) -> Callable[[], CompiledStateGraph]:
    """Find ``module:name`` as LangGraph's tools do."""
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


def test_langgraph_json_lists_the_graphs_and_dependencies():
    assert set(CONFIG["graphs"]) == {"by_article", "reference", "judge"}
    assert CONFIG["dependencies"] == ["."]


@pytest.mark.parametrize(
    ("graph", "nodes"),
    [
        (
            "reference",
            {
                "write_seed", "seed_pass", "write_questions", "main_pass", "select", "filter",
                "finish",
            },
        ),
        ("by_article", {"write", "answer", "collect", "group", "settle", "complete", "finish"}),
        ("judge", {"plan", "chunk"}),
    ],
)  # fmt: skip
def test_each_graph_opens_without_arguments_and_draws_its_steps(graph, nodes):
    factory = resolve(CONFIG["graphs"][graph])
    # the tools would take any parameter for one that they are to fill
    assert not inspect.signature(factory).parameters
    sample = factory().get_graph()
    assert set(sample.nodes) == {"__start__", "__end__", *nodes}
    assert "graph TD" in sample.draw_mermaid()


def test_inner_steps_are_drawn():
    sample = resolve(CONFIG["graphs"]["judge"])().get_graph(xray=True)
    inside = {name.removeprefix("chunk:") for name in sample.nodes}
    assert {"ask", "read", "repair", "fallback", "record"} <= inside
