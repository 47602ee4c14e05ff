"""Words of verdicts in the languages that are read, as parts of patterns."""

from __future__ import annotations

YES = (
    "y", "yep", "yeah", "yup", "oui", "ja", "sí", "sì", "sim", "да", "是的", "是", "はい",
    "예", "네", "نعم", "हाँ", "हां", "evet",
)  # fmt: skip
NO = (
    "n", "absolutely not", "certainly not", "definitely not", "of course not",
    "nope", "non", "nein", "nee", "não", "нет", "不是", "否", "いいえ",
    "아니요", "아니오", "لا", "नहीं", "hayır",
)  # fmt: skip
NOUN = (
    r"(?:summar(?:y|ies)|assistant|response|option|candidate|text|system|model|version|output|answer"
    r"|choice|report|zusammenfassung|résumé|resumen|resumo|riassunto|резюме|摘要|总结|要約|요약"
    r"|(?:ال)?ملخص|सारांश)"
)
FIRST = (
    r"(?:first|former|erste[rn]?|première?|premier|primer[oa]?|primeir[oa]|prim[oa]|перв(?:ое|ый|ая)"
    r"|第一(?:个|篇|份)?|[1一]つ目|첫\s?번째|الأول|पहल[ाी])"
)
SECOND = (
    r"(?:second[oae]?|latter|zweite[rn]?|deuxième|segund[oa]|втор(?:ое|ой|ая)|第二(?:个|篇|份)?"
    r"|[2二]つ目|두\s?번째|الثاني|दूसर[ाी])"
)
TIE = (
    r"unentschieden|gleich\s?gut|gleichstand|(?:ex\s)?[aæ]equo|égalité|à\ségalité|empate|pareggio"
    r"|parità|ничья|одинаков\w*|平局|平手|一样好|同样好|不相上下|引き分け|同等|同点|무승부|동점|تعادل|बराबर"
)
BETTER = (
    r"besser|überlegen|gewinnt|meilleure?|supérieure?|l'emporte|gagne|mejor|gana|melhor|vence"
    r"|migliore|vince|лучше|превосходит|выигрывает|побеждает|(?:更|较)(?:好|优|佳|全面|准确|忠实)|优于"
    r"|胜出|获胜|優れ|勝る|より良|(?:良い|いい|よい)|더\s?(?:낫|나은|나아|좋|우수|정확)|우수|أفضل|बेहतर"
)
WORSE = (
    r"schlechter|unterlegen|verliert|pire|moins\s\w+|inférieure?|peor|pierde|pior|perde|peggiore"
    r"|хуже|уступает|проигрывает|(?:更|较)差|不如|劣る|劣って|더\s?(?:나쁘|나쁜|못)|أسوأ|बदतर"
)
WINNER = (
    r"gewinner|sieger|gagnant|vainqueur|ganador|vencedor|vincitore|победитель|胜者|获胜者|赢家|勝者|승자"
    r"|الفائز|विजेता"
)
VERB = (
    r"ist|war|est|es|è|é|klar|deutlich|etwas|nettement|clairement|plus|un\speu|el|le|la|il|o|más|claramente"
    r"|明显|显然|略|稍|都|在|比|的|はより|は|が|の方が|のほうが|の方|이|가|은|는|है|से"
)
"""What may stand between the name of a side and what is said of it."""
NOT = (
    r"\b(?:nicht|kein\w*|weder|pas|ni|no|não|non|nessun\w*|не|нет)\b|不(?!如|相上下)|没|ない|なく|ません"
    r"|않|아니|못하|ليس|नहीं"
)
LABEL = (
    r"(?:最终|综合|总体?|最終|総合)?(?:评分|分数|得分|打分|评价|答案|回答|结论|裁决|判断|評価|スコア|点数|答え|結論)|总[分评]"
    r"|점수|평가|평점|정답|답변?|결론|puntuación(?:\sfinal)?|puntaje|calificación|respuesta|conclusión"
    r"|(?:gesamt|end)?(?:bewertung|note|urteil|punktzahl)|punkte|wertung|antwort|fazit"
    r"|nota|pontuação|veredi[ct]to|resposta|note(?:\s(?:finale|globale))?|réponse"
    r"|voto|punteggio|valutazione|giudizio(?:\sfinale)?|risposta"
    r"|оценка|балл|вердикт|ответ|итог|вывод|التقييم|الدرجة|النتيجة|الإجابة|स्कोर|अंक|उत्तर|puan|cevap|ocena"
)
FINAL = (
    r"gesamt|endnote|endurteil|finale|globale|urteil|veredi|giudizio"
    r"|最终|综合|总|最終|総合|итог|вердикт|최종|종합"
)
