"""Systems ranked, runs compared, and whether a changed judge still agrees with people."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from fairjudge.api.findings import Findings
from fairjudge.api.judging import inputs_of
from fairjudge.calibration.choices import SequenceName
from fairjudge.datasets import read_judgements, read_labels
from fairjudge.errors import ConfigurationError
from fairjudge.options.checking import as_names, checks_arguments
from fairjudge.options.declaring import (
    Annotators,
    LabelScale,
    Level,
    MaxUnscored,
    Opt,
    Seed,
)


@checks_arguments
def check(
    judgements: Annotated[
        object,
        Opt("Judgements of the anchors after the change.", argument=True, reader=read_judgements),
    ],
    labels: Annotated[object, Opt("People's labels of the anchors.", reader=read_labels)],
    *,
    baseline: Annotated[
        object,
        Opt(
            "Judgements of the same anchors before it, or what --save wrote.",
            reader=read_judgements,
        ),
    ],
    annotators: Annotators = "*",
    label_scale: LabelScale = None,
    margin: Annotated[float, Opt("Largest acceptable loss of agreement.", ge=0.001, le=1.0)] = 0.05,
    level: Level = 0.95,
    strict: Annotated[bool, Opt("Fail also where the anchors are too few to tell.")] = False,
    seed: Seed = 0,
    max_unscored: MaxUnscored = 0.05,
    since: Annotated[
        Path | None,
        Opt(
            "Monitor the judge: keep each look in this file, and use intervals that hold together "
            "for all looks."
        ),
    ] = None,
    looks: Annotated[
        int,
        Opt("With --since: number of looks planned, such as the weeks of a year.", ge=1, le=10_000),
    ] = 52,
    sequence: Annotated[
        SequenceName,
        Opt(
            "With --since: 'spending' spends the error over the looks; 'betting' assumes only "
            "that documents are independent, and needs many more of them."
        ),
    ] = "spending",
    live: Annotated[
        object | None,
        Opt(
            "With --since: judgements of the systems' present summaries, by the same judge, to "
            "distinguish a change of the judge from one of the systems.",
            reader=read_judgements,
        ),
    ] = None,
) -> Findings:
    """Compare a judge's agreement with people after a change with that before it.

    The result says whether the change passes; a change that does not pass raises no error.

    Parameters
    ----------
    judgements, baseline
        Judgements of the same labelled items after and before: paths, `JudgeResult`, or lists.
    labels
        People's labels of these items: a path or a list.
    margin : float
        The largest acceptable loss of agreement, above 0 and at most 1.
    max_unscored : float
        The largest share (0 to 1) of labelled items without a score, before or after, that passes.
        An item that was not judged has none.
    strict : bool
        Do not pass where the anchors cannot tell.
    annotators
        Patterns of the names whose labels are taken.
    label_scale : (float, float), optional
        Lowest and highest label, where the labels do not tell it.
    level : float
        Confidence of the intervals, over documents; 0.5 to 0.999.
    since : path, optional
        A record of looks at this judge: this one is added, unless it saw what the last one saw,
        and the verdict comes from a confidence sequence of the change in agreement. Each group has
        ``["watch"]``, whose ``["moved"]`` is "neither", "judge", "systems" or "judge and systems".
    looks : int
        Number of looks planned; over all of them the intervals hold simultaneously with `level`.
    sequence : {"spending", "betting"}
        The confidence sequence.
    live
        Judgements of what the systems write now, by the same judge.

    Returns
    -------
    Findings
        ``["outcome"]`` is "passed", or why not: "worse", "constant" (one score to all anchors, or
        to nearly all), "cannot tell" or "unscored"; ``["verdict"]`` is "better", "same", "worse",
        "constant" or "cannot tell"; ``["groups"]`` has the change of each figure by aspect and
        protocol.

    Raises
    ------
    FairJudgeError
        If an argument cannot be used, no item of either is labelled, or an aspect, protocol or
        judge of the baseline was not judged again.

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
    from fairjudge.analysis.checking import Gate, check_report
    from fairjudge.analysis.label_lines import naming_lines
    from fairjudge.analysis.watching import WatchSettings

    if live is not None and since is None:
        raise ConfigurationError("live: needs since, the record of earlier looks")
    watching = None
    if since is not None:
        live_rows = () if live is None else read_judgements(live).records
        watching = WatchSettings(
            path=Path(since), planned=looks, sequence=sequence, live=tuple(live_rows)
        )
    people = read_labels(labels)
    with naming_lines(people):
        return Findings(
            "check",
            check_report(
                read_judgements(judgements).records,
                read_judgements(baseline).records,
                people,
                gate=Gate(margin=margin, max_unscored=max_unscored, strict=strict),
                annotators=as_names(annotators),
                label_scale=label_scale,
                watching=watching,
                level=level,
                seed=seed,
            ),
        )


@checks_arguments
def compare(
    first: Annotated[object, Opt("Judgements of one run.", argument=True, reader=read_judgements)],
    second: Annotated[
        object,
        Opt("Judgements of the same items in another run.", argument=True, reader=read_judgements),
    ],
    *,
    level: Level = 0.95,
    seed: Seed = 0,
) -> Findings:
    """Compare two runs item by item: agreement, mean shift, and each system in both.

    It does not say which run is right: `calibrate` does, with labels.

    Parameters
    ----------
    first, second
        Judgements of the same items: paths, `JudgeResult`, or lists.
    level : float
        Confidence of the intervals, over documents; 0.5 to 0.999.
    seed : int
        Of the bootstrap.

    Returns
    -------
    Findings
        ``["groups"]``, one an aspect, protocol, unit and judge: agreement of both runs, the mean
        shift (second less first, on the scale of the judgements), each system in both, and the
        items that differ ``largest``; ``["settings"]`` in which the runs differ.

    Raises
    ------
    InputError
        If the runs have no aspect and protocol in common.

    Examples
    --------
    >>> import fairjudge as fj
    >>> row = {"system": "x", "aspect": "coverage", "protocol": "likert", "judge": "j"}
    >>> ratings = [row | {"eid": f"e{n}", "value": n % 5 + 1} for n in range(20)]
    >>> higher = [{**rating, "value": min(5, rating["value"] + 1)} for rating in ratings]
    >>> fj.compare(ratings, higher)["groups"][0]["n_items"]
    20
    """
    from fairjudge.analysis.comparing import comparison_report

    runs = [read_judgements(run) for run in (first, second)]
    report = comparison_report(*(run.records for run in runs), level=level, seed=seed)
    files = [_file(run.path) for run in runs]
    if all(files):
        report = {"files": dict(zip(("first", "second"), files, strict=True)), **report}
    return Findings("compare", report)


def _file(path: str) -> dict[str, str]:
    """Return the name and the date of a file; empty if there is none."""
    if not Path(path).is_file():
        return {}
    modified = datetime.fromtimestamp(Path(path).stat().st_mtime, tz=UTC)
    return {"file": Path(path).name, "written": f"{modified:%Y-%m-%d}"}


@checks_arguments
def rank(
    judgements: Annotated[
        object, Opt("Judgements of pairs or rankings, of one judge or several.", argument=True)
    ],
    *,
    level: Annotated[float, Opt("Confidence of intervals and ranks.", ge=0.5, le=0.999)] = 0.95,
    seed: Seed = 0,
) -> Findings:
    """Rank systems by a Bradley-Terry model with ties (Davidson) and a term for position.

    A win against a strong system counts for more than one against a weak one, and the advantage of
    the first position is removed. Judgements by the protocol ``"ranking"`` are ranked by the
    Plackett-Luce model, with a bootstrap over documents. Several judges of pairs are ranked by
    together too, each with a discrimination: what discriminates better counts for more.

    Parameters
    ----------
    judgements
        Judgements of pairs or rankings, of one order or both: a path, a `JudgeResult`, or a list
        of judgements; also a list of paths or results, of several judges.
    level : float
        Confidence of intervals, over documents, and of ranks, for all systems at once; 0.5 to
        0.999.
    seed : int
        Of the bootstrap.

    Returns
    -------
    Findings
        ``["groups"]``, one a judge, aspect and unit, with ``systems``, best first: the strength in
        log-odds with its interval, and the ranks that the intervals allow; ``pairs`` counts wins,
        ties and losses. ``["together"]`` is by all judges of an aspect.

    Raises
    ------
    InputError
        If there is no judgement of a pair, and no ranking.

    Examples
    --------
    >>> import fairjudge as fj
    >>> pair = {"system_a": "x", "system_b": "y", "aspect": "coverage", "protocol": "pairwise"}
    >>> rows = [
    ...     pair | {"judge": "j", "eid": f"e{n}", "order": order, "value": "b" if n % 4 else "a"}
    ...     for n in range(20)
    ...     for order in ("ab", "ba")
    ... ]
    >>> [system["system"] for system in fj.rank(rows)["groups"][0]["systems"]]
    ['y', 'x']
    """
    from fairjudge.analysis.ranking import ranking_report

    rows = [row for value in inputs_of(judgements) for row in read_judgements(value)]
    return Findings("rank", ranking_report(rows, level=level, seed=seed))
