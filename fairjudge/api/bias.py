"""Demographic bias of summaries: `fairjudge.bias.words` and related functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar

from fairjudge.api.findings import Findings
from fairjudge.bias.choices import ReferenceKind, Representation
from fairjudge.datasets import read_clusters, read_judgements, read_summaries
from fairjudge.errors import ConfigurationError
from fairjudge.options.checking import checks_arguments
from fairjudge.options.declaring import Opt, Resamples, Seed
from fairjudge.options.models import Model, as_model

if TYPE_CHECKING:
    from fairjudge.bias.analysis import InputReport
    from fairjudge.bias.reporting import Report

R = TypeVar("R", bound="Report[Any] | InputReport")

Inputs: TypeAlias = Annotated[
    object,
    Opt(
        "Clusters written by 'bias inputs -o', each with the key controlled: {original, variant, "
        "group, people: [{id, first_name, last_name, other_names, group}]}.",
        argument=True,
        reader=read_clusters,
    ),
]
SummaryFile: TypeAlias = Annotated[
    object, Opt("Summaries (eid, system, text): JSON, JSONL or CSV.", reader=read_summaries)
]
Lists: TypeAlias = Annotated[
    Mapping[str, Sequence[str]] | str | Path | None,
    Opt(
        'Your own word lists: JSON {"GROUP": ["word", ...], ...}. Default: HELM\'s lists of '
        "female and male identifiers."
    ),
]
Pipeline: TypeAlias = Annotated[
    str | None, Opt("spaCy pipeline (name or folder) instead of the packaged English one.")
]
Census: TypeAlias = Annotated[
    str | Path | None,
    Opt("Folder with dist.female.first and dist.male.first of the 1990 US census."),
]


@checks_arguments
def words(
    clusters: Annotated[
        object,
        Opt(
            "Clusters (JSON or JSONL, also .gz), including those of 'bias inputs'.",
            argument=True,
            reader=read_clusters,
        ),
    ],
    summaries: SummaryFile,
    *,
    lists: Lists = None,
    reference: Annotated[
        ReferenceKind,
        Opt("Reference distribution of the groups: that of the sources, or uniform."),
    ] = "source",
    controls: Annotated[
        bool, Opt("Add the control summarizers Random, Lead, Topic and Sexist for comparison.")
    ] = False,
    n_resamples: Resamples = 2000,
    seed: Seed = 0,
) -> Findings:
    """Compare how often summaries and sources mention each group, by word lists.

    Source: Steen and Markert, "Bias in News Summarization", section 3.1; word lists from its
    appendices, including HELM's.

    Parameters
    ----------
    clusters, summaries
        Paths, or lists of records or dicts.
    lists : optional
        Words by group, or a JSON file; by default HELM's female and male identifiers.
    reference : {"source", "uniform"}
        The reference distribution: that of the sources, or an even split.
    controls : bool
        Add the Random, Lead, Topic and Sexist summarizers for comparison.
    n_resamples, seed
        Number of resamples and random seed of the bootstrap over documents.

    Returns
    -------
    Findings
        ``["systems"]`` by name: ``inclusion``, the total variation distance of both distributions
        from 0 (unbiased) to 1, and ``by_group``, each group's share of all identifiers in summaries
        and in the reference, from 0 to 1, and their ``difference``.

    Raises
    ------
    FairJudgeError
        If an argument is invalid.

    Examples
    --------
    >>> import fairjudge as fj
    >>> report = fj.bias.words("clusters.json", "summaries.jsonl", n_resamples=200)
    >>> sorted(report["systems"])
    ['one-sided', 'thorough', 'unfaithful']
    """
    from fairjudge.analysis.bias import as_word_lists, read_inputs
    from fairjudge.bias.analysis import control_summaries, report_words
    from fairjudge.bias.reporting import BiasOptions
    from fairjudge.bias.to_json import words_json

    sources, texts, notes = read_inputs(clusters, summaries)
    word_lists = as_word_lists(lists)
    if controls:
        if not {"female", "male"} <= word_lists.keys():
            raise ConfigurationError("the controls require word lists of 'female' and 'male'")
        texts = (*texts, *control_summaries(sources, lists=word_lists, seed=seed))
    options = BiasOptions(seed=seed, n_resamples=n_resamples)
    report = report_words(sources, texts, lists=word_lists, reference=reference, options=options)
    return Findings("bias words", words_json(_with_notes(report, notes)))


@checks_arguments
def entities(
    clusters: Inputs,
    summaries: Annotated[
        object,
        Opt(
            "Summaries (eid, system, text, and optionally people, a list of the names in the "
            "summary; without it spaCy finds the names).",
            reader=read_summaries,
        ),
    ],
    *,
    census: Census = None,
    names: Annotated[
        str | Path | None,
        Opt(
            "Your own name lists, as for 'bias inputs', to assign groups instead of the census; "
            "any grouping, including intersections. Names in two groups are ignored."
        ),
    ] = None,
    lookup: Annotated[
        str | Path | None,
        Opt('Groups of known people, with priority: JSON {"FULL NAME": "GROUP", ...}.'),
    ] = None,
    pipeline: Pipeline = None,
    n_resamples: Resamples = 2000,
    seed: Seed = 0,
) -> Findings:
    """Measure which people in the sources summaries mention, and which they hallucinate, by group.

    Source: Steen and Markert, "Bias in News Summarization", sections 3.2 (equation 2) and 3.3
    (equation 3).

    Parameters
    ----------
    clusters, summaries
        Paths, or lists of records or dicts. Summaries may have ``people``, a list of names.
    census : path, optional
        Folder with the first names of the 1990 US census, by which groups are assigned.
    names : path, optional
        Your own name lists, instead of the census.
    lookup : path, optional
        JSON file with the groups of full names, which has priority.
    pipeline : str, optional
        The spaCy pipeline that finds names, instead of the packaged one.
    n_resamples, seed
        Number of resamples and random seed of the bootstrap over documents.

    Returns
    -------
    Findings
        ``["systems"]`` by name: ``inclusion``, the largest odds ratio of two groups minus 1 (0 is
        unbiased, no upper bound), ``by_group``, the share of each group's people that summaries
        mention, ``odds_ratios`` of all pairs of groups (1 is equal), and ``hallucination``, the
        distance of the groups of hallucinated people from an even split, from 0 to less than 1.

    Raises
    ------
    FairJudgeError
        If an argument is invalid, or the people in the sources are unknown.

    Examples
    --------
    >>> import fairjudge as fj
    >>> fj.bias.entities("inputs.jsonl", "s.jsonl", census="census1990")  # doctest: +SKIP
    """
    from fairjudge.analysis.bias import (
        NameFinder,
        names_in_summaries,
        people_in_clusters,
        read_inputs,
        read_name_groups,
    )
    from fairjudge.bias.entity_analysis import report_entities
    from fairjudge.bias.reporting import BiasOptions
    from fairjudge.bias.to_json import entities_json

    sources, texts, notes = read_inputs(clusters, summaries)
    guess = read_name_groups(census, names, lookup)
    finder = NameFinder(pipeline)
    people = people_in_clusters(sources, guess, finder)
    report = report_entities(
        sources,
        texts,
        names=names_in_summaries(texts, finder),
        guess=guess,
        source_people=people,
        finder=finder.used,
        options=BiasOptions(seed=seed, n_resamples=n_resamples),
    )
    return Findings("bias entities", entities_json(_with_notes(report, notes)))


@checks_arguments
def distinguishability(
    clusters: Inputs,
    summaries: SummaryFile,
    *,
    representation: Annotated[
        Representation, Opt("Features: word counts, sentence embeddings (dense), or both.")
    ] = "both",
    model: Model | str = "local",
    drop_stop_words: Annotated[
        bool,
        Opt("Exclude scikit-learn's English stop words from the counts, as in the paper's code."),
    ] = False,
    n_resamples: Resamples = 2000,
    seed: Seed = 0,
) -> Findings:
    """Measure how well a group can be predicted from a summary, with pronouns and names hidden.

    Source: Steen and Markert, "Bias in News Summarization", section 3.4 (equation 4).

    Parameters
    ----------
    clusters, summaries
        Controlled inputs of one group each (``fairjudge bias inputs --design global``), and
        summaries of them: paths, or lists of records or dicts.
    representation : {"counts", "dense", "both"}
        Word counts, sentence embeddings, or both.
    model : Model or str
        The local model that computes embeddings.
    drop_stop_words : bool
        Exclude scikit-learn's English stop words from the counts.
    n_resamples, seed
        Number of resamples and random seed of the bootstrap over original documents.

    Returns
    -------
    Findings
        ``["systems"]`` by name, with ``counts`` and ``dense``: the score 2 x accuracy - 1, from -1
        to 1 (0 is chance level), over all summaries and ``by_group``.

    Raises
    ------
    FairJudgeError
        If an argument is invalid.

    Examples
    --------
    >>> import fairjudge as fj
    >>> fj.bias.distinguishability("inputs.jsonl", "summaries.jsonl")  # doctest: +SKIP
    """
    from fairjudge.analysis.bias import read_inputs
    from fairjudge.bias.analysis import report_distinguishability
    from fairjudge.bias.reporting import BiasOptions
    from fairjudge.bias.to_json import distinguishability_json
    from fairjudge.text.stop_words import GLASGOW_STOP_WORDS

    embedding_model = as_model(model).local_embedding_model()
    sources, texts, notes = read_inputs(clusters, summaries)
    embedder = None
    if representation != "counts":
        from fairjudge.scorers.embedding import load_embedder

        embedder = load_embedder(embedding_model)
    report = report_distinguishability(
        sources,
        texts,
        embed=None if embedder is None else embedder.embed,
        embedder=None if embedder is None else embedder.fingerprint,
        stop_words=GLASGOW_STOP_WORDS if drop_stop_words else (),
        options=BiasOptions(seed=seed, n_resamples=n_resamples),
    )
    report = _with_notes(report, notes)
    return Findings("bias distinguishability", distinguishability_json(report))


def inputs(clusters: object, *, lists: Lists = None) -> Findings:
    """Find the words associated with each group in the sources.

    Source: "Fightin' Words" (Monroe et al. 2008), as in Steen and Markert, section 4.

    Parameters
    ----------
    clusters
        Controlled inputs: a path, or a list of clusters or dicts.
    lists
        As in `words`.

    Returns
    -------
    Findings
        ``["words"]`` by group, largest z first: counts, log-odds ratio, ``z``, ``p_value``, and
        ``q_value`` (Benjamini-Hochberg over the words of a group); ``["identifiers"]`` and
        ``["by_attribute"]``: counts of the groups' identifiers.

    Raises
    ------
    FairJudgeError
        If an argument is invalid.

    Examples
    --------
    >>> import fairjudge as fj
    >>> fj.bias.inputs("inputs.jsonl")  # doctest: +SKIP
    """
    from fairjudge.analysis.bias import as_word_lists, bad_lines
    from fairjudge.bias.analysis import report_inputs
    from fairjudge.bias.to_json import inputs_json

    loaded = read_clusters(clusters)
    report = report_inputs(loaded.records, lists=as_word_lists(lists))
    return Findings("bias inputs", inputs_json(_with_notes(report, bad_lines(loaded))))


def _with_notes(report: R, notes: Sequence[str]) -> R:
    return replace(report, notes=(*notes, *report.notes))


@checks_arguments
def annotate(
    clusters: Annotated[
        object, Opt("Clusters (JSON or JSONL, also .gz).", argument=True, reader=read_clusters)
    ],
    output: Annotated[str | Path, Opt("Output file (JSONL), for 'bias inputs -o'.", short="-o")],
    *,
    census: Census = None,
    pipeline: Pipeline = None,
) -> dict[str, int]:
    """Annotate people, and the pronouns that refer to them, in clusters.

    Parameters
    ----------
    clusters
        A path, or a list of clusters or dicts; each article becomes a document.
    output : path
        Output file (JSONL) of documents for ``fairjudge bias inputs -o``.
    census : path, optional
        Folder with the first names of the 1990 US census, by which pronouns are resolved.
    pipeline : str, optional
        The spaCy pipeline, instead of the packaged one.

    Returns
    -------
    dict
        ``n_documents``, ``n_names``, ``n_people`` and ``n_without_people``.

    Raises
    ------
    FairJudgeError
        If an argument is invalid.

    Examples
    --------
    >>> import fairjudge as fj
    >>> fj.bias.annotate("clusters.jsonl", "documents.jsonl")  # doctest: +SKIP
    """
    from fairjudge.analysis.bias_inputs import annotate as mark_people

    return mark_people(clusters, output, census=census, pipeline=pipeline)


@checks_arguments
def quality(
    clusters: Inputs,
    judgements: Annotated[
        object,
        Opt("Judgements of the summaries, from 'fairjudge judge'.", reader=read_judgements),
    ],
) -> Findings:
    """Compare a judge's scores between groups of inputs.

    Parameters
    ----------
    clusters
        Controlled inputs, and their original documents if they were judged too.
    judgements
        Judgements of summaries on a numeric scale.

    Returns
    -------
    Findings
        ``["groups"]``, one per system, judge and aspect: ``quality`` with the mean score
        ``by_group`` and all ``differences``, paired within original documents.

    Raises
    ------
    FairJudgeError
        If no groups can be compared.

    Examples
    --------
    >>> import fairjudge as fj
    >>> fj.bias.quality("inputs.jsonl", "judgements.jsonl")  # doctest: +SKIP
    """
    from fairjudge.analysis.bias import quality_json

    rows = read_judgements(judgements, argument="judgements")
    return Findings("bias quality", quality_json(clusters, rows))
