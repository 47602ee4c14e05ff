"""Controlled inputs as clusters of one article, so that every summarizer can take them.

The key ``controlled`` says how an input was made; readers carry it through.
"""

from __future__ import annotations

from typing import Self

from pydantic import ValidationError, model_validator

from fairjudge.bias.assignments import ControlledInput, Design
from fairjudge.bias.people import Person
from fairjudge.domain import Article, Cluster, Record
from fairjudge.errors import InputError

KEY = "controlled"


class Controlled(Record):
    """Provenance of a controlled input: its original, its assignment, and its people.

    Only ``people`` is needed for entity measures, and ``group`` for distinguishability.
    """

    original: str | None = None
    design: Design | None = None
    variant: int = 0
    mirror: int = 0
    group: str | None = None
    people: tuple[Person, ...] = ()

    @model_validator(mode="after")
    def _ids_are_unique(self) -> Self:
        ids: set[str] = set()
        for person in self.people:
            if person.id in ids:
                raise ValueError(f"two people have the id {person.id!r}")
            ids.add(person.id)
        return self


def to_cluster(controlled: ControlledInput) -> Cluster:
    """Return an input as the record that is written and summarized."""
    fields = ("original", "design", "variant", "mirror", "group")
    people = [person.model_dump(mode="json") for person in controlled.people]
    return Cluster.model_validate(
        {
            "eid": controlled.id,
            "articles": [Article(aid="0", content=controlled.text)],
            KEY: {**{name: getattr(controlled, name) for name in fields}, "people": people},
        }
    )


def controlled_of(cluster: Cluster) -> Controlled | None:
    """Return the provenance of `cluster`; None for an input that is not controlled.

    Raises
    ------
    InputError
        If the key is there and malformed.
    """
    record = (cluster.model_extra or {}).get(KEY)
    if record is None:
        return None
    try:
        return Controlled.model_validate(record)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, (KEY, *first["loc"])))
        raise InputError(f"cluster {cluster.eid!r}: {first['msg']}", field=place) from None
