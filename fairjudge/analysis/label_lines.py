"""Names the line of a label that lies off its scale."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fairjudge.calibration.labels import LabelOffScaleError, item_key
from fairjudge.datasets import Loaded
from fairjudge.domain import Label
from fairjudge.errors import InputError


@contextmanager
def naming_lines(labels: Loaded[Label]) -> Iterator[None]:
    """Add the file and the line to the error of a label off its scale.

    Raises
    ------
    InputError
        A label lies off its scale.
    """
    try:
        yield
    except LabelOffScaleError as error:
        lines = (
            line
            for label, line in zip(labels.records, labels.lines, strict=True)
            if (item_key(label)[0], label.annotator) == (error.item, error.annotator)
        )
        raise InputError(
            error.problem, path=labels.path, line=next(lines, None), field="value"
        ) from None
