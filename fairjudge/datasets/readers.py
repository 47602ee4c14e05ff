"""Read the files of docs/formats.md.

Every reader accepts ``.json`` (a list, or one object), ``.jsonl`` (one object per line) and, for
flat records, ``.csv`` with a header; all optionally gzip. Unknown keys are kept. A bad line raises
``InputError`` with file, line and field; with ``skip_bad`` it is skipped and listed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from fairjudge.datasets._loading import Kind, Loaded, read_records
from fairjudge.domain import Article, Cluster, Judgement, Label, Record, Reference, Summary
from fairjudge.errors import InputError
from fairjudge.protocols import as_pairs
from fairjudge.records.matching import harmonize_ids
from fairjudge.text.suggestions import did_you_mean

CLUSTERS = Kind(
    model=Cluster, name="clusters", fields="a cluster with 'eid' and 'articles'", unique=("eid",)
)
REFERENCES = Kind(
    model=Reference,
    name="references",
    fields="a reference with 'eid', 'articles' and 'question_answers'",
    unique=("eid",),
)
SUMMARIES = Kind(
    model=Summary,
    name="summaries",
    fields="a summary with 'eid', 'system' and 'text'",
    unique=("eid", "system"),
    csv_allowed=True,
)
LABELS = Kind(
    model=Label,
    name="labels",
    fields="a label with 'eid', 'system', 'aspect', 'annotator' and 'value'",
    csv_allowed=True,
)
JUDGEMENTS = Kind(
    model=Judgement,
    name="judgements",
    fields="a judgement with 'eid', 'system', 'aspect', 'protocol', 'judge' and 'value'",
)
REPLIES = Kind(
    model=Record,
    name="replies",
    fields="a judge's recorded reply with 'response'",
    csv_allowed=True,
)


def read_clusters(
    source: object, *, skip_bad: bool = False, argument: str = "clusters"
) -> Loaded[Cluster]:
    """Read clusters, including references. Each ``eid`` must be unique.

    See `read_records` for what `source` may be.

    Examples
    --------
    >>> import fairjudge as fj
    >>> fj.read_clusters("clusters.json")
    Loaded('clusters.json', 2 records)
    >>> fj.read_clusters([{"eid": "e", "articles": [{"aid": "a", "content": "It rained."}]}])
    Loaded('clusters', 1 record)
    """
    return read_records(source, CLUSTERS, skip_bad=skip_bad, argument=argument)


def read_references(
    source: object, *, skip_bad: bool = False, argument: str = "references"
) -> Loaded[Reference]:
    """Read references in the published DiverseSumm layout. Each ``eid`` must be unique.

    See `read_records` for what `source` may be.

    Examples
    --------
    >>> import fairjudge as fj
    >>> len(fj.read_references("references.json").records[0].question_answers)
    7
    """
    return read_records(source, REFERENCES, skip_bad=skip_bad, argument=argument)


def read_summaries(
    source: object, *, skip_bad: bool = False, argument: str = "summaries"
) -> Loaded[Summary]:
    """Read summaries, at most one per ``eid`` and ``system``.

    See `read_records` for what `source` may be.

    Examples
    --------
    >>> import fairjudge as fj
    >>> [summary.system for summary in fj.read_summaries("summaries.jsonl")][:3]
    ['thorough', 'one-sided', 'unfaithful']
    """
    return read_records(source, SUMMARIES, skip_bad=skip_bad, argument=argument)


def read_labels(
    source: object, *, skip_bad: bool = False, argument: str = "labels"
) -> Loaded[Label]:
    """Read human labels.

    See `read_records` for what `source` may be.

    Examples
    --------
    >>> import fairjudge as fj
    >>> sorted({label.annotator for label in fj.read_labels("labels.jsonl")})
    ['rater1', 'rater2', 'rater3']
    """
    return read_records(source, LABELS, skip_bad=skip_bad, argument=argument)


def read_judgements(
    source: object, *, skip_bad: bool = False, argument: str = "judgements"
) -> Loaded[Judgement]:
    """Read judgements; a ranking is converted to judgements of its pairs, with the same line.

    See `read_records` for what `source` may be.

    Examples
    --------
    >>> import fairjudge as fj
    >>> row = {"eid": "e", "system": "s", "aspect": "coverage", "protocol": "likert"}
    >>> fj.read_judgements([row | {"judge": "j", "value": 4}]).records[0].value
    4
    """
    judgements = read_records(source, JUDGEMENTS, skip_bad=skip_bad, argument=argument)
    if all(row.systems is None for row in judgements.records):
        return judgements
    pairs_with_lines = [
        (pair, line)
        for row, line in zip(judgements.records, judgements.lines, strict=True)
        for pair in as_pairs([row])
    ]
    records, lines = zip(*pairs_with_lines, strict=True)
    return replace(judgements, records=records, lines=lines)


def read_replies(
    source: object, *, skip_bad: bool = False, argument: str = "replies"
) -> Loaded[Record]:
    """Read a judge's recorded replies: objects with arbitrary columns."""
    return read_records(source, REPLIES, skip_bad=skip_bad, argument=argument)


def match_summaries(summaries: Loaded[Summary], clusters: Iterable[Cluster]) -> Loaded[Summary]:
    """Return `summaries` with the eids of `clusters`, even if a table converted eids to floats.

    Raises `InputError` for the first summary of an unknown cluster.
    """
    sources = tuple(clusters)
    eids = {cluster.eid for cluster in sources}
    matched_summaries = replace(summaries, records=harmonize_ids(summaries, sources))
    for index, summary in enumerate(matched_summaries):
        if summary.eid in eids:
            continue
        raise InputError(
            f"the summary by {summary.system!r} is of cluster {summary.eid!r}, "
            f"which is not among the {len(eids)} given{did_you_mean(summary.eid, eids)}",
            path=summaries.path,
            line=summaries.lines[index],
            field="eid",
        )
    return matched_summaries


def check_distinct(files: Sequence[Loaded[Summary]]) -> None:
    """Raise `InputError` if a summary, by cluster and system, is also in an earlier file."""
    first_locations: dict[tuple[str, str], str] = {}
    for file in files:
        rows = zip(file.records, file.lines, strict=True)
        locations = {(row.eid, row.system): f"{file.path}:{line}" for row, line in rows}
        for (eid, system), location in locations.items():
            if (eid, system) in first_locations:
                raise InputError(
                    f"a second summary of {eid!r} by {system!r} "
                    f"(first at {first_locations[eid, system]})",
                    path=location,
                )
        first_locations |= locations


def empty_articles(cluster: Cluster) -> tuple[Article, ...]:
    """Return the articles with blank ``content`` (white space, control characters)."""
    return tuple(
        article for article in cluster.articles if not any(map(str.isalnum, article.content))
    )


def why_not_buildable(cluster: Cluster) -> str | None:
    """Return the reason why no reference can be built from ``cluster``, or None.

    At least two articles need text.
    """
    n_articles, n_empty = len(cluster.articles), len(empty_articles(cluster))
    if n_articles == 1:
        return f"cluster {cluster.eid!r} has one article; a reference needs at least 2 that differ"
    if n_empty == n_articles:
        return f"cluster {cluster.eid!r}: all {n_articles} articles are empty"
    if n_empty == n_articles - 1:
        return f"cluster {cluster.eid!r}: {n_empty} of {n_articles} articles are empty, one is left"
    return None
