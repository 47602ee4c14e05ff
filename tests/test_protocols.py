"""What follows from a protocol is asked of its object; nobody else compares its name."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

import fairjudge
from fairjudge.domain import ProtocolName
from fairjudge.protocols import PROTOCOLS

ROOT = Path(fairjudge.__file__).parent
EXCEPTIONS = {
    # Label Studio calls one of its controls "pairwise".
    "exporting/label_studio.py",
    "importing/label_studio.py",
}


def _is_protocol(node: ast.expr | None) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and node.value in PROTOCOLS
    return isinstance(node, ast.Tuple | ast.List | ast.Set) and any(map(_is_protocol, node.elts))


def _comparisons(source: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare) and any(map(_is_protocol, (node.left, *node.comparators))):
            yield ast.unparse(node)
        elif isinstance(node, ast.MatchValue) and _is_protocol(node.value):
            yield f"case {ast.unparse(node)}"


def _modules() -> Iterator[Path]:
    """Yield the modules of the package, whose linked folders `Path.rglob` may not enter."""
    for folder in (ROOT, *(path.resolve() for path in ROOT.iterdir() if path.is_symlink())):
        yield from folder.rglob("*.py")


def test_no_module_compares_names_of_protocols():
    by_name = {
        str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path): names
        for path in _modules()
        if (names := list(_comparisons(path.read_text(encoding="utf-8"))))
    }

    assert by_name.keys() == EXCEPTIONS, by_name


@pytest.mark.parametrize(
    "source",
    [
        "row.protocol == 'pairwise'",
        "'likert' != name",
        "name in {'binary', 'other'}",
        "match name:\n    case 'likert' | 'checklist': pass",
    ],
)
def test_checker_finds_comparisons(source):
    assert list(_comparisons(source))


def test_every_name_in_files_has_a_protocol():
    assert set(PROTOCOLS) == set(get_args(ProtocolName))
    assert all(name == protocol.name for name, protocol in PROTOCOLS.items())


@pytest.mark.parametrize("name", PROTOCOLS)
def test_verdict_has_one_kind(name):
    protocol = PROTOCOLS[name]

    kinds = (protocol.paired, protocol.graded, protocol.yes_no, protocol.itemized)
    assert sum(kinds) == 1
    low, high = protocol.score_range
    assert low < high


@pytest.mark.parametrize("name", PROTOCOLS)
@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_verdicts_are_counted_as_tasks_are_made(name, n):
    protocol = PROTOCOLS[name]

    items = [(side, order) for side in protocol.sides(range(n)) for order in protocol.orders]
    sizes = [len(side) for side, _ in items]
    pairs = sum(k * (k - 1) // 2 for k in sizes)
    assert protocol.n_verdicts(n) == (pairs if protocol.paired else len(items))


def test_pairs_are_shown_both_ways_and_single_summaries_once():
    assert list(PROTOCOLS["pairwise"].sides("abc")) == [("a", "b"), ("a", "c"), ("b", "c")]
    assert PROTOCOLS["pairwise"].n_verdicts(3) == 6
    assert list(PROTOCOLS["checklist"].sides("ab")) == [("a",), ("b",)]
    assert PROTOCOLS["likert"].n_verdicts(3) == 3
