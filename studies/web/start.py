"""Start page: a file of this machine is chosen, its roles corrected, and protected by the functions of the commands.

What comes out lies in a private folder of this server, which goes when the server ends; the page saves it where the
person says. Nothing is sent anywhere else. Cells of the file never reach the page: names of columns, and counts.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import tempfile
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sdc_problems.errors import SDCError, SDCFailure
from sdc_problems.microdata import Microdata, Role
from sdc_problems.studies.report.file_page import file_page
from sdc_problems.studies.report.small_counts import LEAST
from sdc_problems.studies.web.guard import OPEN, Guard
from sdc_problems.studies.web.report import DATA_SLOT, POLICY_SLOT, page, policy
from sdc_problems.studies.web.server import _body, _failed, _gone, _refused
from sdc_problems.studies.web.session import Session

SCHEMA = "sdc-start/1"
READABLE = (".csv", ".tsv", ".txt", ".gz", ".parquet", ".xlsx", ".sav", ".dta", ".sas7bdat")
LARGEST_UPLOAD = 500_000_000
_MOST_LISTED = 500
_TYPES = {"page": "text/html", "certificate": "application/json"}


class Start:
    """Server of the start page.

    Parameters
    ----------
    session
        Folder, codes and cookie of the browsers that are answered.
    hosts
        Values of the Host header that are answered.
    folder
        Where the list of files begins.
    """

    def __init__(self, *, session: Session, hosts: list[str], folder: Path) -> None:
        html = page()
        self._policy = policy(html, connect="'self'") + "; frame-ancestors 'none'"
        self._page = html.replace(POLICY_SLOT, "").replace(DATA_SLOT, "")
        found = re.search(r"<style>.*?</style>", html, flags=re.DOTALL)
        self._style = found.group() if found else ""
        self._session, self._hosts = session, hosts
        self.folder = folder
        self.private = Path(tempfile.mkdtemp(prefix="sdc-start-"))  # 0700: only this user reads it
        self._busy = asyncio.Lock()
        self._work = Work()

    def app(self) -> Guard:
        """The ASGI application."""
        routes = [
            Route("/", self.index),
            Route("/api/session", self.begin, methods=["POST"]),
            Route("/api/payload", self.payload),
            Route("/api/start/files", self.files),
            Route("/api/start/upload", self.upload, methods=["POST"]),
            Route("/api/start/scan", self.scan, methods=["POST"]),
            Route("/api/start/protect", self.protect, methods=["POST"]),
            Route("/api/start/state", self.state),
            Route("/api/start/file", self.file),
        ]
        handlers: dict[Any, Any] = {SDCError: _refused, SDCFailure: _failed, ClientDisconnect: _gone}
        inner = Starlette(routes=routes, exception_handlers=handlers)
        return Guard(inner, session=self._session, hosts=self._hosts, policy=self._policy, style=self._style)

    def close(self) -> None:
        """Take the private folder away."""
        shutil.rmtree(self.private, ignore_errors=True)

    async def index(self, request: Request) -> Response:
        """The page."""
        return Response(self._page, media_type="text/html")

    async def begin(self, request: Request) -> Response:
        """Exchange the code of the printed address for the cookie."""
        given = await _body(request)
        cookie = self._session.redeem(given) if isinstance(given, str) else None
        if cookie is None:
            return JSONResponse({"error": f"this address was used before, or is an old one. {OPEN}"}, status_code=401)
        return Response(status_code=204, headers={"set-cookie": cookie})

    async def payload(self, request: Request) -> Response:
        """Say that there is no run to look at yet."""
        return JSONResponse({"schema": SCHEMA, "folder": str(self.folder)})

    async def files(self, request: Request) -> Response:
        """Folders and readable files of a folder of this machine."""
        wanted = str(request.query_params.get("folder", ""))[:4_000]
        return JSONResponse(await run_in_threadpool(listed, Path(wanted) if wanted else self.folder))

    async def upload(self, request: Request) -> Response:
        """Take a file into the private folder."""
        name = Path(str(request.query_params.get("name", "file.csv"))).name[-120:]
        if not name.lower().endswith(READABLE):
            raise SDCError(f"a table is read from {', '.join(READABLE)}, not from {name[-40:]!r}")
        place = self.private / "given"
        place.mkdir(exist_ok=True)
        path, size = place / f"table{''.join(Path(name).suffixes[-2:])}", 0
        with path.open("wb") as stream:
            async for part in request.stream():
                size += len(part)
                if size > LARGEST_UPLOAD:
                    raise SDCError("the file is too large to be handed over: type its path instead")
                stream.write(part)
        return JSONResponse({"path": str(path)})

    async def scan(self, request: Request) -> Response:
        """Read a file and propose a role for each column."""
        given = await _body(request)
        if not isinstance(given, dict) or set(given) != {"path"} or not isinstance(given["path"], str):
            raise SDCError("name a file")
        async with self._busy:
            return JSONResponse(await run_in_threadpool(scanned, Path(given["path"][:4_000]).expanduser()))

    async def protect(self, request: Request) -> Response:
        """Begin to protect a file; ``state`` tells how far it is."""
        wanted = Wanted.of(await _body(request))
        self._work.begin(lambda say: protected(wanted, self.private, say))
        return JSONResponse({})

    async def state(self, request: Request) -> Response:
        """Progress of the protection."""
        return JSONResponse(self._work.told())

    async def file(self, request: Request) -> Response:
        """A file that was made."""
        made = self._work.files.get(str(request.query_params.get("kind", "")))
        if made is None or not made.is_file():
            raise SDCError("protect the table first")
        kind = _TYPES.get(str(request.query_params.get("kind")), "application/octet-stream")
        return Response(await run_in_threadpool(made.read_bytes), media_type=kind)


class Work:
    """One piece of work in a thread of its own, what it says meanwhile, and how it ended."""

    def __init__(self) -> None:
        self.files: dict[str, Path] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._said: list[str] = []
        self._result: dict[str, Any] | None = None
        self._error = ""

    def begin(self, work: Callable[[Callable[[str], None]], tuple[dict[str, Any], dict[str, Path]]]) -> None:
        """Begin, unless something is being done."""
        with self._lock:
            if self._thread is not None and self._thread.is_alive():
                raise SDCError("a table is being protected already: wait until it is done")
            self._said, self._result, self._error, self.files = [], None, "", {}
            self._thread = threading.Thread(target=self._do, args=(work,), daemon=True)
            self._thread.start()

    def _do(self, work: Callable[[Callable[[str], None]], tuple[dict[str, Any], dict[str, Path]]]) -> None:
        try:
            self._result, self.files = work(self._said.append)
        except (SDCError, SDCFailure) as error:
            self._error = str(error)

    def told(self) -> dict[str, Any]:
        """Answer of the page: all that is known now."""
        busy = self._thread is not None and self._thread.is_alive()
        error = self._error
        if self._thread is not None and not busy and self._result is None and not error:
            error = "it ended without a result: the terminal in which sdc explore runs says more"
        return {"busy": busy, "said": self._said[-20:], "error": error, "result": self._result}


class Wanted:
    """Demand of the page: a file, roles by column, and what is asked for.

    Attributes
    ----------
    path
        The file.
    roles
        Role of each column, by name.
    k, max_suppression
        Demand: how many look alike; the share of records that may be left out.
    """

    def __init__(self, path: Path, roles: dict[str, Role], k: int, max_suppression: float) -> None:
        self.path, self.roles, self.k, self.max_suppression = path, roles, k, max_suppression

    @classmethod
    def of(cls, given: Any) -> Wanted:
        """Check what was sent."""
        if not isinstance(given, dict) or set(given) != {"path", "roles", "k", "max_suppression"}:
            raise SDCError("a protection takes a path, roles, k and how many records may be left out")
        roles, k, most = given["roles"], given["k"], given["max_suppression"]
        if not isinstance(given["path"], str) or not isinstance(roles, dict):
            raise SDCError("a protection takes the path of a file and a role for each column")
        if isinstance(k, bool) or not isinstance(k, int) or k < 2:
            raise SDCError("k is a whole number from 2: how many records look alike")
        if isinstance(most, bool) or not isinstance(most, (int, float)) or not 0 <= most < 100:
            raise SDCError("records that may be left out are a percentage, from 0 to below 100")
        try:
            named = {str(name): Role(role) for name, role in roles.items()}
        except ValueError:
            raise SDCError(f"a role is one of {', '.join(role.value for role in Role)}") from None
        if Role.QUASI_IDENTIFIER not in named.values():
            raise SDCError("no column is a quasi-identifier: say which columns others may know of a person")
        return cls(Path(given["path"][:4_000]).expanduser(), named, k, most / 100)

    def named(self, role: Role) -> list[str]:
        """Columns of a role."""
        return [name for name, has in self.roles.items() if has is role]


def listed(folder: Path) -> dict[str, Any]:
    """Folders and readable files of a folder; hidden ones are left out."""
    folder = folder.expanduser()
    try:
        folder = folder.resolve(strict=True)
        entries = sorted(folder.iterdir(), key=lambda path: path.name.lower())[: 4 * _MOST_LISTED]
        shown = [path for path in entries if not path.name.startswith(".")]
        folders = [path.name for path in shown if path.is_dir()][:_MOST_LISTED]
        files = [path.name for path in shown if path.name.lower().endswith(READABLE) and path.is_file()][:_MOST_LISTED]
    except (OSError, ValueError, RuntimeError):
        raise SDCError("this folder is not there, or may not be read") from None
    return {"folder": str(folder), "parent": str(folder.parent), "folders": folders, "files": files}


def _read(path: Path, **roles: Any) -> tuple[Microdata, dict[str, Any]]:
    from sdc_problems.studies.commands.files._reading import Reading, naming_options

    if not path.is_file():
        raise SDCError(f"there is no file {path.name!r} in {str(path.parent)!r}")
    with naming_options("the quasi-identifiers"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Reading(None, None, ".", None, None, "category").table(path, **roles)


def scanned(path: Path) -> dict[str, Any]:
    """Proposals of ``sdc scan``."""
    from sdc_problems.roles import scan

    data, _ = _read(path)
    found = scan(data, largest=3)
    return {
        "path": str(path),
        "name": path.name,
        "records": found.records,
        "columns": [
            {"name": c.name, "kind": c.kind.value, "values": c.distinct, "role": c.role.value, "reason": c.reason}
            for c in found.columns
        ],
        "combinations": [
            {"columns": list(c.columns), "singled_out": c.singled_out // LEAST * LEAST}
            for c in found.combinations
            if c.singled_out >= LEAST
        ],
    }


def protected(wanted: Wanted, private: Path, say: Callable[[str], None]) -> tuple[dict[str, Any], dict[str, Path]]:
    """Protect a file by the function behind ``sdc protect``, into the private folder."""
    from sdc_problems.studies.release import protect
    from sdc_problems.studies.release.csv_text import Form

    say("reading the file")
    data, read = _read(
        wanted.path,
        quasi_identifiers=wanted.named(Role.QUASI_IDENTIFIER),
        sensitive=wanted.named(Role.SENSITIVE),
        identifiers=wanted.named(Role.IDENTIFIER),
    )
    folder = Path(tempfile.mkdtemp(prefix="made-", dir=private))
    out = folder / f"{wanted.path.stem.split('.')[0]}-protected.csv"
    done = protect(
        data,
        out,
        k=wanted.k,
        max_suppression=wanted.max_suppression,
        keep=wanted.named(Role.OTHER),
        source=wanted.path,
        form=Form.between(wanted.path, out, decimal=".", **read),
        say=lambda method: say(f"trying {method}"),
    )
    assert done.places is not None
    report = folder / "report.html"
    report.write_text(file_page(data, done), encoding="utf-8")
    files = {"table": out, "certificate": done.places.certificate, "mapping": done.places.mapping, "page": report}
    if done.rows is not None:
        files["rows"] = done.rows
    result = {
        "sentences": list(done.what_was_done),
        "promises": [f"{g.name} {g.found:g} (promised {g.promised:g})" for g in done.guarantees],
        "promise": done.promise,
        "risk": "" if done.verdict is None else done.verdict.risk,
        "utility": "" if done.verdict is None else done.verdict.utility,
        "files": [{"kind": kind, "name": path.name} for kind, path in files.items()],
    }
    return result, files
