"""``fairjudge fairness compare``: what each variant of a summarizer did to fairness."""

from __future__ import annotations

from fairjudge.api import fairness_comparing
from fairjudge.api.findings import Findings
from fairjudge.cli import display
from fairjudge.cli import options as opt


@opt.with_options(comparison=opt.call_of(fairness_comparing.compare))
def compare(
    *,
    comparison: opt.Call[Findings],
    json_file: opt.Json = None,
    figures: opt.Figures = None,
) -> None:
    r"""Compare the fairness measures of variants with those of a baseline.

    Systems are compared on the samples that both have, by bootstrap over these samples. A
    difference below 0 is fairer. P-values are corrected over all variants and measures shown.

        fairjudge summarize clusters.jsonl -o s.jsonl --backend openai:gpt-4o-mini \
            --sweep temperature=0.5,1 --sweep sentences=1,5 --sweep fair=party

        fairjudge fairness coverage clusters.jsonl --summaries s.jsonl --attribute party \
            --json coverage.json

        fairjudge fairness compare coverage.json --baseline gpt-4o-mini-direct
    """
    display.found(comparison(), json_file, figures)
