"""Property based generalization (PBG): a level of its hierarchy for each quasi-identifier."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sdc_problems._tables.coded import coded_frame, coded_texts, decoded, starred
from sdc_problems._tables.columns import STAR
from sdc_problems._tables.views import TextView
from sdc_problems._validation import choice, whole
from sdc_problems.errors import SDCError, did_you_mean
from sdc_problems.evaluators._codes import column_labels
from sdc_problems.evaluators.anonymity import distinct_l, suppress_small_classes
from sdc_problems.evaluators.lattice import NEED_LABELS, NEED_SENSITIVE, LatticeEngine, SeveralSensitive
from sdc_problems.front import Part, minimal
from sdc_problems.methods.recoding._generalize import MAX_SUPPRESSION, level_phrase
from sdc_problems.objective import Objective
from sdc_problems.operators.lattice import (
    LatticeCrossover,
    LatticeMutation,
    LatticeRepair,
    LatticeSampling,
    neighbours,
)
from sdc_problems.problem import SDCProblem
from sdc_problems.problems._columns import as_microdata, left_as_they_are, protected_columns
from sdc_problems.problems._generalization_objectives import generalization_objectives
from sdc_problems.problems._lattice_front import BoxSearch

if TYPE_CHECKING:
    import pandas as pd

    from sdc_problems.front import Front
    from sdc_problems.hierarchy import Hierarchy
    from sdc_problems.microdata import Microdata
    from sdc_problems.requirement import Required

NODES_AT_ONCE = 1 << 18
LONGEST = 1e6  # seconds; a longer estimate says nothing
PROBED = 1.0  # seconds of a search by boxes, to estimate how long all of it takes
SMALL = 20_000  # nodes of a lattice that is measured as quickly as boxes of it can be ruled out
AT_ONCE = 512  # nodes whose user-written objectives are measured between two reports of progress


@dataclass(frozen=True)
class GeneralizationNode(TextView):
    """Node of the lattice: the level of each attribute, the suppressed classes, and the neighboring nodes.

    Attributes
    ----------
    levels
        Level of each attribute; 0 stands for the values themselves.
    phrases
        Description of each level, in words.
    threshold
        Classes of fewer records than this are suppressed, as far as the budget allows; None if classes are always
        suppressed as far as it allows.
    more_general, more_specific
        Rows of X one level up and one level down, with the same threshold.
    """

    levels: dict[str, int]
    phrases: dict[str, str]
    threshold: int | None
    more_general: tuple[tuple[int, ...], ...]
    more_specific: tuple[tuple[int, ...], ...]

    def __str__(self) -> str:
        lines = [f"{name}: level {level}, {self.phrases[name]}" for name, level in self.levels.items()]
        if self.threshold is not None and self.threshold > 1:
            lines.append(f"classes of fewer than {self.threshold:,} records are suppressed, as far as allowed")
        return "\n".join(lines)


class PBGProblem(SDCProblem):
    """Generalize each quasi-identifier to a level of its hierarchy, so that records become alike.

    A row of X holds the level of each quasi-identifier, 0 for the values themselves: a node of the lattice of
    generalizations. A few records in uncommon classes may be suppressed instead of generalizing all records further;
    the last number of the row is a threshold: classes with fewer records are suppressed (1: none).

    Parameters
    ----------
    data
        The table.
    hierarchies
        A hierarchy for each quasi-identifier, by name.
    columns
        Quasi-identifiers to protect; by default all of them. The others stay unchanged.
    objectives
        Any of ``k``, ``l``, ``entropy_l``, ``t``, ``spread_k``, ``spread_l`` (protection) and ``glm``,
        ``glm_percent``, ``cm``, ``discernibility``, ``suppressed`` (loss); ``catalogue`` has the meaning and the
        formula of each. Or an `Objective` of your own with a function.
    require
        Requirements of a solution, such as ``{"k": 5, "glm_percent": 40}``; see `SDCProblem`.
    max_suppression
        Largest number of records that may be suppressed: a share in [0, 1), or a whole number.
    suppression
        ``"free"``: the threshold is a part of the solution, from 1 to one more than the number of records that may be
        suppressed; a threshold above what this budget allows at a node counts as the largest allowed one.
        ``"budget"``: always the largest one, as in the paper; a row of X then has no threshold.
    class_label
        The attribute that ``cm`` predicts.
    sensitive
        Attribute or attributes whose values ``l``, ``entropy_l``, ``t`` and ``spread_l`` protect; of several, each
        measure is that of the attribute that is protected worst. By default the table's first sensitive attribute.
    threads
        Number of nodes measured at once; by default as many as there are processors. Results do not depend on it.

    Notes
    -----
    Dewri, Ray, Ray and Whitley (2010), "On the Identification of Property Based Generalizations in Microdata
    Anonymization". The loss of a value counts all leaves under it in its hierarchy, even those that do not occur.

    The paper suppresses as many records as allowed at every node, which is often not the best choice: for a given k, a
    smaller threshold that reaches it loses less, and a larger budget can make results worse.

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
    >>> problem.describe([2, 1, 1])[0]
    'age in bands of 10 years.'
    >>> problem.release([2, 1, 1])["age"].tolist()
    ['20-29', '20-29', '20-29', '20-29', '30-39', '30-39']
    """

    def __init__(
        self,
        data: Microdata,
        hierarchies: Mapping[str, Hierarchy],
        *,
        columns: Sequence[str] | None = None,
        objectives: Sequence[str | Objective] = ("k", "glm"),
        require: Mapping[str, Required] | None = None,
        max_suppression: float = MAX_SUPPRESSION,
        suppression: Literal["free", "budget"] = "free",
        class_label: str | None = None,
        sensitive: str | Sequence[str] | None = None,
        threads: int | None = None,
    ) -> None:
        data = as_microdata(data, columns)
        self.attributes = protected_columns(data, columns)
        self.hierarchies = _chosen_hierarchies(data, hierarchies, self.attributes)
        # Fails here, and not in the middle of a search, if a hierarchy lacks a value of the table.
        for name, hierarchy in self.hierarchies.items():
            hierarchy.table(data.categories(name), attribute=name)
        if sensitive is None:
            self.sensitive = data.sensitive[:1]
        else:
            named = [sensitive] if isinstance(sensitive, str) else sensitive
            self.sensitive = tuple(dict.fromkeys(data.attribute(name).name for name in named))
        self.class_label = None if class_label is None else data.attribute(class_label).name
        self.max_suppressed = _records(max_suppression, len(data))
        self.suppression = choice(suppression, "suppression", ("free", "budget"))
        self.threads = None if threads is None else whole(threads, "threads", least=1)
        n_sensitive = min((data.attribute(name).n_categories for name in self.sensitive), default=0)
        top = [hierarchy.length for hierarchy in self.hierarchies.values()]
        bottom = [0] * len(top)
        if self.suppression == "free":
            bottom, top = [*bottom, 1], [*top, self.max_suppressed + 1]
        dtype = np.promote_types(np.int16, np.min_scalar_type(-max(top)))
        self._figures: tuple[bytes, dict[str, float]] = (b"", {})
        super().__init__(
            data=data,
            objectives=objectives,
            catalogue=generalization_objectives(len(data), len(self.attributes), n_sensitive),
            require=require,
            n_var=len(top),
            xl=bottom,
            xu=top,
            dtype=dtype,
        )

    def _check_objective(self, objective: Objective) -> None:
        """Refuse an objective that needs a sensitive attribute or a class label if there is none."""
        if objective.name in NEED_SENSITIVE and not self.sensitive:
            raise SDCError(
                f"objective {objective.name!r} protects the values of a sensitive attribute and the table declares"
                " none: give sensitive= here or when the table is made"
            )
        if objective.name in NEED_LABELS and self.class_label is None:
            raise SDCError(f"objective {objective.name!r} needs the attribute to be predicted: give class_label=")

    # -- measuring ------------------------------------------------------------------------------------------------

    def _compile(self) -> LatticeEngine | SeveralSensitive:
        codes = [self.data.codes(name)[:, 0] for name in self.sensitive]
        common: dict[str, Any] = {
            "codes": self.data.codes(self.attributes),
            "tables": [h.table(self.data.categories(name), attribute=name) for name, h in self.hierarchies.items()],
            "leaves": [[h.leaves(level) for level in range(h.n_levels)] for h in self.hierarchies.values()],
            "labels": None if self.class_label is None else self.data.codes(self.class_label)[:, 0],
            "max_suppressed": self.max_suppressed,
            "measures": [o.name for o in self.measured_objectives if o.function is None] or ["k"],
            "threads": self.threads,
        }
        if len(codes) > 1:
            return SeveralSensitive(**common, sensitive=np.column_stack(codes))
        return LatticeEngine(**common, sensitive=codes[0] if codes else None)

    def _measure(self, X: NDArray[Any], names: Sequence[str]) -> NDArray[np.float64]:
        nodes, thresholds = self._parts(X)
        values: NDArray[np.float64] = self.engine.measure(nodes, names, thresholds=thresholds)
        return values

    def _tables(self, x: NDArray[Any]) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """Released and original codes: each group of values gets a code of its own, after those of the table."""
        original = self.data.codes(self.attributes)
        groups, lost = self._generalized(x)
        own = np.array([self.data.attribute(name).n_categories for name in self.attributes], dtype=original.dtype)
        released = np.where(x[: len(self.attributes)] > 0, groups + own, original).astype(original.dtype)
        released[lost] = -1
        yield released, original

    def _generalized(self, x: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """Group of each cell at the node's levels, and a mask of the suppressed records."""
        node = self.decode(x)
        groups = np.empty((len(self.data), len(self.attributes)), dtype=np.int32)
        for j, (name, hierarchy) in enumerate(self.hierarchies.items()):
            table = hierarchy.table(self.data.categories(name), attribute=name)
            groups[:, j] = table[node.levels[name]][self.data.attribute(name).codes]
        classes, _ = column_labels(groups.T)
        return groups, suppress_small_classes(classes, limit=self.max_suppressed, threshold=node.threshold).mask

    def evaluate(self, X: Any, *args: Any, return_as_dictionary: bool = False, **kwargs: Any) -> Any:
        """Measure rows as pymoo does; with free suppression, the dictionary has the rows' ``effective`` form as ``X``.

        pymoo's evaluator writes it into the population, so that selection, archives and results hold what is released.
        It needs no second measurement.
        """
        found = super().evaluate(X, *args, return_as_dictionary=return_as_dictionary, **kwargs)
        if return_as_dictionary and self.suppression == "free":
            found["X"] = self.effective(X).reshape(np.shape(X))
        return found

    def _parts(self, X: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Nodes, and their thresholds if they have any."""
        n = len(self.attributes)
        return X[:, :n], X[:, n] if self.suppression == "free" else None

    def effective(self, X: ArrayLike) -> NDArray[Any]:
        """Rows of X with the lowest threshold that suppresses the same records: equal releases become equal rows."""
        rows = self.genomes(X).copy()
        nodes, thresholds = self._parts(rows)
        if thresholds is not None:
            rows[:, -1] = self.engine.effective(nodes, thresholds)
        return rows

    def with_thresholds(self, X: ArrayLike) -> NDArray[Any]:
        """Nodes of X, each with every threshold that makes a difference there; each node is measured only once."""
        rows = self.genomes(X)
        nodes, thresholds = self._parts(rows)
        if thresholds is None:
            return rows
        found = [steps for steps, _ in self.engine.steps(nodes)]
        nodes = np.repeat(nodes, [len(steps) for steps in found], axis=0)
        return np.column_stack([nodes, np.concatenate(found)]).astype(self.dtype)

    @property
    def n_nodes(self) -> int:
        """Number of nodes of the lattice."""
        return int(np.prod([hierarchy.n_levels for hierarchy in self.hierarchies.values()], dtype=object))

    @property
    def n_candidates(self) -> int:
        """Number of nodes of the lattice; ``enumerate_front`` tries all thresholds of a node at once."""
        return self.n_nodes

    def enumerate_front(
        self, progress: Callable[[int, int], object] | None = None, *, limit: int = 1_000_000, ties: bool = False
    ) -> Front:
        """Exact front over all nodes with all thresholds.

        *Exact* refers to full-domain generalization (one level per attribute for all records) with the given
        hierarchies and suppression. With ``suppression="free"``, no node is better with any threshold that the budget
        allows; with ``"budget"``, no node is better, each suppressing as much as allowed. Thresholds that suppress the
        same records are one solution, with the lowest of them.

        A small lattice is measured node by node. In a larger one, boxes of nodes are ruled out by their two corners:
        protection and loss grow with every level, and where suppression disturbs this, there are bounds that hold in
        spite of it. If that takes longer than measuring all of up to ``limit`` nodes, these are measured. The front is
        the same; ``n_measured`` of the result says how many nodes were measured. Objectives that a user writes have no
        bounds: with them, every node is measured.

        Parameters
        ----------
        progress
            Called as ``progress(nodes done, nodes in all)`` from time to time.
        limit
            Largest number of nodes to measure.
        ties
            Whether all solutions with equal F are returned, or only the first.
        """

        def every() -> Front:
            found = super(PBGProblem, self).enumerate_front(progress, limit=limit, ties=ties)
            return found.of(self.objectives, n_measured=self.n_nodes)._replace(n_candidates=self.n_nodes)

        if not self._bounded or self.n_nodes <= min(SMALL, limit):
            return every()
        search = BoxSearch(self, limit=limit)
        until = np.inf if self.n_nodes > limit else time.perf_counter() + self.engine.estimated_seconds()
        front = search.run(progress, until=until)
        if front is None and self.n_nodes <= limit:  # few boxes can be ruled out
            return every()
        if front is None:
            needed = f"about {search.needed:.2g}" if np.isfinite(search.needed) else "many"
            raise SDCError(
                f"{self._size_in_words()}; {search.n_measured:,} were measured, which settles"
                f" {1 - search.n_open / self.n_nodes:.1%} of them; the exact front takes measuring {needed}, more than"
                f" limit={limit:,}: raise the limit, require= what you need, or search"
            )
        if progress is not None:
            progress(self.n_nodes, self.n_nodes)
        part = (front.X, front.F, np.ones(len(front.X), dtype=np.bool_))
        found = minimal([part], ties=ties)._replace(n_candidates=self.n_nodes)
        return found.of(self.objectives, n_measured=search.n_measured).warned()

    @property
    def _bounded(self) -> bool:
        """Whether bounds on boxes of nodes are known for all objectives."""
        return len(self.engine.measures) == len(self.measured_objectives)

    def seconds_to_enumerate(self) -> float | None:
        """Estimate the seconds that ``enumerate_front`` takes on this machine; None if unknown.

        If all nodes are measured, one node is timed; on a larger lattice, one second of ruling out boxes. If that does
        not lead far, all nodes are measured after as much time as this takes.
        """
        every = float(self.engine.estimated_seconds())
        if not self._bounded or self.n_nodes <= SMALL:
            return every
        seconds = min(self._seconds_by_boxes, 2.0 * every)
        return seconds if seconds < LONGEST else None

    @cached_property
    def _seconds_by_boxes(self) -> float:
        BoxSearch(self, limit=2).run(None)  # what is compiled now takes no time later
        return BoxSearch(self, limit=self.n_nodes).seconds(PROBED)

    def _size_in_words(self) -> str:
        """Number of nodes, in words, and how long it takes to measure them all."""
        return (
            f"the lattice has {self.n_nodes:,} nodes (about {_duration(self.engine.estimated_seconds())} to measure"
            " them all; shorter hierarchies make it smaller)"
        )

    def _enumerated(self, progress: Callable[[int, int], object] | None, n: int) -> Iterator[Part]:
        """Every node with its F; the engine walks the lattice, much faster than measuring node by node."""
        sizes = [hierarchy.n_levels for hierarchy in self.hierarchies.values()]

        def rows(numbers: NDArray[np.int64], thresholds: NDArray[np.int64]) -> NDArray[Any]:
            columns = [*np.unravel_index(numbers, sizes), thresholds]
            return np.column_stack(columns[: self.n_var]).astype(self.dtype)

        if len(self.engine.measures) < len(self.measured_objectives):  # user-written ones take the time, one by one
            for start in range(0, n, AT_ONCE):
                numbers = np.arange(start, min(start + AT_ONCE, n))
                X = self.with_thresholds(rows(numbers, np.ones_like(numbers)))
                yield self._part(X, self._values(X))
                if progress is not None:
                    progress(start + len(numbers), n)
        elif self.suppression == "free":
            for numbers, thresholds, values in self.engine.every_step(progress):
                order = np.lexsort((thresholds, numbers))
                yield self._part(rows(numbers[order], thresholds[order]), values[order])
        else:
            values = self.engine.evaluate_all(progress)
            for start in range(0, n, NODES_AT_ONCE):
                numbers = np.arange(start, min(start + NODES_AT_ONCE, n))
                yield self._part(rows(numbers, numbers), values[numbers])

    # -- searching ------------------------------------------------------------------------------------------------

    def _operators(self) -> dict[str, Any]:
        """Return the paper's sampling, one-point crossover (0.8) and single-step mutation (1/variables)."""
        return {
            "sampling": LatticeSampling(),
            "crossover": LatticeCrossover(),
            "mutation": LatticeMutation(),
            "repair": LatticeRepair(),
        }

    def _n_genomes(self) -> int:
        return super().n_candidates  # nodes times thresholds

    def baselines(self) -> dict[str, NDArray[Any]]:
        """Nothing generalized, everything generalized, and solutions of Datafly for usual k.

        Datafly (Sweeney 2002) generalizes the attribute with the most distinct values until the table is k-anonymous,
        except for the records that may be suppressed. ``best_of_each`` has exact solutions.
        """
        bottom, top = (bound.astype(self.dtype) for bound in (self.xl, self.xu))
        top[len(self.attributes) :] = bottom[len(self.attributes) :]  # a single class, so nothing is suppressed
        found = {"nothing generalised": bottom, "everything generalised": top}
        for k in (2, 5, 10, 50):
            if k <= len(self.data):
                found[f"Datafly, k = {k}"] = self._datafly(k)
        return found

    def _datafly(self, k: int) -> NDArray[Any]:
        x = self.xl.astype(self.dtype)
        x[len(self.attributes) :] = min(k, self.max_suppressed + 1)  # no larger threshold is needed
        n, codes = len(self.attributes), self.data.codes(self.attributes)
        tables = [h.table(self.data.categories(name)) for name, h in self.hierarchies.items()]
        while self.figures(x)["k"] < k and (x[:n] < self.xu[:n]).any():
            distinct = [
                len(np.unique(table[level][column])) if level < len(table) - 1 else -1
                for table, level, column in zip(tables, x[:n], codes.T, strict=True)
            ]
            x[int(np.argmax(distinct))] += 1
        row: NDArray[Any] = self.effective(x)[0]
        return row

    # -- reading --------------------------------------------------------------------------------------------------

    def decode(self, x: ArrayLike) -> GeneralizationNode:
        """Level of each attribute, the threshold, and the neighboring nodes."""
        row, n = self.genome(x), len(self.attributes)
        node, rest = row[:n], row[n:]
        around = neighbours(node, self.xu[:n].astype(self.dtype))
        coarser = around.sum(axis=1) > node.sum()
        around = np.column_stack([around, np.tile(rest, (len(around), 1))])
        levels = dict(zip(self.attributes, map(int, node), strict=True))
        return GeneralizationNode(
            levels=levels,
            phrases={name: self.hierarchies[name].describe(level) for name, level in levels.items()},
            threshold=int(rest[0]) if len(rest) else None,
            more_general=tuple(tuple(map(int, row)) for row in around[coarser]),
            more_specific=tuple(tuple(map(int, row)) for row in around[~coarser]),
        )

    def figures(self, x: ArrayLike) -> dict[str, float]:
        """Measure the solution: every objective that the table has the data for, by name."""
        row, n = self.genome(x), len(self.attributes)
        last, figures = self._figures
        if last != row.tobytes():  # a release asks for the same solution several times
            figures = self.engine.figures(row[:n], *map(int, row[n:]))
            self._figures = (row.tobytes(), figures)
        return {**figures, **self._own_figures(row)}

    def describe(self, x: ArrayLike) -> tuple[str, ...]:
        """Describe in plain sentences what releasing ``x`` would do: one per attribute, then those on the table."""
        node, figures = self.decode(x), self.figures(x)
        k, suppressed = int(figures["k"]), int(figures["suppressed"])
        sentences = [f"{name} {level_phrase(name, node.phrases[name])}." for name in self.attributes]
        n = len(self.data) + self.data.n_dropped  # records of the file
        if suppressed:
            sentences.append(
                f"{suppressed:,} of {n:,} records ({100 * suppressed / n:.2g} %) are suppressed: they stay in"
                f" classes of fewer than {k}."
            )
        others = "other" if k == 2 else "others"
        alike = f"Every record left looks like at least {k - 1:,} {others} (k = {k:,})"
        if k == 1:
            alike = "At least one record left is unique (k = 1)"
        if "l" in figures:
            l, names, several = int(figures["l"]), " and ".join(self.sensitive), len(self.sensitive) > 1
            alone = f", which tells its {'values' if several else 'value'} of {names} (ℓ = 1)"
            mixed = f", among whom {'each of ' if several else ''}{names} has at least {l} different values (ℓ = {l})"
            alike += alone if k == 1 else mixed
        loss = f"{figures['glm_percent']:.3g} % of the detail is lost (GLM {figures['glm']:,.0f})."
        return (*sentences, *left_as_they_are(self.data, self.attributes), alike + ".", loss)

    def release(
        self, x: ArrayLike, *, seed: int | None = None, suppressed: Literal["drop", "star"] = "drop"
    ) -> pd.DataFrame:
        """Return the generalized table; nothing is random.

        Quasi-identifiers above level 0 become the labels of their groups, identifiers become ``*``, and all other
        columns stay unchanged. The rows keep their order, but not the original index, which could identify them.

        Parameters
        ----------
        x
            The node and its threshold.
        seed
            Not used.
        suppressed
            Treatment of suppressed records: ``"drop"`` them, or ``"star"`` all their quasi-identifiers.
        """
        frame = decoded(self.coded_release(x, suppressed=suppressed))
        if suppressed == "star" and self.figures(x)["suppressed"]:
            return frame.astype(dict.fromkeys(self.attributes, object))  # stars may stand beside numbers
        return frame

    def coded_release(
        self, x: ArrayLike, *, seed: int | None = None, suppressed: Literal["drop", "star"] | None = None
    ) -> pd.DataFrame:
        """Return the generalized table of `release` with text columns as codes; same parameters."""
        suppressed = "drop" if suppressed is None else suppressed
        if suppressed not in ("drop", "star"):
            raise SDCError(f"suppressed must be 'drop' or 'star', not {suppressed!r}")
        node, promised = self.decode(x), self.figures(x)
        frame = coded_frame(self.data)
        for name in self.data.identifiers:
            frame[name] = STAR
        groups, lost = self._generalized(self.genome(x))
        for j, (name, hierarchy) in enumerate(self.hierarchies.items()):
            level = node.levels[name]
            if level > 0:
                frame[name] = coded_texts(groups[:, j], hierarchy.labels(level))
        del groups
        if suppressed == "star" and lost.any():
            for name in self.attributes:
                frame[name] = starred(frame[name], lost)
        kept: pd.DataFrame = frame[~lost] if lost.any() else frame
        self._verify(kept, promised)
        return kept.reset_index(drop=True) if suppressed == "drop" else frame

    def _verify(self, kept: pd.DataFrame, figures: Mapping[str, float]) -> None:
        """Count the promised measures again in the table that is about to be released."""
        k, l = 0, 0 if self.sensitive else None
        if len(kept):
            columns = (kept[name].factorize(use_na_sentinel=False)[0] for name in self.attributes)
            classes, n_classes = column_labels(columns)
            k = int(np.bincount(classes, minlength=n_classes).min())
            secrets = (kept[name].factorize(use_na_sentinel=False)[0] for name in self.sensitive)
            l = min((distinct_l(classes, values) for values in secrets), default=None)
        promised = {name: int(figures[name]) for name in ("k", "l") if name in figures}
        if k < promised["k"] or (l is not None and l < promised["l"]):
            raise SDCError(
                f"the table would have k = {k}, ℓ = {l} where k = {promised['k']}, ℓ = {promised.get('l')} are"
                " promised: nothing is released"
            )


def _chosen_hierarchies(
    data: Microdata, hierarchies: Mapping[str, Hierarchy], columns: Sequence[str]
) -> dict[str, Hierarchy]:
    if not isinstance(hierarchies, Mapping):
        raise SDCError("hierarchies must map each quasi-identifier's name to its Hierarchy")
    for name in hierarchies:
        if name not in data.names:
            raise SDCError(
                f"a hierarchy is given for {name!r}, which is not a column{did_you_mean(str(name), data.names)}"
            )
    for name in columns:
        if name not in hierarchies:
            raise SDCError(
                f"quasi-identifier {name!r} has no hierarchy: add it to hierarchies, for example as"
                f" Hierarchy.suppression(data.categories({name!r})), or remove it from the quasi-identifiers"
            )
    return {name: hierarchies[name] for name in columns}


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
