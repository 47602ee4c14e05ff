"""Tables of ``bias inputs`` and ``bias annotate``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from fairjudge.reports.figures import Json
from fairjudge.reports.row_tables import table
from fairjudge.reports.tables import TextTable, columns, number
from fairjudge.text.counting import pluralize


def annotated_table(counts: Mapping[str, int], *, output: str) -> TextTable:
    """Return what ``bias annotate`` wrote."""
    return table(
        "People marked",
        "documents> {n_documents} | without people> {n_without_people} | names> {n_names}"
        " | people> {n_people}",
        [counts],
        notes=(f"Written: {output}",),
    )


def inputs_tables(report: Json, *, limit: int) -> Iterator[TextTable]:
    """Yield how many documents each group and attribute has, and each group's words.

    At most `limit` rows of an attribute or of words.
    """
    documents, identifiers = report["documents"], report["identifiers"]
    yield table(
        "Bias of the inputs",
        "group: {group} | documents> {documents} | identifiers> {n} | share %> {share:share}",
        [{**identifiers[group], "group": group, "documents": n} for group, n in documents.items()],
        notes=(
            f"{pluralize(report['n'], 'article')}; without a majority group: "
            f"{report['n_tied']}; excluded for lack of text: {report['excluded']}.",
            *report["notes"],
        ),
    )
    for name, counts in report.get("by_attribute", {}).items():
        if len(counts) > 1:
            yield _counts_table(name, counts, limit=limit)
    for group, words in report["words"].items():
        yield table(
            f"Words of documents that mention {group} words most",
            "word: {word} | here> {n_group} | others> {n_others} | z> {z:number} | q> {q_value:p}",
            words[:limit],
        )


def _counts_table(name: str, counts: Sequence[Json], *, limit: int) -> TextTable:
    """Return how many texts have each value of an attribute, and whom they mention."""
    groups = list(counts[0]["identifiers"])
    heads = ("documents", "identifiers", *(f"{group} %" for group in groups))
    n_hidden = len(counts) - limit
    return TextTable(
        title=f"Inputs by {name}",
        columns=columns(name, *heads, numbers=heads),
        rows=tuple(
            (
                count["value"],
                str(count["n"]),
                str(sum(identifier["n"] for identifier in count["identifiers"].values())),
                *(_percent(count["identifiers"][group]["share"]) for group in groups),
            )
            for count in counts[:limit]
        ),
        notes=(f"... and {n_hidden} more (see --json)",) if n_hidden > 0 else (),
    )


def _percent(share: float | None) -> str:
    return number(None if share is None else 100 * share, digits=1)
