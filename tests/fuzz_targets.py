"""Everything that reads what others wrote, as functions of bytes that fail in our own way only."""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import openai

from fairjudge.annotation.labels_file import LabelsFile
from fairjudge.annotation.records import without_chance
from fairjudge.annotation.store import Store
from fairjudge.app.batches import import_batch
from fairjudge.app.collecting import recorded_judgements
from fairjudge.app.fairness import read_target
from fairjudge.app.fairness_changes import changes_of_files
from fairjudge.app.fairness_compare import agreement_of_files, overall_of_files
from fairjudge.app.reporting import make_report
from fairjudge.backends.http import seconds_to_wait
from fairjudge.backends.openai import OpenAIBackend
from fairjudge.backends.posting import JsonPoster
from fairjudge.backends.pricing import load_prices
from fairjudge.backends.replay import read_recording
from fairjudge.backends.sdk_errors import map_sdk_error
from fairjudge.backends.systemone_wire import read_decisions
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
from fairjudge.datasets.names import (
    CENSUS_FILES,
    read_census,
    read_lookup,
    read_name_lists,
    read_word_lists,
)
from fairjudge.datasets.summeval import read_summeval
from fairjudge.datasets.supports import (
    read_supports,
    read_units,
    read_value_scores,
    read_value_shares,
)
from fairjudge.errors import FairJudgeError
from fairjudge.importing import import_replies
from fairjudge.judges.cascade import read_thresholds
from fairjudge.judges.criterion_files import read_criterion_file
from fairjudge.judges.units import read_units as read_units_of_a_reply
from fairjudge.parsing import locate_verdict
from fairjudge.prompting import load_template_file
from fairjudge.protocols import CompletionRequest, DecisionRequest, Message, ModelRef, Question
from fairjudge.records import RunFolder
from fairjudge.references.replies import read_answers, read_check, read_groups, read_questions
from fairjudge.refusals import looks_like_refusal
from fairjudge.scales import binary, likert, load_scale, options, pairwise, stars

Target = Callable[[bytes], None]
_FOLDER = Path(tempfile.mkdtemp(prefix="fuzz-"))


def _in_words(read: Callable[[], Any]) -> None:
    """Let `read` fail in our own way."""
    try:
        read()
    except FairJudgeError as error:
        if not str(error):
            raise AssertionError("an error without words") from error


def _into_a_cache(read: Callable[..., Any]) -> Callable[[Path], Any]:
    def into(path: Path) -> None:
        cache = ReplyCache(_FOLDER / "cache", warn=lambda _: None)
        try:
            read(path, cache)
        finally:
            cache.close()

    return into


def _as(name: str, read: Callable[[Path], Any], **beside: str) -> Callable[[Path], None]:
    """Return what gives `read` a folder in which the file is called `name`, beside others."""

    def within(path: Path) -> None:
        folder = path.with_suffix("")
        folder.mkdir(exist_ok=True)
        (folder / name).write_bytes(path.read_bytes())
        for stem, text in beside.items():
            (folder / f"{stem}.json").write_text(text, "utf-8")
        read(folder)

    return within


def _manifest(folder: Path) -> None:
    with RunFolder(folder, identity={"command": "judge"}):
        pass


def _census(path: Path) -> None:
    for name in CENSUS_FILES.values():
        path.with_name(name).write_bytes(path.read_bytes())
    read_census(path.parent)


def _fairness_reports(path: Path) -> None:
    readers: tuple[Callable[[], Any], ...] = (
        lambda: overall_of_files([path], measure="coverage_parity"),
        lambda: agreement_of_files(path, path, seed=0),
        lambda: changes_of_files([path], baseline="s", seed=0, n_resamples=100),
    )
    for read in readers:
        _in_words(read)


def _imported(path: Path) -> None:
    rows = [record.to_json() for record in read_replies(path)]
    import_replies(rows, scale=likert(), judge="j", path=path)


def _labels_file(path: Path) -> None:
    file = LabelsFile(path)
    try:
        file.open([], known=lambda line: without_chance(line) is None)
    finally:
        file.close()


def _annotation_store(path: Path) -> None:
    with Store(path, identity="i", items=["e"]) as store:
        list(store.events())
        store.sessions()


MANIFEST = json.dumps({"schema": 1, "identity": {"command": "judge"}})
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
    "imported replies": (".jsonl", _imported),
    "units": (".jsonl", read_units),
    "value shares": (".jsonl", read_value_shares),
    "census": (".census", _census),
    "names": (".json", read_name_lists),
    "word lists": (".json", read_word_lists),
    "lookup": (".json", read_lookup),
    "target": (".json", lambda path: read_target(str(path))),
    "fairness reports": (".json", _fairness_reports),
    "reported file": (".json", make_report),
    "reported run": (".rows", _as("judgements.jsonl", make_report, manifest=MANIFEST)),
    "reported build": (".rows", _as("references.jsonl", make_report, manifest=MANIFEST)),
    "reported spending": (".rows", _as("spent.jsonl", make_report, manifest=MANIFEST)),
    "reported manifest": (".rows", _as("manifest.json", make_report)),
    "audited run": (".rows", _as("judgements.jsonl", recorded_judgements)),
    "run records": (
        ".rows",
        _as("rows.jsonl", lambda path: list(RunFolder(path, identity={}).read("rows"))),
    ),
    "run manifest": (".rows", _as("manifest.json", _manifest)),
    "labels of a job": (".labels", _labels_file),
    "store of a job": (".sqlite", _annotation_store),
}
SCALES = (likert(), binary(), options("ABCDE"), pairwise(), stars())


def _reader(name: str) -> Target:
    suffix, read = FILES[name]
    path = _FOLDER / ("".join(c if c.isalnum() else "-" for c in name) + suffix)

    def target(data: bytes) -> None:
        path.write_bytes(data)
        _in_words(lambda: read(path))

    return target


def _verdicts(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    for scale in SCALES:
        for cut_off in (False, True):
            locate_verdict(text, scale, cut_off=cut_off)
    looks_like_refusal(text)


def _lists(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    for cut_off in (False, True):
        read_questions(text, most=20, max_words=30, cut_off=cut_off)
        read_answers(text, cut_off=cut_off)
    read_groups(text, n=5)
    read_check(text, n=5)
    read_units_of_a_reply(text)


_MODEL = ModelRef(provider="openai", model="m", base_url="http://127.0.0.1:9/v1")
ASKED = (Message(role="user", content="Rate it."),)
QUESTIONS = (
    Question(name="a", kind="predicate", text="?", options={"yes": "", "no": ""}),
    Question(name="b", kind="choice", text="?", options={"x": "", "y": ""}),
    Question(name="c", kind="score", text="?", options={"1": "", "2": ""}),
)


class _Said(JsonPoster):
    """A server that says the same to everybody."""

    said = b""

    async def post(self, path: str, body: Mapping[str, Any]) -> Any:
        return json.loads(_Said.said)


def _server(data: bytes) -> None:
    """Read a reply of an OpenAI server as the backend does."""
    _Said.said = data

    async def ask() -> None:
        backend = OpenAIBackend(_MODEL)
        backend._clients.get()._poster.__class__ = _Said
        try:
            await backend.complete(CompletionRequest(target=_MODEL, messages=ASKED))
        finally:
            await backend.aclose()

    asyncio.run(ask())


def _decisions(data: bytes) -> None:
    request = DecisionRequest(target=_MODEL, messages=ASKED, questions=QUESTIONS)
    try:
        read_decisions(request, json.loads(data))
    except Exception as error:
        raise map_sdk_error(error, sdk=openai, where="a server", secrets=()) from error


def _header(data: bytes) -> None:
    for name in ("retry-after", "retry-after-ms"):
        seconds = seconds_to_wait({name: data.decode("latin-1")})
        assert seconds is None or seconds >= 0


def _ours(read: Target) -> Target:
    return lambda data: _in_words(lambda: read(data))


TARGETS: Mapping[str, Target] = {
    **{name: _reader(name) for name in FILES},
    "verdicts": _verdicts,
    "lists of replies": _lists,
    "replies of a server": _ours(_server),
    "decisions of a server": _ours(_decisions),
    "headers of a server": _header,
}
