"""``fairjudge fairness people`` and ``temperature``: measures and scorers beside people."""

from __future__ import annotations

from fairjudge.api import fairness_people
from fairjudge.api.findings import Findings
from fairjudge.cli import display
from fairjudge.cli import options as opt


@opt.with_options(comparison=opt.call_of(fairness_people.people))
def people(*, comparison: opt.Call[Findings], json_file: opt.Json = None) -> None:
    """Test which measures of fairness agree better with people.

    Over summaries Equal Coverage against Proportional Representation, over resampled groups of
    them Coverage Parity against SOF (coverage fairness, section 5.4).

        fairjudge fairness people coverage.json shares.json --leanings leanings.jsonl
    """
    display.found(comparison(), json_file)


@opt.with_options(comparison=opt.call_of(fairness_people.temperature))
def temperature(
    *,
    comparison: opt.Call[Findings],
    skip_bad: opt.SkipBad = False,
    json_file: opt.Json = None,
    quiet: opt.Quiet = False,
) -> None:
    r"""Choose the softmax temperature at which a scorer's shares agree best with people's.

    'fairness proportional --temperature' takes the best (FairSumm, section 6.4, Figure 3).

        fairjudge fairness temperature clusters.jsonl --summaries s.jsonl \
            --attribute sentiment --scorer bert_score --human shares.jsonl
    """
    display.found(comparison(skip_bad=skip_bad, progress=display.shown(quiet=quiet)), json_file)
