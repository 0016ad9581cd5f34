"""Engine for protection after clustering: settings of method, joining rule, k and number of clusters."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sdc_problems._validation import FloatArray, IntArray, code_table, whole
from sdc_problems._validation import kinds as check_kinds
from sdc_problems.evaluators.cells import CategoricalCells
from sdc_problems.evaluators.clusterings import clustering_loss
from sdc_problems.evaluators.information_loss.categorical import CATEGORICAL_KINDS
from sdc_problems.methods.partition._c_median import Clusters, Rows, best_start, c_median
from sdc_problems.methods.partition._precluster import MERGES, METHODS, Protector, join_small

COMPARED = tuple(range(2, 11))
"""Numbers of clusters for which a protected file is clustered and compared with the clusters of the original."""


class Setting(NamedTuple):
    """Setting of `precluster`, as a row of integers with names."""

    method: int
    merge: int
    k: int
    clusters: int

    @property
    def words(self) -> tuple[str, str]:
        """Names of method and joining rule in `precluster`."""
        return METHODS[self.method], MERGES[self.merge]


class PreclusteringEngine:
    """Engine for settings: method (0 MDAV, 1 global median), joining rule (0 smallest, 1 nearest), k, clusters.

    Parameters
    ----------
    X
        Original category codes, records × attributes.
    kinds
        ``"ordinal"`` or ``"nominal"``, for all attributes or one per attribute.
    n_categories
        Domain sizes; by default, the largest code plus one.
    restarts
        Number of starts of c-median; "all" starts once from each distinct record.
    seed
        Seed of the starts that are drawn.
    guard
        Whether the scores use the risk that detects renamed categories.

    Notes
    -----
    One clustering is cached per number of clusters. Settings that lead to the same clusters are protected once, and
    equal protected files are measured once. ``clustering_loss`` is the mean of `clustering_loss` over 2, 3, … 10
    clusters (at most as many as there are distinct records). On the protected file, c-median starts from the centroids
    with which the best start on the original began.

    Examples
    --------
    >>> engine = PreclusteringEngine([[0], [0], [1], [3], [3], [3]], kinds="ordinal")
    >>> engine.measure([(0, 0, 2, 1), (0, 0, 2, 2)], ("dbil", "k"))
    array([[12.5       ,  2.        ],
           [ 8.33333333,  3.        ]])
    """

    def __init__(
        self,
        X: object,
        *,
        kinds: object = "nominal",
        n_categories: object = None,
        restarts: int | Literal["all"] = "all",
        seed: int = 0,
        guard: bool = True,
    ) -> None:
        self.X = code_table(X, "X")
        self.kinds = check_kinds(kinds, self.X.shape[1], CATEGORICAL_KINDS)
        self.cells = CategoricalCells(self.X, kinds=self.kinds, n_categories=n_categories, guard=guard)
        self.rows = Rows(self.X, kinds=self.kinds, n_categories=self.cells.sizes)
        self.restarts = restarts
        self.seed = whole(seed, "seed")
        self._clusters: dict[int, Clusters] = {}
        self._protectors: dict[str, Protector] = {}
        self._protected: dict[tuple[int, int, bytes], bytes] = {}
        self._measured: dict[bytes, dict[str, float]] = {}

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of all measures."""
        return (*self.cells.measures, "clustering_loss", "k")

    def clusters(self, number: int) -> Clusters:
        """Clusters of the original, as found by c-median."""
        if number not in self._clusters:
            rng = np.random.default_rng([self.seed, number])
            self._clusters[number] = best_start(self.rows, number, restarts=self.restarts, rng=rng)
        return self._clusters[number]

    def joined(self, setting: Setting) -> IntArray:
        """Cluster of each distinct record after small clusters are joined."""
        found = self.clusters(setting.clusters).labels[self.rows.first]
        return join_small(self.rows, found, setting.k, setting.words[1])

    def values(self, setting: Setting) -> IntArray:
        """Protected file of a setting."""
        return self._protect(setting, self.joined(setting))

    def _protect(self, setting: Setting, joined: IntArray) -> IntArray:
        method = setting.words[0]
        if method not in self._protectors:
            self._protectors[method] = Protector(self.rows, method)
        protector = self._protectors[method]
        groups = protector.groups(joined[self.rows.of_record], setting.k)
        return protector.values(groups).astype(np.int64)

    def measure(self, candidates: Any, names: Sequence[str] | None = None) -> FloatArray:
        """Measure settings: one row per setting, one column per name."""
        wanted = self.measures if names is None else tuple(names)
        settings = [Setting(*map(int, row)) for row in np.atleast_2d(np.asarray(candidates))]
        out = np.empty((len(settings), len(wanted)))
        for r, setting in enumerate(settings):
            found = self._figures(setting, wanted)
            out[r] = [found[name] for name in wanted]
        return out

    def _figures(self, setting: Setting, names: Sequence[str]) -> dict[str, float]:
        joined = self.joined(setting)
        same = setting.method, setting.k, _digest(joined)
        file = self._protected.get(same)
        known = self._measured.get(file, {}) if file is not None else {}
        if set(names) <= known.keys():
            return known
        values = self._protect(setting, joined)
        file = self._protected[same] = _digest(values)
        known = self._measured.setdefault(file, {})
        lacking = [name for name in names if name not in known]
        of_cells = [name for name in lacking if name in self.cells.measures]
        if of_cells:
            known.update(zip(of_cells, self.cells.measure(values.reshape(1, -1), of_cells)[0].tolist(), strict=True))
        if "clustering_loss" in lacking:
            known["clustering_loss"] = float(np.mean(self.clustering_losses(values)))
        if "k" in lacking:
            known["k"] = float(np.unique(values, axis=0, return_counts=True)[1].min())
        return known

    def clustering_losses(self, values: NDArray[Any]) -> FloatArray:
        """Loss for clustering of a protected file, for each number of clusters compared."""
        losses = []
        for number in COMPARED:
            if number > len(self.rows):
                break
            original = self.clusters(number)
            again = c_median(
                values, len(original.start), kinds=self.kinds, n_categories=self.cells.sizes, start=original.start
            )
            losses.append(clustering_loss(original.labels, again.labels))
        return np.array(losses or [0.0])


def _digest(array: NDArray[Any]) -> bytes:
    return hashlib.sha256(np.ascontiguousarray(array, dtype=np.int64).tobytes()).digest()
