"""Rank systems, compare runs, and check that a changed judge still agrees with labels."""

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
        Opt(
            "New judgements of the anchors (labelled items).", argument=True, reader=read_judgements
        ),
    ],
    labels: Annotated[object, Opt("Human labels of the anchors.", reader=read_labels)],
    *,
    baseline: Annotated[
        object,
        Opt(
            "Judgements of the same anchors before the change, or the file of --save.",
            reader=read_judgements,
        ),
    ],
    annotators: Annotators = "*",
    label_scale: LabelScale = None,
    margin: Annotated[float, Opt("Maximum acceptable loss of agreement.", ge=0.001, le=1.0)] = 0.05,
    level: Level = 0.95,
    strict: Annotated[bool, Opt("Also fail if there are too few anchors to decide.")] = False,
    seed: Seed = 0,
    max_unscored: MaxUnscored = 0.05,
    since: Annotated[
        Path | None,
        Opt(
            "Monitor the judge: append each check (look) to this history file, and use intervals "
            "that are simultaneously valid for all looks."
        ),
    ] = None,
    looks: Annotated[
        int,
        Opt(
            "With --since: planned number of looks, such as 52 for a year of weeks.",
            ge=1,
            le=10_000,
        ),
    ] = 52,
    sequence: Annotated[
        SequenceName,
        Opt(
            "With --since, the confidence sequence. spending: alpha spending over the looks. "
            "betting: only assumes independent documents, but needs many more of them."
        ),
    ] = "spending",
    live: Annotated[
        object | None,
        Opt(
            "With --since: judgements of the systems' current summaries by the same judge; "
            "separates judge drift from changes in the systems.",
            reader=read_judgements,
        ),
    ] = None,
) -> Findings:
    """Compare a judge's agreement with human labels before and after a change.

    The result reports whether the change passes; failing raises no error.

    Parameters
    ----------
    judgements, baseline
        Judgements of the same labelled items (anchors) after and before the change: paths,
        `JudgeResult`, or lists.
    labels
        Human labels of the anchors: a path or a list.
    margin : float
        Maximum acceptable loss of agreement, above 0 and at most 1.
    max_unscored : float
        Maximum share (0 to 1) of anchors without a score, before or after. Anchors that were not
        judged have no score.
    strict : bool
        Fail if there are too few anchors to decide.
    annotators
        Patterns of annotator names to include.
    label_scale : (float, float), optional
        Lowest and highest label, if it cannot be inferred from the labels.
    level : float
        Confidence level of the intervals over documents; 0.5 to 0.999.
    since : path, optional
        History file of the checks (looks) at this judge. The look is appended unless its data are
        those of the last one, and the verdict is based on a confidence sequence of the change in
        agreement. Each group has ``["watch"]``, whose ``["moved"]`` is "neither", "judge",
        "systems" or "judge and systems".
    looks : int
        Planned number of looks; the intervals are simultaneously valid for all of them at `level`.
    sequence : {"spending", "betting"}
        The confidence sequence.
    live
        Judgements of the systems' current summaries by the same judge.

    Returns
    -------
    Findings
        ``["outcome"]`` is "passed", or the reason for failing: "worse", "constant" (nearly all
        anchors have the same score), "cannot tell" or "unscored"; ``["verdict"]`` is "better",
        "same", "worse", "constant" or "cannot tell"; ``["groups"]`` has the change of each
        statistic by aspect and protocol.

    Raises
    ------
    FairJudgeError
        If an argument is invalid, no judged item has a label, or an aspect, protocol or judge of
        the baseline was not judged again.

    Examples
    --------
    >>> import fairjudge as fj
    >>> item = {"system": "x", "aspect": "coverage"}
    >>> labels = [item | {"eid": f"e{n}", "annotator": "ann", "value": n % 2} for n in range(40)]
    >>> verdict = item | {"protocol": "binary", "judge": "j"}
    >>> old = [verdict | {"eid": f"e{n}", "value": n % 2} for n in range(40)]
    >>> new = [verdict | {"eid": f"e{n}", "value": int(n < 20)} for n in range(40)]
    >>> fj.check(new, labels, baseline=old)["verdict"]
    'worse'
    """
    from fairjudge.analysis.checking import Gate, check_report
    from fairjudge.analysis.label_lines import locate_label_errors
    from fairjudge.analysis.watching import WatchSettings

    if live is not None and since is None:
        raise ConfigurationError("live: requires since, the history of earlier looks")
    watch_settings = None
    if since is not None:
        live_rows = () if live is None else read_judgements(live).records
        watch_settings = WatchSettings(
            path=Path(since), planned=looks, sequence=sequence, live=tuple(live_rows)
        )
    people = read_labels(labels)
    with locate_label_errors(people):
        return Findings(
            "check",
            check_report(
                read_judgements(judgements).records,
                read_judgements(baseline).records,
                people,
                gate=Gate(margin=margin, max_unscored=max_unscored, strict=strict),
                annotators=as_names(annotators),
                label_scale=label_scale,
                watching=watch_settings,
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
    """Compare two runs item by item: agreement, mean shift, and each system's scores in both.

    To find out which run is right, use `calibrate` with labels.

    Parameters
    ----------
    first, second
        Judgements of the same items: paths, `JudgeResult`, or lists.
    level : float
        Confidence level of the intervals over documents; 0.5 to 0.999.
    seed : int
        Random seed of the bootstrap.

    Returns
    -------
    Findings
        ``["groups"]``, one per aspect, protocol, unit and judge: agreement of both runs, the mean
        shift (second minus first, on the scale of the judgements), each system in both, and the
        ``largest`` differences; ``["settings"]`` in which the runs differ.

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
    """Return the name and date of a file; empty if it does not exist."""
    if not Path(path).is_file():
        return {}
    modified = datetime.fromtimestamp(Path(path).stat().st_mtime, tz=UTC)
    return {"file": Path(path).name, "written": f"{modified:%Y-%m-%d}"}


@checks_arguments
def rank(
    judgements: Annotated[
        object, Opt("Pairwise judgements or rankings, by one or several judges.", argument=True)
    ],
    *,
    level: Annotated[
        float, Opt("Confidence level of intervals and ranks.", ge=0.5, le=0.999)
    ] = 0.95,
    seed: Seed = 0,
) -> Findings:
    """Rank systems by a Bradley-Terry model with ties (Davidson) and a position effect.

    A win against a strong system counts more than one against a weak system, and the advantage of
    the first position is removed. For judgements by the protocol ``"ranking"``, a Plackett-Luce
    model is used, with a bootstrap over documents. Pairwise judgements of several judges are also
    combined in one model, in which judges that separate systems better count more.

    Parameters
    ----------
    judgements
        Pairwise judgements (in one or both orders) or rankings: a path, a `JudgeResult`, or a list
        of judgements; also a list of paths or results of several judges.
    level : float
        Confidence level of intervals (over documents) and of ranks (simultaneous for all systems);
        0.5 to 0.999.
    seed : int
        Random seed of the bootstrap.

    Returns
    -------
    Findings
        ``["groups"]``, one per judge, aspect and unit, with ``systems``, best first: the strength
        in log-odds with its interval, and the possible ranks; ``pairs`` counts wins, ties and
        losses. ``["together"]`` combines all judges of an aspect.

    Raises
    ------
    InputError
        If there are neither pairwise judgements nor rankings.

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
