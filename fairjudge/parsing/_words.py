"""The words of verdicts in the languages that are read, by what they do in a sentence.

One table: a letter for each kind of word, and its words. `_` stands for a space, `~` for any end
of the word. Verbs, nouns and names that are not here are of no kind (``x``).
"""

from __future__ import annotations

import re

YES = (
    "y", "yep", "yeah", "yup", "oui", "ja", "sí", "sì", "sim", "да", "是的", "是", "はい",
    "예", "네", "نعم", "हाँ", "हां", "evet", "tak",
)  # fmt: skip
NO = (
    "n", "absolutely not", "certainly not", "definitely not", "of course not",
    "nope", "non", "nein", "nee", "não", "нет", "不是", "否", "いいえ",
    "아니요", "아니오", "لا", "नहीं", "hayır", "nie",
)  # fmt: skip
NOUN = (
    r"(?:summar(?:y|ies)|assistant|response|option|candidate|text|system|model|version|output|answer"
    r"|choice|report|zusammenfassung|résumé|resumen|resumo|riassunto|samenvatting|резюме|摘要|总结|要約|요약"
    r"|(?:ال)?ملخص|सारांश)"
)
FIRST = (
    r"(?:first|former|erste[rn]?|eerste|première?|premier|primer[oa]?|primeir[oa]|prim[oa]"
    r"|перв(?:ое|ый|ая)|第一(?:个|篇|份)?|[1一]つ目|첫\s?번째|الأول|पहल[ाी])"
)
SECOND = (
    r"(?:second[oae]?|latter|zweite[rn]?|tweede|deuxième|segund[oa]|втор(?:ое|ой|ая)|第二(?:个|篇|份)?"
    r"|[2二]つ目|두\s?번째|الثاني|दूसर[ाी])"
)
TIE = (
    r"unentschieden|gleich\s?(?:gut|wertig)|gleichstand|(?:ex\s)?[aæ]equo|égalité|à\ségalité|empate"
    r"|pareggio|parità|gelijkspel|gelijk|ничья|одинаков\w*|平局|平手|一样好|同样好|不相上下|引き分け|同等|同点"
    r"|무승부|동점|تعادل|बराबर"
)
LAST = re.compile(r"\b(?:final|revised|corrected|updated|adjusted|definitive)\b")
"""In a label: it takes back what other labels said before."""

_KINDS: dict[str, str] = {
    # a label of the verdict
    "V": """verdict verdicts final overall winner decision conclusion preference choice pick judgement
        judgment preferred revised adjusted updated corrected definitive fazit urteil endurteil
        gesamt~ endnote gewinner sieger gagnant vainqueur veredicto veredito veredi~ ganador vencedor
        vincitore giudizio verdetto победитель вердикт итог~ вывод winnaar oordeel eindoordeel
        conclusie conclusión conclusão conclusione globale finale 最终 综合 总体 总评 总分 最終 総合 结论 裁决
        胜者 获胜者 赢家 勝者 結論 결론 최종 종합 승자 الفائز الخلاصة विजेता निष्कर्ष""",
    # a label of a score or an answer
    "S": """assistant score scores rating ratings rated grade stars marks mark answer answers result label
        选项 evaluation assessment vote selection classification output level awarded points option
        bewertung note punktzahl punkte wertung antwort nota pontuação resposta réponse voto punteggio
        valutazione risposta puntuación puntaje calificación respuesta оценка балл ответ score_of
        beoordeling antwoord cijfer 评分 分数 得分 打分 评价 答案 回答 判断 評価 スコア 点数 答え 점수 평가 평점 정답
        답변 التقييم الدرجة النتيجة الإجابة स्कोर अंक उत्तर puan cevap ocena""",
    # a quality that is rated
    "Q": """total coverage style grammar spelling structure clarity précision grammatik consistent relevant
        coherent fluent accurate faithful tone terms""",
    # a label of something else
    "Z": """confidence word_choice after max maximum minimum min minimum preliminary draft initial margin certainty
        scale passing pass previous baseline threshold target expected difficulty average mean prior
        original last other another human median reference user highest lowest possible old before weight article without earlier count number words facts claims questions sources steps sentences sentence
        issues time reviewer length deduction deductions penalty section chapter page year pages round
        step reader criterion aspect alternative first_impression sentence claim
        date reason reasons explanation""",
    # who gives
    "I": "i we my mine i'd i'll i'm i've we'd ich je j'attribue je_lui yo eu io ik я 我 私",
    # gives, is given, chooses
    "R": """give gives giving gave given rate rates assign assigns assigned assigning award awarding
        put mark_it call say answer_with think believe go going go_with going_with goes_to go_for
        choose chose pick select settle settled settle_on settling_on find place placing placed putting warranting vote_for lean opt_for prefer consider
        favor favour conclude stick_with deem rank earn earns earned earning receive receives received
        receiving deserve deserves deserving merit merits get gets getting scored scoring warrant
        warrants achieve achieves achieving resulting result_in results_in drops falls making makes
        rated graded gebe vergebe würde donne donnerais mets mettrais attribue doy pongo otorgo dou
        mérite bevorzuge wähle prefiero elijo choisis préfère prefiro escolho preferisco kies
        ставлю поставил выбираю 给 给出 打 选择 选 更喜欢""",
    "P": "was were war waren foi fue era était",
    "=": """is are be would_be will_be should_be becomes stands_at it's this_is est es ist è é
        sind sono sont son são essere является 是 为 は 는 은 है""",
    "v": "comes takes ranks finishes places ranked does has have contains covers provides performs shows seems appears remains makes_for",
    # denies, or leaves open
    "N": """not cannot can't never hardly scarcely barely neither nor nothing nobody none few no without
        doubt~ fail fails failed false wrong_to short_of instead_of rather_than below above under
        beyond at_least at_most might may could should_have would_have tempted considered considering thought_of thought_about thinking initially at_first first_thought
        inclined wanted hesitat~ debat~ torn argue~ prevent~ keeps keep stops maybe perhaps possibly
        probably between going_to try trying tries refuse~ unclear almost nearly anything anything_but nothing_but reluctan~
        previously unfair said_to isn't wasn't doesn't don't didn't won't wouldn't aren't hasn't
        haven't couldn't shouldn't untrue less_than more_than fewer_than supposedly allegedly reportedly
        nicht kein~ weder pas ni não non nessun~ не niet geen 不 没 ない なく ません 않 아니 못하 ليس नहीं
        potentially a_stretch stretch fehlen~ nowhere can_not far_from deny rules_out rule_out""",
    # supposes, or tells of others
    "H": """example sample film match if unless whether assuming were_the provided_that suppos~ were_it wenn falls depend~ had_it had_the
        had_this had_i for_example for_instance e.g according_to to_get to_reach to_earn to_achieve
        to_be_a to_merit to_deserve says said saying claims_that claimed states stated contains_the
        asks asking tells told demands instructs insists orders requests writes written ends_with ends
        ignore ignoring such_as an_example the_line quotes begs wants me_say reply_with respond_with
        critic critics jury jurors film movie minister people someone somebody anyone one_might author
        some_say some_would others_say others judges evaluators raters reviewers readers graders
        annotators another_judge other_judge a_lenient lenient reads should_output summary_says
        strictly_following follow respond reply output_your please would_call would_want chance""",
    # after an answer: says what it would take
    "M": """would would_require would_take would_need would_only_be requires require needs is_reserved is_only means indicates represents being is_what
        is_too is_given""",
    "U": "if_the if_it if_it's unless_it or_so only_if were_it_not but_for had_it_not",
    "Y": "although though while whereas",
    "T": "but however yet still nevertheless mais pero aber mas ma но maar 但",
    "C": """for_that_reason for_this_reason no_doubt no_question in_my_view in_my_opinion in_my_judgment in_my_judgement so thereby thus therefore hence overall_i ultimately finally consequently in_conclusion
        all_in_all on_balance on_the_whole as_a_result in_the_end to_sum_up making_it insgesamt
        综上 综上所述 therefore_i daher somit donc finalmente portanto quindi dus поэтому""",
    "W": """actually wait hmm hmmm correction scratch_that make_that make_it sorry edit edited on_reflection
        upon_reflection on_second_thought on_second_thoughts second_reading on_closer_reading
        reconsider~ lower lowered raise raised revise change changed adjust adjusted_to downgraded
        downgrade mistaken overlooked rereading re-reading closer_look lower_it changing""",
    "G": """better best superior stronger strongest preferable wins won prevails edge ahead favoured
        favored strong_winner top gold one_i besser überlegen gewinnt meilleur meilleure supérieur~
        l'emporte gagne mejor gana melhor vence migliore vince beter wint лучше превосходит выигрывает
        побеждает 更好 更优 更佳 更全面 更准确 更忠实 较好 优于 胜出 获胜 優れ~ 勝る より良~ 良い いい よい 正確~ 더_좋~
        더_낫~ 더_나은 더_나아~ 더_우수~ 더_정확~ 우수~ أفضل बेहतर""",
    "B": """worse worst inferior weaker weakest poorer loser loses lost lags runner-up rejected reject
        eliminated discard discarded silver schlechter unterlegen verliert pire inférieur~ peor pierde
        pior perde peggiore slechter хуже уступает проигрывает 更差 较差 不如 劣る 劣って~ 더_나쁘~ 더_나쁜 أسوأ
        बदतर""",
    "g": "more most plus más mais_ più meer более",
    "b": "not_as not_so less least fewer fewest moins menos meno minder менее",
    "F": """error~ mistake~ hallucinat~ inaccura~ unsupported omits omit omission~ irrelevan~
        misleading vague~ fabricat~ invent~ incorrect inconsisten~ contradict~ unfaithful speculative
        redundan~ repetiti~ biased flaw~ wrong incomplete missing absent omitted lacking uncovered left_out bad""",
    "K": "covered mentioned supported present conveyed included correct consistent_with faithful_to",
    "D": "beats outperforms surpasses outdoes bests edges_out over",
    "d": "beaten_by outperformed_by surpassed_by loses_to lost_to bested_by inferior_to worse_than",
    "c": "than compared من unlike als que de_la 比",
    "p": "보다 より से",
    "o": "or oder ou 或 или",
    "a": "and & both_and und et y e и 和",
    "t": "to through",
    "w": """for on because since as due based with in by here rather from too which depending given
        weil geben لأنه لأن would_be_fair would_be_appropriate would_be_right would_be_suitable would_be_more です 입니다 です_ da à pour para parce porque perché überall out again instead now then at at_best per voor
        omdat потому denn car""",
    "f": """this_one that_one the_one of_the_two of_the_pair between_the_two resounding if_forced if_pressed if_i_must if_i_had_to if_i_have_to if_only_just the a an this that these it its itself of my our your their his one two-thirds only just
        about approximately roughly around solid firm clear perfect full weak mere respectable
        der die das dem den ein eine einem einer le la les un une el los il lo uno o os um uma de du
        la_ del het een i'd_say definitely overall_ straight summary summaries therefore_ quality
        here's very slight slightly much far somewhat quite by_far also again_ single fair suitable
        appropriate itself_ me us let let's its_ would will must should can shall have
        klar deutlich etwas nettement clairement un_peu claramente 我认为 我觉得 明显 显然 略 稍 都 在 的 は_ が
        の方が のほうが の方 の 이 가 의 에 个 这 摘要 要約 この 該 该 summary's job choice_ one's place zusammenfassung
        résumé resumen resumo riassunto samenvatting резюме cette esta este questo dieser dieses""",
}
_SCRIPT = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def _tables() -> tuple[dict[str, str], dict[str, str], dict[str, dict[tuple[str, ...], str]]]:
    """Return the single words, the stems, and the phrases by their first word, each by its kind."""
    single: dict[str, str] = {}
    stems: dict[str, str] = {}
    phrases: dict[str, dict[tuple[str, ...], str]] = {}
    for kind, words in _KINDS.items():
        for word in words.split():
            said = word.rstrip("_").replace("_", " ")
            if said.endswith("~"):
                stems.setdefault(said[:-1], kind)
            elif " " in said and not _SCRIPT.search(said):
                first, *rest = said.split()
                phrases.setdefault(first, {}).setdefault(tuple(rest), kind)
            else:
                single.setdefault(said, kind)
    return single, stems, phrases


_SINGLE, _STEMS, _PHRASES = _tables()
_WORD = re.compile(r"\s{1,3}([^\W_]+(?:['.-][^\W\d_]+)*)")
_LONGEST, _SHORTEST = max(map(len, _STEMS)), 3


def kind_of(text: str, start: int, end: int) -> tuple[str, int]:
    """Return the kind of the word in small letters from `start` to `end`, and where it ends.

    Phrases go past `end`; in scripts without spaces a word is the longest known one.
    """
    if _SCRIPT.match(text, start):
        for place in range(start + 6, start, -1):
            said = text[start:place]
            if said in _SINGLE:
                return _SINGLE[said], place
            if said in _STEMS:
                return _STEMS[said], place
        return "x", start + 1
    word = text[start:end].removesuffix("'s") if end - start > 4 else text[start:end]
    best = ("", end)
    for rest, kind in _PHRASES.get(word, {}).items():
        place = end
        for part in rest:
            found = _WORD.match(text, place)
            if found is None or found[1] != part:
                break
            place = found.end()
        else:
            best = max(best, (kind, place), key=lambda one: one[1] if one[0] else 0)
    if best[0]:
        return best
    if word in _SINGLE:
        return _SINGLE[word], end
    for length in range(min(_LONGEST, len(word)), _SHORTEST - 1, -1):
        if word[:length] in _STEMS:
            return _STEMS[word[:length]], end
    return _by_ending(word), end


def _by_ending(word: str) -> str:
    if word.endswith(("ness", "ity", "ency", "ence", "ance", "acy", "ism", "sion", "tion")):
        return "Q"
    return "f" if word.endswith("ly") or word.isdigit() else "x"
