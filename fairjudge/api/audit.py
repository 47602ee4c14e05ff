"""Audits of judges: biases of their verdicts, and coverage by source.

Most read judgements that are there; `order` and `checks` ask a model, and have async twins.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from fairjudge.api.blocking import blocking
from fairjudge.api.findings import Findings
from fairjudge.api.judging import clusters_of
from fairjudge.datasets import (
    match_summaries,
    read_clusters,
    read_judgements,
    read_labels,
    read_summaries,
)
from fairjudge.options.checking import checks_arguments
from fairjudge.options.declaring import Level, Opt, Seed
from fairjudge.options.models import Model, as_model

if TYPE_CHECKING:
    from fairjudge.auditing.probes import Probe

Aspect: TypeAlias = Annotated[str, Opt("To collect judgements: 'coverage' or 'faithfulness'.")]
Checklists: TypeAlias = Annotated[
    object, Opt("Checklists of faithfulness.", argument=True, reader=read_judgements)
]
RUN = Opt(
    "Run folder: of the judgements to be collected, or of an earlier 'fairjudge judge' "
    "whose judgements are to be audited.",
    panel="Storage",
)
RunFolder: TypeAlias = Annotated[str | Path | None, RUN]


@checks_arguments
def position(
    judgements: object,
    *,
    labels: Annotated[
        object | None,
        Opt("People's labels: pairs are split by how close people rate them.", reader=read_labels),
    ] = None,
    close_within: Annotated[
        float, Opt("Largest difference of labels that counts as close.", ge=0.0)
    ] = 0.5,
) -> Findings:
    """Measure position bias: how often the order of a pair decides its verdict.

    Parameters
    ----------
    judgements
        Pairwise judgements in both orders: a path, a `JudgeResult`, or a list.
    labels : optional
        People's labels, by which pairs are split into close ones and clear ones.
    close_within : float
        Largest difference of labels that counts as close.

    Returns
    -------
    Findings
        ``["groups"]``, one a judge, aspect, protocol and unit: ``first`` and ``second`` are the
        percentages of pairs that the first, or the second, position wins in both orders,
        ``consistency`` that of pairs with one winner, each with its interval over clusters;
        ``by_systems`` and ``by_closeness`` have the same of their parts.

    Raises
    ------
    InputError
        If there is no pairwise judgement.

    Examples
    --------
    >>> import fairjudge as fj
    >>> pair = {"eid": "e", "system_a": "x", "system_b": "y", "aspect": "coverage"}
    >>> both = [
    ...     pair | {"protocol": "pairwise", "judge": "j", "order": order, "value": verdict}
    ...     for order, verdict in [("ab", "a"), ("ba", "b")]  # the first one wins
    ... ]
    >>> fj.audit.position(both)["groups"][0]["first"]["value"]
    100.0
    """
    from fairjudge.auditing.reports import position_report

    rows = read_judgements(judgements).records
    return Findings(
        "audit position", position_report(rows, labels=labels, close_within=close_within)
    )


@checks_arguments
def verbosity(judgements: object) -> Findings:
    """Measure verbosity bias: the summary against itself written twice, or made longer.

    Parameters
    ----------
    judgements
        Of systems named ``X`` and ``X:extended``; `lengthened` makes such summaries.

    Returns
    -------
    Findings
        ``["groups"]``, one a judge, aspect, protocol, unit and ``probe``: ``extended`` and
        ``original`` are the percentages of summaries whose longer version, or whose own, is judged
        better, each with its interval over clusters.

    Raises
    ------
    InputError
        If no system is named as a longer version of another one.

    Examples
    --------
    >>> import fairjudge as fj
    >>> rating = {"eid": "e", "aspect": "coverage", "protocol": "likert", "judge": "j"}
    >>> rows = [rating | {"system": "x", "value": 3}, rating | {"system": "x:extended", "value": 4}]
    >>> fj.audit.verbosity(rows)["groups"][0]["extended"]["value"]
    100.0
    """
    from fairjudge.auditing.reports import verbosity_report

    return Findings("audit verbosity", verbosity_report(read_judgements(judgements).records))


def lengthened(
    summaries: object, clusters: object, *, probes: Sequence[Probe] = ("extended",)
) -> list[dict[str, Any]]:
    """Return each summary beside longer versions of itself, to be judged for `verbosity`.

    Parameters
    ----------
    summaries, clusters
        Paths, or lists of records or dicts.
    probes
        ``"extended"`` (the summary once more), ``"filler"`` (empty phrases), ``"supported"``
        (sentences of its articles), ``"unsupported"`` (sentences of other clusters).

    Returns
    -------
    list of dict
        Summaries with ``eid``, ``system`` (``X:extended`` of ``X``) and ``text``.

    Raises
    ------
    InputError
        If a file cannot be read, or no summary belongs to a cluster.

    Examples
    --------
    >>> import fairjudge as fj
    >>> longer = fj.audit.lengthened("summaries.jsonl", "clusters.json")
    >>> [row["system"] for row in longer[:2]]
    ['thorough', 'thorough:extended']
    """
    from fairjudge.auditing.probes import add_probes
    from fairjudge.text.sentences import sentence_texts

    sources = read_clusters(clusters)
    records = match_summaries(read_summaries(summaries), sources).records
    pairs = add_probes(records, sources.records, tuple(probes), split_sentences=sentence_texts)
    every = {(summary.eid, summary.system): summary for pair in pairs for summary in pair}
    return [summary.to_json() for summary in every.values()]


@checks_arguments
def length(
    judgements: Annotated[
        object, Opt("Pairwise judgements.", argument=True, reader=read_judgements)
    ],
    summaries: Annotated[object, Opt("The summaries, for their lengths.", reader=read_summaries)],
    *,
    matched_within: Annotated[
        float,
        Opt("Pairs count as matched within this many typical length differences.", ge=0.0),
    ] = 0.25,
    tokenizer: Annotated[
        str | None,
        Opt("Count tokens of this Hugging Face tokenizer (hub id or folder) instead of words."),
    ] = None,
) -> Findings:
    """Measure whether longer summaries win, and win rates at equal length.

    Parameters
    ----------
    judgements, summaries
        Pairwise judgements and what they judge: paths, results or lists.
    matched_within : float
        Pairs count as matched within this many typical differences of length.
    tokenizer : str, optional
        Count the tokens of this Hugging Face tokenizer (hub id, or folder) instead of words.

    Returns
    -------
    Findings
        ``["groups"]``, one a judge, aspect, protocol and unit: win rates as judged, at equal length
        and among matched pairs; the mean length of each system in words, or tokens.

    Raises
    ------
    InputError
        If there is no pairwise judgement of these summaries.
    ConfigurationError
        If there is no such tokenizer, or the extra ``[local]`` is not installed.

    Examples
    --------
    >>> import fairjudge as fj
    >>> fj.audit.length("pairs.jsonl", "summaries.jsonl")  # doctest: +SKIP
    """
    from fairjudge.auditing.reports import length_report

    rows, texts = read_judgements(judgements).records, read_summaries(summaries).records
    if tokenizer is None:
        return Findings("audit length", length_report(rows, texts, matched_within=matched_within))
    from fairjudge.scorers.token_counts import token_counter

    count = token_counter(tokenizer)
    report = length_report(rows, texts, matched_within=matched_within, count=count)
    return Findings("audit length", {**report, "tokenizer": tokenizer})


def parse(
    judgements: Annotated[object, Opt("Judgements.", argument=True, reader=read_judgements)],
) -> Findings:
    """Count how replies were read: scorers, and reasons for missing scores.

    Parameters
    ----------
    judgements
        A path, a `JudgeResult`, or a list of judgements or dicts.

    Returns
    -------
    Findings
        ``["groups"]``, one a judge, aspect, protocol and unit: ``n_judgements``, ``n_unscored``,
        ``unscored`` (reason to count) and ``scored_by`` (kind of scorer to count).

    Raises
    ------
    InputError
        If they cannot be read.

    Examples
    --------
    >>> import fairjudge as fj
    >>> row = {"eid": "e", "system": "x", "aspect": "coverage", "protocol": "likert"}
    >>> fj.audit.parse([row | {"judge": "j", "unscored": "refused"}])["groups"][0]["unscored"]
    {'refused': 1}
    """
    from fairjudge.auditing.reports import parse_report

    return Findings("audit parse", parse_report(read_judgements(judgements).records))


@checks_arguments
def stability(
    judgements: Annotated[
        object,
        Opt(
            "Judgements with repeats: of 'judge --repeats 3', or imported.",
            argument=True,
            reader=read_judgements,
        ),
    ],
    *,
    variant: Annotated[
        str, Opt("Field that names the prompt of a judgement.", metavar="FIELD")
    ] = "variant",
    level: Level = 0.95,
    seed: Seed = 0,
) -> Findings:
    """Measure how often the verdict on an item changes between repeats and between prompts.

    Parameters
    ----------
    judgements
        Items judged more than once, or with the replies that ``samples`` kept.
    variant
        The field that names the prompt of a judgement.
    level, seed
        Of the intervals: their confidence from 0.5 to 0.999, and the seed of the bootstrap.

    Returns
    -------
    Findings
        ``["groups"]``, one a judge, aspect, protocol and unit: ``flips``, the share of pairs of
        judgements of one item that differ, from 0 to 1, ``flips_between_variants`` the same between
        prompts, ``unanimous`` the share of items judged alike every time, and ``spread`` the
        standard deviation in units of the scale.

    Raises
    ------
    InputError
        If no item was judged more than once.

    Examples
    --------
    >>> import fairjudge as fj
    >>> row = {"eid": "e", "system": "x", "aspect": "coverage", "protocol": "likert", "judge": "j"}
    >>> twice = [row | {"value": 4}, row | {"value": 5}]
    >>> fj.audit.stability(twice)["groups"][0]["flips"]["value"]
    1.0
    """
    from fairjudge.auditing.stability import stability_report

    rows = read_judgements(judgements).records
    figures = stability_report(rows, variant=variant, level=level, seed=seed)
    return Findings("audit stability", figures)


def covered(
    judgements: Annotated[
        object,
        Opt(
            "Checklists, or judgements of balance, answers or articles.",
            argument=True,
            reader=read_judgements,
        ),
    ],
    references: object | None = None,
) -> Findings:
    """Measure coverage by each system: shares by outlet, question and speaker, and the rest.

    Parameters
    ----------
    references
        What was judged against, for balance plain clusters; not needed of a `JudgeResult`.

    Returns
    -------
    Findings
        ``["groups"]``, one a judge, aspect, protocol, unit and system: ``slices`` has the share
        covered, from 0 to 1, by outlet, question, speaker and more; ``uncovered`` lists the answers
        left out with their voices, ``contradicted`` those that the summary contradicts.

    Raises
    ------
    InputError
        If the judgements do not tell: judge with ``protocol="checklist"`` or ``aspect="balance"``.

    Examples
    --------
    >>> import fairjudge as fj
    >>> judge = fj.Judge("local", aspect="coverage", protocol="checklist")
    >>> result = judge("references.json", fj.read_summaries("summaries.jsonl").records[:3])
    >>> [group["system"] for group in fj.audit.covered(result)["groups"]]
    ['thorough', 'one-sided', 'unfaithful']
    """
    from fairjudge.auditing.reports import covered_report, sources_reader

    rows = read_judgements(judgements).records
    sources = clusters_of(judgements, references, read=sources_reader(rows))
    return Findings("audit covered", covered_report(rows, sources))


@checks_arguments
def statements(
    judgements: Checklists,
    references: Annotated[
        object | None,
        Opt("Clusters of the judgements, for outlets' names.", reader=read_clusters),
    ] = None,
    *,
    summaries: Annotated[
        object | None, Opt("The summaries, where sentences have citations.", reader=read_summaries)
    ] = None,
) -> Findings:
    """Name the statements of each system that articles do not support, and the articles.

    Parameters
    ----------
    references
        The clusters, for outlets' names; not needed of a `JudgeResult`.
    summaries : optional
        The summaries, where their sentences have citations.

    Returns
    -------
    Findings
        ``["groups"]``, one a judge and system: counts of ``supported``, ``contradicted`` and
        ``absent`` statements, ``share`` supported (0 to 1, over clusters), and ``errors``, the
        statements that are not supported, gravest first.

    Raises
    ------
    InputError
        If no judgement lists statements: judge faithfulness with ``protocol="checklist"``.

    Examples
    --------
    >>> import fairjudge as fj
    >>> judge = fj.Judge("local", aspect="faithfulness", protocol="checklist")
    >>> result = judge("references.json", fj.read_summaries("summaries.jsonl").records[:3])
    >>> [group["system"] for group in fj.audit.statements(result)["groups"]]
    ['thorough', 'one-sided', 'unfaithful']
    """
    from fairjudge.auditing.statements import statements_report

    rows = read_judgements(judgements).records
    clusters = clusters_of(judgements, references, read=read_clusters)
    texts = () if summaries is None else read_summaries(summaries).records
    return Findings("audit statements", statements_report(rows, clusters, texts))


@checks_arguments
def citations(
    judgements: Checklists,
    summaries: Annotated[object, Opt("The summaries with citations.", reader=read_summaries)],
    references: Annotated[
        object | None,
        Opt("Clusters of the judgements, to swap citations for.", reader=read_clusters),
    ] = None,
) -> Findings:
    """Measure how far cited articles support the sentences that cite them.

    Parameters
    ----------
    judgements, summaries
        Checklists of faithfulness, and the summaries with ``citations`` that they judge.
    references : optional
        The clusters, to swap each citation for other articles; not needed of a `JudgeResult`.

    Returns
    -------
    Findings
        ``["groups"]``, one a judge and system: ``borne_out``, the share from 0 to 1 of sentences
        with citations that what they cite supports (citation recall), ``relevant``, the share of
        citations that support something (citation precision), and ``swapped``, the former with
        other articles of the cluster in the place of those that are cited.

    Raises
    ------
    InputError
        If no judgement lists statements, or no summary has citations.

    Examples
    --------
    >>> import fairjudge as fj
    >>> summaries = fj.read_summaries("summaries.jsonl").records[:3]
    >>> cite = lambda text, aid: {"text": text.split(". ")[0] + ".", "articles": [aid]}
    >>> citing = [row.to_json() | {"citations": [cite(row.text, "a1")]} for row in summaries]
    >>> judge = fj.Judge("local", aspect="faithfulness", protocol="checklist")
    >>> report = fj.audit.citations(judge("references.json", citing), citing)
    >>> report["groups"][0]["n_cited"]
    1
    """
    from fairjudge.auditing.statements import citations_report

    rows, texts = read_judgements(judgements).records, read_summaries(summaries).records
    clusters = clusters_of(judgements, references, read=read_clusters)
    return Findings("audit citations", citations_report(rows, texts, clusters))


@checks_arguments
async def aorder(
    clusters: Annotated[
        object,
        Opt(
            "Clusters of three articles or more; for groups, references with their answers.",
            flag="--references",
        ),
    ],
    summaries: Annotated[
        object | None, Opt("To collect judgements: summaries.", reader=read_summaries)
    ] = None,
    *,
    model: Model | str,
    of: Annotated[
        Literal["articles", "groups"],
        Opt("What is moved: articles in the prompt, or groups of answers in a checklist."),
    ] = "articles",
    max_articles: Annotated[
        int, Opt("Articles of each cluster whose position is changed.", ge=1)
    ] = 3,
    n_shuffles: Annotated[
        int, Opt("Orders in which each summary's articles, or groups, are shown.", ge=2)
    ] = 3,
    groups_per_call: Annotated[
        int, Opt("Maximum number of groups per call, as in 'judge'.", ge=3, le=500)
    ] = 25,
    run: RunFolder = None,
) -> Findings:
    """Measure what the order of articles, or of a checklist's groups, does to verdicts.

    Articles are moved in the prompt for faithfulness ratings; groups of answers in the checklist of
    coverage. A group's place is the third of its call's list in which it stands.

    ``await aorder(...)`` in code that awaits; ``order(...)`` in other code, notebooks too.

    Parameters
    ----------
    clusters
        Of three articles or more, or for groups references with answers: a path, or a list of
        records or dicts.
    summaries : optional
        Rated with their articles shuffled; needed for groups.
    model : Model or str
        Who judges.
    of : {"articles", "groups"}
        What is moved.
    max_articles : int
        Articles of each cluster that are moved about.
    n_shuffles : int
        Orders in which each summary's articles, or groups, are shown.
    groups_per_call : int
        Maximum number of groups per call.
    run : path, optional
        Run folder, to be resumed by the same call.

    Returns
    -------
    Findings
        For articles, ``["by_place"]``: the mean verdict where an article is ``first``, in the
        ``middle`` and ``last``, on the protocol's scale; ``first_minus_last`` and
        ``ends_minus_middle``; ``changed`` and ``spread`` over the shuffled orders. For groups the
        same of their coverage, 0 to 1.

    Raises
    ------
    FairJudgeError
        If an argument or the model cannot be used.

    Examples
    --------
    >>> import fairjudge as fj
    >>> report = fj.audit.order("clusters.json", model="local")
    >>> sorted(report["by_place"])
    ['first', 'last', 'middle']
    """
    from fairjudge.api.progress import bars
    from fairjudge.run.probing import group_order_report, order_report

    chosen_model = as_model(model)
    with bars(chosen_model.progress) as progress_bars:
        shared: dict[str, Any] = {
            "run": None if run is None else Path(run),
            "model": progress_bars.with_retry_bar(chosen_model),
            "progress": progress_bars.counter("judging"),
        }
        figures = await (
            group_order_report(
                clusters, summaries, n_orders=n_shuffles, groups_per_call=groups_per_call, **shared
            )
            if of == "groups"
            else order_report(
                clusters, summaries, max_articles=max_articles, n_shuffles=n_shuffles, **shared
            )
        )
    return Findings("audit order", figures)


order = blocking(aorder)


@checks_arguments
async def achecks(
    references: Annotated[object, Opt("References (coverage) or clusters.")],
    summaries: Annotated[object, Opt("Summaries.", reader=read_summaries)],
    *,
    model: Model | str,
    aspect: Aspect = "coverage",
    run: RunFolder = None,
) -> Findings:
    """Run metamorphic (consistency) tests, which need no right verdicts.

    ``await achecks(...)`` in code that awaits; ``checks(...)`` in other code, notebooks too.

    A summary ties with itself; one of all reference answers covers them all; without one article's
    answers it covers no more; a sentence that asks for a 5 raises nothing.

    Parameters
    ----------
    references, summaries
        References (clusters for faithfulness) and summaries: paths, or lists of records or dicts.
    model : Model or str
        Who judges.
    aspect : {"coverage", "faithfulness"}
        What is judged.
    run : path, optional
        Run folder, to be resumed by the same call.

    Returns
    -------
    Findings
        ``["checks"]``, each with its ``name``, ``n`` items, ``kept``, the percentage of them for
        which the relation holds (Wilson's interval), and those that are ``broken``.

    Raises
    ------
    FairJudgeError
        If an argument or the model cannot be used.

    Examples
    --------
    >>> import fairjudge as fj
    >>> references = fj.read_references("references.json").records[:1]
    >>> summaries = fj.read_summaries("summaries.jsonl").records[:3]
    >>> report = fj.audit.checks(references, summaries, model="local")
    >>> {check["name"]: check["n"] for check in report["checks"]}["itself"]
    6
    """
    from fairjudge.api.progress import bars
    from fairjudge.run.probing import checks_report

    chosen_model = as_model(model)
    with bars(chosen_model.progress) as progress_bars:
        figures = await checks_report(
            references,
            summaries,
            aspect=aspect,
            run=None if run is None else Path(run),
            model=progress_bars.with_retry_bar(chosen_model),
            progress=progress_bars.counter("judging"),
        )
    return Findings("audit checks", figures)


checks = blocking(achecks)
