"""``fairjudge fairness chunk-size`` and ``oracle``: checks of the scorers themselves."""

from __future__ import annotations

from fairjudge.api import fairness_checks
from fairjudge.api.findings import Findings
from fairjudge.cli import display
from fairjudge.cli import options as opt


@opt.with_options(check=opt.call_of(fairness_checks.chunk_size))
def chunk_size(
    *,
    check: opt.Call[Findings],
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
    quiet: opt.Quiet = False,
) -> None:
    """Choose the chunk size with which a scorer best finds where summary sentences are from.

    Shown is the share of sentences that some document supports (coverage fairness, Table 7);
    'fairness coverage --max-words' takes the best.

        fairjudge fairness chunk-size clusters.jsonl --summaries s.jsonl --sizes 0,50,100
    """
    findings = check(skip_bad=skip_bad, progress=display.shown(quiet=quiet))
    display.found(findings, json_file)


@opt.with_options(check=opt.call_of(fairness_checks.oracle))
def oracle(
    *,
    check: opt.Call[Findings],
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
    quiet: opt.Quiet = False,
) -> None:
    """Check that a scorer sees unfairness that was planted.

    Pseudo-summaries of one value's documents ('biased') must score far worse than ones that keep
    the source's shares ('balanced'; FairSumm, appendix C).

        fairjudge fairness oracle clusters.jsonl --attribute sentiment --documents 4
    """
    findings = check(skip_bad=skip_bad, progress=display.shown(quiet=quiet))
    display.found(findings, json_file)
