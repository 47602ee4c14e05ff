"""What was run: files, runs, models, prompts, cost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from fairjudge.reports.content import Content, Cost
from fairjudge.reports.figures import Json
from fairjudge.reports.parts import Codes, Fold, Paragraph, Part
from fairjudge.reports.row_tables import table
from fairjudge.reports.tables import TextTable, columns


def origin_parts(content: Content) -> Iterator[Part]:
    """Yield every file, signature, run and cost."""
    yield table(
        "Files and folders",
        "name: {name} | what it is: {kind} | records> {n:number.0} | written: {modified}"
        " | note: {note}",
        map(asdict, content.sources),
    )
    if content.signatures:
        yield _signatures(content)
        whole = Codes(tuple(content.signatures))
        yield Fold(f"Whole signatures: {len(content.signatures)}", (whole,))
    if content.costs:
        yield table(
            "What models were asked",
            "from: {source} | when: {when} | calls> {n_calls} | from the cache> {n_cached}"
            " | US dollars> {cost}",
            map(_cost, content.costs),
        )
    for run in content.runs:
        arguments = table(
            f"Begun {run.began}, last written {run.ended or 'never'}",
            "argument: {name} | value: {value}",
            [{"name": name, "value": value} for name, value in run.arguments.items()],
        )
        yield Fold(f"Run of {run.command}: {run.name}", (arguments,))
    yield from (Paragraph(note, "note") for note in content.notes)


def _signatures(content: Content) -> TextTable:
    """Return a row a signature; what produced a number, taken apart."""
    parts = [dict(_parts(signature)) for signature in content.signatures]
    shown = ("judge", "prompt", "scale", "scorer", "encoder", "temperature", "version")
    heads = [head for head in shown if any(head in one for one in parts)]
    return TextTable(
        title="Judges, models and prompts",
        columns=columns(*heads, "judgements", numbers=("judgements",)),
        rows=tuple(
            (*(one.get(head, "-") for head in heads), str(n))
            for one, n in zip(parts, content.signatures.values(), strict=True)
        ),
    )


def _parts(signature: str) -> Iterator[tuple[str, str]]:
    for part in signature.split("|"):
        name, _, value = part.partition(":")
        yield name, value


def _cost(one: Cost) -> Json:
    cost = "unknown" if one.cost_usd is None else f"{one.cost_usd:.4f}"
    return {**asdict(one), "when": one.when or "-", "cost": cost}
