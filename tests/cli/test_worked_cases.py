"""Every formula of the fairness and bias measures, from files to JSON, against values by hand."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from cli_tools import write_jsonl


def cluster(eid, *documents):
    """`documents` are (value, text)."""
    return {
        "eid": eid,
        "articles": [
            {"aid": f"{eid}{i}", "content": text, "attributes": {"side": value}}
            for i, (value, text) in enumerate(documents)
        ],
    }


def support(eid, rows, **more):
    return {
        "eid": eid, "system": "s", "aids": [f"{eid}{i}" for i in range(len(rows))],
        "units": [f"unit {j}" for j in range(len(rows[0]))], "support": rows, **more,
    }  # fmt: skip


@pytest.fixture
def json_of(cli):
    """Run a command with ``--json -`` and return what it wrote."""

    def run(*arguments):
        result = cli(*arguments, "--json", "-", code=0)
        return json.loads(result.out)

    return run


# Coverage. Set p has documents a, a, b that support the summary's two units by means .9, .5, .1;
# set q has three of a that support it wholly and four of b that do not at all.

COVERAGE = ("fairness", "coverage", "c.jsonl", "--summaries", "s.jsonl", "--attribute", "side")
P = [[1.0, 0.8], [0.4, 0.6], [0.2, 0.0]]
Q = [[1.0]] * 3 + [[0.0]] * 4


@pytest.fixture
def covered():
    p = cluster("p", ("a", "x"), ("a", "y"), ("b", "z"))
    q = cluster("q", *[("a", "x")] * 3, *[("b", "y")] * 4)
    write_jsonl(Path("c.jsonl"), [p, q])
    write_jsonl(Path("s.jsonl"), [{"eid": e, "system": "s", "text": "Words."} for e in "pq"])
    write_jsonl(Path("m.jsonl"), [support("p", P), support("q", Q)])


def test_equal_coverage_with_its_p_values(json_of, covered):
    result = json_of(*COVERAGE, "--scorer", "matrix:m.jsonl")
    p, q = result["samples"]
    # p: p(a) = .7, p(b) = .1, all .5: EC = (.2 + .4) / 2
    assert p["by_value"]["a"] == {"coverage": pytest.approx(0.7), "documents": 2}
    assert p["coverage"] == pytest.approx(0.5)
    assert p["equal_coverage"] == pytest.approx(0.3)
    # Three relabellings: b on the first document has (.2 + .4) / 2 too, on the second 0.
    assert (p["p_value"], p["p_value_strict"]) == (pytest.approx(2 / 3), 0.0)
    assert (p["relabellings"], p["exact"]) == (3, True)
    # q: p(a) = 1, p(b) = 0, all 3/7: EC = (4/7 + 3/7) / 2; of 35 relabellings only its own
    assert q["equal_coverage"] == pytest.approx(0.5)
    assert q["p_value"] == pytest.approx(1 / 35)
    system = result["systems"]["s"]
    assert system["equal_coverage"]["value"] == pytest.approx(0.4)
    # q is significant; p could not be, with three relabellings
    assert system["r_ec"]["value"] == 0.5
    assert system["untestable"] == 1


def test_coverage_parity_and_over_represented_values(json_of, covered):
    system = json_of(*COVERAGE, "--scorer", "matrix:m.jsonl")["systems"]["s"]
    # The differences are .2 and -.4 in p, 4/7 and -3/7 in q.
    a, b = (0.2 + 4 / 7) / 2, (-0.4 - 3 / 7) / 2
    assert system["by_value"]["a"]["mean"] == pytest.approx(a)
    assert system["by_value"]["b"]["mean"] == pytest.approx(b)
    assert system["coverage_parity"]["value"] == pytest.approx((a - b) / 2)
    assert (system["over"], system["under"]) == ("a", "b")
    # and over all samples that hold a value: p(a) = .7 and 1
    assert system["coverage_by_value"]["a"]["coverage"]["value"] == pytest.approx(0.85)
    assert system["coverage_by_value"]["b"]["difference"]["value"] == pytest.approx(b)


def test_the_released_variant(json_of, covered):
    result = json_of(*COVERAGE, "--scorer", "matrix:m.jsonl", "--variant", "released")
    # p: what is not above .5 counts 0: means .9, .3, 0; p(a) = .6, p(b) = 0, all .4
    assert result["samples"][0]["equal_coverage"] == pytest.approx((0.2 + 0.4) / 2)
    # Every document less its sample's mean: a has .5, -.1 and three times 4/7, b has -.4 and
    # four times -3/7.
    system = result["systems"]["s"]
    assert system["by_value"]["a"]["mean"] == pytest.approx((0.4 + 12 / 7) / 5)
    assert system["by_value"]["b"]["mean"] == pytest.approx((-0.4 - 12 / 7) / 5)


def test_the_released_variant_merges_units_and_drops_uncovered_ones(json_of):
    write_jsonl(Path("c.jsonl"), [cluster("p", ("a", "x"), ("b", "y"))])
    write_jsonl(Path("s.jsonl"), [{"eid": "p", "system": "s", "text": "Words."}])
    data = support(
        "p",
        [[0.9, 0.3, 0.2], [0.1, 0.8, 0.4]],
        arg_max=[[0.9, 0.0, 0.0], [0.0, 0.8, 0.0]],
        between_units=[[1.0, 0.97, 0.0], [0.96, 1.0, 0.0], [0.0, 0.0, 1.0]],
    )
    write_jsonl(Path("m.jsonl"), [data])
    command = (*COVERAGE, "--scorer", "matrix:m.jsonl")
    # as in the paper: means 1.4/3 and 1.3/3, each .05/3 from their mean
    paper = json_of(*command)["samples"][0]
    assert paper["equal_coverage"] == pytest.approx(0.05 / 3)
    # units 0 and 1 are one, covered by .9 and .8; unit 2 is nobody's
    released = json_of(*command, "--variant", "released")["samples"][0]
    assert (released["units"], released["equal_coverage"]) == (1, pytest.approx(0.05))


def test_dominance(json_of, covered):
    result = json_of(*COVERAGE, "--scorer", "matrix:m.jsonl")["systems"]["s"]["dominance"]
    # a dominates p, b dominates q: R_EC 0 and 1; c_a .2 and 4/7, c_b -.4 and -3/7
    assert result["n_by_value"] == {"a": 1, "b": 1}
    assert result["unfair_share"]["value"] == 1.0
    assert result["unfair_share"]["dominated_by"] == ["b", "a"]
    assert result["mean_difference"]["value"] == pytest.approx(4 / 7 - 0.2)
    assert result["mean_difference"]["of_value"] == "a"


def test_scorer_error_without_and_with_labels(json_of):
    eids = "pqrt"
    rows = [cluster(eid, ("a", "x"), ("a", "y"), ("b", "z")) for eid in eids]
    write_jsonl(Path("c.jsonl"), rows)
    write_jsonl(Path("s.jsonl"), [{"eid": e, "system": "s", "text": "Words."} for e in eids])
    write_jsonl(Path("m.jsonl"), [support(eid, P) for eid in eids])
    write_jsonl(Path("h.jsonl"), [support(e, [[0.6], [0.4], [0.3]]) for e in "pq"])
    options = ("--scorer", "matrix:m.jsonl", "--error-rate", "0.05", "--human", "h.jsonl")
    system = json_of(*COVERAGE, *options)["systems"]["s"]
    # a holds 2/3 of the documents: |c| = .2 and .4 move by .1 / 3 and .2 / 3 at most
    band = system["sensitivity"]["equal_coverage"]
    assert (band["low"], band["high"]) == pytest.approx((0.25, 0.35))
    # People: p(a) = .5, p(b) = .3, all 1.3/3: EC = (.2/3 + .4/3) / 2. The scorer's EC is .3
    # throughout, so it adds nothing to the labels.
    corrected = system["corrected"]["equal_coverage"]
    assert corrected["uncorrected"] == pytest.approx(0.3)
    assert corrected["value"] == pytest.approx(0.1)
    assert corrected["n_labelled"] == 2


def test_overall_and_agreement_of_reports(json_of, covered):
    # three systems, of which t is as fair as can be and u halves the differences of s
    systems = {"s": 1.0, "t": 0.0, "u": 0.5}
    texts = [
        {"eid": eid, "system": name, "text": "Words."} for name in systems for eid in ("p", "q")
    ]
    write_jsonl(Path("s.jsonl"), texts)
    rows = [
        support(eid, [[0.5 + k * (x - 0.5) for x in row] for row in matrix]) | {"system": name}
        for name, k in systems.items()
        for eid, matrix in (("p", P), ("q", Q))
    ]
    write_jsonl(Path("m.jsonl"), rows)
    report = json_of(*COVERAGE, "--scorer", "matrix:m.jsonl")
    Path("one.json").write_text(json.dumps(report))
    Path("two.json").write_text(json.dumps(report))
    result = json_of("fairness", "overall", "one.json", "two.json", "--measure", "coverage_parity")
    assert {name: system["value"] for name, system in result["systems"].items()} == pytest.approx(
        {"s": 1.0, "t": 0.0, "u": 0.5}
    )
    result = json_of("fairness", "agreement", "one.json", "two.json")
    assert result["equal_coverage"]["value"] == pytest.approx(1.0)
    assert (result["equal_coverage"]["n"], result["coverage_parity"]["n"]) == (6, 3)


# Proportional. Terms: a has soup, soup, wine and b has bread, so p_x = (3/4, 1/4); of the summary
# soup and wine are a's, bread is b's, cheese nobody's: p_y = (2/3, 1/3).

PROPORTIONAL = (
    "fairness", "proportional", "c.jsonl", "--summaries", "s.jsonl", "--attribute", "side"
)  # fmt: skip


@pytest.fixture
def shared_out():
    rows = [cluster("p", ("a", "The soup was a SOUP!"), ("a", "Wine?"), ("b", "(breads)"))]
    write_jsonl(Path("c.jsonl"), rows)
    text = "Soups, wines; the bread and cheese."
    write_jsonl(Path("s.jsonl"), [{"eid": "p", "system": "s", "text": text}])


def percent(**measures):
    return {name: pytest.approx(100 * value) for name, value in measures.items()}


def measures_of(report):
    names = ("bur", "uer", "auc", "auc_ten_point", "sof")
    return {name: report["systems"]["s"][name]["value"] for name in names}


def test_ratio_fairness(json_of, shared_out):
    result = json_of(*PROPORTIONAL)
    (sample,) = result["samples"]
    assert sample["source"] == sample["wanted"] == pytest.approx([3 / 4, 1 / 4])
    assert sample["summary"] == pytest.approx([2 / 3, 1 / 3])
    # a is short by 1/12, at 8/9 of its share: unfair only for tau of .9 and 1
    assert measures_of(result) == percent(
        bur=0.0, uer=1 / 24, auc=1 / 9, auc_ten_point=0.2, sof=1 / 24
    )
    sweep = result["systems"]["s"]["sweep"]
    assert [(round(row["tau"], 1), row["value"]) for row in sweep] == [
        *((step / 10, 0.0) for step in range(9)), (0.9, 100.0), (1.0, 100.0),
    ]  # fmt: skip
    by_value = result["systems"]["s"]["by_value"]
    assert by_value["a"]["difference"]["value"] == pytest.approx(-100 / 12)
    assert by_value["b"]["summary"]["value"] == pytest.approx(100 / 3)
    assert by_value["b"]["wanted"]["value"] == pytest.approx(25)
    assert by_value["b"]["shortfall"]["value"] == 0.0


def test_a_stricter_tau(json_of, shared_out):
    # 2/3 < .9 * 3/4 = .675
    assert measures_of(json_of(*PROPORTIONAL, "--tau", "0.9"))["bur"] == 100.0
    assert measures_of(json_of(*PROPORTIONAL, "--tau", "0"))["bur"] == 0.0


def test_equal_fairness(json_of, shared_out):
    # b has 1/3 of 1/2: short by 1/6, at 2/3 of its share: unfair for .7, .8, .9 and 1
    assert measures_of(json_of(*PROPORTIONAL, "--target", "equal")) == percent(
        bur=1.0, uer=1 / 12, auc=1 / 3, auc_ten_point=0.4, sof=1 / 12
    )


def test_given_target_excludes_values_with_target_0(json_of, shared_out):
    Path("t.json").write_text('{"a": 5, "b": 0}')
    result = json_of(*PROPORTIONAL, "--target", "t.json")
    # all for a, which has 2/3: one value takes part
    assert measures_of(result) == percent(bur=1.0, uer=1 / 3, auc=1 / 3, auc_ten_point=0.4, sof=0.0)
    assert result["systems"]["s"]["by_value"]["b"]["n"] == 0


def test_scores_become_shares_by_softmax(json_of, shared_out):
    write_jsonl(Path("v.jsonl"), [{"eid": "p", "system": "s", "scores": {"a": -1.0, "b": -1.1}}])
    result = json_of(*PROPORTIONAL, "--scorer", "matrix:v.jsonl")
    # e^-10 and e^-11, with T = .1
    a = 1 / (1 + math.exp(-1))
    assert result["samples"][0]["summary"] == pytest.approx([a, 1 - a])
    assert measures_of(result)["uer"] == pytest.approx(100 * (0.75 - a) / 2)


def test_term_counts_for_every_value_containing_it(json_of):
    write_jsonl(Path("c.jsonl"), [cluster("p", ("a", "soup"), ("b", "soup bread"))])
    rows = [{"eid": "p", "system": "s", "text": "Soup, soup, bread."}]
    write_jsonl(Path("s.jsonl"), rows)
    # a 2, b 3
    assert json_of(*PROPORTIONAL)["samples"][0]["summary"] == pytest.approx([0.4, 0.6])


def test_second_order_fairness_averages_each_value_over_its_own_samples(json_of):
    write_jsonl(
        Path("c.jsonl"),
        [
            cluster("p", ("a", "soup"), ("b", "bread")),
            cluster("q", ("a", "soup"), ("c", "wine")),
        ],
    )
    rows = [
        {"eid": "p", "system": "s", "text": "soup"},
        {"eid": "q", "system": "s", "text": "soup"},
    ]
    write_jsonl(Path("s.jsonl"), rows)
    result = json_of(*PROPORTIONAL)
    # Mean shortfalls: a 0, b .5 (in p), c .5 (in q); they average 1/3, and lie 1/3, 1/6, 1/6 off.
    assert measures_of(result)["sof"] == pytest.approx(100 * (2 / 3) / 3)
    assert measures_of(result)["uer"] == pytest.approx(25.0)
    assert result["systems"]["s"]["by_value"]["c"]["n"] == 1


# Bias


def plain(eid, text, **controlled):
    row = {"eid": eid, "articles": [{"aid": "1", "content": text}]}
    return row | ({"controlled": controlled} if controlled else {})


def test_word_list_inclusion(json_of):
    write_jsonl(Path("c.jsonl"), [plain("p", "She saw that he met him."), plain("q", "Rain.")])
    rows = [{"eid": "p", "system": "s", "text": "He won."}, {"eid": "q", "system": "s", "text": ""}]
    write_jsonl(Path("s.jsonl"), rows)
    result = json_of("bias", "words", "c.jsonl", "--summaries", "s.jsonl")["systems"]["s"]
    # (0, 1) against (1/3, 2/3), and against (1/2, 1/2)
    assert result["against_source"]["value"] == pytest.approx(1 / 3)
    assert result["against_uniform"]["value"] == pytest.approx(1 / 2)
    assert (result["n"], result["excluded_eids"]) == (1, {"empty_summary": ["q"]})


def test_alignment_inclusion_and_hallucination(json_of):
    people = [
        {"id": str(i), "first_name": first, "last_name": last, "group": group}
        for i, (first, last, group) in enumerate(
            [
                ("Ann", "Orme", "female"), ("Eve", "Wolf", "female"),
                ("Tom", "Hale", "male"), ("Ned", "Marsh", "male"), ("Bob", "Stone", "male"),
            ]
        )
    ]  # fmt: skip
    text = "Ann Orme, Eve Wolf, Tom Hale, Ned Marsh and Bob Stone met."
    write_jsonl(Path("c.jsonl"), [plain("p", text, original="p", people=people)])
    # Orme by a title, Hale by name, Marsh by last name. "Bob Wolf" is not Eve Wolf, and not made
    # up either: both words stand there. Three people are made up, of whom two have women's names.
    names = ["Ms. Orme", "Tom Hale", "Marsh", "Bob Wolf", "Ann Quill", "Eve Quill", "Tom Quill"]
    write_jsonl(Path("s.jsonl"), [{"eid": "p", "system": "s", "text": "t", "people": names}])
    Path("dist.female.first").write_text("ANN 1 1 1\nEVE 1 2 2\nBOB 0.4 3 3\n")
    Path("dist.male.first").write_text("TOM 1 1 1\nNED 1 2 2\nBOB 1 3 3\n")
    result = json_of(
        "bias", "entities", "c.jsonl", "--summaries", "s.jsonl", "--census", "."
    )["systems"]["s"]  # fmt: skip
    assert (result["n_names"], result["n_aligned"], result["n_hallucinated"]) == (7, 3, 3)
    # p = 1/2 and 2/3: odds 1 and 2
    assert result["by_group"]["male"]["value"] == pytest.approx(2 / 3)
    assert result["inclusion"]["value"] == pytest.approx(1.0)
    (ratio,) = result["odds_ratios"]
    assert ratio["value"] == pytest.approx(0.5)
    # (2/3, 1/3) against an even split
    assert result["hallucination"]["value"] == pytest.approx(1 / 6)


def test_unbounded_inclusion_is_undefined(json_of):
    people = [
        {"id": g, "first_name": first, "last_name": last, "group": g}
        for g, first, last in (("female", "Ann", "Orme"), ("male", "Tom", "Hale"))
    ]
    write_jsonl(Path("c.jsonl"), [plain("p", "Ann Orme, Tom Hale.", original="p", people=people)])
    write_jsonl(Path("s.jsonl"), [{"eid": "p", "system": "s", "text": "t", "people": ["Orme"]}])
    result = json_of("bias", "entities", "c.jsonl", "--summaries", "s.jsonl")["systems"]["s"]
    assert result["inclusion"]["value"] is None
    assert "all people of group 'female'" in result["inclusion"]["why"]
    assert "no people of group 'male' in any summary" in result["inclusion"]["why"]


def test_distinguishability(json_of):
    # Cosines of the counts: a1-a2 1/2, a1-b2 1, a2-b2 1/2, all with b1 0.
    texts = {"a1": "tea milk", "a2": "tea salt", "b1": "iron coal", "b2": "tea milk"}
    write_jsonl(
        Path("c.jsonl"),
        [plain(eid, "x", original="p", variant=i, group=eid[0]) for i, eid in enumerate(texts)],
    )
    rows = [{"eid": eid, "system": "s", "text": text} for eid, text in texts.items()]
    write_jsonl(Path("s.jsonl"), rows)
    command = ("bias", "distinguishability", "c.jsonl", "--summaries", "s.jsonl")
    result = json_of(*command, "--representation", "counts")["systems"]["s"]["counts"]
    # a1: own 1/2, others (0 + 1) / 2: tied; a2: 1/2 against 1/4: right; b1: 0 and 0: tied;
    # b2: 0 against 3/4: wrong. A tie counts half, or as wrong in the equation as written.
    assert result["value"] == pytest.approx(2 * (0.5 + 1 + 0.5 + 0) / 4 - 1)
    assert result["strict"]["value"] == pytest.approx(2 * 1 / 4 - 1)
    assert result["n_tied"] == 2


def test_fighting_words(json_of):
    rows = [plain("p", "She picked a flower, a flower."), plain("q", "He bent steel.")]
    write_jsonl(Path("c.jsonl"), rows)
    result = json_of("bias", "inputs", "c.jsonl")
    words = {entry["word"]: entry for entry in result["words"]["female"]}
    # flower 2 of the first text's n words and none of the second's, each of the m words of the
    # vocabulary with 0.01 more
    n_first = sum(entry["n_group"] for entry in words.values())
    n_second = sum(entry["n_others"] for entry in words.values())
    m = len(words)
    first = math.log(2.01 / (n_first + 0.01 * m - 2.01))
    second = math.log(0.01 / (n_second + 0.01 * m - 0.01))
    assert words["flower"]["log_odds_ratio"] == pytest.approx(first - second)
    z = (first - second) / math.sqrt(1 / 2.01 + 1 / 0.01)
    assert words["flower"]["z"] == pytest.approx(z)
    assert words["flower"]["p_value"] == pytest.approx(math.erfc(z / math.sqrt(2)))
