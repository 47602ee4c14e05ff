"""Improving a judge's prompt from people's labels, and knowing that it did."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from fairjudge.api.blocking import blocking
from fairjudge.api.findings import Findings
from fairjudge.options.checking import as_names, checks_arguments
from fairjudge.options.declaring import Annotators, LabelScale, Level, Opt
from fairjudge.options.models import Model, as_model

if TYPE_CHECKING:
    from fairjudge.judges.asking import ReferenceUnit


@checks_arguments
async def aalign(
    references: object,
    summaries: object,
    labels: object,
    *,
    model: Model | str,
    aspect: str,
    protocol: Literal["likert", "binary", "pairwise"] = "likert",
    folder: Annotated[
        str | Path | None,
        Opt(
            "Folder of candidates, runs and align.json; by default one under the cache folder, "
            "found again by the same labels.",
            short="-o",
        ),
    ] = None,
    candidates: Annotated[
        Sequence[str] | None,
        Opt(
            "Which candidates to try: anchors that the model rewords, examples from people, "
            "other scales; by default all that fit (a pair has no other scale). Repeatable.",
            flag="--try",
            metavar="[anchors|examples|scale]",
        ),
    ] = None,
    rewordings: Annotated[int, Opt("How many sets of anchors the model writes.", ge=1, le=10)] = 2,
    annotators: Annotators = "*",
    label_scale: LabelScale = None,
    attributes: Annotated[
        Sequence[str],
        Opt(
            "Also audit by this attribute of the articles, as 'fairjudge fairness' reads it: "
            "a document has the value of more than half of its articles. Repeatable.",
            flag="--attribute",
            metavar="<name>",
        ),
    ] = (),
    level: Level = 0.95,
    seed: Annotated[
        int, Opt("Seed of the split into examples, development and test.", flag="--split-seed")
    ] = 0,
    reopen: Annotated[
        bool, Opt("Open a test that was opened before for other candidates; it is counted.")
    ] = False,
    prompt: str | Path | None = None,
    scale: str | Path | None = None,
    reference_unit: ReferenceUnit | None = None,
    temperature: float | None = None,
) -> Findings:
    """Try other prompts for a judge, and keep one only where a sealed test says that it is better.

    ``await aalign(...)`` in code that awaits; ``align(...)`` in other code, notebooks too.

    Documents are split into examples, development and a test. Candidates are made from the first,
    compared on the second, and the best is tested on the third, once: it is kept where it agrees
    with people better than the old prompt and, both calibrated, errs less. Pairs are judged in both
    orders, and both figures are of people's preferences.

    Parameters
    ----------
    references, summaries
        As `Judge` takes them.
    labels
        People's labels of whole summaries on `aspect`, for ``protocol="pairwise"`` of pairs: a path
        or a list; a ``note`` beside a label is what its annotator wrote. Where no pair is labelled,
        ratings of both summaries by one annotator tell which is preferred.
    model : Model or str
        Who judges, and writes anchors.
    candidates
        Which kinds to try: ``"anchors"``, ``"examples"``, ``"scale"``; by default all that fit the
        protocol (a pair has no other scale).
    rewordings : int
        How many sets of anchors are written, 1 to 10.
    folder : path, optional
        Where candidates, runs and the record of openings are kept; by default one under the cache,
        named by the labelled items.
    reopen : bool
        Open a test that was opened before for other candidates; it is counted.
    annotators, label_scale
        Whose labels count (patterns), and the labels' lowest and highest value.
    attributes
        Attributes of the articles by which the audits group documents, as `fairness` reads them.
    level : float
        Confidence of the intervals, over documents.
    seed : int
        Of the split and the intervals.
    prompt, scale : path, optional
        The old prompt and scale, where they are your own.
    reference_unit, temperature
        As `Judge` takes them.

    Returns
    -------
    Findings
        ``["kept"]``, ``["decision"]`` with both intervals, ``["candidates"]``, ``["audits"]`` of
        old and new, ``["n_opened"]``, and ``["criterion"]``, the file for ``fairjudge judge
        --criterion``.

    Raises
    ------
    FairJudgeError
        If an argument cannot be used, labelled documents are too few, the test was opened before,
        or replies are missing.

    Examples
    --------
    >>> import fairjudge as fj
    >>> report = fj.align(
    ...     "references.jsonl",
    ...     "summaries.jsonl",
    ...     "labels.jsonl",
    ...     model=fj.Model("openai:gpt-4o-mini", max_cost=5),
    ...     aspect="coverage",
    ... )  # doctest: +SKIP
    >>> report["kept"], report["criterion"]  # doctest: +SKIP
    >>> of = {"eid": "e", "system": "s"}
    >>> few = [of | {"aspect": "faithfulness", "annotator": "a", "value": 3}]
    >>> events = [{"eid": "e", "articles": [{"aid": "a", "content": "It rained."}]}]
    >>> texts = [of | {"text": "Rain."}]
    >>> fj.align(events, texts, few, model="openai:gpt-4o-mini", aspect="faithfulness")
    Traceback (most recent call last):
        ...
    fairjudge.errors.InputError: 1 labelled document: align needs 25 or more, ...
    """
    from fairjudge.aligning.items import LabelReading
    from fairjudge.aligning.material import AlignOptions, kinds_tried, prepare, read_sources
    from fairjudge.aligning.running import align_loaded
    from fairjudge.api.progress import bars
    from fairjudge.datasets import read_labels, read_summaries
    from fairjudge.options.checking import make_options
    from fairjudge.options.judging import JudgeOptions

    chosen_model = as_model(model)
    asked_of = {
        "aspect": aspect,
        "protocol": protocol,
        "prompt": prompt,
        "scale": scale,
        "reference_unit": reference_unit,
        "temperature": temperature,
    }
    judging = make_options(JudgeOptions, asked_of, "align")
    arguments = {
        "judging": judging,
        "kinds": kinds_tried(candidates, judging),
        "attributes": tuple(attributes),
        "rewordings": rewordings,
        "reading": LabelReading(annotators=as_names(annotators), scale=label_scale),
        "seed": seed,
        "level": level,
        "reopen": reopen,
    }
    options = make_options(AlignOptions, arguments, "align")
    material = prepare(
        read_sources(references, judging),
        (read_summaries(summaries),),
        read_labels(labels),
        options=options,
    )
    with bars(chosen_model.progress) as progress_bars:
        outcome = await align_loaded(
            material,
            options=options,
            model=progress_bars.with_retry_bar(chosen_model),
            folder=None if folder is None else Path(folder),
            progress=progress_bars.counter,
        )
    return Findings("align", outcome.report)


align = blocking(aalign)
