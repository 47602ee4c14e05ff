"""``fairjudge audit stability``: how much a judge differs from itself."""

from __future__ import annotations

from fairjudge.api import audit
from fairjudge.api.findings import Findings
from fairjudge.cli import display
from fairjudge.cli import options as opt


@opt.with_options(audit_of=opt.call_of(audit.stability))
def stability(
    *,
    audit_of: opt.Call[Findings],
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
) -> None:
    """Measure how often the verdict on an item changes between repeats and between prompts.

    Flip rate, spread within an item, the share of variance by item, prompt and repeat, and how much
    repeats narrow an interval. 'judge --repeats 3 --prompt-variants 3' collects such judgements,
    and prints the same table.

        fairjudge audit stability judgements.jsonl --json stability.json
    """
    display.found(audit_of(skip_bad=skip_bad), json_file)
