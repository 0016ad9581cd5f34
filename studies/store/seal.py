"""Seals of a run: digests of how far each seed came, and of the baselines.

Chained digests notice a generation that was changed; that the last ones were cut off, they do not.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

from sdc_problems.errors import SDCError
from sdc_problems.studies.store.serializer import digest, unpack

SEALED = (1, 1)
"""First format with seals."""
_BASELINES = "seal-baselines"
_SEED = "seal-seed-"


def seal_seed(db: sqlite3.Connection, seed: int) -> None:
    """Seal a seed as it stands; in the transaction that changes it."""
    _put(db, f"{_SEED}{seed}", _seed(db, seed))


def seal_baselines(db: sqlite3.Connection) -> None:
    """Seal the baselines as they stand; in the transaction that adds them."""
    _put(db, _BASELINES, _baselines(db))


def check_seed(db: sqlite3.Connection, seed: int) -> None:
    """Refuse a seed whose last generation, state or ending is not as it was stored."""
    if _kept(db, f"{_SEED}{seed}") != _seed(db, seed):
        raise SDCError(
            f"seed {seed}: its last generation, its state or its ending is not the one that was stored; the run's"
            " database was changed or damaged, and nothing is taken from it"
        )


def check_baselines(db: sqlite3.Connection) -> None:
    """Refuse baselines that are not as they were stored."""
    if _kept(db, _BASELINES) != _baselines(db):
        raise SDCError(
            "the baselines are not the ones that were stored; the run's database was changed or damaged, and nothing is"
            " taken from it"
        )


def check_seeds(meta: Mapping[str, Any], seeds: Iterable[int]) -> None:
    """Refuse a run that has lost a seed, or that got one from elsewhere."""
    if {key for key in meta if key.startswith(_SEED)} != {f"{_SEED}{seed}" for seed in seeds}:
        raise SDCError("the seeds are not the ones that were stored; the run's database was changed or damaged")


def _seed(db: sqlite3.Connection, seed: int) -> str:
    ending = db.execute("SELECT status, reason FROM seeds WHERE seed = ?", (seed,)).fetchone()
    sql = "SELECT generation, chain FROM generations WHERE seed = ? ORDER BY generation DESC LIMIT 1"
    return _digest([seed, ending, db.execute(sql, (seed,)).fetchone()])


def _baselines(db: sqlite3.Connection) -> str:
    rows = db.execute("SELECT name, arrays FROM baselines ORDER BY rowid")
    return _digest([(name, digest(unpack(arrays))) for name, arrays in rows])


def _digest(facts: Any) -> str:
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


def _put(db: sqlite3.Connection, key: str, value: str) -> None:
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, json.dumps(value)))


def _kept(db: sqlite3.Connection, key: str) -> Any:
    row = db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return None if row is None else json.loads(row[0])
