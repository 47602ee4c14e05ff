"""Long ids are shortened in the middle, and stay different from one another."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fairjudge.reports.tables import shorten_ids


def test_long_id_keeps_both_ends_and_short_id_is_unchanged():
    texts = ["event-2024-11-05-stuttgart-0017", "e1", "GPT-4o"]
    assert shorten_ids(texts, limit=16) == {
        "event-2024-11-05-stuttgart-0017": "event-20…rt-0017",  # 8 + 1 + 7 characters
        "e1": "e1",
        "GPT-4o": "GPT-4o",
    }


def test_ids_differing_only_in_the_middle_keep_it():
    first, second = "news-" + "0" * 20 + "a" + "0" * 20, "news-" + "0" * 20 + "b" + "0" * 20
    short = shorten_ids([first, second, f"{first} by x"], limit=16)
    assert short[first] != short[second]
    assert max(map(len, short.values())) < len(first)
    assert short[f"{first} by x"] == f"{short[first]} by x"


def test_text_words_and_unspaced_scripts_are_not_shortened():
    texts = ["How many people had to leave their homes in the valley?", "台風のため、" * 8]
    assert shorten_ids(texts, limit=16) == {text: text for text in texts}


@given(st.lists(st.text(st.sampled_from("ab-"), min_size=1, max_size=40), unique=True))
def test_different_ids_never_look_alike(ids):
    short = shorten_ids(ids, limit=8)
    assert len(set(short.values())) == len(ids)
