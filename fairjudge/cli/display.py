"""Output of finished commands: tables, counts, paths, and the exit code."""

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
"""A noun, with its plural if irregular."""
MAX_LISTED = 8
"""Number of skipped articles or problems that are printed; the JSON and run folder list all."""
MAX_LINES = 3
"""Number of skipped lines that are printed per reason."""


def write_json(target: str | None, value: Mapping[str, Any]) -> None:
    """Write `value` to the file of ``--json``, if any."""
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
    """Print findings, unless the JSON goes to standard output; write the JSON and the plots.

    Raises
    ------
    ConfigurationError
        If there is a folder for `figures` and Matplotlib is not installed.
    """
    show_report(result.to_dict(), json_file, result.tables())
    save_figures(result.kind, result.figures, figures)


def save_figures(kind: str, figures: Json, folder: Path | None) -> None:
    """Write the plots of the report `figures` of the command `kind` to `folder`, if any.

    Raises
    ------
    ConfigurationError
        If there is a folder and Matplotlib is not installed.
    """
    if folder is None:
        return
    from fairjudge.reports.report_page import make_figures
    from fairjudge.reports.svg import to_svg

    with save_drawn_figures(folder):
        for drawing in make_figures(kind, figures):
            to_svg(drawing)


@contextmanager
def save_drawn_figures(folder: Path | None) -> Iterator[None]:
    """Also write the plots drawn in the block to `folder`, and print their number.

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
        raise ConfigurationError("--figures requires Matplotlib: pip install 'fairjudge[plots]'")
    with svg.save_figures(folder) as saved_plots:
        yield
    types = ", ".join(map(str.upper, svg.FILE_TYPES))
    say(f"Written: {folder} ({pluralize(saved_plots.n_figures, 'figure')} as {types})", err=True)


def write_page(make_page: Callable[[], str], *, html: Path | None, figures: Path | None) -> None:
    """Write a page to `html` and its plots to the folder `figures`, if set."""
    if html is None and figures is None:
        return
    from fairjudge.records.folder import write_output

    with save_drawn_figures(figures):
        text = make_page()
    if html is not None:
        write_output(html, text)


def show_report(figures: Json, json_file: str | None, tables: Iterable[TextTable]) -> None:
    """Print findings and `tables`, unless the JSON goes to standard output; write the JSON."""
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
    """Print findings; on standard error unless tables are plain text."""
    if findings:
        say(f"In short: {' '.join(findings)}\n", err=TABLE_FORMAT.get() != "text")


def finish(n_unscored: int, n_all: int, *, limit: float, noun: Noun = ("item",)) -> None:
    """Exit with code 3 if more than the share `limit` of the items has no result."""
    if n_all and n_unscored / n_all > limit:
        say(
            f"{n_unscored} of {pluralize(n_all, *noun)} without a result "
            f"({percentage(n_unscored / n_all, digits=1)}): more than --max-unscored {limit:g}",
            err=True,
        )
        raise typer.Exit(3)


def finish_judging(missing: Missing, *, limit: float, noun: Noun = ("item",)) -> None:
    """Exit with code 3 if more than the share `limit` of the judged items has no score.

    Items of clusters without a question do not count, since rerunning cannot score them.
    """
    finish(missing.n_lost, missing.n_judged, limit=limit, noun=noun)


def show_build(outcome: BuildOutcome, *, output: Path, json_file: str | None) -> None:
    """Print the results of ``build``."""
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
    "Built without an LLM: points and numbers that sources report. An LLM (--backend) generates "
    "questions on disagreements, and also finds paraphrased answers."
)


def _cluster_table(cluster: BuiltCluster) -> TextTable:
    rows = cluster.to_json()["questions"]
    notes = [f"Dropped: {question} ({reason})" for question, reason in cluster.dropped]
    if cluster.unused:
        articles = [f"{aid} ({reason})" for aid, reason in cluster.unused]
        notes.append(f"Not used: {first_items(articles, MAX_LISTED)}")
    if cluster.dropped_answers:
        counts = ", ".join(f"{n}: {reason}" for reason, n in cluster.dropped_answers)
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
        notes.append(f"Without a result: {first_items(list(cluster.problems), MAX_LISTED)}")
    return table(
        f"{cluster.reference.eid}: {cluster.n_used} of {pluralize(cluster.n_articles, 'article')} "
        f"used, {pluralize(len(rows), 'question')}",
        "question: {question} | sources> {n_sources} | groups> {n_groups} | answers> {n_answers}",
        rows,
        notes=notes,
    )


def show_summaries(outcome: SummarizeOutcome, *, output: Path, json_file: str | None) -> None:
    """Print the results of ``summarize``."""
    say_skipped(outcome.bad_lines)
    figures = outcome.to_dict()
    failures = figures["failed"]
    n_by_system = outcome.n_by_system()
    if str(output) != "-" and json_file != "-":
        for system, n in n_by_system.items():
            say(f"{pluralize(n, 'summary', 'summaries')} by {system}")
        if failures:
            with_system = len(n_by_system) > 1
            items = [
                f"{row['eid']}{' by ' + str(row['system']) if with_system else ''} "
                f"({row['reason']}: {row['detail']})"
                for row in failures
            ]
            say(f"Without a summary: {first_items(items, MAX_LISTED)}")
        say_excluded_articles(outcome.articles_left_out)
        say_written(output, outcome)
    write_json(json_file, figures)


def say_next(next_command: NextCommand, output: Path, json_file: str | None) -> None:
    """Print the command that continues from `output`."""
    if str(output) != "-" and json_file != "-":
        say(str(next_command))


def read(
    reader: Callable[..., Loaded[Any]], path: Path, *args: object, skip_bad: bool
) -> Loaded[Any]:
    """Read a file with `reader`, print the lines that ``--skip-bad`` skipped, return records."""
    records = reader(path, *args, skip_bad=skip_bad)
    say_bad_lines(records)
    return records


def read_optional(
    reader: Callable[..., Loaded[Any]], path: Path | None, *, skip_bad: bool
) -> Sequence[Any]:
    """Return the records of a file like `read`, or () if `path` is None."""
    return () if path is None else read(reader, path, skip_bad=skip_bad).records


def say_bad_lines(loaded: Loaded[Any]) -> None:
    """Print the lines of a file that ``--skip-bad`` skipped, on standard error."""
    say_skipped([f"{loaded.path}:{bad.line}: {bad.problem}" for bad in loaded.bad])


def say_excluded_articles(excluded_articles: Sequence[ArticleLeftOut]) -> None:
    """Print the articles that no prompt contains."""
    if excluded_articles:
        names = [f"{article.eid}/{article.aid} ({article.reason})" for article in excluded_articles]
        articles = pluralize(len(names), "article")
        say(f"Excluded from prompts: {articles}: {first_items(names, MAX_LISTED)}")


_PROBLEM = re.compile(r"(?P<location>.*?:\d+): (?P<problem>.*)", re.DOTALL)
"""A problem, preceded by its file and line."""


def say_skipped(bad_lines: Sequence[str]) -> None:
    """Print the lines that ``--skip-bad`` skipped, by reason, on standard error."""
    if not bad_lines:
        return
    locations: dict[str, list[str]] = defaultdict(list)
    for line in bad_lines:
        match = _PROBLEM.fullmatch(line)
        locations[match["problem"] if match else line].append(match["location"] if match else "")
    say(f"Skipped {pluralize(len(bad_lines), 'bad line')}:", err=True)
    for problem, lines in list(locations.items())[:MAX_LISTED]:
        say(f"  {_problem_text(problem, lines)}", err=True)
    if len(locations) > MAX_LISTED:
        n_hidden = sum(map(len, list(locations.values())[MAX_LISTED:]))
        say(f"  and {pluralize(n_hidden, 'line')} for other reasons", err=True)


def _problem_text(problem: str, locations: Sequence[str]) -> str:
    n_lines = len(locations)
    if n_lines > 1:
        return f"{pluralize(n_lines, 'line')}: {problem} ({first_items(locations, MAX_LINES)})"
    return f"{locations[0]}: {problem}" if locations[0] else problem


def say_calls(spent: RunCost) -> None:
    """Print the number of calls and their cost."""
    cost = in_dollars(spent.cost_usd)
    say(f"Calls: {spent.n_calls}, from the cache: {spent.n_cached}, cost: {cost}")


def in_dollars(cost_usd: float | None) -> str:
    """Return a cost with its unit, or "unknown"."""
    return dollars(cost_usd) + ("" if cost_usd is None else " US dollars")


def say_written(output: Path, outcome: BuildOutcome | JudgeOutcome | SummarizeOutcome) -> None:
    """Print the cost of a run and the paths of its output."""
    run, cost = outcome.run, outcome.spent
    if outcome.was_finished:
        say("This run had already finished; no model was called.")
    if cost is not None:
        say_calls(cost)
        tokens = cost.tokens
        if tokens.input:  # else there was no request, or the server reports no counts
            say(
                f"Tokens in: {tokens.input:,}, of them cached by the provider: "
                f"{tokens.cached_input:,}, out: {tokens.output:,}"
            )
    say(f"Written: {output}")
    say(f"Run folder: {run}" if isinstance(run, Path) else f"Run: {run}")
