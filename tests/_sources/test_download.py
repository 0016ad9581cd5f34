"""Downloads from a local server that does what servers do: refuse, break off, change the file, never answer."""

from __future__ import annotations

import os
import re
import shutil
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from sdc_problems import datasets
from sdc_problems._sources import download as _download
from sdc_problems._sources import files as _files
from sdc_problems._sources.catalogue import SOURCES, Source
from sdc_problems._sources.download import fetch, terminal_progress
from sdc_problems._sources.parsers import Table, parse_solar_flare
from sdc_problems.errors import SDCError, SDCFailure

CONTENT = bytes(range(256)) * 800  # several pieces

Step = Callable[[BaseHTTPRequestHandler, bytes], None]


class Server:
    """A web server on this machine; ``script`` says how each request in turn is answered (then: properly)."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {"/file": CONTENT}
        self.etag = '"one"'
        self.date = ""
        self.script: list[Step] = []
        self.requests: list[tuple[str, str | None, str | None]] = []
        self.open = threading.Event()  # lets answers that hang end
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.requests.append((self.path, self.headers["Range"], self.headers["If-Range"]))
                step = server.script.pop(0) if server.script else server.properly
                step(self, server.files.get(self.path, b""))

            def log_message(self, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self.open.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def head(self, to: BaseHTTPRequestHandler, code: int, length: int | None, **more: str) -> None:
        to.send_response(code)
        for name, value in (("ETag", self.etag), ("Last-Modified", self.date)):
            if value:
                to.send_header(name, value)
        if length is not None:
            to.send_header("Content-Length", str(length))
        for name, value in more.items():
            to.send_header(name.replace("_", "-"), value)
        to.end_headers()

    def properly(self, to: BaseHTTPRequestHandler, content: bytes) -> None:
        if not content:
            to.send_error(404)
            return
        asked, condition = to.headers["Range"], to.headers["If-Range"]
        if asked is not None and condition in (self.etag, self.date):
            start = int(re.fullmatch(r"bytes=(\d+)-", asked)[1])  # type: ignore[index]
            if start >= len(content):
                to.send_error(416)
                return
            last = len(content) - 1
            self.head(to, 206, len(content) - start, Content_Range=f"bytes {start}-{last}/{len(content)}")
            to.wfile.write(content[start:])
        else:
            self.head(to, 200, len(content))
            to.wfile.write(content)

    def cut(self, after: int) -> Step:
        """Announce the whole file, send some of it, and hang up."""

        def step(to: BaseHTTPRequestHandler, content: bytes) -> None:
            self.head(to, 200, len(content))
            to.wfile.write(content[:after])

        return step

    def status(self, code: int) -> Step:
        return lambda to, content: to.send_error(code)

    def hang(self, to: BaseHTTPRequestHandler, content: bytes) -> None:
        self.open.wait()

    def endless(self, to: BaseHTTPRequestHandler, content: bytes) -> None:
        """No announced length."""
        self.head(to, 200, None)
        to.wfile.write(content)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    running = Server()
    yield running
    running.close()


class Pauses(list[float]):
    """Instead of waiting: the seconds that would have been waited."""

    __call__ = list.append


@pytest.fixture
def pauses() -> Pauses:
    return Pauses()


@pytest.fixture
def get(server: Server, tmp_path: Path, pauses: Pauses) -> Callable[..., Path]:
    def call(path: str = "/file", **options: object) -> Path:
        given = {"by_hand": "put it there yourself", "pause": pauses, "timeout": 10.0, **options}
        return fetch(server.url + path, tmp_path / "cache" / "file", **given)  # type: ignore[arg-type]

    return call


def left_behind(tmp_path: Path) -> list[str]:
    return sorted(path.name for path in (tmp_path / "cache").iterdir())


def test_a_file_arrives_whole_and_alone(get: Callable[..., Path], tmp_path: Path) -> None:
    seen: list[tuple[int, int | None]] = []
    path = get(progress=lambda received, total: seen.append((received, total)))
    assert path.read_bytes() == CONTENT
    assert left_behind(tmp_path) == ["file"]
    assert [total for _, total in seen] == [len(CONTENT)] * len(seen)
    received = [count for count, _ in seen]
    assert received == sorted(received)
    assert len(received) > 1
    assert received[-1] == len(CONTENT)


def test_connections_are_cut_again_and_again(
    server: Server, get: Callable[..., Path], pauses: Pauses, tmp_path: Path
) -> None:
    server.script = [server.cut(70_000), server.cut(0)]  # the second one ignores the range, and so all is sent anew
    assert get().read_bytes() == CONTENT
    assert server.requests == [("/file", None, None), ("/file", "bytes=70000-", '"one"'), ("/file", None, None)]
    assert pauses == [0.5, 1.0]
    assert left_behind(tmp_path) == ["file"]


def test_only_the_rest_is_sent_again(server: Server, get: Callable[..., Path]) -> None:
    server.script = [server.cut(70_000)]
    seen: list[int] = []
    assert get(progress=lambda received, total: seen.append(received)).read_bytes() == CONTENT
    assert server.requests == [("/file", None, None), ("/file", "bytes=70000-", '"one"')]
    assert seen == sorted(seen)


def test_the_date_serves_where_the_tag_is_weak(server: Server, get: Callable[..., Path]) -> None:
    server.etag, server.date = 'W/"weak"', "Wed, 21 Oct 2015 07:28:00 GMT"
    server.script = [server.cut(70_000)]
    assert get().read_bytes() == CONTENT
    assert server.requests[1] == ("/file", "bytes=70000-", server.date)


def test_without_a_validator_it_starts_anew(server: Server, get: Callable[..., Path]) -> None:
    server.etag = ""
    server.script = [server.cut(70_000)]
    assert get().read_bytes() == CONTENT
    assert server.requests == [("/file", None, None)] * 2


def test_a_file_that_changed_meanwhile_is_not_patched_together(server: Server, get: Callable[..., Path]) -> None:
    def change(to: BaseHTTPRequestHandler, content: bytes) -> None:
        server.cut(70_000)(to, content)
        server.files["/file"], server.etag = CONTENT[::-1], '"two"'

    server.script = [change]
    assert get().read_bytes() == CONTENT[::-1]


def test_a_file_that_became_shorter_is_fetched_anew(server: Server, get: Callable[..., Path]) -> None:
    def shorten(to: BaseHTTPRequestHandler, content: bytes) -> None:
        server.cut(70_000)(to, content)
        server.files["/file"] = b"short"

    server.script = [shorten]
    assert get().read_bytes() == b"short"
    assert [asked for _, asked, _ in server.requests] == [None, "bytes=70000-", None]


def test_a_wrong_range_is_not_trusted(server: Server, get: Callable[..., Path]) -> None:
    def elsewhere(to: BaseHTTPRequestHandler, content: bytes) -> None:
        server.head(to, 206, 5, Content_Range=f"bytes 0-4/{len(content)}")
        to.wfile.write(content[:5])

    server.script = [server.cut(70_000), elsewhere]
    assert get().read_bytes() == CONTENT


def test_the_next_call_goes_on_where_the_last_one_gave_up(
    server: Server, get: Callable[..., Path], tmp_path: Path
) -> None:
    server.script = [server.cut(70_000)]
    with pytest.raises(SDCFailure, match=r"127\.0\.0\.1:\d+ could not be reached in 1 attempts.*70000 of 204800 bytes"):
        get(attempts=1)
    assert left_behind(tmp_path) == ["file.part"]
    assert get().read_bytes() == CONTENT
    assert server.requests[-1] == ("/file", "bytes=70000-", '"one"')
    assert left_behind(tmp_path) == ["file"]


def test_a_download_of_another_process_is_left_alone_and_swept_when_it_died(
    server: Server, get: Callable[..., Path], tmp_path: Path
) -> None:
    running, dead = (tmp_path / "cache" / f"file.part.{name}" for name in ("running", "dead"))
    for folder in (running, dead):
        folder.mkdir(parents=True)
        (folder / "bytes").write_bytes(b"half")
    os.utime(dead, (0, 0))
    assert get().read_bytes() == CONTENT
    assert left_behind(tmp_path) == ["file", "file.part.running"]


def test_of_two_broken_downloads_one_part_is_kept(server: Server, get: Callable[..., Path], tmp_path: Path) -> None:
    def meanwhile(to: BaseHTTPRequestHandler, content: bytes) -> None:
        (tmp_path / "cache" / "file.part").mkdir()
        (tmp_path / "cache" / "file.part" / "bytes").write_bytes(b"other")
        server.cut(70_000)(to, content)

    server.script = [meanwhile]
    with pytest.raises(SDCFailure):
        get(attempts=1)
    assert left_behind(tmp_path) == ["file.part"]


@pytest.mark.parametrize("code", [404, 403, 410])
def test_a_refusal_is_final(
    code: int, server: Server, get: Callable[..., Path], pauses: Pauses, tmp_path: Path
) -> None:
    server.script = [server.status(code)]
    with pytest.raises(SDCFailure, match=rf"answers {code} .*/file; put it there yourself"):
        get()
    assert len(server.requests) == 1
    assert not pauses
    assert left_behind(tmp_path) == []


def test_an_overloaded_server_is_asked_again(server: Server, get: Callable[..., Path], pauses: Pauses) -> None:
    server.script = [server.status(503), server.status(429)]
    assert get().read_bytes() == CONTENT
    assert pauses == [0.5, 1.0]


def test_attempts_are_bounded(server: Server, get: Callable[..., Path], pauses: Pauses) -> None:
    server.script = [server.status(503)] * 10
    with pytest.raises(SDCFailure, match=r"in 4 attempts .*503.*put it there yourself"):
        get()
    assert len(server.requests) == 4
    assert pauses == [0.5, 1.0, 2.0]


def test_a_silent_server_is_given_up(server: Server, get: Callable[..., Path]) -> None:
    server.script = [server.hang, server.hang]
    with pytest.raises(SDCFailure, match=r"in 2 attempts .*timed out"):
        get(timeout=0.05, attempts=2)


def test_a_server_that_falls_silent_is_resumed(server: Server, get: Callable[..., Path]) -> None:
    def stall(to: BaseHTTPRequestHandler, content: bytes) -> None:
        server.cut(70_000)(to, content)
        to.wfile.flush()
        server.open.wait()

    server.script = [stall]
    assert get(timeout=0.3).read_bytes() == CONTENT


def test_no_server_at_all(tmp_path: Path, pauses: Pauses, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(SDCFailure, match=rf"127\.0\.0\.1:{port} could not be reached in 4 attempts .*refused"):
        fetch(f"http://127.0.0.1:{port}/file", tmp_path / "file", by_hand="put it there yourself", pause=pauses)


def test_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(*args: object, **kwargs: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", nowhere)
    monkeypatch.setenv("no_proxy", "*")
    with pytest.raises(SDCFailure, match=r"data\.example cannot be found: is this machine offline\? Or: put it there"):
        fetch("https://data.example/file", tmp_path / "file", by_hand="put it there yourself")


def test_a_server_that_never_stops_is_stopped(
    server: Server, get: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_download, "_LIMIT", 100_000)
    with pytest.raises(SDCFailure, match="announces 204800 bytes"):
        get()
    server.script = [server.endless]
    with pytest.raises(SDCFailure, match="sends more than the 100000 bytes"):
        get()
    assert left_behind(tmp_path) == []


def test_a_file_of_unknown_length(server: Server, get: Callable[..., Path]) -> None:
    server.script = [server.endless]
    totals: set[int | None] = set()
    assert get(progress=lambda received, total: totals.add(total)).read_bytes() == CONTENT
    assert totals == {None}


def test_a_folder_that_cannot_be_made(server: Server, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    with pytest.raises(SDCFailure, match=r"cannot make the folder .*cache.*put it there yourself"):
        fetch(server.url + "/file", tmp_path / "cache" / "file", by_hand="put it there yourself")


def test_the_bar_needs_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert terminal_progress("file") is None
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    show = terminal_progress("file")
    assert show is not None
    show(50, 100)
    show(100, 100)
    show(2_000_000, None)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.split("\r")[1:] == [
        f"file [{'=' * 12}{' ' * 12}]  50 %",
        f"file [{'=' * 24}] 100 %\n",
        "file 2.0 MB",
    ]


# ---------------------------------------------------------------------------------------- through datasets.load


@pytest.fixture
def flare(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Source:
    """A small table that the local server publishes as two files, in place of the solar flare one."""
    columns = SOURCES["solar_flare"].columns
    server.files = {
        "/flare/flare.data1": b"*** remark\nC S O 1 2 1 1 2 1 2 0 0 0\nD S O 1 3 1 1 2 1 2 0 0 0\n",
        "/flare/flare.data2": b"*** remark\nH A X 1 3 1 1 1 1 1 0 0 0\n",
    }
    for name, content in server.files.items():
        (tmp_path / Path(name).name).write_bytes(content)
    table = parse_solar_flare([tmp_path / "flare.data1", tmp_path / "flare.data2"], columns)
    source = replace(SOURCES["solar_flare"], rows=3, digest=table.digest(), url=f"{server.url}/flare")
    monkeypatch.setitem(SOURCES, "solar_flare", source)
    monkeypatch.delenv("SDC_DATA_HOME", raising=False)
    monkeypatch.setattr(_files, "cache_home", lambda: tmp_path / "cache")
    return source


def test_load_downloads_once(flare: Source, server: Server, tmp_path: Path) -> None:
    first = datasets.load("solar_flare")
    assert len(first.data) == 3
    assert left_behind(tmp_path) == ["solar_flare.csv"]
    assert len(server.requests) == 2
    assert datasets.load("solar_flare").data == first.data
    assert datasets.ensure("solar_flare") == tmp_path / "cache" / "solar_flare.csv"
    assert len(server.requests) == 2


def test_load_keeps_nothing_that_is_not_the_published_file(flare: Source, server: Server, tmp_path: Path) -> None:
    for wrong in (
        b"*** remark\nH A X 1 3 1 1 1 1 1 0 0 1\n",  # another value
        b"*** remark\n",  # a record less
        b"<html><body>Please log in to this network</body></html>",
    ):
        server.files["/flare/flare.data2"] = wrong
        with pytest.raises(
            SDCFailure, match=r"what 127.* sent for 'solar_flare' is not the published file: .*not kept"
        ):
            datasets.load("solar_flare")
        assert left_behind(tmp_path) == ["downloads"]
        assert not list((tmp_path / "cache" / "downloads").iterdir())
    server.files["/flare/flare.data2"] = b"*** remark\nH A X 1 3 1 1 1 1 1 0 0 0\n"
    assert len(datasets.load("solar_flare").data) == 3


def test_load_keeps_the_part_that_has_arrived(flare: Source, server: Server, tmp_path: Path) -> None:
    second = server.files.pop("/flare/flare.data2")
    with pytest.raises(SDCFailure, match=r"answers 404 .*flare\.data2; get .*flare\.data1 and .*flare\.data2"):
        datasets.load("solar_flare")
    server.files["/flare/flare.data2"] = second
    assert len(datasets.load("solar_flare").data) == 3
    assert [path for path, _, _ in server.requests] == [
        "/flare/flare.data1",
        "/flare/flare.data2",
        "/flare/flare.data2",
    ]
    assert left_behind(tmp_path) == ["solar_flare.csv"]


def test_load_resumes(flare: Source, server: Server) -> None:
    server.script = [server.cut(20)]
    assert len(datasets.load("solar_flare").data) == 3
    assert server.requests[1] == ("/flare/flare.data1", "bytes=20-", '"one"')


def test_load_when_another_process_is_first(flare: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def outrun(paths: Sequence[Path], columns: Sequence[str]) -> Table:
        table = parse_solar_flare(paths, columns)
        (tmp_path / "cache" / "solar_flare.csv").write_text(table.to_csv())
        shutil.rmtree(tmp_path / "cache" / "downloads")
        return parse_solar_flare(paths, columns)

    monkeypatch.setitem(SOURCES, "solar_flare", replace(flare, parse=outrun))
    assert len(datasets.load("solar_flare").data) == 3
    assert left_behind(tmp_path) == ["solar_flare.csv"]


def test_load_without_download(flare: Source, server: Server) -> None:
    with pytest.raises(SDCError, match="not on this machine; load it with download=True"):
        datasets.load("solar_flare", download=False)
    assert not server.requests


def test_the_publishers_files_placed_by_hand_are_enough(flare: Source, server: Server, tmp_path: Path) -> None:
    home = tmp_path / "cache"
    home.mkdir()
    shutil.copy(tmp_path / "flare.data1", home)
    assert _files.find(flare) is None  # both are needed
    shutil.copy(tmp_path / "flare.data2", home)
    assert len(datasets.load("solar_flare", download=False).data) == 3
    assert not server.requests
    assert left_behind(tmp_path) == ["flare.data1", "flare.data2"]


def test_a_full_disk(flare: Source, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def full(source: str, target: Path) -> None:
        raise OSError(28, "No space left on device")

    def only_at_the_end(source: Path | str, target: Path) -> None:
        (full if Path(target).suffix == ".csv" else real)(source, target)  # type: ignore[arg-type]

    real = os.replace
    monkeypatch.setattr(os, "replace", only_at_the_end)
    with pytest.raises(SDCFailure, match=r"cannot write .*solar_flare\.csv \(No space left on device\)"):
        datasets.load("solar_flare")
    assert left_behind(tmp_path) == ["downloads"]
