"""Controlled inputs as clusters of one article, so that every summarizer can take them.

The key ``controlled`` says how an input was made; readers carry it through.
"""

from __future__ import annotations

from typing import Self

from pydantic import ValidationError, model_validator

from fairjudge.bias.assignments import ControlledInput, Design
from fairjudge.bias.people import Person
from fairjudge.domain import Article, Cluster, Id, Record
from fairjudge.errors import InputError

KEY = "controlled"


class PersonRecord(Record):
    """A person of an input; ``group`` null where none was assigned."""

    id: Id
    first_name: str | None = None
    last_name: str | None = None
    other_names: tuple[str, ...] = ()
    group: str | None = None

    def person(self) -> Person:
        """Return the value that the measures take."""
        return Person(
            id=self.id,
            first_name=self.first_name,
            last_name=self.last_name,
            other_names=self.other_names,
            group=self.group,
        )


class Controlled(Record):
    """What is known of an input: its original, its assignment, and its people.

    Only ``people`` is needed for entity measures, and ``group`` for distinguishability.
    """

    original: str | None = None
    design: Design | None = None
    variant: int = 0
    mirror: int = 0
    group: str | None = None
    people: tuple[PersonRecord, ...] = ()

    @model_validator(mode="after")
    def _ids_are_unique(self) -> Self:
        seen: set[str] = set()
        for person in self.people:
            if person.id in seen:
                raise ValueError(f"two people have the id {person.id!r}")
            seen.add(person.id)
        return self


def to_cluster(made: ControlledInput) -> Cluster:
    """Return an input as the record that is written and summarized."""
    return Cluster.model_validate(
        {
            "eid": made.id,
            "articles": [Article(aid="0", content=made.text)],
            KEY: {
                "original": made.original,
                "design": made.design,
                "variant": made.variant,
                "mirror": made.mirror,
                "group": made.group,
                "people": [
                    {
                        "id": person.id,
                        "first_name": person.first_name,
                        "last_name": person.last_name,
                        "other_names": list(person.other_names),
                        "group": person.group,
                    }
                    for person in made.people
                ],
            },
        }
    )


def controlled_of(cluster: Cluster) -> Controlled | None:
    """Return what `cluster` says of how it was made, None where it says nothing.

    Raises
    ------
    InputError
        If the key is there and malformed.
    """
    given = (cluster.model_extra or {}).get(KEY)
    if given is None:
        return None
    try:
        return Controlled.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, (KEY, *first["loc"])))
        raise InputError(f"cluster {cluster.eid!r}: {first['msg']}", field=place) from None
