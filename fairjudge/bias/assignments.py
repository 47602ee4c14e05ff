"""Controlled inputs: assigning people to groups (`news_bias` section 5.1, appendix D).

C_loc balances groups within each input, for inclusion and hallucination; C_glob makes everybody in
an input of one group, for distinguishability.
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
    """Names that signal a group, and the gender of pronouns and titles that go with them.

    Two lists of one group, one of each gender, draw the gender at random for each person. With
    ``last_names``, last names are replaced too.
    """

    group: str
    gender: Gender
    first_names: tuple[str, ...]
    last_names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlledInput:
    """One rewritten document.

    ``variant`` numbers the assignments of an original; inputs that mirror each other share it and
    differ in ``mirror``. ``group`` is that of everybody under C_glob, else None. ``people`` are
    those with a name, under the name they have here.
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
        """A name that no other input of the same originals has."""
        part = self.mirror if self.group is None else self.group
        return f"{self.original}:{self.design}:{self.variant}:{part}"


class Names:
    """Checked name lists.

    Raises
    ------
    InputError
        Fewer than two groups, no first names, a name that is not one word, or last names in some
        lists only.
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
                    raise InputError(f"{name!r} of group {entry.group!r} is no name")

    @property
    def frequencies(self) -> dict[str, dict[str, float]]:
        """Group to first and last names, all with equal frequency, for guessing groups."""
        frequencies: dict[str, dict[str, float]] = {group: {} for group in self.groups}
        for entry in self.lists:
            for name in (*entry.first_names, *entry.last_names):
                frequencies[entry.group][name] = 1.0
        return frequencies

    def draw(
        self, group: str, n: int, *, used_names: frozenset[str], rng: np.random.Generator
    ) -> list[Identity]:
        """Draw `n` identities without repeats and without `used_names`.

        Too few names raise `_TooFewNamesError`, which `controlled_inputs` turns to a reason.
        """
        lists = [entry for entry in self.lists if entry.group == group]
        chosen = [lists[i] for i in rng.integers(0, len(lists), size=n)]
        identities: dict[int, Identity] = {}
        for entry in lists:
            places = [i for i, choice in enumerate(chosen) if choice is entry]
            firsts = _sample(entry.first_names, len(places), used_names, rng)
            lasts: list[str | None] = [None] * len(places)
            if entry.last_names:
                lasts = [*_sample(entry.last_names, len(places), used_names, rng)]
            for place, first, last in zip(places, firsts, lasts, strict=True):
                identities[place] = Identity(
                    group=group, gender=entry.gender, first_name=first, last_name=last
                )
        return [identities[place] for place in range(n)]


class _TooFewNamesError(Exception):
    """The lists have too few names that do not stand in a template already."""


def _sample(
    names: Sequence[str], n: int, used_names: frozenset[str], rng: np.random.Generator
) -> list[str]:
    free = [name for name in dict.fromkeys(names) if fold(name).lower() not in used_names]
    if len(free) < n:
        raise _TooFewNamesError
    return [free[i] for i in rng.choice(len(free), size=n, replace=False)]


def controlled_inputs(
    template: Template,
    names: Names,
    *,
    design: Design,
    n_variants: int,
    rng: np.random.Generator,
) -> tuple[ControlledInput, ...] | Undefined:
    """Make `n_variants` inputs of one template.

    C_loc: sets of mirrored inputs, one for each group; in a set every person is once of each group,
    and the same names serve. C_glob: as many inputs of each group.

    Undefined where the template has nobody to assign, or the lists too few names that do not stand
    in it already.

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
    assigned = [
        person
        for person in template.people
        if person.gendered or (names.with_last_names and person.last_name is not None)
    ]
    original_names = frozenset(name_tokens(template.original))
    make = _local_set if design == "local" else _global_set
    out: list[ControlledInput] = []
    for variant in range(n_variants // k):
        try:
            assignments = make(assigned, names, used_names=original_names, rng=rng)
        except _TooFewNamesError:
            return Undefined(why="too few names in the lists that do not stand in it already")
        out += [
            _input(template, identities, design=design, variant=variant, mirror=m)
            for m, identities in enumerate(assignments)
        ]
    return tuple(out)


_Identities: TypeAlias = dict[str, Identity]


def _local_set(
    people: Sequence[TemplatePerson],
    names: Names,
    *,
    used_names: frozenset[str],
    rng: np.random.Generator,
) -> list[_Identities]:
    """Return one assignment for each rotation of the groups; within each, groups are balanced."""
    k = len(names.groups)
    # People with names first: balance matters for those whom a summary can name.
    with_last_name = [person for person in people if person.last_name is not None]
    nameless = [person for person in people if person.last_name is None]
    order = [with_last_name[i] for i in rng.permutation(len(with_last_name))]
    order += [nameless[i] for i in rng.permutation(len(nameless))]
    pools = _pools(names, -(-len(order) // k), used_names=used_names, rng=rng)
    offset = int(rng.integers(k))
    out = []
    for mirror in range(k):
        free = {group: iter(pool) for group, pool in pools.items()}
        out.append(
            {
                person.id: next(free[names.groups[(i + offset + mirror) % k]])
                for i, person in enumerate(order)
            }
        )
    return out


def _global_set(
    people: Sequence[TemplatePerson],
    names: Names,
    *,
    used_names: frozenset[str],
    rng: np.random.Generator,
) -> list[_Identities]:
    """Return one assignment for each group, of everybody to it."""
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
