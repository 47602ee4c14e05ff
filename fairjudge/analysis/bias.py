"""Inputs of the bias commands, people found in texts, and a judge's scores by group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from fairjudge.analysis.bias_inputs import check_one_of
from fairjudge.analysis.name_files import (
    read_census,
    read_lookup,
    read_name_lists,
    read_word_lists,
)
from fairjudge.bias.controlled import controlled_provenance
from fairjudge.bias.entity_analysis import people_from_names
from fairjudge.bias.group_quality import quality_by_group
from fairjudge.bias.hallucination import NameGroups
from fairjudge.bias.people import Person
from fairjudge.bias.reporting import Source
from fairjudge.bias.word_lists import HELM_GENDER, WordLists
from fairjudge.datasets import Loaded, read_clusters, read_summaries
from fairjudge.domain import Cluster, Judgement, Record, Summary
from fairjudge.errors import ConfigurationError, InputError
from fairjudge.records.matching import harmonize_ids
from fairjudge.records.results import Json, to_json
from fairjudge.scorers.people import PeopleFinder, load_people_finder
from fairjudge.text.counting import pluralize

R = TypeVar("R", bound=Record)
_PEOPLE_KEY = "people"
_MAX_NAMED = 8


def quality_json(clusters: object, judgements: Iterable[Judgement]) -> Json:
    """Return the JSON of ``bias quality``: a judge's scores by group of inputs.

    Raises
    ------
    InputError
        No judgement of a summary of these inputs has a numeric value.
    """
    sources = {cluster.eid: Source.from_cluster(cluster) for cluster in read_clusters(clusters)}
    scores: dict[tuple[str, ...], list[tuple[Source, float]]] = {}
    n_excluded: Counter[str] = Counter()
    for row in judgements:
        source = sources.get(row.eid)
        if source is None:
            n_excluded["of an unknown input"] += 1
        elif row.system is None or not isinstance(row.value, int | float):
            n_excluded["without a number"] += 1
        else:
            name = (row.system, row.judge, row.aspect, row.protocol)
            scores.setdefault(name, []).append((source, float(row.value)))
    if not scores:
        raise InputError("no judgement of a summary of these inputs has a numeric value")
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
        "left_out": dict(n_excluded),
    }


def read_inputs(
    clusters: object, summaries: object
) -> tuple[tuple[Cluster, ...], tuple[Summary, ...], tuple[str, ...]]:
    """Return clusters and summaries, and notes on skipped lines."""
    sources = read_clusters(clusters)
    texts = read_summaries(summaries)
    return sources.records, harmonize_ids(texts, sources), (*bad_lines(sources), *bad_lines(texts))


def bad_lines(loaded: Loaded[R]) -> tuple[str, ...]:
    """Return a note on the skipped lines of a file, if any."""
    if not loaded.bad:
        return ()
    problems = "; ".join(f"line {bad.line}: {bad.problem}" for bad in loaded.bad[:_MAX_NAMED])
    return (f"{loaded.path}: {pluralize(len(loaded.bad), 'bad line')} skipped: {problems}",)


def as_word_lists(lists: WordLists | str | Path | None) -> WordLists:
    """Return word lists, read from a file if `lists` is a path; HELM's by default."""
    if isinstance(lists, str | Path):
        return read_word_lists(lists)
    return HELM_GENDER if lists is None else lists


def read_name_groups(
    census: str | Path | None, names: str | Path | None, lookup: str | Path | None
) -> NameGroups | None:
    """Return a predictor of groups from names, or None without census and name lists.

    Raises
    ------
    ConfigurationError
        Both are given, or only a lookup.
    """
    if census is None and names is None:
        if lookup is not None:
            raise ConfigurationError(
                "--lookup needs --census or --names, for the names that are not in it"
            )
        return None
    check_one_of(names, census)
    groups_by_name = None if lookup is None else read_lookup(lookup)
    frequencies = (
        read_census(census) if census is not None else read_name_lists(names or "").frequencies
    )
    return NameGroups(frequencies, lookup=groups_by_name)


class NameFinder:
    """Finds person names with spaCy, loaded on first use."""

    def __init__(self, pipeline: str | None) -> None:
        self._pipeline = pipeline
        self._loaded: PeopleFinder | None = None

    @property
    def used(self) -> str | None:
        """The fingerprint of the pipeline that found names; None if it was not needed."""
        return None if self._loaded is None else self._loaded.fingerprint

    def find(self, texts: Sequence[str]) -> tuple[tuple[str, ...], ...]:
        """Return the person names of each text."""
        if not texts:
            return ()
        if self._loaded is None:
            self._loaded = load_people_finder(self._pipeline)
        return self._loaded.find(texts)


def names_in_summaries(
    summaries: Iterable[Summary], finder: NameFinder
) -> dict[tuple[str, str], tuple[str, ...]]:
    """Return the names in each summary: its key ``people`` if present, else the names found."""
    names_by_summary = {}
    unannotated_summaries = []
    for summary in summaries:
        people = (summary.model_extra or {}).get(_PEOPLE_KEY)
        if people is None:
            unannotated_summaries.append(summary)
        elif isinstance(people, list) and all(isinstance(name, str) for name in people):
            names_by_summary[summary.eid, summary.system] = tuple(people)
        else:
            description = f"summary of {summary.eid!r} by {summary.system!r}"
            raise InputError(f"{description}: expected a list of names", field=_PEOPLE_KEY)
    names_found = finder.find([summary.text for summary in unannotated_summaries])
    names_by_summary |= {
        (summary.eid, summary.system): names
        for summary, names in zip(unannotated_summaries, names_found, strict=True)
    }
    return names_by_summary


def people_in_clusters(
    clusters: Sequence[Cluster], guess: NameGroups | None, finder: NameFinder
) -> dict[str, tuple[Person, ...]]:
    """Return the people of each cluster that is not a controlled input, with predicted groups.

    Raises
    ------
    ConfigurationError
        There are such clusters, but no names to predict groups from.
    """
    clusters = [cluster for cluster in clusters if controlled_provenance(cluster) is None]
    if not clusters:
        return {}
    if guess is None:
        raise ConfigurationError(
            f"the groups of people are unknown in {pluralize(len(clusters), 'cluster')}, "
            f"such as {clusters[0].eid!r}: pass --census or --names to predict groups from "
            "names, or make inputs with 'fairjudge bias inputs'"
        )
    texts = [[article.content for article in cluster.articles] for cluster in clusters]
    names_by_text = iter(finder.find([text for cluster_texts in texts for text in cluster_texts]))
    return {
        cluster.eid: people_from_names(
            [name for _ in cluster_texts for name in next(names_by_text)], guess
        )
        for cluster, cluster_texts in zip(clusters, texts, strict=True)
    }
