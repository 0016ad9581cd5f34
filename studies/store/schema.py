"""Schema and connection of a run's database, ``run.sqlite``; a database that sdc did not write is refused."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sdc_problems.errors import SDCError, SDCFailure
from sdc_problems.studies.store._checks import check_facts, wrong_column

DATABASE = "run.sqlite"
FORMAT = (1, 2)  # a newer minor version can be read, a newer major version is refused; 1.2: what objectives mean, seals

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


@contextmanager
def connection(database: Path, *, write: bool = False) -> Iterator[sqlite3.Connection]:
    """Connection to a run's database for one block."""
    db = open_database(database, write=write)
    try:
        yield db
    finally:
        db.close()


def open_database(database: Path, *, write: bool = False) -> sqlite3.Connection:
    """Open a run's database: nothing in its schema is trusted, and a reader never needs to write.

    A writer uses a write-ahead log: readers see the last complete generation during a run, and after a crash of the
    process the log is complete. In a folder that it may not write to, a reader reads the file in its current state, or
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
    """Read the run's facts; refuse a database that is damaged, newer, or holds anything but its tables."""
    try:
        found = {
            name: sql
            for kind, name, sql in db.execute("SELECT type, name, sql FROM sqlite_master")
            if not (kind == "index" and sql is None)  # except indices of primary keys
        }
        meta = {}
        if "meta" in found and found["meta"] == SCHEMA["meta"]:
            meta = {key: json.loads(value) for key, value in db.execute("SELECT key, value FROM meta")}
    except (sqlite3.DatabaseError, ValueError, RecursionError) as error:
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
        raise SDCError(f"{DATABASE} in {str(path)!r} has an unexpected structure ({extra[0]!r}), so it is not opened")
    try:
        if (wrong := wrong_column(db)) is not None:
            raise SDCError(f"{wrong} contains values that sdc never writes")
        check_facts(meta)
    except (SDCError, sqlite3.DatabaseError) as error:
        raise SDCError(f"{DATABASE} in {str(path)!r} is damaged: {error}") from None
    return meta


@contextmanager
def guarded(what: str) -> Iterator[None]:
    """Turn failures of SQLite into a sentence: what was not saved, and that everything else is safe."""
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
