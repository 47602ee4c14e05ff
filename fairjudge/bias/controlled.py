"""Controlled inputs as clusters of one article, so that any summarizer can process them.

The key ``controlled`` has the provenance of an input; readers keep it.
"""

from __future__ import annotations

from typing import Self

from pydantic import ValidationError, model_validator

from fairjudge.bias.assignments import ControlledInput, Design
from fairjudge.bias.people import Person
from fairjudge.domain import Article, Cluster, Record
from fairjudge.errors import InputError

KEY = "controlled"


class ControlledProvenance(Record):
    """Provenance of a controlled input: its original, its assignment, and its people.

    Entity measures only need ``people``, distinguishability only needs ``group``.
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
    """Convert an input to a cluster, the record that is written and summarized."""
    fields = ("original", "design", "variant", "mirror", "group")
    people = [person.model_dump(mode="json") for person in controlled.people]
    return Cluster.model_validate(
        {
            "eid": controlled.id,
            "articles": [Article(aid="0", content=controlled.text)],
            KEY: {**{name: getattr(controlled, name) for name in fields}, "people": people},
        }
    )


def controlled_provenance(cluster: Cluster) -> ControlledProvenance | None:
    """Return the provenance of `cluster`, or None if it is not a controlled input.

    Raises
    ------
    InputError
        If the value of the key is malformed.
    """
    record = (cluster.model_extra or {}).get(KEY)
    if record is None:
        return None
    try:
        return ControlledProvenance.model_validate(record)
    except ValidationError as error:
        first_error = error.errors()[0]
        field = ".".join(map(str, (KEY, *first_error["loc"])))
        raise InputError(f"cluster {cluster.eid!r}: {first_error['msg']}", field=field) from None
