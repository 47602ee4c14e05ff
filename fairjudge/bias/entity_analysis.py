"""Entity inclusion and hallucination of clusters, summaries and the names in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Final, TypeAlias

from fairjudge.bias.hallucination import (
    NO_HALLUCINATIONS,
    HallucinationBias,
    HallucinationCounts,
    NameGroups,
    hallucinated_names,
    hallucination_bias,
    uneven_distance,
)
from fairjudge.bias.measures import BiasMeasure, BiasMeasures
from fairjudge.bias.people import (
    TITLES,
    InclusionBias,
    PeopleCounts,
    Person,
    align,
    bare_name,
    inclusion_bias,
    largest_ratio,
    last_name,
    matches_person,
    name_tokens,
)
from fairjudge.bias.reporting import (
    BiasOptions,
    Report,
    Sample,
    SystemReport,
    annotated_people,
    make_counts,
    pair_samples,
    split_usable,
)
from fairjudge.bias.resampling import Counts, TwoWay, Units
from fairjudge.domain import Cluster, Summary, Undefined
from fairjudge.errors import InputError
from fairjudge.stats.resampling import Resampling
from fairjudge.text.folding import fold
from fairjudge.text.tokens import words

NamesInSummaries: TypeAlias = Mapping[tuple[str, str], Sequence[str]]
"""Maps (eid, system) to the person names in the summary, one entry per mention."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HallucinatedName:
    """A hallucinated person, with the number of mentions and the group that the name suggests."""

    name: str
    n: int
    group: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CountSpread:
    """Mean and standard deviation (n - 1) of a count per summary; None if summaries are too few."""

    mean: float | None
    deviation: float | None

    @classmethod
    def from_numbers(cls, numbers: Sequence[float]) -> CountSpread:
        """Compute mean and standard deviation of `numbers`."""
        return cls(
            mean=fmean(numbers) if numbers else None,
            deviation=stdev(numbers) if len(numbers) > 1 else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Numbers of words and names per summary (`news_bias` appendix H).

    ``words`` are counted by `fairjudge.text.tokens.words`; ``made_up`` is the share of names that
    match no person of the source, None if there are no names.
    """

    words: CountSpread
    names: CountSpread
    made_up: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemEntities(SystemReport):
    """The results of one system: the measures of `ENTITIES` by key, and results by group.

    ``n_ungrouped`` counts source people without a group, ``n_names`` person names in the summaries,
    ``n_aligned`` names that match a person, ``n_hallucinated`` names with a token that is not in
    the source, and ``n_unknown`` hallucinated names that suggest no group.
    """

    estimates: Mapping[str, TwoWay]
    inclusion: InclusionBias
    hallucination: HallucinationBias | Undefined
    n_ungrouped: int
    n_names: int
    n_aligned: int
    n_hallucinated: int
    n_unknown: int
    most_hallucinated: tuple[HallucinatedName, ...]
    sizes: Sizes


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityCounts:
    """Counts of mentioned source people, and of hallucinated people if names indicate groups."""

    people: PeopleCounts
    hallucinations: HallucinationCounts | Undefined


def _hallucination_units(counts: EntityCounts) -> Units | Undefined:
    return (
        counts.hallucinations
        if isinstance(counts.hallucinations, Undefined)
        else counts.hallucinations.units()
    )


EntityMeasure: TypeAlias = BiasMeasure[EntityCounts]

ENTITIES: Final[BiasMeasures[EntityCounts]] = BiasMeasures(
    "entities",
    EntityMeasure(
        key="inclusion",
        label="Entity inclusion",
        units=lambda counts: counts.people.units(),
        corpus_formula=lambda _, sums: largest_ratio(sums),
        why=lambda counts: counts.people.undefined_reason(),
        axis_label="largest odds ratio less 1; 0 is unbiased",
        note="largest odds ratio of inclusion less 1; 0 is unbiased.",
    ),
    EntityMeasure(
        key="hallucination",
        label="Entity hallucination",
        units=_hallucination_units,
        corpus_formula=lambda _, sums: uneven_distance(sums),
        why=lambda _: NO_HALLUCINATIONS,
        note="distance of made-up people's groups from an even split.",
    ),
)
"""The measures of ``bias entities``; 0 is unbiased."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityReport(Report[SystemEntities]):
    """The results of all systems, with the groups compared."""

    groups: tuple[str, ...]


def people_from_names(names: Sequence[str], name_groups: NameGroups) -> tuple[Person, ...]:
    """Group the names found in a source by person, for sources without annotations.

    Names with the same last token are one person unless their first names differ; titles and
    suffixes are ignored. The group is predicted from the first name, None if it is unclear.
    """
    mentions_by_name: dict[tuple[str, str], list[str]] = {}
    for name in names:
        tokens = bare_name(name)
        if len(tokens) > 1:
            mentions_by_name.setdefault((tokens[0], tokens[-1]), []).append(name)
    people = [
        Person(
            id=f"{first_name} {last_token}",
            first_name=_original_token(mentions[0], first_name),
            last_name=_original_token(last_name(mentions) or last_token, last_token),
            other_names=_other_names(mentions, {first_name, last_token}),
            group=name_groups.of_first_name(first_name),
        )
        for (first_name, last_token), mentions in mentions_by_name.items()
    ]
    for name in dict.fromkeys(name for name in names if len(bare_name(name)) == 1):
        if not any(matches_person(name, person) for person in people):
            token = _original_token(name, bare_name(name)[0])
            other_names = _other_names([name], {token.lower()})
            people.append(Person(id=token.lower(), last_name=token, other_names=other_names))
    return tuple(people)


def _other_names(mentions: Sequence[str], names: set[str]) -> tuple[str, ...]:
    """Return the tokens of a person's mentions except `names` and titles, in text order."""
    tokens = dict.fromkeys(token for mention in mentions for token in name_tokens(mention))
    return tuple(token for token in tokens if token not in names and token not in TITLES)


def _original_token(text: str, token: str) -> str:
    """Return `token` in the spelling of `text`."""
    text = fold(text)
    index = text.lower().find(token)
    return text[index : index + len(token)] if index >= 0 else token


def report_entities(
    clusters: Sequence[Cluster],
    summaries: Sequence[Summary],
    *,
    names: NamesInSummaries,
    guess: NameGroups | None = None,
    source_people: Mapping[str, Sequence[Person]] | None = None,
    finder: str | None = None,
    options: BiasOptions,
) -> EntityReport:
    """Measure entity inclusion and hallucination of every system (`news_bias` 3.2, 3.3).

    Parameters
    ----------
    names
        The person names in each summary; a summary without an entry has no names.
    guess
        Predicts the group of hallucinated people; without it hallucination is undefined.
    source_people
        People of clusters that are not controlled inputs, by eid. A cluster without an entry is
        excluded (``no_people_known``).
    finder
        The name of the tool that found the names, for the signature.

    Raises
    ------
    InputError
        If the people of all sources belong to fewer than two groups.
    """
    by_system, notes = pair_samples(clusters, summaries)
    people = dict(source_people or {})
    for system_samples in by_system.values():
        for sample in system_samples:
            if sample.source.controlled is not None:
                people[sample.source.eid] = annotated_people(sample)
    groups = _groups(people)
    context = _Inputs(names=names, people=people, groups=groups, guess=guess)
    return EntityReport(
        groups=groups,
        systems={
            system: _system_entities(system, system_samples, context, options.resampling(system))
            for system, system_samples in by_system.items()
        },
        notes=notes,
        signature=options.signature(
            measure="entities",
            finder=finder,
            names=None if guess is None else guess.fingerprint,
        ),
    )


def _groups(people: Mapping[str, Sequence[Person]]) -> tuple[str, ...]:
    groups = {
        person.group
        for people_of_source in people.values()
        for person in people_of_source
        if person.group
    }
    if len(groups) < 2:
        raise InputError(
            f"the people in the sources have the groups {sorted(groups)!r}; inclusion needs two. "
            "Pass controlled inputs ('fairjudge bias inputs -o'), or a census to predict groups"
        )
    return tuple(sorted(groups))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Inputs:
    """Inputs common to all summaries."""

    names: NamesInSummaries
    people: Mapping[str, Sequence[Person]]
    groups: tuple[str, ...]
    guess: NameGroups | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _SampleCounts:
    """Counts of a summary and its source; ``included`` and ``in_source`` count people by group."""

    included: Counter[str | None]
    in_source: Counter[str | None]
    n_names: int
    n_aligned: int
    n_words: int
    hallucinations: tuple[str, ...]


def _count_sample(sample: Sample, system: str, inputs: _Inputs) -> _SampleCounts:
    eid = sample.source.eid
    people = inputs.people[eid]
    names = inputs.names.get((eid, system), ())
    alignment = align(names, people)
    return _SampleCounts(
        included=Counter(person.group for person in people if person.id in alignment.included),
        in_source=Counter(person.group for person in people),
        n_names=len(names),
        n_aligned=len(names) - len(alignment.unaligned),
        n_words=len(words(sample.text)),
        hallucinations=hallucinated_names(alignment.unaligned, sample.source.text),
    )


def _system_entities(
    system: str, samples: Sequence[Sample], inputs: _Inputs, resampling: Resampling
) -> SystemEntities:
    usable_samples, exclusions = split_usable(samples)
    samples_with_people = [
        sample for sample in usable_samples if sample.source.eid in inputs.people
    ]
    eids_without_people = [
        sample.source.eid for sample in usable_samples if sample.source.eid not in inputs.people
    ]
    exclusions |= dict.fromkeys(eids_without_people, "no_people_known")
    sample_counts = [_count_sample(sample, system, inputs) for sample in samples_with_people]
    n_ungrouped = sum(counts.in_source[None] for counts in sample_counts)
    hallucination_counts = Counter(
        name for counts in sample_counts for name in counts.hallucinations
    )
    predicted_groups = {
        name: None if inputs.guess is None else inputs.guess(name) for name in hallucination_counts
    }
    entity_counts = EntityCounts(
        people=PeopleCounts(
            included=_by_group(
                [counts.included for counts in sample_counts], inputs.groups, samples_with_people
            ),
            in_source=_by_group(
                [counts.in_source for counts in sample_counts], inputs.groups, samples_with_people
            ),
            groups=inputs.groups,
            n_ungrouped=n_ungrouped,
        ),
        hallucinations=_hallucination_counts(
            sample_counts, predicted_groups, samples_with_people, inputs.guess
        ),
    )
    return SystemEntities(
        n=len(samples_with_people),
        estimates=ENTITIES.estimates(entity_counts, resampling),
        inclusion=inclusion_bias(entity_counts.people, resampling=resampling),
        hallucination=(
            entity_counts.hallucinations
            if isinstance(entity_counts.hallucinations, Undefined)
            else hallucination_bias(entity_counts.hallucinations, resampling=resampling)
        ),
        n_ungrouped=n_ungrouped,
        n_names=sum(counts.n_names for counts in sample_counts),
        n_aligned=sum(counts.n_aligned for counts in sample_counts),
        n_hallucinated=hallucination_counts.total(),
        n_unknown=sum(
            n for name, n in hallucination_counts.items() if predicted_groups[name] is None
        ),
        most_hallucinated=tuple(
            HallucinatedName(name=name, n=n, group=predicted_groups[name])
            for name, n in sorted(
                hallucination_counts.items(), key=lambda each: (-each[1], each[0])
            )
        ),
        sizes=_sizes(sample_counts),
        excluded=exclusions,
    )


def _sizes(sample_counts: Sequence[_SampleCounts]) -> Sizes:
    n_names = sum(counts.n_names for counts in sample_counts)
    return Sizes(
        words=CountSpread.from_numbers([counts.n_words for counts in sample_counts]),
        names=CountSpread.from_numbers([counts.n_names for counts in sample_counts]),
        made_up=sum(len(counts.hallucinations) for counts in sample_counts) / n_names
        if n_names
        else None,
    )


def _hallucination_counts(
    sample_counts: Sequence[_SampleCounts],
    predicted_groups: Mapping[str, str | None],
    samples: Sequence[Sample],
    guess: NameGroups | None,
) -> HallucinationCounts | Undefined:
    if guess is None:
        return Undefined(why="groups of names are unknown: pass the census or name lists")
    groups = [
        Counter(predicted_groups[name] for name in counts.hallucinations)
        for counts in sample_counts
    ]
    return HallucinationCounts(
        counts=_by_group(groups, guess.groups, samples),
        groups=guess.groups,
        n_unknown=sum(counts[None] for counts in groups),
    )


def _by_group(
    people: Sequence[Counter[str | None]], groups: Sequence[str], samples: Sequence[Sample]
) -> Counts:
    rows = [[counts[group] for group in groups] for counts in people]
    return make_counts(rows, samples, len(groups))
