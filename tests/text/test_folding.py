"""What a reader cannot see, and marks that look alike, change no comparison."""

from __future__ import annotations

import unicodedata

import pytest

from fairjudge.bias.people import Person, align, name_tokens
from fairjudge.bias.representation import mask
from fairjudge.bias.word_lists import EXTENDED_GENDER, IdentifierCounter
from fairjudge.calibration.baselines import baseline_scores
from fairjudge.domain import Summary
from fairjudge.text.folding import fold, folded_key
from fairjudge.text.tokens import words

INVISIBLE = "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufeff\u061c\u034f\ufe0f\u202a\u2066"


@pytest.mark.parametrize("mark", INVISIBLE)
def test_invisible_characters_inside_a_word_are_removed(mark):
    assert words(f"har{mark}bour ligh{mark}ts") == ["harbour", "lights"]
    assert folded_key(f"Har{mark}bour  Lights") == "harbour lights"


def test_every_ignorable_character_is_removed():
    # Unicode's formats, but those that enclose numbers in Arabic and Syriac, Kaithi and Egyptian
    formats = [chr(c) for c in range(0x110000) if unicodedata.category(chr(c)) == "Cf"]
    by_name = {c for c in formats if fold(c)}
    assert all(
        any(name in unicodedata.name(c) for name in ("NUMBER", "SIGN", "FOOTNOTE", "YEAR", "MARK",
            "VERSE", "AYAH", "POUND", "PIASTRE", "INTERLINEAR", "HIEROGLYPH", "DISPUTED"))
        for c in by_name
    )  # fmt: skip


def test_combining_marks_are_kept_and_letters_composed():
    assert fold("cafe\u0301") == "café"
    assert fold("cafe\u200d\u0301") == "café"  # composed after what stood between is gone
    assert fold("हिन्दी") == "हिन्दी"


def test_look_alikes_are_folded():
    assert {fold(f"o{mark}neill") for mark in "'\u2019\u02bc\uff07"} == {"o'neill"}
    assert {fold(f"well{mark}known") for mark in "-\u2010\u2011\u2212\uff0d"} == {"well-known"}


def test_ascii_is_unchanged():
    assert fold('say "so" - it\'s `ok`') == 'say "so" - it\'s `ok`'


@pytest.mark.parametrize("mark", ["\u00ad", "\u200b", "\u2060", "\ufeff", "\u200e"])
def test_names_align_ignoring_invisible_characters(mark):
    person = Person(id="1", first_name="Martha", last_name="O'Neill-Orme")
    name = f"Mar{mark}tha O\u02bcNei{mark}ll\u2011Orme"
    result = align([name], [person])
    assert result.included == {"1"}
    assert result.unaligned == ()


def test_names_in_scripts_with_vowel_signs_are_whole():
    assert name_tokens("नरेन्द्र मोदी") == ["नरेन्द्र", "मोदी"]
    assert name_tokens("Mr. O\u2019Brien-Smith\u2019s 3rd") == ["mr", "o'brien-smith", "rd"]


@pytest.mark.parametrize("mark", ["\u00ad", "\u200b", "\u2060"])
def test_name_is_masked_ignoring_invisible_characters(mark):
    person = Person(id="1", first_name="Martha", last_name="Orme")
    assert mask(f"Mar{mark}tha Or{mark}me spoke.", [person]) == "FIRST_NAME LAST_NAME spoke."


def test_word_lists_count_visible_text():
    counter = IdentifierCounter(EXTENDED_GENDER)
    assert counter.count("The wo\u00adman and the m\u200ban").tolist() == [1, 1]


def test_word_lists_of_scripts_without_spaces_are_counted():
    counter = IdentifierCounter({"female": ["女人", "她", "女主席"], "male": ["男人", "他"]})
    # 女主席 once, 她 once; 男人 once, 他 once
    assert counter.count("女主席说她会来。男人说他不来。").tolist() == [2, 2]


@pytest.mark.parametrize("mark", ["\u00ad", "\u200b"])
def test_a_baseline_counts_the_same_words(mark):
    plain = Summary(eid="e", system="s", text="Harbour lights failed")
    unseen = Summary(eid="e", system="s", text=f"Har{mark}bour li{mark}ghts failed")
    assert baseline_scores([plain]) == baseline_scores([unseen])
