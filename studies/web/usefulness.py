"""Usefulness of solutions on the live page: two columns crossed, in the original and in one to four solutions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sdc_problems.errors import SDCError
from sdc_problems.studies.report.usefulness import use_of
from sdc_problems.studies.web.payload import Source
from sdc_problems.studies.web.pictures import DRAW, shown_attributes

if TYPE_CHECKING:
    from sdc_problems.studies.web.server import Explorer

MOST = 4


def routes(explorer: Explorer) -> list[Route]:
    """Route ``?run=0&id=1-3&id=1-9&across=age&down=income``."""

    async def use(request: Request) -> Response:
        _, source = explorer._source(request.query_params.get("run"))
        idents = [ident[:300] for ident in request.query_params.getlist("id")][: MOST + 1]
        names = [str(request.query_params.get(name, ""))[:1_000] for name in ("across", "down")]
        return JSONResponse(await run_in_threadpool(used, source, idents, *names))

    return [Route("/api/use", use)]


def used(source: Source, idents: list[str], across: str, down: str) -> dict[str, Any]:
    """Cross two columns, with labels as shown on the page."""
    task, problem = source.task, source.problem
    if task is None or problem is None:
        raise SDCError(f"tables are made where the data of the run are at hand: {source.closed}")
    if not 1 <= len(idents) <= MOST:
        raise SDCError(f"one to {MOST} solutions stand side by side")
    known = {attribute.name for attribute in shown_attributes(problem)}
    for name in (across, down):
        if name not in known:
            raise SDCError("choose two columns of the table")
    released = {}
    for ident in idents:
        found = source.run.solution(ident).X
        assert found is not None
        released[ident] = task.release(problem, problem.genome(found[0]), seed=DRAW)
    return use_of(problem.data, released, across, down)
