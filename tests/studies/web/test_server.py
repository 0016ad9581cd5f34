"""The server: who is answered, what leaves it, and what reaches the file system."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sdc_problems.errors import SDCError
from sdc_problems.parallel._process import ENDING
from sdc_problems.studies.store.reader import Run
from sdc_problems.studies.web.payload import SHORTLIST, Source
from sdc_problems.studies.web.server import Explorer
from sdc_problems.studies.web.session import Session

HOST = "127.0.0.1:8731"


class Client:
    """Speaks ASGI with an application, header by header."""

    def __init__(self, explorer: Explorer) -> None:
        self.app = explorer.app()
        self.session = explorer.session
        status, headers, _ = self.ask("/api/session", method="POST", body=self.session.code(), cookie=None)
        assert status == 204
        self.cookie, _, self.terms = headers["set-cookie"].partition("; ")

    RIGHT = "the one that was given"

    def ask(self, path: str, **options: Any) -> tuple[int, dict[str, str], bytes]:
        return asyncio.run(self.begin(path, **options))

    async def begin(
        self,
        path: str,
        *,
        method: str = "GET",
        body: Any = None,
        cookie: str | None = RIGHT,
        headers: dict[str, str] | None = None,
        messages: int | None = None,
    ) -> tuple[int, dict[str, str], bytes]:
        cookie = self.cookie if cookie == self.RIGHT else cookie
        given = {"host": HOST, **({"cookie": cookie} if cookie is not None else {})}
        if method != "GET":
            given["origin"] = f"http://{HOST}"
        given.update(headers or {})
        target, _, query = path.partition("?")
        target = target.removeprefix("OUTSIDE") if "OUTSIDE" in target else self.session.folder + target[1:]
        scope = {
            "type": "http", "method": method, "path": target, "raw_path": target.encode(), "root_path": "",
            "query_string": query.encode(), "scheme": "http", "server": ("127.0.0.1", 8731), "http_version": "1.1",
            "client": ("127.0.0.1", 5), "asgi": {"version": "3.0"},
            "headers": [(k.encode(), v.encode("latin-1")) for k, v in given.items() if v is not None],
        }  # fmt: skip
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent: list[dict[str, Any]] = []
        enough = asyncio.Event()
        read = False

        async def receive() -> dict[str, Any]:
            nonlocal read
            if not read:
                read = True
                return {"type": "http.request", "body": content, "more_body": False}
            await enough.wait()
            return {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)
            if messages is not None and len(sent) > messages:
                enough.set()

        await asyncio.wait_for(self.app(scope, receive, send), 30)
        answered = {k.decode(): v.decode() for k, v in sent[0]["headers"]}
        return sent[0]["status"], answered, b"".join(m.get("body", b"") for m in sent[1:])

    def json(self, path: str, **options: Any) -> tuple[int, Any]:
        status, _, body = self.ask(path, **options)
        return status, json.loads(body) if body else None


@pytest.fixture
def folder(pbg: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(pbg, tmp_path / "people"))


@pytest.fixture
def client(folder: Path) -> Iterator[Client]:
    source = Source.open(folder)
    yield Client(Explorer([source], session=Session(), hosts=[HOST, "localhost:8731"], pause=0.01))
    source.run.close()


def test_the_page_comes_without_data_and_sealed(client: Client) -> None:
    status, headers, body = client.ask("/", cookie=None)
    assert status == 200
    assert b'id="data"' not in body
    assert b"education" not in body.lower()  # a column of the run
    assert b'"people' not in body.lower()  # its title and folder
    assert "connect-src 'self'" in headers["content-security-policy"]
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert headers["referrer-policy"] == "no-referrer"
    assert not any(name.startswith("access-control") for name in headers)


@pytest.mark.parametrize("path", ["/api/payload", "/api/detail?run=0&id=1-0", "/api/events", "/api/released", "/x"])
@pytest.mark.parametrize("cookie", [None, "", "sdc-explorer=", "sdc-explorer=wrong", "{right}x", "x{right}", "Secure"])
def test_nothing_without_the_cookie(client: Client, path: str, cookie: str | None) -> None:
    status, body = client.json(path, cookie=None if cookie is None else cookie.format(right=client.cookie))
    assert status == 401
    assert "Open the address that `sdc explore` printed" in body["error"]


def test_the_cookie_is_found_among_others(client: Client) -> None:
    assert client.ask("/api/shortlist?run=0", cookie=f'a={{"b": 1}}; {client.cookie}; c')[0] == 200
    assert client.terms == f"Path={client.session.folder}; HttpOnly; SameSite=Strict"


def test_a_code_works_once_and_only_from_the_page(client: Client) -> None:
    code = client.session.code()
    assert (
        client.ask("/api/session", method="POST", body=code, cookie=None, headers={"origin": "http://evil"})[0] == 403
    )
    assert client.ask("/api/session", method="POST", body=code, cookie=None)[0] == 204
    for wrong in (code, "", "x", None, [code], {"code": code}):
        status, body = client.json("/api/session", method="POST", body=wrong, cookie=None)
        assert (status, "used before" in body["error"]) == (401, True)
    assert client.ask(f"/api/payload?code={client.session.code()}", cookie=None)[0] == 401


def test_nothing_outside_the_folder_of_the_session(client: Client) -> None:
    for path in ("OUTSIDE/", "OUTSIDE/api/payload", "OUTSIDE/x/../api/payload"):
        assert client.ask(path)[0] == 404


def test_a_person_who_is_refused_reads_a_page(client: Client) -> None:
    opened = {"sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    for path, headers, says in (
        ("/", {**opened, "sec-fetch-site": "cross-site"}, "click into it and press Enter"),
        ("OUTSIDE/", opened, "sdc explore"),
        ("/api/payload", opened, "sdc explore"),
    ):
        status, answered, body = client.ask(path, headers=headers, cookie=None)
        assert status in (401, 403, 404)
        assert answered["content-type"].startswith("text/html")
        assert says in body.decode()
        assert "script" not in body.decode()


@pytest.mark.parametrize(
    "headers",
    [
        {"host": "evil.example"},
        {"host": "127.0.0.1"},
        {"host": "127.0.0.1:8731.evil.example"},
        {"host": ""},
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": f"https://{HOST}"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_nothing_for_other_hosts_and_pages(client: Client, headers: dict[str, str]) -> None:
    for path in ("/", "/api/payload"):
        assert client.ask(path, headers=headers)[0] in (403, 421)


def test_a_change_needs_an_origin(client: Client, folder: Path) -> None:
    missing: dict[str, Any] = {"origin": None}
    nothing: dict[str, Any] = {"keep": [], "drop": []}
    assert client.ask("/api/shortlist?run=0", method="PATCH", body=nothing, headers=missing)[0] == 403
    assert not (folder / SHORTLIST).exists()


@pytest.mark.parametrize(
    "ident", ["../../etc/passwd", "%2e%2e/x", "1-99999", "1-0/../1-1", "", "baseline-../x", "\x00"]
)
@pytest.mark.parametrize("run", ["0", "1", "-1", "0x0", "../..", "99999999"])
def test_no_parameter_reaches_the_file_system(client: Client, folder: Path, ident: str, run: str) -> None:
    before = sorted(p.name for p in folder.iterdir())
    status, body = client.json(f"/api/detail?run={run}&id={ident}")
    assert status == 400
    assert str(folder.parent) not in body["error"]
    assert client.json("/api/release", method="POST", body={"run": run, "id": ident})[0] == 400
    assert client.json(f"/api/released?run={run}&id={ident}&kind=table")[0] == 400
    assert sorted(p.name for p in folder.iterdir()) == before


def largest_k(folder: Path) -> str:
    """Solution of the front with the largest k."""
    with Run(folder) as run:
        front = run.front()
    return front.ids[int(front.values[:, 0].argmax())]


def change(client: Client, keep: Any = (), drop: Any = ()) -> tuple[int, Any]:
    return client.json("/api/shortlist?run=0", method="PATCH", body={"keep": list(keep), "drop": drop})


def test_the_shortlist_is_kept_in_the_run_folder(client: Client, folder: Path) -> None:
    entries = [{"id": "1-3", "note": "for the board"}]
    assert change(client, entries, []) == (200, entries)
    assert json.loads((folder / SHORTLIST).read_text()) == entries
    assert client.json("/api/shortlist?run=0") == (200, entries)
    assert client.json("/api/payload")[1]["runs"][0]["shortlist"] == entries


def test_two_pages_change_one_shortlist(client: Client) -> None:
    """Neither knows what the other has just put there."""
    change(client, [{"id": "1-3", "note": "first page"}], [])
    change(client, [{"id": "1-4", "note": "second page"}], [])
    assert change(client, [{"id": "1-3", "note": "first page, later"}], [])[1] == [
        {"id": "1-3", "note": "first page, later"},
        {"id": "1-4", "note": "second page"},
    ]
    assert [entry["id"] for entry in change(client, [], ["1-3", "1-9"])[1]] == ["1-4"]


@pytest.mark.parametrize(
    "body",
    [
        {}, [], {"keep": []}, {"keep": [], "drop": "x"}, {"keep": [], "drop": [1]}, {"keep": {}, "drop": []},
        {"keep": [{"id": "77-1", "note": ""}], "drop": []}, {"keep": [{"id": "../x", "note": ""}], "drop": []},
        {"keep": [{"id": "original", "note": ""}], "drop": []}, b"{", b"[" * 10_000, b" " * 1_100_000,
    ],
)  # fmt: skip
def test_a_shortlist_that_is_none_is_refused(client: Client, folder: Path, body: Any) -> None:
    assert client.json("/api/shortlist?run=0", method="PATCH", body=body)[0] == 400
    assert not (folder / SHORTLIST).exists()


def test_what_a_release_would_meet_is_told_before(client: Client, folder: Path) -> None:
    ident = largest_k(folder)
    told = client.json(f"/api/terms?run=0&id={ident}")[1]
    assert (told["refused"], told["broken"]) == ("", [])
    assert told["met"][0].startswith("k = ")
    assert told["files"][0] == f"people-released/released-{ident}.csv"
    done = client.json("/api/release", method="POST", body={"run": 0, "id": ident})[1]
    assert told["met"][0].split(" in ")[0] in " ".join(done["summary"]), "the k that was told is the one of the file"
    assert sorted(Path(name).name for name in told["files"]) == sorted(file["name"] for file in done["files"])
    told = client.json("/api/terms?run=0&id=baseline-nothing generalised")[1]
    assert told["broken"] == ["k is 1: at least one record is unique"]
    assert client.json("/api/terms?run=0&id=1-99999")[0] == 400


def test_terms_name_what_the_study_requires(folder: Path) -> None:
    source = Source.open(folder)
    assert source.study is not None
    required = source.study.sections.model_validate(
        {**source.study.sections.model_dump(exclude_unset=True), "require": {"k": {"min": 50}}}
    )
    source.study = replace(source.study, sections=required)
    client = Client(Explorer([source], session=Session(), hosts=[HOST]))
    told = client.json("/api/terms?run=0&id=baseline-everything generalised")[1]
    assert told["met"][0] == "1 of 1 requirements of the study are met"
    with Run(folder) as run:
        front = run.front()
    worst = front.ids[int(front.values[:, 0].argmin())]
    (broken, *_) = client.json(f"/api/terms?run=0&id={worst}")[1]["broken"]
    assert broken.startswith("the study requires k")
    source.run.close()


def test_a_release_does_not_keep_the_page_waiting(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    from sdc_problems.studies import release as package

    begun, go_on = threading.Event(), threading.Event()

    def slow(*arguments: Any, **options: Any) -> Any:
        begun.set()
        assert go_on.wait(30)
        raise SDCError("released enough")

    monkeypatch.setattr(package, "release", slow)
    source = Source.open(folder)
    explorer = Explorer([source], session=Session(), hosts=[HOST])
    client = Client(explorer)

    async def both() -> tuple[Any, Any]:
        wanted = {"run": 0, "id": "baseline-everything generalised"}
        releasing = asyncio.create_task(client.begin("/api/release", method="POST", body=wanted))
        await asyncio.to_thread(begun.wait, 30)
        try:
            seen = await asyncio.wait_for(client.begin("/api/payload"), 30)
        finally:
            go_on.set()
        return seen, await releasing

    seen, released = asyncio.run(both())
    assert seen[0] == 200
    assert (released[0], json.loads(released[2])["error"]) == (400, "released enough")
    source.run.close()


SLOW = """
import sys, time
from sdc_problems.studies import release as package
release = package.release
def slow(*arguments, **options):
    print("releasing", file=sys.stderr, flush=True)
    time.sleep(1.5)
    return release(*arguments, **options)
package.release = slow
from sdc_problems.studies.cli import main
sys.argv = ["sdc", "explore", *sys.argv[1:]]
main()
"""


def test_ctrl_c_during_a_release_lets_it_end_without_a_traceback(folder: Path) -> None:
    import signal
    import threading
    import urllib.request

    command = [sys.executable, "-c", SLOW, str(folder)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes) as server:  # type: ignore[call-overload]
        base, _, code = server.stdout.readline().strip().partition("#code=")
        origin = base.removesuffix("/").rpartition("/")[0]
        ident = largest_k(folder)
        cookie = ""

        def post(path: str, body: Any) -> Any:
            headers = {"Origin": origin, "Cookie": cookie, "Content-Type": "application/json"}
            asked = urllib.request.Request(base + path, json.dumps(body).encode(), headers)
            return urllib.request.urlopen(asked, timeout=60)

        cookie = post("api/session", code).headers["set-cookie"].partition(";")[0]
        answers: list[Any] = []
        asking = threading.Thread(target=lambda: answers.append(post("api/release", {"run": 0, "id": ident}).status))
        asking.start()
        assert "releasing" in server.stderr.readline()
        server.send_signal(signal.SIGINT)
        asking.join(60)
        said = server.communicate(timeout=60)[1]
        assert answers == [200]
        assert (server.returncode, said) == (0, "")
    files = {path.name for path in folder.with_name("people-released").iterdir()}
    assert f"released-{ident}.csv" in files
    assert len(files) == 4, "nothing half-written stays"


@pytest.mark.parametrize("number", ENDING)
def test_the_start_page_leaves_no_private_folder(number: int, tmp_path: Path) -> None:
    """It holds the tables that were given: also after a polite kill, or when the terminal is closed."""
    command = [sys.executable, "-c", "from sdc_problems.__main__ import main; main()", "explore"]
    command[2] = f"import signal; signal.signal({int(number)}, signal.default_int_handler); " + command[2]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        assert server.stdout is not None
        assert server.stdout.readline().startswith("http")
        assert [path.name[:10] for path in tmp_path.iterdir()] == ["sdc-start-"]
        server.send_signal(number)
        assert server.wait(60) == 0
    assert list(tmp_path.iterdir()) == []


def test_a_brief_holds_sentences_and_releases_nothing(client: Client, folder: Path, monkeypatch: Any) -> None:
    from sdc_problems.studies.web import payload

    monkeypatch.setattr(payload.Source, "detail", None)
    ident = largest_k(folder)
    assert len(client.json(f"/api/brief?run=0&id={ident}")[1]["sentences"]) > 2
    assert client.json("/api/brief?run=0&id=1-99999")[0] == 400


def test_a_connection_that_sends_no_whole_request_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    import uvicorn

    from sdc_problems.studies.web import connections

    monkeypatch.setattr(connections, "PATIENCE", 0.2)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        while (await receive()).get("more_body"):
            pass
        await asyncio.sleep(0.6)  # an answer that takes longer is waited for
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})

    async def talk(port: int, text: bytes) -> bytes:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(text)
        answer = await asyncio.wait_for(reader.read(), 20)
        writer.close()
        return answer

    async def check() -> None:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            config = uvicorn.Config(app, http=connections.Connection, lifespan="off", log_level="critical")
            server = uvicorn.Server(config)
            serving = asyncio.create_task(server._serve([listening]))
            port = listening.getsockname()[1]
            for half in (b"", b"GET / HT", b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc"):
                assert b"200 OK" not in await talk(port, half)
            assert b"200 OK" in await talk(port, b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            server.should_exit = True
            await serving

    asyncio.run(check())


def test_a_release_that_would_be_refused_is_refused_on_the_page(client: Client, folder: Path) -> None:
    status, said = client.json("/api/release", method="POST", body={"run": 0, "id": "baseline-nothing generalised"})
    assert status == 400
    assert "k is 1" in said["error"]
    assert not folder.with_name("people-released").exists() or not list(folder.with_name("people-released").iterdir())


def test_a_release_goes_on_with_a_reason_that_the_certificate_repeats(client: Client, folder: Path) -> None:
    wanted = {"run": 0, "id": "baseline-nothing generalised"}
    for reason in ("", "  ", 1, "x" * 1_001):
        status, said = client.json("/api/release", method="POST", body={**wanted, "override": reason})
        assert (status, said["needs_reason"]) == (400, False)
    status, said = client.json("/api/release", method="POST", body=wanted)
    assert (status, said["needs_reason"]) == (400, True)
    status, done = client.json("/api/release", method="POST", body={**wanted, "override": "a public register"})
    assert status == 200
    assert "Released although k is 1: at least one record is unique." in done["summary"]
    (name,) = [file["name"] for file in done["files"] if file["kind"] == "certificate"]
    certificate = json.loads((folder.with_name("people-released") / name).read_text())
    assert certificate["override"]["reason"] == "a public register"


def test_a_release_is_the_one_of_sdc_release(client: Client, folder: Path, tmp_path: Path) -> None:
    from sdc_problems.studies.release import release
    from sdc_problems.studies.release.value_mapping import ROWS_SEED, kept_seed

    ident = largest_k(folder)
    wanted = {"run": 0, "id": ident}
    assert client.json(f"/api/released?run=0&id={ident}&kind=table")[0] == 400
    status, done = client.json("/api/release", method="POST", body=wanted)
    assert status == 200
    assert [f["kind"] for f in done["files"]] == ["table", "mapping", "certificate", "rows"]
    assert any("Counted in the file" in line for line in done["summary"])
    status, headers, table = client.ask(f"/api/released?run=0&id={ident}&kind=table")
    assert status == 200
    assert headers["content-type"].startswith("text/csv")
    beside = folder.with_name("people-released")
    seed = kept_seed(beside / f"released-{ident}.csv.mapping.csv", ROWS_SEED)
    expected = release(folder, ident, tmp_path / "same.csv", rows_seed=seed)
    assert table == expected.file.read_bytes()
    assert client.ask(f"/api/released?run=0&id={ident}&kind=rows")[2] == expected.rows.read_bytes()
    assert client.json("/api/release", method="POST", body=wanted)[0] == 200
    assert (beside / f"released-{ident}.csv").read_bytes() == table, "a second one has the same order"
    assert not list(folder.glob("*released*")), "a run folder holds no record"
    certificate = json.loads(client.ask(f"/api/released?run=0&id={ident}&kind=certificate")[2])
    assert certificate["solution"] == ident
    assert client.json(f"/api/released?run=0&id={ident}&kind=../run.sqlite")[0] == 400


def test_a_baseline_is_released_under_a_plain_name(client: Client, folder: Path) -> None:
    name = "baseline-everything generalised"
    status, done = client.json("/api/release", method="POST", body={"run": 0, "id": name})
    assert status == 200, done
    for file in done["files"]:
        assert (folder.with_name("people-released") / file["name"]).is_file()
        assert " " not in file["name"]


def test_a_link_in_the_folder_is_replaced_and_never_followed(client: Client, folder: Path, tmp_path: Path) -> None:
    ident = largest_k(folder)
    victim = tmp_path / "victim"
    victim.write_text("precious")
    beside = folder.with_name("people-released")
    beside.mkdir()
    (beside / f"released-{ident}.csv").symlink_to(victim)
    (folder / SHORTLIST).symlink_to(victim)
    assert client.json("/api/release", method="POST", body={"run": 0, "id": ident})[0] == 200
    assert change(client, [], [])[0] == 200
    assert victim.read_text() == "precious"


def test_read_only_changes_and_releases_nothing(folder: Path) -> None:
    with_nothing = sorted(p.name for p in folder.iterdir())
    client = Client(Explorer([Source.open(folder)], session=Session(), hosts=[HOST], read_only=True))
    assert client.json("/api/payload")[1]["live"] == {"read_only": True, "start": False}
    assert change(client, [], [])[0] == 400
    assert client.json("/api/terms?run=0&id=1-3")[0] == 400
    assert client.json("/api/release", method="POST", body={"run": 0, "id": "1-3"})[0] == 400
    assert client.json("/api/released?run=0&id=1-3&kind=table")[0] == 400
    names = {p.name for p in folder.iterdir()} - {"run.sqlite-shm", "run.sqlite-wal"}
    assert sorted(names) == [n for n in with_nothing if n not in ("run.sqlite-shm", "run.sqlite-wal")]


def test_methods_that_are_not_there(client: Client) -> None:
    assert client.ask("/api/payload", method="POST", body={})[0] == 405
    assert client.ask("/api/shortlist?run=0", method="PUT", body=[])[0] == 405
    assert client.ask("/nowhere")[0] == 404


def test_events_end_when_the_runs_are_finished(client: Client) -> None:
    status, headers, body = client.ask("/api/events")
    assert status == 200
    assert headers["content-type"].startswith("text/event-stream")
    assert body.endswith(b"data: finished\n\n")


def test_events_tell_of_a_change(workbench: Any, pbg_text: Callable[..., str]) -> None:
    from sdc_problems.studies.web import payload

    folder = workbench.begin("events", pbg_text())
    explorer = Explorer([Source.open(folder)], session=Session(), hosts=[HOST], pause=0.01)
    versions = iter(range(100))
    explorer._version = lambda: next(versions)  # type: ignore[method-assign]
    body = Client(explorer).ask("/api/events", messages=3)[2]
    assert body.count(b"data: changed\n\n") >= 2
    assert explorer._streams == 0
    assert payload.SCHEMA.startswith("sdc-explorer/")


def test_the_command_refuses_to_listen_everywhere(pbg: Path) -> None:
    from click.testing import CliRunner

    from sdc_problems.errors import SDCError
    from sdc_problems.studies.cli import cli

    for host in ("0.0.0.0", "::", "example.org"):
        result = CliRunner().invoke(cli, ["explore", str(pbg), "--host", host])
        assert isinstance(result.exception, SDCError)
