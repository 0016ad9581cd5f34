"""Box archive: a bounded set of solutions that represents everything a search has measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any

import moocore
import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from sdc_problems.errors import SDCError
from sdc_problems.operators.duplicates import row_keys

if TYPE_CHECKING:
    from typing import Self

    from pymoo.core.population import Population

FloatArray = NDArray[np.float64]


class AddStatus(IntEnum):
    """Status of a candidate that was added to an archive."""

    REJECTED = 0
    """It is not in the archive."""
    IMPROVED = 1
    """It replaced the solution in its box, which it dominates."""
    NEW = 2
    """It is in a box that was empty before."""


@dataclass(frozen=True)
class Field:
    """One column block of an ``ArrayStore``: a value of this type and shape per entry."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]


class ArrayStore:
    """Entries kept as one array per declared field, in the order in which they came.

    Parameters
    ----------
    fields
        Name to ``(dtype, shape of one entry)``.

    Examples
    --------
    >>> store = ArrayStore({"F": (np.float64, (2,))})
    >>> store.append(F=np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> store.keep(np.array([1]))
    >>> store["F"]
    array([[3., 4.]])
    """

    def __init__(self, fields: dict[str, tuple[DTypeLike, tuple[int, ...]]]) -> None:
        self.fields = {name: Field(name, np.dtype(dtype), shape) for name, (dtype, shape) in fields.items()}
        self._arrays = {f.name: np.empty((0, *f.shape), dtype=f.dtype) for f in self.fields.values()}

    def __len__(self) -> int:
        return len(next(iter(self._arrays.values())))

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._arrays[name]

    def keep(self, rows: NDArray[np.intp]) -> None:
        """Forget every entry that is not listed."""
        self._arrays = {name: array[rows] for name, array in self._arrays.items()}

    def append(self, **values: NDArray[Any]) -> None:
        """Append entries; every field must be given."""
        if values.keys() != self.fields.keys():
            raise SDCError(f"the store has the fields {', '.join(self.fields)}, not {', '.join(values)}")
        for name, field in self.fields.items():
            if values[name].shape[1:] != field.shape:
                raise SDCError(f"field {name!r} has entries of shape {field.shape}, not {values[name].shape[1:]}")
        self._arrays = {
            name: np.concatenate([self._arrays[name], values[name].astype(field.dtype, copy=False)])
            for name, field in self.fields.items()
        }


class BoxArchive:
    """At most one solution per non-dominated box of objective space.

    Objective space is cut into boxes of side ``epsilon``, counted from ``offset``. A solution box-dominates another
    if its box dominates the other's box or, in one box, if it dominates the other itself. The archive keeps what no
    candidate so far box-dominates, one solution per box (Dewri et al. 2010, Algorithm 1). Of several mutually
    non-dominated candidates in a box, the first to arrive stays.

    Two things follow, and are tested as properties: every member is non-dominated among all candidates that were
    ever added (Theorem 1), and with :math:`b_i` boxes along objective *i*, sorted from most to fewest, there are
    never more than :math:`b_1 b_2 \\cdots b_{r-1}` members (Theorem 2).

    Parameters
    ----------
    epsilon
        Side of a box: one number, or one per objective.
    offset
        Origin of the boxes: one number, or one per objective, on the minimized scale of ``F``.

    Attributes
    ----------
    statuses
        ``AddStatus`` of each candidate of the last call of ``add``.
    n_added
        Number of candidates that were ever added.

    Notes
    -----
    All objectives are minimized. Boxes are counted outward from the offset in both directions: a value ``f`` lies
    in box ``trunc((f - offset) / epsilon)``. A maximized objective is stored negated, so that a class size of 7
    (``f = -7``) lies in the second box of side 5 from zero, exactly as if the sizes themselves had been binned;
    for objectives that are never negative these are the boxes of ``sdc_problems.evaluators.boxes``.

    An ``add`` of *m* candidates to *a* members takes :math:`O((a + m) \\log^{r-2} (a + m))` comparisons for up to
    four objectives.

    Examples
    --------
    >>> archive = BoxArchive(epsilon=[10, 1])
    >>> archive.update(F=[[12, 5], [27, 3], [28, 3]], X=[[0], [1], [2]]).tolist()
    [2, 2, 0]
    >>> archive.F
    array([[12.,  5.],
           [27.,  3.]])
    >>> AddStatus(archive.update(F=[[21, 3]], X=[[3]])[0]).name
    'IMPROVED'
    """

    def __init__(self, epsilon: ArrayLike = 1.0, *, offset: ArrayLike = 0.0) -> None:
        self.epsilon = _per_objective(epsilon, "epsilon")
        self.offset = _per_objective(offset, "offset")
        if not (self.epsilon > 0).all():
            raise SDCError(f"epsilon must be positive, not {self.epsilon.tolist()}")
        self.statuses: NDArray[np.int8] = np.empty(0, dtype=np.int8)
        self.n_added = 0
        self._store: ArrayStore | None = None

    # -- reading --------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return 0 if self._store is None else len(self._store)

    def __iter__(self) -> Iterator[tuple[NDArray[Any], FloatArray]]:
        """Pairs ``(x, f)`` in order of arrival."""
        return zip(self.X, self.F, strict=True)

    @property
    def F(self) -> FloatArray:
        """Objective values of the members (minimized), in order of arrival."""
        return self._read("F")

    @property
    def X(self) -> NDArray[Any]:
        """Genomes of the members, in order of arrival."""
        return self._read("X")

    @property
    def boxes(self) -> FloatArray:
        """Box coordinates of the members, in order of arrival."""
        return self._read("box")

    def _read(self, field: str) -> NDArray[Any]:
        if self._store is None:
            return np.empty((0, 0))
        array = self._store[field].view()
        array.flags.writeable = False  # an edit by the caller would break the archive
        return array

    def box_of(self, F: ArrayLike) -> FloatArray:
        """Box coordinates of each row of ``F`` (whole numbers, as floats: they may exceed 64-bit integers)."""
        boxes: FloatArray = np.trunc((np.asarray(F, dtype=float) - self.offset) / self.epsilon) + 0.0  # -0.0 is 0.0
        return boxes

    def __repr__(self) -> str:
        return f"<BoxArchive: {len(self)} members of {self.n_added} candidates, epsilon {self.epsilon.tolist()}>"

    # -- adding ---------------------------------------------------------------------------------------------------

    def add(self, pop: Population) -> Self:
        """Add a pymoo population; infeasible individuals are rejected. ``statuses`` says what happened to each."""
        feasible = np.flatnonzero(np.asarray(pop.get("FEAS"), dtype=bool).reshape(len(pop), -1).all(axis=1))
        statuses = np.full(len(pop), AddStatus.REJECTED, dtype=np.int8)
        if len(feasible):
            statuses[feasible] = self.update(pop.get("F")[feasible], pop.get("X")[feasible])
        self.n_added += len(pop) - len(feasible)
        self.statuses = statuses
        return self

    def update(self, F: ArrayLike, X: ArrayLike) -> NDArray[np.int8]:
        """Add candidates, the first row first, and return the status of each.

        The archive is then the same as after adding them one by one. A candidate that another row of the same call
        displaced is not in the archive and is therefore REJECTED.

        Parameters
        ----------
        F
            Candidates × objectives, minimized.
        X
            Candidates × variables.

        Returns
        -------
        ndarray
            One ``AddStatus`` per candidate.
        """
        F, X = self._candidates(F, X)
        if self._store is None:
            self._store = ArrayStore(
                {"F": (float, F.shape[1:]), "X": (X.dtype, X.shape[1:]), "box": (float, F.shape[1:])}
            )
        members, box = len(self._store), self.box_of(F)
        values = np.concatenate([self._store["F"], F])
        boxes = np.concatenate([self._store["box"], box])

        # Dominance between boxes does not depend on the order of arrival; only the choice within a box does.
        standing = np.flatnonzero(moocore.is_nondominated(boxes, keep_weakly=True))
        keys = row_keys(boxes)
        held = set(keys[:members])
        holder: dict[bytes, int] = {}
        for i in standing.tolist():
            first = holder.setdefault(keys[i], i)
            if first != i and _dominates(values[i], values[first]):
                holder[keys[i]] = i

        kept = np.sort(np.fromiter(holder.values(), dtype=np.intp, count=len(holder)))
        entered = kept[kept >= members] - members
        self._store.keep(kept[kept < members])
        self._store.append(F=F[entered], X=X[entered], box=box[entered])
        statuses = np.full(len(F), AddStatus.REJECTED, dtype=np.int8)
        for i in entered.tolist():
            statuses[i] = AddStatus.IMPROVED if keys[members + i] in held else AddStatus.NEW
        self.statuses = statuses
        self.n_added += len(F)
        return statuses

    def _candidates(self, F: ArrayLike, X: ArrayLike) -> tuple[FloatArray, NDArray[Any]]:
        F, X = np.asarray(F, dtype=float), np.asarray(X)
        if F.ndim != 2 or X.ndim != 2 or len(F) != len(X) or F.shape[1] == 0:
            raise SDCError(f"F and X must have one row per candidate, not shapes {F.shape} and {X.shape}")
        for name, array in (("epsilon", self.epsilon), ("offset", self.offset)):
            if array.ndim and len(array) != F.shape[1]:
                raise SDCError(f"{name} has {len(array)} entries for {F.shape[1]} objectives")
        if self._store is not None and (
            F.shape[1:] != self._store.fields["F"].shape or X.shape[1:] != self._store.fields["X"].shape
        ):
            raise SDCError("the archive holds solutions of another problem: start a new BoxArchive")
        if not np.isfinite(F).all():
            row, column = (int(i) for i in np.argwhere(~np.isfinite(F))[0])
            raise SDCError(f"objective {column} of candidate {row} is {F[row, column]}")
        return F, X


def _dominates(f: FloatArray, g: FloatArray) -> bool:
    return bool((f <= g).all() and (f < g).any())


def _per_objective(value: ArrayLike, name: str) -> FloatArray:
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise SDCError(f"{name} must be a number or one number per objective, not {value!r}") from None
    if array.ndim > 1 or array.size == 0 or not np.isfinite(array).all():
        raise SDCError(f"{name} must be a finite number or one per objective, not {value!r}")
    return array
