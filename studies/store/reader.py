"""Reader of a run: fronts, histories, solutions and aggregates, during the run or long after.

It only reads, so that a page, a plot and a command can look at a run that another process is writing.
"""

from __future__ import annotations

import hashlib
import json
import math
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems.errors import SDCError, did_you_mean
from sdc_problems.studies.store.folder import check_folder
from sdc_problems.studies.store.hypervolume import Box, nondominated, shares
from sdc_problems.studies.store.schema import DATABASE, check_schema, open_database
from sdc_problems.studies.store.seal import check_baselines, check_facts_sealed, check_seed, check_seeds, is_sealed
from sdc_problems.studies.store.serializer import digest, unpack
from sdc_problems.studies.store.tables import Aggregates, Axis, History, SeedRecord, SeedState, Solutions
from sdc_problems.studies.store.writer import STORED, stored_generation

FloatArray = NDArray[np.float64]
BASELINE = "baseline-"
_ANYWHERE = ("title", "termination", "run")  # parts of a study that do not change any generation


class Run:
    """A run folder, read only.

    Parameters
    ----------
    folder
        The run folder, finished or not. A folder from a stranger is safe to open: nothing in it is executed.

    Attributes
    ----------
    path : Path
        The folder.
    meta : dict
        Facts fixed when the run began: ``study`` (the study with every default filled in), ``problem``, ``data``,
        ``versions``, ``created``.
    axes : tuple of Axis
        The objectives.
    seeds : tuple of int
        The seeds, in the order of the study.
    sealed : bool
        Whether its facts, seeds and baselines were checked against seals; runs of version 0.1.0 have none.

    Examples
    --------
    >>> Run("no such folder")
    Traceback (most recent call last):
        ...
    sdc_problems.errors.SDCError: there is no run folder 'no such folder'
    """

    def __init__(self, folder: str | Path) -> None:
        self.path = check_folder(Path(folder))
        self._lock = RLock()  # for the connection, which the threads of a server share
        self._records: dict[int, SeedRecord] = {}
        try:
            self._db = open_database(self.path / DATABASE)
            with self._snapshot():
                self.meta = check_schema(self._db, self.path)
                rows = self._db.execute("SELECT seed FROM seeds ORDER BY position").fetchall()
                self.sealed = is_sealed(self.meta)
                if self.sealed:
                    check_facts_sealed(self._db)
            self.axes = tuple(Axis.stored(o) for o in self.meta["problem"]["objectives"])
            self.n_var = int(self.meta["problem"]["n_var"])
            self.seeds = tuple(int(seed) for (seed,) in rows)
            if not self.seeds:
                raise SDCError(f"{DATABASE} in {str(folder)!r} is damaged: it contains no seeds")
            if self.sealed:
                check_seeds(self.meta, self.seeds)
        except (sqlite3.DatabaseError, KeyError, TypeError, ValueError) as error:
            if isinstance(error, SDCError):
                raise
            raise SDCError(f"{DATABASE} in {str(folder)!r} cannot be read: {error!r}") from None
        self._signs = np.array([1.0 if axis.sense == "min" else -1.0 for axis in self.axes])

    # -- state ----------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The folder's name."""
        return self.path.name

    @property
    def study(self) -> dict[str, Any]:
        """The study with every default filled in."""
        return dict(self.meta["study"])

    @property
    def label(self) -> str:
        """The study's title, or its algorithm."""
        study = self.meta["study"]
        return str(study.get("title") or study.get("algorithm", {}).get("name") or self.name)

    @property
    def original(self) -> FloatArray | None:
        """Objective values of the unprotected data, in natural units; None (or NaN) where they are not defined."""
        stored = self.meta["problem"].get("original")
        if stored is None:
            return None
        return np.array([math.nan if v is None else float(v) for v in stored])

    def progress(self) -> tuple[SeedState, ...]:
        """Progress of every seed."""
        last = {
            row[0]: row[1:]
            for row in self._rows(
                "SELECT g.seed, g.generation, g.evaluated, g.solutions, t.seconds, t.measuring, g.finished, g.chain"
                " FROM generations g JOIN (SELECT seed, MAX(generation) AS generation, SUM(seconds) AS seconds,"
                " SUM(measuring) AS measuring FROM generations GROUP BY seed) t"
                " ON g.seed = t.seed AND g.generation = t.generation"
            )
        }
        none = (0, 0, 0, 0.0, 0.0, "", "")
        return tuple(
            SeedState(seed, status, reason, *last.get(seed, none))
            for seed, status, reason in self._rows("SELECT seed, status, reason FROM seeds ORDER BY position")
        )

    @property
    def finished(self) -> bool:
        """Whether every seed is finished."""
        return all(state.status == "finished" for state in self.progress())

    def fingerprint(self) -> str:
        """Digest of a run's results and of what they mean: equal runs have equal fingerprints.

        It covers every seed's generations (by the last one's chained digest) and ending, the baselines, and the facts
        on data, problem, objectives, search and requirements; not the place, time or limits of the run.
        Whoever can write to the folder can make new seals, but cannot change a fingerprint that was noted elsewhere.
        """
        baselines = [(name, digest(unpack(a))) for name, a in self._rows("SELECT * FROM baselines ORDER BY name")]
        facts: list[Any] = [[[s.seed, s.generations, s.chain] for s in self.progress()], baselines]
        if self.sealed:
            facts.append([[s.status, s.reason] for s in self.progress()])
            counts = {key: value for key, value in self.meta["data"].items() if key not in ("file", "sha256")}
            study = {key: value for key, value in self.meta["study"].items() if key not in _ANYWHERE}
            study["data"] = {key: value for key, value in study.get("data", {}).items() if key != "file"}
            facts.append([counts, self.meta["problem"], study])
        return hashlib.sha256(json.dumps(facts, sort_keys=self.sealed).encode()).hexdigest()

    def verify(self) -> None:
        """Check every stored generation against its digest, which is chained to the one before, and the baselines."""
        for seed in self.seeds:
            self._record(seed)
        self.baselines(genomes=False)

    def sessions(self) -> list[dict[str, Any]]:
        """Sessions of the run: the time, versions and workers of its start and of every resume."""
        rows = self._rows("SELECT started, versions, workers FROM sessions ORDER BY session")
        try:
            return [{"started": s, "versions": dict(json.loads(v)), "workers": w} for s, v, w in rows]
        except (ValueError, TypeError, RecursionError):
            raise self._damaged("sessions.versions") from None

    # -- results --------------------------------------------------------------------------------------------------

    def solutions(self, seeds: Iterable[int] | None = None, *, genomes: bool = False) -> Solutions:
        """Everything that was measured, in the order of measurement, one seed after the other.

        Parameters
        ----------
        seeds
            Seeds to read; by default all.
        genomes
            Whether to read ``X`` as well (it may be large).
        """
        parts = []
        for seed in self._chosen(seeds):
            record = self._record(seed)
            F = record.objectives(len(self.axes))
            n = len(F)
            parts.append(
                Solutions(
                    ids=tuple(f"{seed}-{i}" for i in range(n)),
                    seeds=np.full(n, seed, dtype=np.int64),
                    generations=record.born(),
                    F=F,
                    values=F * self._signs,
                    feasible=record.feasibility(),
                    X=self._genomes(seed) if genomes else None,
                )
            )
        return Solutions.concatenate(parts, len(self.axes))

    def front(self, seed: int | None = None, *, genomes: bool = False) -> Solutions:
        """Feasible non-dominated solutions, of one seed or of all together; among equals, the first found.

        They are ordered by their objectives.
        """
        parts = []
        for s in self._chosen(None if seed is None else [seed]):
            record = self._record(s)
            if record.fronts:
                numbers = record.fronts[-1]
                parts.append(self._pick(s, numbers, genomes=genomes))
        together = Solutions.concatenate(parts, len(self.axes))
        together = together.take(nondominated(together.F))
        return together.take(np.lexsort(together.F.T[::-1]))

    def population(self, seed: int, generation: int | None = None, *, genomes: bool = False) -> Solutions:
        """The algorithm's population at the end of a generation (the last one if none is named)."""
        return self._pick(seed, self._set_of("population", seed, generation), genomes=genomes)

    def archive(self, seed: int, generation: int | None = None, *, genomes: bool = False) -> Solutions:
        """The algorithm's own archive, or the front for an algorithm without one."""
        return self._pick(seed, self._set_of("archive", seed, generation), genomes=genomes)

    def baselines(self, *, genomes: bool = True) -> Solutions:
        """Solutions that need no search; their ids are ``baseline-<name>``."""
        with self._snapshot():
            if self.sealed:
                check_baselines(self._db)
            rows = [(name, unpack(a)) for name, a in self._rows("SELECT name, arrays FROM baselines ORDER BY rowid")]
        n, m = len(rows), len(self.axes)
        shapes = {"X": (1, self.n_var), "F": (1, m)}
        if any(key not in a or a[key].shape != shape for _, a in rows for key, shape in shapes.items()):
            raise self._damaged("baselines.arrays")
        F = np.vstack([a["F"] for _, a in rows]) if rows else np.zeros((0, m))
        minus = np.full(n, -1, dtype=np.int64)
        X = np.vstack([a["X"] for _, a in rows]) if rows and genomes else None
        return Solutions(
            tuple(f"{BASELINE}{name}" for name, _ in rows), minus, minus, F, F * self._signs,
            np.ones(n, dtype=bool), X,
        )  # fmt: skip

    def solution(self, ident: str) -> Solutions:
        """One solution with its genome, by id: ``1-17`` (seed and number) or ``baseline-<name>``."""
        if ident.startswith(BASELINE):
            known = self.baselines()
            if ident in known.ids:
                return known.take(np.array([known.ids.index(ident)]))
            hint = did_you_mean(ident, known.ids)
            raise SDCError(f"no solution {ident!r} in {self.name!r}{hint} (known: {', '.join(known.ids) or 'none'})")
        seed, _, number = ident.partition("-")
        ident = ident if len(ident) <= 60 else f"{ident[:59]}…"
        if not (seed.isascii() and seed.isdigit() and number.isascii() and number.isdigit()):
            raise SDCError(f"a solution's id is like 1-17 (seed and number) or {BASELINE}<name>, not {ident!r}")
        if len(seed) > 19 or int(seed) not in self.seeds:
            raise SDCError(f"no solution {ident!r}: the seeds are {', '.join(map(str, self.seeds))}")
        count = len(self._record(int(seed)).objectives(len(self.axes)))
        if len(number) > 18 or int(number) >= count:  # Python refuses to read thousands of digits
            raise SDCError(f"no solution {ident!r}: seed {seed} has {count} solutions so far, counted from 0")
        return self._pick(int(seed), np.array([int(number)]), genomes=True)

    # -- history --------------------------------------------------------------------------------------------------

    def box(self) -> Box | None:
        """Box for the hypervolume: reference point at the worst of the baselines and first generations."""
        starts, best = [], []
        for seed in self.seeds:
            record = self._record(seed)
            if record.F:
                starts.append(record.F[0])
                best.append(record.objectives(len(self.axes))[record.fronts[-1]])
        baselines = self.baselines(genomes=False).F
        if len(baselines):
            starts.append(baselines)
        return Box.around(starts, best) if starts else None

    def history(self, seed: int, box: Box | None = None) -> History:
        """Progress of a seed over its generations; hypervolume as a share of ``box`` (default: ``self.box()``)."""
        record = self._record(seed)
        box = box or self.box()
        F = record.objectives(len(self.axes))
        return History(
            seed=seed,
            generation=np.array(record.generation, dtype=np.int64),
            evaluated=np.array(record.evaluated, dtype=np.int64),
            solutions=np.array(record.solutions, dtype=np.int64),
            front_size=np.array([len(front) for front in record.fronts], dtype=np.int64),
            hypervolume=shares([F[front] for front in record.fronts], box) if box else np.zeros(0),
            seconds=np.array(record.seconds),
            measuring=np.array(record.measuring),
        )

    def aggregates(self, box: Box | None = None, *, points: int = 200) -> Aggregates:
        """Hypervolume over all seeds at equal numbers of evaluations, as far as every seed that has begun."""
        box = box or self.box()
        histories = [h for h in (self.history(s, box) for s in self.seeds) if len(h.generation)]
        if not histories:
            return Aggregates(np.zeros(0, dtype=np.int64), np.zeros((5, 0)), 0)
        start = max(int(h.evaluated[0]) for h in histories)
        end = max(start, min(int(h.evaluated[-1]) for h in histories))
        grid = np.unique(np.linspace(start, end, points).astype(np.int64))
        curves = np.vstack(
            [h.hypervolume[np.maximum(np.searchsorted(h.evaluated, grid, side="right") - 1, 0)] for h in histories]
        )
        return Aggregates(grid, np.quantile(curves, [0, 0.25, 0.5, 0.75, 1], axis=0), len(histories))

    # -- closing --------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Close the database."""
        self._db.close()

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Run {self.name!r}: {len(self.seeds)} seeds, objectives ({', '.join(a.name for a in self.axes)})>"

    # -- internal -------------------------------------------------------------------------------------------------

    @contextmanager
    def _snapshot(self) -> Iterator[None]:
        """Consistent state of the database for a whole block, even if another process writes meanwhile."""
        with self._lock:
            try:
                self._db.execute("BEGIN")
                try:
                    yield
                finally:
                    if self._db.in_transaction:  # SQLite ends it on some errors
                        self._db.execute("ROLLBACK")
            except sqlite3.DatabaseError as error:
                raise SDCError(f"{DATABASE} in {str(self.path)!r} cannot be read: {error}") from None

    def _rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        with self._lock:
            try:
                return self._db.execute(sql, values).fetchall()
            except sqlite3.DatabaseError as error:
                raise SDCError(f"{DATABASE} in {str(self.path)!r} cannot be read: {error}") from None

    def _damaged(self, what: str) -> SDCError:
        return SDCError(f"{DATABASE} in {str(self.path)!r} is damaged: {what} is not valid")

    def _chosen(self, seeds: Iterable[int] | None) -> tuple[int, ...]:
        if seeds is None:
            return self.seeds
        chosen = tuple(seeds)
        for seed in chosen:
            if seed not in self.seeds:
                raise SDCError(f"no seed {seed} in {self.name!r} (seeds: {', '.join(map(str, self.seeds))})")
        return chosen

    def _record(self, seed: int) -> SeedRecord:
        """Record of a seed; generations added since the last call are read and verified now."""
        self._chosen([seed])
        with self._snapshot():
            record = self._records.setdefault(seed, SeedRecord())
            after = record.generation[-1] if record.generation else 0
            sql = f"{STORED} WHERE seed = ? AND generation > ? ORDER BY generation"
            for row in self._db.execute(sql, (seed, after)):
                record.add(stored_generation(seed, row), str(row[5]), len(self.axes))
            if self.sealed:
                check_seed(self._db, seed)
            return record

    def _pick(self, seed: int, numbers: NDArray[Any], *, genomes: bool) -> Solutions:
        record = self._record(seed)
        F = record.objectives(len(self.axes))
        if len(numbers) and not (0 <= int(numbers.min()) and int(numbers.max()) < len(F)):
            raise SDCError(
                f"{DATABASE} in {str(self.path)!r} is damaged: it refers to a solution that it does not contain"
            )
        return Solutions(
            ids=tuple(f"{seed}-{int(i)}" for i in numbers),
            seeds=np.full(len(numbers), seed, dtype=np.int64),
            generations=record.born()[numbers],
            F=F[numbers],
            values=F[numbers] * self._signs,
            feasible=record.feasibility()[numbers],
            X=self._some_genomes(seed, numbers, record) if genomes else None,
        )

    def _set_of(self, name: str, seed: int, generation: int | None) -> NDArray[Any]:
        self._chosen([seed])
        sql = "SELECT arrays FROM generations WHERE seed = ? AND (generation = ? OR ? IS NULL)"
        rows = self._rows(f"{sql} ORDER BY generation DESC LIMIT 1", (seed, generation, generation))
        if not rows:
            if generation is None:
                return np.zeros(0, dtype=np.int64)
            raise SDCError(f"seed {seed} of {self.name!r} has no generation {generation}")
        arrays = unpack(rows[0][0])
        return arrays.get(name, arrays.get("front", np.zeros(0, dtype=np.int64)))

    def _genomes(self, seed: int) -> NDArray[Any]:
        rows = self._rows("SELECT arrays FROM generations WHERE seed = ? ORDER BY generation", (seed,))
        blocks = [unpack(blob)["X"] for (blob,) in rows]
        return np.vstack(blocks) if blocks else np.zeros((0, self.n_var), dtype=self.meta["problem"]["dtype"])

    def _some_genomes(self, seed: int, numbers: NDArray[Any], record: SeedRecord) -> NDArray[Any]:
        """Genomes of a few solutions: only the generations in which they were measured are read."""
        rows: list[NDArray[Any]] = [np.zeros(0)] * len(numbers)
        born = record.born()
        first = {g: (record.solutions[i - 1] if i else 0) for i, g in enumerate(record.generation)}
        for generation in np.unique(born[numbers]):
            sql = "SELECT arrays FROM generations WHERE seed = ? AND generation = ?"
            X = unpack(self._rows(sql, (seed, int(generation)))[0][0])["X"]
            for i in np.flatnonzero(born[numbers] == generation):
                rows[int(i)] = X[int(numbers[i]) - first[int(generation)]]
        if not rows:
            return np.zeros((0, self.n_var), dtype=self.meta["problem"]["dtype"])
        return np.vstack(rows)
