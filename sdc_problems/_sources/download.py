"""Download of a public file: resumed after an interruption, limited in time, size and attempts, and all or nothing.

A download is kept in a folder ``<file>.part`` next to its target: the bytes so far and the server's validator for them.
A process claims that folder by renaming it, so that two processes never write the same bytes, and gives it back if
the connection is lost for good: the next call continues from there.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import re
import shutil
import socket
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

from sdc_problems.errors import SDCFailure

Progress = Callable[[int, int | None], None]
"""Called with the bytes received so far and the bytes expected (None if the server does not say)."""

_CHUNK = 1 << 16
_LIMIT = 1 << 28  # bytes; far above any file of the catalogue, to stop a server that never ends
_FORGOTTEN = 86_400.0  # seconds after which a claimed folder belongs to a process that died
_PASSING = {408, 425, 429, 500, 502, 503, 504}


class _Cut(Exception):
    """The connection ended early, or the server asked to wait: another attempt is worthwhile."""


def fetch(
    url: str,
    target: Path,
    *,
    by_hand: str,
    progress: Progress | None = None,
    timeout: float = 30.0,
    attempts: int = 4,
    pause: Callable[[float], object] = time.sleep,
) -> Path:
    """Download ``url`` to ``target``, atomically.

    Parameters
    ----------
    url
        ``http`` or ``https`` address.
    target
        Path for the file; its folder is made if necessary.
    by_hand
        A sentence for error messages: how a person can put the file in place without this download.
    progress
        Called after each piece.
    timeout
        Seconds to wait for the server, for the connection and for each piece.
    attempts
        Largest number of connections; an interrupted one is resumed if the server can (``Range`` with ``If-Range``).
    pause
        Function that waits between attempts, given the seconds to wait.

    Returns
    -------
    Path
        ``target``.
    """
    host = urllib.parse.urlsplit(url).netloc
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SDCFailure(f"cannot make the folder {target.parent} ({error.strerror}); {by_hand}") from error
    reason = ""
    with _claimed(target) as part:
        for attempt in range(attempts):
            if attempt:
                pause(0.5 * 2.0 ** (attempt - 1))
            try:
                _attempt(url, part, progress=progress, timeout=timeout)
            except _Cut as cut:
                reason = str(cut)
                continue
            except urllib.error.HTTPError as error:
                raise SDCFailure(f"{host} answers {error.code} ({error.reason}) for {url}; {by_hand}") from error
            except urllib.error.URLError as error:
                if isinstance(error.reason, socket.gaierror):
                    raise SDCFailure(f"{host} cannot be found: is this machine offline? Or: {by_hand}") from error
                reason = str(error.reason)
                continue
            except OSError as error:
                raise SDCFailure(f"cannot write {part} ({error.strerror}); {by_hand}") from error
            os.replace(part / "bytes", target)
            shutil.rmtree(part)
            return target
    raise SDCFailure(
        f"{host} could not be reached in {attempts} attempts (last: {reason}); try again later, or: {by_hand}"
    )


@contextlib.contextmanager
def _claimed(target: Path) -> Iterator[Path]:
    """Yield a folder that only this process writes to, with the remains of an earlier, interrupted download."""
    shared = target.with_name(f"{target.name}.part")
    for orphan in target.parent.glob(f"{target.name}.part.*"):
        with contextlib.suppress(OSError):  # another process may remove it at the same time
            if time.time() - orphan.stat().st_mtime > _FORGOTTEN:
                shutil.rmtree(orphan)
    own = target.with_name(f"{target.name}.part.{os.getpid()}.{os.urandom(4).hex()}")
    try:
        os.rename(shared, own)
    except FileNotFoundError:
        own.mkdir()
    try:
        yield own
    finally:
        if own.exists():
            try:
                if not (own / "bytes").exists():
                    raise FileNotFoundError
                os.rename(own, shared)
            except OSError:  # nothing to keep, or another process has already given back its part: one is enough
                shutil.rmtree(own)


def _attempt(url: str, part: Path, *, progress: Progress | None, timeout: float) -> None:
    """Open one connection and append what it delivers to the bytes that are already there."""
    body, validator_file = part / "bytes", part / "validator"
    validator = validator_file.read_text(encoding="latin-1") if validator_file.is_file() else ""
    have = body.stat().st_size if body.is_file() and validator else 0
    request = urllib.request.Request(url, headers={"User-Agent": "sdc-problems", "Accept-Encoding": "identity"})
    if have:
        request.add_header("Range", f"bytes={have}-")
        request.add_header("If-Range", validator)
    try:
        answer = urllib.request.urlopen(request, timeout=timeout)
    except urllib.error.HTTPError as error:
        if error.code == 416:  # the file has changed: the part is useless
            body.unlink()
            raise _Cut("the file on the server has changed") from error
        if error.code in _PASSING:
            raise _Cut(f"answer {error.code} ({error.reason})") from error
        raise
    except (http.client.HTTPException, TimeoutError, ConnectionError) as error:
        raise _Cut(str(error) or type(error).__name__) from error
    with answer:
        start, total = _extent(answer, have)
        if total is not None and total > _LIMIT:
            raise SDCFailure(f"{url} announces {total} bytes, more than the {_LIMIT} that this download accepts")
        validator_file.write_text(_validator(answer), encoding="latin-1")
        received = start
        with open(body, "r+b" if start else "wb") as file:
            file.seek(start)
            file.truncate()
            while chunk := _read(answer):
                received += len(chunk)
                if received > _LIMIT:
                    break
                file.write(chunk)
                if progress is not None:
                    progress(received, total)
        if received > _LIMIT:
            body.unlink()
            raise SDCFailure(f"{url} sends more than the {_LIMIT} bytes that this download accepts")
        if total is not None and received != total:
            raise _Cut(f"the connection ended after {received} of {total} bytes")


def _read(answer: http.client.HTTPResponse) -> bytes:
    try:
        return answer.read(_CHUNK)
    except (http.client.HTTPException, OSError) as error:  # resets, timeouts, broken TLS records
        raise _Cut(str(error) or type(error).__name__) from error


def _extent(answer: http.client.HTTPResponse, have: int) -> tuple[int, int | None]:
    """Position of the answer's first byte, and length of the whole file."""
    if answer.status == 206:
        found = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", answer.headers.get("Content-Range", ""))
        if found is None or int(found[1]) != have:
            raise _Cut("the server resumed at another place than asked")
        return have, None if found[2] == "*" else int(found[2])
    length = answer.headers.get("Content-Length")
    return 0, int(length) if length is not None and length.isdigit() else None


def _validator(answer: http.client.HTTPResponse) -> str:
    """Return the validator for ``If-Range``: a strong entity tag, else the date; without either nothing is resumed."""
    tag: str = answer.headers.get("ETag", "")
    return tag if tag.startswith('"') else answer.headers.get("Last-Modified", "")


def terminal_progress(label: str) -> Progress | None:
    """Return a one-line bar on stderr if stderr is a terminal, else None."""
    if not sys.stderr.isatty():
        return None

    def show(received: int, total: int | None) -> None:
        if total:
            filled = round(24 * received / total)
            bar = f"[{'=' * filled}{' ' * (24 - filled)}] {100 * received // total:3d} %"
        else:
            bar = f"{received / 1e6:.1f} MB"
        print(f"\r{label} {bar}", end="\n" if received == total else "", file=sys.stderr, flush=True)

    return show
