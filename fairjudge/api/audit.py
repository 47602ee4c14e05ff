"""Audits of judges: biases of their verdicts, and coverage by source.

Most read stored judgements; `order` and `checks` send requests to a model and have async twins.
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
    object, Opt("Faithfulness checklists (judgements).", argument=True, reader=read_judgements)
]
RUN = Opt(
    "Run folder: for the judgements to collect, or of an earlier 'fairjudge judge' run to audit.",
    panel="Storage",
)
RunFolder: TypeAlias = Annotated[str | Path | None, RUN]


@checks_arguments
def position(
    judgements: object,
    *,
    labels: Annotated[
        object | None,
        Opt(
            "Human labels: pairs are grouped by the difference of their labels.", reader=read_labels
        ),
    ] = None,
    close_within: Annotated[
        float, Opt("Maximum difference of the labels of a close pair.", ge=0.0)
    ] = 0.5,
) -> Findings:
    """Measure position bias: how often the order of a pair determines its verdict.

    Parameters
    ----------
    judgements
        Pairwise judgements in both orders: a path, a `JudgeResult`, or a list.
    labels : optional
        Human labels, by which pairs are divided into close and clear ones.
    close_within : float
        Maximum difference of the labels of a close pair.

    Returns
    -------
    Findings
        ``["groups"]``, one per judge, aspect, protocol and unit: ``first`` and ``second`` are the
        percentages of pairs where the first or the second position wins in both orders, and
        ``consistency`` the percentage with the same winner, each with its interval over clusters;
        ``by_systems`` and ``by_closeness`` are the same for subsets.

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
    """Measure verbosity bias: compare summaries with longer versions of themselves.

    Parameters
    ----------
    judgements
        Judgements of systems named ``X`` and ``X:extended``, as created by `lengthened`.

    Returns
    -------
    Findings
        ``["groups"]``, one per judge, aspect, protocol, unit and ``probe``: ``extended`` and
        ``original`` are the percentages of summaries whose longer or original version is judged
        better, each with its interval over clusters.

    Raises
    ------
    InputError
        If no system is a longer version of another one.

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
    """Return each summary with longer versions of itself, to judge for `verbosity`.

    Parameters
    ----------
    summaries, clusters
        Paths, or lists of records or dicts.
    probes
        ``"extended"`` (the summary again), ``"filler"`` (empty phrases), ``"supported"``
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
    by_key = {(summary.eid, summary.system): summary for pair in pairs for summary in pair}
    return [summary.to_json() for summary in by_key.values()]


@checks_arguments
def length(
    judgements: Annotated[
        object, Opt("Pairwise judgements.", argument=True, reader=read_judgements)
    ],
    summaries: Annotated[object, Opt("The summaries, for their lengths.", reader=read_summaries)],
    *,
    matched_within: Annotated[
        float,
        Opt(
            "Maximum length difference of matched pairs, relative to the typical difference.",
            ge=0.0,
        ),
    ] = 0.25,
    tokenizer: Annotated[
        str | None,
        Opt("Measure length in tokens of this Hugging Face tokenizer (hub id or folder)."),
    ] = None,
) -> Findings:
    """Measure whether longer summaries win, and win rates at equal length.

    Parameters
    ----------
    judgements, summaries
        Pairwise judgements and the judged summaries: paths, results or lists.
    matched_within : float
        Maximum length difference of matched pairs, relative to the typical difference.
    tokenizer : str, optional
        Measure length in tokens of this Hugging Face tokenizer (hub id or folder), not in words.

    Returns
    -------
    Findings
        ``["groups"]``, one per judge, aspect, protocol and unit: win rates as judged, at equal
        length and among matched pairs; the mean length of each system in words or tokens.

    Raises
    ------
    InputError
        If there is no pairwise judgement of these summaries.
    ConfigurationError
        If the tokenizer does not exist, or the extra ``[local]`` is not installed.

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
    """Count judgements by scorer, and those without a score by reason.

    Parameters
    ----------
    judgements
        A path, a `JudgeResult`, or a list of judgements or dicts.

    Returns
    -------
    Findings
        ``["groups"]``, one per judge, aspect, protocol and unit: ``n_judgements``, ``n_unscored``,
        ``unscored`` (counts by reason) and ``scored_by`` (counts by kind of scorer).

    Raises
    ------
    InputError
        If the judgements cannot be read.

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
            "Judgements with repeats (from 'judge --repeats 3', or imported).",
            argument=True,
            reader=read_judgements,
        ),
    ],
    *,
    variant: Annotated[
        str, Opt("Field of the judgements that identifies the prompt.", metavar="FIELD")
    ] = "variant",
    level: Level = 0.95,
    seed: Seed = 0,
) -> Findings:
    """Measure how often the verdict on an item changes between repeats and between prompts.

    Parameters
    ----------
    judgements
        Judgements of items that were judged repeatedly, or that have several ``samples``.
    variant
        The field of the judgements that identifies the prompt.
    level, seed
        Confidence level of the intervals, from 0.5 to 0.999; random seed of the bootstrap.

    Returns
    -------
    Findings
        ``["groups"]``, one per judge, aspect, protocol and unit: ``flips``, the share (0 to 1) of
        pairs of judgements of one item that differ; ``flips_between_variants``, the same between
        prompts; ``unanimous``, the share of items whose judgements all agree; and ``spread``, the
        standard deviation in units of the scale.

    Raises
    ------
    InputError
        If no item was judged more than once.

    Examples
    --------
    >>> import fairjudge as fj
    >>> row = {"eid": "e", "system": "x", "aspect": "coverage", "protocol": "likert", "judge": "j"}
    >>> repeats = [row | {"value": 4}, row | {"value": 5}]
    >>> fj.audit.stability(repeats)["groups"][0]["flips"]["value"]
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
            "Checklists, or judgements of balance, of single answers or of articles.",
            argument=True,
            reader=read_judgements,
        ),
    ],
    references: object | None = None,
) -> Findings:
    """Measure the coverage of each system by outlet, question, speaker and other properties.

    Parameters
    ----------
    references
        The references of the judgements (clusters for balance); not needed for a `JudgeResult`.

    Returns
    -------
    Findings
        ``["groups"]``, one per judge, aspect, protocol, unit and system: ``slices`` has the covered
        share (0 to 1) by outlet, question, speaker and more; ``uncovered`` lists the omitted
        answers with their voices, ``contradicted`` those that the summary contradicts.

    Raises
    ------
    InputError
        If the judgements lack this information: use ``protocol="checklist"`` or
        ``aspect="balance"``.

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
        Opt("Clusters of the judgements, for the names of outlets.", reader=read_clusters),
    ] = None,
    *,
    summaries: Annotated[
        object | None,
        Opt("The summaries, if their sentences cite articles.", reader=read_summaries),
    ] = None,
) -> Findings:
    """List the statements of each system that articles contradict or do not support.

    Parameters
    ----------
    references
        The clusters, for the names of outlets; not needed for a `JudgeResult`.
    summaries : optional
        The summaries, if their sentences cite articles.

    Returns
    -------
    Findings
        ``["groups"]``, one per judge and system: counts of ``supported``, ``contradicted`` and
        ``absent`` statements, the supported ``share`` (0 to 1, over clusters), and ``errors``, the
        statements that are not supported, most severe first.

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
        Opt("Clusters of the judgements, to test with swapped citations.", reader=read_clusters),
    ] = None,
) -> Findings:
    """Measure whether cited articles support the sentences that cite them.

    Parameters
    ----------
    judgements, summaries
        Faithfulness checklists, and the judged summaries with ``citations``.
    references : optional
        The clusters, to replace citations by other articles; not needed for a `JudgeResult`.

    Returns
    -------
    Findings
        ``["groups"]``, one per judge and system: ``borne_out``, the share (0 to 1) of citing
        sentences that the cited articles support (citation recall); ``relevant``, the share of
        citations that support their sentence (citation precision); and ``swapped``, citation recall
        after replacing cited articles by other articles of the cluster.

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
            "Clusters of at least three articles; with --of groups, references with answers.",
            flag="--references",
        ),
    ],
    summaries: Annotated[
        object | None, Opt("Summaries to judge; required with --of groups.", reader=read_summaries)
    ] = None,
    *,
    model: Model | str,
    of: Annotated[
        Literal["articles", "groups"],
        Opt("Order to vary: of articles in the prompt, or of groups of answers in a checklist."),
    ] = "articles",
    max_articles: Annotated[
        int, Opt("Number of articles per cluster whose position is varied.", ge=1)
    ] = 3,
    n_shuffles: Annotated[
        int, Opt("Number of orders of articles or groups per summary.", ge=2)
    ] = 3,
    groups_per_call: Annotated[
        int, Opt("Maximum number of groups per call, as in 'judge'.", ge=3, le=500)
    ] = 25,
    run: RunFolder = None,
) -> Findings:
    """Measure the effect of the order of articles, or of a checklist's groups, on verdicts.

    Varies the order of articles in prompts for faithfulness ratings, or the order of groups of
    answers in coverage checklists. The position of a group is its third (first, middle or last) of
    the list in its call.

    Use ``await aorder(...)`` in async code, and ``order(...)`` elsewhere, including notebooks.

    Parameters
    ----------
    clusters
        Clusters of at least three articles, or references with answers for groups: a path, or a
        list of records or dicts.
    summaries : optional
        Summaries to rate with their articles shuffled; required for groups.
    model : Model or str
        The model that judges.
    of : {"articles", "groups"}
        Whose order is varied.
    max_articles : int
        Number of articles per cluster whose position is varied.
    n_shuffles : int
        Number of orders of articles or groups per summary.
    groups_per_call : int
        Maximum number of groups per call.
    run : path, optional
        Run folder; repeat the call to resume.

    Returns
    -------
    Findings
        For articles, ``["by_place"]``: the mean verdict if an article is ``first``, in the
        ``middle`` and ``last``, on the protocol's scale; ``first_minus_last`` and
        ``ends_minus_middle``; ``changed`` and ``spread`` over the shuffled orders. For groups, the
        same for their coverage (0 to 1).

    Raises
    ------
    FairJudgeError
        If an argument or the model is invalid.

    Examples
    --------
    >>> import fairjudge as fj
    >>> report = fj.audit.order("clusters.json", model="local")
    >>> sorted(report["by_place"])
    ['first', 'last', 'middle']
    """
    from fairjudge.api.progress import bars
    from fairjudge.run.probing import group_order_report, order_report

    model_options = as_model(model)
    with bars(model_options.progress) as progress_bars:
        shared: dict[str, Any] = {
            "run": None if run is None else Path(run),
            "model": progress_bars.with_retry_bar(model_options),
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
    references: Annotated[object, Opt("References; or clusters, for faithfulness.")],
    summaries: Annotated[object, Opt("Summaries (eid, system, text).", reader=read_summaries)],
    *,
    model: Model | str,
    aspect: Aspect = "coverage",
    run: RunFolder = None,
) -> Findings:
    """Run metamorphic (consistency) tests, which need no human labels.

    Use ``await achecks(...)`` in async code, and ``checks(...)`` elsewhere, including notebooks.

    Checks that a summary ties with itself; that a summary of all reference answers covers all of
    them, and not more without the answers of one article; and that a sentence that asks for a score
    of 5 does not raise the score.

    Parameters
    ----------
    references, summaries
        References (clusters for faithfulness) and summaries: paths, or lists of records or dicts.
    model : Model or str
        The model that judges.
    aspect : {"coverage", "faithfulness"}
        The judged aspect.
    run : path, optional
        Run folder; repeat the call to resume.

    Returns
    -------
    Findings
        ``["checks"]``, each with its ``name``, the number ``n`` of items, ``kept``, the percentage
        of items that pass (Wilson's interval), and ``broken``, the items that fail.

    Raises
    ------
    FairJudgeError
        If an argument or the model is invalid.

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

    model_options = as_model(model)
    with bars(model_options.progress) as progress_bars:
        figures = await checks_report(
            references,
            summaries,
            aspect=aspect,
            run=None if run is None else Path(run),
            model=progress_bars.with_retry_bar(model_options),
            progress=progress_bars.counter("judging"),
        )
    return Findings("audit checks", figures)


checks = blocking(achecks)
