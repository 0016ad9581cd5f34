"""Folders of shared arrays: private to their owner, checked when read, removed after their process has died."""

from __future__ import annotations

import atexit
import itertools
import json
import os
import shutil
import stat
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems.errors import SDCError

Array = NDArray[Any]

MANIFEST = "manifest.json"
UNFINISHED = "manifest.json.part"
_PREFIX = "sdc-problems-"
_LOCK_FILE = "alive.lock"
_POSIX = os.name == "posix"


def write(arrays: Mapping[str, Array], digest: str, folder: Path) -> None:
    """Write the arrays; the manifest is renamed last, so that a folder without it is unfinished."""
    files = {name: f"{i}.npy" for i, name in enumerate(arrays)}
    unfinished = folder / UNFINISHED
    try:
        with _create(unfinished) as stream:
            stream.write(json.dumps({"format": 1, "digest": digest, "files": files}).encode())
        for name, array in arrays.items():
            with _create(folder / files[name]) as stream:
                np.save(stream, array, allow_pickle=False)
        unfinished.replace(folder / MANIFEST)
    except OSError as error:
        for name in (*files.values(), UNFINISHED):
            (folder / name).unlink(missing_ok=True)
        raise SDCError(
            f"cannot write shared data to {folder}: {error.strerror or error}; set TMPDIR to a folder with more room"
        ) from error


def _create(path: Path) -> IO[bytes]:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    return os.fdopen(os.open(path, flags, 0o600), "wb")


def check_private(folder: Path) -> None:
    """Refuse a folder that another user could have filled or can read."""
    try:
        status = folder.lstat()
    except FileNotFoundError:
        raise SDCError(
            f"the shared data folder {folder} is gone: its process has ended or dropped the data object, or this is "
            "another machine; keep the data object alive while workers use it"
        ) from None
    if not stat.S_ISDIR(status.st_mode):
        raise SDCError(f"the shared data folder {folder} is not a folder")
    if not _POSIX:
        return
    if status.st_uid != os.geteuid():
        raise SDCError(
            f"the shared data folder {folder} belongs to another user: original data is read from your own folders only"
        )
    if status.st_mode & 0o077:
        raise SDCError(
            f"the shared data folder {folder} is open to other users: run chmod 700 on it or choose a new one"
        )


def read_manifest(folder: Path) -> dict[str, Any]:
    """Manifest of a private folder: the digest, and the file of each array."""
    check_private(folder)
    try:
        manifest = json.loads((folder / MANIFEST).read_bytes())
    except FileNotFoundError:
        raise SDCError(
            f"{folder} holds no shared data ({MANIFEST} is missing, so its writing did not finish)"
        ) from None
    except (OSError, ValueError) as error:
        raise SDCError(f"cannot read {folder / MANIFEST}: {error}") from error
    well_formed = (
        isinstance(manifest, dict)
        and manifest.get("format") == 1
        and isinstance(manifest.get("digest"), str)
        and isinstance(manifest.get("files"), dict)
        and all(isinstance(f, str) and Path(f).name == f for f in manifest["files"].values())
    )
    if not well_formed:
        raise SDCError(f"{folder / MANIFEST} is not a manifest of shared data: write the folder again")
    return dict(manifest)


def map_array(path: Path) -> Array:
    """One .npy file mapped into memory, read-only."""
    try:
        # Not np.load, which accepts other formats: a file that is not .npy must fail.
        array: Array = np.lib.format.open_memmap(path, mode="r").view(np.ndarray)
    except FileNotFoundError:
        raise SDCError(f"the shared array {path} is gone: its owner has ended; share the data again") from None
    except (OSError, ValueError, EOFError) as error:
        raise SDCError(f"the shared array {path} cannot be read: {error}") from error
    return array


# --------------------------------------------------------------------------- the folder of this process


class _ProcessState:
    """Temporary folder of this process: made at the first pickling, removed at exit, never inherited by a fork."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Start again, as after a fork."""
        self.lock = threading.RLock()
        self.root: Path | None = None
        self.held: IO[bytes] | int | None = None
        self.numbers = itertools.count()

    def new_folder(self) -> Path:
        """New private folder for one set of arrays."""
        try:
            # Another program may have emptied the temporary folder during a long run.
            if self.root is None or not self.root.is_dir():
                self._begin()
            folder = self._root() / str(next(self.numbers))
            folder.mkdir(mode=0o700)
        except OSError as error:
            raise SDCError(
                f"cannot make a temporary folder: {error.strerror}; set TMPDIR to one you can write"
            ) from error
        return folder

    def _root(self) -> Path:
        assert self.root is not None
        return self.root

    def _begin(self) -> None:
        sweep()
        pid = os.getpid()
        self.root = Path(tempfile.mkdtemp(prefix=marked(_PREFIX))).absolute()
        self.held = _hold(self.root)
        atexit.register(remove_own, self.root, pid)
        from multiprocessing import util as multiprocessing_util

        # Children of multiprocessing exit without atexit, but they run the functions registered here.
        multiprocessing_util.Finalize(None, remove_own, args=(self.root, pid), exitpriority=0)


STATE = _ProcessState()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=STATE.reset)


def sweep() -> int:
    """Remove folders that crashed processes of this user left in the temporary folder; return their number."""
    removed = 0
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*-*-*"):
        try:
            status = folder.lstat()
        except FileNotFoundError:
            continue
        if not stat.S_ISDIR(status.st_mode) or (_POSIX and status.st_uid != os.geteuid()):
            continue
        if is_dead(folder):
            shutil.rmtree(folder, ignore_errors=True)
            removed += not folder.exists()
    return removed


def marked(prefix: str) -> str:
    """Prefix for a temporary file or folder of this process, by which others can tell whether the process has ended."""
    pid = os.getpid()
    return f"{prefix}{pid}-{_start_token(pid)}-"


def is_dead(folder: Path, prefix: str = _PREFIX) -> bool:
    """Whether the process of a marked folder or file has ended: it does not run here, and its lock is free."""
    pid, _, rest = folder.name.removeprefix(prefix).partition("-")
    if not pid.isdecimal():
        return False
    if _POSIX and _runs(int(pid), rest.partition("-")[0]):
        return False
    if not _POSIX:
        # An open file cannot be deleted there.
        try:
            (folder / _LOCK_FILE).unlink(missing_ok=True)
        except OSError:
            return False
        return True
    try:
        opened = os.open(folder, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        return lock(opened)
    finally:
        os.close(opened)


def _hold(folder: Path) -> IO[bytes] | int:
    """Mark a folder as in use until this process ends, however it ends."""
    if not _POSIX:
        return _create(folder / _LOCK_FILE)
    opened = os.open(folder, os.O_RDONLY)
    lock(opened)
    return opened


def lock(opened: int) -> bool:
    """Take a lock that the kernel releases when a process ends; False if another process has it.

    It is on the folder itself: programs that clean temporary folders leave a locked one alone.
    """
    import fcntl

    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _runs(pid: int, token: str) -> bool:
    """Whether the process with this number is the one that started at this time (numbers are reused)."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return False  # another user's process: the folder is ours, so the number was reused
    return _start_token(pid) == token


def _start_token(pid: int) -> str:
    """Start time of a process in the kernel's units; "0" if there is no /proc."""
    try:
        line = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return "0"
    return line.rpartition(b")")[2].split()[19].decode()


def remove_own(folder: Path, pid: int) -> None:
    """Remove files that this process wrote; a forked child inherits the callback but must not remove them."""
    if os.getpid() == pid:
        shutil.rmtree(folder, ignore_errors=True)
