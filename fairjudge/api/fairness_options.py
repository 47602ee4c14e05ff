"""Options shared by fairness measures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, TypeAlias

from fairjudge.datasets import read_clusters, read_summaries
from fairjudge.options.declaring import Opt


def read_numbers(text: str) -> tuple[float, ...]:
    """Parse numbers such as ``18,30,65``.

    Raises
    ------
    ValueError
        If a part is not a number.
    """
    try:
        return tuple(float(number) for number in text.split(","))
    except ValueError:
        raise ValueError(f"expected numbers, not {text!r}") from None


Clusters: TypeAlias = Annotated[
    object,
    Opt("Clusters whose articles have attributes.", argument=True, reader=read_clusters),
]
Bins: TypeAlias = Annotated[
    Sequence[float],
    Opt(
        "Increasing cut points that bin a numeric attribute, such as 18,30,65.",
        parse=read_numbers,
    ),
]


Summaries: TypeAlias = Annotated[
    object, Opt("Summaries (eid, system, text).", reader=read_summaries)
]


Attribute: TypeAlias = Annotated[
    str, Opt("Name of the articles' attribute, such as sentiment or party.")
]
Correlation: TypeAlias = Annotated[
    Literal["pearson", "spearman", "kendall"], Opt("Correlation coefficient.")
]
