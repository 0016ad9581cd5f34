"""Property based generalization (PBG): a level of its hierarchy for each quasi-identifier."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sdc_problems._validation import whole
from sdc_problems.errors import SDCError, did_you_mean
from sdc_problems.evaluators.anonymity import equivalence_classes, suppress_small_classes
from sdc_problems.evaluators.lattice import NEED_LABELS, NEED_SENSITIVE, LatticeEngine
from sdc_problems.front import Part
from sdc_problems.methods.recoding._generalize import level_phrase
from sdc_problems.objective import Objective
from sdc_problems.operators.duplicates import ByteDuplicates
from sdc_problems.operators.lattice import (
    LatticeCrossover,
    LatticeMutation,
    LatticeRepair,
    LatticeSampling,
    neighbours,
)
from sdc_problems.problem import STAR, SDCProblem
from sdc_problems.problems._generalization_objectives import generalization_objectives

if TYPE_CHECKING:
    import pandas as pd

    from sdc_problems.hierarchy import Hierarchy
    from sdc_problems.microdata import Microdata
    from sdc_problems.requirement import Required


NODES_AT_ONCE = 1 << 18


@dataclass(frozen=True)
class GeneralizationNode:
    """A node of the lattice: what it does to each attribute, and the nodes next to it.

    Attributes
    ----------
    levels
        Level of each attribute, 0 being the values themselves.
    phrases
        What each level does to its attribute.
    more_general, more_specific
        Nodes one level up and one level down.
    """

    levels: dict[str, int]
    phrases: dict[str, str]
    more_general: tuple[tuple[int, ...], ...]
    more_specific: tuple[tuple[int, ...], ...]

    def __str__(self) -> str:
        return "\n".join(f"{name}: level {level}, {self.phrases[name]}" for name, level in self.levels.items())


class PBGProblem(SDCProblem):
    """Generalise each quasi-identifier to a level of its hierarchy, so that records become alike.

    A row of X holds the level of every quasi-identifier, 0 for the values themselves: a node of the lattice of
    generalisations. A few records in uncommon classes may be suppressed instead of generalising everybody further.

    Parameters
    ----------
    data
        The table.
    hierarchies
        A hierarchy for each quasi-identifier, by name.
    objectives
        Any of ``k``, ``l``, ``entropy_l``, ``t``, ``spread_k``, ``spread_l`` (protection) and ``glm``,
        ``glm_percent``, ``cm``, ``discernibility``, ``suppressed`` (loss); `LatticeEngine` says what each is. Or an
        `Objective` of one's own with a function.
    require
        What a solution must meet, such as ``{"k": 5, "glm_percent": 40}``; see `SDCProblem`.
    max_suppression
        How many records may be suppressed: a share in [0, 1), or a whole number.
    class_label
        The attribute that ``cm`` predicts.
    sensitive
        The attribute whose values ``l``, ``entropy_l``, ``t`` and ``spread_l`` protect; by default the first
        sensitive one of the table.
    threads
        Nodes measured at once; all processors if not given. Results do not depend on it.

    Notes
    -----
    Dewri, Ray, Ray and Whitley (2010), "On the Identification of Property Based Generalizations in Microdata
    Anonymization". The loss of a value counts the leaves under it in its hierarchy, whether they occur or not.

    Examples
    --------
    >>> import pandas as pd
    >>> from sdc_problems import Hierarchy, Microdata
    >>> frame = pd.DataFrame({"age": [21, 22, 27, 28, 34, 35], "sex": ["f", "f", "m", "f", "m", "m"]})
    >>> data = Microdata.from_frame(frame, quasi_identifiers=["age", "sex"])
    >>> ages = Hierarchy.intervals(range(20, 40), [5, 10])
    >>> problem = PBGProblem(data, {"age": ages, "sex": Hierarchy.suppression(["f", "m"])}, max_suppression=0)
    >>> problem.natural(problem.enumerate_front().F).round(2).tolist()
    [[6.0, 12.0], [3.0, 6.0], [1.0, 0.0]]
    >>> problem.describe([2, 1])[0]
    'age in bands of 10 years.'
    >>> problem.release([2, 1])["age"].tolist()
    ['20-29', '20-29', '20-29', '20-29', '30-39', '30-39']
    """

    def __init__(
        self,
        data: Microdata,
        hierarchies: Mapping[str, Hierarchy],
        *,
        objectives: Sequence[str | Objective] = ("k", "glm"),
        require: Mapping[str, Required] | None = None,
        max_suppression: float = 0.01,
        class_label: str | None = None,
        sensitive: str | None = None,
        threads: int | None = None,
    ) -> None:
        self.attributes = data.quasi_identifiers
        if not self.attributes:
            raise SDCError("no quasi-identifiers were declared: give quasi_identifiers= when the table is made")
        self.hierarchies = _chosen_hierarchies(data, hierarchies)
        # Fails here, and not when a search has begun, if a hierarchy lacks a value of the table.
        for name, hierarchy in self.hierarchies.items():
            hierarchy.table(data.categories(name), attribute=name)
        self.sensitive = data.attribute(sensitive).name if sensitive is not None else next(iter(data.sensitive), None)
        self.class_label = None if class_label is None else data.attribute(class_label).name
        self.max_suppressed = _records(max_suppression, len(data))
        self.threads = None if threads is None else whole(threads, "threads", least=1)
        n_sensitive = 0 if self.sensitive is None else data.attribute(self.sensitive).n_categories
        top = [hierarchy.length for hierarchy in self.hierarchies.values()]
        self._figures: tuple[bytes, dict[str, float]] = (b"", {})
        super().__init__(
            data=data,
            objectives=objectives,
            catalogue=generalization_objectives(len(data), len(self.attributes), n_sensitive),
            require=require,
            n_var=len(top),
            xl=0,
            xu=top,
        )

    def _check_objective(self, objective: Objective) -> None:
        """Refuse what needs a sensitive attribute or a class label where there is none."""
        if objective.name in NEED_SENSITIVE and self.sensitive is None:
            raise SDCError(
                f"objective {objective.name!r} protects the values of a sensitive attribute and the table declares"
                " none: give sensitive= here or when the table is made"
            )
        if objective.name in NEED_LABELS and self.class_label is None:
            raise SDCError(f"objective {objective.name!r} needs the attribute to be predicted: give class_label=")

    # -- measuring ------------------------------------------------------------------------------------------------

    def _compile(self) -> LatticeEngine:
        column = {
            name: None if name is None else self.data.codes(name)[:, 0] for name in (self.sensitive, self.class_label)
        }
        return LatticeEngine(
            self.data.codes(self.attributes),
            [h.table(self.data.categories(name), attribute=name) for name, h in self.hierarchies.items()],
            leaves=[[h.leaves(level) for level in range(h.n_levels)] for h in self.hierarchies.values()],
            sensitive=column[self.sensitive],
            labels=column[self.class_label],
            max_suppressed=self.max_suppressed,
            measures=[objective.name for objective in self.measured_objectives if objective.function is None] or ["k"],
            threads=self.threads,
        )

    def _measure(self, X: NDArray[Any], names: Sequence[str]) -> NDArray[np.float64]:
        values: NDArray[np.float64] = self.engine.measure(X, names)
        return values

    def _tables(self, x: NDArray[Any]) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """Released and original codes: a group of values is a value of its own, after those of the table."""
        original = self.data.codes(self.attributes)
        groups, lost = self._generalised(x)
        own = np.array([self.data.attribute(name).n_categories for name in self.attributes], dtype=original.dtype)
        released = np.where(x > 0, groups + own, original).astype(original.dtype)
        released[lost] = -1
        yield released, original

    def _generalised(self, node: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Group of each cell at the node's levels, and which records are suppressed."""
        codes = self.data.codes(self.attributes)
        groups = np.empty_like(codes)
        for j, (name, hierarchy) in enumerate(self.hierarchies.items()):
            groups[:, j] = hierarchy.table(self.data.categories(name), attribute=name)[int(node[j])][codes[:, j]]
        return groups, suppress_small_classes(equivalence_classes(groups), limit=self.max_suppressed).mask

    @property
    def n_nodes(self) -> int:
        """Number of nodes of the lattice."""
        return int(np.prod([hierarchy.n_levels for hierarchy in self.hierarchies.values()], dtype=object))

    @property
    def n_candidates(self) -> int:
        """Number of nodes of the lattice."""
        return self.n_nodes

    def _size_in_words(self) -> str:
        """Say how many nodes there are, and how long it takes to measure them all."""
        return (
            f"the lattice has {self.n_nodes:,} nodes (about {_duration(self.engine.estimated_seconds())} to measure"
            " them all; shorter hierarchies make it smaller)"
        )

    def _enumerated(self, progress: Callable[[int, int], object] | None, n: int) -> Iterator[Part]:
        """Every node with its F; the engine walks the lattice, which takes a fraction of measuring node by node."""
        if len(self.engine.measures) < len(
            self.measured_objectives
        ):  # objectives of one's own are measured node by node
            yield from super()._enumerated(progress, n)
            return
        values = self.engine.evaluate_all(progress)
        for start in range(0, n, NODES_AT_ONCE):
            numbers = np.arange(start, min(start + NODES_AT_ONCE, n))
            X = np.stack(np.unravel_index(numbers, self.xu.astype(int) + 1), axis=1).astype(self.dtype)
            yield self._part(X, values[numbers])

    # -- searching ------------------------------------------------------------------------------------------------

    def _operators(self) -> dict[str, Any]:
        """Return the paper's sampling, one-point crossover (0.8) and single-step mutation (1/attributes)."""
        return {
            "sampling": LatticeSampling(),
            "crossover": LatticeCrossover(),
            "mutation": LatticeMutation(),
            "repair": LatticeRepair(),
            "eliminate_duplicates": ByteDuplicates(n_genomes=self.n_nodes),
        }

    def baselines(self) -> dict[str, NDArray[Any]]:
        """Nothing generalised, everything, what Datafly finds for usual k, and the best node for each objective.

        Datafly (Sweeney 2002) generalises the attribute with the most distinct values until the table is k-anonymous
        but for the records that may be suppressed. Of the nodes with the best value of an objective the one that is
        best in the others, in their order, is named; lattices above 100,000 nodes are not enumerated for this.
        """
        top = self.xu.astype(self.dtype)
        found = {"nothing generalised": np.zeros_like(top), "everything generalised": top}
        for k in (2, 5, 10, 50):
            if k <= len(self.data):
                found[f"Datafly, k = {k}"] = self._datafly(k)
        if self.n_nodes <= 100_000:
            front = self.enumerate_front()
            for j, objective in enumerate(self.objectives if len(front.F) else ()):
                order = [j, *(i for i in range(self.n_obj) if i != j)]
                found[f"best {objective.name}"] = front.X[np.lexsort(front.F[:, order[::-1]].T)[0]]
        return found

    def _datafly(self, k: int) -> NDArray[Any]:
        x = np.zeros(self.n_var, dtype=self.dtype)
        codes = self.data.codes(self.attributes)
        tables = [h.table(self.data.categories(name)) for name, h in self.hierarchies.items()]
        while self.engine.figures(x)["k"] < k and (x < self.xu).any():
            distinct = [
                len(np.unique(table[level][column])) if level < len(table) - 1 else -1
                for table, level, column in zip(tables, x, codes.T, strict=True)
            ]
            x[int(np.argmax(distinct))] += 1
        return x

    # -- reading --------------------------------------------------------------------------------------------------

    def decode(self, x: ArrayLike) -> GeneralizationNode:
        """Read the level of each attribute, and which nodes are next to it."""
        node = self.genome(x)
        around = neighbours(node, self.xu.astype(self.dtype))
        coarser = around.sum(axis=1) > node.sum()
        levels = dict(zip(self.attributes, map(int, node), strict=True))
        return GeneralizationNode(
            levels=levels,
            phrases={name: self.hierarchies[name].describe(level) for name, level in levels.items()},
            more_general=tuple(tuple(map(int, row)) for row in around[coarser]),
            more_specific=tuple(tuple(map(int, row)) for row in around[~coarser]),
        )

    def figures(self, x: ArrayLike) -> dict[str, float]:
        """Measure the node: every objective for which the table has the data, by name."""
        node = self.genome(x)
        last, figures = self._figures
        if last != node.tobytes():  # a release asks several times for the same node
            figures = self.engine.figures(node)
            self._figures = (node.tobytes(), figures)
        return {**figures, **self._own_figures(node)}

    def describe(self, x: ArrayLike) -> tuple[str, ...]:
        """Say in plain sentences what releasing ``x`` would do to the data: one per attribute, then the table."""
        node, figures = self.decode(x), self.figures(x)
        k, suppressed = int(figures["k"]), int(figures["suppressed"])
        sentences = [f"{name} {level_phrase(name, node.phrases[name])}." for name in self.attributes]
        n = len(self.data)
        if suppressed:
            sentences.append(
                f"{suppressed:,} of {n:,} records ({100 * suppressed / n:.2g} %) are suppressed: they stay in"
                f" classes of fewer than {k}."
            )
        alike = f"Every record left looks like at least {k - 1:,} others (k = {k:,})"
        if "l" in figures:
            l = int(figures["l"])
            alike += f", among whom {self.sensitive} has at least {l} different values (ℓ = {l})"
        loss = f"{figures['glm_percent']:.3g} % of the detail is lost (GLM {figures['glm']:,.0f})."
        return (*sentences, alike + ".", loss)

    def release(
        self, x: ArrayLike, *, seed: int | None = None, suppressed: Literal["drop", "star"] = "drop"
    ) -> pd.DataFrame:
        """Return the generalised table; nothing is random here.

        Quasi-identifiers above level 0 become their group's label, identifiers become ``*``, all other columns stay.
        The rows keep their order but not the original index, which could identify them.

        Parameters
        ----------
        x
            The node.
        seed
            Not used.
        suppressed
            What happens to suppressed records: ``"drop"`` them, or ``"star"`` all their quasi-identifiers.
        """
        if suppressed not in ("drop", "star"):
            raise SDCError(f"suppressed must be 'drop' or 'star', not {suppressed!r}")
        node = self.genome(x)
        promised = self.figures(node)
        frame = self._publishable()
        groups, lost = self._generalised(node)
        for j, (name, hierarchy) in enumerate(self.hierarchies.items()):
            level = int(node[j])
            if level > 0:
                frame[name] = np.array(hierarchy.labels(level), dtype=object)[groups[:, j]]
        if suppressed == "star" and lost.any():
            for name in self.attributes:
                frame[name] = frame[name].astype(object).mask(lost, STAR)
        kept: pd.DataFrame = frame[~lost]
        self._verify(kept, promised)
        return kept.reset_index(drop=True) if suppressed == "drop" else frame

    def _verify(self, kept: pd.DataFrame, figures: Mapping[str, float]) -> None:
        """Count again what is about to be released, in the released table itself."""
        classes = kept.groupby(list(self.attributes), dropna=False, sort=False, observed=True)
        k = int(classes.ngroups and classes.size().min())
        l = None if self.sensitive is None else int(classes[self.sensitive].nunique(dropna=False).min())
        promised = {name: int(figures[name]) for name in ("k", "l") if name in figures}
        if k < promised["k"] or (l is not None and l < promised["l"]):
            raise SDCError(
                f"the table would have k = {k}, ℓ = {l} where k = {promised['k']}, ℓ = {promised.get('l')} are"
                " promised: nothing is released"
            )


def _chosen_hierarchies(data: Microdata, hierarchies: Mapping[str, Hierarchy]) -> dict[str, Hierarchy]:
    if not isinstance(hierarchies, Mapping):
        raise SDCError("hierarchies must map each quasi-identifier's name to its Hierarchy")
    for name in hierarchies:
        if name not in data.names:
            raise SDCError(
                f"a hierarchy is given for {name!r}, which is no column{did_you_mean(str(name), data.names)}"
            )
    for name in data.quasi_identifiers:
        if name not in hierarchies:
            raise SDCError(
                f"quasi-identifier {name!r} has no hierarchy: add it to hierarchies, for example as"
                f" Hierarchy.suppression(data.categories({name!r})), or take it out of the quasi-identifiers"
            )
    return {name: hierarchies[name] for name in data.quasi_identifiers}


def _records(max_suppression: float, n_records: int) -> int:
    """Number of records that may be suppressed."""
    value = max_suppression
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool) and 0 <= value < n_records:
        return int(value)
    if isinstance(value, (float, np.floating)) and 0 <= value < 1:
        return int(value * n_records)
    raise SDCError(
        f"max_suppression must be a share in [0, 1) or a number of records from 0 to {n_records - 1}, not {value!r}"
    )


def _duration(seconds: float) -> str:
    for unit, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {unit}"
    return f"{max(seconds, 1):.0f} seconds"
