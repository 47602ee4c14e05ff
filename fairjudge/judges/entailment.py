"""Judge by an entailment (NLI) model, without a language model.

Faithfulness: the mean over the summary's sentences of the largest P(entail) by any chunk of the
articles. Coverage: the mean over answers of the largest P(entail) of any wording by any chunk of
the summary. Balance: P(entail) of each article's statements by the summary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Literal

from fairjudge.domain import Answer, Article, JudgeTask, SourceCovered, Unscored
from fairjudge.judges.statements import NO_SENTENCE
from fairjudge.judges.trained import (
    NO_ANSWER,
    NO_ARTICLE,
    SUPPORTED_FROM,
    StatementSupport,
    by_source,
)
from fairjudge.ports import EntailmentModel
from fairjudge.text.chunks import chunks
from fairjudge.text.sentences import sentence_texts
from fairjudge.text.statements import statement_texts


@dataclass(frozen=True, slots=True, kw_only=True)
class EntailmentSupport:
    """Support measured by P(entail), in [0, 1]; each pair is classified once."""

    classifier: EntailmentModel
    name: str = "entailment"
    scored_by: Literal["entailment"] = "entailment"
    scorer: str = "entailment-v1"
    _chunks: dict[tuple[str, ...], tuple[str, ...]] = field(default_factory=dict)
    _probabilities: dict[tuple[str, str], float] = field(default_factory=dict)

    @property
    def model(self) -> Mapping[str, str]:
        """Return the classifier's fingerprint."""
        return {"model": self.classifier.fingerprint}

    def measure(self, task_texts: Sequence[tuple[JudgeTask, str]]) -> list[float | Unscored]:
        """See `fairjudge.judges.trained.TrainedSupport`."""
        return [self._measure(task, text) for task, text in task_texts]

    def _measure(self, task: JudgeTask, text: str) -> float | Unscored:
        sentences = sentence_texts(text)
        if not sentences:
            return NO_SENTENCE
        if task.aspect == "coverage":
            groups = [group for question in task.questions for group in question.answer_groups]
            answer_wordings = [wordings for group in groups if (wordings := _wordings(group))]
            if not answer_wordings:
                return NO_ANSWER
            premises = tuple(chunks(sentences))
            return fmean(
                max(self._max_entailment(premises, wordings)) for wordings in answer_wordings
            )
        premises = self._premises(tuple(article.content for article in task.articles))
        if not premises:
            return NO_ARTICLE
        return fmean(self._max_entailment(premises, sentences))

    def answers(self, text: str, answers: Sequence[Answer]) -> Sequence[float] | Unscored:
        """See `fairjudge.judges.trained.TrainedSupport`."""
        sentences = sentence_texts(text)
        if not sentences:
            return NO_SENTENCE
        return self._max_entailment(tuple(chunks(sentences)), [answer.answer for answer in answers])

    def statements(
        self, text: str, articles: Sequence[Article]
    ) -> tuple[StatementSupport, ...] | Unscored:
        """See `fairjudge.judges.trained.TrainedSupport`; ``near`` is a chunk of an article."""
        sentences = statement_texts(text)
        if not sentences:
            return NO_SENTENCE
        premises = [self._premises((article.content,)) for article in articles]
        if not any(premises):
            return NO_ARTICLE
        by_article = [
            self._max_entailment(article_chunks, sentences) for article_chunks in premises
        ]
        results = []
        for sentence, *supports in zip(sentences, *by_article, strict=True):
            order = sorted(range(len(articles)), key=lambda n: -supports[n])
            probabilities = {
                premise: self._probabilities[premise, sentence] for premise in premises[order[0]]
            }
            results.append(
                StatementSupport(
                    statement=sentence,
                    support=supports[order[0]],
                    articles=tuple(n for n in order if supports[n] >= SUPPORTED_FROM),
                    near=max(probabilities, key=lambda premise: probabilities[premise], default=""),
                )
            )
        return tuple(results)

    def sources(
        self, text: str, articles: Sequence[Article]
    ) -> tuple[SourceCovered, ...] | Unscored:
        """See `fairjudge.judges.trained.TrainedSupport`."""
        sentences = sentence_texts(text)
        if not sentences:
            return NO_SENTENCE
        return by_source(
            articles, lambda units: self._max_entailment(tuple(chunks(sentences)), units)
        )

    def _premises(self, texts: tuple[str, ...]) -> tuple[str, ...]:
        if texts not in self._chunks:
            premises = [chunk for text in texts for chunk in chunks(sentence_texts(text))]
            self._chunks[texts] = tuple(dict.fromkeys(premises))
        return self._chunks[texts]

    def _max_entailment(self, premises: Sequence[str], hypotheses: Sequence[str]) -> list[float]:
        """Return each hypothesis's largest P(entail) by a premise, in [0, 1]; 0 if none."""
        pairs = [(premise, hypothesis) for hypothesis in hypotheses for premise in premises]
        new_pairs = list(dict.fromkeys(pair for pair in pairs if pair not in self._probabilities))
        if new_pairs:
            rows = self.classifier.classify(new_pairs)
            self._probabilities.update(
                {pair: min(1.0, float(row[0])) for pair, row in zip(new_pairs, rows, strict=True)}
            )
        return [
            max((self._probabilities[premise, hypothesis] for premise in premises), default=0.0)
            for hypothesis in hypotheses
        ]


def _wordings(group: Sequence[Answer]) -> list[str]:
    """Return the distinct non-empty wordings of an answer."""
    return list(dict.fromkeys(text for answer in group if (text := answer.answer.strip())))
