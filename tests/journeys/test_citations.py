"""Whether a judge's word on citations can be trusted: citations swapped for other articles."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_tools import write_jsonl
from json_files import read_json, read_rows

ARTICLES = ("a", "b", "c", "d")
SENTENCES = ("Rain fell.", "Dogs barked.", "Snow lay.")


@pytest.fixture
def files() -> None:
    """Ten clusters; each sentence cites one article, and one sentence of ten a wrong one."""
    clusters, summaries, careful, lenient = [], [], [], []
    for n in range(10):
        eid = f"e{n}"
        rows = [{"aid": aid, "content": f"{aid} said so."} for aid in ARTICLES]
        clusters.append({"eid": eid, "articles": rows})
        cited = [ARTICLES[(n + place) % 4] for place in range(3)]
        summaries.append(
            {
                "eid": eid,
                "system": "s",
                "text": " ".join(SENTENCES),
                "citations": [
                    {"text": text, "articles": [aid]}
                    for text, aid in zip(SENTENCES, cited, strict=True)
                ],
            }
        )
        if not n % 3:
            cited[2] = ARTICLES[(n + 3) % 4]  # the article that has it is not the one cited
        for rows, support in (
            (careful, [[aid] for aid in cited]),
            (lenient, [list(ARTICLES)] * 3),  # every article is said to support everything
        ):
            rows.append(
                {
                    "eid": eid, "system": "s", "aspect": "faithfulness", "protocol": "checklist",
                    "judge": "careful" if rows is careful else "lenient", "value": 1.0,
                    "statements": [
                        {"sentence": place, "statement": text, "verdict": "supported",
                         "articles": aids, "quote": "said so"}
                        for place, (text, aids) in enumerate(zip(SENTENCES, support, strict=True))
                    ],
                }
            )  # fmt: skip
    for name, rows in (
        ("c", clusters), ("s", summaries), ("careful", careful), ("lenient", lenient),
    ):  # fmt: skip
        write_jsonl(Path(f"{name}.jsonl"), rows)


def audited(cli, judge: str, *more: str) -> tuple[str, dict]:
    words = ("audit", "citations", f"{judge}.jsonl", "--summaries", "s.jsonl", "--json", "out.json")
    result = cli(*words, *more, code=0)
    (group,) = read_json("out.json")["groups"]
    return result.out, group


def test_swapped_citations_lower_support_for_a_discriminating_judge(cli, files):
    output, group = audited(cli, "careful", "--references", "c.jsonl")
    assert (group["n_sentences"], group["n_cited"], group["n_citations"]) == (30, 30, 30)
    assert group["support"] == {"full": 26, "none": 4}
    assert group["borne_out"]["value"] == pytest.approx(26 / 30)
    swapped = group["swapped"]
    # Of the sentences that cite wrongly, one of the three other articles supports each.
    assert swapped["swapped"]["value"] == pytest.approx(4 / 30 / 3)
    assert swapped["difference"]["value"] == pytest.approx(26 / 30 - 4 / 90)
    assert swapped["difference"]["p_value"] < 0.001
    assert "in place of the cited ones the share is significantly lower" in output
    assert "s: 4 of 30 citations without full support" in output


def test_judge_citing_every_article_is_called_unreliable(cli, files):
    output, group = audited(cli, "lenient", "--references", "c.jsonl")
    assert group["borne_out"]["value"] == group["swapped"]["swapped"]["value"] == 1.0
    assert "not significantly lower, so do not rely on this share" in output


def test_swap_check_needs_clusters_and_citations(cli, files):
    output, group = audited(cli, "careful")
    assert group["swapped"] is None
    assert "swapped" not in output
    plain = read_rows("s.jsonl")
    for row in plain:
        del row["citations"]
    write_jsonl(Path("plain.jsonl"), plain)
    result = cli("audit", "citations", "careful.jsonl", "--summaries", "plain.jsonl")
    assert (result.code, "no judged summary has citations" in result.err) == (1, True)
