"""A small problem with real trade-offs, and runs made with it."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import ArrayLike, NDArray
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.operators.crossover.ux import UniformCrossover
from pymoo.operators.mutation.rm import ChoiceRandomMutation
from pymoo.operators.sampling.rnd import IntegerRandomSampling

from sdc_problems import Objective, SDCProblem
from sdc_problems.parallel import Serial
from sdc_problems.studies.cli import main
from sdc_problems.studies.release.row_order import read_rows
from sdc_problems.studies.run.limits import Limits
from sdc_problems.studies.run.seed import Ending, search
from sdc_problems.studies.store.folder import create_folder
from sdc_problems.studies.store.lock import RunLock
from sdc_problems.studies.store.reader import Run
from sdc_problems.studies.store.schema import DATABASE, FORMAT, connection
from sdc_problems.studies.store.writer import RunWriter


class Knapsack(SDCProblem):
    """Value against weight of a multiset of items: nothing to do with microdata, which the store never looks at."""

    def __init__(self, n_var: int = 12, *, levels: int = 6) -> None:
        super().__init__(
            data=None,  # type: ignore[arg-type]
            objectives=(
                Objective("value", "value of the items", "max", (0.0, float("inf"))),
                Objective("weight", "weight of the items", "min", unit="kg"),
            ),
            n_var=n_var,
            xl=0,
            xu=levels,
        )
        self.measured = 0

    def _compile(self) -> NDArray[np.float64]:
        return np.random.default_rng(5).random((self.n_var, 2))

    def _measure(self, X: NDArray[Any], names: Any) -> NDArray[np.float64]:
        self.measured += len(X)
        # Not a matrix product: BLAS rounds a row differently with the number of rows beside it.
        return (np.sqrt(X.astype(float))[:, :, None] * self.engine).sum(axis=1)

    def _operators(self) -> dict[str, Any]:
        return {
            "sampling": IntegerRandomSampling(),
            "crossover": UniformCrossover(),
            "mutation": ChoiceOfLevels(),
        }

    def decode(self, x: ArrayLike) -> Any:
        return tuple(self.genome(x).tolist())

    def figures(self, x: ArrayLike) -> dict[str, float]:
        values = self.natural(self.evaluate(np.asarray(x)))
        return {o.name: float(v) for o, v in zip(self.objectives, values, strict=True)}

    def describe(self, x: ArrayLike) -> tuple[str, ...]:
        return (f"{int(np.sum(np.asarray(x)))} items",)

    def release(self, x: ArrayLike, *, seed: int | None = None) -> Any:
        raise NotImplementedError

    def baselines(self) -> dict[str, NDArray[Any]]:
        return {"empty": np.zeros(self.n_var, dtype=self.dtype)}


class ChoiceOfLevels(ChoiceRandomMutation):
    def _do(self, problem: Any, X: NDArray[Any], *args: Any, random_state: Any, **kwargs: Any) -> NDArray[Any]:
        X = X.copy()
        hit = random_state.random(X.shape) < 1 / problem.n_var
        X[hit] = random_state.integers(0, problem.xu[0] + 1, size=int(hit.sum()))
        return X


META: dict[str, Any] = {
    "format": list(FORMAT),
    "created": "2026-01-01T00:00:00.000+00:00",
    "given": {},
    "folder": "",
    "versions": {"sdc-problems": "0"},
    "study": {"algorithm": {"name": "NSGA2"}, "problem": {"task": "knapsack"}},
    "data": {"digest": "", "records": 0, "columns": 0, "file": None, "sha256": None},
    "problem": {
        "n_var": 12,
        "dtype": "int16",
        "objectives": [
            {"name": "value", "label": "value of the items", "sense": "max", "bounds": [0, None], "unit": ""},
            {"name": "weight", "label": "weight of the items", "sense": "min", "bounds": [0, None], "unit": "kg"},
        ],
    },
}


class Workshop:
    """Makes run folders and works on them, all in this process."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def create(self, name: str, seeds: tuple[int, ...] = (1,), **meta: dict[str, Any]) -> Path:
        facts = {**META, **{key: {**META[key], **changed} for key, changed in meta.items()}}
        return create_folder(self.root / name, "title = 'x'\n", facts, list(seeds))

    def stored(self, folder: Path, seed: int) -> int:
        """Generations of a seed."""
        with connection(folder / DATABASE) as db:
            (count,) = db.execute("SELECT COUNT(*) FROM generations WHERE seed = ?", (seed,)).fetchone()
        return int(count)

    def work(
        self,
        folder: Path,
        *,
        seed: int = 1,
        limits: Limits | None = None,
        stop_after: int | None = None,
        algorithm: Any = None,
        problem: SDCProblem | None = None,
        pages: int | None = None,
        rounded: bool = False,
        ends: bool = False,
    ) -> Ending:
        """A session that stops after so many new generations."""
        problem = problem or Knapsack()
        algorithm = algorithm or NSGA2(pop_size=10, **problem.operators())
        before = self.stored(folder, seed)

        def stop() -> bool:
            return stop_after is not None and self.stored(folder, seed) - before >= stop_after

        with RunLock(folder) as lock, RunWriter.take(folder, lock, versions={}, workers="1") as writer:
            if pages is not None:
                writer._db.execute(f"PRAGMA max_page_count = {pages}")
            return search(
                writer,
                seed=seed,
                problem=problem,
                algorithm=algorithm,
                limits=limits or Limits(generations=12),
                backend=Serial(problem),
                rounded=rounded,
                ends=ends,
                stop=stop,
            )


@dataclass(frozen=True)
class Said:
    """What a command said and how it ended."""

    code: int
    out: str
    err: str


@pytest.fixture
def sdc(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Said]:
    """``sdc("run", study, code=0)``: the command line in this process, as ``main`` runs it."""

    def run(*arguments: object, code: int = 0) -> Said:
        monkeypatch.setattr("sys.argv", ["sdc", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as end:
            main()
        said = capsys.readouterr()
        number = end.value.code if isinstance(end.value.code, int) else 0
        assert number == code, f"exit code {number}\n{said.out}\n{said.err}"
        return Said(number, said.out, said.err)

    return run


@pytest.fixture
def in_order() -> Callable[..., pd.DataFrame]:
    """``in_order(out)``: the cells of a released file, its rows in the order of the original."""

    def read(out: Path, **options: Any) -> pd.DataFrame:
        order = np.argsort(read_rows(out.with_name(f"{out.name}.rows.csv"), out))
        return pd.read_csv(out, **options).iloc[order].reset_index(drop=True)

    return read


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


@pytest.fixture
def knapsack() -> Callable[..., Knapsack]:
    return Knapsack


@pytest.fixture
def nobody() -> Callable[[Path], AbstractContextManager[None]]:
    """``with nobody(folder)``: root may write anywhere, so tests that run as root go on as a user without rights."""

    @contextmanager
    def become(folder: Path) -> Iterator[None]:
        if os.getuid() != 0:
            yield
            return
        for parent in (folder, *folder.parents):
            if parent == Path(tempfile.gettempdir()):  # above it, everyone may pass
                break
            parent.chmod(0o755)
        os.seteuid(65534)
        try:
            yield
        finally:
            os.seteuid(0)

    return become


@pytest.fixture
def content() -> Callable[[Path], dict[str, Any]]:
    """Everything a run's database holds, except for the clock and the sessions."""

    def read(folder: Path) -> dict[str, Any]:
        import sqlite3

        db = sqlite3.connect(folder / "run.sqlite")
        try:
            return {
                "seeds": db.execute("SELECT * FROM seeds ORDER BY seed").fetchall(),
                "generations": db.execute(
                    "SELECT seed, generation, evaluated, solutions, rng, arrays, chain FROM generations"
                    " ORDER BY seed, generation"
                ).fetchall(),
                "baselines": db.execute("SELECT * FROM baselines ORDER BY name").fetchall(),
                "states": db.execute("SELECT * FROM states ORDER BY seed").fetchall(),
            }
        finally:
            db.close()

    return read


@pytest.fixture
def opened() -> Iterator[Callable[[Path], Run]]:
    runs: list[Run] = []

    def open_(folder: Path) -> Run:
        runs.append(Run(folder))
        return runs[-1]

    yield open_
    for run in runs:
        run.close()
