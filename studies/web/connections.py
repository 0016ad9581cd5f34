"""Connections of the server, which are closed if a request is not completed for a while."""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE = 10.0
"""Seconds without progress of a request before its connection is closed."""


class Connection(H11Protocol):
    """HTTP connection that does not wait indefinitely for the rest of a request."""

    _heard = 0
    _alarm: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to watch."""
        super().connection_made(transport)  # type: ignore[arg-type]
        self._watch(-1)

    def data_received(self, data: bytes) -> None:
        """Take the next part of a request."""
        self._heard += 1
        super().data_received(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop watching."""
        if self._alarm is not None:
            self._alarm.cancel()
        super().connection_lost(exc)

    def _watch(self, before: int) -> None:
        """Close the connection if nothing was received since the last check and a request is incomplete."""
        due: tuple[Any, ...] = (h11.IDLE, h11.SEND_BODY)
        if self._heard == before and self.conn.their_state in due:
            self.transport.close()
        else:
            self._alarm = self.loop.call_later(PATIENCE, self._watch, self._heard)


__all__ = ["PATIENCE", "Connection"]
