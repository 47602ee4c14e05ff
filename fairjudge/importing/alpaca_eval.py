"""AlpacaEval's annotations: one order per pair, which the file does not state.

Source: tatsu-lab/alpaca_eval, ``results/<model>/<annotator>/annotations.json``.
"""

from __future__ import annotations

from collections.abc import Iterator

from fairjudge.domain import Verdict
from fairjudge.errors import InputError
from fairjudge.importing.records import RecordedJudgement
from fairjudge.importing.sources import Ids, Json, Source, fingerprint, score, text, text_or_none

ASPECT = "preference"
_DRAWS = (0, 1.5)
"""The values of a draw (``alpaca_eval/metrics/winrate.py``)."""


def recognises(source: Source) -> bool:
    """Return whether rows have an instruction, two outputs and a preference."""
    return {"instruction", "output_1", "output_2", "preference"} <= source.first.keys()


def read(source: Source) -> Iterator[RecordedJudgement]:
    """Yield a verdict per row, with probabilities if the preference is a fraction.

    The reply is kept but not parsed, since its first output may be either one.
    """
    ids = Ids()
    for line, row in source.records():
        with source.locate_errors(line):
            outputs = (text_or_none(row, "output_1"), text_or_none(row, "output_2"))
            eid = ids.unique_id(fingerprint(text_or_none(row, "instruction") or ""), outputs)
            yield _judgement(row, line=line, eid=eid)


def _judgement(row: Json, *, line: int, eid: str) -> RecordedJudgement:
    preference = score(row.get("preference"))
    if preference is not None and preference not in _DRAWS and not 1 <= preference <= 2:
        raise InputError(f"expected 0 or 1 to 2, not {preference:g}", field="preference")
    completion = row.get("raw_completion")
    return RecordedJudgement(
        line=line,
        eid=eid,
        system_a=text(row, "generator_1"),
        system_b=text(row, "generator_2"),
        aspect=ASPECT,
        judge=text(row, "annotator"),
        reply=completion if isinstance(completion, str) else None,
        value=None if preference is None else _verdict(preference),
        detail="AlpacaEval read no preference" if preference is None else "",
        probabilities=None if not preference else {"a": 2 - preference, "b": preference - 1},
    )


def _verdict(preference: float) -> Verdict:
    if preference in _DRAWS:
        return "tie"
    return "a" if preference < 1.5 else "b"
