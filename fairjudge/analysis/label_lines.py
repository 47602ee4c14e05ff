"""Find the line of a label that is off its scale."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fairjudge.calibration.labels import LabelOffScaleError, item_key
from fairjudge.datasets import Loaded
from fairjudge.domain import Label
from fairjudge.errors import InputError


@contextmanager
def naming_lines(*files: Loaded[Label]) -> Iterator[None]:
    """Add the file and the line to the error of a label off its scale, which is in one of `files`.

    Raises
    ------
    InputError
        A label lies off its scale.
    """
    try:
        yield
    except LabelOffScaleError as error:
        places = (
            (file.path, line)
            for file in files
            for label, line in zip(file.records, file.lines, strict=True)
            if (item_key(label)[0], label.annotator) == (error.item, error.annotator)
        )
        path, line = next(places, (files[0].path if len(files) == 1 else None, None))
        raise InputError(error.problem, path=path, line=line, field="value") from None
