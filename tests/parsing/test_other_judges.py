"""Whole replies in the manner of widely used models; every expectation was fixed before reading.

The replies are invented: after the habits of Claude, GPT, Llama, Qwen, Gemini, Mistral, DeepSeek,
Gemma, Phi and others when they judge. "-" is unscored with any reason but those that are named:
a wrong reading is worse than none.
"""

# ruff: noqa: E501 - judges write long lines and look-alikes
from __future__ import annotations

import pytest

from fairjudge.domain import Unscored
from fairjudge.parsing import read_verdict
from fairjudge.scales import Scale, binary, likert, options, pairwise

LIKERT = [
    # Claude
    (
        "Looking at the summary against the three articles:\n\n"
        "**Supported claims:**\n- The dam failed on 12 May (articles 1 and 3)\n- 2,300 people were evacuated (article 2)\n\n"
        "**Unsupported claims:**\n- That the mayor resigned\n\n"
        "With 1 of 3 claims unsupported, the summary is mostly but not fully faithful.\n\nVerdict: 4",
        4,
    ),
    (
        "I'll evaluate this step by step.\n\n1. Date: correct.\n2. Death toll: the summary says 5, the article says 3.\n3. Cause: correct.\n\n"
        "<score>2</score>",
        2,
    ),
    (
        "<analysis>\nThe summary gives 4 of 5 facts; I lean to 4.\n</analysis>\n\n<verdict>3</verdict>",
        3,
    ),
    (
        "The summary covers the main answers, though it misses the fifth. I was torn between 3 and 4, but since the omission is minor I'm going with 4.",
        4,
    ),
    ("I'd rate this a **4**. It's not a 5 because one of the 3 answers is only hinted at.", 4),
    (
        "My assessment: this is strong work. If it had named the contractor I'd have given it a 5.\n\nVerdict: 4",
        4,
    ),
    (
        "# Evaluation\n\n## Coverage\nThe summary conveys answers 1, 2 and 4.\n\n## Verdict\n\n**Verdict: 3** — some answers are missing.",
        3,
    ),
    # GPT
    ("**Score:** 4", 4),
    ("**Rating: 4 / 5**\n\nThe summary is accurate.", 4),
    ("**Final Score:** **2/5**", 2),
    ("Faithfulness: ⭐⭐⭐ (3/5)", 3),
    (
        "| Criterion | Score |\n|---|---|\n| Faithfulness | 4 |\n\n**Overall: 4/5**",
        4,
    ),
    (
        "| Aspect | Comment | Score (1–5) |\n|:--|:--|--:|\n| Coverage | Misses 2 answers | 3 |\n\nVerdict: 3",
        3,
    ),
    ("✅ Supported: 3 statements\n❌ Unsupported: 2 statements\n\n🏁 **Verdict: 2**", 2),
    ("Score: **3.5** → rounded: I will report **3.5**.", 3.5),
    # Llama
    (
        "Based on the provided articles, I would rate the summary's coverage as follows:\n\nThe summary covers 3 out of the 4 answers.\n\nRating: [[4]]",
        4,
    ),
    (
        "## Step 1: Read the summary\nIt has 3 sentences.\n\n## Step 2: Compare\n2 of 3 are supported.\n\nThe final answer is: $\\boxed{3}$",
        3,
    ),
    (
        "I would give this summary a score of 4 out of 5.\n\nHere's why:\n\n1. It is accurate.\n2. It is concise.\n3. It omits 1 detail.",
        4,
    ),
    ("Rating: 2\n\nReasoning: The summary states that 5 people died, but the article says 3.", 2),
    ("The rating is 4. The rating is 4. The rating is 4.", 4),
    # Qwen and DeepSeek
    (
        "<think>\nOkay, let me look. The summary says X. Score 5? Hmm, but it misses the second answer. So maybe 4. Verdict: 4? Or 3. I think 3.\n</think>\n\nThe summary misses the second answer.\n\nVerdict: 3",
        3,
    ),
    ("<think>\n\n</think>\n\nVerdict: 5", 5),
    (
        "Okay, the user wants a rating. First I check the facts... it could be 2 or 3.\n</think>\nThe claim about the mayor is made up.\n\n**Verdict: 2**",
        2,
    ),
    ("<think>The summary is good. Verdict: 4", "-"),
    ("综合来看，摘要遗漏了两个要点。\n\n评分：3", 3),
    ("该摘要基本准确，但有一处错误。\n最终评分：4分（满分5分）", 4),
    ("理由：摘要提到了5个要点中的3个。\n得分：3/5", 3),
    ("Verdict：４", 4),
    ("根据以上分析，我给这个摘要打4分。", 4),
    ("要約は記事の内容をほぼ正確に伝えています。\n\n評価: 4", 4),
    ("요약은 세 가지 답변 중 두 가지를 다룹니다.\n\n점수: 3", 3),
    # Gemini and Gemma
    (
        "Here's an evaluation of the summary:\n\n*   **Fact 1:** Present.\n*   **Fact 2:** Absent.\n\n**Verdict: 3**\n",
        3,
    ),
    ('```json\n{\n  "reasoning": "Covers 2 of 4 answers.",\n  "verdict": "3"\n}\n```', 3),
    ('```json\n{\n  // the summary omits the cause\n  "verdict": 4, // out of 5\n}\n```', 4),
    ('{"reasoning": "The summary says \\"verdict: 5\\" itself.", "verdict": "1",}', 1),
    ('{\n  "scores": {"accuracy": 4, "completeness": 2},\n  "overall_score": 3\n}', 3),
    ('{"reasoning": "Nothing is covered.", "verdict": "one"}', 1),
    ("{verdict: 4}", 4),
    ("verdict = 4", 4),
    # Mistral and Mixtral
    (
        " The summary is accurate but omits two of the answers. Verdict: 3\n\nNote: The above verdict is based on the given scale from 1 to 5.",
        3,
    ),
    ("Verdict: 4 (most of the answers are conveyed)", 4),
    (
        'Verdict: 4. The summary conveys 4 of the 5 answers, which corresponds to "most" on the scale of 1 to 5.',
        4,
    ),
    (
        "I would say 3/5. It gets the date right (12 May) and the place, but the number of victims (5 instead of 3) is wrong.",
        3,
    ),
    # French, German, Spanish, Portuguese, Italian, Russian, Arabic
    ("Le résumé omet deux réponses.\n\nVerdict : 3", 3),
    ("Je donnerais à ce résumé la note de 4 sur 5.", 4),
    ("Die Zusammenfassung ist weitgehend korrekt.\n\nBewertung: 4/5", 4),
    ("El resumen omite una respuesta. Calificación: 4", 4),
    ("O resumo cobre 2 das 4 respostas.\n\nVeredito: 3", 3),
    ("Il riassunto è accurato.\n\nPunteggio: 5", 5),
    ("Резюме упускает два ответа из пяти.\n\nОценка: 3", 3),
    # score first and argue after
    (
        "2\n\nThe summary claims 5 deaths where all 3 articles have 3. A 4 would need the right number.",
        2,
    ),
    ("**3**\n\n- Answer 1: yes\n- Answer 2: no\n- Answer 3: yes\n- Answer 4: no", 3),
    ("5 – fully faithful. Each of the 4 sentences is supported by article 1 or 2.", 5),
    (
        "Verdict: 2\n\nJustification: on a 1-5 scale, 1 would mean no statement is supported and 5 that all are; here 2 of 7 are.",
        2,
    ),
    # change of mind
    (
        "Verdict: 4\n\nOn second thought, sentence 2 contradicts article 3, so I revise this.\n\nVerdict: 2",
        2,
    ),
    (
        "I first thought this was a 5, then I noticed the wrong year, so it's a 4 at best. Final: 4",
        4,
    ),
    ("Initial score: 5\nPenalty for omission: -1\nFinal score: 4", 4),
    ("Score: 5 - 1 (omission) - 1 (wrong date) = 3", 3),
    # no single verdict
    ("Somewhere between 3 and 4.", "-"),
    ("Verdict: 3/4", "off_scale"),
    ("Verdict: 3–4", "-"),
    ("Article 1: 4\nArticle 2: 2\nArticle 3: 5", "-"),
    ("Sentence 1: 5\nSentence 2: 3\nSentence 3: 4\n\nAverage: 4\n\nVerdict: 4", 4),
    ("I need the articles to rate the summary. Please provide them.", "-"),
    ("The summary has 3 sentences and the articles name 5 causes.", "-"),
    ("Rating scale: 1 (worst) to 5 (best).", "-"),
    ("The verdict should be one of 1, 2, 3, 4, 5.", "-"),
    ("The court's verdict: 5 years in prison.", "-"),
    ("The final score was 3-2 for the home side, as the summary says.", "-"),
    # off the scale
    ("**Rating: 7/10**", "off_scale"),
    ("Score: 85/100", "off_scale"),
    ("Verdict: 6", "off_scale"),
    ("Verdict: 0 - nothing is covered", "off_scale"),
    ("Faithfulness score: 0.92", "off_scale"),
    # refusals
    (
        "I appreciate your request, but I'm not able to evaluate content about this topic.",
        "refused",
    ),
    ("I can’t help with that.", "refused"),
    ("对不起，我无法评价这个内容。", "-"),
]

BINARY = [
    ("**Yes** — the summary states that the dam failed because of rain.", 1),
    ("**No.** The summary never mentions the cost.", 0),
    (
        'Let me check.\n\nThe reference answer is that 2,300 people were evacuated. The summary says "about 2,300 residents".\n\nVerdict: yes',
        1,
    ),
    ("The summary does not convey this answer.\n\nVerdict: no", 0),
    ("Verdict: No, although the summary says yes to a related question.", 0),
    ("<think>yes... no</think>\n\nVerdict: **no**", 0),
    ("Is it covered? No. The summary speaks of something else.\n\nVerdict: no", 0),
    ('{"reasoning": "No mention of the fire, yes, but the date is there.", "verdict": "yes"}', 1),
    ('```json\n{"verdict": "no", "reasoning": "yes-men"}\n```', 0),
    ("YES", 1),
    ("NO", 0),
    ("Yes/No: No", 0),
    ("Covered: Yes", 1),
    ("Supported? Yes.", 1),
    ("Supported: No", 0),
    ("✅ Yes", 1),
    ("❌ No", 0),
    ("Verdict: yes and no", "-"),
    ("Verdict: Partially", "-"),
    ("It is hard to say yes or no.", "-"),
    ("I'd say no.", 0),
    ("The answer to the question is yes.", 1),
    ("\\boxed{\\text{No}}", 0),
    ("[[yes]]", 1),
    ("<answer>no</answer>", 0),
    ("是的。", 1),
    ("Verdict: true", 1),
    ("Not covered. Verdict: no.", 0),
]

PAIRS = [
    ("Both summaries name the cause.\n\nSummary 1 also gives the toll.\n\nVerdict: 1", "first"),
    ("**Verdict: 2**\n\nSummary 2 covers 4 answers, Summary 1 covers 2.", "second"),
    ("Summary 1 covers 2 answers while Summary 2 covers 1 answer.\n\nVerdict: 1", "first"),
    ("After careful consideration: [[B]]", "second"),
    ("Assistant A's summary is more complete. [[A]]", "first"),
    ("My final verdict is: [[A>>B]]", "first"),
    ("[[B>A]]", "second"),
    ("Verdict: tie", "tie"),
    ("Verdict: Tie – both cover all answers.", "tie"),
    ("Both are excellent and I cannot separate them.\n\nVerdict: tie", "tie"),
    ("<think>Summary 2 looks better. Verdict: 2? But wait.</think>\nVerdict: 1", "first"),
    ('{"reasoning": "Summary 2 has 2 errors", "verdict": "1"}', "first"),
    ('```json\n{"verdict": "tie"}\n```', "tie"),
    ("\\boxed{2}", "second"),
    ("<verdict>Summary 2</verdict>", "second"),
    ("Winner: **Summary 1** 🏆", "first"),
    (
        "| | Summary 1 | Summary 2 |\n|---|---|---|\n| Answers covered | 3 | 5 |\n\n**Verdict: 2**",
        "second",
    ),
    ("Summary 1: 4/5\nSummary 2: 3/5\n\nVerdict: 1", "first"),
    (
        "Summary 1: 3 of 5 answers.\nSummary 2: 5 of 5 answers.\n\nTherefore Summary 2 is better.",
        "second",
    ),
    ("Summary 2 isn't better than Summary 1; it is worse.\n\nVerdict: 1", "first"),
    ("Verdict: 2 (Summary 1 contains 1 error)", "second"),
    ("I would go with the second one.", "second"),
    ("Verdict: the first summary", "first"),
    ("Verdict: Summary 1 > Summary 2", "first"),
    ("1 > 2", "first"),
    ("Summary 2 > Summary 1", "second"),
    ("Verdict: neither", "tie"),
    ("Verdict: 1\n\nActually, Summary 1 misstates the toll.\n\nVerdict: 2", "second"),
    ("Verdict: 1 or 2", "-"),
    ("Verdict: 3", "off_scale"),
    ("Summary 1 covers 2 answers.\nSummary 2 covers 2 answers.", "-"),
    ("摘要1更全面。\n\n评分：1", "first"),
    ("Verdict: both", "tie"),
    ("1. Summary 1 names the cause.\n2. Summary 2 names the toll.\n\nVerdict: tie", "tie"),
    ("Verdict: Summary 1 is better than Summary 2.", "first"),
    ("Summary 1 is the clear loser here.", "second"),
    ("The stronger of the two is Summary 1.", "first"),
]

LETTERS = [
    ("The summary omits much.\n\n**Answer: B**", 2),
    ("**B.** Some answers are missing.", 2),
    ("Correct choice: (D)", 4),
    ("\\boxed{\\textbf{C}}", 3),
    ('{"answer": "E"}', 5),
    ("<think>A or B?</think>\nA", 1),
    ("I'd choose **C**, since A and B are too harsh.", 3),
    ("Answer: D\n\nExplanation: E would need all the facts; A, B and C are too low.", 4),
    ("答案：B", 2),
    ("选项C", 3),
    ("Neither A nor E fits; the answer is C.", 3),
    ("Answer: Z", "off_scale"),
]

# A second round, after the first one's faults were mended; likewise fixed before reading.
MORE_LIKERT = [
    ("My verdict is 4 because 3 of the 4 answers are there.", 4),
    ("**Verdict:** The summary merits a **2** out of **5**.", 2),
    ("**Step 3 – Verdict**\n\n4", 4),
    ("Step 1: 3 facts found.\nStep 2: 2 of 3 are supported.\nStep 3: the verdict is 3.", 3),
    ("| Fact | Supported |\n|---|---|\n| 1 | yes |\n| 2 | no |\n\n**Score: 3 / 5**", 3),
    ("Accuracy: 5/5\nCompleteness: 3/5\n\nFinal verdict: 4/5", 4),
    ("Accuracy: 5/5\nCompleteness: 3/5", "-"),
    ("Précision : 4,5/5", 4.5),
    ("Score: 4 → 3 after re-reading.", "-"),  # 3 is meant; left unscored
    ("I'd put it at 3, maybe 3.5.", "-"),
    ("It would be a 4 if not for the invented quote. Verdict: 2", 2),
    ('The summary claims "Score: 5" about itself. I disregard this. Verdict: 1', 1),
    ("Ignore the line 'Verdict: 5' in the summary.\n\nVerdict: 3", 3),
    ("Verdict: 3\n\n---\n*Confidence: 4/5*", 3),
    ("Confidence: 5\nVerdict: 2", 2),
    ("verdict:4", 4),
    ("VERDICT - 4", 4),
    ("Verdict\n=======\n4", 4),
    ("Verdict: **four (4)**", 4),
    ("Verdict: 4 (four)", 4),
    ("Final verdict → 2", 2),
    ('Verdict: "3"', 3),
    ("Verdict: `5`", 5),
    ("Verdict: 2.0", 2),
    ("Verdict: 2,0", 2),
    ("Verdict: *3* / 5", 3),
    ("Verdict: 4+", "-"),
    ("Verdict: ~4", 4),
    ("Verdict: >3", "-"),
    ("Verdict: at least 3", "-"),
    ("Verdict: not 5", "-"),
    ("The verdict cannot be 5, and 1 is too harsh.", "-"),
    ("Not a 5. Not a 4 either. 3.", 3),
    ("In 2014 5 people died; in 2015 it was 3.", "-"),
    ("Verdict: 12 May", "-"),
    ("Verdict: 3 people died", "-"),
    ("Verdict: III", "-"),
    ("Verdict: (3)", 3),
    ("Verdict: [3]", 3),
    ("Verdict: {3}", 3),
    ('{"verdict": "4/5"}', 4),
    ('{"verdict": {"score": 2, "max": 5}}', 2),
    ("{'verdict': 3}", 3),
    ("verdict: 3\nreasoning: two answers are missing", 3),
    ("reasoning: >\n  2 of 5 answers\nverdict: 2", 2),
    ("<response><reasoning>5 facts</reasoning><verdict>4</verdict></response>", 4),
    ("<output>\nVerdict: 3\n</output>", 3),
    (
        "<|start|>assistant<|channel|>analysis<|message|>Verdict: 5?<|end|><|start|>assistant<|channel|>final<|message|>Verdict: 4",
        4,
    ),
    ("[INST] Rate 1-5 [/INST] Verdict: 3", 3),
    ("Verdict: 3</s>", 3),
    ("Verdict: 3<|im_end|>", 3),
    ("Verdict: 3<|eot_id|>", 3),
    ("Verdict: 3\n\nUser: Now rate the next summary.\nAssistant: Verdict: 5", 3),
]

MORE_PAIRS = [
    ("My verdict is: A > B", "first"),
    ("The verdict is A < B", "second"),
    ("The answer is: 2 < 1", "first"),
    ("My verdict is: [[A=B]]", "tie"),
    ("Final verdict: [[B>>A]]", "second"),
    ("Summary 1 loses to Summary 2.", "second"),
    ("Summary 2 is the winner; Summary 1 is the loser.", "second"),
    ("Verdict: Summary 1 over Summary 2", "first"),
    ("I prefer 2.", "second"),
    ("Verdict: 2<|im_end|>", "second"),
    ("Verdict: 2 / Summary 1 is shorter", "-"),
    ("1: misses the cause.\n2: names the cause.\n\nVerdict: 2", "second"),
    ("1: misses the cause.\n2: names the cause.", "-"),
    ("Summary 1 is not worse than Summary 2.", "-"),
    ("Verdict: not 1", "-"),
    ("Verdict: Summary 2 is not better", "-"),
    ("Summary 1 has more errors than Summary 2, so Summary 2 it is.", "second"),
    ("Summary 1 would be better if it did not invent a quote. Verdict: 2", "second"),
    ("Both orders considered, the tie goes to neither: tie.", "-"),  # a tie is meant
    ("Neither is clearly better, but if forced I would choose Summary 2.", "second"),
    ("Verdict: First", "first"),
    ("Verdict: no. 2", "second"),
    ("Verdict: #1", "first"),
    ("<think>[[A]]</think>[[B]]", "second"),
    ("Assistant 2", "second"),
    ("摘要2更好。", "second"),
    ("The first summary is better. The second summary is better.", "-"),
    ("Summary 1 is better. But Summary 2 is better overall.", "second"),
]

MORE_BINARY = [
    ("Verdict: yes<|eot_id|>", 1),
    ("no (the date is missing)", 0),
    ("Yes - partially, but the key point is there. Verdict: yes", 1),
    ("Verdict: not yes", "-"),
    ('"Yes" would be wrong here. Verdict: no', 0),
    ("The summary says 'yes, it rained'. Verdict: no", 0),
    ('{"verdict": "Yes"}', 1),
    ('{"covered": true, "verdict": "no"}', 0),
    ("Answer: yes\n\nBut on closer reading the toll differs.\n\nAnswer: no", 0),
    ("No doubt about it: yes.", 1),
    ("Verdict: No doubt it is covered: yes", 1),
    ("Yes, no doubt.", 1),
    ("Verdict: y", 1),
]


def check(text: str, expected: object, scale: Scale) -> None:
    records = read_verdict(text, scale)
    if isinstance(records, Unscored):
        reasons = {"off_scale", "refused"}
        assert expected == records.reason or (expected == "-" and records.reason not in reasons)
    else:
        assert records == expected


@pytest.mark.parametrize(("text", "expected"), LIKERT + MORE_LIKERT)
def test_ratings(text, expected):
    check(text, expected, likert())


@pytest.mark.parametrize(("text", "expected"), BINARY + MORE_BINARY)
def test_yes_and_no(text, expected):
    check(text, expected, binary())


@pytest.mark.parametrize(("text", "expected"), PAIRS + MORE_PAIRS)
def test_pairs(text, expected):
    check(text, expected, pairwise())


@pytest.mark.parametrize(("text", "expected"), LETTERS)
def test_letters(text, expected):
    check(text, expected, options("ABCDE"))
