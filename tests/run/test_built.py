"""What a build's record leaves of its cluster: which articles its reference uses, and why not."""

from __future__ import annotations

from fairjudge.domain import Article, Cluster
from fairjudge.engine.built import join_outcome

CLUSTER = Cluster(
    eid="e", articles=tuple(Article(aid=aid, content=f"{aid} " * 50) for aid in "abcd")
)


def record(aids: str, *answering: str) -> dict[str, object]:
    groups = [[{"aid": aid, "answer": aid}] for aid in answering]
    return {
        "skipped": [["d", "stub"]],
        "kept_aids": list(aids),
        "question_answers": [{"question": "q?", "answer_groups": groups}] if groups else [],
        "why_none": None if groups else "no valid question was left",
    }


def test_article_without_answers_is_unused_with_its_own_reason() -> None:
    built = join_outcome(record("ab", "a"), CLUSTER)
    assert [article.used for article in built.reference.articles] == [True, False, False, False]
    assert dict(built.unused) == {
        "b": "answers no question of the reference",
        "c": "answers fewer questions than the 2 kept",
        "d": "stub",
    }
    assert built.n_used == 1


def test_no_article_is_used_without_questions() -> None:
    built = join_outcome(record(""), CLUSTER)
    assert dict(built.unused) == dict.fromkeys("abc", "no question was left") | {"d": "stub"}
