"""``fairjudge annotate``: a local page on which people label."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from fairjudge.cli import options as opt
from fairjudge.domain import TaskName
from fairjudge.errors import MissingExtraError
from fairjudge.options.declaring import Opt
from fairjudge.text.counting import pluralize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairjudge.annotation.web.site import Access
    from fairjudge.run.annotating import Highlight, PreparedJob


def annotate(
    task_file: Annotated[
        Path,
        Opt(
            "References; plain clusters suffice for every task except answers and coverage.",
            metavar="TASK",
            argument=True,
        ),
    ],
    *,
    task: Annotated[
        TaskName,
        Opt(
            "answers: is it valid (aspect validity); coverage: is the answer in the summary; "
            "faithfulness: is the sentence in the articles; preference: which of two summaries is "
            "better (aspect faithfulness, or --aspect); rating: how good is the summary, 1 to 5 "
            "(aspect coverage, or --aspect); values: from which values of an attribute of the "
            "articles does the sentence come; leaning: which value does the summary lean to."
        ),
    ],
    output: Annotated[
        Path,
        Opt(
            "Labels, .jsonl. The job's store is kept beside it, as '<output>.db'; the same "
            "command resumes.",
            short="-o",
        ),
    ],
    summaries: Annotated[
        Path | None, Opt("Summaries; required by every task except answers.")
    ] = None,
    aspect: Annotated[
        str | None,
        Opt("Aspect of the labels, where it is not that of the task."),
    ] = None,
    attribute: Annotated[
        str | None,
        Opt("Attribute of the articles, such as party; for values and leaning."),
    ] = None,
    scale: Annotated[
        Path | None,
        Opt("Custom answers: a scale's .toml file, as for judges."),
    ] = None,
    overlap: Annotated[
        float, Opt("Share of items labelled by several annotators.", ge=0.0, le=1.0)
    ] = 0.2,
    raters: Annotated[int, Opt("Annotators for each of those items.", ge=2)] = 2,
    controls: Annotated[
        Path | None,
        Opt(
            "Labels with known values. Every annotator gets these items among the others; they "
            "measure care and are not written to the labels."
        ),
    ] = None,
    qualify: Annotated[
        float | None,
        Opt(
            "Ask the controls first, and exclude annotators who answer less than this share of "
            "them correctly.",
            ge=0.0,
            le=1.0,
        ),
    ] = None,
    order: Annotated[
        Literal["grouped", "random"],
        Opt("Keep the items of one summary together, or mix all."),
    ] = "grouped",
    active: Annotated[
        Path | None,
        Opt(
            "Judgements of the same items: draw those where a label narrows the calibrated "
            "interval most. Needs --budget."
        ),
    ] = None,
    budget: Annotated[
        int | None, Opt("Approximate number of items that --active draws.", ge=2)
    ] = None,
    active_for: Annotated[
        Literal["mean", "correlation"],
        Opt(
            "What --active draws for: the interval of each system's mean, or that of the "
            "correlation between judge and people."
        ),
    ] = "mean",
    random_share: Annotated[
        float,
        Opt("Part of the budget that is drawn at random.", ge=0.01, le=1.0),
    ] = 0.25,
    adjudicate: Annotated[
        Path | None,
        Opt(
            "The --json of 'fairjudge calibrate': label only its largest disagreements, largest "
            "first; the verdicts of judge and people are shown after each answer."
        ),
    ] = None,
    highlight: Annotated[
        Literal["words", "embeddings", "none"],
        Opt(
            "Mark the passage of the articles most similar to the item: by its words, by "
            "embeddings (extra [local], computed before the first page), or not."
        ),
    ] = "words",
    host: Annotated[
        str,
        Opt("Address to listen on. Beyond this machine, people need the printed link."),
    ] = "127.0.0.1",
    port: Annotated[int, Opt("Port to listen on; 0 takes any free one.", ge=0, le=65535)] = 8765,
    allow_host: Annotated[
        list[str] | None,
        Opt("Another host name to accept, such as a proxy's."),
    ] = None,
    seed: Annotated[int, Opt("Seed of orders and draws.", ge=0)] = 0,
    dry_run: Annotated[bool, Opt("Print the items and the number of labels, and stop.")] = False,
    skip_bad: opt.SkipBad = False,
) -> None:
    """Serve a local page on which any number of people label: one item a screen, by keyboard.

    fairjudge annotate references.json --task coverage --summaries s.jsonl -o labels.jsonl
    """
    from fairjudge.annotation.planning import JobOptions
    from fairjudge.run.annotating import prepare

    if (active is None) != (budget is None):
        raise typer.BadParameter("--active and --budget go together")
    if adjudicate is not None and active is not None:
        raise typer.BadParameter("--adjudicate and --active both choose the items: give one")
    if not all(find_spec(name) for name in ("fastapi", "jinja2", "uvicorn")):
        raise MissingExtraError("'fairjudge annotate'", extra="annotate")
    prepared = prepare(
        task,
        task_file,
        summaries=summaries,
        scale=scale,
        controls=controls,
        judgements=active,
        adjudicate=adjudicate,
        aspect=aspect,
        attribute=attribute,
        options=JobOptions(
            overlap=0.0 if adjudicate else overlap,
            raters=raters,
            order=order,
            seed=seed,
            qualify=qualify,
        ),
        budget=budget,
        random_share=random_share,
        target=active_for,
        skip_bad=skip_bad,
    )
    typer.echo(_job_in_words(prepared))
    if dry_run:
        return
    _serve(
        prepared, output, highlight=highlight, host=host, port=port, other_hosts=allow_host or ()
    )
    n_labels = output.read_bytes().count(b"\n")
    typer.echo(f"\n{pluralize(n_labels, 'label')} in {output}; the same command resumes")


def _serve(
    prepared: PreparedJob,
    output: Path,
    *,
    highlight: Highlight,
    host: str,
    port: int,
    other_hosts: Sequence[str],
) -> None:
    """Serve the job's pages until they are ended; labels go to `output`."""
    from fairjudge.annotation.web.guard import Hosts, is_loopback
    from fairjudge.annotation.web.server import serve
    from fairjudge.annotation.web.site import Access, Site
    from fairjudge.run.annotating import find_passages, open_desk

    marks = find_passages(prepared, highlight)
    desk, store = open_desk(prepared, output)
    access = Access(
        secret=store.secret("secret"),
        progress=store.secret("progress"),
        token=None if is_loopback(host) else store.secret("token"),
    )
    serve(
        Site(
            desk=desk,
            task=prepared.task,
            access=access,
            marks=marks,
            adjudication=prepared.adjudication,
        ),
        host=host,
        port=port,
        hosts=Hosts.of(host, extra_names=other_hosts),
        announce=lambda port: typer.echo(_where(access, host, port)),
    )


def _job_in_words(prepared: PreparedJob) -> str:
    """Return a summary of the job: items, labels, controls."""
    job, task = prepared.job, prepared.task
    n_items = sum(n_labels > 0 for n_labels in job.wanted)
    several = [n_labels for n_labels in job.wanted if n_labels > 1]
    text = f"{task.title} Labels of {task.aspect}: "
    text += f"{pluralize(n_items, 'item')}, {pluralize(job.n_wanted, 'label')}"
    if several:
        text += f"; {pluralize(len(several), 'item')} by {several[0]} people each"
    if job.controls:
        text += f"; {pluralize(len(job.controls), 'control')} for everybody"
    if prepared.n_empty:
        text += f"\nExcluded: {pluralize(prepared.n_empty, 'summary', 'summaries')} without text"
    if prepared.drawn is not None:
        n_all = len(prepared.items) - len(job.controls)
        text += f"\nDrawn of {pluralize(n_all, 'item')}, {prepared.drawn.n_judged} of them judged"
        if not prepared.drawn.informative:
            text += "; the judge is equally sure of all, so the draw is uniform"
    return text


def _where(access: Access, host: str, port: int) -> str:
    from fairjudge.annotation.web.guard import is_loopback, reachable_at

    name = reachable_at(host)
    base = f"http://{f'[{name}]' if ':' in name else name}:{port}"
    lines = [
        f"Label at     {base}/{f'?token={access.token}' if access.token else ''}",
        f"Progress at  {base}/progress?token={access.progress}",
        "Ctrl-C ends the server; every answer is stored immediately.",
    ]
    if not is_loopback(host):
        lines.insert(0, "Traffic is not encrypted: use a trusted network, or a proxy with TLS.")
    return "\n".join(lines)
