"""``fairjudge audit``: a judge's biases by position, length and order."""

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
    reporting,
    reporting_with_bars,
    reporting_without_figures,
    shows,
)
from fairjudge.options.declaring import Opt
from fairjudge.options.models import Model

app = Application(help="Audit a judge's biases, from stored judgements or new ones.")


@app.command("stability")
@shows(audit.stability)
def stability() -> None:
    """Measure how often the verdict on an item changes between repeats and between prompts.

    Flip rate, spread within an item, the share of variance by item, prompt and repeat, and how much
    repeats narrow an interval. 'judge --repeats 3 --prompt-variants 3' collects such judgements,
    and prints the same table.

        fairjudge audit stability judgements.jsonl --json stability.json
    """


@app.command("position")
@opt.with_options(
    inputs=audit_opt.inputs,
    audit_of=opt.call_of(audit.position),
    model=opt.one_model,
    reporting=reporting_with_bars,
)
def position(
    *,
    inputs: audit_opt.Inputs,
    audit_of: opt.Call[Findings],
    aspect: audit.Aspect = "coverage",
    model: Model,
    max_unscored: opt.MaxUnscored = 0.05,
    reporting: Reporting,
) -> None:
    """Measure position bias: verdicts that follow the position and not the summary.

    Takes pairwise judgements in both orders; or collects them first, given --references and
    --summaries. Labels, or fields human_a and human_b in the judgements, split pairs by closeness.

        fairjudge audit position judgements.jsonl --labels labels.jsonl --json audit.json
    """
    rows = inputs.rows(aspect=aspect, protocol="pairwise", model=model, reporting=reporting)
    reporting.show(audit_of, judgements=rows)
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
            "What is added: 'extended' (the summary once more), 'filler' (empty phrases), "
            "'supported' (sentences of the articles), 'unsupported' (sentences of other "
            "clusters). Repeat for several.",
            flag="--probe",
        ),
    ] = None,
    model: Model,
    max_unscored: opt.MaxUnscored = 0.05,
    reporting: Reporting,
) -> None:
    """Measure verbosity bias: the summary against itself written twice, and finer probes.

    From judgements of systems named X and X:extended; or collected first, given --references and
    --summaries. An unbiased judge prefers neither. Filler should never help; supported facts may
    help coverage, and unsupported ones should harm faithfulness.
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
@opt.with_options(audit_of=opt.call_of(audit.parse), reporting=reporting_without_figures)
def parse(
    *,
    audit_of: opt.Call[Findings],
    max_unscored: opt.MaxUnscored = 0.05,
    reporting: Reporting,
) -> None:
    """Count the judgements without a score, by reason, and who scored the others."""
    reporting.show(audit_of)
    audit_opt.finish(audit_of.values["judgements"].records, protocol=None, limit=max_unscored)


@app.command("covered")
@opt.with_options(audit_of=opt.call_of(audit.covered), reporting=reporting)
def covered(
    *,
    audit_of: opt.Call[Findings],
    references: Annotated[Path, Opt("References or clusters of the judgements.")],
    reporting: Reporting,
) -> None:
    """Measure coverage by article position, question word, answer frequency, outlet, attribute.

    Names the answers that each summary leaves out, and the outlets without a covered answer; by
    judgements of balance, the sources that it covers least.
    """
    from fairjudge.auditing.reports import sources_reader

    rows = audit_of.read(skip_bad=reporting.skip_bad)["judgements"].records
    sources = display.read(sources_reader(rows), references, skip_bad=reporting.skip_bad)
    reporting.show(audit_of, references=sources)


@app.command("statements")
@shows(audit.statements)
def statements() -> None:
    """List the statements of each system that articles contradict or do not support.

    Where summaries cite articles, measures how far what a sentence cites supports it.
    """


@app.command("citations")
@shows(audit.citations)
def citations() -> None:
    """Measure how far the articles that sentences cite support them.

    Given --references, also with citations swapped for other articles of the cluster, where
    support should be lost: where it is not, the share says nothing of citations.
    """


@app.command("length")
@shows(audit.length)
def length() -> None:
    """Adjust win rates for length: as judged, by a model at equal length, and on matched pairs."""


@app.command("order")
@opt.with_options(
    audit_of=opt.call_of(audit.order), model=opt.one_model, reporting=reporting_with_bars
)
def order(
    *,
    audit_of: opt.Call[Findings],
    model: Model,
    reporting: Reporting,
) -> None:
    """Measure the effect of the order of articles, or of a checklist's groups, on verdicts.

    Rates the faithfulness of leads of single articles with that article first, in the middle and
    last; and, given --summaries, those with their articles shuffled. With --of groups judges the
    coverage of --summaries by checklists with the groups of answers in several orders.
    """
    has_questions = audit_of.values["of"] == "groups"
    _show_asked(audit_of, model, reporting, sources="clusters", has_questions=has_questions)


@app.command("checks")
@opt.with_options(
    audit_of=opt.call_of(audit.checks), model=opt.one_model, reporting=reporting_with_bars
)
def checks(
    *,
    audit_of: opt.Call[Findings],
    model: Model,
    reporting: Reporting,
) -> None:
    """Run metamorphic (consistency) tests, which need no right verdicts.

    A summary ties with itself; a summary of all reference answers covers them all; without one
    article's answers it covers no more; a summary that denies answers covers none of them, and one
    with a changed number loses that answer; a sentence that asks for a 5 does not raise the score.
    Lists the failed checks.
    """
    has_questions = audit_of.values["aspect"] == "coverage"
    _show_asked(audit_of, model, reporting, sources="references", has_questions=has_questions)


def _show_asked(
    audit_of: opt.Call[Findings],
    model: Model,
    reporting: Reporting,
    *,
    sources: str,
    has_questions: bool,
) -> None:
    """Show an audit that asks `model` about the clusters or references in the option `sources`."""
    from fairjudge.datasets import read_clusters, read_references

    reader = read_references if has_questions else read_clusters
    records = display.read(reader, audit_of.values[sources], skip_bad=reporting.skip_bad)
    model = replace(model, progress=reporting.progress)
    reporting.show(audit_of, **{sources: records}, model=model)
