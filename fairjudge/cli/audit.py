"""``fairjudge audit``: measure a judge's biases, stability and consistency."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from fairjudge.api import audit
from fairjudge.api.findings import Findings
from fairjudge.cli import audit_options as audit_opt
from fairjudge.cli import display
from fairjudge.cli import options as opt
from fairjudge.cli.application import Application
from fairjudge.cli.reporting import (
    Reporting,
    command_showing,
    reporting,
    reporting_with_bars,
    reporting_without_figures,
)
from fairjudge.options.declaring import Opt
from fairjudge.options.models import Model

app = Application(help="Audit a judge's biases, from stored judgements or new ones.")


@app.command("stability")
@command_showing(audit.stability)
def stability() -> None:
    """Measure how often the verdict on an item changes between repeats and between prompts.

    Reports the flip rate, the spread within an item, the share of variance due to items, prompts
    and repeats, and how much repeats narrow an interval. 'judge --repeats 3 --prompt-variants 3'
    collects such judgements and prints the same table.

        fairjudge audit stability judgements.jsonl --json stability.json
    """


@app.command("position")
@opt.with_options(
    inputs=audit_opt.inputs,
    audit_call=opt.call_of(audit.position),
    model=opt.one_model,
    reporting=reporting_with_bars,
)
def position(
    *,
    inputs: audit_opt.Inputs,
    audit_call: opt.Call[Findings],
    aspect: audit.Aspect = "coverage",
    model: Model,
    max_unscored: opt.MaxUnscored = 0.05,
    reporting: Reporting,
) -> None:
    """Measure position bias: verdicts that depend on the position rather than the summary.

    Needs pairwise judgements in both orders, or --references and --summaries to collect them first.
    With labels, or fields human_a and human_b in the judgements, close and clear pairs are also
    reported separately.

        fairjudge audit position judgements.jsonl --labels labels.jsonl --json audit.json
    """
    rows = inputs.rows(aspect=aspect, protocol="pairwise", model=model, reporting=reporting)
    reporting.show(audit_call, judgements=rows)
    audit_opt.finish(rows, protocol="pairwise", limit=max_unscored)


@app.command("verbosity")
@opt.with_options(inputs=audit_opt.inputs, model=opt.one_model, reporting=reporting_with_bars)
def verbosity(
    *,
    inputs: audit_opt.Inputs,
    aspect: audit.Aspect = "coverage",
    protocol: audit_opt.Protocol = "likert",
    probes: Annotated[
        Sequence[str] | None,
        Opt(
            "Text appended to each summary: 'extended' (the summary again), 'filler' (empty "
            "phrases), 'supported' (sentences of the articles), 'unsupported' (sentences of other "
            "clusters). Repeatable. Default: extended.",
            flag="--probe",
        ),
    ] = None,
    model: Model,
    max_unscored: opt.MaxUnscored = 0.05,
    reporting: Reporting,
) -> None:
    """Measure verbosity bias: compare summaries with longer versions of themselves.

    Needs judgements of systems named X and X:extended, or --references and --summaries to collect
    them first. An unbiased judge prefers neither version. Filler should never help; supported facts
    may help coverage, and unsupported ones should reduce faithfulness.
    """
    rows = inputs.rows(
        aspect=aspect,
        protocol=protocol,
        probes=tuple(probes or ["extended"]),
        model=model,
        reporting=reporting,
    )
    display.show_findings(audit.verbosity(rows), reporting.json_file, reporting.figures)
    audit_opt.finish(rows, protocol=None, limit=max_unscored)


@app.command("parse")
@opt.with_options(audit_call=opt.call_of(audit.parse), reporting=reporting_without_figures)
def parse(
    *,
    audit_call: opt.Call[Findings],
    max_unscored: opt.MaxUnscored = 0.05,
    reporting: Reporting,
) -> None:
    """Count the judgements without a score by reason, and the others by scorer."""
    reporting.show(audit_call)
    audit_opt.finish(audit_call.values["judgements"].records, protocol=None, limit=max_unscored)


@app.command("covered")
@opt.with_options(audit_call=opt.call_of(audit.covered), reporting=reporting)
def covered(
    *,
    audit_call: opt.Call[Findings],
    references: Annotated[Path, Opt("References or clusters of the judgements.")],
    reporting: Reporting,
) -> None:
    """Measure coverage by article position, question word, answer frequency, outlet, attribute.

    Also lists the answers that each summary leaves out and the outlets without a covered answer;
    from judgements of balance, the sources that each summary covers least.
    """
    from fairjudge.auditing.reports import sources_reader

    rows = audit_call.read(skip_bad=reporting.skip_bad)["judgements"].records
    sources = display.read(sources_reader(rows), references, skip_bad=reporting.skip_bad)
    reporting.show(audit_call, references=sources)


@app.command("statements")
@command_showing(audit.statements)
def statements() -> None:
    """List the statements of each system that articles contradict or do not support.

    If summaries cite articles, also measures whether cited articles support the citing sentences.
    """


@app.command("citations")
@command_showing(audit.citations)
def citations() -> None:
    """Measure whether the cited articles support the sentences that cite them.

    With --references, also measured after replacing citations by other articles of the cluster: if
    support does not drop, the measured share is not informative about citations.
    """


@app.command("length")
@command_showing(audit.length)
def length() -> None:
    """Adjust win rates for length: raw, modelled at equal length, and on length-matched pairs."""


@app.command("order")
@opt.with_options(
    audit_call=opt.call_of(audit.order), model=opt.one_model, reporting=reporting_with_bars
)
def order(
    *,
    audit_call: opt.Call[Findings],
    model: Model,
    reporting: Reporting,
) -> None:
    """Measure the effect of the order of articles, or of a checklist's groups, on verdicts.

    Rates the faithfulness of the lead of one article with that article first, in the middle and
    last, and that of --summaries with their articles shuffled. With --of groups, judges the
    coverage of --summaries by checklists that list the groups of answers in several orders.
    """
    has_questions = audit_call.values["of"] == "groups"
    _show_model_audit(audit_call, model, reporting, sources="clusters", has_questions=has_questions)


@app.command("checks")
@opt.with_options(
    audit_call=opt.call_of(audit.checks), model=opt.one_model, reporting=reporting_with_bars
)
def checks(
    *,
    audit_call: opt.Call[Findings],
    model: Model,
    reporting: Reporting,
) -> None:
    """Run metamorphic (consistency) tests, which need no human labels.

    Checks that a summary ties with itself; that a summary of all reference answers covers all of
    them, and does not cover more without the answers of one article; that a summary that denies
    answers does not cover them, nor one with a changed number that answer; and that a sentence that
    asks for a score of 5 does not raise the score. Lists the failed checks.
    """
    has_questions = audit_call.values["aspect"] == "coverage"
    _show_model_audit(
        audit_call, model, reporting, sources="references", has_questions=has_questions
    )


def _show_model_audit(
    audit_call: opt.Call[Findings],
    model: Model,
    reporting: Reporting,
    *,
    sources: str,
    has_questions: bool,
) -> None:
    """Run an audit with `model` on the clusters or references in the option `sources`."""
    from fairjudge.datasets import read_clusters, read_references

    reader = read_references if has_questions else read_clusters
    records = display.read(reader, audit_call.values[sources], skip_bad=reporting.skip_bad)
    model = replace(model, progress=reporting.progress)
    reporting.show(audit_call, **{sources: records}, model=model)
