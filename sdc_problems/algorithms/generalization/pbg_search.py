"""PBGSearch: the minimal generalizations of a lattice in as few measurements as possible."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.evaluator import Evaluator
from pymoo.core.population import Population

from sdc_problems._validation import whole
from sdc_problems.algorithms.generalization._lattice_kernels import most_promising, nearest
from sdc_problems.algorithms.generalization._lattice_model import LatticeModel, to_scale
from sdc_problems.algorithms.generalization._surroundings import Surroundings
from sdc_problems.algorithms.generalization.pbg_ea import ArchiveSearch
from sdc_problems.operators.duplicates import row_keys
from sdc_problems.operators.lattice import LatticeSampling
from sdc_problems.parallel._process import linear_algebra_in_one_thread

REACH = 2  # steps from a member of the archive within which nodes are considered
POOL = 4096  # nodes considered at once
MODELED = 1024  # most measured nodes in the model; above, it keeps half of them, the nearest to the archive
DECIMALS = 6  # of a score: rounding errors must not decide


class PBGSearch(ArchiveSearch):
    """Search that measures next the nodes most likely to enter the archive, by a model of all measurements so far.

    1. Measure the fully specialized, the fully generalized and four random nodes per attribute.
    2. Model each objective over the lattice from the nodes measured (`LatticeModel`), with as much suppression as the
       budget allows: other thresholds of a node need no search, because all are known when it is measured.
    3. Consider every unmeasured node within two steps of a member of the archive. To enter, a node must reach a better
       box than each member in at least one objective. Its score is the number of standard deviations by which its
       prediction falls short of that, for the member that is hardest to pass.
    4. Measure a batch: one half direct neighbors of members, those with the lowest scores; the other half any nodes, by
       the scores they would have if each objective could be as far off as its worst prediction so far. Go to 2.

    No node is measured twice. The search ends when the budget is spent or every node of the lattice is measured.

    Parameters
    ----------
    max_evaluations
        Largest number of nodes to measure, each with all its thresholds.
    epsilon
        Side of the archive's boxes: one number, or one per objective.
    batch_size
        Nodes measured between two models.
    evaluator
        Evaluator; by default one that never measures a node twice.

    Notes
    -----
    The search does not depend on which objectives there are. Minimal generalizations lie close together in the
    lattice, because a step changes little: the reach of two steps relies on this. A termination given to pymoo may end
    the search earlier, never later. If suppression is free, it counts rows: each node with its largest threshold, and
    any other threshold of the node that enters the archive.

    Examples
    --------
    >>> from pymoo.optimize import minimize
    >>> from sdc_problems import PBGProblem, load
    >>> people = load("people")
    >>> problem = PBGProblem(people.data, people.hierarchies)
    >>> result = minimize(problem, PBGSearch(max_evaluations=300), seed=1)
    >>> result.algorithm.n_nodes
    300
    """

    def __init__(
        self,
        max_evaluations: int = 1000,
        *,
        epsilon: float | Sequence[float] | NDArray[Any] = 1.0,
        batch_size: int = 16,
        evaluator: Evaluator | None = None,
    ) -> None:
        super().__init__(epsilon=epsilon, evaluator=evaluator, generations=None)
        self.max_evaluations = whole(max_evaluations, "max_evaluations", least=2)
        self.batch_size = whole(batch_size, "batch_size", least=1)

    # -- pymoo's steps --------------------------------------------------------------------------------------------

    def _setup(self, problem: Any, **kwargs: Any) -> None:
        super()._setup(problem, **kwargs)
        if kwargs.get("termination") is None:
            from pymoo.core.termination import NoTermination

            self.termination = NoTermination()
        self._top: NDArray[np.int64] = np.asarray(problem.xu, dtype=np.int64)[: self._n_levels]
        self._lattice_size = int(np.prod(self._top + 1, dtype=object))
        self._around = Surroundings(self._top, REACH)
        self._model = LatticeModel(self._top)

    def _initialize_infill(self) -> Population:
        n = min(2 + 4 * self._n_levels, self.max_evaluations)
        X = LatticeSampling().do(self.problem, n, random_state=self.random_state).get("X")[:, : self._n_levels]
        _, first = np.unique(X, axis=0, return_index=True)
        return self._rows(X[np.sort(first)])

    def _initialize_advance(self, infills: Population | None = None, **kwargs: Any) -> None:
        self._learn(infills)

    def _infill(self) -> Population:
        n = min(self.batch_size, self.max_evaluations - self.n_nodes, self._lattice_size - self.n_nodes)
        around = self._around
        # The nearest first; among those two steps away the choice is random.
        chosen = np.sort(np.lexsort((around.chances, around.steps))[:POOL])
        U = around.nodes[chosen].astype(self.archive.X.dtype)
        if len(U) <= n:
            return self._rows(np.concatenate([U, self._unmeasured(n - len(U), U)]))
        with linear_algebra_in_one_thread():
            means, deviations = self._model.predict(U, around.numbers[chosen])
        needed, (low, high) = self._better_boxes(), (bound[chosen] for bound in around.bounds())
        for j, shape in enumerate(self._model.shapes):
            for values in (needed, low, high):
                values[:, j] = to_scale(values[:, j], shape.logarithm)
        means, most = np.clip(means, low, high), (high - low) / 2

        def promising(by: float | NDArray[np.float64], among: NDArray[np.int64], count: int) -> NDArray[np.int64]:
            widened = np.maximum(np.minimum(by * deviations, most), 1e-12 * (1 + np.abs(means)))
            return among[most_promising(means[among], widened[among], needed, count, 10.0**DECIMALS)]

        near = promising(1.0, np.flatnonzero(around.steps[chosen] == 1), n - n // 2)
        far = promising(self._model.surprise, np.arange(len(U)), n)
        far = far[~np.isin(far, near)][: n - len(near)]
        return self._rows(U[np.concatenate([near, far])])

    def _advance(self, infills: Population | None = None, **kwargs: Any) -> None:
        self._learn(infills)

    def _rows(self, nodes: NDArray[Any]) -> Population:
        """Rows to evaluate: each node, with its largest threshold and those that enter the archive if it has any."""
        if not self.free:
            return Population.new(X=nodes)
        rows, F, begin = self._every_threshold(nodes)
        wanted = self._entering(rows, F)
        wanted[np.append(begin[1:], len(rows)) - 1] = True
        return Population.new(X=rows[wanted])

    def _learn(self, infills: Any) -> None:
        X, F = infills.get("X"), infills.get("F")
        self.pop = infills
        self.archive.add(infills)
        nodes = X[:, : self._n_levels]
        if self.free:  # the largest threshold, in the last row, shows best what a node is worth
            _, back = np.unique(nodes[::-1], axis=0, return_index=True)
            last = np.sort(len(nodes) - 1 - back)
            nodes, F = nodes[last], F[last]
        with linear_algebra_in_one_thread():
            self._model.add(nodes, F)
        if len(self._model.X) > MODELED:
            distance, _ = nearest(self._model.X.astype(np.int64), self._members())
            self._model.keep(np.sort(np.argsort(distance, kind="stable")[: MODELED // 2]))
        self._see(nodes)
        self._around.learn(nodes, F)
        self._around.follow(self._members(), self.random_state)
        self._around.exclude(np.ascontiguousarray(self.archive.F))
        if self.n_nodes >= min(self.max_evaluations, self._lattice_size):
            self.termination.terminate()

    # -- choosing -------------------------------------------------------------------------------------------------

    def _members(self) -> NDArray[np.int64]:
        """Nodes of the archive."""
        return np.ascontiguousarray(self.archive.X[:, : self._n_levels], dtype=np.int64)

    def _better_boxes(self) -> NDArray[np.float64]:
        """Value at which the next better box begins, per member and objective."""
        boxes = self.archive.boxes
        side, offset = self.archive.epsilon, self.archive.offset
        # Boxes are counted outward: a positive one is left at its lower edge, any other at its outer edge.
        edge: NDArray[np.float64] = np.where(boxes > 0, boxes * side, (boxes - 1) * side) + offset
        return edge - np.where(boxes > 0, 1e-9 * np.maximum(1.0, np.abs(edge)), 0.0)

    def _unmeasured(self, n: int, besides: NDArray[Any]) -> NDArray[Any]:
        """Random nodes that were not measured, when the archive's surroundings are exhausted."""
        taken = set(row_keys(besides))
        found: list[NDArray[Any]] = []
        if self._lattice_size <= 4 * (self.n_nodes + n):
            rest = np.indices((self._top + 1).tolist(), dtype=besides.dtype).reshape(len(self._top), -1).T
            rest = np.ascontiguousarray(rest[self.random_state.permutation(len(rest))])
        else:
            rest = LatticeSampling(extremes=False).do(self.problem, 8 * n + 8, random_state=self.random_state).get("X")
            rest = rest[:, : self._n_levels]
        for key, node in zip(row_keys(rest), rest, strict=True):
            if len(found) == n:
                break
            if key not in self._seen and key not in taken:
                taken.add(key)
                found.append(node)
        return np.array(found, dtype=besides.dtype).reshape(-1, len(self._top))
