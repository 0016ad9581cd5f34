"""Microaggregation: partitions of the records into groups of at least k."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sdc_problems._tables.views import TextView
from sdc_problems._validation import whole
from sdc_problems.errors import SDCError
from sdc_problems.evaluators.partition import PartitionEngine
from sdc_problems.front import batched
from sdc_problems.methods._kernels.anneal import anneal
from sdc_problems.methods.partition._attributes import smallest_group
from sdc_problems.methods.partition._centroids import microaggregate, span
from sdc_problems.methods.partition._mdav import mdav
from sdc_problems.methods.partition._univariate import mhm, microaggregate_univariate
from sdc_problems.methods.partition._v_mdav import v_mdav
from sdc_problems.microdata import Kind
from sdc_problems.objective import Objective
from sdc_problems.operators.canonical import restricted_growth
from sdc_problems.operators.partition import GroupSizes, RandomPartitions, RecordMutation, WholeGroupCrossover, limited
from sdc_problems.problem import AT_ONCE, SDCProblem
from sdc_problems.problems._columns import as_microdata, left_as_they_are, protected_columns
from sdc_problems.problems._microaggregation_objectives import partition_objectives, ranked
from sdc_problems.problems._subset_front import MOST, subset_front
from sdc_problems.problems._univariate_front import univariate_rows

if TYPE_CHECKING:
    import pandas as pd

    from sdc_problems.microdata import Microdata
    from sdc_problems.requirement import Required

SMALL_LABELS = np.iinfo(np.int16).max

QUADRATIC = 20_000  # most records for which the slower baselines are made: their time grows with the square

K_STEPS = (1, 2, 3, 5)  # multiples of k that the baselines try, as far as k_max goes


@dataclass(frozen=True)
class Partition(TextView):
    """Groups of records.

    Attributes
    ----------
    groups
        Positions of each group's records, counted from 0.
    """

    groups: tuple[tuple[int, ...], ...]

    @property
    def k(self) -> int:
        """Size of the smallest group."""
        return min(len(group) for group in self.groups)

    def __str__(self) -> str:
        sizes = [len(group) for group in self.groups]
        return f"{len(sizes)} groups of {span(sizes)} records"


class MicroaggregationProblem(SDCProblem):
    """Partition the records into groups of at least k; each group's quasi-identifiers become its centroid.

    A row of X gives each record the number of its group, in order of first use. Sizes lie between k and 2k − 1: a
    larger group could be cut in two without losing more. With ``k_max``, sizes up to 2·k_max − 1 are allowed, and the
    smallest group can be an objective.

    A row that breaks these limits (operators of other packages know only the bounds of the variables) stands for the
    partition that ``sdc_problems.operators.partition.limited`` makes from it, always the same one: this partition is
    measured, decoded and released.

    Parameters
    ----------
    data
        The table; its quasi-identifiers, of any kind, are microaggregated. Numeric ones must have no missing values.
    k
        Smallest group, 2 … n/2.
    columns
        Quasi-identifiers to protect; by default all of them. The others stay unchanged.
    objectives
        Any of ``sse`` (on z-scores), ``il_sse`` (100·SSE/SST), ``dbrl`` (records whose own centroid is nearest, each in
        proportion to how many share it), ``id_value`` (released values within 10 % of the original z-score) and ``k``;
        or an `Objective` of your own with a function.
    require
        Requirements of a solution, such as ``{"il_sse": 20}``; see `SDCProblem`.
    k_max
        Largest size that the smallest group may reach; by default k.
    threads
        Number of candidates measured at once; by default as many as there are processors. Results do not depend on it.

    Notes
    -----
    Solanas et al. (2006), "Multivariate Microaggregation Based Genetic Algorithms"; Martínez-Ballesté et al. (2007), "A
    Genetic Approach to Multivariate Microaggregation for Database Privacy".

    Examples
    --------
    >>> import pandas as pd
    >>> from sdc_problems import Microdata
    >>> frame = pd.DataFrame({"age": [21, 60, 22, 61, 23, 62], "wage": [10, 30, 11, 31, 12, 32]})
    >>> problem = MicroaggregationProblem(Microdata.from_frame(frame, quasi_identifiers=["age", "wage"]), k=3)
    >>> x = problem.baselines()["MDAV"]
    >>> problem.decode(x).groups
    ((0, 2, 4), (1, 3, 5))
    >>> problem.release(x)["age"].tolist()
    [22.0, 61.0, 22.0, 61.0, 22.0, 61.0]
    """

    def __init__(
        self,
        data: Microdata,
        k: int,
        *,
        columns: Sequence[str] | None = None,
        objectives: Sequence[str | Objective] = ("sse",),
        require: Mapping[str, Required] | None = None,
        k_max: int | None = None,
        threads: int | None = None,
    ) -> None:
        data = as_microdata(data, columns)
        names = protected_columns(data, columns)
        for name in names:
            attribute = data.attribute(name)
            if attribute.kind is Kind.NUMERIC and attribute.has_missing:
                raise SDCError(f"quasi-identifier {name!r} has missing values: fill them, or drop those records")
        n = len(data)
        self.k = smallest_group(k, n)
        self.k_max = self.k if k_max is None else smallest_group(k_max, n)
        if self.k_max < self.k:
            raise SDCError(f"k_max = {self.k_max} is smaller than k = {self.k}")
        self.attributes = names
        self.smallest = self.k
        self.largest = min(2 * self.k_max - 1, n)
        self._threads = None if threads is None else whole(threads, "threads", least=1)
        n_groups = n // self.k
        super().__init__(
            data=data,
            objectives=objectives,
            catalogue=partition_objectives(self.k, self.largest),
            require=require,
            n_var=n,
            xl=0,
            xu=n_groups - 1,
            dtype=np.int16 if n_groups <= SMALL_LABELS else np.int32,
        )

    # -- the data as arrays ---------------------------------------------------------------------------------------

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kind of each quasi-identifier."""
        return tuple(self.data.attribute(name).kind.value for name in self.attributes)

    def points(self) -> NDArray[np.float64]:
        """Quasi-identifiers as numbers: values of numeric ones, codes of others."""
        codes: NDArray[np.float64] = self.data.codes(self.attributes).astype(np.float64)
        for j, (name, kind) in enumerate(zip(self.attributes, self.kinds, strict=True)):
            if kind == "numeric":
                codes[:, j] = self.data.values(name)[:, 0]
        return codes

    @property
    def neighbours(self) -> NDArray[np.int32]:
        """Positions of the nearest other records of each record, used by the operators."""
        nearest: NDArray[np.int32] = self.engine.neighbours
        return nearest

    def limited(self, X: ArrayLike) -> NDArray[Any]:
        """Rows as they are measured and released: every group within the limits, labels in order of first use."""
        return limited(self.genomes(X), self.smallest, self.largest)

    def refined(self, x: ArrayLike, proposals: int, random_state: np.random.Generator) -> NDArray[Any]:
        """Row after a number of proposals to relocate or swap records; those that do not add loss are accepted.

        The smallest group does not become smaller. The row is returned unchanged if it has a group of 2k records or
        more, k being its smallest group, or if an attribute is not numeric.
        """
        row: NDArray[Any] = self.limited(x)[0]
        sizes = np.bincount(row)
        if set(self.kinds) != {"numeric"} or sizes.max() >= 2 * sizes.min():
            return row
        labels = row.astype(np.int32)
        seed = np.uint64(random_state.integers(0, 2**63))
        anneal(self.engine.V, labels, int(sizes.min()), self.neighbours, 0.0, proposals, seed)
        better: NDArray[Any] = restricted_growth(labels).astype(row.dtype)
        return better

    # -- what every problem provides ------------------------------------------------------------------------------

    def _compile(self) -> PartitionEngine:
        return PartitionEngine(self.points(), kinds=self.kinds, threads=self._threads)

    def _measure(self, X: NDArray[Any], names: Sequence[str]) -> NDArray[np.float64]:
        values: NDArray[np.float64] = self.engine.measure(limited(X, self.smallest, self.largest), names)
        return values

    def _tables(self, x: NDArray[Any]) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        points = self.points()
        yield ranked(microaggregate(points, self.labels(x), kinds=self.kinds), points)

    def _operators(self) -> dict[str, Any]:
        """Return random partitions, the crossover of whole groups, and moves between neighboring groups."""
        return {
            "sampling": RandomPartitions(),
            "crossover": WholeGroupCrossover(),
            "mutation": RecordMutation(),
            "repair": GroupSizes(),
        }

    @property
    def n_candidates(self) -> int:
        """Number of partitions into groups within the limits: 48,895 for 12 records and k = 3."""
        counts = [1]
        for n in range(1, len(self.data) + 1):  # by the size of the first record's group
            sizes = range(self.smallest, min(self.largest, n) + 1)
            counts.append(sum(comb(n - 1, size - 1) * counts[n - size] for size in sizes))
        return counts[-1]

    def _candidates(self) -> Iterator[NDArray[Any]]:
        """Every partition within the limits once."""
        for rows in batched(_partitions(len(self.data), self.smallest, self.largest), AT_ONCE):
            yield np.array(rows, dtype=self.dtype)

    def _programme(self, progress: Callable[[int, int], object] | None, limit: int) -> NDArray[Any] | None:
        """Optimal cuts of one numeric attribute for each k, or the exact subset algorithm if objectives are sums."""
        names = {objective.name for objective in self.objectives}
        n, largest = len(self.data), min(self.largest, len(self.data))
        if names <= {"sse", "il_sse", "k"} and self.kinds == ("numeric",):
            steps = n * (largest - self.smallest + 1)
            if steps > limit:
                raise SDCError(f"optimal cuts for every k need {steps:,} steps, more than limit={limit:,}: raise it")
            cuts = np.stack(list(univariate_rows(self.points()[:, 0], self.smallest, largest)))
            return restricted_growth(cuts).astype(self.dtype)
        if not names <= {"sse", "il_sse", "id_value"} or n > MOST:
            return None
        sets = [c for size in range(self.smallest, largest + 1) for c in combinations(range(n), size)]
        if len(sets) > limit:
            raise SDCError(
                f"{self._size_in_words()}, and {len(sets):,} groups to make them of, more than limit={limit:,}: raise"
                " the limit, or search"
            )
        rows = np.tile(np.arange(1, n + 1), (len(sets), 1))  # a group; each other record is alone, which loses nothing
        for row, members in zip(rows, sets, strict=True):
            row[list(members)] = 0
        values = self.engine.measure(restricted_growth(rows), ("sse", "id_value"))
        sizes = np.array([len(members) for members in sets])
        p = len(self.attributes)
        own = np.rint(values[:, 1] * n * p / 100) - (n - sizes) * p  # cells of the group itself
        groups = np.array([sum(1 << i for i in members) for members in sets], dtype=np.int64)
        costs = {"sse": values[:, 0], "il_sse": values[:, 0], "id_value": own}
        chosen = np.column_stack([costs[objective.name] for objective in self.objectives])

        def tell(share: float) -> None:
            if progress is not None:
                progress(int(share * self.n_candidates), self.n_candidates)

        return subset_front(n, groups, chosen, limit=limit, progress=tell).astype(self.dtype)

    def labels(self, x: ArrayLike) -> NDArray[np.int64]:
        """Group of each record as it would be released."""
        row: NDArray[np.int64] = limited(self.genome(x), self.smallest, self.largest).astype(np.int64)
        return row

    def decode(self, x: ArrayLike) -> Partition:
        """Records that are merged."""
        labels = self.labels(x)
        order = np.argsort(labels, kind="stable")
        groups = np.split(order, np.cumsum(np.bincount(labels))[:-1])
        return Partition(tuple(tuple(group.tolist()) for group in groups))

    def figures(self, x: ArrayLike) -> dict[str, float]:
        """Measure the partition: every objective, and the number of groups."""
        labels = self.labels(x)
        names = tuple(partition_objectives(self.smallest, self.largest))
        values = self.engine.measure(labels[None, :], names)[0]
        figures = {**dict(zip(names, map(float, values), strict=True)), "n_groups": float(labels.max() + 1)}
        return {**figures, **self._own_figures(self.genome(x))}

    def describe(self, x: ArrayLike) -> tuple[str, ...]:
        """Describe in plain sentences what releasing ``x`` would do to the data."""
        found, figures = self.decode(x), self.figures(x)
        n = len(self.data)
        sizes = [len(group) for group in found.groups]
        what = {"numeric": "mean", "ordinal": "median", "nominal": "most frequent value"}
        used = " or ".join(dict.fromkeys(what[kind] for kind in self.kinds))
        return (
            f"The {n:,} records form {len(sizes):,} groups of {span(sizes)} similar records; in "
            f"{', '.join(self.attributes)} each record gets the {used} of its group.",
            f"So whoever knows all of these sees every record at least {found.k} times.",
            f"{figures['il_sse']:.1f} % of the variation is lost; {figures['id_value']:.1f} % of the released values"
            f" are within 10 % of the original; by distance, {figures['dbrl']:.1f} % of the records would be linked to"
            " their own.",
            *left_as_they_are(self.data, self.attributes),
        )

    def release(self, x: ArrayLike, *, seed: int | None = None) -> pd.DataFrame:
        """Return the table with the centroid of each group in the quasi-identifiers; nothing is random."""
        labels = self.labels(x)
        smallest = int(np.bincount(labels).min())
        if smallest < self.k:
            raise SDCError(f"a group has {smallest} records, fewer than k = {self.k}: nothing is released")
        frame = self._publishable()
        protected = microaggregate(self.points(), labels, kinds=self.kinds)
        for j, (name, kind) in enumerate(zip(self.attributes, self.kinds, strict=True)):
            if kind == "numeric":
                frame[name] = protected[:, j]
            else:
                frame[name] = self.data.attribute(name).cells(protected[:, j].astype(np.int64))
        return frame

    def baselines(self) -> dict[str, NDArray[Any]]:
        """MDAV at several k up to ``k_max``; for numeric attributes also V-MDAV, and Hansen–Mukherjee along a path.

        The latter two are made for up to 20,000 records; a single numeric attribute gets its optimum at any size.
        """
        points, kinds = self.points(), self.kinds
        found = {}
        for k in dict.fromkeys(min(self.k * times, self.k_max) for times in K_STEPS):
            found["MDAV" if k == self.k else f"MDAV, k = {k}"] = mdav(points, k, kinds=kinds)
        if set(kinds) == {"numeric"} and len(points) <= QUADRATIC:
            found["V-MDAV"] = v_mdav(points, self.k)
            found["MHM on MDAV's path"] = mhm(points, self.k)
            found["MHM on the nearest-point path"] = mhm(points, self.k, order="nearest")
        if kinds == ("numeric",):
            found["optimum"] = microaggregate_univariate(points[:, 0], self.k)
        return {name: labels.astype(self.dtype) for name, labels in found.items()}


def _partitions(n: int, smallest: int, largest: int) -> Iterator[list[int]]:
    """All restricted growth strings of length n whose labels occur within the limits, in lexicographic order."""
    row, sizes = [0] * n, [0] * (n + 1)

    def place(i: int, used: int, lacking: int) -> Iterator[list[int]]:
        """Place record i; ``lacking`` records are needed to fill the groups begun so far."""
        if i == n:
            yield row.copy()
            return
        for label in range(used + 1):
            begun = label == used
            still = lacking + (smallest - 1 if begun else -1 if sizes[label] < smallest else 0)
            if sizes[label] < largest and still <= n - i - 1:
                row[i] = label
                sizes[label] += 1
                yield from place(i + 1, used + begun, still)
                sizes[label] -= 1

    yield from place(0, 0, 0)
