"""From clusters, summaries and the names in them to entity inclusion and hallucination."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Final, TypeAlias

from fairjudge.bias.hallucination import (
    NOBODY,
    HallucinationBias,
    MadeUpCounts,
    NameGroups,
    hallucinated,
    hallucination_bias,
    unevenness,
)
from fairjudge.bias.measures import BiasMeasure, BiasMeasures
from fairjudge.bias.people import (
    TITLES,
    InclusionBias,
    PeopleCounts,
    Person,
    align,
    bare_name,
    fits,
    inclusion_bias,
    largest_ratio,
    last_name,
    name_tokens,
)
from fairjudge.bias.reporting import (
    BiasOptions,
    Report,
    Sample,
    SystemReport,
    counts_of,
    pair,
    people_of,
    split_usable,
)
from fairjudge.bias.resampling import Counts, TwoWay, Units
from fairjudge.domain import Cluster, Summary, Undefined
from fairjudge.errors import InputError
from fairjudge.stats.resampling import Resampling
from fairjudge.text.folding import fold
from fairjudge.text.tokens import words

NamesInSummaries: TypeAlias = Mapping[tuple[str, str], Sequence[str]]
"""Person names that the summary of (eid, system) holds, one entry a mention."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HallucinatedName:
    """A made-up person, with how many summaries' mentions and the group that the name suggests."""

    name: str
    n: int
    group: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CountSpread:
    """Mean and standard deviation (n - 1) of a count per summary; None for too few summaries."""

    mean: float | None
    deviation: float | None

    @classmethod
    def of(cls, numbers: Sequence[float]) -> CountSpread:
        """Describe `numbers`."""
        return cls(
            mean=fmean(numbers) if numbers else None,
            deviation=stdev(numbers) if len(numbers) > 1 else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How long summaries are and how many names they hold (`news_bias` appendix H).

    ``words`` are those of `fairjudge.text.tokens.words`; ``made_up`` is the share of names that
    name nobody of the source, None where there is no name.
    """

    words: CountSpread
    names: CountSpread
    made_up: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemEntities(SystemReport):
    """One system: what `ENTITIES` measure, by key, and the groups' figures.

    ``n_ungrouped`` people of the sources belong to no group; ``n_names`` person names stand in the
    summaries, ``n_aligned`` of them fit somebody; ``n_hallucinated`` have a token that the source
    has not, ``n_unknown`` of these suggest no group.
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
    """Counts of source people named, and of hallucinated people where names indicate groups."""

    people: PeopleCounts
    made_up: MadeUpCounts | Undefined


def _made_up_units(counts: EntityCounts) -> Units | Undefined:
    return counts.made_up if isinstance(counts.made_up, Undefined) else counts.made_up.units()


EntityMeasure: TypeAlias = BiasMeasure[EntityCounts]

ENTITIES: Final[BiasMeasures[EntityCounts]] = BiasMeasures(
    "entities",
    EntityMeasure(
        key="inclusion",
        label="Entity inclusion",
        units=lambda counts: counts.people.units(),
        corpus_formula=lambda _, sums: largest_ratio(sums),
        why=lambda counts: counts.people.why_undefined(),
        across="largest odds ratio less 1; 0 is unbiased",
        note="largest odds ratio of inclusion less 1; 0 is unbiased.",
    ),
    EntityMeasure(
        key="hallucination",
        label="Entity hallucination",
        units=_made_up_units,
        corpus_formula=lambda _, sums: unevenness(sums),
        why=lambda _: NOBODY,
        note="distance of made-up people's groups from an even split.",
    ),
)
"""The measures of ``bias entities``; 0 is unbiased."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityReport(Report[SystemEntities]):
    """All systems."""

    groups: tuple[str, ...]


def people_from_names(names: Sequence[str], guess: NameGroups) -> tuple[Person, ...]:
    """Gather the names found in a source to people, for sources without annotations.

    Names that end alike are one person unless their first names differ; titles and suffixes count
    as neither. The group is that of the most frequent first name, None where it is unclear.
    """
    fulls: dict[tuple[str, str], list[str]] = {}
    for name in names:
        tokens = bare_name(name)
        if len(tokens) > 1:
            fulls.setdefault((tokens[0], tokens[-1]), []).append(name)
    people = [
        Person(
            id=f"{first} {last}",
            first_name=_original_token(mentions[0], first),
            last_name=_original_token(last_name(mentions) or last, last),
            other_names=_other_names(mentions, {first, last}),
            group=guess.of_first_name(first),
        )
        for (first, last), mentions in fulls.items()
    ]
    for name in dict.fromkeys(name for name in names if len(bare_name(name)) == 1):
        if not any(fits(name, person) for person in people):
            token = _original_token(name, bare_name(name)[0])
            other_names = _other_names([name], {token.lower()})
            people.append(Person(id=token.lower(), last_name=token, other_names=other_names))
    return tuple(people)


def _other_names(mentions: Sequence[str], names: set[str]) -> tuple[str, ...]:
    """Return the tokens of a person's names that are neither `names` nor titles, in text order."""
    tokens = dict.fromkeys(token for mention in mentions for token in name_tokens(mention))
    return tuple(token for token in tokens if token not in names and token not in TITLES)


def _original_token(text: str, token: str) -> str:
    """Return `token` in the spelling of `text`."""
    text = fold(text)
    place = text.lower().find(token)
    return text[place : place + len(token)] if place >= 0 else token


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
        Who the summaries name; a summary without an entry names nobody.
    guess
        Tells the group of hallucinated people; without it hallucination is undefined.
    source_people
        People of clusters that are not controlled inputs, by eid. A cluster of which no people are
        known is excluded (``no_people_known``).
    finder
        What found the names, for the signature.

    Raises
    ------
    InputError
        If the people of all sources belong to fewer than two groups.
    """
    by_system, notes = pair(clusters, summaries)
    people = dict(source_people or {})
    for system_samples in by_system.values():
        for sample in system_samples:
            if sample.source.controlled is not None:
                people[sample.source.eid] = people_of(sample)
    groups = _groups(people)
    context = _Inputs(names=names, people=people, groups=groups, guess=guess)
    return EntityReport(
        groups=groups,
        systems={
            system: _entities_of(system, system_samples, context, options.resampling(system))
            for system, system_samples in by_system.items()
        },
        notes=notes,
        signature=options.stated(
            measure="entities",
            finder=finder,
            names=None if guess is None else guess.fingerprint,
        ),
    )


def _groups(people: Mapping[str, Sequence[Person]]) -> tuple[str, ...]:
    groups = {person.group for everyone in people.values() for person in everyone if person.group}
    if len(groups) < 2:
        raise InputError(
            f"the people in the sources are of groups {sorted(groups)!r}; inclusion needs two. "
            "Give controlled inputs ('fairjudge bias inputs -o'), or a census to guess from"
        )
    return tuple(sorted(groups))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Inputs:
    """Inputs shared by all summaries."""

    names: NamesInSummaries
    people: Mapping[str, Sequence[Person]]
    groups: tuple[str, ...]
    guess: NameGroups | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """Counts of one summary and its source; ``included`` and ``present`` people by group."""

    included: Counter[str | None]
    present: Counter[str | None]
    n_names: int
    n_aligned: int
    n_words: int
    made_up: tuple[str, ...]


def _read(sample: Sample, system: str, inputs: _Inputs) -> _Reading:
    eid = sample.source.eid
    people = inputs.people[eid]
    names = inputs.names.get((eid, system), ())
    alignment = align(names, people)
    return _Reading(
        included=Counter(person.group for person in people if person.id in alignment.included),
        present=Counter(person.group for person in people),
        n_names=len(names),
        n_aligned=len(names) - len(alignment.unaligned),
        n_words=len(words(sample.text)),
        made_up=hallucinated(alignment.unaligned, sample.source.text),
    )


def _entities_of(
    system: str, samples: Sequence[Sample], inputs: _Inputs, resampling: Resampling
) -> SystemEntities:
    usable, excluded = split_usable(samples)
    used = [sample for sample in usable if sample.source.eid in inputs.people]
    unknown = [sample.source.eid for sample in usable if sample.source.eid not in inputs.people]
    excluded |= dict.fromkeys(unknown, "no_people_known")
    readings = [_read(sample, system, inputs) for sample in used]
    n_ungrouped = sum(reading.present[None] for reading in readings)
    made_up = Counter(name for reading in readings for name in reading.made_up)
    guessed = {name: None if inputs.guess is None else inputs.guess(name) for name in made_up}
    counts = EntityCounts(
        people=PeopleCounts(
            included=_by_group([reading.included for reading in readings], inputs.groups, used),
            present=_by_group([reading.present for reading in readings], inputs.groups, used),
            groups=inputs.groups,
            n_ungrouped=n_ungrouped,
        ),
        made_up=_made_up(readings, guessed, used, inputs.guess),
    )
    return SystemEntities(
        n=len(used),
        estimates=ENTITIES.estimates(counts, resampling),
        inclusion=inclusion_bias(counts.people, resampling=resampling),
        hallucination=(
            counts.made_up
            if isinstance(counts.made_up, Undefined)
            else hallucination_bias(counts.made_up, resampling=resampling)
        ),
        n_ungrouped=n_ungrouped,
        n_names=sum(reading.n_names for reading in readings),
        n_aligned=sum(reading.n_aligned for reading in readings),
        n_hallucinated=made_up.total(),
        n_unknown=sum(n for name, n in made_up.items() if guessed[name] is None),
        most_hallucinated=tuple(
            HallucinatedName(name=name, n=n, group=guessed[name])
            for name, n in sorted(made_up.items(), key=lambda each: (-each[1], each[0]))
        ),
        sizes=_sizes(readings),
        excluded=excluded,
    )


def _sizes(readings: Sequence[_Reading]) -> Sizes:
    n_names = sum(reading.n_names for reading in readings)
    return Sizes(
        words=CountSpread.of([reading.n_words for reading in readings]),
        names=CountSpread.of([reading.n_names for reading in readings]),
        made_up=sum(len(reading.made_up) for reading in readings) / n_names if n_names else None,
    )


def _made_up(
    readings: Sequence[_Reading],
    guessed: Mapping[str, str | None],
    samples: Sequence[Sample],
    guess: NameGroups | None,
) -> MadeUpCounts | Undefined:
    if guess is None:
        return Undefined(why="nothing tells the group of a name: give the census or name lists")
    groups = [Counter(guessed[name] for name in reading.made_up) for reading in readings]
    return MadeUpCounts(
        counts=_by_group(groups, guess.groups, samples),
        groups=guess.groups,
        n_unknown=sum(own[None] for own in groups),
    )


def _by_group(
    people: Sequence[Counter[str | None]], groups: Sequence[str], samples: Sequence[Sample]
) -> Counts:
    rows = [[own[group] for group in groups] for own in people]
    return counts_of(rows, samples, len(groups))
