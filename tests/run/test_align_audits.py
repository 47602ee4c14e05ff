"""Audits of two prompts side by side: pairs in both orders, and groups of them."""

from __future__ import annotations

import numpy as np
import pytest
from builders import make_judgement, make_label

from fairjudge.aligning.audits import audits_of, grouping_of, groups_by_attribute
from fairjudge.aligning.decision import fit_both
from fairjudge.aligning.items import LabelReading, Sides, sides_of
from fairjudge.domain import Cluster, Judgement, Label, Summary
from fairjudge.errors import InputError


def judgement(eid: str, order: str, value: str | None, *, a: str = "x", b: str = "y") -> Judgement:
    outcome = {"value": value} if value is not None else {"unscored": "unparseable"}
    return make_judgement(eid=eid, system_a=a, system_b=b, order=order, aspect="f", **outcome)


def label(eid: str, value: str) -> Label:
    return make_label(eid=eid, system_a="x", system_b="y", aspect="f", value=value)


def both_orders(eid: str, value: str | None, other: str | None) -> list[Judgement]:
    return [judgement(eid, "ab", value), judgement(eid, "ba", other)]


def sides(old: list[Judgement], new: list[Judgement], labels: list[Label]) -> Sides:
    return sides_of(old, new, labels, LabelReading())


def test_pair_with_one_verdict_is_unscored_and_counted():
    old = [*both_orders("d1", "a", "a"), *both_orders("d2", "b", "b"), *both_orders("d3", "a", "b")]
    new = [
        *both_orders("d1", "a", "a"),
        *both_orders("d2", "b", None),
        *both_orders("d3", None, None),
    ]
    result = sides(old, new, [label("d1", "a"), label("d2", "a"), label("d3", "tie")])
    paired = result.paired
    assert [key[0] for key in result.keys] == ["d1"]
    assert (paired.n_labelled, paired.n_without_old, paired.n_without_new) == (3, 0, 2)
    assert sum(result.new.counts.unscored.values()) == 3
    assert paired.old.tolist() == [1.0]


def test_order_is_the_position_regardless_of_names():
    rows = [judgement("d1", "ab", "a"), judgement("d1", "ab", "b", a="y", b="x")]
    result = sides(rows, rows, [label("d1", "a")])  # x stood first, then y: both named x
    assert result.paired.new.tolist() == [1.0]
    again = [judgement("d1", "ab", "a"), judgement("d1", "ba", "b", a="y", b="x")]
    again += both_orders("d2", "a", "a")
    result = sides(again, again, [label("d1", "a"), label("d2", "a")])
    assert [key[0] for key in result.keys] == ["d2"]  # in d1 x stood first twice


def length(name: str, n: int) -> int:
    """Return the words of a summary: x is the longer one but in each fourth document."""
    return 10 + (n + 1) * ((n % 4 != 0) == (name == "x"))


def study() -> tuple[Sides, Sides, list[Summary]]:
    """Forty pairs by part: the old judge names the longer one, the new one what people do."""
    rng = np.random.default_rng(0)
    parts = []
    for part in ("dev", "test"):
        old, new, labels = [], [], []
        for n in range(40):
            eid, verdict = f"{part}{n}", "ab"[int(rng.integers(2))]
            labels.append(label(eid, verdict))
            old += both_orders(eid, *("a" if n % 4 else "b") * 2)
            new += both_orders(eid, verdict, verdict)
        parts.append(sides(old, new, labels))
    texts = [
        Summary(eid=f"test{n}", system=name, text=" ".join(["word"] * length(name, n)))
        for n in range(40)
        for name in ("x", "y")
    ]
    return parts[0], parts[1], texts


def test_length_audit_uses_the_longer_and_system_audit_the_named_system():
    development, test, texts = study()
    groups = {f"test{n}": "left" if n < 20 else "right" for n in range(40)}
    result = audits_of(development, test, grouping_of(texts, {"side": groups}), level=0.95)
    rows = result["errors"]["groups"]
    numbers = np.array([int(key[0].removeprefix("test")) for key in test.keys])
    share = (test.paired.human + 1) / 2
    old = fit_both(development.paired)[0](test.paired.old)
    by_system = {row["group"]: row for row in rows if row["kind"] == "system"}
    assert by_system["x"]["old"]["error"]["value"] == pytest.approx((old - share).mean())
    assert by_system["y"]["old"]["error"]["value"] == pytest.approx((share - old).mean())
    lengths = [row for row in rows if row["kind"] == "length"]
    assert len(lengths) == 4
    shortest = min(lengths, key=lambda row: int(row["group"].split()[0]))
    few = numbers + 1 <= np.quantile(numbers + 1, 0.25)
    errors = np.where(numbers % 4 != 0, old - share, share - old)
    assert shortest["group"].endswith("words longer")
    assert shortest["old"]["error"]["value"] == pytest.approx(errors[few].mean())
    by_side = {row["group"]: row for row in rows if row["attribute"] == "side"}
    squared = (old - share)[numbers < 20] ** 2
    assert by_side["left"]["old"]["error"]["value"] == pytest.approx(squared.mean())
    assert by_side["right"]["new"]["error"]["value"] == 0.0
    assert result["attributes"] == ["side"]


def test_equally_long_summaries_are_in_no_length_group():
    development, test, _ = study()
    alike = [Summary(eid=f"test{n}", system=s, text="word") for n in range(40) for s in "xy"]
    rows = audits_of(development, test, grouping_of(alike, {}), level=0.95)["errors"]["groups"]
    assert {row["kind"] for row in rows} == {"system"}


def test_position_audit_uses_all_pairs_in_both_orders():
    labels = [label(f"d{n}", "a") for n in range(10)]
    old = [row for n in range(10) for row in both_orders(f"d{n}", "a", "b" if n < 4 else "a")]
    new = [row for n in range(10) for row in both_orders(f"d{n}", "a", "a" if n else None)]
    test = sides(old, new, labels)
    result = audits_of(test, test, grouping_of([], {}), level=0.95)["position"]
    assert result["old"]["changed"]["value"] == pytest.approx(0.4)
    assert result["old"]["first"]["value"] == pytest.approx(0.4)
    assert result["old"]["changed"]["low"] == pytest.approx(result["old"]["first"]["low"])
    assert result["new"]["changed"]["value"] == 0.0
    assert (result["new"]["n_pairs"], result["new"]["n_one_order"]) == (9, 1)


def cluster(eid: str, *values: object) -> Cluster:
    articles = [
        {"aid": str(n), "content": "t", "attributes": {"side": value}}
        for n, value in enumerate(values)
    ]
    return Cluster.model_validate({"eid": eid, "articles": articles})


def test_a_document_has_the_value_of_more_than_half_of_its_articles():
    clusters = [
        cluster("one", "left", "left", "right"),
        cluster("two", "left", "right"),
        cluster("three", "left", "unknown", None),
        cluster("four", " right "),
    ]
    assert groups_by_attribute(clusters, "side") == {"one": "left", "four": "right"}
    with pytest.raises(InputError, match="attributes found: 'side'"):
        groups_by_attribute(clusters, "party")


def test_items_without_the_attribute_are_reported():
    development, test, texts = study()
    groups = {f"test{n}": "left" for n in range(38)}
    result = audits_of(development, test, grouping_of(texts, {"side": groups}), level=0.95)
    assert result["errors"]["notes"] == [
        "side: fewer than 2 groups of documents in the test",
        "side: 2 documents without a value that most of the articles have, excluded",
    ]
