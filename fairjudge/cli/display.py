"""What commands print when they are done: tables, counts, paths, and the exit code."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fairjudge.cli.terminal import say
from fairjudge.reports.figures import Json, dollars, first_items
from fairjudge.reports.row_tables import table
from fairjudge.reports.tables import TABLE_FORMAT, TextTable, print_table
from fairjudge.text.counting import percentage, pluralize
from fairjudge.text.printable import shows_on_terminal

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from fairjudge.api.findings import Findings
    from fairjudge.api.progress import Bars
    from fairjudge.datasets import Loaded
    from fairjudge.engine.built import BuiltCluster
    from fairjudge.engine.models import RunCost
    from fairjudge.reports.next_commands import NextCommand
    from fairjudge.run.building import BuildOutcome
    from fairjudge.run.judging import JudgeOutcome
    from fairjudge.run.summaries import SummarizeOutcome
    from fairjudge.scores.missing import Missing
    from fairjudge.text.usable import ArticleLeftOut

Noun = tuple[str] | tuple[str, str]
"""A noun, with its plural where that is not an "s" more."""
MAX_NAMED = 8
"""How many skipped articles or problems are named; the JSON and the run folder have all."""
FIRST_PLACES = 3
"""How many lines are named that were skipped for one reason."""


def write_json(target: str | None, value: Mapping[str, Any]) -> None:
    """Write `value` to the file of ``--json``, if there is one."""
    if target is None:
        return
    from fairjudge.records.schema import report_text

    text = report_text(value, ascii_only=shows_on_terminal(target))
    if target == "-":
        typer.echo(text, nl=False)
        return
    from fairjudge.records.folder import write_output

    write_output(Path(target), text)


def show_findings(result: Findings, json_file: str | None, figures: Path | None = None) -> None:
    """Show findings, unless the JSON goes to standard output, and write the JSON.

    Raises
    ------
    ConfigurationError
        If there is a folder for `figures` and Matplotlib is not installed.
    """
    report(result.to_dict(), json_file, result.tables())
    save_figures(result.kind, result.figures, figures)


def save_figures(kind: str, figures: Json, folder: Path | None) -> None:
    """Write the figures that a page has of the JSON of the command `kind` to `folder`, if any.

    Raises
    ------
    ConfigurationError
        If there is a folder and Matplotlib is not installed.
    """
    if folder is None:
        return
    from fairjudge.reports.report_page import figures_of
    from fairjudge.reports.svg import to_svg

    with figures_in(folder):
        for drawing in figures_of(kind, figures):
            to_svg(drawing)


@contextmanager
def figures_in(folder: Path | None) -> Iterator[None]:
    """Also write the plots that the block draws to `folder`, and say how many.

    Raises
    ------
    ConfigurationError
        If there is a folder and Matplotlib is not installed.
    """
    if folder is None:
        yield
        return
    from fairjudge.errors import ConfigurationError
    from fairjudge.reports import svg

    if not svg.can_draw():
        raise ConfigurationError("--figures needs Matplotlib: pip install 'fairjudge[plots]'")
    with svg.saved_figures(folder) as saved:
        yield
    types = ", ".join(map(str.upper, svg.FILE_TYPES))
    say(f"Written: {folder} ({pluralize(saved.n_figures, 'figure')} as {types})", err=True)


def page(make: Callable[[], str], *, html: Path | None, figures: Path | None) -> None:
    """Write a page to `html`, and its plots to the folder `figures`, where they are named."""
    if html is None and figures is None:
        return
    from fairjudge.records.folder import write_output

    with figures_in(figures):
        text = make()
    if html is not None:
        write_output(html, text)


def report(figures: Json, json_file: str | None, tables: Iterable[TextTable]) -> None:
    """Show findings and `tables`, unless the JSON goes to standard output, and write the JSON."""
    if json_file != "-":
        say_findings(figures.get("findings", ()))
        for text_table in tables:
            print_table(text_table)
    write_json(json_file, figures)


def bars(*, quiet: bool) -> AbstractContextManager[Bars]:
    """Show progress bars on a terminal, unless --quiet."""
    from fairjudge.api.progress import bars

    return bars(False if quiet else None)


def say_findings(findings: Sequence[str]) -> None:
    """Print findings before tables; on standard error where tables are for a file."""
    if findings:
        say(f"In short: {' '.join(findings)}\n", err=TABLE_FORMAT.get() != "text")


def finish(n_unscored: int, n_all: int, *, limit: float, noun: Noun = ("item",)) -> None:
    """End with exit code 3 where more than the share `limit` is without a result."""
    if n_all and n_unscored / n_all > limit:
        say(
            f"{n_unscored} of {pluralize(n_all, *noun)} without a result "
            f"({percentage(n_unscored / n_all, digits=1)}): more than --max-unscored {limit:g}",
            err=True,
        )
        raise typer.Exit(3)


def finish_judging(missing: Missing, *, limit: float, noun: Noun = ("item",)) -> None:
    """End with exit code 3 where more than the share `limit` of what was judged has no score.

    Items of clusters without a question do not count: no further start can score them.
    """
    finish(missing.n_lost, missing.n_judged, limit=limit, noun=noun)


def built(outcome: BuildOutcome, *, output: Path, json_file: str | None) -> None:
    """Show what ``build`` made."""
    say_skipped(outcome.bad_lines)
    figures = outcome.to_dict()
    if str(output) != "-" and json_file != "-":
        say_findings(figures.get("findings", ()))
        for cluster in outcome.clusters:
            print_table(_cluster_table(cluster))
        if outcome.spent is None:
            say(WITHOUT_LLM)
        say_written(output, outcome)
    write_json(json_file, figures)


WITHOUT_LLM = (
    "Built without an LLM: points and numbers that sources give. An LLM (--backend) writes "
    "questions on what they dispute, and also finds paraphrased answers."
)


def _cluster_table(cluster: BuiltCluster) -> TextTable:
    rows = cluster.to_json()["questions"]
    notes = [f"Dropped: {question} ({why})" for question, why in cluster.dropped]
    if cluster.unused:
        unused = [f"{aid} ({why})" for aid, why in cluster.unused]
        notes.append(f"Not used: {first_items(unused, MAX_NAMED)}")
    if cluster.dropped_answers:
        counts = ", ".join(f"{n}: {why}" for why, n in cluster.dropped_answers)
        notes.append(f"Answers dropped: {counts}")
    if cluster.doubtful:
        n_doubtful = sum(len(row["aids"]) for row in cluster.doubtful)
        notes.append(
            f"A second reading did not find the group's label in {pluralize(n_doubtful, 'article')}"
            " of it (meta.doubtful_labels)"
        )
    if cluster.why_none:
        notes.append(f"No question: {cluster.why_none}")
    if cluster.problems:
        notes.append(f"Without a result: {first_items(list(cluster.problems), MAX_NAMED)}")
    return table(
        f"{cluster.reference.eid}: {cluster.n_used} of {pluralize(cluster.n_articles, 'article')} "
        f"used, {pluralize(len(rows), 'question')}",
        "question: {question} | sources> {n_sources} | groups> {n_groups} | answers> {n_answers}",
        rows,
        notes=notes,
    )


def summarized(outcome: SummarizeOutcome, *, output: Path, json_file: str | None) -> None:
    """Show what ``summarize`` wrote."""
    say_skipped(outcome.bad_lines)
    figures = outcome.to_dict()
    failures = figures["failed"]
    n_by_system = outcome.n_by_system()
    if str(output) != "-" and json_file != "-":
        for system, n in n_by_system.items():
            say(f"{pluralize(n, 'summary', 'summaries')} by {system}")
        if failures:
            several = len(n_by_system) > 1
            failed = [
                f"{row['eid']}{' by ' + str(row['system']) if several else ''} "
                f"({row['reason']}: {row['detail']})"
                for row in failures
            ]
            say(f"Without a summary: {first_items(failed, MAX_NAMED)}")
        say_articles_left_out(outcome.articles_left_out)
        say_written(output, outcome)
    write_json(json_file, figures)


def say_next(following: NextCommand, output: Path, json_file: str | None) -> None:
    """Name the command that goes on from `output`."""
    if str(output) != "-" and json_file != "-":
        say(str(following))


def read(
    reader: Callable[..., Loaded[Any]], path: Path, *more: object, skip_bad: bool
) -> Loaded[Any]:
    """Return what `reader` finds in a file, and name what ``--skip-bad`` left out of it."""
    records = reader(path, *more, skip_bad=skip_bad)
    say_bad_lines(records)
    return records


def read_any(
    reader: Callable[..., Loaded[Any]], path: Path | None, *, skip_bad: bool
) -> Sequence[Any]:
    """Return the same of a file that need not be named, () where it is not."""
    return () if path is None else read(reader, path, skip_bad=skip_bad).records


def say_bad_lines(loaded: Loaded[Any]) -> None:
    """Name on standard error the lines of a file that ``--skip-bad`` left out."""
    say_skipped([f"{loaded.path}:{bad.line}: {bad.problem}" for bad in loaded.bad])


def say_articles_left_out(left_out: Sequence[ArticleLeftOut]) -> None:
    """Name the articles that no prompt shows."""
    if left_out:
        names = [f"{article.eid}/{article.aid} ({article.reason})" for article in left_out]
        articles = pluralize(len(names), "article")
        say(f"Excluded from prompts: {articles}: {first_items(names, MAX_NAMED)}")


_PLACE = re.compile(r"(?P<place>.*?:\d+): (?P<problem>.*)", re.DOTALL)
"""A problem after the file and line that it is of."""


def say_skipped(bad: Sequence[str]) -> None:
    """Name on standard error what ``--skip-bad`` left out, by reason with the first places."""
    if not bad:
        return
    places: dict[str, list[str]] = defaultdict(list)
    for line in bad:
        match = _PLACE.fullmatch(line)
        places[match["problem"] if match else line].append(match["place"] if match else "")
    say(f"Skipped {pluralize(len(bad), 'bad line')}:", err=True)
    for problem, lines in list(places.items())[:MAX_NAMED]:
        say(f"  {_skipped(problem, lines)}", err=True)
    if len(places) > MAX_NAMED:
        n_hidden = sum(map(len, list(places.values())[MAX_NAMED:]))
        say(f"  and {pluralize(n_hidden, 'line')} for other reasons", err=True)


def _skipped(problem: str, places: Sequence[str]) -> str:
    if len(places) > 1:
        return f"{pluralize(len(places), 'line')}: {problem} ({first_items(places, FIRST_PLACES)})"
    return f"{places[0]}: {problem}" if places[0] else problem


def say_calls(spent: RunCost) -> None:
    """Print the number of calls, and their cost."""
    cost = in_dollars(spent.cost_usd)
    say(f"Calls: {spent.n_calls}, from the cache: {spent.n_cached}, cost: {cost}")


def in_dollars(cost_usd: float | None) -> str:
    """Return a cost with its unit; one that is not known is unknown."""
    return dollars(cost_usd) + ("" if cost_usd is None else " US dollars")


def say_written(output: Path, outcome: BuildOutcome | JudgeOutcome | SummarizeOutcome) -> None:
    """Say what a run cost, and where its output is."""
    run, cost = outcome.run, outcome.spent
    if outcome.was_finished:
        say("This run had already finished; no model was called.")
    if cost is not None:
        say_calls(cost)
        tokens = cost.tokens
        if tokens.input:  # else nothing was asked, or the server counts nothing
            say(
                f"Tokens in: {tokens.input:,}, of them cached by the provider: "
                f"{tokens.cached_input:,}, out: {tokens.output:,}"
            )
    say(f"Written: {output}")
    say(f"Run folder: {run}" if isinstance(run, Path) else f"Run: {run}")
