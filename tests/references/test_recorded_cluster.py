"""Ten real articles and what a strong reader answered: what a build costs, and what it quotes."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

from fairjudge.backends.scripted import ScriptedBackend
from fairjudge.backends.token_counts import count_tokens
from fairjudge.domain import Cluster
from fairjudge.graphs.by_article import ArticleDeps, build_article_graph
from fairjudge.ports import CompletionRequest, ModelRef
from fairjudge.references.asker import Asker
from fairjudge.references.extracting import LlmArticleAnswerer
from fairjudge.references.grouping import LlmGrouper
from fairjudge.references.ports import ArticleBuilder
from fairjudge.references.replies import QuotableArticle, read_answers
from fairjudge.references.writing import LlmClusterWriter
from fairjudge.text.usable import usable

DATA = Path(__file__).parents[3] / "shared" / "data" / "recorded_llm"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"no recorded replies in {DATA}")


def inside(tag: str, text: str) -> str:
    return re.search(rf"<{tag} [^>]*>\n(.*?)\n</{tag}", text, re.DOTALL)[1]


@pytest.fixture(scope="module")
def cluster() -> Cluster:
    (only,) = json.loads((DATA / "cluster10.json").read_text("utf-8"))
    return Cluster.model_validate(only)


@pytest.fixture(scope="module")
def recorded() -> list[dict]:
    with gzip.open(DATA / "recession10.jsonl.gz", "rt", encoding="utf-8") as rows:
        return [json.loads(row) for row in rows]


@pytest.fixture(scope="module")
def answers(recorded) -> dict[tuple[str, str], tuple[str, ...]]:
    """By question and title of the article."""
    by_name = {}
    for row in recorded:
        if row["step"] == "answers":
            text = row["messages"][-1]["content"]
            title = inside("article", text).splitlines()[0]
            by_name[inside("question", text), title] = read_answers(row["reply"])
    return by_name


class Reader:
    """Says in the form of the pipeline by article what the recorded reader answered."""

    def __init__(self, recorded, answers):
        self.answers = answers
        *_, self.questions = (
            json.loads(row["reply"])["questions"] for row in recorded if row["step"] == "questions"
        )

    def __call__(self, request: CompletionRequest) -> str:
        text = request.messages[-1].content
        properties = request.response_schema["properties"]
        if "questions" in properties:
            return json.dumps({"questions": list(self.asked(text))})
        return json.dumps(self.quoted(text) if "answers" in properties else self.sorted(text))

    def asked(self, text):
        titles = re.findall(r"^<article [^>]*>\n(.*)$", text, re.MULTILINE)
        for question in self.questions:
            numbers = [n for n, t in enumerate(titles, 1) if self.answers.get((question, t))]
            answers = [{"answer": "Something is said.", "articles": numbers}]
            yield {"question": question, "kind": "rivals", "answers": answers}

    def quoted(self, text):
        title = inside("article", text).splitlines()[0]
        rows = []
        for n, question in re.findall(r"^(\d+)\. (.*)$", inside("questions", text), re.MULTILINE):
            for quote in self.answers.get((question, title), ()):
                fields = {"speaker": None, "stance": "endorses", "gloss": None}
                rows.append({"question": int(n), "quote": quote, **fields})
        return {"answers": rows}

    def sorted(self, text):
        n = len(inside("answers", text).splitlines())
        groups = [
            {"label": f"So {first}.", "answers": list(range(first, n + 1, 2)), "disputed_by": []}
            for first in (1, 2)
        ]
        number = int(re.search(r"^<answers \w+ to question (\d+)>", text, re.MULTILINE)[1])
        row = {"question": number, "groups": groups, "rivals": [[1, 2]], "invalid": []}
        return {"sorted": [row]}


async def test_ten_articles_need_at_most_25_calls_and_200_000_characters(
    cluster, recorded, answers
):
    backend = ScriptedBackend(Reader(recorded, answers))
    asker = Asker(backend=backend, target=ModelRef(provider="scripted", model="reader"))
    builder = ArticleBuilder(
        writer=LlmClusterWriter(asker=asker),
        answerer=LlmArticleAnswerer(asker=asker),
        grouper=LlmGrouper(asker=asker),
        completer=None,
        signature="recorded",
    )
    articles, _ = usable(cluster.articles)
    assert sum(count_tokens(article.content) for article in articles) < 100_000
    deps = ArticleDeps(articles=articles, builder=builder)
    state = await build_article_graph().ainvoke({}, context=deps)
    assert len(state["question_answers"]) >= 9
    assert state["problems"] == []
    assert len(backend.requests) <= 25
    n_characters = sum(len(m.content) for request in backend.requests for m in request.messages)
    assert n_characters <= 200_000
    spans = {}
    for question in state["question_answers"]:
        for group in question["answer_groups"]:
            for answer in group:
                spans.setdefault(answer["aid"], []).append(answer["answer"])
    texts = {article.aid: f"{article.title}\n\n{article.content}" for article in articles}
    for aid, quotes in spans.items():
        plain = " ".join(texts[aid].split())
        assert all(quote in plain for quote in quotes)


def test_quotes_occur_in_the_articles(cluster, answers):
    by_title = {article.title: QuotableArticle(article) for article in cluster.articles}
    quotes = [(title, quote) for (_, title), items in answers.items() for quote in items]
    absent = [quote for title, quote in quotes if by_title[title].find(quote) is None]
    assert len(quotes) > 150
    assert len(absent) <= 0.02 * len(quotes), absent
