"""Read the files of docs/formats.md.

Every reader takes ``.json`` (a list, or one object), ``.jsonl`` (one object a line) and, where the
records are flat, ``.csv`` with a header; each may be gzip. Unknown keys are kept. A bad line is one
``InputError`` naming file, line and field; with ``skip_bad`` it is left out and listed.
"""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path

from fairjudge.datasets._loading import Kind, Loaded, load
from fairjudge.domain import Cluster, Judgement, Label, Record, Reference, Summary


def _by_eid(record: Cluster) -> dict[str, Hashable]:
    return {"eid": record.eid}


def _by_system(record: Summary) -> dict[str, Hashable]:
    return {"eid": record.eid, "system": record.system}


_CLUSTERS = Kind(
    model=Cluster, name="clusters", fields="a cluster with 'eid' and 'articles'", unique=_by_eid
)
_REFERENCES = Kind(
    model=Reference,
    name="references",
    fields="a reference with 'eid', 'articles' and 'question_answers'",
    unique=_by_eid,
)
_SUMMARIES = Kind(
    model=Summary,
    name="summaries",
    fields="a summary with 'eid', 'system' and 'text'",
    unique=_by_system,
    csv_allowed=True,
)
_LABELS = Kind(
    model=Label,
    name="labels",
    fields="a label with 'eid', 'system', 'aspect', 'annotator' and 'value'",
    csv_allowed=True,
)
_JUDGEMENTS = Kind(
    model=Judgement,
    name="judgements",
    fields="a judgement with 'eid', 'system', 'aspect', 'protocol', 'judge' and 'value'",
)
_REPLIES = Kind(
    model=Record,
    name="replies",
    fields="a judge's recorded reply with 'response'",
    csv_allowed=True,
)


def read_clusters(path: str | Path, *, skip_bad: bool = False) -> Loaded[Cluster]:
    """Read clusters; a reference file serves too. No two may share an ``eid``."""
    return load(path, _CLUSTERS, skip_bad=skip_bad)


def read_references(path: str | Path, *, skip_bad: bool = False) -> Loaded[Reference]:
    """Read references in the published DiverseSumm layout. No two may share an ``eid``."""
    return load(path, _REFERENCES, skip_bad=skip_bad)


def read_summaries(path: str | Path, *, skip_bad: bool = False) -> Loaded[Summary]:
    """Read summaries, one for each ``eid`` and ``system``."""
    return load(path, _SUMMARIES, skip_bad=skip_bad)


def read_labels(path: str | Path, *, skip_bad: bool = False) -> Loaded[Label]:
    """Read people's labels."""
    return load(path, _LABELS, skip_bad=skip_bad)


def read_judgements(path: str | Path, *, skip_bad: bool = False) -> Loaded[Judgement]:
    """Read judgements."""
    return load(path, _JUDGEMENTS, skip_bad=skip_bad)


def read_replies(path: str | Path, *, skip_bad: bool = False) -> Loaded[Record]:
    """Read a judge's recorded replies: objects with whatever columns the recorder gave them."""
    return load(path, _REPLIES, skip_bad=skip_bad)
