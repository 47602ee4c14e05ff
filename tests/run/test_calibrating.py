"""Support by the embedded default as a baseline."""

from __future__ import annotations

from trained_double import WordBag, WordModels

from fairjudge.analysis.calibrating import trained_support
from fairjudge.domain import Article, Cluster, Summary


def test_copied_text_has_more_support_and_gaps_are_excluded():
    story = "The council closed two libraries on Monday. Readers protested outside the town hall."
    cluster = Cluster(eid="e", articles=(Article(aid="a", title="t", content=story),))
    texts = {
        "copy": "The council closed two libraries on Monday.",
        "invention": "Scientists discovered seven new planets orbiting a distant star yesterday.",
        "empty": "",
    }
    summaries = [Summary(eid="e", system=name, text=text) for name, text in texts.items()]
    elsewhere = Summary(eid="unknown", system="copy", text=texts["copy"])
    result = trained_support(
        [*summaries, elsewhere], [cluster], models=WordModels(), embedder=WordBag()
    )
    assert set(result) == {("e", "copy"), ("e", "invention")}
    assert 0 <= result["e", "invention"] < 0.5 < result["e", "copy"] <= 1
