"""Guard of the server: it answers only requests to the right host, from the page itself, with the session's cookie."""

from __future__ import annotations

import html
import json
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any

from sdc_problems.studies.web.session import Session

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

OPEN = (
    "Open the address that `sdc explore` printed. It opens the page once; for another browser press Enter where"
    " `sdc explore` runs, and it prints a new one."
)
FROM_ELSEWHERE = (
    "The link that you followed stands on another page, and the explorer answers no other page. The address is in the"
    " address bar now: click into it and press Enter, and the explorer opens."
)


class Guard:
    """ASGI application around another one.

    Parameters
    ----------
    inner
        The guarded application.
    session
        Session with the folder of the page and the cookie, which is required for everything but the empty page.
    hosts
        Accepted values of the Host header; the accepted origins are ``http://`` with one of them.
    policy
        Content security policy of every answer.
    style
        Style element of the pages that explain a refusal to a person.
    """

    def __init__(
        self, inner: Application, *, session: Session, hosts: Sequence[str], policy: str, style: str = ""
    ) -> None:
        self.inner = inner
        self._session = session
        self._style = style
        self._hosts = frozenset(host.lower() for host in hosts)
        self._origins = frozenset(f"http://{host}" for host in self._hosts)
        self._headers = [
            (b"content-security-policy", policy.encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"x-frame-options", b"DENY"),
            (b"referrer-policy", b"no-referrer"),
            (b"cross-origin-opener-policy", b"same-origin"),
            (b"cross-origin-resource-policy", b"same-origin"),
            (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
            (b"cache-control", b"no-store"),
        ]

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer a request, or say why it is refused."""
        if scope["type"] == "lifespan":
            await self.inner(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # web sockets are not used
        headers: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.lower(), []).append(value)
        status, why = self._judge(scope, headers)

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                kept = [(k, v) for k, v in message.get("headers", []) if k.lower() != b"cache-control"]
                message["headers"] = [*kept, *self._headers]
            await send(message)

        if status == 200:
            inside = scope["path"][len(self._session.folder) - 1 :]
            await self.inner({**scope, "path": inside, "raw_path": inside.encode()}, receive, sealed)
            return
        opened = headers.get(b"sec-fetch-mode", [b""])[0] == b"navigate"  # by a person, who cannot read JSON
        body = self._explained(why) if opened else json.dumps({"error": why}).encode()
        kind = b"text/html; charset=utf-8" if opened else b"application/json"
        answer = [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
        await sealed({"type": "http.response.start", "status": status, "headers": answer})
        await sealed({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})

    def _explained(self, why: str) -> bytes:
        return (
            '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>sdc explorer</title>'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f'{self._style}</head><body><main id="app"><h1>Not opened</h1><p>{html.escape(why)}</p></main></body>'
            "</html>"
        ).encode()

    def _judge(self, scope: Message, headers: dict[bytes, list[bytes]]) -> tuple[int, str]:
        hosts = headers.get(b"host", [])
        if len(hosts) != 1 or hosts[0].decode("latin-1").lower() not in self._hosts:
            return 421, "this server answers to the address that it printed only"
        origins = headers.get(b"origin", [])
        if any(origin.decode("latin-1").lower() not in self._origins for origin in origins):
            return 403, "requests from other pages are not answered"
        sites = headers.get(b"sec-fetch-site", [])
        if any(site not in (b"same-origin", b"none") for site in sites):
            if headers.get(b"sec-fetch-mode") == [b"navigate"]:
                return 403, FROM_ELSEWHERE
            return 403, "requests from other pages are not answered"
        if scope["method"] not in ("GET", "HEAD") and not origins:
            return 403, "a change must come from the page itself"
        if not scope["path"].startswith(self._session.folder):
            return 404, f"Nothing is here. {OPEN}"
        if scope["path"][len(self._session.folder) - 1 :] in ("/", "/api/session"):
            return 200, ""
        if not self._session.holds(headers.get(b"cookie", [])):
            return 401, f"this browser holds no session with the server. {OPEN}"
        return 200, ""
