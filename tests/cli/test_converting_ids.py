"""Warnings of `convert` where ids of rows are taken for those of clusters."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

import fairjudge as fj

TEXTS = [
    "The dam above Dunmere broke at noon, and two thousand people had to leave their homes.",
    "Drivers of the Serrin tram went on strike over their pay on Monday, and will go on.",
]


def rows(*, article: str | None, key: str | None, id_of=lambda n: n + 1) -> list[dict]:
    """One row for each of two documents, two systems and two annotators."""
    return [
        {"id": id_of(n)}
        | ({key: f"d{document}"} if key else {})
        | ({article: TEXTS[document]} if article else {})
        | {"system": system, "text": f"{system} {document}", "fluency": 3, "annotator": annotator}
        | {"annotation_id": n, "created_at": annotator, "updated_at": "now", "lead_time": 2.5}
        for n, (document, system, annotator) in enumerate(
            (d, s, a) for a in ("ann", "bo") for d in (0, 1) for s in ("gpt", "llama")
        )
    ]


def write(name: str, content: list[dict]) -> str:
    Path(name).write_text(json.dumps(content))
    return name


def warning(*files: str) -> str:
    """Return the only warning, in the words of the command line."""
    converted = fj.convert(*files)
    (only,), (in_python,) = converted.command_line_warnings, converted.warnings
    start, _, option = only.partition("--map ")
    name, _, column = option.strip("'").partition("=")
    assert in_python == f"{start}columns={ ({name: column}) }"
    return only


@pytest.mark.parametrize("article", ["doc", "source", "article"])
@pytest.mark.parametrize("key", ["story", "ref no", None])
def test_documents_under_several_ids(cli, article, key):
    path = write("e.json", rows(article=article, key=key))
    text = warning(path)
    assert "8 clusters of 2 different documents: '1' and '2' have the same" in text
    column = f"eid={key or 'COLUMN'}"
    assert text.endswith(f"--map {shlex.quote(column)}")
    result = cli("convert", path, "-o", "data")
    assert f"Warning: {text}" in " ".join(result.out.split())
    result = cli("study", "init", path)
    assert f"Warning: {text}" in " ".join(result.out.split())
    if key:
        conversion = fj.convert(path, columns={"eid": key})
        assert (len(conversion.clusters), len(conversion.summaries), conversion.warnings) == (
            2,
            4,
            (),
        )


def test_one_summary_per_id():
    text = warning(write("e.json", rows(article=None, key="story")))
    assert "one summary, though there are several systems" in text
    assert text.endswith("--map eid=story")


def test_summaries_without_a_cluster():
    write("articles.json", [{"eid": f"d{n}", "documents": [text]} for n, text in enumerate(TEXTS)])
    text = warning(write("e.json", rows(article=None, key="file")), "articles.json")
    assert "no summary belongs to a cluster: summaries have ids such as '1'" in text
    assert text.endswith("--map eid=file")


@pytest.mark.parametrize("article", ["source", None])
def test_cluster_ids_give_no_warning(article):
    content = rows(article=article, key="story", id_of=lambda n: n // 2 % 2)
    assert fj.convert(write("e.json", content)).warnings == ()
