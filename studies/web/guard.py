"""Guard of the server: answers only requests to the right host, from the page itself, with the token."""

from __future__ import annotations

import hmac
import json
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]


class Guard:
    """ASGI application around another one.

    Parameters
    ----------
    inner
        The application that is guarded.
    token
        What ``Authorization: Bearer`` must carry for everything but the empty page.
    hosts
        Accepted values of the Host header; ``http://`` and one of them are the accepted origins.
    policy
        Content security policy of every answer.
    """

    def __init__(self, inner: Application, *, token: str, hosts: Sequence[str], policy: str) -> None:
        self.inner = inner
        self._token = token.encode()
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
        """Answer a request, or say why not."""
        if scope["type"] == "lifespan":
            await self.inner(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # no web sockets here
        status, why = self._judge(scope)

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                kept = [(k, v) for k, v in message.get("headers", []) if k.lower() != b"cache-control"]
                message["headers"] = [*kept, *self._headers]
            await send(message)

        if status == 200:
            await self.inner(scope, receive, sealed)
            return
        body = json.dumps({"error": why}).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await sealed({"type": "http.response.start", "status": status, "headers": headers})
        await sealed({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})

    def _judge(self, scope: Message) -> tuple[int, str]:
        headers: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.lower(), []).append(value)
        hosts = headers.get(b"host", [])
        if len(hosts) != 1 or hosts[0].decode("latin-1").lower() not in self._hosts:
            return 421, "this server answers to the address that it printed only"
        origins = headers.get(b"origin", [])
        if any(origin.decode("latin-1").lower() not in self._origins for origin in origins):
            return 403, "requests from other pages are not answered"
        sites = headers.get(b"sec-fetch-site", [])
        if any(site not in (b"same-origin", b"none") for site in sites):
            return 403, "requests from other pages are not answered"
        if scope["method"] not in ("GET", "HEAD") and not origins:
            return 403, "a change must come from the page itself"
        if scope["path"] == "/":
            return 200, ""
        given = headers.get(b"authorization", [])
        if len(given) != 1 or not hmac.compare_digest(given[0], b"Bearer " + self._token):
            return 401, "the token is missing or wrong: open the address that `sdc explore` printed"
        return 200, ""
