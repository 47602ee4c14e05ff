"""Options that the commands of ``fairjudge fairness`` share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

Clusters: TypeAlias = Annotated[
    Path, typer.Argument(help="Clusters whose articles carry attributes.")
]
Summaries: TypeAlias = Annotated[Path, typer.Option(help="Summaries: eid, system, text.")]
Attribute: TypeAlias = Annotated[
    str, typer.Option(help="Name of the articles' attribute, such as sentiment or party.")
]
Bins: TypeAlias = Annotated[
    str | None,
    typer.Option(help="Increasing cut points that group a numeric attribute, such as 18,30,65."),
]


def read_bins(text: str | None) -> tuple[float, ...]:
    """Return the cut points of ``--bins``.

    Raises
    ------
    typer.BadParameter
        One is not a number.
    """
    try:
        return tuple(float(cut) for cut in text.split(",")) if text else ()
    except ValueError:
        raise typer.BadParameter(f"expected numbers, not {text!r}", param_hint="--bins") from None
