"""From articles in six languages to a reference, verdicts, fairness and bias: nothing is dropped.

The texts say one thing each about a ferry that ran aground; every sentence is an answer.
"""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path

import pytest
from cli_tools import openai, text_of, write_jsonl
from json_files import read_json, read_rows

SENTENCES = {
    "zh": (
        "周一，渡轮奥斯特里亚号在维尔角附近搁浅，船上八十四名乘客被救生艇接走。",
        "岛上居民指责旧航道灯，说港务局三年前就收到过警告，但一直没有更换。",
        "港务局长否认了这一说法，并表示将在两周内公布全部维修记录。",
    ),
    "ja": (
        "月曜日、フェリー「オストレア」がヴェル岬の近くで座礁し、乗客は救命艇で避難した。",
        "島の住民は古い航路灯のせいだと述べ、港湾局は三年前に警告を受けていたと話した。",
        "港湾局長はこれを否定し、修理記録をすべて公開すると約束した。",
    ),
    "ar": (
        "جنحت العبارة أوستريا قرب رأس فيل يوم الاثنين وأنقذت قوارب النجاة جميع الركاب.",
        "ألقى سكان الجزيرة باللوم على أضواء القناة القديمة "
        "وقالوا إن الميناء تلقى تحذيرا قبل ثلاث سنوات.",
        "هل تنشر الهيئة سجلات الصيانة؟",
        "نفى مدير الميناء ذلك ووعد بنشر جميع سجلات الصيانة خلال أسبوعين.",
    ),
    "hi": (
        "सोमवार को नौका ओस्ट्रिया वेल पॉइंट के पास फँस गई और सभी यात्रियों को बचा लिया गया।",
        "द्वीप के निवासियों ने पुरानी बत्तियों को दोष दिया "
        "और कहा कि तीन साल पहले चेतावनी दी गई थी।",
        "बंदरगाह प्रमुख ने इससे इनकार किया और कहा कि मरम्मत के सभी अभिलेख प्रकाशित किए जाएँगे।",
    ),
    "th": (
        "เรือข้ามฟากออสเตรียเกยตื้นใกล้แหลมเวลเมื่อวันจันทร์และผู้โดยสารทุกคนได้รับการช่วยเหลือ",
        "ชาวเกาะกล่าวโทษไฟร่องน้ำเก่าและบอกว่าการท่าเรือได้รับคำเตือนเมื่อสามปีก่อนแล้ว",
        "ผู้อำนวยการท่าเรือปฏิเสธเรื่องนี้และสัญญาว่าจะเปิดเผยบันทึกการซ่อมทั้งหมดภายในสองสัปดาห์",
    ),
    "en": (
        "The fer\u00adry Ostrea ran a\u200bground near Vell "
        "Point on Monday and all passen\u2060gers were saved.",
        "Islanders blamed the old chan\u00adnel lights and said "
        "that the port was warned three years ago.",
        "The har\u200bbour master denied it and promised "
        "to publish the repair re\ufeffcords in two weeks.",
    ),
}  # fmt: skip
QUESTIONS = (
    "谁应对旧航道灯负责？",
    "港湾局はいつ警告を受けましたか？",
    "من المسؤول عن أضواء القناة القديمة؟",
    "बत्तियों के लिए कौन ज़िम्मेदार है?",
    "ใครรับผิดชอบไฟร่องน้ำเก่า",
    "Who is to blame for the channel lights?",
)
SPACES = {"th": " ", "zh": "", "ja": ""}


def content(language: str) -> str:
    return SPACES.get(language, " ").join(SENTENCES[language])


def articles() -> list[dict[str, object]]:
    return [
        {
            "aid": language,
            "domain": f"{language}.example",
            "content": content(language),
            "attributes": {"region": "east" if language in {"zh", "ja", "th"} else "west"},
        }
        for language in SENTENCES
    ]


def sentence_of(prompt: str, number: int) -> str:
    """Return the sentence of the prompt's article that answers the question of that number."""
    sentences = next(items for items in SENTENCES.values() if items[0] in prompt)
    return sentences[number % len(sentences)]


def scripted(call: object, questions: tuple[str, ...] = QUESTIONS) -> str:
    """Answer the prompts of building and judging."""
    text = text_of(call)
    if '{"questions": [{' in text:
        requests = [
            {"question": question, "articles": [1, 2, 3, 4, 5, 6]} for question in questions
        ]
        return json.dumps({"questions": requests}, ensure_ascii=False)
    if '{"answers": [{' in text:
        fields = {"speaker": None, "stance": "endorses", "gloss": None}
        n = len(re.findall(r"^\d+\. ", text, re.MULTILINE)) or len(questions)
        quotes = [{"question": k, "quote": sentence_of(text, k), **fields} for k in range(1, n + 1)]
        return json.dumps({"answers": quotes}, ensure_ascii=False)
    if '{"sorted": [{' in text:
        numbers = [int(n) for n in re.findall(r"^(\d+)\. \(", text, re.MULTILINE)]
        halves = [half for half in (numbers[::2], numbers[1::2]) if half]
        listed = [
            {"label": lamp * 200, "answers": half, "disputed_by": []}
            for lamp, half in zip("灯燈", halves, strict=False)
        ]
        number = int(re.search(r"^<answers \w+ to question (\d+)>", text, re.MULTILINE)[1])
        rivals = [[1, 2]] if len(listed) == 2 else []
        row = {"question": number, "groups": listed, "rivals": rivals, "invalid": []}
        return json.dumps({"sorted": [row]}, ensure_ascii=False)
    return "Reasons.\nVerdict: 3"


@pytest.fixture
def files(server) -> Path:
    server.answer = scripted
    write_jsonl(Path("clusters.jsonl"), [{"eid": "ferry", "articles": articles()}])
    texts = {"whole": " ".join(content(item) for item in SENTENCES), "english": content("en")}
    rows = [{"eid": "ferry", "system": name, "text": text} for name, text in texts.items()]
    return write_jsonl(Path("summaries.jsonl"), rows)


@pytest.mark.parametrize("questions", [QUESTIONS[:3], QUESTIONS[3:]])
def test_reference_contains_answers_in_six_languages(cli, server, files, questions):
    server.answer = partial(scripted, questions=questions)
    cli(
        "build", "clusters.jsonl", "-o", "refs.jsonl", *openai(server),
        "--consolidation", "llm", "--questions", "3", "--json", "build.json", code=0,
    )  # fmt: skip
    (cluster,) = read_json("build.json")["clusters"]
    assert cluster["n_articles"] == 6
    assert sorted(cluster["used"]) == sorted(SENTENCES)
    assert cluster["unused"] == []
    (row,) = read_rows("refs.jsonl")
    by_name = {item["question"] for item in row["question_answers"]}
    assert by_name == set(questions)
    labels = [label for item in row["question_answers"] for label in item["group_labels"]]
    assert max(map(len, labels)) < 40  # ten words, and not the 200 characters of the reply


def judging(summaries):
    inputs = ("--references", "clusters.jsonl", "--summaries", summaries, "--reference-unit")
    options = ("articles", "--aspect", "faithfulness", "--protocol", "likert")
    return ("judge", *inputs, *options, "-o", "judgements.jsonl", "--json", "judge.json")


def test_judge_prompt_contains_every_article(cli, server, files):
    cli(*judging(files), *openai(server), code=0)
    prompts = [text_of(call) for call in server.calls]
    assert len(prompts) == 2
    assert all(content(language) in prompt for prompt in prompts for language in SENTENCES)
    assert read_json("judge.json")["articles_left_out"] == []


def test_article_missing_from_all_prompts_is_named(cli, server, files):
    stub = {"aid": "stub", "domain": "x.example", "content": "渡轮。"}
    write_jsonl(Path("clusters.jsonl"), [{"eid": "ferry", "articles": [*articles(), stub]}])
    judged = cli(*judging(files), *openai(server), code=0)
    (left_out,) = read_json("judge.json")["articles_left_out"]
    assert (left_out["eid"], left_out["aid"]) == ("ferry", "stub")
    assert left_out["why"].startswith("stub: 0 words of news")
    assert "Excluded from prompts: 1 article: ferry/stub (stub:" in judged.out
    result = cli(
        "summarize",
        "clusters.jsonl",
        "-o",
        "written.jsonl",
        *openai(server),
        "--json",
        "s.json",
        code=0,
    )
    assert read_json("s.json")["articles_left_out"] == [left_out]
    assert "ferry/stub" in result.out


def unseen(text: str) -> str:
    """Put a soft hyphen into each longer word of a spaced script."""
    return re.sub(r"([A-Za-z]{3})([A-Za-z]{3,})", "\\1\u00ad\\2", text)


def figures(cli, name: str, *, hidden: bool) -> dict[str, object]:
    rows = articles()
    for row in rows:
        plain = re.sub("[\u00ad\u200b\u2060\ufeff]", "", str(row["content"]))
        row["content"] = unseen(plain) if hidden else plain
    write_jsonl(Path(f"{name}.jsonl"), [{"eid": f"e{n}", "articles": rows} for n in range(3)])
    texts = [
        {"eid": f"e{n}", "system": "s", "text": " ".join(str(row["content"]) for row in rows[:4])}
        for n in range(3)
    ]
    write_jsonl(Path("texts.jsonl"), texts)
    cli(
        "fairness", "proportional", f"{name}.jsonl", "--summaries", "texts.jsonl",
        "--attribute", "region", "--json", f"{name}.json", code=0,
    )  # fmt: skip
    return read_json(f"{name}.json")["systems"]


def test_fairness_counts_all_articles_ignoring_invisible_characters(cli, files):
    plain = figures(cli, "plain", hidden=False)
    assert plain == figures(cli, "hidden", hidden=True)
    assert plain


def test_word_lists_of_three_scripts_are_counted(cli, files):
    lists = {
        "islanders": ["居民", "住民", "islanders", "ชาวเกาะ"],
        "port": ["港务局", "港湾局", "port"],
    }
    Path("lists.json").write_text(json.dumps(lists, ensure_ascii=False), "utf-8")
    cli(
        "bias", "words", "clusters.jsonl", "--summaries", files, "--lists", "lists.json",
        "--json", "bias.json", code=0,
    )  # fmt: skip
