"""Recorded replies of any judge, as a result."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from fairjudge.api.judging import JudgeResult
from fairjudge.datasets import read_replies
from fairjudge.options.checking import checks_arguments

if TYPE_CHECKING:
    from fairjudge.domain import ProtocolName
    from fairjudge.scales import Scale


@checks_arguments
def import_replies(
    replies: object,
    *,
    protocol: ProtocolName = "likert",
    scale: Scale | str | Path | None = None,
    judge: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> JudgeResult:
    """Read recorded replies with the parser that live runs use.

    Parameters
    ----------
    replies
        A path (.jsonl, .json or .csv), a list of dicts, or a data frame, with ``eid``, ``system``
        (or ``system_a`` and ``system_b``), ``aspect`` and the reply under ``response``.
    protocol : {"likert", "binary", "pairwise"}
        What the judge was asked for.
    scale : optional
        A range such as ``"1-5"``, a scale file (.toml) or a `fairjudge.scales.Scale`.
    judge : str, optional
        Who judged; by default the replies' own ``judge``.
    columns : optional
        Field to the name that it has in the replies.

    Returns
    -------
    JudgeResult
        What cannot be read is unscored, with its reason. Every judgement of an item that was judged
        again is kept, numbered by ``repeat`` from 0.

    Raises
    ------
    InputError
        If a field is missing or wrong, or scale and protocol do not fit.

    Examples
    --------
    >>> import fairjudge as fj
    >>> row = {"eid": "e", "system": "s", "aspect": "coverage"}
    >>> replies = [row | {"response": "Most of it. Verdict: 4"}]
    >>> fj.import_replies(replies, scale="1-5", judge="elsewhere")[0].value
    4.0
    """
    from fairjudge.importing import import_replies as read
    from fairjudge.importing import scale_from_options
    from fairjudge.scales import Scale

    loaded = read_replies(replies)
    result = read(
        (record.to_json() for record in loaded),
        scale=(
            scale
            if isinstance(scale, Scale)
            else scale_from_options(protocol, scale=None if scale is None else str(scale))
        ),
        protocol=protocol,
        mapping=columns,
        judge=judge,
        lines=loaded.lines,
        path=loaded.path,
    )
    return JudgeResult(result.judgements)
