"""Seals of a run: digests of its facts, of each seed's last state, and of the baselines.

Chained digests detect a changed generation, but not that the last generations were removed; nor do they cover
the facts that give the numbers their meaning: data, study, objectives and their senses.

Seals protect against accidents and casual edits. They have no key: whoever can write to the folder and knows this
module can make new ones. The run then has another fingerprint. The fingerprint is printed at the end of a run, by
``status``, and in every certificate, and should be compared with one that was noted elsewhere.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

from sdc_problems.errors import SDCError
from sdc_problems.studies.store.serializer import digest, unpack

SEALED = (1, 2)
"""First format in which all that is shown and released is sealed. (1.1 was never published.)"""
_UNSEALED = "0.1."  # earlier published versions
_SEAL = "seal-"
_FACTS = "seal-facts"
_BASELINES = "seal-baselines"
_SEED = "seal-seed-"


def is_sealed(meta: Mapping[str, Any]) -> bool:
    """Whether a run has seals; a run of an older version must have nothing that came with them."""
    if tuple(meta["format"]) >= SEALED:
        return True
    newer = any(key.startswith(_SEAL) for key in meta) or any("meaning" in o for o in meta["problem"]["objectives"])
    later = not str(meta["versions"].get("sdc-problems")).startswith(_UNSEALED)
    if newer or later or "dropped" in meta["data"]:
        raise SDCError(
            f"it has format {'.'.join(map(str, meta['format']))}, but contains parts that this format does"
            " not have; the"
            " run's database was changed or damaged, and nothing is taken from it"
        )
    return False


def seal_facts(db: sqlite3.Connection) -> None:
    """Seal the run's facts and sessions in their current state, in the transaction that changes them."""
    _put(db, _FACTS, _facts(db))


def seal_seed(db: sqlite3.Connection, seed: int) -> None:
    """Seal a seed in its current state, in the transaction that changes it."""
    _put(db, f"{_SEED}{seed}", _seed(db, seed))


def seal_baselines(db: sqlite3.Connection) -> None:
    """Seal the baselines in their current state, in the transaction that adds them."""
    _put(db, _BASELINES, _baselines(db))


def check_facts_sealed(db: sqlite3.Connection) -> None:
    """Refuse facts that have changed since they were stored."""
    if _kept(db, _FACTS) != _facts(db):
        raise SDCError(
            "its data, study, objectives, versions or sessions differ from what was stored; the run's"
            " database was changed or damaged, and nothing is taken from it"
        )


def check_seed(db: sqlite3.Connection, seed: int) -> None:
    """Refuse a seed whose last generation, state or ending has changed since it was stored."""
    if _kept(db, f"{_SEED}{seed}") != _seed(db, seed):
        raise SDCError(
            f"seed {seed}: its last generation, state or ending differs from what was stored; the run's"
            " database was changed or damaged, and nothing is taken from it"
        )


def check_baselines(db: sqlite3.Connection) -> None:
    """Refuse baselines that have changed since they were stored."""
    if _kept(db, _BASELINES) != _baselines(db):
        raise SDCError(
            "the baselines differ from what was stored; the run's database was changed or damaged, so nothing is"
            " read from it"
        )


def check_seeds(meta: Mapping[str, Any], seeds: Iterable[int]) -> None:
    """Refuse a run with a missing or an added seed."""
    if {key for key in meta if key.startswith(_SEED)} != {f"{_SEED}{seed}" for seed in seeds}:
        raise SDCError("the seeds differ from what was stored; the run's database was changed or damaged")


def _facts(db: sqlite3.Connection) -> str:
    facts = db.execute("SELECT key, value FROM meta ORDER BY key").fetchall()
    sessions = db.execute("SELECT * FROM sessions ORDER BY session").fetchall()
    return _digest([[fact for fact in facts if not str(fact[0]).startswith(_SEAL)], sessions])


def _seed(db: sqlite3.Connection, seed: int) -> str:
    ending = db.execute("SELECT position, status, reason FROM seeds WHERE seed = ?", (seed,)).fetchone()
    sql = "SELECT generation, chain FROM generations WHERE seed = ? ORDER BY generation DESC LIMIT 1"
    state = db.execute("SELECT generation, digest FROM states WHERE seed = ?", (seed,)).fetchone()
    return _digest([seed, ending, db.execute(sql, (seed,)).fetchone(), state])


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
