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
from fairjudge.options.declaring import Opt
from fairjudge.options.models import Model

app = Application(help="Audit a judge's biases, from stored judgements or new ones.")


@app.command("stability")
@opt.with_options(audit_of=opt.call_of(audit.stability))
def stability(
    *,
    audit_of: opt.Call[Findings],
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
    figures: opt.Figures = None,
) -> None:
    """Measure how often the verdict on an item changes between repeats and between prompts.

    Flip rate, spread within an item, the share of variance by item, prompt and repeat, and how much
    repeats narrow an interval. 'judge --repeats 3 --prompt-variants 3' collects such judgements,
    and prints the same table.

        fairjudge audit stability judgements.jsonl --json stability.json
    """
    display.found(audit_of(skip_bad=skip_bad), json_file, figures)


@app.command("position")
@opt.with_options(audit_of=opt.call_of(audit.position), model=opt.one_model)
def position(
    judgements: audit_opt.Judgements = None,
    *,
    audit_of: opt.Call[Findings],
    references: audit_opt.References = None,
    summaries: audit_opt.Summaries = None,
    aspect: audit.Aspect = "coverage",
    run: audit_opt.Run = None,
    model: Model,
    max_unscored: opt.MaxUnscored = 0.05,
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
    figures: opt.Figures = None,
    quiet: opt.Quiet = False,
) -> None:
    """Measure position bias: verdicts that follow the position and not the summary.

    Takes pairwise judgements in both orders; or collects them first, given --references and
    --summaries. Labels, or fields human_a and human_b in the judgements, split pairs by closeness.

        fairjudge audit position judgements.jsonl --labels labels.jsonl --json audit.json
    """
    material = audit_opt.material(
        judgements, references=references, summaries=summaries, run=run, skip_bad=skip_bad
    )
    rows = audit_opt.rows(
        material,
        aspect=aspect,
        protocol="pairwise",
        model=model,
        quiet=quiet,
    )
    display.found(audit_of(skip_bad=skip_bad, judgements=rows), json_file, figures)
    audit_opt.finish(rows, protocol="pairwise", limit=max_unscored)


@app.command("verbosity")
@opt.with_options(model=opt.one_model)
def verbosity(
    judgements: audit_opt.Judgements = None,
    *,
    references: audit_opt.References = None,
    summaries: audit_opt.Summaries = None,
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
    run: audit_opt.Run = None,
    model: Model,
    max_unscored: opt.MaxUnscored = 0.05,
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
    figures: opt.Figures = None,
    quiet: opt.Quiet = False,
) -> None:
    """Measure verbosity bias: the summary against itself written twice, and finer probes.

    From judgements of systems named X and X:extended; or collected first, given --references and
    --summaries. An unbiased judge prefers neither. Filler should never help; supported facts may
    help coverage, and unsupported ones should harm faithfulness.
    """
    material = audit_opt.material(
        judgements, references=references, summaries=summaries, run=run, skip_bad=skip_bad
    )
    rows = audit_opt.rows(
        material,
        aspect=aspect,
        protocol=protocol,
        probes=tuple(probes or ["extended"]),
        model=model,
        quiet=quiet,
    )
    display.found(audit.verbosity(rows), json_file, figures)
    audit_opt.finish(rows, protocol=None, limit=max_unscored)


@app.command("parse")
@opt.with_options(audit_of=opt.call_of(audit.parse))
def parse(
    *,
    audit_of: opt.Call[Findings],
    max_unscored: opt.MaxUnscored = 0.05,
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
) -> None:
    """Count the judgements without a score, by reason, and who scored the others."""
    display.found(audit_of(skip_bad=skip_bad), json_file)
    audit_opt.finish(audit_of.values["judgements"].records, protocol=None, limit=max_unscored)


@app.command("covered")
@opt.with_options(audit_of=opt.call_of(audit.covered))
def covered(
    *,
    audit_of: opt.Call[Findings],
    references: Annotated[Path, Opt("References or clusters of the judgements.")],
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
    figures: opt.Figures = None,
) -> None:
    """Measure coverage by article position, question word, answer frequency, outlet, attribute.

    Names the answers that each summary leaves out, and the outlets without a covered answer; by
    judgements of balance, the sources that it covers least.
    """
    from fairjudge.auditing.reports import sources_reader

    rows = audit_of.read(skip_bad=skip_bad)["judgements"].records
    sources = display.read(sources_reader(rows), references, skip_bad=skip_bad)
    display.found(audit_of(references=sources), json_file, figures)


@app.command("statements")
@opt.with_options(audit_of=opt.call_of(audit.statements))
def statements(
    *,
    audit_of: opt.Call[Findings],
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
    figures: opt.Figures = None,
) -> None:
    """List the statements of each system that articles contradict or do not support.

    Where summaries cite articles, measures how far what a sentence cites supports it.
    """
    display.found(audit_of(skip_bad=skip_bad), json_file, figures)


@app.command("citations")
@opt.with_options(audit_of=opt.call_of(audit.citations))
def citations(
    *,
    audit_of: opt.Call[Findings],
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
    figures: opt.Figures = None,
) -> None:
    """Measure how far the articles that sentences cite support them.

    Given --references, also with citations swapped for other articles of the cluster, where
    support should be lost: where it is not, the share says nothing of citations.
    """
    display.found(audit_of(skip_bad=skip_bad), json_file, figures)


@app.command("length")
@opt.with_options(audit_of=opt.call_of(audit.length))
def length(
    *,
    audit_of: opt.Call[Findings],
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
    figures: opt.Figures = None,
) -> None:
    """Adjust win rates for length: as judged, by a model at equal length, and on matched pairs."""
    display.found(audit_of(skip_bad=skip_bad), json_file, figures)


@app.command("order")
@opt.with_options(audit_of=opt.call_of(audit.order), model=opt.one_model)
def order(
    *,
    audit_of: opt.Call[Findings],
    model: Model,
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
    figures: opt.Figures = None,
    quiet: opt.Quiet = False,
) -> None:
    """Measure the effect of the order of articles, or of a checklist's groups, on verdicts.

    Rates the faithfulness of leads of single articles with that article first, in the middle and
    last; and, given --summaries, those with their articles shuffled. With --of groups judges the
    coverage of --summaries by checklists whose groups of answers stand in several orders.
    """
    from fairjudge.datasets import read_clusters, read_references

    reader = read_references if audit_of.values["of"] == "groups" else read_clusters
    sources = display.read(reader, audit_of.values["clusters"], skip_bad=skip_bad)
    model_with_progress = replace(model, progress=display.shown(quiet=quiet))
    findings = audit_of(skip_bad=skip_bad, clusters=sources, model=model_with_progress)
    display.found(findings, json_file, figures)


@app.command("checks")
@opt.with_options(audit_of=opt.call_of(audit.checks), model=opt.one_model)
def checks(
    *,
    audit_of: opt.Call[Findings],
    model: Model,
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
    figures: opt.Figures = None,
    quiet: opt.Quiet = False,
) -> None:
    """Run metamorphic (consistency) tests, which need no right verdicts.

    A summary ties with itself; one of all reference answers covers them all; without one article's
    answers it covers no more; one that denies answers covers none of them, and with another number
    an answer is lost; a sentence that asks for a 5 does not raise the score. Lists the failed
    checks.
    """
    from fairjudge.datasets import read_clusters, read_references

    reader = read_references if audit_of.values["aspect"] == "coverage" else read_clusters
    sources = display.read(reader, audit_of.values["references"], skip_bad=skip_bad)
    model_with_progress = replace(model, progress=display.shown(quiet=quiet))
    display.found(
        audit_of(skip_bad=skip_bad, references=sources, model=model_with_progress),
        json_file,
        figures,
    )
