"""The server: who is answered, what leaves it, and what reaches the file system."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sdc_problems.studies.store.reader import Run
from sdc_problems.studies.web.payload import SHORTLIST, Source
from sdc_problems.studies.web.server import Explorer

HOST = "127.0.0.1:8731"
TOKEN = "right-token"


class Client:
    """Speaks ASGI with an application, header by header."""

    def __init__(self, explorer: Explorer) -> None:
        self.app = explorer.app()

    def ask(
        self,
        path: str,
        *,
        method: str = "GET",
        body: Any = None,
        token: str | None = TOKEN,
        headers: dict[str, str] | None = None,
        messages: int | None = None,
    ) -> tuple[int, dict[str, str], bytes]:
        given = {"host": HOST, **({"authorization": f"Bearer {token}"} if token is not None else {})}
        if method != "GET":
            given["origin"] = f"http://{HOST}"
        given.update(headers or {})
        target, _, query = path.partition("?")
        scope = {
            "type": "http", "method": method, "path": target, "raw_path": target.encode(), "root_path": "",
            "query_string": query.encode(), "scheme": "http", "server": ("127.0.0.1", 8731), "http_version": "1.1",
            "client": ("127.0.0.1", 5), "asgi": {"version": "3.0"},
            "headers": [(k.encode(), v.encode("latin-1")) for k, v in given.items() if v is not None],
        }  # fmt: skip
        content = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else b""
        sent: list[dict[str, Any]] = []

        async def run() -> None:
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

        asyncio.run(run())
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
    yield Client(Explorer([source], token=TOKEN, hosts=[HOST, "localhost:8731"], pause=0.01))
    source.run.close()


def test_the_page_comes_without_data_and_sealed(client: Client) -> None:
    status, headers, body = client.ask("/", token=None)
    assert status == 200
    assert b'id="data"' not in body
    assert b"people" not in body.lower().replace(b"peoples", b"")
    assert "connect-src 'self'" in headers["content-security-policy"]
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert headers["referrer-policy"] == "no-referrer"
    assert not any(name.startswith("access-control") for name in headers)


@pytest.mark.parametrize("path", ["/api/payload", "/api/detail?run=0&id=1-0", "/api/events", "/api/released", "/x"])
@pytest.mark.parametrize("token", [None, "", "wrong", "right-toke", "right-token "])
def test_nothing_without_the_token(client: Client, path: str, token: str | None) -> None:
    status, body = client.json(path, token=token)
    assert status == 401
    assert set(body) == {"error"}


def test_the_token_is_not_taken_from_the_address(client: Client) -> None:
    assert client.ask(f"/api/payload?token={TOKEN}", token=None)[0] == 401


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
    assert client.ask("/api/shortlist?run=0", method="PUT", body=[], headers=missing)[0] == 403
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


def test_the_shortlist_is_kept_in_the_run_folder(client: Client, folder: Path) -> None:
    entries = [{"id": "1-3", "note": "for the board"}]
    assert client.ask("/api/shortlist?run=0", method="PUT", body=entries)[0] == 204
    assert json.loads((folder / SHORTLIST).read_text()) == entries
    assert client.json("/api/payload")[1]["runs"][0]["shortlist"] == entries


@pytest.mark.parametrize(
    "body", [{}, [{"id": "77-1", "note": ""}], [{"id": "../x", "note": ""}], b"{", b"[" * 10_000, b" " * 1_100_000]
)
def test_a_shortlist_that_is_none_is_refused(client: Client, folder: Path, body: Any) -> None:
    assert client.json("/api/shortlist?run=0", method="PUT", body=body)[0] == 400
    assert not (folder / SHORTLIST).exists()


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
    assert "Released in spite of this: k is 1: some record is the only one of its kind." in done["summary"]
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
    assert client.ask("/api/shortlist?run=0", method="PUT", body=[])[0] == 204
    assert victim.read_text() == "precious"


def test_read_only_changes_and_releases_nothing(folder: Path) -> None:
    with_nothing = sorted(p.name for p in folder.iterdir())
    client = Client(Explorer([Source.open(folder)], token=TOKEN, hosts=[HOST], read_only=True))
    assert client.json("/api/payload")[1]["live"] == {"read_only": True}
    assert client.json("/api/shortlist?run=0", method="PUT", body=[])[0] == 400
    assert client.json("/api/release", method="POST", body={"run": 0, "id": "1-3"})[0] == 400
    assert client.json("/api/released?run=0&id=1-3&kind=table")[0] == 400
    names = {p.name for p in folder.iterdir()} - {"run.sqlite-shm", "run.sqlite-wal"}
    assert sorted(names) == [n for n in with_nothing if n not in ("run.sqlite-shm", "run.sqlite-wal")]


def test_methods_that_are_not_there(client: Client) -> None:
    assert client.ask("/api/payload", method="POST", body={})[0] == 405
    assert client.ask("/api/shortlist?run=0")[0] == 405
    assert client.ask("/nowhere")[0] == 404


def test_events_end_when_the_runs_are_finished(client: Client) -> None:
    status, headers, body = client.ask("/api/events")
    assert status == 200
    assert headers["content-type"].startswith("text/event-stream")
    assert body.endswith(b"data: finished\n\n")


def test_events_tell_of_a_change(workbench: Any, pbg_text: Callable[..., str]) -> None:
    from sdc_problems.studies.web import payload

    folder = workbench.begin("events", pbg_text())
    explorer = Explorer([Source.open(folder)], token=TOKEN, hosts=[HOST], pause=0.01)
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
