"""Everything that reads what others wrote, as functions of bytes that fail in our own way only."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fairjudge.app.batches import import_batch
from fairjudge.backends.pricing import load_prices
from fairjudge.backends.replay import read_recording
from fairjudge.cache import ReplyCache
from fairjudge.cache_files import import_cache
from fairjudge.cli.calibrate import _load as read_calibrators
from fairjudge.datasets import (
    read_clusters,
    read_judgements,
    read_labels,
    read_references,
    read_replies,
    read_summaries,
)
from fairjudge.datasets.annotated import read_annotated
from fairjudge.datasets.conll2012 import read_conll2012
from fairjudge.datasets.summeval import read_summeval
from fairjudge.datasets.supports import read_supports, read_value_scores
from fairjudge.errors import FairJudgeError
from fairjudge.judges.cascade import read_thresholds
from fairjudge.judges.criterion_files import read_criterion_file
from fairjudge.parsing import locate_verdict
from fairjudge.prompting import load_template_file
from fairjudge.records import RunFolder
from fairjudge.references.replies import read_answers, read_check, read_groups, read_questions
from fairjudge.refusals import looks_like_refusal
from fairjudge.scales import binary, likert, load_scale, options, pairwise, stars

Target = Callable[[bytes], None]
_FOLDER = Path(tempfile.mkdtemp(prefix="fuzz-"))


def _into_a_cache(read: Callable[..., Any]) -> Callable[[Path], Any]:
    def into(path: Path) -> None:
        cache = ReplyCache(_FOLDER / "cache", warn=lambda _: None)
        try:
            read(path, cache)
        finally:
            cache.close()

    return into


def _records(path: Path) -> None:
    folder = path.with_suffix("")
    folder.mkdir(exist_ok=True)
    (folder / "rows.jsonl").write_bytes(path.read_bytes())
    run = RunFolder(folder, identity={})
    list(run.read("rows"))


FILES: Mapping[str, tuple[str, Callable[[Path], Any]]] = {
    "clusters.jsonl": (".jsonl", read_clusters),
    "clusters.json": (".json", read_clusters),
    "clusters.jsonl.gz": (".jsonl.gz", read_clusters),
    "clusters, bad lines left out": (".jsonl", lambda path: read_clusters(path, skip_bad=True)),
    "references": (".json", read_references),
    "summaries": (".jsonl", read_summaries),
    "labels.jsonl": (".jsonl", read_labels),
    "labels.csv": (".csv", read_labels),
    "judgements": (".jsonl", read_judgements),
    "replies.jsonl": (".jsonl", read_replies),
    "replies.csv": (".csv", read_replies),
    "annotated": (".jsonl", read_annotated),
    "conll": (".conll", read_conll2012),
    "summeval": (".jsonl", read_summeval),
    "supports": (".jsonl", read_supports),
    "value scores": (".jsonl", read_value_scores),
    "scale": (".toml", load_scale),
    "criterion": (".toml", read_criterion_file),
    "thresholds": (".json", read_thresholds),
    "prompt": (".md", load_template_file),
    "prices": (".toml", load_prices),
    "recording": (".jsonl", lambda path: list(read_recording(path))),
    "calibrators": (".json", read_calibrators),
    "cache import": (".jsonl", _into_a_cache(lambda path, cache: import_cache(cache, path))),
    "batch results": (".jsonl", _into_a_cache(lambda path, cache: import_batch(path, cache=cache))),
    "run records": (".rows", _records),
}
SCALES = (likert(), binary(), options("ABCDE"), pairwise(), stars())


def _reader(name: str) -> Target:
    suffix, read = FILES[name]
    path = _FOLDER / ("".join(c if c.isalnum() else "-" for c in name) + suffix)

    def target(data: bytes) -> None:
        path.write_bytes(data)
        try:
            read(path)
        except FairJudgeError as error:
            if not str(error):
                raise AssertionError("an error without words") from error

    return target


def _verdicts(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    for scale in SCALES:
        locate_verdict(text, scale)
    looks_like_refusal(text)


def _lists(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    read_questions(text, most=20, max_words=30)
    read_answers(text)
    read_groups(text, n=5)
    read_check(text, n=5)


TARGETS: Mapping[str, Target] = {
    **{name: _reader(name) for name in FILES},
    "verdicts": _verdicts,
    "lists of replies": _lists,
}
