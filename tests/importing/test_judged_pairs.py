"""Pairs that others had judged: both orders in terms of the same two systems.

Layouts from lm-sys/FastChat (``llm_judge/common.py``), tatsu-lab/alpaca_eval, princeton-nlp/LLMBar
and ScalerLab/JudgeBench (``run_judge.py``, ``utils/judges.py``).
"""

import gzip
import json
from collections import Counter

import pytest

from fairjudge.errors import InputError
from fairjudge.importing import import_file


def verdicts(data):
    return [(item.order, item.value if item.unscored is None else item.unscored) for item in data]


def mt_pair(**changes):
    return {
        "question_id": 81,
        "model_1": "alpha",
        "model_2": "beta",
        "g1_winner": "model_1",
        "g2_winner": "model_1",
        "judge": ["gpt-4", "pair-v2"],
        "g1_user_prompt": "...",
        "g1_judgment": "A is more helpful. [[A]]",
        "g2_user_prompt": "...",
        "g2_judgment": "B is more helpful. [[B]]",
        "turn": 1,
        "tstamp": 1.5,
        **changes,
    }


def test_mt_bench_pairs_give_both_orders_of_one_pair(write_file):
    rows = [
        mt_pair(),
        mt_pair(question_id=82, g1_judgment="[[C]]", g1_winner="tie"),
        mt_pair(question_id=83, g1_judgment="$ERROR$", g1_winner="error"),
        mt_pair(question_id=84, g2_judgment="I can't say.", g2_winner="error"),
        mt_pair(question_id=85, g1_judgment=None, g1_winner="model_2"),
    ]
    result = import_file(write_file("gpt-4_pair.jsonl", rows))
    assert result.tool == "mt-bench"
    assert verdicts(result.judgements) == [
        ("ab", "a"), ("ba", "a"),
        ("ab", "tie"), ("ba", "a"),
        ("ab", "backend"), ("ba", "a"),
        ("ab", "a"), ("ba", "unparseable"),
        ("ab", "b"), ("ba", "a"),
    ]  # fmt: skip
    assert result.n_rows == 2 * len(rows)
    assert result.n_reread == 0
    first = result.judgements[0]
    assert (first.eid, first.system_a, first.system_b, first.aspect, first.judge) == (
        "81", "alpha", "beta", "turn 1", "gpt-4/pair-v2",
    )  # fmt: skip


def test_mt_bench_ratings(write_file):
    row = {
        "question_id": 81,
        "model": "alpha",
        "judge": ["gpt-4", "single-v1"],
        "user_prompt": "...",
        "judgment": "Clear and right. Rating: [[8]]",
        "score": 8,
        "turn": 2,
        "tstamp": 1.0,
    }
    rows = [
        row,
        row | {"question_id": 82, "judgment": "No rating.", "score": -1},
        row | {"question_id": 83, "judgment": "$ERROR$", "score": -1},
        row | {"question_id": 84, "judgment": "Rating: [[7.5]]", "score": 7.5},
    ]
    result = import_file(write_file("gpt-4_single.jsonl", rows))
    assert [judgement.value for judgement in result.judgements] == [8.0, None, None, 7.5]
    assert [judgement.unscored for judgement in result.judgements] == [
        None,
        "unparseable",
        "backend",
        None,
    ]
    assert {
        (judgement.protocol, judgement.aspect, judgement.system) for judgement in result.judgements
    } == {("likert", "turn 2", "alpha")}
    assert result.n_rows == 4


def test_mt_bench_votes_of_people_are_labels(write_file):
    row = {
        "question_id": 81,
        "model_a": "alpha",
        "model_b": "beta",
        "winner": "model_b",
        "judge": "expert_1",
        "turn": 1,
        "conversation_a": [],
        "conversation_b": [],
    }
    rows = [row, row | {"winner": "tie"}, row | {"winner": "?"}]
    result = import_file(write_file("human.jsonl", rows))
    assert [(label.annotator, label.value) for label in result.labels] == [
        ("expert_1", "b"),
        ("expert_1", "tie"),
    ]
    assert [item.line for item in result.skipped] == [3]
    assert result.n_rows == 3


def alpaca(**changes):
    return {
        "instruction": "Say something.",
        "output_1": "one",
        "generator_1": "text_davinci_003",
        "dataset": "vicuna",
        "output_2": "two",
        "generator_2": "alpha",
        "annotator": "weighted_alpaca_eval_gpt4_turbo",
        "preference": 1.0,
        "price_per_example": 0.001,
        "time_per_example": 0.4,
        "raw_completion": {"logprobs": {"content": []}},
        **changes,
    }


def test_alpaca_eval_preferences_are_probabilities_and_null_is_unscored(write_file):
    rows = [
        alpaca(),
        alpaca(instruction="2", preference=1.75, raw_completion="M"),
        alpaca(instruction="3", preference=None),
        alpaca(instruction="4", preference=1.5),
        alpaca(instruction="5", preference=float("nan")),
        alpaca(instruction="6", preference=0),
    ]
    result = import_file(write_file("annotations.json", rows))
    assert verdicts(result.judgements) == [
        (None, "a"), (None, "b"), (None, "unparseable"), (None, "tie"), (None, "unparseable"),
        (None, "tie"),
    ]  # fmt: skip
    assert result.judgements[1].probabilities == {"a": 0.25, "b": 0.75}
    assert result.judgements[1].raw == "M"
    assert "parser" not in result.judgements[1].signature
    assert result.n_rows == len(rows)


def test_alpaca_eval_items_of_one_instruction_are_distinguished_by_their_outputs(write_file):
    rows = [alpaca(), alpaca(output_2="another"), alpaca(preference=2)]
    result = import_file(write_file("annotations.json", rows)).judgements
    assert result[0].eid == result[2].eid
    assert [item.repeat for item in result] == [0, None, 1]
    assert result[1].eid == f"{result[0].eid}#2"


def test_alpaca_eval_preference_outside_1_to_2_raises(write_file):
    with pytest.raises(InputError, match="field 'preference': expected 0 or 1 to 2, not 3"):
        import_file(write_file("annotations.json", [alpaca(preference=3)]))


def llmbar(**changes):
    by_name = {"completion": ["Output (a)", "stop"], "winner": "1"}
    return {
        "input": "Say it in French.",
        "output_1": "Oui.",
        "output_2": "Yes.",
        "label": 1,
        "results": [{"swap = False": by_name, "swap = True": {**by_name, "winner": "2"}}],
        **changes,
    }


def test_llmbar_pairs_are_read_in_both_orders_with_the_right_answer(write_file):
    long = ["Both have merits and there is more to", "length"]
    rows = [
        llmbar(),
        llmbar(
            input="2",
            label=2,
            results=[
                {
                    "swap = False": {"completion": long, "winner": None},
                    "swap = True": {"completion": ["Output (b) is better.", "stop"], "winner": "2"},
                }
            ],
        ),
    ]
    result = import_file(write_file("ChatGPT/CoT/result.json", rows))
    assert verdicts(result.judgements) == [
        ("ab", "a"), ("ba", "b"), ("ab", "unparseable"), ("ba", "a"),
    ]  # fmt: skip
    assert result.n_reread == 1  # the last one: second in the swapped order is output_1
    assert [(label.annotator, label.value) for label in result.labels] == [
        ("llmbar", "a"),
        ("llmbar", "b"),
    ]
    assert result.labels[0].eid == result.judgements[0].eid
    assert {judgement.judge for judgement in result.judgements} == {"ChatGPT/CoT"}
    assert result.n_rows == 6


def test_llmbar_ratings_are_of_one_output_each(write_file):
    scores = {"score_1": ["7", "stop"], "score_2": ["11", "stop"]}
    result = import_file(write_file("result.json", [llmbar(results=[scores])]))
    assert [
        (judgement.system, judgement.value, judgement.unscored) for judgement in result.judgements
    ] == [
        ("output_1", 7.0, None),
        ("output_2", None, "off_scale"),
    ]


def judgebench(*decisions, name="arena_hard", label="A>B", **judgment):
    return {
        "pair_id": "p1",
        "original_id": 1,
        "source": "mmlu-pro-law",
        "question": "?",
        "response_model": "gpt-4o",
        "response_A": "one",
        "response_B": "two",
        "label": label,
        "judge_name": name,
        "judgments": [
            {
                "judgment": {"judge_model": "m", "prompt": "", "response": reply, **judgment},
                "decision": decision,
            }
            for reply, decision in decisions
        ],
    }


def test_judgebench_decisions_refer_to_display_order(write_file):
    """The swapped order shows B first: there "A>B" says that response_B is better."""
    rows = [
        judgebench(("Fine. [[A>>B]]", "A>B"), ("Fine. [[B>A]]", "B>A")),
        judgebench(("[[A=B]]", "A=B"), ("[[A>B]]", "A>B"), label="B>A") | {"pair_id": "p2"},
        judgebench(("Hm.", None), ("", "A>B")) | {"pair_id": "p3"},
    ]
    result = import_file(write_file("outputs.jsonl", rows))
    assert verdicts(result.judgements) == [
        ("ab", "a"), ("ba", "a"),
        ("ab", "tie"), ("ba", "b"),
        ("ab", "unparseable"), ("ba", "b"),
    ]  # fmt: skip
    assert result.n_reread == 0
    assert [label.value for label in result.labels] == ["a", "b", "a"]
    assert result.judgements[0].judge == "arena_hard/m"
    assert result.n_rows == 9


def test_judgebench_reward_model_decisions_count_without_reply(write_file):
    """As in the published outputs: scores in the order shown, the decision made of them."""
    row = judgebench(("", "A>B"), ("", "B>A"), name="reward_model")
    for judgment, scores in zip(row["judgments"], ([1.88, 1.26], [1.26, 1.88]), strict=True):
        judgment["judgment"]["scores"] = scores
    result = import_file(write_file("outputs.jsonl", [row]))
    assert verdicts(result.judgements) == [("ab", "a"), ("ba", "a")]
    assert {judgement.scored_by for judgement in result.judgements} == {"decision"}


def test_real_llmbar_files_match_the_reading_of_their_authors(recorded):
    """Where one round is asked, 2 of 3,352 replies are read otherwise and 11 hold no verdict."""
    counts = Counter()
    for path in sorted((recorded / "llmbar").iterdir()):
        rows = json.loads(gzip.decompress(path.read_bytes()))
        result = import_file(path)
        rounds = sum(len(row["results"]) for row in rows)
        assert (len(result.labels), len(result.judgements)) == (len(rows), 2 * len(rows))
        assert result.n_rows == 3 * len(rows) + 2 * (rounds - len(rows))
        kind = path.name.split(".")[2]
        counts[kind, "pairs"] += len(rows)
        counts[kind, "reread"] += result.n_reread
        counts[kind, "unscored"] += len(result.unscored)
    assert counts["CoT", "pairs"] == counts["Vanilla", "pairs"] == 2 * 419
    # One more than the two that say no side: a reply that breaks off at "Therefore".
    assert (counts["CoT", "reread"], counts["Vanilla", "reread"]) == (3, 0)
    assert (counts["CoT", "unscored"], counts["Vanilla", "unscored"]) == (11, 2)
