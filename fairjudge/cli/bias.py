"""``fairjudge bias``: demographic bias in summaries and in what is summarized."""

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
from fairjudge.cli.reporting import Reporting, reporting, reporting_without_figures, shows
from fairjudge.options.declaring import Opt
from fairjudge.options.models import Model

if TYPE_CHECKING:
    from fairjudge.analysis.bias_inputs import MadeInputs
    from fairjudge.reports.tables import TextTable

app = Application(
    help="Demographic bias in summaries, and in what is summarized.",
)


@app.command("words")
@shows(bias.words)
def words() -> None:
    """Compare how often summaries and sources mention each group (word-list inclusion).

    The score is the total variation distance of both distributions, 0 to 1. On natural documents
    it mixes what the summarizer does with what the documents are about; the controls show how far.

        fairjudge bias words clusters.jsonl --summaries summaries.jsonl --controls
    """


@app.command("entities")
@shows(bias.entities)
def entities() -> None:
    """Measure which people of the sources the summaries name, and which they make up.

    Inclusion is the largest odds ratio between groups less 1; hallucination, how far the groups of
    made-up people are from an even split. Clusters without people marked get them from spaCy,
    grouped by the census: then content and group are mixed, so prefer controlled inputs.

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

    Needs inputs of one group each ('bias inputs --design global'). 0 is chance level, 1 is perfect;
    every summary is compared with the others of its original.

        fairjudge bias distinguishability inputs.jsonl --summaries s.jsonl
    """
    reporting.show(measure, model=model)


@dataclass(frozen=True, slots=True, kw_only=True)
class Making:
    """How inputs are made, by the parameters of `fairjudge.analysis.bias_inputs.make_inputs`."""

    design: Annotated[
        Literal["local", "global"],
        Opt(
            "local: groups balanced within each input, in mirrored sets (inclusion, "
            "hallucination). global: everybody of one group (distinguishability)."
        ),
    ] = "local"
    n_variants: Annotated[int, Opt("Inputs made of each document.", ge=1)] = 20
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
        Opt("How many popular census names of each gender to use.", flag="--n-names", ge=1),
    ] = 100
    seed: opt.Seed = 0


@app.command("inputs")
@opt.with_options(how=opt.fields_of(Making), reporting=reporting_without_figures)
def inputs(
    sources: Annotated[
        list[Path],
        Opt(
            "Clusters to look at; or, with -o, annotated documents: CoNLL-2012 files, folders "
            'of them, or JSON {"id", "tokens": [...], "people": [[start, end], ...], "chains"?: '
            '[[[start, end], ...], ...], "tags"?: [...], "text"?}, positions by token, end left '
            "out.",
            argument=True,
        ),
    ],
    *,
    output: Annotated[
        Path | None,
        Opt("Make controlled inputs and write them here.", short="-o"),
    ] = None,
    how: dict[str, Any],
    lists: bias.Lists = None,
    top: Annotated[int, Opt("Words of each group in the table.", ge=1)] = 10,
    reporting: Reporting,
) -> None:
    """Show the bias that documents hold already; with -o, rewrite them without it.

    Without -o: which words go with documents that mention one group more (Fighting words, z above
    1.96 is significant for one word). With -o: first names, pronouns and titles are replaced so
    that group and content are independent; the result is a file of clusters to summarize.

        fairjudge bias inputs clusters.jsonl

        fairjudge bias inputs ontonotes/ -o inputs.jsonl --census census1990
    """
    from fairjudge.analysis.bias_inputs import make_inputs
    from fairjudge.datasets import read_clusters
    from fairjudge.reports.bias_tables import inputs_tables

    if output is None:
        if len(sources) != 1:
            raise typer.BadParameter("give one file of clusters, or -o to make inputs")
        result = bias.inputs(read_clusters(sources[0], skip_bad=reporting.skip_bad), lists=lists)
        display.report(result.to_dict(), reporting.json_file, inputs_tables(result, limit=top))
        return
    made = make_inputs(sources, output, **how)
    figures = {
        "design": how["design"],
        "n_inputs": len(made.inputs),
        "n_documents": made.n_documents,
        "people": dict(made.people_by_group),
        "skipped": [{"id": name, "why": why} for name, why in made.skipped],
    }
    tables = [] if str(output) == "-" else [_made_table(made, output=output)]
    display.report(figures, reporting.json_file, tables)


def _made_table(inputs: MadeInputs, *, output: Path) -> TextTable:
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
            *(f"{pluralize(n, 'document')} skipped: {why}" for why, n in skipped),
            f"Written: {output}",
        ),
    )


@app.command("annotate")
@opt.with_options(marking=opt.call_of(bias.annotate))
def annotate(
    *, marking: opt.Call[dict[str, int]], skip_bad: opt.SkipBad = False, json_file: opt.Json = None
) -> None:
    """Mark people, and the pronouns that refer to them, in plain clusters, for controlled inputs.

    Names are spaCy's. Coreference is resolved by rules: names that end alike are one person, and a
    pronoun is the last person before it whom it fits. Review a sample before you rely on them;
    documents with annotated coreference are better.

        fairjudge bias annotate clusters.jsonl -o documents.jsonl --census census1990

        fairjudge bias inputs documents.jsonl -o inputs.jsonl --census census1990
    """
    from fairjudge.reports.bias_tables import annotated_table

    counts = marking(skip_bad=skip_bad)
    output = str(marking.values["output"])
    tables = [] if output == "-" else [annotated_table(counts, output=output)]
    display.report(counts, json_file, tables)


@app.command("quality")
@shows(bias.quality)
def quality() -> None:
    """Compare the quality of summaries between groups of inputs: originals, mixed, one group each.

    Means of a judge's scores over originals, and paired differences within them (news bias, 8.1
    and 9.2).

        fairjudge bias quality inputs.jsonl --judgements judgements.jsonl
    """
