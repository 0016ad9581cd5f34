"""Site on this machine: the page, the session with a browser, and answers to errors."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from sdc_problems.errors import SDCError, SDCFailure
from sdc_problems.studies.web.guard import OPEN, Application, Guard
from sdc_problems.studies.web.report import DATA_SLOT, POLICY_SLOT, page, policy
from sdc_problems.studies.web.session import Session

LARGEST_BODY = 1_000_000


class Site:
    """Site behind a guard: the page without data, and the exchange of a code for the cookie.

    Parameters
    ----------
    session
        Folder, codes and cookie of the browsers that are answered.
    hosts
        Accepted values of the Host header, such as ``127.0.0.1:8731``.

    Attributes
    ----------
    closing
        Whether the server is about to end, so that streams must end, too.
    """

    def __init__(self, *, session: Session, hosts: Sequence[str]) -> None:
        html = page()
        style = re.search(r"<style>.*?</style>", html, flags=re.DOTALL)
        self._page = html.replace(POLICY_SLOT, "").replace(DATA_SLOT, "")
        self._policy = policy(html, connect="'self'") + "; frame-ancestors 'none'"
        self._style = style.group() if style else ""
        self.session, self.hosts = session, tuple(hosts)
        self.closing: Callable[[], bool] = lambda: False

    def routes(self) -> list[BaseRoute]:
        """Routes for the requests of the page."""
        raise NotImplementedError

    def app(self) -> Guard:
        """The ASGI application."""
        inner = self.unguarded()
        return Guard(inner, session=self.session, hosts=self.hosts, policy=self._policy, style=self._style)

    def unguarded(self) -> Application:
        """The application behind the guard."""
        shell = [Route("/", self.index), Route("/api/session", self.begin, methods=["POST"])]
        handlers: dict[Any, Any] = {SDCError: _refused, SDCFailure: _failed, ClientDisconnect: _gone}
        return Starlette(routes=[*shell, *self.routes()], exception_handlers=handlers)

    async def index(self, request: Request) -> Response:
        """The page, without any data."""
        return Response(self._page, media_type="text/html")

    async def begin(self, request: Request) -> Response:
        """Exchange the code from the printed address for the cookie."""
        given = await body_of(request)
        cookie = self.session.redeem(given) if isinstance(given, str) else None
        if cookie is None:
            return JSONResponse({"error": f"this address was used before, or is an old one. {OPEN}"}, status_code=401)
        return Response(status_code=204, headers={"set-cookie": cookie})


async def body_of(request: Request) -> Any:
    """JSON body of a request."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_BODY:
            raise SDCError(f"more than {LARGEST_BODY} bytes were sent")
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise SDCError("the request is not JSON") from None


async def _refused(request: Request, error: Exception) -> Response:
    from sdc_problems.studies.release import NeedsReason

    return JSONResponse({"error": str(error), "needs_reason": isinstance(error, NeedsReason)}, status_code=400)


async def _gone(request: Request, error: Exception) -> Response:
    return Response(status_code=400)  # nobody will read it


async def _failed(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": str(error)}, status_code=500)
