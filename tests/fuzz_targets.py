"""All readers of external data, as functions of bytes that may only raise our own errors."""

from __future__ import annotations

import asyncio
import json
import tempfile
import unicodedata
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx2
import openai

from fairjudge import fairness
from fairjudge.analysis.bias_inputs import read_annotated
from fairjudge.analysis.calibrating import read_calibrators
from fairjudge.analysis.fairness import read_target
from fairjudge.analysis.name_files import (
    CENSUS_FILES,
    read_census,
    read_lookup,
    read_name_lists,
    read_word_lists,
)
from fairjudge.analysis.reporting import make_report
from fairjudge.analysis.support_files import (
    SUPPORTS,
    UNITS,
    VALUE_SCORES,
    VALUE_SHARES,
)
from fairjudge.annotation.labels_file import LabelsFile, without_probability
from fairjudge.annotation.store import Store
from fairjudge.backends.openai import OpenAIBackend
from fairjudge.backends.pricing import load_prices
from fairjudge.backends.replay import read_recording
from fairjudge.backends.server_client import map_sdk_error
from fairjudge.backends.systemone_wire import read_decisions
from fairjudge.backends.waits import seconds_to_wait
from fairjudge.cache.disk import ReplyCache
from fairjudge.cache.files import import_cache
from fairjudge.datasets import (
    read_clusters,
    read_judgements,
    read_labels,
    read_records,
    read_references,
    read_replies,
    read_summaries,
)
from fairjudge.datasets._loading import Kind
from fairjudge.datasets.conll2012 import read_conll2012
from fairjudge.domain import Answer, Article, QuestionAnswers, Unscored
from fairjudge.errors import FairJudgeError
from fairjudge.importing import import_file, import_replies
from fairjudge.judges.cascades import read_cascade
from fairjudge.judges.checklist import groups_of, read_block
from fairjudge.judges.criterion_files import read_criterion_file
from fairjudge.parsing import locate_verdict
from fairjudge.parsing.refusals import looks_like_refusal
from fairjudge.ports import CompletionRequest, DecisionRequest, Message, ModelRef, Question
from fairjudge.prompting import load_template_file
from fairjudge.records.folder import RunFolder
from fairjudge.records.sealed import seal, unseal
from fairjudge.references.replies import (
    QuotableArticle,
    read_answers,
    read_check,
    read_groups,
    read_questions,
)
from fairjudge.run.batches import import_batch
from fairjudge.run.collecting import recorded_judgements
from fairjudge.run.splitting import read_units as read_units_of_a_reply
from fairjudge.scales import binary, likert, load_scale, options, pairwise, stars
from fairjudge.text.quoting import find_quote

Target = Callable[[bytes], None]
_FOLDER = Path(tempfile.mkdtemp(prefix="fuzz-"))


def _in_words(reader: Callable[[], Any]) -> None:
    """Let `read` fail in our own way."""
    try:
        reader()
    except FairJudgeError as error:
        if not str(error):
            raise AssertionError("an error without words") from error


def _into_a_cache(reader: Callable[..., Any]) -> Callable[[Path], Any]:
    def into(path: Path) -> None:
        cache = ReplyCache(_FOLDER / "cache", warn=lambda _: None)
        try:
            reader(path, cache)
        finally:
            cache.close()

    return into


def _as(name: str, reader: Callable[[Path], Any], **beside: str) -> Callable[[Path], None]:
    """Return what gives `read` a folder in which the file is called `name`, beside others."""

    def within(path: Path) -> None:
        folder = path.with_suffix("")
        folder.mkdir(exist_ok=True)
        (folder / name).write_bytes(path.read_bytes())
        for stem, text in beside.items():
            (folder / f"{stem}.json").write_text(text, "utf-8")
        reader(folder)

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
        lambda: fairness.overall([path], measure="coverage_parity"),
        lambda: fairness.agreement(path, path),
        lambda: fairness.compare(path, baseline="s", n_resamples=100),
    )
    for reader in readers:
        _in_words(reader)


def _of(kind: Kind[Any]) -> Callable[[Path], Any]:
    return lambda path: read_records(path, kind)


def _imported(path: Path) -> None:
    rows = [record.to_json() for record in read_replies(path)]
    import_replies(rows, scale=likert(), judge="j", path=path)


_OF_THE_JOB = tuple(
    b'{"eid": "e", "system": "s", "value": %d, "probability": 0.5}\n' % value for value in (1, 2)
)


def _labels_file(path: Path) -> None:
    """Open a file next to a store with two labels, one of which is current."""
    before = path.read_bytes()
    keys = set(map(without_probability, _OF_THE_JOB))
    file = LabelsFile(path, is_own=lambda line: without_probability(line) in keys)
    try:
        file.open(
            _OF_THE_JOB[:1],
            is_partial=lambda part: any(line.startswith(part) for line in _OF_THE_JOB),
        )
    except FairJudgeError:
        assert path.read_bytes() == before, "a label of others was overwritten"
        raise
    else:
        assert path.read_bytes() == _OF_THE_JOB[0]
        whole = [line for line in before.split(b"\n")[:-1] if line.strip()]
        assert {without_probability(line) for line in whole} <= keys, "a line of others was lost"
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
    "supports": (".jsonl", _of(SUPPORTS)),
    "value scores": (".jsonl", _of(VALUE_SCORES)),
    "scale": (".toml", load_scale),
    "criterion": (".toml", read_criterion_file),
    "thresholds": (".json", read_cascade),
    "prompt": (".md", load_template_file),
    "prices": (".toml", load_prices),
    "recording": (".jsonl", lambda path: list(read_recording(path))),
    "calibrators": (".json", read_calibrators),
    "cache import": (".jsonl", _into_a_cache(lambda path, cache: import_cache(cache, path))),
    "batch results": (
        ".jsonl",
        _into_a_cache(lambda path, cache: import_batch([path], cache=cache)),
    ),
    "imported replies": (".jsonl", _imported),
    "imported file": (".json", import_file),
    "imported lines": (".jsonl", lambda path: import_file(path, skip_bad=True)),
    "imported archive": (".eval", import_file),
    "units": (".jsonl", _of(UNITS)),
    "value shares": (".jsonl", _of(VALUE_SHARES)),
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
    suffix, reader = FILES[name]
    path = _FOLDER / ("".join(c if c.isalnum() else "-" for c in name) + suffix)

    def target(data: bytes) -> None:
        path.write_bytes(data)
        _in_words(lambda: reader(path))

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
        read_questions(text, limit=20, max_words=30, cut_off=cut_off)
        read_answers(text, cut_off=cut_off)
    groups = read_groups(text, n=5)
    assert isinstance(groups, Unscored) or sorted(sum(groups, ())) == list(range(5))
    check = read_check(text, n=5)
    assert isinstance(check, Unscored) or check.invalid <= set(range(5))
    read_units_of_a_reply(text)


def _quotes(data: bytes) -> None:
    """Search the text before the first NUL in the text after it."""
    quote, _, text = data.decode("utf-8", "replace").partition("\0")
    span = find_quote(quote, text)
    if span is not None:
        assert 0 <= span.start < span.end <= len(text)
        assert 10 * span.edits <= len(unicodedata.normalize("NFKC", quote).casefold())
        passage = text[span.start : span.end]
        assert any(map(str.isalnum, unicodedata.normalize("NFKC", passage))), "no words"
        again = find_quote(passage, text)
        assert again is not None, "a passage of the text does not stand in it"
        assert again.edits == 0
    _ARTICLE.find(text)


def _answer(aid: str, words: str, **more: Any) -> Answer:
    return Answer(aid=aid, answer=words, **more)


SUMMARY = "Heavy rain broke the old dam. Officials “denied” that the gate was at fault."
_ARTICLE = QuotableArticle(Article(aid="1", title="A dam broke", content=SUMMARY))
_GROUPS = groups_of(
    [
        QuestionAnswers(
            question="Why did the dam break?",
            answer_groups=(
                (_answer("1", "the rain"), _answer("2", "The rain"), _answer("3", "a storm")),
                (_answer("2", "the gate", speaker="an engineer", stance="disputes"),),
            ),
        ),
    ]
)


def _checklist(data: bytes) -> None:
    entries = read_block(data.decode("utf-8", "surrogateescape"), _GROUPS, SUMMARY)
    if isinstance(entries, Unscored):
        assert entries.detail
        return
    assert [entry.unit for entry in entries] == [group.unit for group in _GROUPS]
    for entry, group in zip(entries, _GROUPS, strict=True):
        assert entry.quote is not None
        assert entry.quote in SUMMARY
        assert bool(entry.quote) == bool(entry.covered) == bool(entry.answers)
        assert set(entry.credited) == {group.answers[at].aid for at in entry.answers or ()}


def _sealed(data: bytes) -> None:
    """Read bytes as rows; also seal them as a row, change one byte, and read the result."""
    row = unseal(data)
    assert row is None or seal(row) == data or "checksum" in row
    text = data.decode("utf-8", "surrogateescape")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = text
    row = {"row": value}
    line = seal(row)
    assert b"\n" not in line
    result = unseal(line)
    assert result is not None
    assert seal(result) == line, "a row is not read as it was written"
    place = sum(data) % len(line)
    changed = line[:place] + bytes([line[place] ^ (1 + len(data) % 255)]) + line[place + 1 :]
    assert unseal(changed) is None, "a changed row was taken"
    assert unseal(line[: len(line) - 1 - place]) is None, "a torn row was taken"


def _records(data: bytes) -> None:
    """Read a file of two valid rows with `data` between them: both are read, and remain."""
    folder = _FOLDER / "sealed"
    folder.mkdir(exist_ok=True)
    first, last = {"n": 1}, {"n": 2}
    file = folder / "rows.jsonl"
    file.write_bytes(seal(first) + b"\n" + data + b"\n" + seal(last) + b"\n")
    for _ in range(2):
        rows = list(RunFolder(folder, identity={}).read("rows"))
        assert rows[0] == first
        assert rows[-1] == last
        assert file.read_bytes().count(b"\n") == len(rows)


_MODEL = ModelRef(provider="openai", model="m", base_url="http://127.0.0.1:9/v1")
ASKED = (Message(role="user", content="Rate it."),)
QUESTIONS = (
    Question(name="a", kind="predicate", text="?", options={"yes": "", "no": ""}),
    Question(name="b", kind="choice", text="?", options={"x": "", "y": ""}),
    Question(name="c", kind="score", text="?", options={"1": "", "2": ""}),
)


def _server(data: bytes) -> None:
    """Parse a response of an OpenAI server as the backend does."""

    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, content=data)

    async def ask() -> None:
        client = httpx2.AsyncClient(transport=httpx2.MockTransport(answer))
        backend = OpenAIBackend(_MODEL)
        backend._connect = lambda: openai.AsyncOpenAI(  # type: ignore[method-assign]
            api_key="k", base_url=_MODEL.base_url, max_retries=0, http_client=client
        )
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
        raise map_sdk_error(error, sdk=openai, server_name="a server", secrets=()) from error


def _header(data: bytes) -> None:
    for name in ("retry-after", "retry-after-ms"):
        seconds = seconds_to_wait({name: data.decode("latin-1")})
        assert seconds is None or seconds >= 0


def _ours(reader: Target) -> Target:
    return lambda data: _in_words(lambda: reader(data))


TARGETS: Mapping[str, Target] = {
    **{name: _reader(name) for name in FILES},
    "verdicts": _verdicts,
    "lists of replies": _lists,
    "checklists of replies": _checklist,
    "quotes": _quotes,
    "sealed rows": _sealed,
    "sealed files": _records,
    "replies of a server": _ours(_server),
    "decisions of a server": _ours(_decisions),
    "headers of a server": _header,
}
