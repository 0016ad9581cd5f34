"""A run folder: how it is made, locked and opened, and what it refuses from a stranger.

The folder holds ``study.toml`` (the study as it was given), ``run.sqlite`` (everything that was computed) and
whatever pictures and tables were made from it. Nothing in it is ever executed or unpickled, and no link in it is
followed: a link could lead a write out of the folder.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import sqlite3
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from sdc_problems.errors import SDCError, SDCFailure, did_you_mean

DATABASE = "run.sqlite"
STUDY = "study.toml"
LOCK = "run.lock"
FORMAT = (1, 0)  # a newer minor version can be read; a newer major version is refused

SCHEMA = {
    "meta": "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "seeds": (
        "CREATE TABLE seeds (seed INTEGER PRIMARY KEY, position INTEGER NOT NULL, status TEXT NOT NULL,"
        " reason TEXT NOT NULL)"
    ),
    "generations": (
        "CREATE TABLE generations (seed INTEGER NOT NULL, generation INTEGER NOT NULL, evaluated INTEGER NOT NULL,"
        " solutions INTEGER NOT NULL, rng TEXT NOT NULL, arrays BLOB NOT NULL, chain TEXT NOT NULL,"
        " seconds REAL NOT NULL, measuring REAL NOT NULL, finished TEXT NOT NULL, PRIMARY KEY (seed, generation))"
    ),
    "states": (
        "CREATE TABLE states (seed INTEGER PRIMARY KEY, generation INTEGER NOT NULL, arrays BLOB NOT NULL,"
        " digest TEXT NOT NULL)"
    ),
    "baselines": "CREATE TABLE baselines (name TEXT PRIMARY KEY, arrays BLOB NOT NULL)",
    "sessions": (
        "CREATE TABLE sessions (session INTEGER PRIMARY KEY, token TEXT NOT NULL, started TEXT NOT NULL,"
        " versions TEXT NOT NULL, workers TEXT NOT NULL)"
    ),
}


def check_folder(path: Path) -> Path:
    """Resolve a run folder; a link, or a file that sdc never writes there, is refused before anything is opened."""
    folder = Path(path).resolve()
    if not folder.is_dir():
        near = [p.name for p in folder.parent.iterdir() if p.is_dir()] if folder.parent.is_dir() else []
        raise SDCError(f"there is no run folder {str(path)!r}{did_you_mean(folder.name, near)}")
    for name in (DATABASE, STUDY, LOCK, f"{DATABASE}-wal", f"{DATABASE}-shm", f"{DATABASE}-journal"):
        inside = folder / name
        if inside.is_symlink():
            raise SDCError(f"{name} in {str(path)!r} is a link; a run folder holds none, so this one is not opened")
        if inside.exists() and not inside.is_file():
            raise SDCError(f"{name} in {str(path)!r} is not a regular file")
    if (folder / f"{DATABASE}-journal").exists():
        # SQLite acts on such a file when it opens the database, up to deleting files that it names.
        raise SDCError(f"{str(path)!r} holds {DATABASE}-journal, which sdc never writes; remove it if you trust it")
    if not (folder / DATABASE).is_file():
        raise SDCError(f"{str(path)!r} is not a run folder: it has no {DATABASE}")
    return folder


def inside(folder: Path, name: str) -> Path:
    """Return the path of a file to be written in the folder: one plain name, never through a link."""
    if not name or name in {".", ".."} or any(c in name for c in "/\\\0") or Path(name).is_absolute():
        raise SDCError(f"{name!r} is not a plain file name")
    return Path(folder).resolve() / name


def write_atomically(path: Path, content: bytes | str, *, private: bool = False) -> None:
    """Write a file so that a reader finds the old or the new content, never a part; a link there is replaced.

    Parameters
    ----------
    path
        The file.
    content
        Its content.
    private
        Whether only this user may read it.
    """
    data = content.encode("utf-8") if isinstance(content, str) else content
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".sdc-")
    except OSError as error:
        raise SDCFailure(f"cannot write in {str(path.parent)!r}: {error.strerror}") from None
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        if not private:  # as mkstemp makes it; otherwise it gets the permissions of an ordinary new file
            mask = os.umask(0)
            os.umask(mask)
            Path(temporary).chmod(0o666 & ~mask)
        Path(temporary).replace(path)
    except OSError as error:
        Path(temporary).unlink(missing_ok=True)
        raise SDCFailure(f"cannot write {str(path)!r}: {error.strerror}; nothing was changed") from None
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def create_folder(path: Path, study: str, meta: dict[str, Any], seeds: list[int]) -> Path:
    """Make a new run folder in one step: it appears complete or not at all."""
    path = Path(path).absolute()
    if path.exists() or path.is_symlink():
        raise SDCError(f"{str(path)!r} exists already: continue it with `sdc resume`, or choose another --out")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        building = Path(tempfile.mkdtemp(dir=path.parent, prefix=".sdc-run-"))
    except OSError as error:
        raise SDCFailure(f"cannot make a run folder in {str(path.parent)!r}: {error.strerror}") from None
    try:
        (building / STUDY).write_text(study, encoding="utf-8")
        with connection(building / DATABASE, write=True) as db, guarded("the new run folder"):
            for sql in SCHEMA.values():
                db.execute(sql)
            db.executemany("INSERT INTO meta VALUES (?, ?)", [(k, json.dumps(v)) for k, v in meta.items()])
            db.executemany(
                "INSERT INTO seeds VALUES (?, ?, 'waiting', '')", [(seed, i) for i, seed in enumerate(seeds)]
            )
            db.commit()
        mask = os.umask(0)
        os.umask(mask)
        building.chmod(0o777 & ~mask)
        building.rename(path)
    except OSError as error:
        shutil.rmtree(building, ignore_errors=True)
        raise SDCFailure(f"cannot make the run folder {str(path)!r}: {error.strerror}") from None
    except BaseException:
        shutil.rmtree(building, ignore_errors=True)
        raise
    return path


@contextmanager
def connection(database: Path, *, write: bool = False) -> Iterator[sqlite3.Connection]:
    """Open the database for one block."""
    db = open_database(database, write=write)
    try:
        yield db
    finally:
        db.close()


def open_database(database: Path, *, write: bool = False) -> sqlite3.Connection:
    """Open a run's database: nothing in its schema is trusted, and a reader never needs to write.

    A writer uses a write-ahead log: readers see the last complete generation while a run goes on, and after a crash
    of the process the log is complete. A reader in a folder that it may not write to reads the file as it stands, or
    a private copy together with its log.
    """
    uri = database.resolve().as_uri()
    if write:
        db = sqlite3.connect(f"{uri}?mode=rwc", uri=True, timeout=60, isolation_level=None, check_same_thread=False)
        settings = ["journal_mode=WAL", "synchronous=NORMAL", "busy_timeout=60000"]
    else:
        log = database.with_name(f"{database.name}-wal")
        frozen = not (_writable(database.parent) and _writable(database))
        if frozen and log.exists() and log.stat().st_size:
            with tempfile.TemporaryDirectory(prefix="sdc-read-") as scratch:
                for part in (database, log):
                    shutil.copyfile(part, Path(scratch) / part.name)
                return _into_memory(Path(scratch) / database.name)
        query = "mode=ro&immutable=1" if frozen else "mode=ro"
        db = sqlite3.connect(
            f"{uri}?{query}",
            uri=True,
            timeout=60,
            isolation_level=None,
            check_same_thread=False,
        )
        settings = ["query_only=ON"]
    for setting in (*settings, "trusted_schema=OFF", "cell_size_check=ON"):
        db.execute(f"PRAGMA {setting}")
    return db


def _writable(path: Path) -> bool:
    return os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


def _into_memory(database: Path) -> sqlite3.Connection:
    memory = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    source = sqlite3.connect(database)
    source.backup(memory)
    source.close()
    return memory


def check_schema(db: sqlite3.Connection, path: Path) -> dict[str, Any]:
    """Read the run's facts; refuse a database that is damaged, newer, or holds anything besides its tables."""
    try:
        found = {
            name: sql
            for kind, name, sql in db.execute("SELECT type, name, sql FROM sqlite_master")
            if not (kind == "index" and sql is None)  # the primary keys' own indices
        }
        meta = {}
        if "meta" in found and found["meta"] == SCHEMA["meta"]:
            meta = {key: json.loads(value) for key, value in db.execute("SELECT key, value FROM meta")}
    except (sqlite3.DatabaseError, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise SDCError(f"{DATABASE} in {str(path)!r} cannot be read: {error}") from None
    version = meta.get("format")
    if not (isinstance(version, list) and len(version) == 2 and all(isinstance(n, int) for n in version)):
        raise SDCError(f"{DATABASE} in {str(path)!r} was not written by sdc")
    if version[0] > FORMAT[0]:
        raise SDCError(
            f"{str(path)!r} was written by a newer version of sdc-problems (format {version[0]});"
            f" this one reads up to format {FORMAT[0]}: upgrade sdc-problems"
        )
    if found != SCHEMA:
        extra = sorted(set(found) - set(SCHEMA)) or sorted(set(SCHEMA) - set(found)) or ["a changed table"]
        raise SDCError(f"{DATABASE} in {str(path)!r} is not laid out as sdc lays it out ({extra[0]!r}): not opened")
    return meta


@contextmanager
def guarded(what: str) -> Iterator[None]:
    """Turn SQLite's failures into a sentence: what was not saved, and that the rest is safe."""
    try:
        yield
    except sqlite3.OperationalError as error:
        text = str(error)
        if "full" in text:
            way_out = "the disk is full: free some space"
        elif "readonly" in text or "unable to open" in text:
            way_out = "the folder cannot be written to: check its permissions"
        elif "locked" in text or "busy" in text:
            way_out = "another program keeps the database locked"
        else:
            way_out = text
        raise SDCFailure(f"{what} could not be saved ({way_out}); everything before it is safe") from None
    except sqlite3.DatabaseError as error:
        raise SDCFailure(f"{what} could not be saved: {error}") from None


class RunLock:
    """One process at a time works on a run; the lock dies with its process, however that ends."""

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
                f"cannot work in {str(self._path.parent)!r}: {error.strerror}; a run needs a folder it may write to"
            ) from None
        if not stat.S_ISREG(os.fstat(self._file.fileno()).st_mode) or not _patiently(self._file):
            self._file.seek(0)
            holder = self._file.read(64).strip()
            self._file.close()
            raise SDCFailure(
                f"another process{f' ({holder})' if holder.isprintable() and holder else ''} is working on"
                f" {str(self._path.parent)!r}; wait for it, or look with `sdc status`"
            )
        handle = self._file.fileno()
        try:  # past Python's buffer, which would try again, and fail again, when the file is closed
            os.ftruncate(handle, 0)
            os.write(handle, f"process {os.getpid()}".encode())
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
    """Whether a process holds the run's lock (on Windows, where one cannot look, whether one wrote its number)."""
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
    """Try a few times: who only looks whether a run is worked on holds its lock for a moment."""
    for _ in range(5):
        if _try_lock(file):
            return True
        time.sleep(0.02)
    return False


def _try_lock(file: IO[str]) -> bool:
    if sys.platform == "win32":
        import msvcrt

        try:
            file.seek(1 << 20)  # beyond the text, which others read
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
