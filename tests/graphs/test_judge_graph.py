"""The judge graph, whole, over a scripted judge: repair, fallback, recording, resume."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace

import pytest
from builders import make_task
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from fairjudge.domain import Article, JudgeTask, Unscored
from fairjudge.graphs.judge import JudgeDeps, build_judge_graph
from fairjudge.judges.llm import judgement_of
from fairjudge.judges.ports import Reply
from fairjudge.scores.aggregate import with_pair_verdicts


def task(n: int, **changes) -> JudgeTask:
    fields = {"systems": (f"s{n:03}",), "articles": (Article(aid="1", content="c"),)}
    return make_task("text", **fields | changes)


class ScriptedJudge:
    """Replies from a table by system; a reply that is a number is a verdict."""

    def __init__(self, replies=None, *, name="scripted", repairs=None, default="4"):
        self.replies, self.repairs = replies or {}, repairs or {}
        self.name, self.signature, self.default = name, f"judge:{name}", default
        self.n_asked, self.repaired = Counter(), Counter()

    async def ask(self, task):
        self.n_asked[task.systems[0]] += 1
        text = self.replies.get(task.systems[0], self.default)
        return Reply(text=text) if isinstance(text, str) else text

    def read(self, task, reply):
        if not reply.text.isdigit():
            return Unscored(reason="unparseable", detail="no number", raw=reply.text)
        value = float(reply.text)
        if not 1 <= value <= 5:
            return Unscored(reason="off_scale", detail=reply.text, raw=reply.text)
        return self._judgement(task, value=value, raw=reply.text)

    async def repair(self, task, reply):
        self.repaired[task.systems[0]] += 1
        text = self.repairs.get(task.systems[0], Unscored(reason="backend", detail="down"))
        return Reply(text=text, repaired=True) if isinstance(text, str) else text

    def unscored_judgement(self, task, outcome):
        return self._judgement(
            task, unscored=outcome.reason, raw=outcome.raw, detail=outcome.detail
        )

    def _judgement(self, task, **outcome):
        return judgement_of(
            task, judge=self.name, scored_by="llm", signature=self.signature, **outcome
        )


class Book:
    """Keeps what the graph records, and counts how often."""

    def __init__(self):
        self.judgements, self.calls = {}, Counter()

    def record(self, position, judgement):
        self.calls[position] += 1
        self.judgements[position] = judgement

    def is_done(self, position):
        return position in self.judgements


def deps(judge, tasks, book=None, **changes):
    book = book or Book()
    return JudgeDeps(tasks=tasks, judge=judge, record=book.record, is_done=book.is_done, **changes)


async def run(context):
    """Return what the book of `context` holds in the end."""
    state = await build_judge_graph().ainvoke({}, context=context)
    records = context.is_done.__self__.judgements
    assert state.get("n_done", 0) <= len(records)
    return [records[position] for position in range(len(context.tasks))]


async def test_every_task_is_judged_once_and_keeps_its_position():
    judge, book = ScriptedJudge(), Book()
    tasks = [task(n) for n in (3, 1, 2)]
    result = await run(deps(judge, tasks, book))
    assert [item.system for item in result] == ["s003", "s001", "s002"]
    assert {item.value for item in result} == {4.0}
    assert set(judge.n_asked.values()) == set(book.calls.values()) == {1}
    assert judge.repaired == {}


class SlowReader(ScriptedJudge):
    """Notes how many items it worked on between two turns of others."""

    def __init__(self):
        super().__init__()
        self.in_a_row, self.most = 0, 0

    async def ask(self, task):
        self._work()
        return await super().ask(task)

    def read(self, task, reply):
        self._work()
        return super().read(task, reply)

    def _work(self):
        self.in_a_row += 1
        self.most = max(self.most, self.in_a_row)


async def test_other_coroutines_run_during_a_chunk():
    judge = SlowReader()

    async def other():
        while True:
            judge.in_a_row = 0
            await asyncio.sleep(0)

    others = asyncio.create_task(other())
    await run(deps(judge, [task(n) for n in range(64)]))
    others.cancel()
    assert judge.most <= 2 * 4  # a turn's four, and four that were begun in the turn before


async def test_a_cancelled_run_leaves_no_call_running():
    tasks, ended = [], []

    class Waiting(ScriptedJudge):
        async def ask(self, task):
            tasks.append(task.id)
            try:
                await asyncio.Event().wait()
            finally:
                ended.append(task.id)

    running = asyncio.create_task(run(deps(Waiting(), [task(n) for n in range(20)])))
    while len(tasks) < 10:
        await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await asyncio.sleep(0)
    assert sorted(ended) == sorted(tasks)


async def test_unreadable_reply_is_repaired_once():
    judge = ScriptedJudge({"s001": "four, I think"}, repairs={"s001": "4"})
    fine, mended = await run(deps(judge, [task(0), task(1)]))
    assert (mended.value, mended.raw) == (4.0, "four, I think")
    assert mended.model_extra["repair"] == "4"
    assert "repair" not in (fine.model_extra or {})
    assert judge.repaired == {"s001": 1}


@pytest.mark.parametrize(
    "repair", ["still no number", "9", Unscored(reason="refused", detail="no")]
)
async def test_failed_repair_keeps_the_first_reason(repair):
    judge = ScriptedJudge({"s000": "well..."}, repairs={"s000": repair})
    (judgement,) = await run(deps(judge, [task(0)]))
    assert (judgement.value, judgement.unscored, judgement.raw) == (None, "unparseable", "well...")
    assert judge.repaired == {"s000": 1}


@pytest.mark.parametrize(
    ("reply", "reason"),
    [("7", "off_scale")]
    + [(Unscored(reason=r, detail="d"), r) for r in ("refused", "backend", "budget", "too_long")],
)
async def test_only_unreadable_replies_are_repaired(reply, reason):
    judge = ScriptedJudge({"s000": reply})
    (judgement,) = await run(deps(judge, [task(0)]))
    assert judgement.unscored == reason
    assert judge.repaired == {}


async def test_fallback_scores_remaining_items_and_is_recorded():
    judge = ScriptedJudge(
        {"s001": Unscored(reason="refused", detail="no", raw="I won't"), "s002": "hm"}
    )

    class Local(ScriptedJudge):
        async def ask(self, task):
            self.n_asked[task.systems[0]] += 1
            return judgement_of(
                task, judge="local", scored_by="embedding", signature="local's", value=2.0
            )

    fallback = Local(name="local")
    whole, refused, unread = await run(deps(judge, [task(0), task(1), task(2)], fallback=fallback))
    assert fallback.n_asked == {"s001": 1, "s002": 1}
    assert (whole.scored_by, whole.value) == ("llm", 4.0)
    for judgement, reason, raw in ((refused, "refused", "I won't"), (unread, "unparseable", "hm")):
        assert (judgement.value, judgement.unscored, judgement.scored_by) == (
            2.0,
            None,
            "embedding",
        )
        assert (judgement.model_extra["fallback_for"], judgement.raw) == (reason, raw)
        # the judge's own name, or both orders of a pair would fall apart; but the true signature
        assert (judgement.judge, judgement.signature) == ("scripted", "local's")


async def test_failed_fallback_keeps_the_judge_reason():
    judge = ScriptedJudge({"s000": Unscored(reason="budget", detail="spent")})
    failing = ScriptedJudge({"s000": Unscored(reason="empty_input", detail="no sentence")})
    (judgement,) = await run(deps(judge, [task(0)], fallback=failing))
    assert (judgement.unscored, judgement.model_extra["detail"]) == ("budget", "spent")


async def test_empty_summary_never_uses_the_fallback():
    judge = ScriptedJudge({"s000": Unscored(reason="empty_input", detail="empty")})
    fallback = ScriptedJudge()
    (judgement,) = await run(deps(judge, [task(0)], fallback=fallback))
    assert judgement.unscored == "empty_input"
    assert fallback.n_asked == {}


async def test_fallback_for_one_order_still_gives_one_verdict():
    pair = {"systems": ("a", "b"), "texts": ("x", "y"), "protocol": "pairwise"}
    tasks = [task(0, **pair, order=order) for order in ("ab", "ba")]

    class Judge(ScriptedJudge):
        async def ask(self, task):
            if task.order == "ba":
                return Unscored(reason="refused", detail="no")
            return judgement_of(task, judge=self.name, value="a")

    class Local(ScriptedJudge):
        async def ask(self, task):
            return judgement_of(task, judge="local", scored_by="embedding", value="a")

    result = await run(deps(Judge(), tasks, fallback=Local()))
    result = with_pair_verdicts(result)
    assert [item.model_extra["verdict"] for item in result] == ["a", "a"]


async def test_recorded_items_are_not_judged_again():
    judge, book = ScriptedJudge(), Book()
    tasks = [task(n) for n in range(5)]
    first = await run(deps(judge, tasks[:3], book))
    result = await run(deps(judge, tasks, book))
    assert result[:3] == first
    assert len(result) == 5
    assert set(judge.n_asked.values()) == set(book.calls.values()) == {1}


async def test_run_without_pending_tasks_returns_recorded_judgements():
    judge, book = ScriptedJudge(), Book()
    tasks = [task(0)]
    await run(deps(judge, tasks, book))
    assert len(await run(deps(judge, tasks, book))) == 1
    assert await run(deps(judge, [], book)) == []


async def test_finished_chunk_is_recorded_independently():
    """Chunks go out together; one that hangs keeps none of the others from being recorded."""
    others_done = asyncio.Event()

    class Waiting(ScriptedJudge):
        async def ask(self, task):
            if task.systems[0] == "s000":
                await asyncio.wait_for(others_done.wait(), 20)
            return await super().ask(task)

    class Watched(Book):
        def record(self, position, judgement):
            super().record(position, judgement)
            if len(self.judgements) == 4:
                others_done.set()

    result = await run(deps(Waiting(), [task(n) for n in range(6)], Watched(), chunk_size=2))
    assert len(result) == 6


@pytest.mark.parametrize("chunk_size", [1, 4, 7, 64])
async def test_the_size_of_chunks_changes_no_result(chunk_size):
    replies = {"s002": "hm", "s005": "7"}
    tasks = [task(n) for n in range(9)]
    expected = await run(deps(ScriptedJudge(replies), tasks))
    result = await run(deps(ScriptedJudge(replies), tasks, chunk_size=chunk_size))
    assert result == expected


async def test_a_killed_run_resumes_from_its_checkpoints_with_whole_chunks_kept(tmp_path):
    """A real saver on disk, opened anew as a second process would."""

    class Dies(ScriptedJudge):
        alive = False

        async def ask(self, task):
            if task.systems[0] == "s004" and not self.alive:
                await asyncio.wait_for(first_chunks.wait(), 20)
                raise SystemError("killed")
            return await super().ask(task)

    first_chunks = asyncio.Event()

    class Watched(Book):
        def record(self, position, judgement):
            super().record(position, judgement)
            if len(self.judgements) == 4:
                first_chunks.set()

    judge, book = Dies(), Watched()
    context = deps(judge, [task(n) for n in range(6)], book, chunk_size=2)
    config = {"configurable": {"thread_id": "t"}, "max_concurrency": 3}
    path = str(tmp_path / "checkpoints.sqlite")
    async with AsyncSqliteSaver.from_conn_string(path) as saver:
        with pytest.raises(SystemError, match="killed"):
            await build_judge_graph(checkpointer=saver).ainvoke({}, config, context=context)
        # a process that dies leaves nothing behind that still writes
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.gather(*tasks, return_exceptions=True)
    assert len(book.judgements) == 4
    judge.alive = True
    async with AsyncSqliteSaver.from_conn_string(path) as saver:
        graph = build_judge_graph(checkpointer=saver)
        assert (await graph.aget_state(config)).next
        state = await graph.ainvoke(None, config, context=context)
        assert not (await graph.aget_state(config)).next
    assert state["n_done"] == 6
    assert [book.judgements[n].system for n in range(6)] == [f"s{n:03}" for n in range(6)]
    assert set(book.calls.values()) == {1}
    assert all(judge.n_asked[f"s{n:03}"] == 1 for n in range(4))


async def test_state_contains_only_positions(tmp_path):
    """What is written of a million tasks must not pile up in the checkpoints of the whole."""
    secret, system = "a sentence that stands in a text", "a system of this name"
    tasks = [task(n, texts=(secret,), systems=(f"{system} {n}",)) for n in range(300)]
    path = str(tmp_path / "checkpoints.sqlite")
    config = {"configurable": {"thread_id": "t"}}
    async with AsyncSqliteSaver.from_conn_string(path) as saver:
        graph = build_judge_graph(checkpointer=saver)
        await graph.ainvoke({}, config, context=deps(ScriptedJudge(), tasks))
    files = list(tmp_path.iterdir())
    assert files
    for file in files:
        assert secret.encode() not in file.read_bytes()
        assert system.encode() not in file.read_bytes()


async def test_a_run_of_many_tasks_has_a_bounded_number_of_chunks(monkeypatch):
    monkeypatch.setattr("fairjudge.graphs.judge._MAX_CHUNKS", 5)
    tasks, settled = [task(n) for n in range(40)], []

    async def settle():
        settled.append(None)

    assert len(await run(deps(ScriptedJudge(), tasks, chunk_size=2, settle=settle))) == 40
    assert len(settled) == 5


async def test_programming_error_propagates():
    class Broken(ScriptedJudge):
        def read(self, task, reply):
            raise KeyError("a bug")

    with pytest.raises(KeyError, match="a bug"):
        await run(replace(deps(Broken(), [task(0)])))
