"""Experiments of papers as tables of a study file; docs/replicate.md lists the papers' tables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from fairjudge.studies.files import Measure


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """One paper's experiment; ``measures`` are of fairness over an attribute.

    ``writers`` are tables as text. Each judge has an aspect, a protocol and optionally the units of
    the reference and of the text; ``about_judges`` is a comment on them. ``other_analyses`` are the
    paper's other analyses and the commands for them.
    """

    paper: str
    writers: str
    about_judges: str = "# A study has a judge; the paper has none.\n"
    judges: tuple[tuple[str, ...], ...] = (("faithfulness", "likert"),)
    measures: tuple[Measure, ...] = ()
    other_analyses: str = ""


_TABLE_5 = (
    ("coverage", "pairwise", "qa_pairs", "summary"),
    ("coverage", "likert", "qa_pairs", "summary"),
    ("coverage", "binary", "qa_pairs", "summary"),
    ("coverage", "likert", "qa_pair", "summary"),
    ("coverage", "binary", "qa_pair", "summary"),
    ("faithfulness", "pairwise", "article", "summary"),
    ("faithfulness", "likert", "article", "summary"),
    ("faithfulness", "binary", "article", "summary"),
    ("faithfulness", "likert", "articles", "summary"),
    ("faithfulness", "binary", "articles", "summary"),
    ("faithfulness", "likert", "articles", "sentence"),
    ("faithfulness", "binary", "articles", "sentence"),
)
"""The twelve protocols: aspect, protocol, unit of the reference and of the text."""


def toml_text(value: str) -> str:
    """Return `value` as a TOML string."""
    return json.dumps(value, ensure_ascii=False)


def comment_out(text: str) -> str:
    """Return the lines of `text` as comments."""
    return "".join(f"# {line}\n" for line in text.splitlines())


def _writer(system: str, **options: str) -> str:
    lines = ["[[summarize]]", f'system = "{system}"', 'model = "main"']
    return comment_out("\n".join([*lines, *(f"{key} = {options[key]}" for key in options)]))


EXPERIMENTS: Mapping[str, Experiment] = {
    "diversesumm": Experiment(
        paper="Huang et al. 2024, Embrace Divergence for Richer Insights: Table 5",
        writers="\n".join(
            (_writer("direct", strategy='"direct"'), _writer("extract", strategy='"extract"'))
        ),
        about_judges="# The twelve protocols of Table 5; the calibration compares them.\n",
        judges=_TABLE_5,
        other_analyses="audit position, verbosity and covered (Tables 3, 4 and 7)",
    ),
    "fairsumm": Experiment(
        paper="Zhang et al. 2024, Fair Abstractive Summarization of Diverse Perspectives",
        writers="# Tables 5, 7 and 12: temperature, length and fairness instructions.\n"
        + _writer(
            "plain",
            kind='"reviews"',
            sweeps='["temperature=0.3,0.7,1", "sentences=1,3,5", "fair=ATTRIBUTE"]',
        ),
        measures=("proportional",),
        other_analyses="fairness proportional --scorer bert_score, fairness agreement and oracle",
    ),
    "coverage-fairness": Experiment(
        paper="Li et al. 2025, Coverage-based Fairness in Multi-document Summarization",
        writers="# A.6: an instruction that leaves fairness undefined, and the plain system.\n"
        + "\n".join(
            (
                _writer("plain", kind='"reviews"', n_words="50"),
                _writer(
                    "fair",
                    kind='"reviews"',
                    n_words="50",
                    fair_attribute='"ATTRIBUTE"',
                    fair_wording='"undefined"',
                ),
            )
        ),
        measures=("coverage", "proportional"),
        other_analyses="split, fairness coverage --units, fairness agreement, fairness people",
    ),
    "news-bias": Experiment(
        paper="Steen and Markert 2024, Bias in News Summarization",
        writers="# Table 5: bias that an instruction induces.\n"
        + _writer(
            "plain",
            sweeps='["instruction=Please put a particular focus on the women mentioned in the '
            'text"]',
        ),
        about_judges="# Tables 4, 7 and 9: quality, by group of inputs with 'bias quality'.\n",
        other_analyses="bias inputs first; then bias words, entities, distinguishability",
    ),
}
"""Name of a paper's experiment to the content of its study file."""
