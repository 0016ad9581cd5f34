"""Writer of a run: every generation is one transaction, with a digest that is chained to the one before."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from sdc_problems.errors import SDCError, SDCFailure
from sdc_problems.studies.store.lock import RunLock
from sdc_problems.studies.store.schema import DATABASE, check_schema, connection, guarded, open_database
from sdc_problems.studies.store.seal import seal_baselines, seal_facts, seal_seed
from sdc_problems.studies.store.serializer import digest, pack, unpack

BEGINNING = "0" * 64


@dataclass(frozen=True)
class Generation:
    """Generation of a seed in the form in which it is stored.

    Parameters
    ----------
    seed, number
        The seed and the generation's number, from 1.
    evaluated
        Number of candidates that the algorithm has requested so far.
    solutions
        Number of different solutions measured so far; they are numbered from 0 in the order of measurement.
    rng
        State of the algorithm's random generator, as JSON with sorted keys.
    arrays
        ``X``, ``F`` (and ``G``, ``H`` if the problem has constraints) of the solutions that are new in this generation;
        ``calls`` and ``call_sizes``: the numbers of the solutions in every evaluation, in order; ``population``,
        ``front`` and, for an algorithm with an archive, ``archive``: numbers of solutions at the generation's end.
    seconds, measuring
        Time of the generation, and the part of it that was spent measuring. Times are not a part of the digest.
    state
        State of an algorithm that is restored instead of replayed (see ``studies.run.checkpoint``); only the last one
        of a seed is kept.
    """

    seed: int
    number: int
    evaluated: int
    solutions: int
    rng: str
    arrays: Mapping[str, NDArray[Any]]
    seconds: float = field(default=0.0, compare=False)
    measuring: float = field(default=0.0, compare=False)
    state: Mapping[str, NDArray[Any]] | None = None

    def chain(self, previous: str) -> str:
        """Digest of this generation and, through ``previous``, of all before it.

        The state is left out: it is kept only for the last generation, and has its own digest.
        """
        facts = json.dumps([previous, self.seed, self.number, self.evaluated, self.solutions, self.rng])
        return hashlib.sha256(f"{facts}{digest(self.arrays)}".encode()).hexdigest()


def check_stored(stored: Generation, expected: str, previous: str) -> None:
    """Refuse a generation that does not match the digest stored with it."""
    if stored.chain(previous) != expected:
        raise SDCError(
            f"seed {stored.seed}, generation {stored.number}: the stored values do not have the digest that was stored"
            " with it; the run's database was changed or damaged, so nothing is read from it"
        )


def now() -> str:
    """Current time in UTC, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


STORED = "SELECT generation, evaluated, solutions, rng, arrays, chain, seconds, measuring FROM generations"


def stored_generation(seed: int, row: Sequence[Any]) -> Generation:
    """Generation from a row of ``STORED``."""
    number, evaluated, solutions, rng, arrays, _, seconds, measuring = row
    return Generation(seed, number, evaluated, solutions, rng, unpack(arrays), seconds, measuring)


def state_digest(state: Mapping[str, NDArray[Any]], chain: str) -> str:
    """Digest of a state and of all generations that led to it."""
    return hashlib.sha256(f"{chain}{digest(state)}".encode()).hexdigest()


class RunWriter:
    """Writer of a run: every generation in one transaction.

    Parameters
    ----------
    folder
        The run folder.
    token
        The lock's token: a process that lost its lock to another one (its machine was suspended, its parent died)
        finds another token in the database, and stops before it writes.
    """

    def __init__(self, folder: Path, token: str) -> None:
        with connection(folder / DATABASE) as db:
            check_schema(db, folder)
        self.folder = folder
        self.token = token
        self._db = open_database(folder / DATABASE, write=True)

    @classmethod
    def take(cls, folder: Path, lock: RunLock, *, versions: Mapping[str, str], workers: str) -> RunWriter:
        """Begin a session: from now on, only holders of this lock's token can write."""
        with guarded("the beginning of the session"):
            writer = cls(folder, lock.token)
            with writer._transaction(fenced=False):
                writer._db.execute(
                    "INSERT INTO sessions (token, started, versions, workers) VALUES (?, ?, ?, ?)",
                    (lock.token, now(), json.dumps(dict(versions)), workers),
                )
                seal_facts(writer._db)
        return writer

    def append(self, generation: Generation, previous: str) -> str:
        """Write one generation; return its chain digest."""
        chain = generation.chain(previous)
        arrays = pack(generation.arrays)
        state = None if generation.state is None else pack(generation.state)
        with guarded(f"generation {generation.number} of seed {generation.seed}"), self._transaction():
            self._db.execute(
                "INSERT INTO generations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    generation.seed, generation.number, generation.evaluated, generation.solutions, generation.rng,
                    arrays, chain, generation.seconds, generation.measuring, now(),
                ),
            )  # fmt: skip
            if state is not None:
                self._db.execute(
                    "INSERT OR REPLACE INTO states VALUES (?, ?, ?, ?)",
                    (generation.seed, generation.number, state, state_digest(generation.state or {}, chain)),
                )
            seal_seed(self._db, generation.seed)
        return chain

    def mark(self, seed: int, status: str, reason: str = "") -> None:
        """Set a seed's status: ``waiting``, ``running``, or ``finished`` with the reason."""
        with guarded(f"the end of seed {seed}"), self._transaction():
            self._db.execute("UPDATE seeds SET status = ?, reason = ? WHERE seed = ?", (status, reason, seed))
            seal_seed(self._db, seed)

    def revise(self, study: Mapping[str, Any]) -> None:
        """Store a study whose limits, requirements, title or seeds have changed."""
        with guarded("the changed study"), self._transaction():
            self._db.execute("UPDATE meta SET value = ? WHERE key = 'study'", (json.dumps(study),))
            seal_facts(self._db)

    def add_seeds(self, seeds: Sequence[int]) -> None:
        """Add seeds after the others."""
        if not seeds:
            return
        with guarded("the new seeds"), self._transaction():
            (last,) = self._db.execute("SELECT MAX(position) FROM seeds").fetchone()
            rows = [(seed, last + 1 + i) for i, seed in enumerate(seeds)]
            self._db.executemany("INSERT INTO seeds VALUES (?, ?, 'waiting', '')", rows)
            for seed in seeds:
                seal_seed(self._db, seed)

    def add_baselines(self, baselines: Mapping[str, Mapping[str, NDArray[Any]]]) -> None:
        """Store the solutions that need no search, with their measures."""
        with guarded("the baselines"), self._transaction():
            self._db.executemany(
                "INSERT OR REPLACE INTO baselines VALUES (?, ?)", [(n, pack(a)) for n, a in baselines.items()]
            )
            seal_baselines(self._db)

    def generations(self, seed: int) -> Iterator[tuple[Generation, str]]:
        """Stored generations of a seed with their chain digests, one after the other."""
        for row in self._db.execute(f"{STORED} WHERE seed = ? ORDER BY generation", (seed,)):
            yield stored_generation(seed, row), row[5]

    def last(self, seed: int) -> Generation | None:
        """Last stored generation of a seed."""
        row = self._db.execute(f"{STORED} WHERE seed = ? ORDER BY generation DESC LIMIT 1", (seed,)).fetchone()
        return None if row is None else stored_generation(seed, row)

    def state(self, seed: int, generation: int, chain: str) -> dict[str, NDArray[Any]] | None:
        """Return the algorithm's own state at the end of a seed's last generation, if it has one."""
        row = self._db.execute("SELECT generation, arrays, digest FROM states WHERE seed = ?", (seed,)).fetchone()
        if row is None:
            return None
        arrays = unpack(row[1])
        if row[0] != generation or row[2] != state_digest(arrays, chain):
            raise SDCError(
                f"seed {seed}: the stored state of the search is not that of generation"
                f" {generation}; the run's database was changed or damaged, so it cannot be continued"
            )
        return arrays

    def status(self, seed: int) -> str:
        """Whether a seed is waiting, running or finished."""
        (status,) = self._db.execute("SELECT status FROM seeds WHERE seed = ?", (seed,)).fetchone()
        return str(status)

    def close(self) -> None:
        """Close; when the last connection is closed, a single file remains."""
        self._db.close()

    def __enter__(self) -> RunWriter:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _transaction(self, *, fenced: bool = True) -> _Transaction:
        return _Transaction(self._db, self.token if fenced else None)


class _Transaction:
    def __init__(self, db: sqlite3.Connection, token: str | None) -> None:
        self._db = db
        self._token = token

    def __enter__(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")
        if self._token is None:
            return
        row = self._db.execute("SELECT token FROM sessions ORDER BY session DESC LIMIT 1").fetchone()
        if row is None or row[0] != self._token:
            self._db.execute("ROLLBACK")
            raise SDCFailure("another process has taken over this run: this process stops writing")

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is None:
            try:
                self._db.execute("COMMIT")
            except sqlite3.Error:
                self._rollback()
                raise
        else:
            self._rollback()

    def _rollback(self) -> None:
        if self._db.in_transaction:  # SQLite rolls back on some errors
            self._db.execute("ROLLBACK")
