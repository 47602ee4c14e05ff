"""Whether a changed judge still agrees with people."""

from __future__ import annotations

from collections.abc import Sequence

from fairjudge.api.findings import Findings
from fairjudge.datasets import read_judgements, read_labels


def check(
    judgements: object,
    labels: object,
    *,
    baseline: object,
    margin: float = 0.05,
    annotators: Sequence[str] = ("*",),
    label_scale: tuple[float, float] | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Findings:
    """Compare a judge's agreement with people after a change with that before it.

    Parameters
    ----------
    judgements, baseline
        Judgements of the same labelled items after and before: paths, `JudgeResult`, or lists.
    labels
        People's labels of these items: a path or a list.
    margin : float
        The largest loss of agreement to put up with, above 0.
    annotators
        Patterns of the names whose labels are taken.
    label_scale : (float, float), optional
        Lowest and highest label, where the labels do not tell it.
    level : float
        Confidence of the intervals, over documents.

    Returns
    -------
    Findings
        ``["verdict"]`` is "better", "same", "worse" or "cannot tell"; ``["groups"]`` has the change
        of each figure by aspect and protocol.

    Raises
    ------
    FairJudgeError
        If an argument cannot be used, or the two have no aspect and protocol in common.

    Examples
    --------
    >>> import fairjudge as fj
    >>> of = {"system": "x", "aspect": "coverage"}
    >>> labels = [of | {"eid": f"e{n}", "annotator": "ann", "value": n % 2} for n in range(40)]
    >>> judged = of | {"protocol": "binary", "judge": "j"}
    >>> right = [judged | {"eid": f"e{n}", "value": n % 2} for n in range(40)]
    >>> wrong = [judged | {"eid": f"e{n}", "value": int(n < 20)} for n in range(40)]
    >>> fj.check(wrong, labels, baseline=right)["verdict"]
    'worse'
    """
    from fairjudge.analysis.checking import check_report

    return Findings(
        "check",
        check_report(
            read_judgements(judgements).records,
            read_judgements(baseline).records,
            read_labels(labels),
            margin=margin,
            annotators=tuple(annotators),
            label_scale=label_scale,
            level=level,
            seed=seed,
        ),
    )
