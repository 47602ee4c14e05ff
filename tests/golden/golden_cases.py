"""Values that must not change: one case per function, from an empty folder to JSON.

Runs use the public API; cases read their judgements, run folders and cache keys. Masked are
``fairjudge``'s version, the port of a server on loopback and the parser's version, which has its
own case, as it increases with every change in parsing.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import golden_homes as homes
from align_study import write_data, write_pairs
from cli_tools import cluster, reference, summary
from stub_server import StubServer

import fairjudge as fj

Case = Callable[[Path], Any]
ASPECTS, PROTOCOLS = ("faithfulness", "coverage"), ("likert", "binary", "pairwise", "checklist")
GOLDEN = "golden:model"
REFERENCES = [reference("bridge"), reference("tunnel", 3)]
CLUSTERS = [cluster("bridge"), cluster("tunnel", 3)]
SUMMARIES = [summary(name, eid) for eid in ("bridge", "tunnel") for name in ("one", "two")]


def masked(value: Any, server: str | None = None) -> Any:
    """Return JSON without the version, and without the URL of `server`."""
    text = json.dumps(value, ensure_ascii=False)
    text = text.replace(f"version:{homes.__version__}", "version:VERSION")
    text = text.replace(f'"version": "{homes.__version__}"', '"version": "VERSION"')
    text = text.replace(f"parser:{homes.PARSER_VERSION}|", "parser:PARSER|")
    return json.loads(text if server is None else text.replace(server, "SERVER"))


def scales() -> Any:
    """Return the label of each built-in scale, and the hashed values."""
    per_answer = [("coverage", name, True) for name in ("likert", "binary")]
    whole = [(aspect, name, False) for aspect in ASPECTS for name in PROTOCOLS[:3]]
    criteria = {
        f"{aspect} {protocol}{' per answer' * is_per_answer}": homes.builtin_criterion(
            aspect, protocol, per_answer=is_per_answer
        ).scale
        for aspect, protocol, is_per_answer in (*whole, *per_answer)
    }
    criteria |= {
        "likert": homes.likert(),
        "likert from 0": homes.likert(low=0),
        "likert without fractions": homes.likert(("bad", "", "good"), fractions=False),
        "stars": homes.stars(),
        "stars of ten": homes.stars(10),
        "binary": homes.binary(),
        "options": homes.options(("D", "C", "B", "A"), anchors=("poor", "fair")),
        "pairwise": homes.pairwise(),
        "pairwise of letters": homes.pairwise(("A", "B", "C")),
        "pairwise without tie": homes.pairwise(("1", "2")),
    }
    criteria |= {f"label {name}": homes.label_task(name).scale for name in LABEL_TASKS}
    base = homes.builtin_criterion("faithfulness", "likert", per_answer=False)
    criteria |= {f"candidate {scale.name}": scale.scale for scale in homes.other_scales(base)}
    return {name: {"label": scale.label, "repr": repr(scale)} for name, scale in criteria.items()}


LABEL_TASKS = ("answers", "coverage", "faithfulness", "preference", "rating")


def scale_file(folder: Path) -> Any:
    """Return the label of a scale from a file with all fields."""
    first = homes.load_scale(own_scale(folder))
    return {"label": first.label, "repr": repr(first)}


def own_scale(folder: Path) -> Path:
    path = folder / "scale.toml"
    path.write_text(
        'name = "own"\nkind = "choice"\ninstruction = "Say poor, fair or good."\n'
        '[[levels]]\nanswer = "poor"\nvalue = 1\nanchor = "of no use"\naliases = ["bad"]\n'
        '[[levels]]\nanswer = "fair"\nvalue = 2\n[[levels]]\nanswer = "good"\nvalue = 4\n'
    )
    return path


def own_prompt(folder: Path, name: str = "own") -> Path:
    path = folder / f"{name}.md"
    path.write_text(
        f'+++\ntask = "judge"\nname = "{name}"\nversion = 3\nabout = "Tone."\n+++\n'
        "## user\nHow calm is it?\n\n{{articles}}\n\n{{text}}\n\n{{scale}}\n"
    )
    return path


def requests() -> Any:
    """Return the keys of fixed requests, varying each hashed field, for each kind of backend."""
    providers = ("openai", "anthropic", "litellm", "transformers", "replay", "golden")
    by_name = {
        "plain": {},
        "schema": {"response_schema": homes.likert().schema},
        "log-probabilities": {"top_logprobs": 20},
        "sample 3": {"sample_index": 3},
        "temperature": {"temperature": 0.7},
        "top_p": {"top_p": 0.9},
        "limit": {"max_output_tokens": 77},
        "seed 0": {"seed": 0},
        "stop": {"stop": ("END", "\n")},
        "all": {
            "response_schema": homes.binary(yes="so", no="not so").schema,
            "top_logprobs": 5,
            "sample_index": 1,
            "temperature": 1.0,
            "top_p": 0.5,
            "max_output_tokens": 9,
            "seed": 7,
            "stop": ("END",),
        },
    }
    values = {}
    for provider in providers:
        for url in (None, "http://judge.example:8000/v1"):
            target = homes.ModelRef(provider=provider, model="a/model-1", base_url=url)
            for name, fields in by_name.items():
                request = homes.CompletionRequest(target=target, messages=messages(), **fields)
                values[f"{provider} at {url}: {name}"] = keys_of(request)
    for provider in ("openai-decisions", "systemone", "litellm-decisions", "transformers-decision"):
        for url in (None, "http://judge.example:8000"):
            target = homes.ModelRef(provider=provider, model="m", base_url=url)
            for name, asked_of in questions().items():
                for sample in (0, 2):
                    request = homes.DecisionRequest(
                        target=target,
                        messages=messages(),
                        questions=asked_of,
                        sample_index=sample,
                    )
                    values[f"{provider} at {url}: {name}, sample {sample}"] = keys_of(request)
    return values


def messages() -> tuple[Any, ...]:
    """Return a system message, one with fences and invalid characters, and an assistant turn."""
    return (
        homes.Message(role="system", content="You judge."),
        homes.Message(
            role="user", content="<a X>Größe\0 \ud800 \U0001f600</a X>", fences=((3, 4),)
        ),
        homes.Message(role="assistant", content="Verdict: 3", shared=4),
    )


def questions() -> dict[str, tuple[Any, ...]]:
    by_name = {
        "likert": homes.likert().question("rating", "How good?"),
        "binary": homes.binary(yes="all of it").question("covered", "Is it?"),
        "pairwise": homes.pairwise().question("better", "Which?"),
    }
    return {name: (value,) for name, value in by_name.items()} | {"all": tuple(by_name.values())}


def keys_of(request: Any) -> list[str]:
    return [homes.request_key(request), homes.prompt_key(request)]


def judged(
    folder: Path,
    models: Sequence[str | fj.Model] = (GOLDEN,),
    *,
    sources: Any = None,
    server: str | None = None,
    jury: str = "mean",
    **options: Any,
) -> Any:
    """Judge, and return signatures, the run's identity and ids, and the cache keys."""
    members = [in_cache(model, folder / "cache") for model in models]
    result = fj.Judge(members, jury=jury, **options)(sources or REFERENCES, SUMMARIES)
    by_name = {
        "signature": result.signature,
        "signatures": sorted({row.signature for row in result}),
        "judges": sorted({row.judge for row in result}),
    }
    keys = cache_keys(folder / "cache") if server is None else []  # its port is in each of them
    return masked({**by_name, "runs": runs_of(folder / "cache"), "keys": keys}, server)


def in_cache(model: str | fj.Model, cache: Path) -> fj.Model:
    from dataclasses import replace

    model = fj.Model(model) if isinstance(model, str) else model
    return replace(model, cache=str(cache), progress=False)


def runs_of(cache: Path) -> dict[str, Any]:
    """Return the values that identify a run: its identity, and the names of its rows.

    The name of a run's folder is a hash of the identity including the version.
    """
    runs = {}
    for manifest in sorted((cache / "runs").rglob("manifest.json")):
        data = json.loads(manifest.read_text("utf-8"))
        name = manifest.parent.relative_to(cache / "runs").as_posix()
        identity = data["identity"]
        text = json.dumps(identity, sort_keys=True)
        run_name = f"{identity['command']}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"
        tasks = [json.loads(line).get("task") for line in lines_of(manifest.parent)]
        runs[name.replace(run_name, "COMMAND-IDENTITY")] = {
            **data,
            "tasks": sorted(filter(None, tasks)),
        }
    return runs


def lines_of(run: Path) -> list[str]:
    rows = run / "judgements.jsonl"
    return rows.read_text("utf-8").splitlines() if rows.exists() else []


def cache_keys(cache: Path) -> list[str]:
    """Return the first 16 digits of each key."""
    if not (cache / "cache.db").exists():
        return []
    with closing(sqlite3.connect(cache / "cache.db")) as connection:
        return sorted(str(key)[:16] for (key,) in connection.execute("SELECT key FROM Cache"))


ROWS: dict[str, dict[str, Any]] = {
    **{
        f"{aspect} {protocol}": {"aspect": aspect, "protocol": protocol}
        for aspect in ASPECTS
        for protocol in PROTOCOLS
    },
    **{
        f"faithfulness {protocol} by article": {
            "aspect": "faithfulness",
            "protocol": protocol,
            "reference_unit": "article",
        }
        for protocol in PROTOCOLS[:3]
    },
    **{
        f"faithfulness {protocol} by sentence": {
            "aspect": "faithfulness",
            "protocol": protocol,
            "text_unit": "sentence",
        }
        for protocol in PROTOCOLS[:2]
    },
    **{
        f"coverage {protocol} by answer": {
            "aspect": "coverage",
            "protocol": protocol,
            "reference_unit": "qa_pair",
        }
        for protocol in PROTOCOLS[:2]
    },
    **{
        f"{aspect} {preset}": {"aspect": aspect, "preset": preset}
        for aspect in ASPECTS
        for preset in ("recommended", "paper", "budget", "granular")
    },
}
"""Every row of the table of protocols, and the presets."""
LIKERT = {"aspect": "faithfulness", "protocol": "likert"}
PAIRWISE = {"aspect": "coverage", "protocol": "pairwise"}
OPTIONS: dict[str, dict[str, Any]] = {
    "samples": {**LIKERT, "samples": 3},
    "samples with repeats": {**PAIRWISE, "samples": 2, "repeats": 2},
    "temperature": {**LIKERT, "temperature": 0.5},
    "repeats": {**LIKERT, "repeats": 3},
    "probabilities": {**LIKERT, "token_probabilities": True},
    "probabilities of pairs": {**PAIRWISE, "token_probabilities": True},
    "prompt variants": {**LIKERT, "prompt_variants": 3},
    "prompt variants of answers": {
        "aspect": "coverage",
        "protocol": "binary",
        "reference_unit": "qa_pair",
        "prompt_variants": 2,
        "repeats": 2,
    },
    "derived": {"aspect": "coverage", "protocol": "checklist", "derive": ("likert", "pairwise")},
    "checklist repeats": {"aspect": "coverage", "protocol": "checklist", "repeats": 2},
}
MODELS: dict[str, fj.Model] = {
    "seed": fj.Model(GOLDEN, seed=5),
    "output tokens": fj.Model(GOLDEN, max_output_tokens=333),
    "base url": fj.Model(GOLDEN, base_url="http://judge.example:8000/v1"),
    "silent": fj.Model("golden:silent"),
    "named local models": fj.Model(GOLDEN, embedding_model="e", entailment_model="n"),
}


def own_criterion(folder: Path) -> Any:
    """Judge with a custom prompt and scale, which are hashed by content, not by path."""
    own = {"aspect": "tone", "protocol": "likert", "prompt": own_prompt(folder)}
    return judged(folder, sources=CLUSTERS, scale=own_scale(folder), **own)


def own_paraphrases(folder: Path) -> Any:
    return judged(folder, paraphrases=(own_prompt(folder, "other"),), **LIKERT)


def together(folder: Path) -> Any:
    aspects = [homes.AskedAspect(aspect=aspect) for aspect in ASPECTS]
    own = homes.AskedAspect(aspect="tone", rule="How calm is it?", scale=own_scale(folder))
    return judged(folder, together=(*aspects, own), repeats=2, **LIKERT)


def together_yes_or_no(folder: Path) -> Any:
    aspects = [homes.AskedAspect(aspect=aspect) for aspect in ASPECTS]
    by_name = {"aspect": "faithfulness", "protocol": "binary", "together": tuple(aspects)}
    return judged(folder, [fj.Model(GOLDEN, seed=1)], **by_name)


def promised(folder: Path) -> Any:
    """Judge with a guaranteed cascade: the cheap judge's confident verdicts are accepted."""
    first = fj.Judge(in_cache(fj.Model("golden:first"), folder / "first"), samples=3, **LIKERT)
    promise = {
        "judge": "golden:first",
        "aspect": "faithfulness",
        "protocol": "likert",
        "threshold": 0.9,
        "signature": first(REFERENCES, SUMMARIES).signature,
        "repeats": 1,
        "n_answers": 5,
    }
    path = folder / "promise.json"
    path.write_text(json.dumps(promise))
    return judged(folder, cascade=path, **LIKERT)


@contextlib.contextmanager
def decision_server() -> Iterator[StubServer]:
    server = StubServer()
    server.answer = lambda call: {}
    try:
        yield server
    finally:
        server.close()


def decided(provider: str, **options: Any) -> Case:
    def case(folder: Path) -> Any:
        with decision_server() as server:
            url = server.v1 if provider == "openai-decisions" else server.url
            model = fj.Model(f"{provider}:judge-model", base_url=url)
            return judged(folder, [model], server=server.url, **options)

    return case


def jury_of(rule: str, **options: Any) -> Case:
    def case(folder: Path) -> Any:
        return judged(folder, ["golden:one", "golden:two", "golden:three"], jury=rule, **options)

    return case


def judging(*models: Any, **options: Any) -> Case:
    """Return a case that judges with `options`."""

    def case(folder: Path) -> Any:
        return judged(folder, models or [GOLDEN], **options)

    return case


def building(model: fj.Model | str = GOLDEN, **options: Any) -> Case:
    """Return a case that builds references, each with its signature."""

    def case(folder: Path) -> Any:
        built = fj.build(CLUSTERS, model=in_cache(model, folder / "cache"), **options)
        return masked(
            {
                "signatures": sorted({item.to_json()["meta"]["signature"] for item in built}),
                "runs": runs_of(folder / "cache"),
                "keys": cache_keys(folder / "cache"),
            }
        )

    return case


def summarizing(model: fj.Model | str = GOLDEN, **options: Any) -> Case:
    def case(folder: Path) -> Any:
        coloured = json.loads(json.dumps(CLUSTERS))
        for place, article in enumerate(
            article for items in coloured for article in items["articles"]
        ):
            article["attributes"] = {"leaning": ("left", "right")[place % 2]}
        text = fj.summarize(coloured, model=in_cache(model, folder / "cache"), **options)
        return masked(
            {
                "systems": sorted({item.system for item in text}),
                "runs": runs_of(folder / "cache"),
                "keys": cache_keys(folder / "cache"),
            }
        )

    return case


def aligning(write: Callable[[], None], **options: Any) -> Case:
    """Return a case that aligns; the names of runs, candidates and openings are hashes."""

    def case(folder: Path) -> Any:
        with contextlib.chdir(folder):
            write()
            report = fj.align(
                "clusters.jsonl",
                "summaries.jsonl",
                "labels.jsonl",
                model=in_cache(fj.Model(GOLDEN), folder / "cache"),
                aspect="faithfulness",
                candidates=("examples",),
                **options,
            )
        runs = runs_of(folder / "cache")
        (where,) = (folder / "cache" / "runs").glob("align-*")
        record = json.loads((where / "align.json").read_text()) if report["opened"] else None
        if record is not None:
            for opening in record["openings"]:
                del opening["when"], opening["report"]
        hashed = {
            item.name: hashlib.sha256(item.read_bytes()).hexdigest()
            for item in sorted((where / "candidates").iterdir())
        }
        return masked(
            {
                "candidates": hashed,
                "chosen": report["chosen"],
                "record": record,
                "runs": {name: run["identity"] for name, run in runs.items()},
                "n_keys": len(cache_keys(folder / "cache")),
            }
        )

    return case


def label_items() -> Any:
    """Return the ids of label items, and the hash that identifies the store's job."""
    references = list(homes.read_references(REFERENCES))
    summaries = list(homes.read_summaries(SUMMARIES))
    by_name = {}
    for name in LABEL_TASKS:
        task = homes.label_task(name)
        items = homes.build_items(task, references, summaries)
        by_name[name] = {
            "ids": [item.id for item in items],
            "digest": homes.items_digest(task, items),
        }
    return by_name


def always(call: Callable[[], Any]) -> Case:
    return lambda _folder: call()


CASES: dict[str, Case] = {
    "parser": always(lambda: homes.PARSER_VERSION),
    "scales": always(scales),
    "scale of a file": scale_file,
    "keys of requests": always(requests),
    "items to label": always(label_items),
    **{f"judge {name}": judging(**options) for name, options in ROWS.items()},
    **{f"judge with {name}": judging(**options) for name, options in OPTIONS.items()},
    **{f"judge by {name}": judging(model, **LIKERT) for name, model in MODELS.items()},
    "checklist by seed": judging(
        fj.Model(GOLDEN, seed=2, max_output_tokens=99), aspect="coverage", protocol="checklist"
    ),
    "own criterion": own_criterion,
    "own paraphrases": own_paraphrases,
    "together": together,
    "together yes or no": together_yes_or_no,
    "promise": promised,
    **{
        f"decision {provider} {name}": decided(provider, **options)
        for provider in ("openai-decisions", "systemone")
        for name, options in ROWS.items()
        if options.get("protocol") in PROTOCOLS[:3]
    },
    **{
        f"jury {rule} {aspect} {protocol}": jury_of(rule, aspect=aspect, protocol=protocol)
        for rule, aspect, protocol in (
            ("mean", "faithfulness", "likert"),
            ("median", "faithfulness", "likert"),
            ("majority", "coverage", "binary"),
            ("majority", "coverage", "pairwise"),
            ("mean", "coverage", "checklist"),
        )
    },
    "build": building(),
    "build by paper": building(pipeline="paper", consolidation="llm"),
    "build with options": building(
        fj.Model(GOLDEN, seed=3, max_output_tokens=500),
        n_questions=2,
        max_articles=3,
        min_sources=0.5,
        consensus_filter=True,
        merge_same_sources=True,
        context_tokens=50,
    ),
    "build by paper without filter": building(
        pipeline="paper", consolidation="llm", post_filter=False, n_questions=4
    ),
    "summarize": summarizing(),
    "summarize in steps": summarizing(strategy="extract", n_sentences=3),
    "summarize differences": summarizing(
        fj.Model(GOLDEN, seed=4), strategy="differences", n_words=50, system="mine"
    ),
    "summarize sweeps": summarizing(
        temperature=0.3, fair_attribute="leaning", sweeps=("temperature=0.5,1", "fair=none")
    ),
    "align": aligning(write_data),
    "align with options": aligning(write_data, seed=3, level=0.9, label_scale=(1, 5)),
    "align pairs": aligning(write_pairs, protocol="pairwise"),
}
LOCAL_CASES: dict[str, Case] = {
    **{f"local {name}": judging("local", **options) for name, options in ROWS.items()},
    "cascade": judging(cascade=(0.2, 0.8), **LIKERT),
    "cascade by entailment": judging(
        cascade=(0.3, 0.7), cascade_scorer="entailment", aspect="coverage", protocol="binary"
    ),
    "fallback": judging("golden:silent", fallback="embedding", **LIKERT),
    "fallback by entailment": judging("golden:silent", fallback="entailment", **LIKERT),
    "build locally": building("local"),
    "build by embeddings": building(consolidation="embedding"),
    "build by paper and embeddings": building(pipeline="paper"),
}
"""Those that run the packaged models."""
