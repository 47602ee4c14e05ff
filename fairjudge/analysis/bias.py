"""The bias commands: files to values, models where they are needed, and the analysis."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from fairjudge.analysis.bias_inputs import check_one_of
from fairjudge.analysis.name_files import (
    read_census,
    read_lookup,
    read_name_lists,
    read_word_lists,
)
from fairjudge.bias.analysis import (
    DistinguishabilityReport,
    InputReport,
    WordReport,
    control_summaries,
    report_distinguishability,
    report_inputs,
    report_words,
)
from fairjudge.bias.choices import ReferenceKind, Representation
from fairjudge.bias.controlled import controlled_of
from fairjudge.bias.entity_analysis import EntityReport, people_from_names, report_entities
from fairjudge.bias.group_quality import quality_by_group
from fairjudge.bias.hallucination import NameGroups
from fairjudge.bias.people import Person
from fairjudge.bias.reporting import BiasOptions, Source
from fairjudge.bias.word_lists import HELM_GENDER, WordLists
from fairjudge.datasets import Loaded, read_clusters, read_summaries
from fairjudge.domain import Cluster, Judgement, Record, Summary
from fairjudge.errors import ConfigurationError, InputError
from fairjudge.records.matching import with_ids_of
from fairjudge.records.results import Json, to_json
from fairjudge.scorers.people import PeopleFinder, load_people_finder
from fairjudge.text.counting import pluralize
from fairjudge.text.stop_words import GLASGOW_STOP_WORDS

R = TypeVar("R", bound=Record)
_PEOPLE_KEY = "people"
_MAX_NAMED = 8


def measure_words(
    clusters: object,
    summaries: object,
    *,
    lists: Path | WordLists | None = None,
    reference: ReferenceKind = "source",
    controls: bool = False,
    options: BiasOptions,
) -> WordReport:
    """Measure word-list inclusion of files or values; `controls` adds the four controls."""
    sources, texts, notes = _read_inputs(clusters, summaries)
    words = _word_lists(lists)
    if controls:
        if not {"female", "male"} <= words.keys():
            raise ConfigurationError("the controls need word lists of 'female' and 'male'")
        texts = (*texts, *control_summaries(sources, lists=words, seed=options.seed))
    report = report_words(sources, texts, lists=words, reference=reference, options=options)
    return replace(report, notes=(*notes, *report.notes))


def measure_entities(
    clusters: object,
    summaries: object,
    *,
    census: Path | None = None,
    names: Path | None = None,
    lookup: Path | None = None,
    pipeline: str | None = None,
    options: BiasOptions,
) -> EntityReport:
    """Take files or values, find people where they are not annotated, and measure."""
    sources, texts, notes = _read_inputs(clusters, summaries)
    guess = _name_groups(census, names, lookup)
    plain = [cluster for cluster in sources if controlled_of(cluster) is None]
    if plain and guess is None:
        raise ConfigurationError(
            f"the groups of people are unknown in {pluralize(len(plain), 'cluster')}, "
            f"{plain[0].eid!r} first: give --census or --names to guess groups from "
            "names, or make inputs with 'fairjudge bias inputs'"
        )
    finder = _Finder(pipeline)
    names_by_summary = _names_in(texts, finder)
    people = _people_in(plain, guess, finder) if guess is not None else {}
    report = report_entities(
        sources,
        texts,
        names=names_by_summary,
        guess=guess,
        source_people=people,
        finder=finder.used,
        options=options,
    )
    return replace(report, notes=(*notes, *report.notes))


def measure_distinguishability(
    clusters: object,
    summaries: object,
    *,
    representation: Representation = "both",
    embedding_model: str | None = None,
    drop_stop_words: bool = False,
    options: BiasOptions,
) -> DistinguishabilityReport:
    """Take files or values, embed the masked summaries where asked for, and measure."""
    sources, texts, notes = _read_inputs(clusters, summaries)
    embedder = None
    if representation != "counts":
        from fairjudge.scorers.embedding import load_embedder

        embedder = load_embedder(embedding_model)
    report = report_distinguishability(
        sources,
        texts,
        embed=None if embedder is None else embedder.embed,
        embedder=None if embedder is None else embedder.fingerprint,
        stop_words=GLASGOW_STOP_WORDS if drop_stop_words else (),
        options=options,
    )
    return replace(report, notes=(*notes, *report.notes))


def measure_inputs(clusters: object, *, lists: Path | WordLists | None = None) -> InputReport:
    """Take a file or values and find the words that go with each group."""
    loaded = read_clusters(clusters)
    return replace(
        report_inputs(loaded.records, lists=_word_lists(lists)), notes=_bad_lines(loaded)
    )


def quality_json(clusters: object, judgements: Iterable[Judgement]) -> Json:
    """Return the JSON of ``bias quality``: a judge's scores by group of inputs.

    Raises
    ------
    InputError
        No judgement of one summary has a number and an input that is known.
    """
    sources = {cluster.eid: Source.of(cluster) for cluster in read_clusters(clusters)}
    scores: dict[tuple[str, ...], list[tuple[Source, float]]] = {}
    left_out: Counter[str] = Counter()
    for row in judgements:
        source = sources.get(row.eid)
        if source is None:
            left_out["of an unknown input"] += 1
        elif row.system is None or not isinstance(row.value, int | float):
            left_out["without a number"] += 1
        else:
            name = (row.system, row.judge, row.aspect, row.protocol)
            scores.setdefault(name, []).append((source, float(row.value)))
    if not scores:
        raise InputError("no judgement of a summary of these inputs has a number")
    keep = ("n", "n_excluded", "method")
    return {
        "groups": [
            {
                **dict(zip(("system", "judge", "aspect", "protocol"), name, strict=True)),
                "n": len(pairs),
                "quality": to_json(quality_by_group(pairs), keep=keep),
            }
            for name, pairs in sorted(scores.items())
        ],
        "family": "the pairs of groups of a system (Holm)",
        "left_out": dict(left_out),
    }


def _read_inputs(
    clusters: object,
    summaries: object,
) -> tuple[tuple[Cluster, ...], tuple[Summary, ...], tuple[str, ...]]:
    """Return the records, and notes on the lines that were left out."""
    sources = read_clusters(clusters)
    texts = read_summaries(summaries)
    return sources.records, with_ids_of(texts, sources), (*_bad_lines(sources), *_bad_lines(texts))


def _bad_lines(loaded: Loaded[R]) -> tuple[str, ...]:
    if not loaded.bad:
        return ()
    problems = "; ".join(f"line {bad.line}: {bad.problem}" for bad in loaded.bad[:_MAX_NAMED])
    return (f"{loaded.path}: {pluralize(len(loaded.bad), 'bad line')} skipped: {problems}",)


def _word_lists(word_lists: Path | WordLists | None) -> WordLists:
    if isinstance(word_lists, Path):
        return read_word_lists(word_lists)
    return HELM_GENDER if word_lists is None else word_lists


def _name_groups(census: Path | None, names: Path | None, lookup: Path | None) -> NameGroups | None:
    if census is None and names is None:
        if lookup is not None:
            raise ConfigurationError(
                "--lookup needs --census or --names, for the names that are not in it"
            )
        return None
    check_one_of(names, census)
    groups_by_name = None if lookup is None else read_lookup(lookup)
    frequencies = (
        read_census(census) if census is not None else read_name_lists(names or Path()).frequencies
    )
    return NameGroups(frequencies, lookup=groups_by_name)


class _Finder:
    """Finds people by spaCy, loaded on first use."""

    def __init__(self, pipeline: str | None) -> None:
        self._pipeline = pipeline
        self._loaded: PeopleFinder | None = None

    @property
    def used(self) -> str | None:
        """The fingerprint of the pipeline that found names; None if it was not needed."""
        return None if self._loaded is None else self._loaded.fingerprint

    def find(self, texts: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        if not texts:
            return ()
        if self._loaded is None:
            self._loaded = load_people_finder(self._pipeline)
        return self._loaded.find(texts)


def _names_in(
    summaries: Iterable[Summary], finder: _Finder
) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return each summary's names: its own key ``people`` where it has one, else those found."""
    names_by_summary = {}
    unread = []
    for summary in summaries:
        people = (summary.model_extra or {}).get(_PEOPLE_KEY)
        if people is None:
            unread.append(summary)
        elif isinstance(people, list) and all(isinstance(name, str) for name in people):
            names_by_summary[summary.eid, summary.system] = tuple(people)
        else:
            where = f"summary of {summary.eid!r} by {summary.system!r}"
            raise InputError(f"{where}: expected a list of names", field=_PEOPLE_KEY)
    names_of_unread = finder.find([summary.text for summary in unread])
    names_by_summary |= {
        (s.eid, s.system): names for s, names in zip(unread, names_of_unread, strict=True)
    }
    return names_by_summary


def _people_in(
    clusters: Sequence[Cluster], guess: NameGroups, finder: _Finder
) -> dict[str, tuple[Person, ...]]:
    texts = [[article.content for article in cluster.articles] for cluster in clusters]
    names_by_text = iter(finder.find([text for cluster_texts in texts for text in cluster_texts]))
    return {
        cluster.eid: people_from_names(
            [name for _ in cluster_texts for name in next(names_by_text)], guess
        )
        for cluster, cluster_texts in zip(clusters, texts, strict=True)
    }
