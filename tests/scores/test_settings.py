"""Two settings of one judge are two judges on a page and in a calibration."""

import json

from cli_tools import write_jsonl
from invoking import run
from json_files import read_json

from fairjudge.analysis.reporting import make_report
from fairjudge.domain import Judgement
from fairjudge.scores.leaderboards import leaderboards
from fairjudge.scores.settings import separate_settings


def rows(scale: str, values: tuple[int, ...], **more) -> list[dict]:
    return [
        {"eid": f"e{n}", "system": "s", "aspect": "quality", "protocol": "likert", "judge": "gpt"}
        | {"value": value, "signature": f"judge:gpt|scale:{scale}|version:0.1.0"}
        | more
        for n, value in enumerate(values)
    ]


def judged(*some: dict) -> list[Judgement]:
    return [Judgement.model_validate(row) for row in some]


TWO = [*rows("1-5", (1, 2, 3, 4, 5, 5)), *rows("1-7", (2, 3, 4, 6, 7, 7))]


def test_two_scales_on_one_item_count_as_two_judges():
    result = separate_settings(judged(*TWO))
    assert list(dict.fromkeys(row.judge for row in result)) == ["gpt, scale 1-5", "gpt, scale 1-7"]
    assert [board.n_judgements for board in leaderboards(result, n_resamples=20)] == [6, 6]


def test_run_in_two_parts_is_one_judge():
    """Another signature on other items alone, such as a fallback's, is the same board."""
    first, second = rows("1-5", (1, 2)), rows("1-5", (3, 4))
    for row in second:
        row |= {"eid": f"more{row['eid']}", "signature": "judge:gpt|fallback:local"}
    assert separate_settings(judged(*first, *second)) == judged(*first, *second)


def test_repeats_and_variants_are_not_separate_settings():
    again = [*rows("1-5", (1, 2), repeat=0), *rows("1-5", (2, 2), repeat=1)]
    assert {row.judge for row in separate_settings(judged(*again))} == {"gpt"}
    variants = [*rows("1-5", (1, 2), variant="a"), *rows("other", (2, 2), variant="b")]
    assert {row.judge for row in separate_settings(judged(*variants))} == {"gpt"}


def test_page_and_calibration_show_both_judges(tmp_path):
    write_jsonl(tmp_path / "five.jsonl", TWO[:6])
    write_jsonl(tmp_path / "seven.jsonl", TWO[6:])
    page = make_report(tmp_path / "five.jsonl", tmp_path / "seven.jsonl").html
    assert "Quality, by gpt, scale 1-5" in page
    assert "Quality, by gpt, scale 1-7" in page
    labels = [
        {"eid": f"e{n}", "system": "s", "aspect": "quality", "annotator": "p", "value": value}
        for n, value in enumerate((1, 2, 3, 4, 4, 5))
    ]
    path = write_jsonl(tmp_path / "both.jsonl", TWO)
    items = ["--labels", write_jsonl(tmp_path / "labels.jsonl", labels)]
    command = ["calibrate", path, *items, "--json", tmp_path / "c.json", "--resamples", 100]
    run(*command)
    groups = read_json(tmp_path / "c.json")["groups"]
    assert [group["judge"] for group in groups] == ["gpt, scale 1-5", "gpt, scale 1-7"]
    assert [group["n_items"] for group in groups] == [6, 6]


def test_judgement_has_the_same_url_in_every_report(tmp_path):
    """Beside another setting of its judge it is shown under another name, and found as before."""
    write_jsonl(tmp_path / "five.jsonl", TWO[:6])
    write_jsonl(tmp_path / "seven.jsonl", TWO[6:])
    alone = _addresses(make_report(tmp_path / "five.jsonl").html)
    beside = _addresses(make_report(tmp_path / "seven.jsonl", tmp_path / "five.jsonl").html)
    assert set(alone) == {"gpt"}
    assert set(beside) == {"gpt, scale 1-5", "gpt, scale 1-7"}
    assert beside["gpt, scale 1-5"] == alone["gpt"]
    assert not set(beside["gpt, scale 1-7"]) & set(alone["gpt"])


def _addresses(html: str) -> dict[str, list[str]]:
    start = html.index('id="data">') + len('id="data">')
    judged = json.loads(html[start : html.index("</script>", start)])["judgements"]
    by_name: dict[str, list[str]] = {}
    for judge, address in zip(
        judged["columns"]["judge"], judged["columns"]["address"], strict=True
    ):
        by_name.setdefault(judged["names"]["judge"][judge], []).append(address)
    return by_name
