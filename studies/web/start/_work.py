"""Work of the start page: one piece at a time in a separate thread, with its messages and its result."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sdc_problems._slices import listening
from sdc_problems.errors import SDCError, SDCFailure

STOPPED = "stopped: nothing was written"


class Work:
    """One piece of work in a thread.

    Attributes
    ----------
    files
        Files made by the work, by kind.
    run
        Run folder made by the work, if any.
    """

    def __init__(self) -> None:
        self.files: dict[str, Path] = {}
        self.run: Path | None = None
        self.look: Callable[[], tuple[float, str]] | None = None
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._stop = threading.Event()
        self._said = ""
        self._share: float | None = None
        self._result: dict[str, Any] | None = None
        self._error = ""

    def begin(self, work: Callable[[Work], tuple[dict[str, Any], dict[str, Path]]]) -> None:
        """Begin, unless other work is in progress."""
        with self._lock:
            if self.busy:
                raise SDCError("other work is in progress: wait until it is finished, or stop it")
            self.files, self.run, self.look = {}, None, None
            self._said, self._share, self._result, self._error = "", None, None, ""
            self._stop.clear()
            self._thread = threading.Thread(target=self._do, args=(work,), daemon=True, name="start page")
            self._thread.start()

    def _do(self, work: Callable[[Work], tuple[dict[str, Any], dict[str, Path]]]) -> None:
        try:
            with listening(self._heard):
                self._result, self.files = work(self)
        except (SDCError, SDCFailure) as error:
            self._error = str(error)

    def _heard(self, what: str, done: int, total: int) -> None:
        self._said, self._share = what, done / max(total, 1)
        if self._stop.is_set() and self.run is None:  # a run stops after its generation, which it stores
            raise SDCError(STOPPED)

    @property
    def busy(self) -> bool:
        """Whether work is in progress."""
        return self._thread is not None and self._thread.is_alive()

    def say(self, line: str) -> None:
        """Report what is being done; the work can be stopped here."""
        if self._stop.is_set() and self.run is None:
            raise SDCError(STOPPED)
        self._said, self._share = line, None

    def stop(self) -> None:
        """Ask the work to stop at the next possible point."""
        self._stop.set()

    def stopped(self) -> bool:
        """Whether it was asked to stop."""
        return self._stop.is_set()

    def wait(self, seconds: float) -> None:
        """Wait until it ends."""
        if self._thread is not None:
            self._thread.join(seconds)

    def told(self) -> dict[str, Any]:
        """Answer to the page: everything that is known now."""
        busy, error, said, share = self.busy, self._error, self._said, self._share
        if self._thread is not None and not busy and self._result is None and not error:
            error = "it ended without a result: the terminal in which sdc explore runs says more"
        if busy and self.look is not None:
            try:
                share, said = self.look()
            except SDCError as unseen:  # an error of the display must not end the run
                said = str(unseen)
        return {
            "busy": busy,
            "stopping": busy and self._stop.is_set(),
            "said": said,
            "share": share,
            "error": error,
            "result": self._result,
            "run": None if self.run is None else str(self.run),
        }
