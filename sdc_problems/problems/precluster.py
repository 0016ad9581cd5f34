"""Protection after clustering: choice of the method, the number of clusters, and k."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sdc_problems._tables.views import TextView
from sdc_problems._validation import whole
from sdc_problems.errors import SDCError
from sdc_problems.evaluators.preclustering import PreclusteringEngine, Setting
from sdc_problems.methods.partition._centroids import span
from sdc_problems.microdata import Kind
from sdc_problems.operators.settings import SettingsCrossover, SettingsMutation, SettingsRepair, SettingsSampling
from sdc_problems.problem import SDCProblem
from sdc_problems.problems._columns import as_microdata, left_as_they_are, protected_columns
from sdc_problems.problems._masking_objectives import preclustering_objectives

if TYPE_CHECKING:
    import pandas as pd

    from sdc_problems.microdata import Microdata
    from sdc_problems.objective import Objective
    from sdc_problems.requirement import Required

METHOD, MERGE, SMALLEST, CLUSTERS = range(4)
SAID = {"mdav": "Microaggregation (MDAV)", "global_median": "Mondrian with the middle category of each region"}


@dataclass(frozen=True)
class Preclustering(TextView):
    """Setting of a protection after clustering.

    Attributes
    ----------
    method
        "mdav" or "global_median".
    merge
        Rule for joining small clusters: "smallest" or "nearest".
    k
        Smallest number of records that look alike.
    clusters
        Number of clusters to look for.
    """

    method: str
    merge: str
    k: int
    clusters: int

    def __str__(self) -> str:
        if self.clusters == 1:
            return f"{self.method}, k = {self.k}, without clusters"
        return f"{self.method}, k = {self.k}, in {self.clusters} clusters (small ones joined: {self.merge})"


class PreclusterProblem(SDCProblem):
    """Cluster the records and protect every cluster on its own: choose method, joining rule, k and number of clusters.

    A row of X holds the method (0 MDAV, 1 global median), the rule for joining small clusters (0 the two smallest, 1
    the smallest and its nearest; 0 with one cluster), k, and the number of clusters. There are few enough rows to try
    them all: ``enumerate_front()`` gives the exact front.

    Parameters
    ----------
    data
        The table.
    columns
        Quasi-identifiers to protect, all categorical; by default all of them. If the table declares none, any
        columns. The global median is left out if one of them is nominal.
    objectives
        Any of ``il_categorical``, ``dr_guarded``, ``dr_categorical``, the scores, ``ctbil``, ``dbil``, ``ebil``,
        ``id_rank``, ``guess``, ``dbrl``, ``prl``, ``dbrl_protected``, ``dbrl_half``, ``clustering_loss`` and ``k``; by
        default the first two. Or an `Objective` of your own with a function.
    require
        Requirements of a solution, such as ``{"k": 5}``; see `SDCProblem`.
    k_max
        Largest k.
    clusters_max
        Largest number of clusters; never more than there are distinct records.
    restarts
        Number of starts of c-median, of which the cheapest result is kept; "all" starts once from each distinct record.
    guard
        Whether the scores use ``dr_guarded``, which detects categories that are only renamed; False: as in the source.
    seed
        Seed of the random starts.

    Notes
    -----
    Marés (2013), chapter 5, treats one method with one k and one number of clusters at a time. Every released
    combination of the protected columns has at least k records; ``release`` checks it again.

    Examples
    --------
    >>> import pandas as pd
    >>> from sdc_problems import Microdata
    >>> frame = pd.DataFrame({"school": ["low", "low", "mid", "mid", "high", "high"] * 2})
    >>> orders = {"school": ["low", "mid", "high"]}
    >>> data = Microdata.from_frame(frame, quasi_identifiers=["school"], orders=orders)
    >>> problem = PreclusterProblem(data, k_max=4, clusters_max=3)
    >>> front = problem.enumerate_front()
    >>> print(problem.decode(front.X[0]))
    mdav, k = 2, without clusters
    """

    def __init__(
        self,
        data: Microdata,
        *,
        columns: Sequence[str] | None = None,
        objectives: Sequence[str | Objective] | None = None,
        require: Mapping[str, Required] | None = None,
        k_max: int = 50,
        clusters_max: int = 50,
        restarts: int | Literal["all"] = 20,
        guard: bool = True,
        seed: int = 0,
    ) -> None:
        data = as_microdata(data, columns)
        self.attributes = protected_columns(data, columns)
        kinds = [data.attribute(name).kind for name in self.attributes]
        for name, kind in zip(self.attributes, kinds, strict=True):
            if kind is Kind.NUMERIC:
                raise SDCError(
                    f"column {name!r} is numeric: protect categories here (recode it to intervals), or call precluster,"
                    " which takes numbers"
                )
        if not isinstance(guard, bool):
            raise SDCError(f"guard must be True or False, not {guard!r}")
        if restarts != "all":
            restarts = whole(restarts, "restarts", least=1)
        self.kinds = tuple(kind.value for kind in kinds)
        self.restarts, self.guard, self.seed = restarts, guard, whole(seed, "seed")
        largest = min(whole(k_max, "k_max", least=2), len(data))
        if largest < 2:
            raise SDCError("one record cannot be hidden among others: k is at least 2")
        distinct = len(np.unique(data.codes(list(self.attributes)), axis=0))
        most = min(whole(clusters_max, "clusters_max", least=1), distinct)
        if objectives is None:
            objectives = ("il_categorical", "dr_guarded" if guard else "dr_categorical")
        super().__init__(
            data=data,
            objectives=objectives,
            catalogue=preclustering_objectives(n=len(data), guard=guard),
            require=require,
            n_var=4,
            xl=[0, 0, 2, 1],
            xu=[0 if "nominal" in self.kinds else 1, 0 if most == 1 else 1, largest, most],
            dtype=np.int16 if max(largest, most) <= np.iinfo(np.int16).max else np.int32,
        )

    def original(self) -> NDArray[np.int64]:
        """Codes of the protected columns."""
        codes: NDArray[np.int64] = self.data.codes(list(self.attributes)).astype(np.int64)
        return codes

    def protected(self, x: ArrayLike) -> NDArray[np.int64]:
        """Codes of the protected file."""
        values: NDArray[np.int64] = self.engine.values(self._setting(x))
        return values

    def _setting(self, x: ArrayLike) -> Setting:
        return Setting(*map(int, self.genome(x)))

    def _compile(self) -> PreclusteringEngine:
        return PreclusteringEngine(
            self.original(),
            kinds=self.kinds,
            n_categories=[max(self.data.attribute(name).n_categories, 1) for name in self.attributes],
            restarts=self.restarts,
            seed=self.seed,
            guard=self.guard,
        )

    def _measure(self, X: NDArray[Any], names: Sequence[str]) -> NDArray[np.float64]:
        measured: NDArray[np.float64] = self.engine.measure(X, names)
        return measured

    def _tables(self, x: NDArray[Any]) -> Iterable[tuple[NDArray[Any], NDArray[Any]]]:
        yield self.protected(x), self.original()

    def _operators(self) -> dict[str, Any]:
        return {
            "sampling": SettingsSampling(),
            "crossover": SettingsCrossover(),
            "mutation": SettingsMutation(),
            "repair": SettingsRepair(canonical),
        }

    def _n_genomes(self) -> int:
        methods, merges, ks, clusters = (int(high - low) + 1 for low, high in zip(self.xl, self.xu, strict=True))
        return methods * ks * (1 + merges * (clusters - 1))

    def decode(self, x: ArrayLike) -> Preclustering:
        """Setting that a row stands for."""
        setting = self._setting(x)
        method, merge = setting.words
        return Preclustering(method, merge, setting.k, setting.clusters)

    def figures(self, x: ArrayLike) -> dict[str, float]:
        """Measure the file: every objective, the spread of ``clustering_loss``, and the number of clusters."""
        row = self.genome(x)
        names = tuple(self.catalogue)
        found = dict(zip(names, map(float, self._measure(row[None, :], names)[0]), strict=True))
        setting = self._setting(row)
        losses = self.engine.clustering_losses(self.engine.values(setting))
        return {
            **found,
            **self._own_figures(row),
            "clustering_loss_least": float(losses.min()),
            "clustering_loss_most": float(losses.max()),
            "clusters_found": float(self.engine.clusters(setting.clusters).labels.max() + 1),
            "clusters": float(self.engine.joined(setting).max() + 1),
        }

    def describe(self, x: ArrayLike) -> tuple[str, ...]:
        """Describe in plain sentences how records are clustered and protected, what is lost, and how many are found."""
        setting, figures = self._setting(x), self.figures(x)
        engine: PreclusteringEngine = self.engine
        found = engine.clusters(setting.clusters)
        sizes = np.bincount(engine.joined(setting)[engine.rows.of_record])
        sentences = []
        if setting.clusters > 1:
            before = int(found.labels.max()) + 1
            sentences.append(
                f"The {len(self.data):,} records form {len(sizes):,} clusters of {span(sizes)}"
                + (
                    f", after {before} of {span(np.bincount(found.labels))} were joined."
                    if len(sizes) < before
                    else "."
                )
            )
        place = "the whole table" if setting.clusters == 1 else "each cluster on its own"
        classes = int(figures["k"])
        sentences += [
            f"{SAID[setting.words[0]]} with k = {setting.k} protects {place}; the smallest group of records that look"
            f" alike in {', '.join(self.attributes)} has {classes}.",
            f"Information loss is {figures['il_categorical']:.1f} %: tables {figures['ctbil']:.1f}, distance"
            f" {figures['dbil']:.1f}, uncertainty {figures['ebil']:.1f}; clusterings of the file lose"
            f" {figures['clustering_loss']:.1f} % ({figures['clustering_loss_least']:.1f} to"
            f" {figures['clustering_loss_most']:.1f} by the number of clusters).",
            f"Percent found again: nearest original {figures['dbrl']:.1f}, agreement {figures['prl']:.1f}, guessing"
            f" each category {figures['guess']:.1f}; cells of nearly the same rank {figures['id_rank']:.1f}.",
        ]
        return (
            sentences[0][0].upper() + sentences[0][1:],
            *sentences[1:],
            *left_as_they_are(self.data, self.attributes),
        )

    def release(self, x: ArrayLike, *, seed: int | None = None) -> pd.DataFrame:
        """Return the protected table; nothing is random. Every combination has k records, or an SDCError is raised."""
        protected, k = self.protected(x), self._setting(x).k
        smallest = int(np.unique(protected, axis=0, return_counts=True)[1].min())
        if smallest < k:
            raise SDCError(f"a combination of the protected columns has {smallest} records, fewer than k = {k}")
        frame = self._publishable()
        for j, name in enumerate(self.attributes):
            frame[name] = self.data.attribute(name).cells(protected[:, j])
        return frame

    def baselines(self) -> dict[str, NDArray[Any]]:
        """Methods without clustering, for a few k."""
        found = {}
        for method in range(int(self.xu[METHOD]) + 1):
            for k in sorted({min(k, int(self.xu[SMALLEST])) for k in (3, 5, 10, 25)}):
                row = np.array([method, 0, k, 1], dtype=self.dtype)
                found[str(self.decode(row))] = row
        return found


def canonical(X: NDArray[Any]) -> NDArray[Any]:
    """Rows in canonical form: with one cluster nothing is joined, so the rule is 0."""
    rows = X.copy()
    rows[rows[:, CLUSTERS] == 1, MERGE] = 0
    return rows
