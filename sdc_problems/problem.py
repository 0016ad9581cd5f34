"""Base class of the problems: a pymoo Problem for an anonymization task."""

from __future__ import annotations

import copy
import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from pymoo.core.population import Population
from pymoo.core.problem import Problem
from pymoo.core.repair import NoRepair

from sdc_problems._genomes import first_unknown, row_keys
from sdc_problems._tables.columns import STAR
from sdc_problems._tables.views import table_view
from sdc_problems.errors import SDCError
from sdc_problems.front import Front, Part, minimal
from sdc_problems.objective import Objective, by_name, choose_objectives, find_objective
from sdc_problems.operators.never_twice import NeverTwice
from sdc_problems.operators.search_guard import SearchGuard
from sdc_problems.requirement import Required, Requirement, read_requirements

if TYPE_CHECKING:
    from typing import Self

    import pandas as pd

    from sdc_problems.microdata import Microdata

__all__ = ["STAR", "Objective", "SDCProblem", "by_name", "choose_objectives", "find_objective"]

OPERATORS = (
    "; operators made for real numbers, which are pymoo's defaults, do not fit: give the algorithm the problem's own,"
    " such as NSGA2(pop_size=100, **problem.operators())"
)
"""Advice in the error about rows that are not whole numbers."""
FEW = 64  # number of variables up to which a search may measure every solution
AT_ONCE = 5000  # candidates that an enumeration measures at a time

INSTEAD = {
    "attributes": "it is now called columns=",
    "elementwise": "rows are measured together",
    "elementwise_runner": "measure in several processes by ParallelEvaluator(ProcessPool(problem, workers=4)), given to"
    " the algorithm as evaluator=",
    "n_constr": "state constraints by require=, such as require={'k': 5}",
    "n_eq_constr": "state constraints by require=, such as require={'k': {'min': 5, 'max': 5}}",
    "n_ieq_constr": "state constraints by require=, such as require={'k': 5}",
    "n_obj": "objectives= says which there are",
    "n_var": "the data and the parameters say how many variables there are",
    "runner": "measure in several processes by ParallelEvaluator(ProcessPool(problem, workers=4)), given to the"
    " algorithm as evaluator=",
    "vtype": "variables are whole numbers",
    "xl": "the data and the parameters say what the bounds are",
    "xu": "the data and the parameters say what the bounds are",
}
"""Arguments of pymoo's constructors or of earlier versions, and what to write here instead."""


class _Compiled:
    """The engine that a problem and its copies share: made when one of them first needs it."""

    __slots__ = ("engine",)

    def __init__(self) -> None:
        self.engine: Any = None


class SDCProblem(Problem, ABC):
    """Anonymization task over fixed-length small-integer arrays.

    A subclass sets its parameters, calls ``super().__init__``, and provides ``_compile``, ``_measure``,
    ``_operators``, ``decode``, ``describe``, ``release`` and ``baselines``; without all of them, it cannot be
    instantiated. A copy (pymoo's wrappers change theirs) is a new problem over the same data and the same engine. A
    pickle holds only the parameters and the handle of the data; the engine is compiled again when it is first used.

    Parameters
    ----------
    data
        The table.
    objectives
        Quantities to optimize, in the order of the columns of ``F``: names of the catalogue, or an `Objective` of your
        own with a function of the released and the original codes (see ``_tables``).
    catalogue
        Objectives that the task can measure, by name; by default, those in ``objectives``.
    require
        Requirements of a solution, by names of the catalogue (which need not be optimized): ``{"k": 5}`` is at least 5
        for an objective that is maximized and at most 5 for one that is minimized; ``{"k": {"min": 5, "max": 50}}``
        gives both bounds. pymoo gets them as inequality constraints, in natural units.
    n_var, xl, xu
        Length of a row of ``X``, and its integer bounds (scalars or arrays).
    dtype
        Integer type of ``X``.

    Notes
    -----
    Methods that a subclass provides or finds here, and that only the class itself calls:

    ``_compile()``
        Return what evaluation needs from the data; kept as ``self.engine``, and called once in each process.
    ``_measure(X, names)``
        Return the named objectives of each row of ``X``: rows × names, in the unit that a person reads. Rows are of
        ``dtype``, within bounds, and not always in canonical form.
    ``_operators()``
        Return ``sampling``, ``crossover``, ``mutation`` and ``repair``, by pymoo's names for them.
    ``_tables(x)``
        Yield pairs of tables, released and original, records × protected columns, as integer codes. Equal codes in a
        column are equal cells, in both tables; -1 is a suppressed cell. Objectives that a user writes are functions of
        such a pair; their value is the mean over the pairs. Optional, but `ProblemContract` asks for it.
    ``_publishable()``
        Call it in ``release``. It returns a frame with every column of the data, a star in each identifier and no
        index; ``release`` replaces the protected columns.
    ``_own_figures(x)``
        Call it in a ``figures`` of your own. It returns the objectives that a user has written, for a checked row.
    ``_check_objective(objective)``
        Raise an SDCError if the data lack what a chosen objective needs. Optional.

    *Canonical form.* If several rows of ``X`` mean the same solution, the ``repair`` of ``_operators`` turns each into
    one of them and leaves that one unchanged. Rows are compared by their bytes: without a repair, a search measures the
    same solution repeatedly, and a front lists it repeatedly. If every row is a different solution, the repair is
    pymoo's ``NoRepair()``. A row that a user gives need not be in canonical form, so ``_measure``, ``decode`` and
    ``release`` read it as the solution that it means.

    Examples
    --------
    The repair of an encoding in which all values of 3 or more mean the same:

    >>> import numpy as np
    >>> from pymoo.core.population import Population
    >>> from pymoo.core.repair import Repair
    >>> class AtMostThree(Repair):
    ...     def _do(self, problem, X, **kwargs):
    ...         return np.minimum(X, 3).astype(X.dtype)
    >>> AtMostThree()(None, Population.new("X", np.array([[5, 1], [3, 1]], dtype=np.int16))).get("X").tolist()
    [[3, 1], [3, 1]]
    """

    def __new__(cls, *args: object, **options: object) -> Self:
        """Refuse arguments of pymoo's constructors or of earlier versions, and say what to write instead."""
        for name in INSTEAD.keys() & options.keys():
            known = inspect.signature(cls.__init__).parameters
            if name not in known and not any(p.kind is p.VAR_KEYWORD for p in known.values()):
                raise TypeError(f"{cls.__name__} takes no {name}=: {INSTEAD[name]}")
        made: Self = super().__new__(cls)
        return made

    data: Any  # pymoo has a dict of this name; ours is the Microdata, set below
    known_front: NDArray[np.float64] | None = None
    """Front as pymoo's displays and indicators ask for it by ``pareto_front()``; instances of the suite know theirs."""

    def __init__(
        self,
        *,
        data: Microdata,
        objectives: Sequence[str | Objective],
        catalogue: Mapping[str, Objective] | None = None,
        require: Mapping[str, Required] | None = None,
        n_var: int,
        xl: ArrayLike,
        xu: ArrayLike,
        dtype: DTypeLike = np.int16,
    ) -> None:
        lower = np.broadcast_to(np.asarray(xl), n_var).astype(float)
        upper = np.broadcast_to(np.asarray(xu), n_var).astype(float)
        self.dtype = np.dtype(dtype)
        if self.dtype.kind not in "iu":
            raise SDCError(f"dtype must be an integer type, not {self.dtype}")
        info = np.iinfo(self.dtype)
        if n_var and (lower.min() < info.min or upper.max() > info.max):
            raise SDCError(f"bounds [{lower.min():.0f}, {upper.max():.0f}] do not fit dtype {self.dtype}")
        super().__init__(n_var=n_var, n_obj=0, xl=lower, xu=upper, vtype=int)
        self.data = data
        self.catalogue = dict(by_name(*objectives) if catalogue is None else catalogue)  # type: ignore[arg-type]
        self._state(objectives, require)

    def _state(self, objectives: Sequence[str | Objective], require: Mapping[str, Required] | None) -> None:
        """Set objectives and requirements, and an engine that is still to be compiled for them."""
        self.objectives = choose_objectives(objectives, self.catalogue)
        known = {**self.catalogue, **by_name(*self.objectives)}
        self.requirements: tuple[Requirement, ...] = read_requirements(require, known)
        required = {requirement.objective.name: requirement.objective for requirement in self.requirements}
        self.measured_objectives = tuple({**by_name(*self.objectives), **required}.values())
        for objective in self.measured_objectives:
            if objective.function is None:
                self._check_objective(objective)
            elif type(self)._tables is SDCProblem._tables:
                raise SDCError(
                    f"objective {objective.name!r} is a function of the released codes, which {type(self).__name__}"
                    " does not provide: it lacks _tables(x)"
                )
        self._signs = np.array([1.0 if o.sense == "min" else -1.0 for o in self.objectives])
        self.n_obj = len(self.objectives)
        self.n_ieq_constr = sum(requirement.n_bounds for requirement in self.requirements)
        self._compiled = _Compiled()
        self.known_front = None
        self.cache: dict[str, Any] = {}

    def with_objectives(
        self, objectives: Sequence[str | Objective], *, require: Mapping[str, Required] | None = None
    ) -> Self:
        """The same task on the same data with other objectives and requirements; this problem is not changed.

        Parameters
        ----------
        objectives
            Quantities to optimize instead.
        require
            Requirements of a solution instead; none if not given.
        """
        other = copy.copy(self)
        other._state(objectives, require)
        return other

    # -- what a subclass provides ---------------------------------------------------------------------------------

    @abstractmethod
    def _compile(self) -> Any:
        """Build the evaluation engine from the data and the parameters; called once per process."""

    @abstractmethod
    def _measure(self, X: NDArray[Any], names: Sequence[str]) -> NDArray[np.float64]:
        """Values of the named objectives in natural units: one row for each row of ``X``, one column for each name.

        The rows are of ``self.dtype`` and within bounds; the names are some of those in ``self.measured_objectives``.
        """

    def _check_objective(self, objective: Objective) -> None:
        """Raise an SDCError if the data lack what a chosen objective of the catalogue needs."""

    def _tables(self, x: NDArray[Any]) -> Iterable[tuple[NDArray[Any], NDArray[Any]]]:
        """Pairs of tables, released and original, for objectives that a user writes (the mean over pairs).

        Records × protected attributes, as integer codes: equal codes in a column are equal cells, in both tables,
        numeric and ordinal values keep their order, and -1 is a suppressed cell. A problem that does not provide it
        takes no such objective.
        """
        raise NotImplementedError

    @abstractmethod
    def _operators(self) -> dict[str, Any]:
        """Sampling, crossover, mutation and repair, by pymoo's names for them; ``operators`` adds `NeverTwice`."""

    def _n_genomes(self) -> int | None:
        """Largest number of different rows, or None if unknown: a search ends when all are measured."""
        return self.n_candidates if self.n_var <= FEW else None

    @abstractmethod
    def decode(self, x: ArrayLike) -> Any:
        """Decode a row to a small frozen object that describes it; nothing is measured, so no engine is needed."""

    def figures(self, x: ArrayLike) -> Mapping[str, float]:
        """Measure a row: its objectives in natural units and other figures of the task, by name.

        By default, these are the objectives that are optimized or required.
        """
        names = [objective.name for objective in self.measured_objectives]
        return dict(zip(names, map(float, self._values(self.genome(x)[None, :])[0]), strict=True))

    @abstractmethod
    def describe(self, x: ArrayLike) -> tuple[str, ...]:
        """Say in plain sentences what releasing ``x`` would do to the data."""

    @abstractmethod
    def release(self, x: ArrayLike, *, seed: int | None = None) -> pd.DataFrame:
        """Return the protected table; an SDCError if it does not meet the promised guarantee.

        Start from ``self._publishable()``: same columns and order of rows, but no identifiers and no index.
        """

    def coded_release(
        self, x: ArrayLike, *, seed: int | None = None, suppressed: Literal["drop", "star"] | None = None
    ) -> pd.DataFrame:
        """Release with text columns as codes, for large tables; by default the same as `release`.

        Parameters
        ----------
        x, seed
            As for `release`.
        suppressed
            As for the `release` of a problem that suppresses records; None for other problems.
        """
        options: dict[str, Any] = {} if suppressed is None else {"suppressed": suppressed}
        return self.release(x, seed=seed, **options)

    @abstractmethod
    def baselines(self) -> dict[str, NDArray[Any]]:
        """Named solutions that need no search; a front is compared with them, and a search can start from them."""

    # -- what every problem has -----------------------------------------------------------------------------------

    @property
    def engine(self) -> Any:
        """The compiled evaluator (built at first use)."""
        if self._compiled.engine is None:
            self._compiled.engine = self._compile()
        return self._compiled.engine

    def operators(self, *, eliminate_duplicates: bool = True) -> dict[str, Any]:
        """Operators made for this encoding, as the keyword arguments of pymoo's algorithms.

        Their duplicate elimination remembers every solution that the search has measured: none is measured twice.

        Parameters
        ----------
        eliminate_duplicates
            Whether duplicate elimination is included. MOEA/D does not take it, because it needs duplicates:
            ``MOEAD(ref_dirs, **problem.operators(eliminate_duplicates=False))``.
        """
        chosen = self._operators()
        chosen.setdefault("eliminate_duplicates", NeverTwice(n_genomes=self._n_genomes()))
        chosen["repair"] = SearchGuard(chosen.get("repair", NoRepair()), chosen["eliminate_duplicates"])
        if not eliminate_duplicates:
            chosen.pop("eliminate_duplicates", None)
        return chosen

    @property
    def n_candidates(self) -> int:
        """Number of rows that ``enumerate_front`` has to try."""
        return math.prod(int(high - low) + 1 for low, high in zip(self.xl, self.xu, strict=True))

    def enumerate_front(
        self, progress: Callable[[int, int], object] | None = None, *, limit: int = 1_000_000, ties: bool = False
    ) -> Front:
        """Exact front: the solutions that no other solution beats, by measuring all solutions or an equivalent method.

        Parameters
        ----------
        progress
            Called as ``progress(candidates done, candidates in all)`` from time to time.
        limit
            Largest number of candidates to try, or of steps if an exact algorithm needs fewer.
        ties
            Whether all solutions with equal F are returned, or only the first; for all, every solution is measured.

        Raises
        ------
        SDCError
            If there are more candidates than the limit; the message says how many.
        """
        rows = None if ties or self.requirements else self._programme(progress, limit)
        if rows is None:
            return minimal(self.enumerate_parts(progress, limit=limit), ties=ties).of(self.objectives).warned()
        found = minimal([self._part(rows, self._values(rows))])
        if progress is not None:
            progress(self.n_candidates, self.n_candidates)
        return found._replace(n_candidates=self.n_candidates).of(self.objectives).warned()

    def _programme(self, progress: Callable[[int, int], object] | None, limit: int) -> NDArray[Any] | None:
        """Rows that include the exact front, found by an exact algorithm; None if every solution must be measured."""
        return None

    def front(self, found: Any) -> Front:
        """Front that a search has found, with a table (``to_frame``) and a display for notebooks.

        Parameters
        ----------
        found
            pymoo's ``Result``, a ``Population``, or rows of X, which are measured. For a result, the number of
            solutions measured is that of its search.

        Examples
        --------
        >>> from pymoo.algorithms.moo.nsga2 import NSGA2
        >>> from pymoo.optimize import minimize
        >>> from sdc_problems import PBGProblem
        >>> from sdc_problems.datasets import people
        >>> some = people(200)
        >>> problem = PBGProblem(some.data, some.hierarchies, objectives=("k", "glm"))
        >>> result = minimize(problem, NSGA2(pop_size=20, **problem.operators()), ("n_gen", 5), seed=1)
        >>> list(problem.front(result).to_frame().columns)
        ['k', 'glm', 'x']
        """
        n, population = None, getattr(found, "opt", found)
        if population is None:
            raise SDCError("the search has found no solution yet: run it first")
        if isinstance(population, Population):
            n = getattr(getattr(getattr(found, "algorithm", None), "evaluator", None), "n_eval", None)
            met = np.array([bool(individual.FEAS[0]) for individual in population], dtype=bool)
            X, F = population.get("X"), population.get("F")
        else:
            X = self.genomes(found)
            values = self._values(X)
            X, F, met = self._part(X, values)
        if len(X) and np.shape(F) != (len(X), self.n_obj):
            raise SDCError(f"F has other objectives than this problem: it has shape {np.shape(F)}")
        front = minimal([(np.reshape(X, (len(X), -1)), np.reshape(F, (len(X), self.n_obj)), met)])
        return front._replace(n_candidates=front.n_candidates if n is None else int(n)).of(self.objectives).warned()

    def enumerate_parts(
        self, progress: Callable[[int, int], object] | None = None, *, limit: int = 1_000_000
    ) -> Iterator[Part]:
        """Measure every solution, part by part: rows of X, their F, and a mask of those that meet the requirements.

        Parameters
        ----------
        progress, limit
            As for ``enumerate_front``.
        """
        n = self.n_candidates
        if n > limit:
            raise SDCError(f"{self._size_in_words()}, more than limit={limit:,}: raise the limit, or search")
        return self._enumerated(progress, n)

    def seconds_to_enumerate(self) -> float | None:
        """Estimate the seconds that ``enumerate_front`` takes on this machine; None if unknown."""
        return None

    def best_of_each(self, *, limit: int = 1_000_000) -> dict[str, NDArray[Any]]:
        """Best solution for each objective, found by measuring all solutions; named like the baselines.

        Among several with the best value, the one that is best in the other objectives, in their order, is taken.

        Parameters
        ----------
        limit
            Largest number of candidates to try.
        """
        front = self.enumerate_front(limit=limit)
        found = {}
        for j, objective in enumerate(self.objectives if len(front.X) else ()):
            order = [j, *(i for i in range(self.n_obj) if i != j)]
            found[f"best {objective.name}"] = front.X[np.lexsort(front.F[:, order[::-1]].T)[0]]
        return found

    def _size_in_words(self) -> str:
        """Number of candidates, in words."""
        n = self.n_candidates
        return f"there are {n:,} candidates" if n < 10**15 else f"there are about 10^{math.log10(n):.0f} candidates"

    def _enumerated(self, progress: Callable[[int, int], object] | None, n: int) -> Iterator[Part]:
        """Every candidate with its F, part by part."""
        done = 0
        for X in self._candidates():
            done += len(X)
            yield self._part(X, self._values(X))
            if progress is not None and done < n:
                progress(done, n)
        if progress is not None:
            progress(n, n)

    def _part(self, X: NDArray[Any], values: NDArray[np.float64]) -> Part:
        """Rows with their F, and a mask of those that meet the requirements."""
        met: NDArray[np.bool_] = np.all(self._violations(values) <= 0, axis=1)
        return X, self.minimized(values[:, : len(self.objectives)]), met

    def _candidates(self) -> Iterator[NDArray[Any]]:
        """Every different solution once, a few thousand at a time."""
        sizes = (self.xu - self.xl).astype(int) + 1
        repair, seen = self._operators().get("repair", NoRepair()), set[bytes]()
        for start in range(0, self.n_candidates, AT_ONCE):
            numbers = np.arange(start, min(start + AT_ONCE, self.n_candidates))
            X = (np.stack(np.unravel_index(numbers, sizes), axis=1) + self.xl).astype(self.dtype)
            X = repair(self, Population.new(X=X), random_state=np.random.default_rng(0)).get("X").astype(self.dtype)
            fresh = first_unknown(row_keys(X), seen)
            seen.update(fresh)
            yield X[list(fresh.values())]

    def _calc_pareto_front(self, *args: object, **kwargs: object) -> NDArray[np.float64] | None:
        return self.known_front  # never enumerate here: displays ask for it in every run

    def natural(self, F: ArrayLike) -> NDArray[np.float64]:
        """Objective values in the sense that a person reads; ``F`` stores maximized ones negated."""
        values: NDArray[np.float64] = np.asarray(F, dtype=float) * self._signs
        return values

    def minimized(self, values: ArrayLike) -> NDArray[np.float64]:
        """Inverse of ``natural``."""
        return self.natural(values)  # flipping the sign undoes itself

    def genomes(self, X: ArrayLike) -> NDArray[Any]:
        """Rows checked and cast to the problem's dtype; an SDCError says where a value is not valid."""
        X = np.atleast_2d(np.asarray(X))
        if X.ndim != 2 or X.shape[1] != self.n_var:
            raise SDCError(f"X must have {self.n_var} columns, not shape {X.shape}")
        if X.dtype.kind not in "iuf":
            raise SDCError(f"X must hold whole numbers, not {X.dtype}")
        outside = ~((X >= self.xl) & (X <= self.xu))  # NaN is outside
        if X.dtype.kind == "f":
            outside |= np.floor(X) != X
        if outside.any():
            row, column = (int(i) for i in np.argwhere(outside)[0])
            raise SDCError(
                f"X[{row}, {column}] = {X[row, column]} must be a whole number"
                f" between {self.xl[column]:.0f} and {self.xu[column]:.0f}"
                + (OPERATORS if X.dtype.kind == "f" and np.isfinite(X[row, column]) else "")
            )
        return np.ascontiguousarray(X, dtype=self.dtype)

    def genome(self, x: ArrayLike) -> NDArray[Any]:
        """One row, checked and cast as by ``genomes``."""
        x = np.asarray(x)
        if x.ndim != 1:
            raise SDCError(f"expected one row of {self.n_var} variables, not shape {x.shape}")
        row: NDArray[Any] = self.genomes(x)[0]
        return row

    def _publishable(self) -> pd.DataFrame:
        """Return the table that every release starts from: identifiers starred, and no index, which may identify."""
        frame: pd.DataFrame = self.data.frame().reset_index(drop=True)
        for name in self.data.identifiers:
            frame[name] = STAR
        return frame

    def _evaluate(self, x: ArrayLike, out: dict[str, Any], *args: object, **kwargs: object) -> None:
        values = self._values(self.genomes(x))
        out["F"] = self.minimized(values[:, : len(self.objectives)])
        if self.requirements:
            out["G"] = self._violations(values)

    def _values(self, X: NDArray[Any]) -> NDArray[np.float64]:
        """Values of everything that is measured, one column for each of ``measured_objectives``."""
        names = [objective.name for objective in self.measured_objectives if objective.function is None]
        values = np.empty((len(X), len(self.measured_objectives)))
        if names:
            found = np.asarray(self._measure(X, names), dtype=float)
            if found.shape != (len(X), len(names)):
                raise SDCError(f"{type(self).__name__} measured shape {found.shape}, not {(len(X), len(names))}")
            values[:, [objective.function is None for objective in self.measured_objectives]] = found
        if len(names) < len(self.measured_objectives):
            values[:, [objective.function is not None for objective in self.measured_objectives]] = [
                list(self._own_figures(x).values()) for x in X
            ]
        if not np.isfinite(values).all():  # pymoo would rank NaN and infinity silently
            row, column = (int(i) for i in np.argwhere(~np.isfinite(values))[0])
            raise SDCError(f"objective {self.measured_objectives[column].name!r} of row {row} is {values[row, column]}")
        return values

    def _own_figures(self, x: NDArray[Any]) -> dict[str, float]:
        """Values of the objectives that a user wrote for a checked row, by name: means over the pairs of tables."""
        functions = {o.name: o.function for o in self.measured_objectives if o.function is not None}
        if not functions:
            return {}
        found: dict[str, list[float]] = {name: [] for name in functions}
        for tables in self._tables(x):
            for table in tables:
                table.flags.writeable = False
            for name, function in functions.items():
                found[name].append(float(function(*tables)))
        return {name: float(np.mean(values)) for name, values in found.items()}

    def _violations(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Violation of each bound of the requirements, in natural units; a bound is met where it is not above 0."""
        names = [objective.name for objective in self.measured_objectives]
        sides = [r.violations(values[:, names.index(r.objective.name)]) for r in self.requirements]
        return np.concatenate([np.zeros((len(values), 0)), *sides], axis=1)

    def __getstate__(self) -> dict[str, Any]:
        """Keep parameters and shared arrays only; bounds that are all equal (one per record) become one number."""
        state = {**self.__dict__, "cache": {}}
        del state["_compiled"]
        for side in ("xl", "xu"):
            if len(np.unique(state[side])) == 1:
                state[side] = state[side][:1]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._compiled = _Compiled()
        for side in ("xl", "xu"):
            setattr(self, side, np.broadcast_to(state[side], self.n_var).copy())

    def __copy__(self) -> Self:
        return copy.deepcopy(self)  # pymoo's wrappers change what they are given

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        copied = type(self).__new__(type(self))
        memo[id(self)] = copied
        for shared in (
            self.data,
            self.catalogue,
            self.objectives,
            self.measured_objectives,
            self.requirements,
            self._compiled,
        ):
            memo[id(shared)] = shared
        copied.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return copied

    def _repr_html_(self) -> str:
        rows = [[o.name, o.label, o.sense, o.unit, o.meaning] for o in self.objectives]
        where = f", {len(self.data):,} records" if self.data.arrays.at_hand else ""
        required = [f"Required: {requirement}." for requirement in self.requirements]
        caption = f"{type(self).__name__}: {self.n_var:,} variables{where}"
        return table_view(caption, ["objective", "", "best", "unit", "meaning"], rows, notes=required)

    def __repr__(self) -> str:
        names = ", ".join(o.name for o in self.objectives)
        return f"<{type(self).__name__}: {self.n_var} variables, objectives ({names})>"
