"""``fairjudge audit``: a judge's biases by position, length and order."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from fairjudge.cli import audit_options as audit_opt
from fairjudge.cli import audit_stability, display
from fairjudge.cli import options as opt
from fairjudge.cli.application import Application
from fairjudge.options.models import Model

app = Application(help="Audit a judge's biases, from stored judgements or new ones.")
app.command("stability")(audit_stability.stability)


@app.command("position")
@opt.with_options(model=opt.one_model)
def position(
    judgements: audit_opt.Judgements = None,
    *,
    labels: Annotated[
        Path | None,
        typer.Option(help="People's labels: pairs are split by how close people rate them."),
    ] = None,
    close_within: Annotated[
        float, typer.Option(min=0.0, help="Largest difference of labels that counts as close.")
    ] = 0.5,
    references: audit_opt.References = None,
    summaries: audit_opt.Summaries = None,
    aspect: audit_opt.Aspect = "coverage",
    run: audit_opt.Run = None,
    model: Model,
    max_unscored: opt.MaxUnscored = 0.05,
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
    quiet: opt.Quiet = False,
) -> None:
    """Measure position bias: verdicts that follow the position and not the summary.

    Takes pairwise judgements in both orders; or collects them first, given --references and
    --summaries. Labels, or fields human_a and human_b in the judgements, split pairs by closeness.

        fairjudge audit position judgements.jsonl --labels labels.jsonl --json audit.json
    """
    from fairjudge.api import audit
    from fairjudge.datasets import read_labels

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
    people = display.read(read_labels, labels, skip_bad=skip_bad) if labels else None
    display.found(audit.position(rows, labels=people, close_within=close_within), json_file)
    audit_opt.finish(rows, protocol="pairwise", limit=max_unscored)


@app.command("verbosity")
@opt.with_options(model=opt.one_model)
def verbosity(
    judgements: audit_opt.Judgements = None,
    *,
    references: audit_opt.References = None,
    summaries: audit_opt.Summaries = None,
    aspect: audit_opt.Aspect = "coverage",
    protocol: audit_opt.Protocol = "likert",
    probe: Annotated[
        list[str] | None,
        typer.Option(
            help="What is added: 'extended' (the summary once more), 'filler' (empty phrases), "
            "'supported' (sentences of the articles), 'unsupported' (sentences of other "
            "clusters). Repeat for several."
        ),
    ] = None,
    run: audit_opt.Run = None,
    model: Model,
    max_unscored: opt.MaxUnscored = 0.05,
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
    quiet: opt.Quiet = False,
) -> None:
    """Measure verbosity bias: the summary against itself written twice, and finer probes.

    From judgements of systems named X and X:extended; or collected first, given --references and
    --summaries. An unbiased judge prefers neither. Filler should never help; supported facts may
    help coverage, and unsupported ones should harm faithfulness.
    """
    from fairjudge.api import audit

    material = audit_opt.material(
        judgements, references=references, summaries=summaries, run=run, skip_bad=skip_bad
    )
    rows = audit_opt.rows(
        material,
        aspect=aspect,
        protocol=protocol,
        probes=tuple(probe or ["extended"]),
        model=model,
        quiet=quiet,
    )
    display.found(audit.verbosity(rows), json_file)
    audit_opt.finish(rows, protocol=None, limit=max_unscored)


@app.command("parse")
def parse(
    judgements: Annotated[Path, typer.Argument(help="Judgements.")],
    *,
    max_unscored: opt.MaxUnscored = 0.05,
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
) -> None:
    """Count the judgements without a score, by reason, and who scored the others."""
    from fairjudge.api import audit
    from fairjudge.datasets import read_judgements

    rows = display.read(read_judgements, judgements, skip_bad=skip_bad).records
    display.found(audit.parse(rows), json_file)
    audit_opt.finish(rows, protocol=None, limit=max_unscored)


@app.command("covered")
def covered(
    judgements: Annotated[
        Path, typer.Argument(help="Checklists, or judgements of balance, answers or articles.")
    ],
    *,
    references: Annotated[
        Path, typer.Option(help="The references (or clusters) that they stand on.")
    ],
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
) -> None:
    """Measure coverage by article position, question word, answer frequency, outlet, attribute.

    Names the answers that each summary leaves out, and the outlets none of whose answers it has; by
    judgements of balance, the sources that it covers least.
    """
    from fairjudge.api import audit
    from fairjudge.auditing.reports import sources_reader
    from fairjudge.datasets import read_judgements

    rows = display.read(read_judgements, judgements, skip_bad=skip_bad)
    sources = display.read(sources_reader(rows.records), references, skip_bad=skip_bad)
    display.found(audit.covered(rows, sources), json_file)


@app.command("statements")
def statements(
    judgements: Annotated[Path, typer.Argument(help="Checklists of faithfulness.")],
    *,
    references: Annotated[
        Path | None, typer.Option(help="The clusters that they stand on, for outlets' names.")
    ] = None,
    summaries: Annotated[
        Path | None, typer.Option(help="The summaries, where sentences have citations.")
    ] = None,
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
) -> None:
    """Name the statements of each system that articles contradict or do not have, and which do.

    Where summaries cite articles, measures how far each sentence is borne out by what it cites.
    """
    from fairjudge.api import audit
    from fairjudge.datasets import read_clusters, read_judgements, read_summaries

    rows = display.read(read_judgements, judgements, skip_bad=skip_bad)
    clusters = display.read(read_clusters, references, skip_bad=skip_bad) if references else None
    written = display.read(read_summaries, summaries, skip_bad=skip_bad) if summaries else None
    display.found(audit.statements(rows, clusters, summaries=written), json_file)


@app.command("length")
def length(
    judgements: Annotated[Path, typer.Argument(help="Pairwise judgements.")],
    *,
    summaries: Annotated[Path, typer.Option(help="The summaries, for their lengths.")],
    matched_within: Annotated[
        float,
        typer.Option(
            min=0.0, help="Pairs count as matched within this many typical length differences."
        ),
    ] = 0.25,
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
) -> None:
    """Adjust win rates for length: as judged, by a model at equal length, and on matched pairs."""
    from fairjudge.api import audit
    from fairjudge.datasets import read_judgements, read_summaries

    rows = display.read(read_judgements, judgements, skip_bad=skip_bad)
    written = display.read(read_summaries, summaries, skip_bad=skip_bad)
    display.found(audit.length(rows, written, matched_within=matched_within), json_file)


@app.command("order")
@opt.with_options(model=opt.one_model)
def order(
    *,
    references: Annotated[Path, typer.Option(help="Clusters of three articles or more.")],
    summaries: audit_opt.Summaries = None,
    max_articles: Annotated[
        int, typer.Option(min=1, help="Articles of each cluster whose position is changed.")
    ] = 3,
    shuffles: Annotated[
        int, typer.Option(min=2, help="Orders in which each summary's articles are shown.")
    ] = 3,
    run: audit_opt.Run = None,
    model: Model,
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
    quiet: opt.Quiet = False,
) -> None:
    """Measure the effect of the order of articles in the prompt on faithfulness ratings.

    Rates leads of single articles with that article first, in the middle and last; and, given
    --summaries, those with their articles shuffled.
    """
    from fairjudge.api import audit
    from fairjudge.datasets import read_clusters, read_summaries

    none = audit.order(
        display.read(read_clusters, references, skip_bad=skip_bad),
        display.read(read_summaries, summaries, skip_bad=skip_bad) if summaries else None,
        model=replace(model, progress=display.shown(quiet=quiet)),
        max_articles=max_articles,
        n_shuffles=shuffles,
        run=run,
    )
    display.found(none, json_file)


@app.command("checks")
@opt.with_options(model=opt.one_model)
def checks(
    *,
    references: Annotated[Path, typer.Option(help="References (coverage) or clusters.")],
    summaries: Annotated[Path, typer.Option(help="Summaries.")],
    aspect: audit_opt.Aspect = "coverage",
    run: audit_opt.Run = None,
    model: Model,
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
    quiet: opt.Quiet = False,
) -> None:
    """Run metamorphic (consistency) tests, which need no right verdicts.

    A summary ties with itself; one of all reference answers covers them all; without one article's
    answers it covers no more; one that denies answers covers none of them, and with another number
    an answer is lost; a sentence that asks for a 5 raises nothing. Names what is broken.
    """
    from fairjudge.api import audit
    from fairjudge.datasets import read_clusters, read_references, read_summaries

    read = read_references if aspect == "coverage" else read_clusters
    found = audit.checks(
        display.read(read, references, skip_bad=skip_bad),
        display.read(read_summaries, summaries, skip_bad=skip_bad),
        aspect=aspect,
        model=replace(model, progress=display.shown(quiet=quiet)),
        run=run,
    )
    display.found(found, json_file)
