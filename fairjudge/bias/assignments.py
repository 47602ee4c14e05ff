"""Controlled inputs: assigning people to groups (`news_bias` section 5.1, appendix D).

C_loc balances groups within each input, for inclusion and hallucination; C_glob assigns all people
of an input to one group, for distinguishability.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from fairjudge.bias.forms import Gender
from fairjudge.bias.people import Person, name_tokens
from fairjudge.bias.templates import Identity, Template, TemplatePerson
from fairjudge.domain import Undefined
from fairjudge.errors import InputError
from fairjudge.text.folding import fold

Design: TypeAlias = Literal["local", "global"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NameList:
    """Names that signal a group, and the gender of the matching pronouns and titles.

    If a group has two lists, one of each gender, the gender of each person is random. With
    ``last_names``, last names are also replaced.
    """

    group: str
    gender: Gender
    first_names: tuple[str, ...]
    last_names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlledInput:
    """One rewritten document with its provenance.

    ``variant`` is the number of the assignment of an original; mirrored inputs share it and differ
    in ``mirror``. ``group`` is the group of all people under C_glob, else None. ``people`` are the
    people with a name, with their assigned names.
    """

    original: str
    design: Design
    variant: int
    mirror: int
    group: str | None
    text: str
    people: tuple[Person, ...]

    @property
    def id(self) -> str:
        """An id that is unique among the inputs of the same originals."""
        suffix = self.mirror if self.group is None else self.group
        return f"{self.original}:{self.design}:{self.variant}:{suffix}"


class Names:
    """Validated name lists.

    Raises
    ------
    InputError
        Fewer than two groups, no first names, an invalid name, or last names in only some lists.
    """

    def __init__(self, lists: Sequence[NameList]) -> None:
        self.lists = tuple(lists)
        self.groups: tuple[str, ...] = tuple(dict.fromkeys(entry.group for entry in lists))
        if len(self.groups) < 2:
            raise InputError(f"expected name lists of two groups, got {list(self.groups)!r}")
        self.with_last_names = all(entry.last_names for entry in lists)
        if not self.with_last_names and any(entry.last_names for entry in lists):
            raise InputError("either all name lists have last names, or none")
        for entry in lists:
            if not entry.first_names:
                raise InputError(f"no first names of group {entry.group!r}, {entry.gender}")
            for name in (*entry.first_names, *entry.last_names):
                if not name_tokens(name):
                    raise InputError(f"{name!r} of group {entry.group!r} is not a name")

    @property
    def frequencies(self) -> dict[str, dict[str, float]]:
        """First and last names by group, all with equal frequency, to predict groups from names."""
        frequencies: dict[str, dict[str, float]] = {group: {} for group in self.groups}
        for entry in self.lists:
            for name in (*entry.first_names, *entry.last_names):
                frequencies[entry.group][name] = 1.0
        return frequencies

    def draw(
        self, group: str, n: int, *, used_names: frozenset[str], rng: np.random.Generator
    ) -> list[Identity]:
        """Draw `n` distinct identities without `used_names`.

        Raises `_TooFewNamesError`, which `controlled_inputs` converts to a reason.
        """
        lists = [entry for entry in self.lists if entry.group == group]
        list_choices = [lists[i] for i in rng.integers(0, len(lists), size=n)]
        identities: dict[int, Identity] = {}
        for entry in lists:
            indices = [i for i, choice in enumerate(list_choices) if choice is entry]
            first_names = _sample(entry.first_names, len(indices), used_names, rng)
            last_names: list[str | None] = [None] * len(indices)
            if entry.last_names:
                last_names = [*_sample(entry.last_names, len(indices), used_names, rng)]
            for index, first_name, last_name in zip(indices, first_names, last_names, strict=True):
                identities[index] = Identity(
                    group=group, gender=entry.gender, first_name=first_name, last_name=last_name
                )
        return [identities[index] for index in range(n)]


class _TooFewNamesError(Exception):
    """The lists have too few names that do not already occur in the template."""


def _sample(
    names: Sequence[str], n: int, used_names: frozenset[str], rng: np.random.Generator
) -> list[str]:
    unused_names = [name for name in dict.fromkeys(names) if fold(name).lower() not in used_names]
    if len(unused_names) < n:
        raise _TooFewNamesError
    return [unused_names[i] for i in rng.choice(len(unused_names), size=n, replace=False)]


def controlled_inputs(
    template: Template,
    names: Names,
    *,
    design: Design,
    n_variants: int,
    rng: np.random.Generator,
) -> tuple[ControlledInput, ...] | Undefined:
    """Make `n_variants` inputs of one template.

    C_loc: sets of mirrored inputs, one input per group. Within a set every person belongs to each
    group once, and the names are the same. C_glob: equally many inputs of each group.

    Undefined if the template has no person to assign, or if the lists have too few names that do
    not already occur in it.

    Raises
    ------
    InputError
        If `n_variants` is not a positive multiple of the number of groups.
    """
    k = len(names.groups)
    if n_variants < 1 or n_variants % k:
        raise InputError(f"expected a multiple of the {k} groups as variants, got {n_variants}")
    if not any(person.gendered for person in template.people):
        return Undefined(why="no person with a first name, a gendered pronoun or a title")
    people = [
        person
        for person in template.people
        if person.gendered or (names.with_last_names and person.last_name is not None)
    ]
    original_names = frozenset(name_tokens(template.original))
    make_assignments = _local_set if design == "local" else _global_set
    inputs: list[ControlledInput] = []
    for variant in range(n_variants // k):
        try:
            assignments = make_assignments(people, names, used_names=original_names, rng=rng)
        except _TooFewNamesError:
            return Undefined(why="too few names in the lists that do not already occur in it")
        inputs += [
            _input(template, identities, design=design, variant=variant, mirror=mirror)
            for mirror, identities in enumerate(assignments)
        ]
    return tuple(inputs)


_Identities: TypeAlias = dict[str, Identity]


def _local_set(
    people: Sequence[TemplatePerson],
    names: Names,
    *,
    used_names: frozenset[str],
    rng: np.random.Generator,
) -> list[_Identities]:
    """Return one assignment per rotation of the groups; groups are balanced within each."""
    k = len(names.groups)
    # People with names first: balance matters most for people that a summary can mention.
    with_last_name = [person for person in people if person.last_name is not None]
    without_last_name = [person for person in people if person.last_name is None]
    order = [with_last_name[i] for i in rng.permutation(len(with_last_name))]
    order += [without_last_name[i] for i in rng.permutation(len(without_last_name))]
    pools = _pools(names, -(-len(order) // k), used_names=used_names, rng=rng)
    offset = int(rng.integers(k))
    assignments = []
    for mirror in range(k):
        remaining = {group: iter(pool) for group, pool in pools.items()}
        assignments.append(
            {
                person.id: next(remaining[names.groups[(i + offset + mirror) % k]])
                for i, person in enumerate(order)
            }
        )
    return assignments


def _global_set(
    people: Sequence[TemplatePerson],
    names: Names,
    *,
    used_names: frozenset[str],
    rng: np.random.Generator,
) -> list[_Identities]:
    """Return one assignment per group, with all people in that group."""
    pools = _pools(names, len(people), used_names=used_names, rng=rng)
    return [
        {person.id: identity for person, identity in zip(people, pool, strict=True)}
        for pool in pools.values()
    ]


def _pools(
    names: Names, n: int, *, used_names: frozenset[str], rng: np.random.Generator
) -> dict[str, list[Identity]]:
    return {group: names.draw(group, n, used_names=used_names, rng=rng) for group in names.groups}


def _input(
    template: Template,
    identities: Mapping[str, Identity],
    *,
    design: Design,
    variant: int,
    mirror: int,
) -> ControlledInput:
    groups = {identity.group for identity in identities.values()}
    return ControlledInput(
        original=template.id,
        design=design,
        variant=variant,
        mirror=mirror,
        group=groups.pop() if design == "global" else None,
        text=template.fill(identities),
        people=tuple(
            _person(person, identities.get(person.id))
            for person in template.people
            if person.last_name is not None
        ),
    )


def _person(person: TemplatePerson, identity: Identity | None) -> Person:
    fields = person.model_dump(exclude={"gendered"})
    if identity is not None:
        fields |= {
            "first_name": identity.first_name,
            "last_name": identity.last_name or person.last_name,
            "other_names": person.suffixes,
            "group": identity.group,
        }
    return Person(**fields)
