"""The supported formats, recognised by content."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from fairjudge.domain import Article, Cluster, Reference
from fairjudge.errors import InputError, error_location
from fairjudge.importing.records import ImportedFile, Repeats, assemble
from fairjudge.importing.sources import Source, open_source
from fairjudge.scales import Scale
from fairjudge.text.counting import pluralize

FORMATS = (
    "inspect", "promptfoo", "deepeval", "mlflow", "langfuse", "phoenix", "langsmith",
    "label-studio", "mt-bench", "alpaca-eval", "llmbar", "judgebench", "lm-eval", "summeval",
    "realsumm", "nuggetbank", "nuggetizer", "trec-run", "dragun", "argkp", "trec-eval",
)  # fmt: skip
"""The formats, tried in this order; the module of each has its name, with ``_`` for ``-``."""


def import_file(
    path: str | Path,
    *,
    tool: str | None = None,
    judge: str | None = None,
    repeats: Repeats = "keep",
    answers: Scale | Mapping[str, float] | None = None,
    articles: Iterable[Cluster] = (),
    skip_bad: bool = False,
) -> ImportedFile:
    """Read judgements, human labels, references and summaries from another tool's file.

    Parameters
    ----------
    path : str or Path
        The tool's file, or the folder of a data set.
    tool : str, optional
        One of `FORMATS`; by default recognised by content.
    judge : str, optional
        Name of the judge; by default that of the file.
    repeats : {"keep", "last"}
        For an item that was judged several times: keep all judgements, numbered by ``repeat`` from
        0, or the last one only.
    answers : Scale or mapping, optional
        Values of verbal feedback: of MLflow, Label Studio's choices, Inspect's scores.
    articles : iterable of Cluster
        Clusters with the texts of articles of which the file only has ids.
    skip_bad : bool
        Skip invalid rows, and list them under ``skipped``.

    Returns
    -------
    ImportedFile
        Every row of the file once: as a judgement (scored or not), label, reference, summary or
        cluster, or skipped with the reason. The grader's own errors are unscored. If the judge's
        reply and its scale are known, the reply is parsed by FairJudge.

    Raises
    ------
    InputError
        If the format is unknown, a row is invalid (unless `skip_bad`), or nothing could be read.

    Examples
    --------
    >>> import fairjudge as fj
    >>> log = fj.import_file("logs/run.eval")  # doctest: +SKIP
    >>> fj.JudgeResult(log.judgements).leaderboard()  # doctest: +SKIP
    """
    source = open_source(Path(path), skip_bad=skip_bad, answers=word_values(answers))
    if tool is not None and tool not in FORMATS:
        choices = ", ".join(FORMATS)
        raise InputError(f"unknown tool {tool!r}; choose from {choices}", field="--from")
    name = tool or recognise_format(source)
    if name is None:
        names = ", ".join(FORMATS)
        raise InputError(
            f"unknown format; supported are {names}. To import recorded replies of any judge, use "
            "--protocol",
            path=path,
        )
    with error_location(path=path):
        entries = [*_module(name).read(source), *source.skipped]
        imported_file = assemble(entries, tool=name, judge=judge, repeats=repeats)
    if not any(imported_file.records().values()):
        suffix = ""
        if imported_file.skipped:
            n_rows = pluralize(len(imported_file.skipped), "row")
            suffix = f"; the first of {n_rows}: {imported_file.skipped[0].why}"
        raise InputError(
            f"contains no judgements, labels, references or summaries{suffix}", path=path
        )
    references = tuple(with_texts(imported_file.references, articles))
    return replace(imported_file, references=references)


def word_values(answers: Scale | Mapping[str, float] | None) -> dict[str, float]:
    """Return values by word in lower case; a scale's words are its answers and their aliases."""
    if isinstance(answers, Mapping):
        return {word.strip().casefold(): value for word, value in answers.items()}
    levels = () if answers is None else answers.levels
    return {
        word.strip().casefold(): level.value
        for level in levels
        if not isinstance(level.value, str)
        for word in (level.answer, *level.aliases)
    }


def recognise_format(source: Source) -> str | None:
    """Return the name of the format of `source`, None if it is unknown."""
    for name in FORMATS:
        try:
            if _module(name).recognises(source):
                return name
        except InputError:  # a field with that tool's name but another type
            continue
    return None


def _module(name: str) -> Any:
    return import_module(f"fairjudge.importing.{name.replace('-', '_')}")


def with_texts(references: Iterable[Reference], clusters: Iterable[Cluster]) -> Iterator[Reference]:
    """Yield `references` with articles without text completed from `clusters`.

    Articles are matched by the ids of the cluster and the article. Fields of the reference itself,
    such as whether an article was used, have priority.
    """
    by_cluster = {
        cluster.eid: {article.aid: article for article in cluster.articles} for cluster in clusters
    }
    for reference in references:
        articles_by_id = by_cluster.get(reference.eid, {})
        articles = tuple(_with_text(article, articles_by_id) for article in reference.articles)
        yield reference.model_copy(update={"articles": articles})


def _with_text(article: Article, articles_by_id: Mapping[str, Article]) -> Article:
    known_article = articles_by_id.get(article.aid)
    if known_article is None or article.content:
        return article
    own_fields = {name: value for name, value in article.to_json().items() if name != "content"}
    return Article.model_validate({**known_article.to_json(), **own_fields})
