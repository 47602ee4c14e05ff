"""The routes of the annotation site."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from fastapi.staticfiles import StaticFiles

from fairjudge.annotation import moves
from fairjudge.annotation.adjudication import Opinion
from fairjudge.annotation.board import Board
from fairjudge.annotation.desk import Turn
from fairjudge.annotation.items import Item
from fairjudge.annotation.quality import answer_text, format_duration, quality
from fairjudge.annotation.views import choices, item_view
from fairjudge.annotation.web.guard import MAX_BODY_BYTES, Guard, Hosts
from fairjudge.annotation.web.site import Site, annotator_name, new_session, secrets_match
from fairjudge.domain import Undefined
from fairjudge.errors import FairJudgeError, InputError

Result = TypeVar("Result")
_A_MONTH = 30 * 24 * 3600


class _Refusal(Exception):  # noqa: N818  # a response, not an error
    """Ends a request with a short message, or with a redirect to `to`."""

    def __init__(self, status: int, reason: str = "", *, to: str = "") -> None:
        super().__init__(reason)
        self.status = status
        self.to = to


def create_app(site: Site, *, hosts: Hosts) -> FastAPI:
    """Return the application of one job."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    app.add_middleware(Guard, hosts=hosts)
    app.mount("/static", StaticFiles(packages=[("fairjudge.annotation.web", "static")]))
    pages = _Pages(site)
    routes = (
        ("GET", "/", pages.front),
        ("GET", "/item", pages.next_item),
        ("GET", "/item/{position}", pages.item),
        ("GET", "/progress", pages.progress),
        ("GET", "/progress/figures", pages.figures),
        ("GET", "/progress/item/{number}", pages.labelled_item),
        ("POST", "/sign-in", pages.sign_in),
        ("POST", "/sign-out", pages.sign_out),
        ("POST", "/label", pages.label),
        ("POST", "/skip", pages.skip),
        ("POST", "/undo", pages.undo),
    )
    for method, path, endpoint in routes:
        app.add_api_route(path, endpoint, methods=[method], response_model=None)
    app.add_exception_handler(_Refusal, pages.handle_refusal)
    app.add_exception_handler(FairJudgeError, pages.handle_error)
    app.add_exception_handler(404, pages.handle_missing_page)
    return app


class _Pages:
    def __init__(self, site: Site) -> None:
        self._site = site
        self._desk = site.desk
        suffix = site.access.cookie_suffix
        self._session, self._token, self._progress = (
            f"fairjudge_{name}_{suffix}" for name in ("session", "token", "progress")
        )

    # Signing in and out.

    async def front(self, request: Request) -> Response:
        """Show the guidelines and ask for a name."""
        if "token" in request.query_params:
            return self._with_token(request.query_params["token"])
        self._admit(request)
        if self._desk.annotator(request.cookies.get(self._session, "")) is not None:
            return _to("/item")
        return self._sign_in_page()

    def _sign_in_page(self, problem: str = "") -> Response:
        answer_choices = list(choices(self._site.task.scale))
        status = 400 if problem else 200
        return self._page("sign_in.html", status=status, choices=answer_choices, problem=problem)

    def _with_token(self, token: str) -> Response:
        if self._site.access.token is None or not self._site.access.admits(token):
            raise _Refusal(403, "This link is not valid.")
        return self._set(_to("/"), self._token, token)

    async def sign_in(self, request: Request) -> Response:
        """Start a session; an annotator who returns continues at their current item."""
        self._admit(request)
        form = await _form(request)
        try:
            name = annotator_name(form.get("name", ""))
        except InputError as error:
            return self._sign_in_page(error.problem)
        names = self._desk.names()
        same_name = known_spelling(name, names)
        if (
            same_name is None
            and "new" not in form
            and (near := similar_name(name, names)) is not None
        ):
            return self._page("which_name.html", name=name, near=near)
        name = name if same_name is None else same_name
        key = new_session()

        def remember(turn: Turn) -> None:
            turn.sessions[key] = name

        await self._do(remember)
        return self._set(_to("/item"), self._session, key)

    async def sign_out(self, request: Request) -> Response:
        await self._signed_form(request)
        page = _to("/")
        page.delete_cookie(self._session, httponly=True, samesite="strict")
        return page

    # Labelling.

    async def next_item(self, request: Request) -> Response:
        name, _ = self._require_session(request)
        return _to_item(await self._do(lambda turn: moves.next_position(turn, name)))

    async def item(self, request: Request, position: str) -> Response:
        """Show the item at `position`, or the final page for "end"."""
        name, key = self._require_session(request)
        if position == "end":
            return self._page("end.html", **self._page_values(name, key))
        number, pair = _number_of_item(position), self._site.task.scale.kind == "pair"
        entry = self._desk.read(lambda board: moves.entry_at(board, name, number, pair=pair))
        if entry is None:
            return _to("/item")
        item = self._desk.items[entry.item]
        return self._page(
            "item.html",
            **self._page_values(name, key),
            view=item_view(self._site.task, item, entry, self._site.marks.get(item.id, {})),
            place=entry,
            reasons=moves.SKIP_REASONS,
            max_note=moves.MAX_NOTE,
            taken_back="undone" in request.query_params,
            opinions=self._opinions(item, entry),
        )

    def _opinions(self, item: Item, entry: moves.ListEntry) -> Sequence[Opinion]:
        """Return the opinions of the judge and of annotators on an item after it is labelled."""
        adjudication = self._site.adjudication
        if adjudication is None or entry.label is None:
            return ()
        return adjudication.opinions.get(item.id, ())

    def _page_values(self, name: str, key: str) -> dict[str, Any]:
        counts = self._desk.read(lambda board: _counts(board, name))
        return {**counts, "name": name, "csrf": self._site.access.csrf(key)}

    async def label(self, request: Request) -> Response:
        name, form = await self._signed_form(request)
        position, level = _integer_field(form, "position"), _integer_field(form, "level")
        task, note, seconds = self._site.task, form.get("note", ""), _seconds(form)

        def act(turn: Turn) -> int | None:
            former_entry = moves.entry_at(turn.board, name, position, pair=False)
            was_labelled = former_entry is not None and former_entry.label is not None
            next_position = moves.label(
                turn, name, position, task=task, level=level, note=note, seconds=seconds
            )
            # After a first label in adjudication, the same item shows the opinions on it.
            is_same_item = self._site.adjudication is not None and not was_labelled
            return position if is_same_item else next_position

        return _to_item(await self._do(act))

    async def skip(self, request: Request) -> Response:
        name, form = await self._signed_form(request)
        task, position, reason = (
            self._site.task,
            _integer_field(form, "position"),
            form.get("reason", ""),
        )
        note = form.get("note", "")
        return _to_item(
            await self._do(
                lambda turn: moves.skip(turn, name, position, task=task, reason=reason, note=note)
            )
        )

    async def undo(self, request: Request) -> Response:
        name, _ = await self._signed_form(request)
        position = await self._do(lambda turn: moves.undo(turn, name))
        return _to_item(position, "?undone")

    # The progress page.

    async def progress(self, request: Request) -> Response:
        """Show agreement and controls to holders of the progress token."""
        token = request.query_params.get("token")
        if token is not None and secrets_match(token, self._site.access.progress):
            return self._set(_to("/progress"), self._progress, token)
        return self._page("progress.html", **self._figures(request))

    async def figures(self, request: Request) -> Response:
        """Return the part of the progress page that is refreshed."""
        return self._page("figures.html", **self._figures(request))

    async def labelled_item(self, request: Request, number: str) -> Response:
        """Show an item with the labels of all annotators; needs the token."""
        self._sees_progress(request)
        position = _number_of_item(number)
        events = self._desk.read(lambda board: tuple(board.decisions("label")))
        labelled_items = sorted({event.item for event in events})
        if position not in labelled_items:
            raise _Refusal(404, "This item has no labels yet.")
        item, task = self._desk.items[position], self._site.task
        first_entry = moves.ListEntry(
            position=1,
            item=position,
            decision=None,
            shown="ab" if task.scale.kind == "pair" else None,
        )
        index = labelled_items.index(position)
        return self._page(
            "labelled_item.html",
            view=item_view(task, item, first_entry, self._site.marks.get(item.id, {})),
            item=item,
            labels=[event for event in events if event.item == position],
            answer=lambda value: answer_text(value, task.scale),
            before=labelled_items[index - 1] if index else None,
            after=labelled_items[index + 1] if index + 1 < len(labelled_items) else None,
        )

    def _sees_progress(self, request: Request) -> None:
        token = request.cookies.get(self._progress, "")
        if not secrets_match(token, self._site.access.progress):
            raise _Refusal(403, "Open the link to this page that the server printed at its start.")

    def _figures(self, request: Request) -> dict[str, Any]:
        self._sees_progress(request)
        scale = self._site.task.scale
        items = self._desk.items
        documents = [item.eid for item in items]
        result = self._desk.read(lambda board: quality(board, scale=scale, documents=documents))
        values = {
            "quality": result,
            "items": items,
            "why": _reason,
            "format_duration": format_duration,
        }
        return {**values, "controls": len(self._desk.job.controls)}

    # Shared helpers.

    def _admit(self, request: Request) -> None:
        if not self._site.access.admits(request.cookies.get(self._token, "")):
            raise _Refusal(403, "Open the link that you were given.")

    def _require_session(self, request: Request) -> tuple[str, str]:
        """Return the annotator's name and session; redirect to the front page without one."""
        self._admit(request)
        key = request.cookies.get(self._session, "")
        name = self._desk.annotator(key)
        if name is None:
            raise _Refusal(303, to="/")
        return name, key

    async def _signed_form(self, request: Request) -> tuple[str, Mapping[str, str]]:
        name, key = self._require_session(request)
        form = await _form(request)
        if not secrets_match(form.get("csrf", ""), self._site.access.csrf(key)):
            raise _Refusal(403, "This page is too old. Go back, reload it, and try again.")
        return name, form

    async def _do(self, act: Callable[[Turn], Result]) -> Result:
        return await asyncio.wrap_future(self._desk.submit(act))

    def _page(self, template: str, *, status: int = 200, **values: object) -> Response:
        page = self._site.render(template, **values)
        return HTMLResponse(page, status_code=status, headers={"cache-control": "no-store"})

    def _set(self, page: Response, name: str, value: str) -> Response:
        page.set_cookie(name, value, max_age=_A_MONTH, httponly=True, samesite="strict")
        return page

    async def handle_refusal(self, _: Request, refusal: Exception) -> Response:
        if not isinstance(refusal, _Refusal):
            raise refusal
        if refusal.to:
            return _to(refusal.to)
        return self._message(refusal.status, str(refusal))

    async def handle_error(self, _: Request, error: Exception) -> Response:
        """Respond to an error: 400 for invalid input, 503 if an answer could not be stored."""
        if isinstance(error, InputError):
            return self._message(400, str(error))
        return self._message(
            503, "Your answer was not stored. Tell the person who runs this page, and wait."
        )

    async def handle_missing_page(self, _: Request, __: Exception) -> Response:
        return self._message(404, "There is no such page.")

    def _message(self, status: int, text: str) -> Response:
        return self._page("message.html", status=status, text=text)


def _to(path: str) -> Response:
    return RedirectResponse(path, status_code=303, headers={"cache-control": "no-store"})


def _to_item(position: int | None, suffix: str = "") -> Response:
    return _to("/item/end" if position is None else f"/item/{position}{suffix}")


async def _form(request: Request) -> Mapping[str, str]:
    """Read a form of at most `MAX_BODY_BYTES`, regardless of the declared length."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise _Refusal(413, "The request is too large.")
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=20)
    except ValueError:
        raise _Refusal(400, "This is not a form.") from None
    return dict(pairs)


def _integer_field(form: Mapping[str, str], field: str) -> int:
    return _number(form.get(field, ""), _Refusal(400, f"The form lacks its {field}."))


def _number_of_item(text: str) -> int:
    return _number(text, _Refusal(404, "There is no such item."))


def _number(text: str, refusal: _Refusal) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 9):
        raise refusal
    return int(text)


def _seconds(form: Mapping[str, str]) -> float | None:
    """Return the seconds that the item was open, as measured by the page, or None."""
    try:
        seconds = float(form.get("seconds", ""))
    except ValueError:
        return None
    return round(seconds, 1) if 0.0 <= seconds < 86_400.0 else None


def _counts(board: Board, name: str) -> dict[str, object]:
    n_labelled, n_wanted = board.progress()
    return {
        "n_done": len(board.done(name)),
        "n_own": sum(event.kind == "label" for event in board.done(name).values()),
        "n_given": len(board.history(name)),
        "n_labelled": n_labelled,
        "n_wanted": n_wanted,
    }


def _reason(value: object) -> str:
    return value.why if isinstance(value, Undefined) else ""


_MIN_SIMILARITY = 0.8
"""Minimum similarity of two names, in [0, 1], to suspect a misspelling."""


def fold(name: str) -> str:
    """Return a name with case and full-width letters normalised."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def known_spelling(name: str, names: Sequence[str]) -> str | None:
    """Return the known spelling of a name, ignoring case and width; None for a new name."""
    if name in names:
        return name
    return next((known for known in names if fold(known) == fold(name)), None)


def similar_name(name: str, names: Iterable[str]) -> str | None:
    """Return the most similar known name, or None if none is similar enough."""
    similarities = {
        known: SequenceMatcher(None, fold(known), fold(name)).ratio() for known in names
    }
    best = max(similarities, key=similarities.__getitem__, default=None)
    return best if best is not None and similarities[best] >= _MIN_SIMILARITY else None
