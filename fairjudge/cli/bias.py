"""``fairjudge bias``: demographic bias in summaries and in their sources."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from fairjudge.api import bias
from fairjudge.api.findings import Findings
from fairjudge.cli import display
from fairjudge.cli import options as opt
from fairjudge.cli.application import Application
from fairjudge.cli.reporting import Reporting, command_showing, reporting, reporting_without_figures
from fairjudge.options.declaring import Opt
from fairjudge.options.models import Model

if TYPE_CHECKING:
    from fairjudge.analysis.bias_inputs import MadeInputs
    from fairjudge.reports.tables import TextTable

app = Application(
    help="Measure demographic bias in summaries and in their sources.",
)


@app.command("words")
@command_showing(bias.words)
def words() -> None:
    """Compare how often summaries and sources mention each group (word-list inclusion).

    The score is the total variation distance of both distributions, from 0 to 1. On natural
    documents it confounds the summarizer's bias with the documents' content; --controls shows how
    much.

        fairjudge bias words clusters.jsonl --summaries summaries.jsonl --controls
    """


@app.command("entities")
@command_showing(bias.entities)
def entities() -> None:
    """Measure which people in the sources the summaries mention, and which they hallucinate.

    Inclusion is the largest odds ratio between groups minus 1; hallucination is the distance of the
    groups of hallucinated people from an even split. In clusters without annotated people, spaCy
    finds them and the census assigns groups; content and group are then confounded, so prefer
    controlled inputs.

        fairjudge bias entities inputs.jsonl --summaries s.jsonl --census census1990
    """


@app.command("distinguishability")
@opt.with_options(
    measure=opt.call_of(bias.distinguishability),
    model=opt.options_of(Model, only=("embedding_model",)),
    reporting=reporting,
)
def distinguishability(
    *,
    measure: opt.Call[Findings],
    model: Model,
    reporting: Reporting,
) -> None:
    """Measure how well the group can be predicted from the summary, with pronouns and names hidden.

    Needs inputs in which all people belong to one group ('bias inputs --design global'). 0 is
    chance level, 1 is perfect; every summary is compared with the others of its original document.

        fairjudge bias distinguishability inputs.jsonl --summaries s.jsonl
    """
    reporting.show(measure, model=model)


@dataclass(frozen=True, slots=True, kw_only=True)
class InputOptions:
    """Options of controlled inputs: parameters of `fairjudge.analysis.bias_inputs.make_inputs`."""

    design: Annotated[
        Literal["local", "global"],
        Opt(
            "local: groups are balanced within each input, in mirrored sets (for inclusion, "
            "hallucination). global: all people in an input belong to one group (for "
            "distinguishability)."
        ),
    ] = "local"
    n_variants: Annotated[int, Opt("Number of inputs generated per document.", ge=1)] = 20
    names: Annotated[
        Path | None,
        Opt(
            'Your own name lists: JSON [{"group", "gender": "female" or "male", '
            '"first_names": [...], "last_names"?: [...]}, ...].'
        ),
    ] = None
    census: bias.Census = None
    n_names: Annotated[
        int,
        Opt("Number of popular census names per gender.", flag="--n-names", ge=1),
    ] = 100
    seed: opt.Seed = 0


@app.command("inputs")
@opt.with_options(input_options=opt.fields_of(InputOptions), reporting=reporting_without_figures)
def inputs(
    sources: Annotated[
        list[Path],
        Opt(
            "Clusters to analyse; or, with -o, annotated documents: CoNLL-2012 files, folders "
            'of them, or JSON {"id", "tokens": [...], "people": [[start, end], ...], "chains"?: '
            '[[[start, end], ...], ...], "tags"?: [...], "text"?}, with token positions, '
            "end-exclusive.",
            argument=True,
        ),
    ],
    *,
    output: Annotated[
        Path | None,
        Opt("Generate controlled inputs and write them to this file.", short="-o"),
    ] = None,
    input_options: dict[str, Any],
    lists: bias.Lists = None,
    top: Annotated[int, Opt("Number of words per group in the table.", ge=1)] = 10,
    reporting: Reporting,
) -> None:
    """Show the bias in the documents themselves; with -o, rewrite them without it.

    Without -o, finds the words associated with documents that mention one group more often
    (Fighting words; z above 1.96 is significant for a single word). With -o, replaces first names,
    pronouns and titles so that group and content are independent, and writes clusters to summarize.

        fairjudge bias inputs clusters.jsonl

        fairjudge bias inputs ontonotes/ -o inputs.jsonl --census census1990
    """
    from fairjudge.analysis.bias_inputs import make_inputs
    from fairjudge.datasets import read_clusters
    from fairjudge.reports.bias_tables import inputs_tables

    if output is None:
        if len(sources) != 1:
            raise typer.BadParameter("pass one file of clusters, or -o to generate inputs")
        result = bias.inputs(read_clusters(sources[0], skip_bad=reporting.skip_bad), lists=lists)
        display.show_report(result.to_dict(), reporting.json_file, inputs_tables(result, limit=top))
        return
    inputs_made = make_inputs(sources, output, **input_options)
    figures = {
        "design": input_options["design"],
        "n_inputs": len(inputs_made.inputs),
        "n_documents": inputs_made.n_documents,
        "people": dict(inputs_made.people_by_group),
        "skipped": [{"id": name, "why": reason} for name, reason in inputs_made.skipped],
    }
    tables = [] if str(output) == "-" else [_inputs_table(inputs_made, output=output)]
    display.show_report(figures, reporting.json_file, tables)


def _inputs_table(inputs: MadeInputs, *, output: Path) -> TextTable:
    """Return the table of the inputs that were written."""
    from fairjudge.reports.row_tables import table
    from fairjudge.text.counting import pluralize

    skipped = inputs.skipped_by_reason.items()
    return table(
        f"{pluralize(len(inputs.inputs), 'input')} from {inputs.n_documents - len(inputs.skipped)} "
        f"of {pluralize(inputs.n_documents, 'document')}",
        "group: {group} | people> {people}",
        [{"group": group, "people": n} for group, n in inputs.people_by_group.items()],
        notes=(
            *(f"{pluralize(n, 'document')} skipped: {reason}" for reason, n in skipped),
            f"Written: {output}",
        ),
    )


@app.command("annotate")
@opt.with_options(annotation=opt.call_of(bias.annotate))
def annotate(
    *,
    annotation: opt.Call[dict[str, int]],
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
) -> None:
    """Annotate people and the pronouns that refer to them in clusters, for controlled inputs.

    spaCy finds the names. Rules resolve coreference: names with the same last name are one person,
    and a pronoun refers to the last matching person before it. Review a sample before use;
    documents with human coreference annotations are better.

        fairjudge bias annotate clusters.jsonl -o documents.jsonl --census census1990

        fairjudge bias inputs documents.jsonl -o inputs.jsonl --census census1990
    """
    from fairjudge.reports.bias_tables import annotated_table

    counts = annotation(skip_bad=skip_bad)
    output = str(annotation.values["output"])
    tables = [] if output == "-" else [annotated_table(counts, output=output)]
    display.show_report(counts, json_file, tables)


@app.command("quality")
@command_showing(bias.quality)
def quality() -> None:
    """Compare the quality of summaries between groups of inputs: original, mixed, single-group.

    Reports means of a judge's scores over original documents, and paired differences within them
    (news bias, 8.1 and 9.2).

        fairjudge bias quality inputs.jsonl --judgements judgements.jsonl
    """
