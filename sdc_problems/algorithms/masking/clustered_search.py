"""ClusteredSearch for large files: clusters of records, each searched on its own, on any number of workers."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.algorithm import Algorithm
from pymoo.core.population import Population
from pymoo.util.display.multi import MultiObjectiveOutput

from sdc_problems._slices import telling
from sdc_problems._validation import number, whole
from sdc_problems.algorithms.masking._clusters import ClusterSearches, divided
from sdc_problems.algorithms.masking._files import masking_only
from sdc_problems.algorithms.masking.cell_search import MOVES, BudgetSpent, CellSearch, Island
from sdc_problems.methods.partition._c_median import Rows, best_start
from sdc_problems.methods.partition._precluster import join_small
from sdc_problems.parallel import Backend, open_backend

AT_ONCE = 8
"""Fewest clusters in a generation; a constant, so that results do not depend on the number of workers."""
GENERATIONS = 20
"""Most generations, not counting the start and the end: each one measures the whole file."""
PER_CLUSTER, FEWEST, MOST = 1_000, 8, 200
"""Records per cluster, fewest and most clusters by default: c-median of more clusters takes longer than it is worth."""
MOST_MOVES = 1_000_000_000
"""Largest default number of moves for all clusters."""


class _Workers:
    """Workers of a search: opened when first needed and closed with it; copies share the same workers."""

    def __init__(self) -> None:
        self.backend: Backend | None = None

    def open(self, problem: ClusterSearches, workers: int, scheduler: str | None) -> Backend:
        if self.backend is None:
            self.backend = open_backend(problem, workers=workers, scheduler=scheduler)
            weakref.finalize(self, self.backend.close)
        return self.backend

    def close(self) -> None:
        if self.backend is not None:
            self.backend.forget()
            self.backend.close()
            self.backend = None

    def __deepcopy__(self, memo: object) -> _Workers:
        return self

    def __reduce__(self) -> tuple[type[_Workers], tuple[()]]:
        return _Workers, ()


class ClusteredSearch(Algorithm):
    """Search of a large file in clusters: c-median, then `CellSearch` in every cluster, on workers or on Dask.

    A generation searches eight clusters, or a twentieth of all, and puts the results into the file, which is
    measured as a whole; the last generation continues with the whole file. The same seed gives the same file with any
    number of workers; a lost worker costs only the time of its cluster.

    Parameters
    ----------
    clusters
        Number of clusters that c-median looks for; by default one for each thousand records, 8 to 200.
    smallest
        Fewest records in a cluster; a smaller one joins the cluster with the nearest centroid.
    largest
        Most records in a cluster; larger ones are divided at random into equal parts, so that time grows with the
        number of records and not with its square.
    restarts
        Number of starts of c-median, of which the cheapest result is kept.
    move_limit
        Number of changes to try, in all clusters together. By default 2,000 per cell of a numeric file and 4,000 of a
        categorical one, for each of the files that a cluster's search works on, but at most a billion.
    finish
        Share of the changes that are tried at the end, in the whole file, whose own balance of loss and risk and own
        copies then count instead of those of the clusters.
    weights
        Weights of the loss, as for `CellSearch`.
    workers
        Number of processes on this machine. By default, as many as the study or the evaluator uses.
    scheduler
        Address of a Dask scheduler. By default, that of the study or the evaluator.

    Attributes
    ----------
    labels
        Cluster of each record.

    Notes
    -----
    Pre-clustering is that of Marés (2013), chapter 5, for the search of its chapter 3. A cluster is searched as if it
    were the file: loss and risk are those inside it. Records stay near those they came from, which costs risk and keeps
    what a synthetic file loses (``record_change``). A change of a numeric file takes longer with more records, so that
    clusters save time even without workers; a change of a categorical file does not. Memory is that of the file, and of
    one cluster in each process.

    Examples
    --------
    >>> import pandas as pd
    >>> from pymoo.optimize import minimize
    >>> from sdc_problems import MaskingProblem, Microdata
    >>> frame = pd.DataFrame({"sex": list("fmfmffmm") * 15, "town": list("oorrvvoo") * 15})
    >>> data = Microdata.from_frame(frame, quasi_identifiers=["sex", "town"])
    >>> problem = MaskingProblem(data, objectives=("score_max",))
    >>> result = minimize(problem, ClusteredSearch(clusters=3, smallest=20, move_limit=100_000), seed=1)
    >>> bool(result.F[0] < problem.evaluate(problem.untouched)[0])
    True
    """

    pop: Any
    labels: NDArray[np.int32]

    def __init__(
        self,
        *,
        clusters: int | None = None,
        smallest: int = 100,
        largest: int = 2_000,
        restarts: int = 5,
        move_limit: int | None = None,
        finish: float = 0.2,
        weights: Sequence[float] | None = None,
        workers: int | None = None,
        scheduler: str | None = None,
    ) -> None:
        super().__init__(termination=BudgetSpent(), output=MultiObjectiveOutput())
        self.clusters = None if clusters is None else whole(clusters, "clusters", least=1)
        self.smallest = whole(smallest, "smallest", least=10)
        self.largest = whole(largest, "largest", least=2 * self.smallest)
        self.restarts = whole(restarts, "restarts", least=1)
        self.move_limit = None if move_limit is None else whole(move_limit, "move_limit", least=1)
        self.finish = number(finish, "finish", low=0.0, high=1.0)
        self.weights = None if weights is None else tuple(number(w, "weights", low=0.0, high=1.0) for w in weights)
        self.workers = None if workers is None else whole(workers, "workers", least=1)
        self.scheduler = scheduler
        self._workers = _Workers()
        self._searches: ClusterSearches
        self._entropy = 0
        self._done = 0

    @property
    def progress(self) -> float:
        """Share of the generations that are done: those of clusters, and the one of the whole file."""
        return self._done / (self._n_clusters + 1) if hasattr(self, "_searches") else 0.0

    @property
    def _n_clusters(self) -> int:
        return int(self._searches.xu[0]) + 1

    def _setup(self, problem: Any, **kwargs: object) -> None:
        masking_only(problem, "ClusteredSearch")
        probe = CellSearch(weights=self.weights)
        probe.problem = problem
        probe._setup(problem)  # raises the error for a problem that it cannot search
        self._whole, self._aims = probe, len(probe._aims)

    def _initialize_infill(self) -> Any:
        assert self.random_state is not None
        self._entropy = int(self.random_state.integers(2**63))
        self._cluster()
        return self._population(np.tile(self.problem.untouched.astype(self.problem.dtype), (self._aims, 1)))

    def _cluster(self) -> None:
        """Cluster the records; all random numbers follow from one number."""
        problem = self.problem
        domains = None if problem.numeric else problem._all_tops + 1
        rows = Rows(problem.original(), kinds=problem.kinds, n_categories=domains)
        rng = np.random.default_rng([self._entropy, 0])
        n = len(problem.data)
        clusters = min(MOST, max(FEWEST, n // PER_CLUSTER)) if self.clusters is None else self.clusters
        found = best_start(
            rows, clusters, restarts=self.restarts, rng=rng, progress=telling("starts of clusters tried")
        )
        joined = join_small(rows, found.labels[rows.first], min(self.smallest, n), "nearest")
        self.labels = divided(joined[rows.of_record], self.largest, rng)
        moves = self.move_limit
        if moves is None:
            moves = min(MOVES[problem.numeric] * n * len(problem.free), MOST_MOVES) * self._aims
        self._finishing = round(self.finish * moves / self._aims)
        self._searches = ClusterSearches(
            problem, self.labels, entropy=self._entropy, aims=self._aims,
            moves=moves - self._finishing * self._aims, weights=self.weights,
        )  # fmt: skip

    def _infill(self) -> Any:
        files = self.pop.get("X").reshape(self._aims, len(self.labels), -1).copy()
        if self._done == self._n_clusters:
            self._workers.close()
            self._done += 1
            return self._population(np.stack([self._finished(e, row) for e, row in enumerate(self.pop.get("X"))]))
        together = max(AT_ONCE, -(-self._n_clusters // GENERATIONS))
        these = np.arange(self._done, min(self._done + together, self._n_clusters))
        found = self._backend().evaluate(these[:, None].astype(float))["F"]
        for cluster, row in zip(these.tolist(), found, strict=True):
            files[:, self._searches.records(cluster)] = self._searches.files(cluster, row)
        self._done += len(these)
        return self._population(files.reshape(self._aims, -1))

    def _finished(self, e: int, row: NDArray[Any]) -> NDArray[Any]:
        """File after some more changes, made in the whole file."""
        problem, whole_file = self.problem, self._whole
        seed = np.random.SeedSequence([self._entropy, self._n_clusters, e])
        state = problem.engine.open(problem.cells(row))
        island = Island(state, whole_file._aims[e], int(seed.generate_state(1, np.uint64)[0]) | 1)
        island.aim[3] = problem.engine.prl(state.codes)
        if self._finishing:
            whole_file._walk(island, self._finishing, False, 1.0, 1.0)
        codes: NDArray[Any] = island.state.codes[:, list(problem.free)].ravel()
        return codes

    def _population(self, rows: NDArray[Any]) -> Any:
        return Population.new("X", rows.astype(self.problem.dtype))

    def _backend(self) -> Backend:
        measuring = getattr(self.evaluator, "backend", None)
        workers, scheduler = self.workers, self.scheduler
        if scheduler is None and workers is None and measuring is not None:
            scheduler = measuring.scheduler
        if workers is None:
            workers = int(getattr(measuring, "workers", 1)) if scheduler is None else 1
        return self._workers.open(self._searches, workers, scheduler)

    def _initialize_advance(self, infills: Any = None, **kwargs: object) -> None:
        self.pop = infills

    def _advance(self, infills: Any = None, **kwargs: object) -> None:
        self.pop = infills

    def checkpoint(self) -> dict[str, NDArray[Any]]:
        """Return the state from which a study can continue, together with the population."""
        return {"entropy": np.array([self._entropy], dtype=np.uint64), "done": np.array([self._done])}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue after the clusters that have been searched."""
        self._entropy, self._done = int(state["entropy"][0]), int(state["done"][0])
        self._cluster()
