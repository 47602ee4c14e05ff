"""What papers did, as tables of a study file; docs/replicate.md has their tables one by one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fairjudge.studies.files import Measure


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """The tables of one paper's study, as text; ``measures`` are of fairness over an attribute.

    ``after`` says what the paper did besides, by which commands.
    """

    paper: str
    writers: str
    judges: str
    measures: tuple[Measure, ...] = ()
    after: str = ""


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


def commented(text: str) -> str:
    """Return the lines of `text` as comments."""
    return "".join(f"# {line}\n" for line in text.splitlines())


def judge_table(name: str, aspect: str, protocol: str, *, model: str, **units: str) -> str:
    """Return the table of a judge; `units` are further keys after the protocol."""
    keys = {"name": name, "aspect": aspect, "protocol": protocol, **units, "model": model}
    return "\n".join(["[[judge]]", *(f"{key} = {toml_text(keys[key])}" for key in keys), ""])


def _twelve() -> Iterator[str]:
    for aspect, protocol, reference_unit, text_unit in _TABLE_5:
        name = f"{aspect}-{protocol}-{reference_unit}-{text_unit}"
        units = {"reference_unit": reference_unit, "text_unit": text_unit}
        yield judge_table(name, aspect, protocol, **units, model="local")


def _writer(system: str, **options: str) -> str:
    lines = ["[[summarize]]", f'system = "{system}"', 'model = "main"']
    return commented("\n".join([*lines, *(f"{key} = {options[key]}" for key in options)]))


_FAITHFULNESS = judge_table("faithfulness", "faithfulness", "likert", model="local")
_ONE_JUDGE = f"# A study has a judge; the paper has none.\n{_FAITHFULNESS}"

EXPERIMENTS: Mapping[str, Experiment] = {
    "diversesumm": Experiment(
        paper="Huang et al. 2024, Embrace Divergence for Richer Insights: Table 5",
        writers="\n".join(
            (_writer("direct", strategy='"direct"'), _writer("extract", strategy='"extract"'))
        ),
        judges="# The twelve protocols of Table 5; the calibration puts them side by side.\n"
        + "\n".join(_twelve()),
        after="audit position, verbosity and covered (Tables 3, 4 and 7)",
    ),
    "fairsumm": Experiment(
        paper="Zhang et al. 2024, Fair Abstractive Summarization of Diverse Perspectives",
        writers="# Tables 5, 7 and 12: temperature, length, and how fairness is asked for.\n"
        + _writer(
            "plain",
            kind='"reviews"',
            sweeps='["temperature=0.3,0.7,1", "sentences=1,3,5", "fair=ATTRIBUTE"]',
        ),
        judges=_ONE_JUDGE,
        measures=("proportional",),
        after="fairness proportional --scorer bert_score, fairness agreement and oracle",
    ),
    "coverage-fairness": Experiment(
        paper="Li et al. 2025, Coverage-based Fairness in Multi-document Summarization",
        writers="# A.6: the model's own idea of fairness, beside the plain system.\n"
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
        judges=_ONE_JUDGE,
        measures=("coverage", "proportional"),
        after="split, fairness coverage --units, fairness agreement, fairness people",
    ),
    "news-bias": Experiment(
        paper="Steen and Markert 2024, Bias in News Summarization",
        writers="# Table 5: bias that an instruction induces.\n"
        + _writer(
            "plain",
            sweeps='["instruction=Please put a particular focus on the women mentioned in the '
            'text"]',
        ),
        judges="# Tables 4, 7 and 9: quality, by group of inputs with 'bias quality'.\n"
        + _FAITHFULNESS,
        after="bias inputs first; of the summaries bias words, entities, distinguishability",
    ),
}
"""Name of a paper's experiment to what its study file holds."""
