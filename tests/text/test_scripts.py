"""Scripts without spaces: their lengths, sentences, questions and the pieces compared."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairjudge.domain import Article, Cluster
from fairjudge.references.replies import read_questions
from fairjudge.text.chunks import chunks
from fairjudge.text.scripts import count_words, first_words
from fairjudge.text.sentences import is_question, news_sentences, sentence_texts
from fairjudge.text.tokens import words
from fairjudge.text.usable import usable

THAI = "ภาษาไทยเป็นภาษาที่สวยงาม"  # 24 characters; 7 of them are marks above or below a letter


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("one — two, three", 4),  # pieces between white space, as ever
        ("渡轮在维尔角附近搁浅。", 7),  # 10 characters by 1.5, rounded up
        ("渡轮 搁浅", 3),  # 4 characters by 1.5
        ("The 渡轮 ran", 4),  # 2 words and 2 characters by 1.5
        ("나는 학교에 갔다", 3),  # Korean has spaces
        ("བོད་ཡིག་ནི", 3),  # Tibetan parts syllables by a mark
        ("\u200b \ufeff", 0),
        ("", 0),
    ],
)
def test_words_of_any_script_are_counted(text, n):
    assert count_words(text) == n


def test_thai_letters_count_without_their_marks():
    assert count_words(THAI) == -(-sum(c.isalpha() for c in THAI) // 4)


@given(st.text(alphabet=st.characters(max_codepoint=0x24F, exclude_categories=("Cf", "Cc"))))
def test_spaced_scripts_are_counted_by_whitespace(text):
    assert count_words(text) == len(text.split())


@given(st.text(max_size=60), st.integers(0, 20))
def test_first_words_are_at_most_the_requested_number(text, limit):
    assert count_words(first_words(text, limit)) <= limit


def test_short_text_keeps_all_words():
    assert first_words("渡轮 在维尔角", 10) == "渡轮 在维尔角"
    assert first_words("one two three", 2) == "one two"


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("今天下雨了。明天会晴吗？我不知道！", ["今天下雨了。", "明天会晴吗？", "我不知道！"]),
        ("هذا نص. هل هذا سؤال؟ نعم۔ التالي.", ["هذا نص.", "هل هذا سؤال؟", "نعم۔", "التالي."]),
        ("यह एक वाक्य है। दूसरा वाक्य॥", ["यह एक वाक्य है।", "दूसरा वाक्य॥"]),
        ("នេះជាប្រយោគ។ប្រយោគទីពីរ៕", ["នេះជាប្រយោគ។", "ប្រយោគទីពីរ៕"]),
        (
            "นี่คือประโยคแรก นี่คือประโยคที่สอง และนี่คือประโยคที่สาม",
            ["นี่คือประโยคแรก", "นี่คือประโยคที่สอง", "และนี่คือประโยคที่สาม"],
        ),
    ],
)
def test_sentences_end_as_their_script_ends_them(text, sentences):
    assert list(sentence_texts(text)) == sentences


@pytest.mark.parametrize("text", ["前" * 5000, THAI * 200, "word " * 9000, "x" * 25_000])
def test_sentence_length_is_bounded_without_losing_letters(text):
    result = sentence_texts(text)
    assert len(result) > 1
    assert "".join(result).replace(" ", "") == text.replace(" ", "")
    assert max(map(len, result)) <= 10_000


def test_chinese_chunk_respects_its_limit():
    sentences = sentence_texts("渡轮在维尔角附近搁浅。" * 100)
    assert all(count_words(chunk) <= 100 for chunk in chunks(sentences))
    assert len(chunks(sentences, max_words=100)) < len(chunks(sentences, max_words=0)) + 100


@pytest.mark.parametrize(
    "text",
    [
        "谁负责修理航道的灯？", "誰が航路灯を修理しますか。", "من المسؤول عن إصلاح الأضواء؟",
        "बत्तियों की मरम्मत कौन करेगा?", "ใครรับผิดชอบการซ่อมไฟ", "Ποιος θα επισκευάσει τα φώτα;",
        "Ո՞վ կվերանորոգի լույսերը։", "Who repairs the lights?",
    ],
)  # fmt: skip
def test_questions_of_any_script_are_read(text):
    reply = json.dumps({"questions": [text]}, ensure_ascii=False)
    assert read_questions(reply, limit=3, max_words=20) == (text.strip(),)


@pytest.mark.parametrize("text", ["渡轮搁浅了。", "The lights; they failed", "Lights are out."])
def test_statement_is_not_a_question(text):
    assert not is_question(text)


def test_too_short_and_long_chinese_questions_are_dropped():
    reply = json.dumps({"questions": ["谁？", "谁" * 200 + "？", "谁修理灯？"]})
    assert read_questions(reply, limit=3, max_words=20) == ("谁修理灯？",)


@pytest.mark.parametrize(
    "text",
    [
        "渡轮在维尔角附近搁浅，岛上居民指责旧航道灯",
        "항구 당국은 배를 멈추고 선원을 조사했다",
        "قال المسؤول إن الأضواء القديمة تعطلت",
        "नदी का पानी सोमवार को बढ़ गया",
    ],
)
def test_caseless_line_without_full_stop_is_not_a_heading(text):
    assert news_sentences(text)


def test_chinese_article_is_not_a_stub():
    chinese = (
        "周一，渡轮奥斯特里亚号在维尔角附近搁浅。岛上居民指责旧航道灯，说港务局三年前就收到过警告。"
        "港务局长否认，并表示将公布维修记录。两名船员已被停职，调查预计需要六周。"
    )
    english = "The ferry ran aground near the point on Monday, officials said. " * 5
    cluster = Cluster.model_validate(
        {
            "eid": "ferry",
            "articles": [{"aid": "zh", "content": chinese}, {"aid": "en", "content": english}],
        }
    )
    articles, skipped = usable(cluster.articles)
    assert [item.aid for item in articles] == ["zh", "en"]
    assert skipped == ()
    assert usable([*cluster.articles, Article(aid="stub", content="渡轮搁浅。")])[1]


def test_unspaced_text_gives_overlapping_pieces():
    assert words("渡轮搁浅, ok 灯") == ["渡轮", "轮搁", "搁浅", "ok", "灯"]
    assert words("ที่นี่ดี") == ["ที่นี่ดี"]  # three letters with their marks
    assert words("กขคง") == ["กขค", "ขคง"]
