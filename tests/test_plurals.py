"""Messages count one thing as one: no "1 documents", whatever says it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from fairjudge.text.counting import pluralize

ROOT = Path(__file__).parents[1]
PLURALS = re.compile(
    r" (?:\w+ )?(?:annotators|answers|articles|calls|clusters|controls|documents|groups|inputs"
    r"|items|judgements|labels|lines|pairs|people|questions|replies|rows|samples|summaries|systems|units"
    r"|values|words)\b"
)

NEVER_ONE = {
    "{n_calls} calls",  # of several
    "{n_calls} open calls",
    "{several[0]} people",
    "{n_articles} articles",
    "{limit} answers",
    "{most} answers",
    "{most} clusters",
    "{k} groups",
    "{n} groups",
    "{n} documents",
    "{n} systems",  # in an order
    "{max_words} words",  # of a prompt
}
NO_NUMBER = {
    "{quantity} by humans",
    "{name} needs summaries",
    "{number(_value(camps['items']))} on items",
    "{number(systems)} on systems",
    "{_names(camp)} on items",
    "{type(backend).__name__} answers",
    "{self.target.model} contains replies",
    "{self._server} sends replies",
    "{column} contains words",
    "{group} words",
    "{judge.name} needs questions",
    "{group['judge']} against humans",
    "{percentage(results['winning_rate'])} of annotators",
    "{n_split} as annotators",  # groups, as said before
}


def numbers_before_plurals(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield (line, text) for each `{expression} plural` of an f-string, constants left out."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.JoinedStr):
            continue
        for value, after in zip(node.values, node.values[1:], strict=False):
            if not (isinstance(value, ast.FormattedValue) and isinstance(after, ast.Constant)):
                continue
            text = ast.unparse(value.value)
            result = PLURALS.match(str(after.value))
            if result and not re.fullmatch(r"[A-Z_.]+|pluralize\(.*\)", text):
                yield node.lineno, f"{{{text}}}{result[0]}"


def test_counted_nouns_use_the_plural_helper():
    items = [
        f"{file.relative_to(ROOT)}:{line}: {text}"
        for folder in ("fairjudge", "graphs", "calibration")
        for file in sorted((ROOT / folder).rglob("*.py"))
        for line, text in numbers_before_plurals(ast.parse(file.read_text("utf-8")))
        if text not in NEVER_ONE | NO_NUMBER
    ]
    assert items == []


@pytest.mark.parametrize(
    ("n", "text"), [(0, "0 replies"), (1, "1 reply"), (2, "2 replies"), (1200, "1,200 replies")]
)
def test_one_is_singular(n, text):
    assert pluralize(n, "reply", "replies") == text
