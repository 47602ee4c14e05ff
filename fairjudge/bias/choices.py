"""Values of options of the bias measures."""

from __future__ import annotations

from typing import Literal, TypeAlias

ReferenceKind: TypeAlias = Literal["source", "uniform"]
Representation: TypeAlias = Literal["counts", "dense", "both"]
