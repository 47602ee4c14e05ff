"""The page without a browser: what it shows, what it refuses, and what it sends along."""

from __future__ import annotations

import json
import re
import socket
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from annotation_tools import (
    HOSTILE,
    PATIENCE_SECONDS,
    Annotator,
    Server,
    get,
    post,
    rows,
    serve,
    write_world,
)

from fairjudge.annotation.web.guard import MAX_BODY_BYTES, Hosts, is_loopback

EVERYWHERE = "0.0.0.0"  # noqa: S104  # on purpose: what is tested is how it is guarded


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("job")
    write_world(folder)
    return folder


@pytest.fixture(scope="module")
def server(folder: Path):
    running = serve(folder, "--overlap", "1", "--raters", "9")
    yield running
    running.interrupt()


def test_hostile_text_is_escaped(server: Server):
    page = Annotator(server.url, "reader").page.text
    assert "<script>document" not in page
    assert "<img" not in page
    assert "&lt;script&gt;document.title" in page
    assert "secret-" not in page
    assert HOSTILE not in page


@pytest.mark.parametrize("path", ["/openapi.json", "/docs", "/redoc", "/nowhere"])
def test_unknown_pages_are_not_found(server: Server, path):
    assert get(server.url.rstrip("/") + path).status_code == 404


@pytest.mark.parametrize("path", ["/", "/item/1", "/static/keys.js", "/nowhere"])
def test_every_response_has_a_content_security_policy(server: Server, path):
    reply = get(server.url.rstrip("/") + path)
    policy = reply.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["x-frame-options"] == "DENY"


def test_pages_have_no_inline_script_or_style(server: Server):
    page = Annotator(server.url, "reader").page.text
    assert "<script>" not in page
    assert "<style" not in page
    assert " style=" not in page
    assert " onclick=" not in page


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "", "localhost.evil.example"])
def test_foreign_host_name_is_rejected(server: Server, host):
    assert get(server.url, headers={"host": host}).status_code == 421


def test_two_host_headers_are_rejected(server: Server):
    address = urlsplit(server.url)
    place = (address.hostname, address.port)
    with socket.create_connection(place, timeout=PATIENCE_SECONDS) as raw:
        raw.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n")
        assert raw.recv(20).split()[1] in {b"400", b"421"}


def test_form_needs_its_csrf_token_and_own_origin(server: Server, folder: Path):
    ann = Annotator(server.url, "ann")
    before = (folder / "labels.jsonl").read_bytes()
    assert ann.label(1, csrf="0" * 64).status_code == 403
    ann = Annotator(server.url, "ann")
    other = Annotator(server.url, "other")
    assert ann.label(1, csrf=other.csrf).status_code == 403  # another session's mark
    ann = Annotator(server.url, "ann")
    fields = {"csrf": ann.csrf, "position": "1", "level": "1"}
    for headers in (
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
    ):
        assert ann.http.post("/label", data=fields, headers=headers).status_code == 403
    assert (folder / "labels.jsonl").read_bytes() == before
    home = {"origin": server.url.rstrip("/"), "sec-fetch-site": "same-origin"}
    assert ann.http.post("/label", data=fields, headers=home).status_code == 200
    assert (folder / "labels.jsonl").read_bytes() != before


def test_cross_site_sign_in_is_rejected(server: Server):
    reply = post(
        f"{server.url}sign-in", data={"name": "x"}, headers={"origin": "https://evil.example"}
    )
    assert reply.status_code == 403


def test_cookies_are_http_only_and_same_site(server: Server):
    reply = post(f"{server.url}sign-in", data={"name": "eve"})
    text = reply.headers["set-cookie"].lower()
    assert "httponly" in text
    assert "samesite=strict" in text


@pytest.mark.parametrize("name", ["", "   ", "<b>", "a" * 41, "../x", "-"])
def test_invalid_names_are_rejected_on_the_page(server: Server, name):
    reply = post(f"{server.url}sign-in", data={"name": name})
    assert reply.status_code == 400
    assert "Your name" in reply.text


@pytest.mark.parametrize(
    "fields",
    [
        {"level": "9"},
        {"level": "-1"},
        {"level": "x"},
        {"position": "99"},
        {"position": "9" * 30},
        {"position": "¹"},
    ],
)
def test_invalid_answers_are_rejected(server: Server, fields):
    ann = Annotator(server.url, "careless")
    assert ann.send("/label", **({"level": 1} | fields)).status_code == 400


def test_unoffered_reason_is_rejected(server: Server):
    assert Annotator(server.url, "lazy").send("/skip", reason="boredom").status_code == 400


def test_large_requests_are_rejected(server: Server):
    ann = Annotator(server.url, "wordy")
    assert ann.label(1, note="x" * (MAX_BODY_BYTES + 1)).status_code == 413
    assert get(f"{server.url}?{'x' * 3000}").status_code == 414

    def endless():
        for _ in range(40):
            yield b"x" * 1024

    ann = Annotator(server.url, "wordy")
    reply = ann.http.post("/label", content=endless())  # chunked: no length is announced
    assert reply.status_code == 413


def test_unknown_visitor_is_redirected_to_the_front_page(server: Server):
    reply = get(f"{server.url}item/1")
    assert (reply.status_code, reply.headers["location"]) == (303, "/")
    reply = post(f"{server.url}label", data={"level": "1"})
    assert (reply.status_code, reply.headers["location"]) == (303, "/")


def test_no_annotator_sees_the_items_of_another(server: Server):
    ann = Annotator(server.url, "first")
    assert ann.position == 1
    late = Annotator(server.url, "second")
    assert str(late.http.get("/item/7").url).endswith("/item/1")


def test_progress_needs_its_own_token(server: Server):
    address = f"{server.url}progress"
    assert get(address).status_code == 403
    assert get(f"{address}?token=wrong").status_code == 403
    assert get(f"{address}/figures").status_code == 403
    with httpx.Client(follow_redirects=True, timeout=PATIENCE_SECONDS) as client:
        page = client.get(server.progress)
        assert page.status_code == 200
        assert "token=" not in str(page.url)  # it stays in a cookie, not in the history
        assert "Krippendorff" in page.text
        assert "alpha" in client.get(f"{address}/figures").text


def test_session_continues_under_another_server(tmp_path):
    write_world(tmp_path)
    server = serve(tmp_path, "--overlap", "0")
    ann = Annotator(server.url, "ann")
    ann.label(1, note="<b>bold</b>")
    ann.send("/skip", reason="I cannot decide", note="too close")
    assert ann.position == 3
    assert "1 label in labels.jsonl" in server.interrupt()
    again = serve(tmp_path, "--overlap", "0")
    assert again.progress.split("=")[1] == server.progress.split("=")[1]
    ann = Annotator(again.url, "  ann ")
    assert ann.position == 3
    page = ann.http.get("/item/1").text
    assert "&lt;b&gt;bold&lt;/b&gt;" in page
    assert 'aria-pressed="true"' in page
    assert "You skipped this item: I cannot decide" in ann.http.get("/item/2").text
    again.interrupt()
    assert [row["note"] for row in rows(tmp_path / "labels.jsonl")] == ["<b>bold</b>"]


def test_progress_page_numbers(tmp_path):
    """Two people who answer by one rule, which gets the control wrong."""
    write_world(tmp_path)
    gold = {
        "eid": "e0", "system": "secret-x", "aspect": "coverage", "annotator": "gold",
        "value": 1, "unit": "answer:0.0",
    }  # fmt: skip
    (tmp_path / "gold.jsonl").write_text(json.dumps(gold) + "\n", "utf-8")
    server = serve(tmp_path, "--overlap", "1", "--controls", "gold.jsonl")
    ann, bo = Annotator(server.url, "ann"), Annotator(server.url, "bo")
    labelled = 0
    for annotator in (ann, bo):
        while annotator.position is not None:
            text = annotator.page.text
            first = "the cracks" in text.split('class="statement"')[1][:200]
            level = 1 if first else 0
            annotator.label(level)
            labelled += 1
    assert labelled == 24  # eleven items twice, and the control for both
    with httpx.Client(follow_redirects=True, timeout=PATIENCE_SECONDS) as client:
        page = client.get(server.progress).text
    assert "22 <span" in page
    assert "1.00" in page  # both answered by one rule, so alpha is 1
    assert "0 %" in page  # the control is about the rain, which the rule calls not covered
    server.interrupt()


def test_progress_page_lists_disagreements(tmp_path):
    """Of 12 items one is answered differently; nobody hears of controls where there are none."""
    write_world(tmp_path)
    server = serve(tmp_path, "--overlap", "1")
    for name in ("ann", "bo"):
        annotator = Annotator(server.url, name)
        n = 0
        while annotator.position is not None:
            first = "the cracks" in annotator.page.text.split('class="statement"')[1][:200]
            annotator.label(1 if first or (name == "bo" and n == 0) else 0)
            n += 1
    with httpx.Client(follow_redirects=True, timeout=PATIENCE_SECONDS) as client:
        page = client.get(server.progress).text
    server.interrupt()
    assert "Where annotators differ most" in page
    assert page.count("ann: ") == 1
    assert "92 %" in page  # 11 of 12 alike
    assert "50 %" in page  # of the labels each
    assert "Controls" not in page
    assert "secret-" not in page


def test_non_loopback_access_needs_the_printed_link(tmp_path):
    write_world(tmp_path)
    server = serve(tmp_path, "--host", EVERYWHERE)
    link = urlsplit(server.url)
    base = f"http://127.0.0.1:{link.port}"
    assert get(base).status_code == 403
    assert post(f"{base}/sign-in", data={"name": "x"}).status_code == 403
    assert get(f"{base}/?token=wrong").status_code == 403
    assert get(base, headers={"host": "evil.example"}).status_code == 421
    with httpx.Client(base_url=base, follow_redirects=True, timeout=PATIENCE_SECONDS) as client:
        page = client.get(f"/?{link.query}")
        assert page.status_code == 200
        assert "token" not in str(page.url)
        assert client.post("/sign-in", data={"name": "ann"}).url.path == "/item/1"
    assert any("not encrypted" in line for line in server.output)
    server.interrupt()


@pytest.mark.parametrize(
    ("bound", "host", "fine"),
    [
        ("127.0.0.1", "127.0.0.1:8765", True),
        ("127.0.0.1", "LOCALHOST", True),
        ("127.0.0.1", "[::1]:80", True),
        ("127.0.0.1", "192.168.0.5", False),
        ("127.0.0.1", "label.example", True),
        ("127.0.0.1", "evil.example", False),
        (EVERYWHERE, "192.168.0.5:8765", True),
        (EVERYWHERE, "[fe80::1]", True),
        (EVERYWHERE, "evil.example", False),
        (EVERYWHERE, "[broken", False),
    ],
)
def test_accepted_host_names(bound, host, fine):
    assert Hosts.for_address(bound, extra_names=["Label.example"]).allow(host) is fine


def test_loopback_addresses():
    assert [is_loopback(h) for h in ("127.0.0.1", "127.9.9.9", "::1", "localhost")] == [True] * 4
    assert [is_loopback(h) for h in (EVERYWHERE, "::", "192.168.0.5", "example")] == [False] * 4


def sign_in(server: Server, name: str, **more: str) -> httpx.Response:
    return post(f"{server.url}sign-in", data={"name": name, **more}, follow_redirects=False)


def test_name_ignores_case_and_width(tmp_path):
    write_world(tmp_path)
    server = serve(tmp_path, "--overlap", "0")
    Annotator(server.url, "Anna Mäki").label(1)
    for name in ("anna mäki", "ANNA MÄKI", "Ａｎｎａ Mäki"):
        again = Annotator(server.url, name)
        assert again.position == 2  # goes on where she left off
    again.label(0)
    server.interrupt()
    assert {row["annotator"] for row in rows(tmp_path / "labels.jsonl")} == {"Anna Mäki"}


def test_similar_name_asks_for_confirmation(tmp_path):
    write_world(tmp_path)
    server = serve(tmp_path, "--overlap", "0")
    assert sign_in(server, "Katharina").status_code == 303
    request = sign_in(server, "Katarina")
    assert request.status_code == 200
    assert "Did you mean Katharina?" in request.text
    assert not request.cookies  # nobody is signed in yet
    assert sign_in(server, "Katarina", new="1").status_code == 303
    assert sign_in(server, "katarina").status_code == 303  # known by now
    assert sign_in(server, "Bo").status_code == 303
    server.interrupt()


def test_progress_shows_answers_agreement_time_and_fast_answers(tmp_path):
    """Ann says yes to all and at once, bo to the cracks alone, without haste."""
    write_world(tmp_path)
    server = serve(tmp_path, "--overlap", "1")
    for name, seconds in (("ann", "0.4"), ("bo", "30")):
        annotator = Annotator(server.url, name)
        for _ in range(12 if name == "ann" else 6):
            first = "the cracks" in annotator.page.text.split('class="statement"')[1][:200]
            annotator.label(1 if name == "ann" or first else 0, seconds=seconds)
    with httpx.Client(follow_redirects=True, timeout=PATIENCE_SECONDS) as client:
        page = client.get(server.progress).text
        item = re.search(r'href="(/progress/item/\d+)"', page)
        inside = client.get(server.url.rstrip("/") + item[1])
        assert client.get(f"{server.url}progress/item/999").status_code == 404
        assert client.get(f"{server.url}progress/item/x").status_code == 404
    assert "ann: 12 of 12 answers in less than 2 seconds" in page
    assert "bo: " not in page.split("</dl>")[1].split("<table>")[0]
    # 18 labels, the median of 0.4 (12) and 30 (6) is 0.4 s; 6 are left.
    assert "less than a minute" in page
    assert "Answers of ann (rows) and of bo (columns) to the same items" in page
    cells = re.findall(r'<td class="number">(\d+)</td>', page.split("(columns) to the")[1])
    assert sum(map(int, cells[:4])) == 6
    assert cells[:2] == ["0", "0"]  # ann never said no
    assert inside.status_code == 200
    assert "ann: Covered" in inside.text
    assert "bo: Not covered" in inside.text
    assert "secret-" not in inside.text
    assert "<script>document" not in inside.text
    assert httpx.get(server.url.rstrip("/") + item[1]).status_code == 403  # without the token
    server.interrupt()
