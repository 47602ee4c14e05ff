"""The experiments of news bias: quality by group, sizes, originals, and plain documents marked."""

import json

import numpy as np
import pytest
from invoking import invoke
from scipy.stats import ttest_1samp

import fairjudge as fj
from fairjudge.bias.annotated import Range
from fairjudge.bias.controlled import ControlledProvenance
from fairjudge.bias.coreference import coreference_chains
from fairjudge.bias.group_quality import input_group, quality_by_group
from fairjudge.bias.reporting import Source
from fairjudge.errors import InputError


def source(original, group=None, design=None):
    controlled = None if group is design is None else ControlledProvenance(
        original=original, group=group, design=design
    )  # fmt: skip
    return Source(eid="e", text="t", original=original, variant=0, controlled=controlled)


def test_inputs_are_compared_by_how_they_were_made():
    assert input_group(source("a")) == "original"
    assert input_group(source("a", design="local")) == "local"
    assert input_group(source("a", group="female", design="global")) == "female"


def test_quality_is_averaged_within_originals_and_compared_in_pairs():
    rng = np.random.default_rng(2)
    gaps = rng.normal(0.5, 0.3, 8)
    scores = []
    for original, gap in enumerate(gaps):
        base = float(rng.normal(3, 1))
        scores += [(source(str(original)), base)]
        # two variants of women around the mean: the mean counts once
        women = (base + gap - 0.2, base + gap + 0.2)
        scores += [(source(str(original), "female", "global"), x) for x in women]
        scores += [(source(str(original), "male", "global"), base)]
    scores.append((source("lonely", "male", "global"), 5.0))
    result = quality_by_group(scores)
    assert list(result.by_group) == ["original", "female", "male"]
    assert [item.n for item in result.by_group.values()] == [8, 8, 9]
    pairs = {(difference.group, difference.other): difference for difference in result.differences}
    women = pairs["female", "original"]
    theirs = ttest_1samp(gaps, 0.0)
    assert women.difference.value == pytest.approx(gaps.mean())
    assert women.difference.p_value == pytest.approx(theirs.pvalue)
    low, high = theirs.confidence_interval()
    assert (women.difference.low, women.difference.high) == pytest.approx((low, high))
    assert women.p_holm >= women.difference.p_value
    assert pairs["male", "original"].difference.value == pytest.approx(0.0)


def test_difference_intervals_have_nominal_coverage():
    rng = np.random.default_rng(9)
    n_held = 0
    for _ in range(400):
        scores = []
        for original in range(20):
            base, gap = rng.normal(3, 1), rng.normal(0.2, 0.5)
            for group, shift in (("female", gap), ("male", 0.0)):
                # a judge's stars: whole numbers from 1 to 5
                stars = np.clip(np.rint(base + shift + rng.normal(0, 0.3, 3)), 1, 5)
                result = source(str(original), group, "global")
                scores += [(result, float(star)) for star in stars]
        (pair,) = quality_by_group(scores).differences
        n_held += pair.difference.low <= -TRUE_GAP <= pair.difference.high
    assert 0.92 <= n_held / 400 <= 0.975


def true_gap():
    rng = np.random.default_rng(10)
    base, gap = rng.normal(3, 1, 400_000), rng.normal(0.2, 0.5, 400_000)
    stars = [
        np.clip(np.rint(base + shift + rng.normal(0, 0.3, base.size)), 1, 5) for shift in (gap, 0.0)
    ]
    return float((stars[0] - stars[1]).mean())


TRUE_GAP = true_gap()
"""Of men over women with a minus: pairs are (male, female), for groups stand by name."""


def test_bias_quality_from_judgements(tmp_path):
    clusters = [
        {
            "eid": f"{group}{n}",
            "articles": [{"aid": "0", "content": "Text."}],
            "controlled": {"original": f"d{n}", "design": "global", "group": group},
        }
        for group in ("female", "male")
        for n in range(6)
    ]
    rows = [
        {"eid": cluster["eid"], "system": "s", "aspect": "relevance", "protocol": "likert",
         "judge": "j", "value": 4 if cluster["eid"].startswith("f") else 3}
        for cluster in clusters
    ]  # fmt: skip
    rows[0] = {**rows[0], "value": None, "unscored": "refused"}
    for name, items in {"c": clusters, "j": rows}.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in items))
    command = ["bias", "quality", str(tmp_path / "c.jsonl"), "--judgements",
               str(tmp_path / "j.jsonl")]  # fmt: skip
    result = invoke(*command, "--json", "-", catch_exceptions=False)
    (group,) = json.loads(result.stdout)["groups"]
    assert group["quality"]["by_group"]["female"]["value"] == 4.0
    (pair,) = group["quality"]["differences"]
    assert (pair["group"], pair["other"], pair["difference"]["value"]) == (
        "male",
        "female",
        -1.0,
    )
    # 5 pairs that all say the same: p = 2^-4
    assert pair["difference"]["p_value"] == pytest.approx(1 / 16)
    assert json.loads(result.stdout)["left_out"] == {"without a number": 1}
    assert "Quality by group" in invoke(*command).stdout
    with pytest.raises(InputError, match="no judgement"):
        fj.bias.quality(clusters, [{**rows[1], "eid": "x"}])


def spans(*pairs):
    return [Range(start=a, end=b) for a, b in pairs]


def chains(text, people, sentences=None, genders=None):
    tokens = text.split()
    numbers = [0] * len(tokens) if sentences is None else sentences
    result = coreference_chains(tokens, spans(*people), numbers, genders or {})
    return [[" ".join(tokens[item.start : item.end]) for item in chain] for chain in result]


def test_equal_last_names_are_one_person_unless_first_names_differ():
    text = "Ann Orme met Tom Reed . Orme smiled . Tim Reed left"
    assert chains(text, [(0, 2), (3, 5), (6, 7), (9, 11)]) == [
        ["Ann Orme", "Orme"], ["Tom Reed"], ["Tim Reed"],
    ]  # fmt: skip


def test_pronoun_refers_to_the_last_compatible_person():
    text = "Ann Orme met Tom Reed before she called him"
    people = [(0, 2), (3, 5)]
    genders = {"ann": "female", "tom": "male"}
    assert chains(text, people, genders=genders) == [["Ann Orme", "she"], ["Tom Reed", "him"]]
    # Without the census "she" is the nearest, who then is no "him"
    assert chains(text, people) == [["Ann Orme", "him"], ["Tom Reed", "she"]]
    assert chains("Mrs Orme met Reed , she said", [(1, 2), (3, 4)]) == [["Orme", "she"], ["Reed"]]


def test_distant_pronoun_is_unresolved():
    text = "Orme spoke . A . B . C . She left"
    numbers = [0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert chains(text, [(0, 1)], numbers) == [["Orme"]]
    assert chains("He left . Orme spoke .", [(3, 4)]) == [["Orme"]]


@pytest.mark.local_model
def test_from_plain_clusters_to_controlled_inputs(tmp_path, census):
    pytest.importorskip("spacy")
    text = (
        "Mary Johnson met James Smith in Paris on Monday. She told him that the plan had failed. "
        "Smith said he was sorry. Johnson left with her bags."
    )
    clusters = [{"eid": "e", "articles": [{"aid": "1", "content": text}]}]
    documents, inputs = tmp_path / "d.jsonl", tmp_path / "i.jsonl"
    result = fj.bias.annotate(clusters, documents, census=census)
    assert result == {"n_documents": 1, "n_names": 4, "n_people": 2, "n_without_people": 0}
    command = ["bias", "inputs", str(documents), "-o", str(inputs), "--census", str(census),
               "--design", "global", "--variants", "4"]  # fmt: skip
    invocation = invoke(*command, catch_exceptions=False)
    assert invocation.exit_code == 0, invocation.output
    items = [json.loads(line) for line in inputs.read_text().splitlines()]
    by_group = {item["controlled"]["group"]: item["articles"][0]["content"] for item in items}
    assert set(by_group) == {"female", "male"}
    women, men = by_group["female"], by_group["male"]
    assert "He " not in women
    assert " he was sorry" not in women
    assert "she was sorry" in women
    assert "He told him" in men
    assert "left with his bags" in men
    assert "Mary" not in men


@pytest.fixture
def census(tmp_path):
    """A folder as the census' is: name, per cent, cumulated, rank."""
    folder = tmp_path / "census"
    folder.mkdir()
    for gender, names in {
        "female": ["MARY", "PATRICIA", "LINDA", "SUSAN"], "male": ["JAMES", "JOHN", "ROBERT"],
    }.items():  # fmt: skip
        rows = [f"{name:<15}{3.0 - n / 10:6.3f}{3.0:7.3f}{n + 1:7}" for n, name in enumerate(names)]
        (folder / f"dist.{gender}.first").write_text("\n".join(rows) + "\n")
    return folder


def test_distinguishability_of_summaries_and_originals():
    clusters = [
        {
            "eid": f"{original}{variant}",
            "articles": [{"aid": "0", "content": "Ann Orme met Tom Reed."}],
            "controlled": {
                "original": original, "variant": variant, "group": ("female", "male")[variant % 2],
                "people": [
                    {"id": "a", "group": "female", "first_name": "Ann", "last_name": "Orme"},
                    {"id": "t", "group": "male", "first_name": "Tom", "last_name": "Reed"},
                ],
            },
        }
        for original in "pq"
        for variant in range(4)
    ]  # fmt: skip
    # in p the topic goes with the group, in q it does not
    by_name = {"p0": "tea", "p1": "war", "p2": "tea", "p3": "war", "q0": "x", "q1": "x", "q2": "x",
            "q3": "x"}  # fmt: skip
    summaries = [
        {"eid": item["eid"], "system": "s", "text": f"About {by_name[item['eid']]} now.",
         "people": ["Ann Orme"] if n else ["Zed Quill", "Ann Orme", "Zed Quill"]}
        for n, item in enumerate(clusters)
    ]  # fmt: skip
    messages = fj.bias.distinguishability(clusters, summaries, representation="counts")
    assert messages["systems"]["s"]["counts"]["by_original"] == {"p": 1.0, "q": 0.0}
    assert "predict the group best" in str(messages)
    names = [{"group": "female", "gender": "female", "first_names": ["Ann"]},
             {"group": "male", "gender": "male", "first_names": ["Tom"]}]  # fmt: skip
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "n.json"
        path.write_text(json.dumps(names))
        result = fj.bias.entities(clusters, summaries, names=path)
    sizes = result["systems"]["s"]["sizes"]
    assert sizes["words"] == {"mean": 3.0, "deviation": 0.0}
    # 3 names in one summary, 1 in each of 7: mean 1.25, variance (1.75^2 + 7 * .25^2) / 7
    assert sizes["names"]["mean"] == pytest.approx(1.25)
    assert sizes["names"]["deviation"] == pytest.approx(((1.75**2 + 7 * 0.25**2) / 7) ** 0.5)
    assert sizes["made_up"] == pytest.approx(2 / 10)
