"""What was run: files, runs, models, prompts, cost."""

from __future__ import annotations

from collections.abc import Iterator

from fairjudge.reports.content import Content
from fairjudge.reports.parts import Codes, Fold, Paragraph, Part
from fairjudge.reports.tables import TextTable, columns


def origin_parts(content: Content) -> Iterator[Part]:
    """Yield every file, signature, run and cost."""
    yield TextTable(
        title="Files and folders",
        columns=columns("name", "what it is", "records", "written", "note", numbers=("records",)),
        rows=tuple(
            (one.name, one.kind, "-" if one.n is None else f"{one.n}", one.modified, one.note)
            for one in content.sources
        ),
    )
    if content.signatures:
        yield _signatures(content)
        whole = Codes(tuple(content.signatures))
        yield Fold(f"Whole signatures: {len(content.signatures)}", (whole,))
    if content.costs:
        yield _costs(content)
    for run in content.runs:
        arguments = TextTable(
            title=f"Begun {run.began}, last written {run.ended or 'never'}",
            columns=columns("argument", "value"),
            rows=tuple(run.arguments.items()),
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


def _costs(content: Content) -> TextTable:
    return TextTable(
        title="What models were asked",
        columns=columns(
            "from", "when", "calls", "from the cache", "US dollars",
            numbers=("calls", "from the cache", "US dollars"),
        ),
        rows=tuple(
            (
                one.source,
                one.when or "-",
                str(one.n_calls),
                str(one.n_cached),
                "unknown" if one.cost_usd is None else f"{one.cost_usd:.4f}",
            )
            for one in content.costs
        ),
    )  # fmt: skip
