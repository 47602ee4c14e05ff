"""A label off its scale is named with its file and line, by each command that reads labels."""

from __future__ import annotations

import pytest
from cli_tools import write_jsonl

import fairjudge as fj
from fairjudge.errors import InputError


def write_files(tmp_path, *, odd: float):
    """Write ten judged and labelled summaries; the label in line 8 is `odd`."""
    rows = [{"eid": f"e{n}", "system": "s", "aspect": "coverage"} for n in range(10)]
    for n, row in enumerate(rows):
        row |= {"annotator": "ann", "value": odd if n == 7 else 1 + n % 5}
    judged, labels = tmp_path / "j.jsonl", tmp_path / "l.jsonl"
    write_jsonl(labels, rows)
    write_jsonl(judged, [
        {name: row[name] for name in ("eid", "system", "aspect")}
        | {"judge": "m", "protocol": "likert", "value": 1 + n % 5, "signature": "s"}
        for n, row in enumerate(rows)
    ])  # fmt: skip
    return judged, labels


@pytest.mark.parametrize("measured", [
    lambda judged, labels: fj.calibrate(judged, labels, label_scale=(1, 5)),
    lambda judged, labels: fj.check(judged, labels, baseline=judged, label_scale=(1, 5)),
])  # fmt: skip
def test_label_off_scale_error_names_file_and_line(tmp_path, measured):
    judged, labels = write_files(tmp_path, odd=30)
    with pytest.raises(InputError, match=r"the label 30 by 'ann' of 's' in 'e7'") as raised:
        measured(judged, labels)
    assert (raised.value.path, raised.value.line) == (str(labels), 8)
    measured(*write_files(tmp_path, odd=3))
