"""Lock of a run folder: one process at a time."""

from __future__ import annotations

import os
import secrets
import stat
import sys
import time
from pathlib import Path
from typing import IO

from sdc_problems.errors import SDCFailure
from sdc_problems.studies.store.folder import LOCK, inside


class RunLock:
    """Lock of a run folder: only one process at a time works on a run, and the lock ends with the process.

    Attributes
    ----------
    token
        Random text that only this holder has; the database accepts writes only with the newest holder's token.
    """

    def __init__(self, folder: Path) -> None:
        self.token = secrets.token_hex(16)
        self._path = inside(folder, LOCK)
        self._file: IO[str] | None = None

    def __enter__(self) -> RunLock:
        try:
            flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
            self._file = os.fdopen(os.open(self._path, flags, 0o666), "r+")
        except OSError as error:
            raise SDCFailure(
                f"cannot work in {str(self._path.parent)!r}: {error.strerror}; a run needs a folder that it"
                " can write to"
            ) from None
        if not stat.S_ISREG(os.fstat(self._file.fileno()).st_mode) or not _patiently(self._file):
            self._file.seek(0)
            holder = self._file.read(64).strip()
            self._file.close()
            raise SDCFailure(
                f"another process{f' ({holder})' if holder.isprintable() and holder else ''} is working on"
                f" {str(self._path.parent)!r}; wait until it has finished, or see `sdc status`"
            )
        descriptor = self._file.fileno()
        try:  # bypass Python's buffer, which would try, and fail, again when the file is closed
            os.ftruncate(descriptor, 0)
            os.write(descriptor, f"process {os.getpid()}".encode())
        except OSError as error:
            self._file.close()
            raise SDCFailure(
                f"cannot work in {str(self._path.parent)!r}: {error.strerror}; what is stored there is safe"
            ) from None
        return self

    def __exit__(self, *exception: object) -> None:
        if self._file is not None:
            self._file.truncate(0)
            self._file.close()


def is_worked_on(folder: Path) -> bool:
    """Whether a process holds the run's lock (on Windows, where it cannot be tested, whether one wrote its number)."""
    try:
        file = inside(folder, LOCK).open("r")
    except OSError:
        return False
    with file:
        if sys.platform == "win32":
            return bool(file.read(64).strip())
        import fcntl

        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
        return False


def _patiently(file: IO[str]) -> bool:
    """Try a few times, because a process that only checks the lock holds it for a moment."""
    for _ in range(5):
        if _try_lock(file):
            return True
        time.sleep(0.02)
    return False


def _try_lock(file: IO[str]) -> bool:
    if sys.platform == "win32":
        import msvcrt

        try:
            file.seek(1 << 20)  # beyond the text, which other processes read
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            file.seek(0)
        return True
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
