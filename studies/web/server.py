"""Server of the live page: a small server on this machine, for whoever opens the address that it prints.

It is protected against other users and programs of the machine (a code that works once is exchanged for a cookie, which
the browser sends only to a folder with a random name), web pages open in the same browser (that cookie is never sent
with their requests; Host, Origin and Sec-Fetch-Site are checked, also against names that are rebound to 127.0.0.1), and
text from a stranger's run folder (content security policy, no markup made from data). No path of a request reaches the
file system: runs are identified by number, solutions by id, files of a release by kind.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from sdc_problems.errors import SDCError, SDCFailure
from sdc_problems.studies.report.summary import status
from sdc_problems.studies.store.folder import inside, write_atomically
from sdc_problems.studies.web import decision, usefulness, walk
from sdc_problems.studies.web.payload import SHORTLIST, Source, check_shortlist, overview, read_shortlist
from sdc_problems.studies.web.session import Session
from sdc_problems.studies.web.site import Site, body_of

MOST_STREAMS = 8
_MOST_CACHED = 300
_KINDS = {
    "table": "text/csv",
    "mapping": "text/csv",
    "rows": "text/csv",
    "certificate": "application/json",
    "decision": "text/html",
}


class Explorer(Site):
    """Server of the live page: its runs and its routes.

    Parameters
    ----------
    sources
        The runs.
    session
        Folder, codes and cookie of the browsers that are answered.
    hosts
        Accepted values of the Host header, such as ``127.0.0.1:8731``.
    read_only
        Whether changing the shortlist and releasing are disabled.
    data
        Path of the runs' CSV file, if it was moved.
    pause
        Seconds between two checks of the runs for live updates.
    start
        Whether there is a start page to go back to.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        *,
        session: Session,
        hosts: Sequence[str],
        read_only: bool = False,
        data: Path | None = None,
        pause: float = 1.0,
        start: bool = False,
    ) -> None:
        super().__init__(session=session, hosts=hosts)
        self.sources = list(sources)
        self.read_only = read_only
        self.data = data
        self.pause = pause
        self.start = start
        self._overview: tuple[Any, bytes] | None = None
        self._details: OrderedDict[tuple[int, str], bytes] = OrderedDict()
        self._released: dict[tuple[int, str], dict[str, Path]] = {}
        self._looking = asyncio.Lock()  # one overview, one release, and one change of the shortlist at a time
        self._releasing = asyncio.Lock()
        self._keeping = asyncio.Lock()
        self._streams = 0
        overview(self.sources, points=0)  # refuses runs that do not fit together before anyone connects

    def routes(self) -> list[BaseRoute]:
        """Routes for the requests of the page."""
        return [
            Route("/api/payload", self.payload),
            Route("/api/brief", self.brief),
            Route("/api/detail", self.detail),
            Route("/api/events", self.events),
            Route("/api/shortlist", self.shortlist, methods=["GET", "PATCH"]),
            Route("/api/terms", self.terms),
            Route("/api/release", self.release, methods=["POST"]),
            Route("/api/released", self.released),
            *decision.routes(self),
            *walk.routes(self),
            *usefulness.routes(self),
        ]

    # -- reading --------------------------------------------------------------------------------------------------

    async def payload(self, request: Request) -> Response:
        """Points, progress and aggregates."""
        async with self._looking:
            return Response(await run_in_threadpool(self._current), media_type="application/json")

    def _current(self) -> bytes:
        version = self._version()
        if self._overview is None or self._overview[0] != version:
            document = {**overview(self.sources), "live": {"read_only": self.read_only, "start": self.start}}
            self._overview = (version, _json(document))
        return self._overview[1]

    def _version(self) -> Any:
        states = [(s.chain, s.status) for source in self.sources for s in source.run.progress()]
        return (
            states,
            [status(source.run) for source in self.sources],
            [_changed(source.run.path / SHORTLIST) for source in self.sources],
        )

    async def brief(self, request: Request) -> Response:
        """Sentences on one solution; nothing is released for them."""
        _, source, ident = self._named(request)
        return JSONResponse({"sentences": await run_in_threadpool(source.brief, ident)})

    async def detail(self, request: Request) -> Response:
        """One solution."""
        number, source, ident = self._named(request)
        key = (number, ident)
        if key not in self._details:
            self._details[key] = _json(await run_in_threadpool(source.detail, ident))
            while len(self._details) > _MOST_CACHED:
                self._details.popitem(last=False)
        return Response(self._details[key], media_type="application/json")

    async def events(self, request: Request) -> Response:
        """Send an event whenever a run has changed, and one when all are finished."""
        if self._streams >= MOST_STREAMS:
            return JSONResponse({"error": "too many pages follow these runs already"}, status_code=503)
        return StreamingResponse(self._watch(request), media_type="text/event-stream")

    async def _watch(self, request: Request) -> AsyncIterator[str]:
        self._streams += 1
        try:
            seen = await run_in_threadpool(self._version)
            yield "retry: 2000\n\n"
            quiet = 0
            while not self.closing() and not await request.is_disconnected():
                if await run_in_threadpool(self._finished):
                    yield "data: finished\n\n"
                    return
                version = await run_in_threadpool(self._version)
                if version != seen:
                    seen, quiet = version, 0
                    yield "data: changed\n\n"
                else:
                    quiet += 1
                    if quiet % 15 == 0:
                        yield ": still here\n\n"
                await asyncio.sleep(self.pause)
        finally:
            self._streams -= 1

    def _finished(self) -> bool:
        return all(source.run.finished for source in self.sources)

    # -- writing --------------------------------------------------------------------------------------------------

    async def shortlist(self, request: Request) -> Response:
        """Return a run's shortlist, or change entries of it: other pages may have changed other entries meanwhile."""
        _, source = self._source(request.query_params.get("run"))
        if request.method == "PATCH":
            self._may_write()
            wanted = await body_of(request)
            if not isinstance(wanted, dict) or set(wanted) != {"keep", "drop"}:
                raise SDCError("a change of a shortlist has the fields keep and drop")
            keep, drop = check_shortlist(wanted["keep"]), wanted["drop"]
            if not isinstance(drop, list) or not all(isinstance(ident, str) for ident in drop):
                raise SDCError("drop must be a list of ids")
            async with self._keeping:
                return JSONResponse(await run_in_threadpool(self._keep, source, keep, drop))
        return JSONResponse(await run_in_threadpool(read_shortlist, source.run))

    def _keep(self, source: Source, keep: list[dict[str, str]], drop: list[str]) -> list[dict[str, str]]:
        for entry in keep:
            source.run.solution(entry["id"])  # refuses an unknown id
        notes = {entry["id"]: entry["note"] for entry in read_shortlist(source.run)}
        notes.update({entry["id"]: entry["note"] for entry in keep})
        entries = check_shortlist([{"id": k, "note": note} for k, note in notes.items() if k not in drop])
        text = json.dumps(entries, indent=1, ensure_ascii=True) + "\n"
        write_atomically(inside(source.run.path, SHORTLIST), text)
        return entries

    async def terms(self, request: Request) -> Response:
        """Objections to a release of a solution, shown before it is requested."""
        self._may_write()
        _, source, ident = self._named(request)
        async with self._releasing:
            return JSONResponse(await run_in_threadpool(self._terms, source, ident))

    def _terms(self, source: Source, ident: str) -> dict[str, Any]:
        from sdc_problems.studies.release import objections

        found = source.solution(ident)
        out = _place(source, ident)
        if source.task is None or source.problem is None or source.study is None:
            return {"refused": source.closed, "broken": [], "met": [], "files": []}
        told = objections(source.study, source.task, source.problem, found, out=out, folder=source.run.path)
        return {
            "refused": told.refused,
            "broken": list(told.broken),
            "met": list(told.met),
            "files": [f"{out.parent.name}/{out.name}{end}" for end in ("", ".certificate.json", *told.private)],
        }

    async def release(self, request: Request) -> Response:
        """Release a solution to a folder next to the run's, by the function behind ``sdc release``."""
        self._may_write()
        wanted = await body_of(request)
        if not isinstance(wanted, dict) or set(wanted) - {"override"} != {"run", "id"}:
            raise SDCError("a release takes a run, an id and, to override requirements, a reason")
        override = wanted.get("override")
        if not isinstance(wanted["id"], str) or not (override is None or isinstance(override, str)):
            raise SDCError("the id and the reason of a release are text")
        if override is not None and not 0 < len(override.strip()) <= 1_000:
            raise SDCError("a reason has one to 1,000 characters")
        number, source = self._source(str(wanted["run"]))
        ident = wanted["id"]
        async with self._releasing:
            return JSONResponse(await run_in_threadpool(self._release, number, source, ident, override))

    def _release(self, number: int, source: Source, ident: str, override: str | None) -> dict[str, Any]:
        from sdc_problems.studies.release import release

        source.solution(ident)  # refuses an unknown id before it becomes part of a file name
        out = _place(source, ident)
        folder = out.parent
        if folder.is_symlink():
            raise SDCError(f"{folder.name} is a link: nothing is released through it")
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise SDCFailure(f"cannot make the folder {folder.name!r}: {error.strerror}") from None
        out = inside(folder, out.name)
        done = release(source.run.path, ident, out, override=override, data=self.data, overwrite=True)
        files = {"table": done.file, "mapping": done.mapping, "certificate": done.certificate}
        if done.rows is not None:
            files["rows"] = done.rows
        if done.decision is not None:
            files["decision"] = done.decision
        self._released[number, ident] = files
        promises = done.content["guarantees_checked_in_the_file"]
        return {
            "files": [{"kind": kind, "name": path.name} for kind, path in files.items()],
            "summary": [
                *done.content["what_was_done"],
                *(f"Counted in the file: {p['name']} {p['found']:g}, promised {p['promised']:g}." for p in promises),
                f"Guarantee: {done.content['promise']}.",
                *(f"Released although {b}." for b in (done.content["override"] or {"broken": ()})["broken"]),
                "The value mapping and the rows file are for the holder of the data only: with them the original comes"
                " back.",
            ],
        }

    async def released(self, request: Request) -> Response:
        """A file of an earlier release."""
        self._may_write()
        number, _ = self._source(request.query_params.get("run"))
        files = self._released.get((number, str(request.query_params.get("id", ""))), {})
        kind = str(request.query_params.get("kind", ""))
        if kind not in files or kind not in _KINDS:
            raise SDCError("release the solution first")
        path = files[kind]
        if path.is_symlink() or not path.is_file():
            raise SDCError(f"{path.name} no longer exists")
        return Response(await run_in_threadpool(path.read_bytes), media_type=_KINDS[kind])

    def _may_write(self) -> None:
        if self.read_only:
            raise SDCError("this explorer is read only")

    def _named(self, request: Request) -> tuple[int, Source, str]:
        number, source = self._source(request.query_params.get("run"))
        return number, source, str(request.query_params.get("id", ""))[:300]

    def _source(self, number: str | None) -> tuple[int, Source]:
        if number is None or not re.fullmatch(r"[0-9]{1,4}", number) or int(number) >= len(self.sources):
            raise SDCError(f"there is no such run; they are numbered 0 to {len(self.sources) - 1}")
        return int(number), self.sources[int(number)]


def _place(source: Source, ident: str) -> Path:
    """File of a release, in a folder next to the run's, which must hold no record."""
    return source.run.path.with_name(f"{source.run.path.name}-released") / f"released-{_plain(ident)}.csv"


def _plain(ident: str) -> str:
    """An id as a part of a file name; a baseline's name may contain anything, so its digest makes names unique."""
    if re.fullmatch(r"[0-9]+-[0-9]+", ident):
        return ident
    kept = re.sub(r"[^A-Za-z0-9]+", "-", ident).strip("-")[:40]
    return f"{kept}-{hashlib.sha256(ident.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def _changed(path: Path) -> int:
    try:
        return path.lstat().st_mtime_ns
    except OSError:
        return 0


def _json(document: Any) -> bytes:
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")
