"""Attribute grouping for multivariate microaggregation (GOMM)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sdc_problems._tables.views import TextView
from sdc_problems._validation import whole
from sdc_problems.errors import SDCError, did_you_mean
from sdc_problems.evaluators.grouping import GroupingEngine
from sdc_problems.front import batched
from sdc_problems.methods.partition._attribute_groups import anticorrelated_groups, correlated_groups, handmade_groups
from sdc_problems.methods.partition._centroids import microaggregate
from sdc_problems.microdata import Kind
from sdc_problems.objective import Objective
from sdc_problems.operators.canonical import CanonicalLabels, restricted_growth
from sdc_problems.operators.grouping import AnyGroupingMutation, GroupCrossover, RandomGroupings
from sdc_problems.problem import AT_ONCE, SDCProblem
from sdc_problems.problems._columns import as_microdata, left_as_they_are, protected_columns
from sdc_problems.problems._microaggregation_objectives import grouping_objectives, ranked
from sdc_problems.problems._subset_front import MOST, subset_front

if TYPE_CHECKING:
    import pandas as pd

    from sdc_problems.microdata import Microdata
    from sdc_problems.requirement import Required

GROUP_SIZES = (2, 3, 4, 5, 10)
CROSSED = 0.05  # share of the pairs of parents that pymoo's algorithms cross before mutation


@dataclass(frozen=True)
class AttributeGrouping(TextView):
    """Attributes that are microaggregated together.

    Attributes
    ----------
    groups
        Attribute names of each group.
    k
        Smallest cluster in the microaggregation of each group.
    """

    groups: tuple[tuple[str, ...], ...]
    k: int

    def __str__(self) -> str:
        return "\n".join(f"({', '.join(group)})" for group in self.groups)


class GOMMProblem(SDCProblem):
    """Partition the quasi-identifiers into groups; each group is microaggregated on its own by MDAV.

    Few wide groups lose much information; with many narrow groups, records are easy to recognize. A row of X gives each
    quasi-identifier the number of its group, in order of first use.

    Parameters
    ----------
    data
        The table; all its quasi-identifiers must be numeric, at least two.
    k
        Smallest cluster of each microaggregation, 2 … n/2.
    columns
        Quasi-identifiers to protect; by default all of them. The others stay unchanged.
    objectives
        Any of ``il_sse`` (100·SSE/SST on z-scores), ``id_value`` (released values within 10 % of the original),
        ``dld`` (records strictly closest to their own protected record), ``dr_linkage`` (mean of ``id_value`` and
        ``dld``), ``score_mean`` (mean of ``il_sse`` and ``dr_linkage``) and ``n_groups``; or an `Objective` of your
        own with a function.
    require
        Requirements of a solution, such as ``{"dr_linkage": 20}``; see `SDCProblem`.
    memory
        Bytes that the engine may use to remember groups.
    threads
        Number of candidates measured at once; by default as many as there are processors. Results do not depend on it.

    Notes
    -----
    Balasch-Masoliver (2010), "Using Genetic Algorithms for Attribute Grouping in Multivariate Microaggregation".

    Examples
    --------
    >>> import pandas as pd
    >>> from sdc_problems import Microdata
    >>> values = np.random.default_rng(1).normal(size=(60, 3)).round(2)
    >>> frame = pd.DataFrame(values, columns=["height", "weight", "income"])
    >>> problem = GOMMProblem(Microdata.from_frame(frame, quasi_identifiers=list(frame)), k=5)
    >>> x = problem.encode([["height", "weight"], ["income"]])
    >>> problem.decode(x).groups
    (('height', 'weight'), ('income',))
    >>> problem.evaluate(x).round(1)
    array([13.5, 39.7])
    """

    def __init__(
        self,
        data: Microdata,
        k: int,
        *,
        columns: Sequence[str] | None = None,
        objectives: Sequence[str | Objective] = ("il_sse", "dr_linkage"),
        require: Mapping[str, Required] | None = None,
        memory: int = 1 << 28,
        threads: int | None = None,
    ) -> None:
        data = as_microdata(data, columns)
        names = protected_columns(data, columns)
        if len(names) == 1:
            raise SDCError(f"one attribute ({names[0]!r}) cannot be grouped: at least two quasi-identifiers are needed")
        for name in names:
            attribute = data.attribute(name)
            if attribute.kind is not Kind.NUMERIC or attribute.has_missing:
                what = "has missing values" if attribute.has_missing else f"is {attribute.kind.value}"
                raise SDCError(
                    f"quasi-identifier {name!r} {what}: means need numbers; remove it from quasi_identifiers"
                )
        k = whole(k, "k", least=2)
        if k > len(data) // 2:
            raise SDCError(f"k = {k} is too large for {len(data)} records: at most {len(data) // 2} gives two clusters")
        self.attributes = names
        self.k = k
        self._memory = whole(memory, "memory", least=1)
        self._threads = None if threads is None else whole(threads, "threads", least=1)
        super().__init__(
            data=data,
            objectives=objectives,
            catalogue=grouping_objectives(len(names)),
            require=require,
            n_var=len(names),
            xl=0,
            xu=len(names) - 1,
        )

    def _compile(self) -> GroupingEngine:
        Z = self.data.z_scores(self.attributes)
        return GroupingEngine(Z, self.k, memory=self._memory, threads=self._threads)

    def _measure(self, X: NDArray[Any], names: Sequence[str]) -> NDArray[np.float64]:
        measured = self._parts(X, names)
        return np.column_stack([measured[name] for name in names])

    def _tables(self, x: NDArray[Any]) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        yield ranked(self._protected(x), self.data.values(self.attributes))

    def _parts(self, X: NDArray[Any], names: Sequence[str]) -> dict[str, NDArray[np.float64]]:
        """Measures that the named ones are computed from, by name."""
        measured = {"n_groups": restricted_growth(X).max(axis=1) + 1.0}
        if set(names) != {"n_groups"}:
            linkage = {"dld", "dr_linkage", "score_mean"}.intersection(names)
            wanted = ("il_sse", "id_value", "dld") if linkage else ("il_sse", "id_value")
            measured.update(zip(wanted, self.engine.measure(X, wanted).T, strict=True))
            if linkage:
                measured["dr_linkage"] = 0.5 * measured["id_value"] + 0.5 * measured["dld"]
                measured["score_mean"] = (measured["il_sse"] + measured["dr_linkage"]) / 2
        return measured

    def _operators(self) -> dict[str, Any]:
        """Return the paper's random groupings, group crossover and mutations, and a memory of measured rows.

        Every child is mutated, mostly by moving or swapping single attributes, and one pair of parents in twenty is
        crossed: on small tables, whose whole front is known, this finds the largest part of it.
        """
        return {
            "sampling": RandomGroupings(),
            "crossover": GroupCrossover(prob=CROSSED),
            "mutation": AnyGroupingMutation(),
            "repair": CanonicalLabels(),
        }

    def encode(self, groups: Iterable[Iterable[str]]) -> NDArray[Any]:
        """Return the row of X for groups of attribute names: each quasi-identifier in exactly one group."""
        labels = np.full(self.n_var, -1, dtype=self.dtype)
        position = {name: j for j, name in enumerate(self.attributes)}
        number = 0
        for group in groups:
            members = (group,) if isinstance(group, str) else tuple(group)
            for name in members:
                if name not in position:
                    raise SDCError(f"{name!r} is not a quasi-identifier{did_you_mean(str(name), position)}")
                if labels[position[name]] >= 0:
                    raise SDCError(f"attribute {name!r} is in the grouping twice")
                labels[position[name]] = number
            number += bool(members)
        if (labels < 0).any():
            missing = ", ".join(repr(name) for name, label in zip(self.attributes, labels, strict=True) if label < 0)
            raise SDCError(f"the grouping misses {missing}: every quasi-identifier belongs to one group")
        return restricted_growth(labels)

    def decode(self, x: ArrayLike) -> AttributeGrouping:
        """Attributes that are grouped together."""
        labels = restricted_growth(self.genome(x))
        groups = (np.flatnonzero(labels == label) for label in range(int(labels.max()) + 1))
        return AttributeGrouping(tuple(tuple(self.attributes[j] for j in group) for group in groups), self.k)

    def figures(self, x: ArrayLike) -> dict[str, float]:
        """Measure the grouping: every objective, and ``smallest_class``, the size of the smallest class."""
        row = self.genome(x)
        measured = self._parts(row[None, :], ("dld",))
        figures = {name: float(measured[name][0]) for name in grouping_objectives(self.n_var)}
        figures["smallest_class"] = float(_smallest_class(self._clusters(row)))
        return {**figures, **self._own_figures(row)}

    def group_losses(self, x: ArrayLike) -> tuple[float, ...]:
        """Percentage of its variance that each group of attributes loses, in the order of ``decode(x).groups``."""
        variance = (self.engine.Z**2).sum(axis=0)
        parts = self.engine.groups(self.genome(x))
        return tuple(float(100 * part.sse / variance[part.columns].sum()) for part in parts)

    def describe(self, x: ArrayLike) -> tuple[str, ...]:
        """Describe in plain sentences what releasing ``x`` would do to the data."""
        grouping, figures = self.decode(x), self.figures(x)
        n, n_groups = len(self.data), len(grouping.groups)
        together = "; ".join(", ".join(group) for group in grouping.groups)
        smallest = int(figures["smallest_class"])
        linked = round(figures["dld"] * n / 100)
        whole_table = (
            f"Whoever knows all of them sees every record at least {smallest} times."
            if smallest > 1
            else "Whoever knows all of them sees some records that are alone."
        )
        return (
            f"The {self.n_var} quasi-identifiers are protected in {n_groups} group{'s' * (n_groups > 1)}: {together}.",
            f"In each group the values of a record become the means of a cluster of at least {self.k} similar records, "
            f"so every released combination of a group's values is shared by at least {self.k} records. " + whole_table,
            f"{figures['il_sse']:.1f} % of the variance is lost; {figures['id_value']:.1f} % of the released values are"
            f" within 10 % of the original. {linked} of {n} records ({figures['dld']:.1f} %) are closest to their own"
            " protected copy.",
            *left_as_they_are(self.data, self.attributes),
        )

    def release(self, x: ArrayLike, *, seed: int | None = None) -> pd.DataFrame:
        """Return the table with every group of attributes microaggregated on its own; nothing is random."""
        frame = self._publishable()
        for name, column in zip(self.attributes, self._protected(self.genome(x)).T, strict=True):
            frame[name] = column
        return frame

    def _protected(self, x: NDArray[Any]) -> NDArray[np.float64]:
        """Released values of a checked row."""
        values = self.data.values(self.attributes)
        released: NDArray[np.float64] = np.empty_like(values)
        for part in self.engine.groups(x):
            sizes = np.bincount(part.labels)
            if sizes.min() < self.k:
                raise SDCError(f"a cluster has {sizes.min()} records, fewer than k = {self.k}: nothing is released")
            released[:, part.columns] = microaggregate(values[:, part.columns], part.labels)
        return released

    def baselines(self) -> dict[str, NDArray[Any]]:
        """One group, one group per attribute, groups from the correlations, and the manual ones of Appendix A."""
        p = self.n_var
        Z = self.data.z_scores(self.attributes)
        R = Z.T @ Z / len(Z)
        found = {"one group": np.zeros(p, dtype=self.dtype), "univariate": np.arange(p, dtype=self.dtype)}
        for size in (size for size in GROUP_SIZES if size < p):
            found[f"correlated, groups of {size}"] = self._row(correlated_groups(R, size))
            found[f"anti-correlated, groups of {size}"] = self._row(anticorrelated_groups(R, size))
        for name, groups in handmade_groups(self.attributes).items():
            found[f"hand-made {name}"] = self.encode(groups)
        return found

    @property
    def n_candidates(self) -> int:
        """Number of ways to group the attributes: 21,147 for 9 of them, 115,975 for 10, 678,570 for 11."""
        return _bell(self.n_var)

    def _candidates(self) -> Iterator[NDArray[Any]]:
        """Every grouping once; only 2^p − 1 groups have to be microaggregated for them."""
        for rows in batched(_partitions(self.n_var), AT_ONCE):
            yield np.array(rows, dtype=self.dtype)

    def _programme(self, progress: Callable[[int, int], object] | None, limit: int) -> NDArray[Any] | None:
        """Rows from the exact subset algorithm, if every objective is a sum over the groups."""
        names = [objective.name for objective in self.objectives]
        if not set(names) <= {"il_sse", "id_value", "n_groups"} or self.n_var > MOST:
            return None
        whole, n = (1 << self.n_var) - 1, self.n_candidates
        pairs = (3**self.n_var - 1) // 2
        if pairs > limit:
            raise SDCError(
                f"{self._size_in_words()}, and the program over their groups has {pairs:,} steps, more than"
                f" limit={limit:,}: raise the limit, or search"
            )
        groups = np.arange(1, whole + 1)
        costs = np.empty((whole, 3))
        bits = np.arange(self.n_var)
        for mask in range(1 << (self.n_var - 1)):  # a group with the last attribute, and the others
            row = (mask >> bits & 1).astype(np.int64)
            for part in self.engine.groups(row):
                costs[int((1 << part.columns).sum()) - 1] = part.sse, part.disclosed, 1.0
        order = [("il_sse", "id_value", "n_groups").index(name) for name in names]

        def tell(share: float) -> None:
            if progress is not None:
                progress(int(share * n), n)

        return subset_front(self.n_var, groups, costs[:, order], limit=limit, progress=tell).astype(self.dtype)

    def _row(self, groups: Sequence[Sequence[int]]) -> NDArray[Any]:
        return self.encode([[self.attributes[j] for j in group] for group in groups])

    def _clusters(self, x: ArrayLike) -> NDArray[np.int32]:
        return np.column_stack([part.labels for part in self.engine.groups(self.genome(x))])


def _smallest_class(clusters: NDArray[np.int32]) -> int:
    return int(np.unique(clusters, axis=0, return_counts=True)[1].min())


def _bell(n: int) -> int:
    """Number of ways to group n attributes (Bell number), by the Bell triangle."""
    row = [1]
    for _ in range(n - 1):
        row = list(accumulate(row, initial=row[-1]))
    return row[-1]


def _partitions(n: int) -> Iterator[list[int]]:
    """All restricted growth strings of length n, in lexicographic order."""
    row, largest = [0] * n, [0] * n  # largest[j]: the largest label before position j
    while True:
        yield row.copy()
        j = n - 1
        while j > 0 and row[j] > largest[j]:
            j -= 1
        if j == 0:
            return
        row[j] += 1
        for i in range(j + 1, n):
            row[i] = 0
            largest[i] = max(largest[i - 1], row[i - 1])
