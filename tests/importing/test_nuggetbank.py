"""References to NuggetBank and back, and banks to references and back; autojudge-base validates."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from invoking import invoke, run
from json_files import read_json, read_rows
from missing import missing

import fairjudge as fj
from fairjudge.datasets import read_references, write_records
from fairjudge.domain import GROUP_LISTS, Reference
from fairjudge.errors import InputError
from fairjudge.exporting.targets import export_records
from fairjudge.importing import import_file

FULL = {
    "eid": "e1",
    "articles": [
        {"aid": "a", "title": "A title", "url": "http://a.example", "domain": "a.example",
         "content": "It rained.", "used": True},
        {"aid": "b", "domain": "b.example", "content": "It did not rain.", "attributes": {"x": 1}},
        {"aid": "unused", "content": ""},
    ],
    "question_answers": [
        {
            "question": "Why did it flood?",
            "answer_groups": [
                [{"aid": "a", "answer": "rain", "speaker": "The mayor", "stance": "reports"},
                 {"aid": "a", "answer": "much rain", "gloss": "on Monday"},
                 {"aid": "b", "answer": "no rain", "stance": "disputes", "speaker": None}],
                [{"aid": "b", "answer": "the dam"}],
            ],
            "group_labels": ["It rained.", "The dam broke."],
            "group_sources": [{"support": ["a"], "dispute": ["b"]}, {"support": ["b"]}],
            "group_weights": [3, 0.5],
            "group_importance": ["vital", None],
            "kind": "rivals",
            "rivals": [[0, 1]],
            "mine": {"kept": [1]},
        },
        {"question": "Same words?", "answer_groups": [[{"aid": "a", "answer": "x"}]]},
        {"question": "Same words?", "answer_groups": [[{"aid": "a", "answer": "x"}],
                                                      [{"aid": "b", "answer": "x"}], []]},
    ],
    "meta": {"signature": "s"},
}  # fmt: skip


@pytest.fixture
def models(monkeypatch):
    """The data models of autojudge-base, which fetches data of NLTK's where it is imported."""
    try:
        import nltk

        monkeypatch.setattr(nltk, "download", lambda *_, **__: True)
        from autojudge_base import nugget_data
    except ImportError:
        missing("autojudge-base: pip install --group dev")
    return nugget_data


def banks(references, path: Path):
    export_records(references, path, to="nuggetbank")
    return read_rows(path)


def without_texts(reference):
    articles = [article | {"content": ""} for article in reference["articles"]]
    return reference | {"articles": articles}


def there_and_back(row, path):
    banks([Reference.model_validate(row)], path)
    (back,) = import_file(path).references
    return back.to_json()


def test_reference_round_trips_except_article_texts(tmp_path):
    assert there_and_back(FULL, tmp_path / "bank.jsonl") == without_texts(FULL)


def test_nugget_bank_is_readable_by_another_tool(tmp_path, models):
    path = tmp_path / "bank.jsonl"
    banks([Reference.model_validate(FULL)], path)
    bank = models.load_nugget_banks_from_file(path).banks["e1"]
    assert [nugget.question for nugget in bank.nuggets_as_list()] == [
        "Why did it flood?", "Same words?", "Same words?",
    ]  # fmt: skip
    first = bank.nugget_bank["Why did it flood?"]
    assert first.aggregator_type == models.nugget_data.AggregatorType.AND
    assert {words: answer.importance for words, answer in first.answers.items()} == {
        "It rained.": "vital", "The dam broke.": None,
    }  # fmt: skip
    references = first.answers["It rained."].references
    assert [(item.doc_id, item.text) for item in references] == [
        ("a", "rain"), ("a", "much rain"), ("b", "no rain"),
    ]  # fmt: skip


def test_bank_rewritten_by_another_tool_loses_nothing(tmp_path, models):
    path, again = tmp_path / "bank.jsonl", tmp_path / "again.jsonl"
    banks([Reference.model_validate(FULL)], path)
    models.write_nugget_banks(models.load_nugget_banks_from_file(path), again)
    (back,) = import_file(again).references
    assert back.to_json() == without_texts(FULL)


words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
answers = st.fixed_dictionaries(
    {"aid": st.sampled_from("abc"), "answer": words},
    optional={
        "speaker": st.none() | words,
        "stance": st.sampled_from(["endorses", "reports", "disputes"]),
        "gloss": words,
        "own": st.integers(),
    },
)
LISTS = {
    "group_labels": words,
    "group_sources": st.fixed_dictionaries({"support": st.lists(st.sampled_from("abc"))}),
    "group_weights": st.integers(0, 5) | st.floats(0, 5),
    "group_importance": st.sampled_from(["vital", "okay", None]),
}


@st.composite
def questions(draw):
    groups = draw(st.lists(st.lists(answers, max_size=3), max_size=3))
    by_name = {"question": draw(words.filter(bool)), "answer_groups": groups}
    for name in GROUP_LISTS:
        if groups and draw(st.booleans()):
            n = len(groups)
            by_name[name] = draw(st.lists(LISTS[name], min_size=n, max_size=n))
    if draw(st.booleans()):
        by_name["aggregator_type"] = draw(st.sampled_from(["AND", "OR"]))
    return by_name


@given(asked=st.lists(questions(), max_size=3))
@settings(max_examples=150, deadline=None)
def test_any_reference_round_trips(asked, tmp_path_factory):
    row = {
        "eid": "e",
        "articles": [{"aid": aid, "content": ""} for aid in "abc"],
        "question_answers": asked,
    }
    row = Reference.model_validate(row).to_json()
    path = tmp_path_factory.mktemp("banks") / "bank.jsonl"
    assert there_and_back(row, path) == row


def test_recorded_references_round_trip(shared_data, tmp_path):
    path = shared_data / "recorded_llm" / "references_v1.jsonl"
    if not path.is_file():
        pytest.skip(f"no recorded references at {path}")
    (reference,) = read_references(path).records
    back = there_and_back(reference.to_json(), tmp_path / "bank.jsonl")
    request = reference.to_json()["question_answers"]
    assert (len(request), sum(len(item["answer_groups"]) for item in request)) == (11, 53)
    assert back == without_texts(reference.to_json())


def test_real_banks_round_trip(shared_data, tmp_path, models):
    path = shared_data / "nuggets" / "default.nuggets.jsonl"
    if not path.is_file():
        pytest.skip(f"no nugget banks at {path}")
    result = import_file(path)
    assert (result.tool, len(result.references)) == ("nuggetbank", 122)
    assert sum(len(reference.question_answers) for reference in result.references) == 366
    assert banks(result.references, tmp_path / "bank.jsonl") == read_rows(path)


def bank(**more):
    answers = {"Rain.": {"answer": "Rain.", "references": ["d1", {"doc_id": "d2", "text": "wet"}]}}
    question = {"question": "Why?", "answers": answers, **more}
    return {"query_id": "t", "title_query": "A flood", "nugget_bank": {"Why?": question}}


def read_one(write_file, row):
    (reference,) = import_file(write_file("bank.json", row)).references
    return reference


def test_documents_become_articles_and_quotes_become_wordings(write_file):
    records = read_one(write_file, bank(importance="vital", aggregator_type="OR"))
    (question,) = records.question_answers
    (group,) = question.groups()
    assert [article.aid for article in records.articles] == ["d1", "d2"]
    assert [(answer.aid, answer.answer) for answer in group.answers] == [
        ("d1", "Rain."),
        ("d2", "wet"),
    ]
    assert (group.label, group.importance, group.weight) == ("Rain.", "vital", 2)
    assert question.model_extra["aggregator_type"] == "OR"


def test_numeric_importance_becomes_group_weight(write_file):
    row = bank()
    answers = row["nugget_bank"]["Why?"]["answers"]
    answers["Rain."]["importance"] = 4
    answers["The dam."] = {"answer": "The dam.", "importance": 1}
    (question,) = read_one(write_file, row).question_answers
    assert [group.weight for group in question.groups()] == [4, 1]
    assert question.group_importance is None


def test_claims_become_groups_of_one_question(write_file, tmp_path, models):
    row = {
        "query_id": "t", "title_query": "A flood", "format_version": "v3",
        "claim_bank": {"It rained.": {"claim": "It rained.", "query_id": "t", "quality": 2,
                                      "importance": "okay", "references": [{"doc_id": "d"}]}},
    }  # fmt: skip
    records = read_one(write_file, row)
    (question,) = records.question_answers
    assert question.question == "A flood"
    assert question.group_importance == ("okay",)
    (back,) = banks([records], tmp_path / "b.jsonl")
    plain = models.NuggetBank.model_validate
    assert plain(back).model_dump() == plain(row).model_dump()


def test_bank_specific_fields_are_kept(write_file, tmp_path, models):
    row = bank(creator=[{"is_human": True, "creation_date": "2026-01-01"}], quality=3)
    question = row["nugget_bank"]["Why?"]
    question["query_id"] = "t"
    question["sub_nuggets"] = [{"claim": "Wet.", "query_id": "t"}]
    question["answers"]["Rain."] |= {"quality": "good", "metadata": {"a": 1}}
    question["answers"]["Rain."]["references"] = [
        {"doc_id": "d1", "offsets": {"start_offset": 1, "end_offset": 2, "encoding": "utf-8"}}
    ]
    row |= {"full_query": {"background": "b"}, "metadata": {"b": 2}, "test_collection": "c"}
    (back,) = banks([read_one(write_file, row)], tmp_path / "b.jsonl")
    plain = models.NuggetBank.model_validate
    assert plain(back).model_dump() == plain(row).model_dump()


def test_ragtime_2026_lists_are_read(write_file):
    row = {
        "metadata": {"team_id": "x", "topic_id": "t1", "run_id": "r"},
        "nugget_bank": [{"question": "Why?", "aggregator_type": "AND",
                         "answers": [{"answer": "Rain.", "references": ["d"]}, "Wind."]}],
    }  # fmt: skip
    records = read_one(write_file, row)
    assert records.eid == "t1"
    assert [article.aid for article in records.articles] == ["d", "no-document"]
    assert [item.answers[0].answer for item in records.question_answers[0].groups()] == [
        "Rain.", "Wind.",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"nugget_bank": {"Why?": 3}}, "expected an object, found 3|expected an object"),
        ({"nugget_bank": {"": {}}}, "'question'"),
        ({"nugget_bank": {"Why?": {"answers": [{"answer": ""}]}}}, "must not be empty"),
        ({"nugget_bank": {"Why?": {"answers": {"x": {"references": [{}]}}}}}, "'doc_id'"),
        ({"nugget_bank": None}, "expected a bank of questions or of claims"),
        # of the record that a bank becomes, by the path to the value
        (
            {"metadata": {"fairjudge": {"articles": [{"aid": "a", "content": 7}]}}},
            r"field 'articles\[0\]\.content': expected text, found the number 7",
        ),
        (
            {"title_query": 3.5, "claim_bank": [{"claim": "It rained."}]},
            "field 'title_query': expected text, found the number 3.5",
        ),
    ],
)
def test_error_names_file_and_line(write_file, change, problem):
    path = write_file("banks.jsonl", [bank(), bank() | {"query_id": "u"} | change])
    with pytest.raises(InputError, match=problem) as error:
        import_file(path)
    assert str(error.value).startswith(f"{path}:2: ")
    assert len(import_file(path, skip_bad=True).references) == 1


def test_two_banks_of_one_topic_raise(write_file):
    with pytest.raises(InputError, match="a second bank of topic 't'"):
        import_file(write_file("banks.jsonl", [bank(), bank()]))


def test_the_commands_write_and_read_banks(write_file, tmp_path):
    reference, nuggets, back = (tmp_path / f"{name}.jsonl" for name in ("r", "n", "back"))
    write_records(reference, [FULL])
    result = invoke("data", "export", reference, "-o", nuggets, "--to", "nuggetbank")
    assert (result.exit_code, "1 row written" in result.output) == (0, True), result.output
    result = run("data", "import", nuggets, "--references", back)
    assert f"1 reference written to {back}" in result.output
    assert read_references(back).records[0].to_json() == without_texts(FULL)

    result = invoke("data", "import", nuggets, "-o", tmp_path / "j.jsonl")
    assert "only contains references: use --references, not -o" in str(result.exception)
    result = invoke("data", "export", reference, "-o", "-", "--to", "nuggetbank", "--judge", "j")
    assert result.exit_code == 2


def test_references_are_exported_from_python(tmp_path):
    built = read_references([FULL])
    fj.export(built, tmp_path / "bank.jsonl", format="nuggetbank")
    assert read_json(tmp_path / "bank.jsonl")["query_id"] == "e1"
    with pytest.raises(fj.errors.ConfigurationError, match="only reference records can be written"):
        fj.export([{"a": 1}], tmp_path / "x.jsonl", format="nuggetbank")
