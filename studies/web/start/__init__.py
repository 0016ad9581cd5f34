"""Start page: choose a file of this machine, correct its roles, and protect it by the functions of the commands.

A file that is protected at once is kept in a private folder of this server, which is removed when the server ends; the
page saves it where the person wants. A search makes the same run folder as `sdc run`, and the page then becomes its
explorer. Nothing is sent anywhere else. No record reaches the page, only names of columns, counts, and the report's
aggregates.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route

from sdc_problems.errors import SDCError
from sdc_problems.studies.web.guard import Application, Message, Receive, Send
from sdc_problems.studies.web.payload import Source
from sdc_problems.studies.web.server import Explorer
from sdc_problems.studies.web.session import Session
from sdc_problems.studies.web.site import Site, body_of
from sdc_problems.studies.web.start._demand import Demand, Search, protected, searched, searches
from sdc_problems.studies.web.start._tables import READABLE, Given, listed, scanned
from sdc_problems.studies.web.start._work import Work

SCHEMA = "sdc-start/1"
LARGEST_UPLOAD = 500_000_000
PATIENCE = 20.0
"""Seconds for a search to finish its generation when the server ends."""
_TYPES = {"page": "text/html", "certificate": "application/json"}


class Start(Site):
    """Server of the start page, and of the explorer of a run that was started from it.

    Parameters
    ----------
    session
        Folder, codes and cookie of the browsers that are answered.
    hosts
        Accepted values of the Host header.
    folder
        First folder of the list of files, in which ``runs`` is made.
    """

    def __init__(self, *, session: Session, hosts: Sequence[str], folder: Path) -> None:
        super().__init__(session=session, hosts=hosts)
        self.folder = folder
        self.private = Path(tempfile.mkdtemp(prefix="sdc-start-"))  # 0700: only this user reads it
        self._busy = asyncio.Lock()
        self._work = Work()
        self._explored: Application | None = None

    def routes(self) -> list[BaseRoute]:
        """Routes of the start page; all others belong to the explorer, once a run is open."""
        return [
            Route("/api/start/files", self.files),
            Route("/api/start/upload", self.upload, methods=["POST"]),
            Route("/api/start/scan", self.scan, methods=["POST"]),
            Route("/api/start/protect", self.protect, methods=["POST"]),
            Route("/api/start/search", self.search, methods=["POST"]),
            Route("/api/start/stop", self.stop, methods=["POST"]),
            Route("/api/start/open", self.open, methods=["POST"]),
            Route("/api/start/leave", self.leave, methods=["POST"]),
            Route("/api/start/state", self.state),
            Route("/api/start/file", self.file),
            Route("/api/start/report", self.report),
            Mount("/", self._other),
        ]

    async def _other(self, scope: Message, receive: Receive, send: Send) -> None:
        if self._explored is not None:
            await self._explored(scope, receive, send)
            return
        document = {"schema": SCHEMA, "folder": str(self.folder)}
        known = scope["path"] == "/api/payload"
        answer = JSONResponse(document if known else {"error": "no run is open"}, status_code=200 if known else 404)
        await answer(scope, receive, send)

    def close(self) -> None:
        """Let a search finish its generation, and remove the private folder."""
        self._work.stop()
        self._work.wait(PATIENCE)
        shutil.rmtree(self.private, ignore_errors=True)

    async def files(self, request: Request) -> Response:
        """Folders and readable files of a folder of this machine."""
        wanted = str(request.query_params.get("folder", ""))[:4_000]
        return JSONResponse(await run_in_threadpool(listed, Path(wanted) if wanted else self.folder))

    async def upload(self, request: Request) -> Response:
        """Take a file into the private folder."""
        name = Path(str(request.query_params.get("name", "file.csv"))).name[-120:]
        if not name.lower().endswith(READABLE):
            raise SDCError(f"a table is read from {', '.join(READABLE)}, not from {name[-40:]!r}")
        place = Path(tempfile.mkdtemp(prefix="given-", dir=self.private))  # a file in a search must not change
        path, size = place / (re.sub(r"[^\w.-]+", "-", name).lstrip(".-") or "table.csv"), 0
        with path.open("wb") as stream:
            async for part in request.stream():
                size += len(part)
                if size > LARGEST_UPLOAD:
                    raise SDCError("the file is too large to be handed over: type its path instead")
                stream.write(part)
        return JSONResponse({"path": str(path)})

    async def scan(self, request: Request) -> Response:
        """Read a file and propose a role for each column."""
        given = await body_of(request)
        if not isinstance(given, dict) or not {"path"} <= set(given) <= {"path", "reading", "kinds"}:
            raise SDCError("name a file")
        file = Given.of(given)
        async with self._busy:
            found, known = await run_in_threadpool(lambda: (scanned(file), searches()))
        handed = self.private in file.path.parents
        further = {"searches": known, "handed": handed, "run": str(self._place(file.path, handed))}
        return JSONResponse({**found, **further})

    def _place(self, path: Path, handed: bool) -> Path:
        """Proposed run folder: that of `sdc run`, or a private one for an uploaded table."""
        runs = (self.private if handed else self.folder) / "runs"
        stem = path.stem.split(".")[0] or "table"
        free = (runs / f"{stem}{f'-{n}' if n > 1 else ''}" for n in range(1, 10_000))
        return next(place for place in free if not place.exists())

    async def protect(self, request: Request) -> Response:
        """Begin to protect a file; ``state`` gives the progress."""
        demand = Demand.of(await body_of(request))
        self._work.begin(lambda work: protected(demand, self.private, work))
        return JSONResponse({})

    async def search(self, request: Request) -> Response:
        """Begin a search; ``state`` gives the progress."""
        given = await body_of(request)
        if not isinstance(given, dict) or set(given) != {"demand", "search"}:
            raise SDCError("a search takes a demand, and how to search")
        demand, search = Demand.of(given["demand"]), Search.of(given["search"])
        self._work.begin(lambda work: searched(demand, search, work))
        return JSONResponse({})

    async def stop(self, request: Request) -> Response:
        """Ask the current work to stop; generations that a run has stored are kept."""
        self._work.stop()
        return JSONResponse({})

    async def state(self, request: Request) -> Response:
        """Progress of the current work."""
        return JSONResponse(await run_in_threadpool(self._work.told))

    async def open(self, request: Request) -> Response:
        """Become the explorer of the current or last search's run."""
        folder = self._work.run
        if folder is None:
            raise SDCError("no run was begun: search first")
        self._explored = await run_in_threadpool(self._explorer, folder)
        return JSONResponse({})

    def _explorer(self, folder: Path) -> Application:
        explorer = Explorer([Source.open(folder)], session=self.session, hosts=self.hosts, start=True)
        explorer.closing = lambda: self.closing()
        return explorer.unguarded()

    async def leave(self, request: Request) -> Response:
        """Become the start page again; the run stays in its folder, and a search continues."""
        self._explored = None
        return JSONResponse({})

    async def file(self, request: Request) -> Response:
        """A file that was made by the work."""
        made = self._work.files.get(str(request.query_params.get("kind", "")))
        if made is None or not made.is_file():
            raise SDCError("protect the table first")
        kind = _TYPES.get(str(request.query_params.get("kind")), "application/octet-stream")
        return Response(await run_in_threadpool(made.read_bytes), media_type=kind)

    async def report(self, request: Request) -> Response:
        """The report without its style, which the surrounding page has."""
        made = self._work.files.get("page")
        if made is None or not made.is_file():
            raise SDCError("protect the table first")
        text = await run_in_threadpool(made.read_text, encoding="utf-8")
        return Response(text[text.index("<main>") : text.index("</main>") + len("</main>")], media_type="text/html")
