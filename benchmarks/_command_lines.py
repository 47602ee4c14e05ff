"""The command lines of `compare_commands`, each with a name, in the order in which they run."""

from __future__ import annotations

from collections.abc import Iterator

BY = "--aspect faithfulness --protocol"
LABELLED = "--labels labels.jsonl"
FEW = "--references few_references.jsonl --summaries few_summaries.jsonl"
FEW_CLUSTERS = "--references few.jsonl --summaries few_summaries.jsonl"
FAST = "--resamples 200"
FAIR = "clusters.jsonl --summaries summaries.jsonl --attribute leaning"


def _lines() -> Iterator[tuple[str, str]]:
    """Yield names and commands; ``{name}`` in a command stands for its name."""
    yield from _reading()
    yield from _judging()
    yield from _judging_by_options()
    yield from _judging_by_models()
    yield from _writing()
    yield from _measuring()
    yield from _auditing()
    yield from _fairness()
    yield from _others()


def _judge(name: str, options: str, inputs: str = FEW, model: str = "{llm}") -> tuple[str, str]:
    line = f"judge {inputs} {options} {model} -o {{name}}.jsonl --json {{name}}.json -q"
    return f"judge-{name}", line + " --max-unscored 1"


def _reading() -> Iterator[tuple[str, str]]:
    yield "version", "--version"
    yield "backends", "backends list"
    yield "backends-json", "backends list --json -"
    yield "prompts", "prompts list"
    for name in (
        "coverage-single.v3",
        "faithfulness-pairwise",
        "coverage-checklist",
        "together",
        "repair",
    ):
        yield f"prompt-{name}", f"prompts show judge/{name}"
    for name in ("build", "summarize", "judge", "calibrate", "audit", "fairness", "bias", "study"):
        yield f"no-option-{name}", f"{name} --no-such-option"
    yield "no-command", "judgee"
    for kind in ("jsonl", "csv"):
        scale = "--protocol likert --scale 1-5" + " --map eid=event" * (kind == "csv")
        yield (
            f"import-{kind}",
            f"data import replies.{kind} -o {{name}}.jsonl {scale} --json {{name}}.json",
        )
    yield (
        "import-last",
        "data import replies.jsonl -o - --protocol likert --scale 1-5 --repeats last",
    )
    yield (
        "import-scale-file",
        "data import words.jsonl -o - --protocol likert --scale own.scale.toml",
    )
    yield "import-judge", "data import replies.jsonl -o - --protocol likert --scale 1-5 --judge me"
    yield (
        "import-stars",
        "data import stars.jsonl -o - --protocol likert --stars --json {name}.json",
    )
    yield "import-words", "data import words.jsonl -o - --protocol likert --options poor,fair,good"
    yield "import-yes", "data import yes_replies.jsonl -o - --protocol binary"
    yield (
        "import-pairs",
        "data import pair_replies.jsonl -o {name}.jsonl --protocol pairwise --json {name}.json",
    )
    yield "import-nothing", "data import labels.jsonl -o -"
    for to in ("csv", "inspect-scores", "otel", "parquet"):
        for rows in ("rated_good", "pairs_good"):
            yield f"export-{to}-{rows}", f"data export {rows}.jsonl -o {{name}}.out --to {to}"
    yield (
        "export-label-studio",
        "data export rated_good.jsonl -o {name}.json --to label-studio --summaries summaries.jsonl",
    )
    yield (
        "export-one-system",
        "data export rated_both.jsonl -o - --to csv --system ada --judge openai:good",
    )
    yield (
        "export-one-inspect",
        "data export rated_good.jsonl -o {name}.jsonl --to inspect-scores --system ada",
    )


def _judging() -> Iterator[tuple[str, str]]:
    for protocol in ("likert", "binary", "pairwise", "checklist"):
        yield _judge(f"coverage-{protocol}", f"--aspect coverage --protocol {protocol}")
    for protocol in ("likert", "binary", "pairwise"):
        yield _judge(f"faithfulness-{protocol}", f"{BY} {protocol}")
        yield _judge(
            f"by-article-{protocol}", f"{BY} {protocol} --reference-unit article", FEW_CLUSTERS
        )
        yield _judge(f"repeats-{protocol}", f"{BY} {protocol} --repeats 2")
        yield _judge(f"samples-{protocol}", f"{BY} {protocol} --samples 3")
        yield _judge(f"variants-{protocol}", f"{BY} {protocol} --prompt-variants 3")
        yield _judge(f"expected-{protocol}", f"{BY} {protocol} --expected")
    for protocol in ("likert", "binary"):
        yield _judge(f"by-sentence-{protocol}", f"{BY} {protocol} --text-unit sentence")
        options = f"--aspect coverage --protocol {protocol} --reference-unit qa_pair"
        yield _judge(f"by-answer-{protocol}", options)
        options = f"--aspect faithfulness --aspect coverage --together --protocol {protocol}"
        yield _judge(f"together-{protocol}", options)
    for aspect in ("coverage", "faithfulness"):
        for preset in ("recommended", "paper", "budget", "granular"):
            yield _judge(f"{aspect}-{preset}", f"--aspect {aspect} --preset {preset}")


def _judging_by_options() -> Iterator[tuple[str, str]]:
    yield _judge(
        "derived", "--aspect coverage --protocol checklist --derive likert --derive pairwise"
    )
    yield _judge("own-criterion", "--criterion own.toml --protocol likert", FEW_CLUSTERS)
    yield _judge("own-together", f"--criterion own.toml {BY} likert --together")
    yield _judge("own-paraphrase", f"{BY} likert --paraphrase own.md")
    yield _judge("seed", f"{BY} likert --seed 3 --max-output-tokens 99 --temperature 0.5")
    yield _judge("priced", f"{BY} likert --prices prices.toml --max-cost 9")
    yield _judge("over-budget", f"{BY} likert --max-calls 3 --concurrency 1 --cache over")
    yield _judge("anthropic", f"{BY} likert", model="{claude}")


def _judging_by_models() -> Iterator[tuple[str, str]]:
    for provider in ("decisions", "systemone"):
        for protocol in ("likert", "binary", "pairwise"):
            yield _judge(f"{provider}-{protocol}", f"{BY} {protocol}", model=f"{{{provider}}}")
        yield _judge(
            f"{provider}-coverage", "--aspect coverage --protocol likert", model=f"{{{provider}}}"
        )
    for rule in ("mean", "median", "majority"):
        protocol = "pairwise" if rule == "majority" else "likert"
        jury = "{llm} --backend openai:other-model --jury " + rule
        yield _judge(f"jury-{rule}", f"{BY} {protocol}", model=jury)
    yield _judge(
        "jury-checklist", "--aspect coverage --protocol checklist", model="{llm} --backend openai:b"
    )
    yield _judge("silent", f"{BY} likert", model="{silent}")
    yield _judge("silent-fallback", f"{BY} likert --fallback embedding", model="{silent}")
    for protocol in ("likert", "binary", "pairwise", "checklist"):
        yield _judge(
            f"local-coverage-{protocol}", f"--aspect coverage --protocol {protocol}", model=""
        )
    for protocol in ("likert", "binary", "pairwise"):
        yield _judge(f"local-faithfulness-{protocol}", f"{BY} {protocol}", model="")
    yield _judge("own-local", "--criterion own.toml --protocol likert", FEW_CLUSTERS, model="")
    yield _judge("checklist-faithfulness", f"{BY} checklist")
    yield _judge("pairs-by-sentence", f"{BY} pairwise --text-unit sentence")
    yield "judge-again", _judge("again", f"{BY} likert")[1]
    yield "judge-csv", f"judge {FEW} {BY} likert {{llm}} -o x.csv"


def _writing() -> Iterator[tuple[str, str]]:
    build = "build few.jsonl -o {name}.jsonl --json {name}.json -q --max-unscored 1"
    yield "build-llm", f"{build} {{llm}}"
    yield "build-paper", f"{build} {{llm}} --pipeline paper --consolidation llm"
    yield "build-filters", f"{build} {{llm}} --consensus-filter --merge-same-sources --questions 3"
    yield "build-context", f"{build} {{llm}} --context-tokens 50 --max-articles 3 --min-sources 0.5"
    yield (
        "build-no-filter",
        f"{build} {{llm}} --pipeline paper --consolidation llm --no-post-filter",
    )
    yield "build-embedding", f"{build} {{llm}} --consolidation embedding"
    yield "build-local", build
    write = "summarize few.jsonl -o {name}.jsonl --json {name}.json -q {llm}"
    for strategy in ("direct", "extract", "differences"):
        yield f"summarize-{strategy}", f"{write} --strategy {strategy}"
    yield (
        "summarize-sweep",
        f"{write} --sweep temperature=0.5,1 --sweep sentences=2 --sweep fair=leaning",
    )
    yield "summarize-fair", f"{write} --fair leaning --words 50 --system mine"
    yield "split-local", "fairness split few_summaries.jsonl -o {name}.jsonl"
    yield "split-llm", "fairness split few_summaries.jsonl -o {name}.jsonl {llm}"
    for name, options in {
        "build": "few.jsonl",
        "likert": f"{FEW} {BY} likert",
        "pairwise": f"{FEW} {BY} pairwise",
        "checklist": f"{FEW} --aspect coverage --protocol checklist",
        "samples": f"{FEW} {BY} likert --samples 3 --repeats 2 --prompt-variants 2",
        "together": f"{FEW} {BY} likert --aspect coverage --together",
        "priced": f"{FEW} {BY} likert --prices prices.toml",
        "batch": f"{FEW} {BY} likert --batch {{name}}.calls.jsonl",
    }.items():
        yield (
            f"plan-{name}",
            f"batch plan {options} --backend openai:gpt-4o-mini --json {{name}}.json",
        )
    for task in ("answers", "coverage", "faithfulness", "preference", "rating"):
        line = f"annotate few_references.jsonl --task {task} --summaries few_summaries.jsonl"
        yield f"annotate-{task}", f"{line} -o {{name}}.jsonl --dry-run"
    yield (
        "annotate-active",
        "annotate clusters.jsonl --task rating --aspect faithfulness --summaries summaries.jsonl"
        " -o {name}.jsonl --active rated_good.jsonl --budget 12 --dry-run",
    )


def _measuring() -> Iterator[tuple[str, str]]:
    out = "--json {name}.json"
    for judge in ("good", "poor", "local"):
        for rows, labels in (("rated", "labels"), ("yes", "labels_yes"), ("pairs", "labels_pairs")):
            line = f"calibrate {rows}_{judge}.jsonl --labels {labels}.jsonl {FAST} {out}"
            yield f"calibrate-{rows}-{judge}", line
    for method in ("isotonic", "logistic", "linear", "ordinal"):
        line = f"calibrate rated_good.jsonl {LABELLED} --method {method} --save {{name}}.cal.json"
        yield f"calibrate-{method}", f"{line} {FAST} {out}"
        apply = f"calibrate apply calibrate-{method}.cal.json rated_good.jsonl -o {{name}}.jsonl"
        yield f"apply-{method}", apply
    more = {
        "experts": "--annotators expert*",
        "scale": "--label-scale 1-5",
        "summaries": "--summaries summaries.jsonl",
        "clusters": "--summaries summaries.jsonl --clusters clusters.jsonl",
        "family": "--family vowels=a* --family others=*",
        "unmatched": "--list-unmatched --disagreements 3",
        "margin": "--margin 0.1 --seed 7",
        "page": "--html {name}.html",
    }
    for name, options in more.items():
        yield f"calibrate-{name}", f"calibrate rated_both.jsonl {LABELLED} {FAST} {options} {out}"
    line = f"calibrate rated_both.jsonl {LABELLED} {FAST}"
    yield "calibrate-markdown", f"--tables markdown {line}"
    yield "calibrate-lost", f"calibrate lost_good.jsonl {LABELLED} {FAST} {out}"
    yield "calibrate-csv", f"calibrate rated_good.jsonl --labels labels.csv {FAST} {out}"
    yield "calibrate-repeats", f"calibrate again_good.jsonl {LABELLED} {FAST} {out}"
    yield "calibrate-off-scale", f"calibrate rated_good.jsonl {LABELLED} --label-scale 1-3 {out}"
    yield "rank", "rank pairs_good.jsonl --json {name}.json"
    yield "rank-level", "rank pairs_poor.jsonl --level 0.8 --seed 3 --json {name}.json"
    yield "rank-of-ratings", "rank rated_good.jsonl"
    for rows, labels in (("rated", "labels"), ("yes", "labels_yes"), ("pairs", "labels_pairs")):
        for new, old in (("good", "poor"), ("poor", "good"), ("good", "good")):
            line = f"check {rows}_{new}.jsonl --baseline {rows}_{old}.jsonl --labels {labels}.jsonl"
            yield (
                f"check-{rows}-{new}-{old}",
                f"{line} --json {{name}}.json --save {{name}}.base.jsonl",
            )
        line = f"compare {rows}_good.jsonl {rows}_poor.jsonl --json {{name}}.json"
        yield f"compare-{rows}", f"{line} --html {{name}}.html"
    yield (
        "check-strict",
        f"check rated_poor.jsonl --baseline rated_good.jsonl {LABELLED} --strict --level 0.9",
    )
    yield "compare-level", "compare rated_good.jsonl lost_poor.jsonl --level 0.8 --json {name}.json"
    yield "compare-nothing", "compare rated_good.jsonl pairs_good.jsonl"
    line = f"calibrate cascade --local rated_poor.jsonl --judged rated_good.jsonl {LABELLED}"
    yield "cascade", f"{line} -o {{name}}.kept.json --json {{name}}.json"
    yield (
        "cascade-tolerant",
        f"{line} --tolerance 0.3 --agreement-tolerance 0.3 -o {{name}}.kept.json",
    )
    for rows, labels in (("rated", "labels"), ("yes", "labels_yes"), ("pairs", "labels_pairs")):
        line = (
            f"calibrate cascade --local {rows}_good.jsonl --labels {labels}.jsonl --guarantee 0.6"
        )
        out_too = "-o {name}.kept.json --json {name}.json --ask {name}.ask.jsonl"
        yield f"guarantee-{rows}", f"{line} {out_too}"
    yield (
        "guarantee-within",
        f"calibrate cascade --local rated_good.jsonl {LABELLED} --guarantee 0.8 --within 1 -o -",
    )
    for name in ("cascade", "cascade-tolerant", "guarantee-rated"):
        yield _judge(f"by-{name}", f"{BY} likert --cascade {name}.kept.json")
    inputs = "--references clusters.jsonl --summaries summaries.jsonl --labels labels.jsonl"
    align = f"calibrate align {inputs} --aspect faithfulness {{llm}} -o {{name}}"
    yield "align-plan", f"{align} --plan --json {{name}}.json"
    yield "align", f"{align} --json {{name}}.json -q"
    for kind in ("examples", "anchors", "scale"):
        yield f"align-{kind}", f"{align} --try {kind} -q --attribute leaning --json {{name}}.json"


def _auditing() -> Iterator[tuple[str, str]]:
    for judge in ("good", "poor", "local"):
        out = "--json {name}.json"
        yield f"position-{judge}", f"audit position pairs_{judge}.jsonl {out}"
        yield f"position-labels-{judge}", f"audit position pairs_{judge}.jsonl {LABELLED} {out}"
        yield f"stability-{judge}", f"audit stability again_{judge}.jsonl {out}"
        yield (
            f"length-{judge}",
            f"audit length pairs_{judge}.jsonl --summaries summaries.jsonl {out}",
        )
        yield f"parse-{judge}", f"audit parse lost_{judge}.jsonl --max-unscored 1 {out}"
    yield "parse-too-many", "audit parse lost_good.jsonl"
    yield (
        "stability-level",
        "audit stability again_good.jsonl --level 0.8 --seed 2 --json {name}.json",
    )
    yield (
        "length-matched",
        "audit length pairs_good.jsonl --summaries summaries.jsonl --matched-within 1",
    )
    yield (
        "position-close",
        f"audit position pairs_good.jsonl {LABELLED} --close-within 1.5 --json {{name}}.json",
    )
    for rows in ("coverage-checklist", "by-answer-binary", "by-article-likert"):
        line = f"audit covered judge-{rows}.jsonl --references few_references.jsonl"
        yield f"covered-{rows}", f"{line} --json {{name}}.json"
    options = f"{FEW} {{llm}} --json {{name}}.json -q"
    for aspect in ("coverage", "faithfulness"):
        yield f"position-asked-{aspect}", f"audit position {options} --aspect {aspect}"
        yield f"verbosity-{aspect}", f"audit verbosity {options} --aspect {aspect}"
        yield f"checks-{aspect}", f"audit checks {options} --aspect {aspect}"
    yield "order", f"audit order {FEW_CLUSTERS} {{llm}} --json {{name}}.json -q"
    yield (
        "order-shuffles",
        f"audit order {FEW_CLUSTERS} {{llm}} --shuffles 2 --max-articles 2 --json {{name}}.json -q",
    )


def _fairness() -> Iterator[tuple[str, str]]:
    out = "--json {name}.json -q"
    few = "few.jsonl --summaries few_summaries.jsonl --attribute leaning"
    judged = "few.jsonl --summaries few_summaries.jsonl --attribute leaning"
    yield "fair-coverage", f"fairness coverage {FAIR} {out} --save-supports {{name}}.matrix.jsonl"
    matrix = f"{FAIR} --scorer matrix:fair-coverage.matrix.jsonl"
    yield "fair-matrix", f"fairness coverage {matrix} {out}"
    yield "fair-released", f"fairness coverage {matrix} --variant released {out}"
    yield "fair-permutations", f"fairness coverage {matrix} --permutations 200 --seed 3 {out}"
    yield "fair-error", f"fairness coverage {matrix} --error-rate 0.1 {out}"
    yield "fair-chunks", f"fairness coverage {few} --max-words 0 {out}"
    yield "fair-units", f"fairness coverage {few} --units split-local.jsonl {out}"
    yield (
        "fair-judged",
        f"fairness coverage {judged} --scorer judgements:judge-by-article-likert.jsonl {out}",
    )
    yield "fair-age", f"fairness coverage {FAIR.replace('leaning', 'age')} --bins 35 {out}"
    yield "fair-nothing", f"fairness coverage {FAIR.replace('leaning', 'colour')} {out}"
    yield "fair-proportional", f"fairness proportional {FAIR} {out}"
    for target in ("ratio", "equal"):
        yield f"fair-{target}", f"fairness proportional {FAIR} --target {target} --tau 0.9 {out}"
    yield "fair-proportional-error", f"fairness proportional {FAIR} --error-rate 0.1 {out}"
    yield (
        "fair-proportional-age",
        f"fairness proportional {FAIR.replace('leaning', 'age')} --bins 35 {out}",
    )
    inputs = "fair-coverage.json fair-proportional.json --baseline ada"
    yield "fair-compare", f"fairness compare {inputs} {FAST} --json {{name}}.json"
    yield (
        "fair-compare-one",
        f"fairness compare fair-proportional.json --baseline bob {FAST} --json {{name}}.json",
    )
    yield "fair-compare-nobody", "fairness compare fair-coverage.json --baseline eve"
    for measure in ("r_ec", "equal_coverage", "coverage_parity"):
        line = f"fairness overall fair-coverage.json fair-released.json --measure {measure}"
        yield f"fair-overall-{measure}", f"{line} --json {{name}}.json"
    yield (
        "fair-agreement",
        "fairness agreement fair-coverage.json fair-released.json --json {name}.json",
    )
    yield (
        "fair-chunk-size",
        (
            "fairness chunk-size few.jsonl --summaries few_summaries.jsonl "
            "--scorer embedding --sizes 0,50 " + out
        ),
    )
    yield (
        "fair-oracle",
        f"fairness oracle clusters.jsonl --attribute leaning --documents 2 {out} -o {{name}}.jsonl",
    )
    yield (
        "fair-oracle-embedding",
        (f"fairness oracle few.jsonl --attribute leaning --documents 2 --scorer embedding {out}"),
    )
    words = "bias words clusters.jsonl --summaries summaries.jsonl --json {name}.json"
    yield "bias-words", f"{words} {FAST}"
    yield "bias-uniform", f"{words} {FAST} --reference uniform --lists lists.json"
    yield "bias-controls", f"{words} {FAST} --controls --seed 2"
    yield "bias-inputs", "bias inputs clusters.jsonl --json {name}.json --top 3"
    yield "bias-inputs-lists", "bias inputs clusters.jsonl --lists lists.json --json {name}.json"
    for design in ("local", "global"):
        line = f"bias inputs documents.jsonl -o {{name}}.jsonl --design {design} --names names.json"
        yield f"bias-made-{design}", f"{line} --variants 4 --json {{name}}.json"


def _others() -> Iterator[tuple[str, str]]:
    yield "report", "report rated_good.jsonl -o {name}.html"
    yield "report-labels", f"report rated_both.jsonl {LABELLED} -o {{name}}.html --title Mine"
    yield "report-pairs", "report pairs_good.jsonl --summaries summaries.jsonl -o {name}.html"
    yield (
        "report-covered",
        (
            "report judge-coverage-checklist.jsonl --references few_references.jsonl "
            "--summaries few_summaries.jsonl -o {name}.html"
        ),
    )
    yield (
        "report-jsons",
        (
            "report rated_good.jsonl fair-coverage.json fair-proportional.json position-good.json "
            "calibrate-rated-good.json rank.json bias-words.json -o {name}.html"
        ),
    )
    yield "study-plan", "study study.toml --plan -o {name} --json {name}.json"
    yield "study", "study study.toml -o {name} --json {name}.json -q"
    yield "study-again", "study study.toml -o study --json {name}.json -q"
    yield "study-init", "study init few.jsonl few_summaries.jsonl labels.jsonl -o {name}.toml"
    yield "cache-stats", "cache stats --json {name}.json"
    yield "cache-verify", "cache verify --json {name}.json"


LINES: tuple[tuple[str, str], ...] = tuple(_lines())
"""Every command line by its name, in the order in which they run."""
