"""The web application of `heldout serve`: shows a journal's studies to browsers on this machine, read-only."""

from __future__ import annotations

import re
import threading
from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from heldout.base.errors import HeldoutError
from heldout.base.words import line
from heldout.cli.report import read_index
from heldout.journal import JournalReader
from heldout.report.page import page_policy
from heldout.report.study_list import KEY, RUNNING
from heldout.report.study_pages import live_facts, policy_of, render_index, render_live, render_study

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_PAGES = 16  # rendered reports in the cache
_NAME = re.compile(f"[0-9a-f]{{{KEY}}}")
_HEADERS = {
    "content-security-policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "x-frame-options": "DENY",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}


class Studies:
    """Answers requests with the studies of a journal. No part of a URL is ever used as a file name."""

    def __init__(self, reader: JournalReader) -> None:
        self._reader = reader
        # A report is rendered once per version of its summary, which the mark identifies.
        self._drawn = lru_cache(MOST_PAGES)(lambda key, mark: render_study(reader.summary(key)))
        self._drawing = threading.Lock()

    def list(self, request: Request) -> Response:
        """Answer with the list of studies."""
        return _page(render_index(read_index(self._reader), served=True), policy_of(served=True))

    def live(self, request: Request) -> Response:
        """Answer with the progress of the running program as JSON, for the script of a page."""
        return JSONResponse(live_facts(read_index(self._reader)))

    def study(self, request: Request) -> Response:
        """Answer with the report of a study, or with its progress while it runs or has no report."""
        name, index = str(request.path_params["key"]), read_index(self._reader)
        entry = next((study for study in index["studies"] if study["key"] == name), None)
        if entry is None or not _NAME.fullmatch(name):
            raise HTTPException(404)
        if entry["page"] is None or entry["state"] == RUNNING:
            return _page(render_live(index, entry), policy_of(served=True))
        return _page(self._report(name), page_policy())

    def _report(self, name: str) -> str:
        """Return the report of a study, rendered or from the cache."""
        row = next(row for row in self._reader.contents().summaries if row.key.hex()[:KEY] == name)
        with self._drawing:  # one at a time: matplotlib is not thread-safe
            return self._drawn(row.key, row.mark)


def _guarded(app: ASGIApp, names: Collection[str]) -> ASGIApp:
    """Refuse requests with another host name and all but GET and HEAD; add security headers to all answers.

    A page of another site can let its own host name resolve to this machine (DNS rebinding); its requests then carry
    that name.
    """

    async def guard(scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http", "the server speaks nothing else"
        hosts = [value.decode("latin-1").lower() for name, value in scope["headers"] if name == b"host"]
        answer = app
        if len(hosts) != 1 or hosts[0] not in names:
            answer = PlainTextResponse("This address is served under its own name alone.\n", status_code=400)
        elif scope["method"] not in ("GET", "HEAD"):
            answer = PlainTextResponse("Read-only.\n", status_code=405, headers={"allow": "GET, HEAD"})

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=message["headers"])
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await answer(scope, receive, send_with_headers)

    return guard


def make_app(reader: JournalReader, port: int) -> ASGIApp:
    """Return the ASGI application, for a server that listens on this port of this machine."""
    studies = Studies(reader)
    app = Starlette(
        routes=[
            Route("/", studies.list),
            Route("/live.json", studies.live),
            Route("/study/{key}", studies.study),
        ],
        exception_handlers={HeldoutError: _cannot, HTTPException: _refusal},
    )
    app.router.redirect_slashes = False
    return _guarded(app, names_of(port))


def names_of(port: int) -> list[str]:
    """Return the host names by which browsers on this machine reach the server.

    >>> names_of(8765)
    ['127.0.0.1:8765', 'localhost:8765', '[::1]:8765']
    """
    names = ["127.0.0.1", "localhost", "[::1]"]
    return [f"{name}:{port}" for name in names] + (names if port == 80 else [])


def _page(text: str, policy: str) -> Response:
    return HTMLResponse(text, headers={"content-security-policy": f"{policy}; frame-ancestors 'none'"})


def _cannot(request: Request, error: Exception) -> Response:
    """Answer 503 with the error if the journal is gone, or a summary cannot be shown."""
    return PlainTextResponse(f"{line(error)}\n", status_code=503)


def _refusal(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    headers: Mapping[str, Any] | None = error.headers
    return PlainTextResponse(f"{error.detail}.\n", status_code=error.status_code, headers=headers)
