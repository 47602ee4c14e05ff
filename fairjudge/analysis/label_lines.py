"""Add the line of a label outside its scale to the error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fairjudge.calibration.labels import LabelOffScaleError, item_key
from fairjudge.datasets import Loaded
from fairjudge.domain import Label
from fairjudge.errors import InputError


@contextmanager
def locate_label_errors(*files: Loaded[Label]) -> Iterator[None]:
    """Add file and line to the error of a label outside its scale, which is in one of `files`.

    Raises
    ------
    InputError
        A label is outside its scale.
    """
    try:
        yield
    except LabelOffScaleError as error:
        locations = (
            (file.path, line)
            for file in files
            for label, line in zip(file.records, file.lines, strict=True)
            if (item_key(label)[0], label.annotator) == (error.item, error.annotator)
        )
        path, line = next(locations, (files[0].path if len(files) == 1 else None, None))
        raise InputError(error.problem, path=path, line=line, field="value") from None
