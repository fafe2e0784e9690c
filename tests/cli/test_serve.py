"""`heldout serve`: who is answered, what, in which dress; and how it begins and ends."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from click.testing import CliRunner

from heldout.base.errors import JournalError
from heldout.cli import serving
from heldout.cli.main import main
from heldout.cli.serving import make_app
from heldout.engine.live_file import live_path
from heldout.journal import JournalReader, keep_summary
from heldout.report.page import render_page

FIXTURES = Path(__file__).parents[1] / "fixtures"
PORT = 8765


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    shutil.copyfile(FIXTURES / "journal-4.db", tmp_path / "genes.db")
    return tmp_path / "genes.db"


@dataclass(frozen=True)
class Answer:
    status_code: int
    headers: dict[str, str]
    text: str


@dataclass(frozen=True)
class Client:
    """Asks the application as a server would that has read a request; nothing is tidied up on the way."""

    app: Any

    def ask(self, method: str, path: str, hosts: Sequence[str] = (f"127.0.0.1:{PORT}",)) -> Answer:
        told: list[Any] = []
        headers = [(b"host", host.encode()) for host in hosts]
        scope = {"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "http", "method": method}
        scope |= {"path": unquote(path), "raw_path": path.encode(), "query_string": b"", "root_path": ""}
        scope |= {"headers": headers, "client": ("127.0.0.1", 5000), "server": ("127.0.0.1", PORT)}

        async def receive() -> Any:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Any) -> None:
            told.append(message)

        asyncio.run(self.app(scope, receive, send))
        start, *rest = told
        body = b"".join(one.get("body", b"") for one in rest)
        pairs = {name.decode(): value.decode() for name, value in start["headers"]}
        assert len(pairs) == len(start["headers"]), "a header twice"
        return Answer(status_code=start["status"], headers=pairs, text=body.decode())

    def get(self, path: str, *hosts: str) -> Answer:
        return self.ask("GET", path, hosts or (f"127.0.0.1:{PORT}",))


@pytest.fixture
def client(journal: Path) -> Client:
    return Client(make_app(JournalReader(journal), PORT))


def keys(journal: Path) -> list[str]:
    return [row.key.hex()[:12] for row in JournalReader(journal).contents().studies]


def tell_live(journal: Path, study: str, **changes: Any) -> None:
    facts = {"study": study, "words": {"learner": "</script>Ridge()"}, "pid": os.getpid(), "host": socket.gethostname()}
    facts |= {"started": "2026-01-01T00:00:00+00:00", "stage": 1, "done": 13, "total": 40, "failed": 0, "share": 0.325}
    facts |= {"sentence": "fold 2 of 5, 13 of 40 fits", "seconds_left": [9.0, None]}
    live_path(journal).write_text(json.dumps({**facts, "seconds": 5.0, "failure": None, **changes}))


def test_the_list_the_reports_and_what_runs_are_served(client: Client, journal: Path):
    first, second = keys(journal)
    index = client.get("/")
    assert (index.status_code, index.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert f'href="/study/{first}"' in index.text
    reader = JournalReader(journal)
    report = client.get(f"/study/{first}")
    assert report.text == render_page(reader.summary(reader.contents().studies[0].key))
    live = client.get("/live.json")
    assert live.headers["content-type"] == "application/json"
    assert json.loads(live.text) == {
        "running": None,
        "studies": {second: ["finished", True], first: ["finished", True]},
        "busy": False,
    }


@pytest.mark.parametrize("path", ["/", "/live.json", "/study/{}", "/nothing"])
def test_every_answer_is_dressed(client: Client, journal: Path, path: str):
    path = path.format(keys(journal)[0])
    answers = [client.get(path), client.ask("POST", path), client.get(path, "evil.example")]
    for answer in answers:
        headers = answer.headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"
        assert headers["x-frame-options"] == "DENY"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; ")
        assert policy.endswith("; frame-ancestors 'none'")
        assert "unsafe" not in policy
        assert not [name for name in headers if name.startswith("access-control")]
        assert "set-cookie" not in headers


def test_the_policy_of_an_answer_is_that_of_its_page(client: Client, journal: Path):
    for path in ("/", f"/study/{keys(journal)[0]}"):
        answer = client.get(path)
        policy = answer.headers["content-security-policy"].removesuffix("; frame-ancestors 'none'")
        assert f'content="{policy.replace(chr(39), "&#39;")}"' in answer.text


@pytest.mark.parametrize("host", [f"127.0.0.1:{PORT}", f"localhost:{PORT}", f"LocalHost:{PORT}", f"[::1]:{PORT}"])
def test_browsers_on_this_machine_are_answered(client: Client, host: str):
    assert client.get("/", host).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        f"evil.example:{PORT}",
        "127.0.0.1",
        "127.0.0.1:80",
        f"127.0.0.1:{PORT}.evil.example",
        f"127.0.0.1.evil.example:{PORT}",
        f"localhost:{PORT}@evil.example",
        f"0.0.0.0:{PORT}",
        f"127.0.0.1:0{PORT}",
        " ",
        "",
    ],
)
@pytest.mark.parametrize("path", ["/", "/live.json"])
def test_a_name_that_somebody_pointed_here_is_refused(client: Client, host: str, path: str):
    answer = client.get(path, host)
    assert answer.status_code == 400
    assert "Ridge" not in answer.text


def test_two_names_or_none_are_refused(client: Client):
    good = f"localhost:{PORT}"
    assert client.ask("GET", "/", [good]).status_code == 200
    for hosts in ([], [good, "evil.example"], [good, good]):
        assert client.ask("GET", "/", hosts).status_code == 400


def test_on_the_usual_port_a_name_needs_no_number():
    assert serving.names_of(80)[-3:] == ["127.0.0.1", "localhost", "[::1]"]


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND", "get"])
@pytest.mark.parametrize("path", ["/", "/live.json", "/nothing"])
def test_other_methods_are_refused(client: Client, method: str, path: str):
    answer = client.ask(method, path)
    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET, HEAD"


def test_head_is_answered_as_get_is(client: Client, journal: Path):
    for path in ("/", "/live.json", f"/study/{keys(journal)[0]}"):
        assert client.ask("HEAD", path).status_code == 200
    assert client.ask("HEAD", "/nothing").status_code == 404


@pytest.mark.parametrize(
    "path",
    [
        "/index.html",
        "/live",
        "/live.json/",
        "/study",
        "/study/",
        "/study/000000000000",
        "/study/..%2f..%2fetc%2fpasswd",
        "/study/%00",
        "/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/genes.db",
        "/favicon.ico",
        "/static/../genes.db",
    ],
)
def test_other_paths_lead_nowhere(client: Client, path: str):
    answer = client.get(path)
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.text == "Not Found.\n"


def test_a_key_is_known_whole_and_in_small_letters(client: Client, journal: Path):
    first = keys(journal)[0]
    assert client.get(f"/study/{first}").status_code == 200
    for other in (first[:-1], first + "0", first.upper(), f"{first}/"):
        assert client.get(f"/study/{other}").status_code == 404


def test_a_study_that_runs_is_shown_as_it_moves(client: Client, journal: Path):
    reader = JournalReader(journal)
    row = reader.contents().studies[0]
    name = row.key.hex()[:12]
    tell_live(journal, row.key.hex())
    page = client.get(f"/study/{name}")
    assert '<progress max="100" value="32"' in page.text
    assert "fold 2 of 5, 13 of 40 fits" in page.text
    assert "more than 9 s left" in page.text
    assert "connect-src 'self'" in page.headers["content-security-policy"]
    running = json.loads(client.get("/live.json").text)["running"]
    assert (running["percent"], running["studies"]) == (32, [name])
    assert running["learner"] == "</script>Ridge()"
    assert "&lt;/script&gt;Ridge()" in client.get("/").text
    tell_live(journal, row.key.hex(), done=27, share=0.7)
    assert json.loads(client.get("/live.json").text)["running"]["percent"] == 70
    live_path(journal).unlink()
    assert json.loads(client.get("/live.json").text)["running"] is None
    assert "<progress" not in client.get(f"/study/{name}").text


def test_a_report_is_drawn_once_for_as_long_as_its_summary_stays(
    client: Client, journal: Path, monkeypatch: pytest.MonkeyPatch
):
    drawn: list[Any] = []
    monkeypatch.setattr(serving, "render_study", lambda summary: drawn.append(summary) or f"page {len(drawn)}")
    first, second = keys(journal)
    assert [client.get(f"/study/{key}").text for key in (first, first, second, first)] == [
        "page 1",
        "page 1",
        "page 2",
        "page 1",
    ]
    reader = JournalReader(journal)
    key = reader.contents().studies[0].key
    keep_summary(journal, key, {**reader.summary(key), "findings": []})
    assert client.get(f"/study/{first}").text == "page 3"
    assert client.get(f"/study/{second}").text == "page 2"
    keep_summary(journal, key, {**reader.summary(key), "findings": [{"severity": "info"}]})
    assert [client.get(f"/study/{one}").text for one in (first, second)] == ["page 4", "page 2"]
    assert len(drawn) == 4


def test_what_cannot_be_shown_says_why_and_a_journal_that_went_away_too(client: Client, journal: Path):
    reader = JournalReader(journal)
    row = reader.contents().studies[0]
    keep_summary(journal, row.key, {**reader.summary(row.key), "plan": "</script>none"})
    answer = client.get(f"/study/{row.key.hex()[:12]}")
    assert (answer.status_code, answer.headers["content-type"]) == (503, "text/plain; charset=utf-8")
    assert answer.text.startswith("The summary of this study cannot be shown")
    journal.unlink()
    answer = client.get("/")
    assert answer.status_code == 503
    assert "There is no journal" in answer.text


def test_the_journal_is_neither_changed_nor_locked(client: Client, journal: Path):
    before = journal.read_bytes()
    for path in ("/", "/live.json", f"/study/{keys(journal)[0]}"):
        client.get(path)
    assert journal.read_bytes() == before
    assert list(journal.parent.iterdir()) == [journal]


def serve(*words: object, **how: Any) -> subprocess.Popen[str]:
    line = [sys.executable, "-m", "heldout", "serve", *map(str, words)]
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **how)


def test_it_says_where_it_listens_answers_and_ends_quietly(journal: Path):
    program = serve(journal, "--port", 0)
    assert program.stdout is not None
    told = program.stdout.readline()
    address = told.split()[0]
    assert told == f"{address}  (read-only, for this machine alone; Ctrl-C ends it)\n"
    assert address.startswith("http://127.0.0.1:")
    port = int(address.rsplit(":", 1)[1].rstrip("/"))
    with urllib.request.urlopen(f"{address}live.json", timeout=20) as answer:
        assert len(json.load(answer)["studies"]) == 2
        assert "server" not in answer.headers
    with socket.socket() as other, pytest.raises(ConnectionRefusedError):
        other.connect(("127.0.0.2", port))  # another address of this machine
    second = CliRunner().invoke(main, ["serve", str(journal), "--port", str(port)])
    assert second.exit_code == 2
    assert f"Port {port} is in use. Give another one by --port, or --port 0 for any that is free." in second.stderr
    program.send_signal(signal.SIGINT)
    out, errors = program.communicate(timeout=30)
    assert (program.returncode, out, errors) == (0, "", "")


def test_what_is_no_journal_is_refused_before_anybody_is_sent_there(working_folder: Path):
    Path("table.csv").write_text("a,b\n1,2\n")
    for name, told in (("nowhere.db", "There is no journal"), ("table.csv", "is no journal of heldout")):
        done = CliRunner().invoke(main, ["serve", name, "--port", "0"])
        assert (done.exit_code, done.stdout) == (2, "")
        assert told in done.stderr
    with pytest.raises(JournalError, match="There is no journal"):
        JournalReader("nowhere.db").contents()


def test_without_its_packages_it_names_the_extra(journal: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("heldout.cli.serve.find_spec", lambda name: None if name in ("starlette", "uvicorn") else name)
    done = CliRunner().invoke(main, ["serve", str(journal)])
    assert done.exit_code == 2
    assert "needs starlette and uvicorn. Install it with pip install 'heldout[web]'" in done.stderr


def test_there_is_no_way_to_listen_elsewhere(journal: Path):
    done = CliRunner().invoke(main, ["serve", str(journal), "--host", "0.0.0.0"])
    assert done.exit_code == 2
    assert "No such option" in done.stderr


def test_it_opens_the_browser_only_where_it_is_asked_to(journal: Path, monkeypatch: pytest.MonkeyPatch):
    opened: list[str] = []
    monkeypatch.setattr("heldout.cli.serve.click.launch", opened.append)
    monkeypatch.setattr("uvicorn.Server.run", lambda self, sockets: None)
    first = CliRunner().invoke(main, ["serve", str(journal), "--port", "0"])
    assert (first.exit_code, opened) == (0, [])
    second = CliRunner().invoke(main, ["serve", str(journal), "--port", "0", "--open"])
    assert opened == [second.stdout.split()[0]]
