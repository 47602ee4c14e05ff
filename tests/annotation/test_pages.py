"""The application in this process: what happens when an answer cannot be kept."""

from __future__ import annotations

import re

import httpx
import pytest
from annotation_tools import write_world

from fairjudge.annotation.passages import mark_passages, word_similarity
from fairjudge.annotation.planning import JobOptions
from fairjudge.annotation.store import Store
from fairjudge.annotation.web.app import create_app
from fairjudge.annotation.web.guard import Hosts
from fairjudge.annotation.web.site import Access, Site
from fairjudge.errors import RunError
from fairjudge.run.annotating import open_desk, prepare


@pytest.fixture
def client(tmp_path):
    write_world(tmp_path)
    prepared = prepare(
        "faithfulness",
        tmp_path / "references.json",
        summaries=tmp_path / "summaries.jsonl",
        options=JobOptions(overlap=0.0),
    )
    desk, _ = open_desk(prepared, tmp_path / "labels.jsonl")
    site = Site(
        desk=desk,
        task=prepared.task,
        access=Access(secret="secret", progress="progress"),
        marks=mark_passages(prepared.items, word_similarity),
    )
    app = create_app(site, hosts=Hosts.for_address("127.0.0.1"))
    yield httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://localhost", follow_redirects=True
    )
    desk.close()


def fields(page: httpx.Response, **more: str) -> dict[str, str]:
    result = dict(re.findall(r'name="(csrf|position)" value="(\w+)"', page.text))
    return result | more


async def test_unsaved_answer_is_not_acknowledged(client, tmp_path, monkeypatch):
    async with client:
        page = await client.post("/sign-in", data={"name": "ann"})

        def full(*_, **__):
            raise RunError("no space left")

        with monkeypatch.context() as broken:
            broken.setattr(Store, "append", full)
            reply = await client.post("/label", data=fields(page, level="1"))
        assert reply.status_code == 503
        assert "not stored" in reply.text
        assert (tmp_path / "labels.jsonl").read_bytes() == b""
        reply = await client.post("/label", data=fields(page, level="1"))
        assert reply.url.path == "/item/2"
        assert (tmp_path / "labels.jsonl").read_bytes().count(b"\n") == 1


async def test_complete_job_with_its_pages(client, tmp_path):
    async with client:
        assert (await client.get("/")).status_code == 200
        page = await client.post("/sign-in", data={"name": "ann"})
        reply = await client.post("/skip", data=fields(page, reason="I cannot decide"))
        assert reply.url.path == "/item/2"
        page = await client.post("/undo", data=fields(reply))
        assert page.url.path == "/item/1"
        assert "taken back" in page.text
        while page.url.path != "/item/end":
            page = await client.post("/label", data=fields(page, level="0", seconds="2.25"))
        assert "All is done" in page.text
        figures = await client.get("/progress?token=progress")
        assert "Median seconds" in figures.text
        assert "2.2" in figures.text
        page = await client.post("/sign-out", data=fields(page))
        assert "Your name" in page.text
        assert (await client.get("/item")).url.path == "/"
        assert (await client.get("/item/1")).url.path == "/"
