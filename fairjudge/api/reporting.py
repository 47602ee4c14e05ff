"""HTML reports about results and files of any kind."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from fairjudge.api.building import References
from fairjudge.api.judging import JudgeResult
from fairjudge.api.results import CommandResult
from fairjudge.errors import ConfigurationError
from fairjudge.options.checking import as_names, checks_arguments
from fairjudge.options.declaring import Annotators, LabelScale, Opt, Seed

if TYPE_CHECKING:
    from fairjudge.analysis.report_inputs import Inputs
    from fairjudge.datasets import Loaded
    from fairjudge.domain import Cluster, Reference
    from fairjudge.reports.pages import Report


@checks_arguments
def report(
    *values: Annotated[
        object,
        Opt(
            "Run folders, folders of files, judgements, references, clusters, summaries, labels, "
            "and --json output of commands. The kind is recognised by content.",
            metavar="RUN_OR_FILE...",
            argument=True,
        ),
    ],
    references: Annotated[
        object | None, Opt("References or clusters, for questions, answers and outlets.")
    ] = None,
    summaries: Annotated[object | None, Opt("Summaries, to show with their judgements.")] = None,
    labels: Annotated[object | None, Opt("Human labels: adds the results of 'calibrate'.")] = None,
    annotators: Annotators = "*",
    label_scale: LabelScale = None,
    title: Annotated[str, Opt("Heading of the page.")] = "FairJudge report",
    seed: Seed = 0,
) -> Report:
    """Return a self-contained HTML page about `values`.

    Parameters
    ----------
    values
        Results of `build`, a `Judge`, `calibrate` or a fairness measure; run folders; any files
        that FairJudge writes.
    references, summaries, labels
        For further details: a path, or a list of records or dicts.
    annotators
        Patterns of annotator names to include, such as ``"expert*"``.
    label_scale : (float, float), optional
        Lowest and highest label, if it cannot be inferred from the labels.
    title, seed
        Title of the page; random seed of all resampling.

    Returns
    -------
    Report
        A page with ``save(path)``, which notebooks display.

    Raises
    ------
    FairJudgeError
        If a value is invalid, or there is nothing to show.

    Examples
    --------
    >>> import fairjudge as fj
    >>> fj.report("run-folder").save("report.html")  # doctest: +SKIP
    """
    from fairjudge.analysis.report_inputs import Inputs
    from fairjudge.analysis.reporting import report_on
    from fairjudge.datasets import read_labels, read_summaries

    inputs = Inputs(annotators=as_names(annotators), label_scale=label_scale)
    for number, value in enumerate(values, start=1):
        _add(inputs, value, number)
    if references is not None:
        inputs.take_clusters(_sources(references))
    if summaries is not None:
        inputs.take_summaries(read_summaries(summaries))
    if labels is not None:
        inputs.take_labels(read_labels(labels))
    return report_on(inputs, title=title, seed=seed)


def _sources(value: object) -> Loaded[Reference] | Loaded[Cluster]:
    """Return references, or clusters if there are no questions."""
    from fairjudge.datasets import read_clusters, read_references

    clusters = read_clusters(value, argument="references")
    if all("question_answers" in cluster.to_json() for cluster in clusters):
        return read_references(value if isinstance(value, str | Path) else clusters)
    return clusters


def _add(inputs: Inputs, value: object, number: int) -> None:
    from fairjudge.records.schema import without_schema
    from fairjudge.reports.content import Panel

    match value:
        case str() | Path():
            inputs.add(Path(value))
        case References():
            inputs.take_clusters(value)
        case JudgeResult():
            inputs.take_clusters(value.references)
            inputs.take_judgements(value)
        case CommandResult():
            figures = without_schema(value.to_dict())
            inputs.panels.append(Panel(kind=value.kind, source=f"value {number}", report=figures))
        case _:
            raise ConfigurationError(
                f"report: value {number} is a {type(value).__name__}; expected a result of build, "
                "Judge, calibrate, an audit, a fairness or bias measure, or a path"
            )
