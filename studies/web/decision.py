"""Decision record on the live page: kept in the run folder, and its printable page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sdc_problems.errors import SDCError
from sdc_problems.studies.report.decision import FILE, decision, decision_page, read_decision, to_text
from sdc_problems.studies.store.folder import inside, write_atomically
from sdc_problems.studies.web.site import body_of

if TYPE_CHECKING:
    from sdc_problems.studies.store.reader import Run
    from sdc_problems.studies.web.server import Explorer

_TEXTS = ("id", "why", "notes", "by")


def routes(explorer: Explorer) -> list[Route]:
    """Routes that store, return and print the record of a run."""

    async def record(request: Request) -> Response:
        _, source = explorer._source(request.query_params.get("run"))
        if request.method == "PUT":
            explorer._may_write()
            made = await run_in_threadpool(_kept, source.run, await body_of(request))
        else:
            made = await run_in_threadpool(_told, source.run)
        return JSONResponse(made)

    async def page(request: Request) -> Response:
        _, source = explorer._source(request.query_params.get("run"))
        return Response(await run_in_threadpool(_page, source.run), media_type="text/html")

    return [Route("/api/decision", record, methods=["GET", "PUT"]), Route("/api/decision/page", page)]


def _kept(run: Run, given: Any) -> dict[str, Any]:
    """Store the record that was filled in, with everything else from the run."""
    if not isinstance(given, dict) or set(given) != {*_TEXTS, "rejected"}:
        raise SDCError("a decision record takes an id, why, notes, by, and what was rejected")
    rejected = given["rejected"]
    if not isinstance(rejected, dict) or not all(isinstance(given[name], str) for name in _TEXTS):
        raise SDCError("the id and the reasons of a decision record are text")
    if not all(isinstance(reason, str) for reason in rejected.values()):
        raise SDCError("the id and the reasons of a decision record are text")
    made = decision(run, given["id"], why=given["why"], rejected=rejected, notes=given["notes"], by=given["by"])
    write_atomically(inside(run.path, FILE), to_text(made))
    return {"record": made, "error": ""}


def _told(run: Run) -> dict[str, Any]:
    """The record, or why it is not valid."""
    try:
        return {"record": read_decision(run), "error": ""}
    except SDCError as error:
        return {"record": None, "error": str(error)}


def _page(run: Run) -> str:
    made = read_decision(run)
    if made is None:
        raise SDCError("no decision record was kept: keep one first")
    return decision_page(made, run)
