"""``fairjudge annotate``: a local web page for human annotation."""

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
            "References, or clusters for tasks other than answers and coverage (JSON or JSONL).",
            metavar="TASK",
            argument=True,
        ),
    ],
    *,
    task: Annotated[
        TaskName,
        Opt(
            "Question to annotators. answers: is the answer valid (aspect validity)? coverage: "
            "does the summary contain the answer? faithfulness: do the articles support the "
            "sentence? preference: which of two summaries is better (aspect faithfulness, or "
            "--aspect)? rating: how good is the summary, 1 to 5 (aspect coverage, or --aspect)? "
            "values: articles of which attribute values does the sentence come from? leaning: "
            "which value does the summary lean towards?"
        ),
    ],
    output: Annotated[
        Path,
        Opt(
            "File of the labels (.jsonl). The state of the job is stored in '<output>.db'; rerun "
            "the command to resume.",
            short="-o",
        ),
    ],
    summaries: Annotated[
        Path | None, Opt("Summaries (eid, system, text); required by all tasks except answers.")
    ] = None,
    aspect: Annotated[
        str | None,
        Opt("Aspect of the labels. Default: that of the task."),
    ] = None,
    attribute: Annotated[
        str | None,
        Opt("Attribute of the articles, such as party, for the tasks values and leaning."),
    ] = None,
    scale: Annotated[
        Path | None,
        Opt("Scale file (.toml) with your own answer options, as for judges."),
    ] = None,
    overlap: Annotated[
        float, Opt("Share of items labelled by several annotators.", ge=0.0, le=1.0)
    ] = 0.2,
    raters: Annotated[int, Opt("Annotators per item of --overlap.", ge=2)] = 2,
    controls: Annotated[
        Path | None,
        Opt(
            "Control items: labels whose values are known to be right. They are shown to every "
            "annotator among the other items to measure care, and are not written to the output."
        ),
    ] = None,
    qualify: Annotated[
        float | None,
        Opt(
            "Show the --controls first, and exclude annotators who answer less than this share "
            "correctly.",
            ge=0.0,
            le=1.0,
        ),
    ] = None,
    order: Annotated[
        Literal["grouped", "random"],
        Opt("Order of the items: grouped by summary, or random."),
    ] = "grouped",
    active: Annotated[
        Path | None,
        Opt(
            "Judgements of the same items: sample the items whose labels narrow the calibrated "
            "interval most (active sampling). Needs --budget."
        ),
    ] = None,
    budget: Annotated[
        int | None, Opt("Approximate number of items that --active samples.", ge=2)
    ] = None,
    active_for: Annotated[
        Literal["mean", "correlation"],
        Opt(
            "Interval that --active narrows: of each system's mean, or of the correlation between "
            "judge and annotators."
        ),
    ] = "mean",
    random_share: Annotated[
        float,
        Opt("Share of the --budget that is sampled at random.", ge=0.01, le=1.0),
    ] = 0.25,
    adjudicate: Annotated[
        Path | None,
        Opt(
            "--json output of 'fairjudge calibrate': label only the items on which judge and "
            "annotators differ most, in that order; their verdicts are shown after each answer."
        ),
    ] = None,
    highlight: Annotated[
        Literal["words", "embeddings", "none"],
        Opt(
            "How to find and mark the passage of the articles that is most similar to the item: by "
            "shared words, by embeddings (extra [local]; computed before the first page), or not "
            "at all."
        ),
    ] = "words",
    host: Annotated[
        str,
        Opt("Address to listen on. From other machines, annotators need the printed link."),
    ] = "127.0.0.1",
    port: Annotated[int, Opt("Port to listen on; 0: any free port.", ge=0, le=65535)] = 8765,
    allow_host: Annotated[
        list[str] | None,
        Opt("Additional host name to accept, such as that of a proxy. Repeatable."),
    ] = None,
    seed: Annotated[int, Opt("Random seed of orders and sampling.", ge=0)] = 0,
    dry_run: Annotated[bool, Opt("Print the items and the number of labels, and stop.")] = False,
    skip_bad: opt.SkipBad = False,
) -> None:
    """Serve a local web page where annotators label items, one per screen, by keyboard.

    fairjudge annotate references.json --task coverage --summaries s.jsonl -o labels.jsonl
    """
    from fairjudge.annotation.planning import JobOptions
    from fairjudge.run.annotating import prepare

    if (active is None) != (budget is None):
        raise typer.BadParameter("--active and --budget require each other")
    if adjudicate is not None and active is not None:
        raise typer.BadParameter("--adjudicate and --active both select items: use one of them")
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
    typer.echo(_job_summary(prepared))
    if dry_run:
        return
    _serve(
        prepared, output, highlight=highlight, host=host, port=port, other_hosts=allow_host or ()
    )
    n_labels = output.read_bytes().count(b"\n")
    typer.echo(f"\n{pluralize(n_labels, 'label')} in {output}; rerun the command to resume")


def _serve(
    prepared: PreparedJob,
    output: Path,
    *,
    highlight: Highlight,
    host: str,
    port: int,
    other_hosts: Sequence[str],
) -> None:
    """Serve the job's pages until interrupted; write labels to `output`."""
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
        hosts=Hosts.for_address(host, extra_names=other_hosts),
        announce=lambda port: typer.echo(_server_urls(access, host, port)),
    )


def _job_summary(prepared: PreparedJob) -> str:
    """Return a text with the job's items, labels and controls."""
    job, task = prepared.job, prepared.task
    n_items = sum(n_labels > 0 for n_labels in job.wanted)
    overlaps = [n_labels for n_labels in job.wanted if n_labels > 1]
    text = f"{task.title} Labels of {task.aspect}: "
    text += f"{pluralize(n_items, 'item')}, {pluralize(job.n_wanted, 'label')}"
    if overlaps:
        text += (
            f"; {pluralize(len(overlaps), 'item')} by {pluralize(overlaps[0], 'annotator')} each"
        )
    if job.controls:
        text += f"; {pluralize(len(job.controls), 'control')} for all annotators"
    if prepared.n_empty:
        text += f"\nExcluded: {pluralize(prepared.n_empty, 'summary', 'summaries')} without text"
    if prepared.drawn is not None:
        n_all = len(prepared.items) - len(job.controls)
        text += (
            f"\nSampled from {pluralize(n_all, 'item')}, {prepared.drawn.n_judged} of them judged"
        )
        if not prepared.drawn.informative:
            text += "; the judge is equally certain of all, so sampling is uniform"
    return text


def _server_urls(access: Access, host: str, port: int) -> str:
    from fairjudge.annotation.web.guard import external_host, is_loopback

    name = external_host(host)
    base = f"http://{f'[{name}]' if ':' in name else name}:{port}"
    lines = [
        f"Label at     {base}/{f'?token={access.token}' if access.token else ''}",
        f"Progress at  {base}/progress?token={access.progress}",
        "Press Ctrl-C to stop the server; every answer is stored immediately.",
    ]
    if not is_loopback(host):
        lines.insert(0, "Traffic is not encrypted: use a trusted network, or a proxy with TLS.")
    return "\n".join(lines)
