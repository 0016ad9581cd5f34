"""Linear relaxation of the choice of groups, solved by HiGHS from where it stood last time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems.errors import SDCFailure
from sdc_problems.methods.bounds._cuts import Cut, Group, counts, violated
from sdc_problems.methods.bounds._nearest import half_to_nearest
from sdc_problems.methods.bounds._pricing import cheap_groups, searched_groups

if TYPE_CHECKING:
    from highspy import Highs

NEAREST = 60  # records, or 4k, among which the local search looks for a group
LARGEST_POOL, KEPT = 60_000, 35_000  # largest number of groups, and number kept when it is exceeded
PRIMAL, DUAL = 4, 1
"""Variants of the simplex method: new groups keep a solution feasible, new cuts keep its prices so."""
SLOW = (
    "mip_allow_restart", "mip_heuristic_run_rins", "mip_heuristic_run_rens", "mip_heuristic_run_root_reduced_cost",
)  # fmt: skip
"""Heuristics of HiGHS that take half of its time here and find nothing: it rounds nearly whole relaxations anyway."""
PRECISE = 1e-5  # a choice of groups is the best up to this share


class Relaxation:
    """Linear relaxation of the choice of groups, with the groups and cuts added so far.

    Rows of the program are the records, each of which is in one group, then the cuts. Columns are the groups.
    """

    def __init__(self, Z: NDArray[np.float64], k: int, labels: NDArray[Any]) -> None:
        self.Z, self.k = Z, k
        self._half, self._near = half_to_nearest(Z, k), neighbors(Z, k)
        self._calm, self.prices, self.cut_prices = np.zeros(len(Z)), np.zeros(0), np.zeros(0)
        self.pool: dict[Group, float] = {}
        self.cuts: list[Cut] = []
        self._program = _quiet()
        nothing = np.zeros(0, dtype=np.int32)
        self._program.addRows(
            len(Z), np.ones(len(Z)), np.ones(len(Z)), 0, np.zeros(len(Z), dtype=np.int32), nothing, np.zeros(0)
        )
        for g in np.unique(labels):
            self.add(np.flatnonzero(labels == g))
        self._known = frozenset(self.pool)

    def add(self, members: NDArray[np.int64]) -> None:
        points = self.Z[members]
        self.pool[tuple(sorted(members.tolist()))] = float(((points - points.mean(axis=0)) ** 2).sum())

    def solve(self) -> float:
        """Solve the relaxation for the present groups; sets shares and prices, and returns the value of the prices."""
        n, program = len(self.Z), self._program
        if program.getNumRow() > n + len(self.cut_prices):
            self._run(DUAL)
        self._take_groups()
        self._run(PRIMAL)
        solution = program.getSolution()
        self.shares, self.reduced = np.array(solution.col_value), np.array(solution.col_dual)
        prices = np.array(solution.row_dual)
        self.prices, self.cut_prices = prices[:n], np.maximum(0.0, -prices[n:])
        self.groups = list(self.pool)
        if len(self.pool) > LARGEST_POOL:
            dropped = np.sort(np.argsort(self.reduced, kind="stable")[KEPT:])
            # Those of the known partition stay: with them, the program has a solution whatever cuts are added.
            self._drop_groups(np.array([j for j in dropped.tolist() if self.groups[j] not in self._known], dtype=int))
        self._tables = self._cut_tables()
        return float(self.prices.sum() - self.cut_prices @ [cut.room for cut in self.cuts])

    def search(self, tolerance: float) -> int:
        """Add groups, found by a local search, that undercut their prices by more than a tolerance."""
        before = len(self.pool)
        self._calm = 0.5 * (self._calm + self.prices)  # smoothed, because prices jump from solution to solution
        for prices in (self._calm, self.prices):
            self._join(searched_groups(self.Z, self.k, self._near, prices, *self._tables, tolerance))
        return len(self.pool) - before

    def go_through(self, tolerance: float, steps: int) -> tuple[int, float | None]:
        """Add the cheapest of all groups that undercut their prices by more than a tolerance.

        Returns
        -------
        added, undercut
            Number of groups added, and an upper bound on the total by which the groups of a partition undercut their
            prices beyond the tolerance of each; ``None`` if it was given up after ``steps``.
        """
        before = len(self.pool)
        groups, undercut, left = cheap_groups(self.Z, self.k, self._half, self.prices, *self._tables, tolerance, steps)
        self._join(groups)
        return len(self.pool) - before, undercut if left else None

    def separate(self) -> int:
        """Add the most violated cuts and drop those without effect; returns the number added."""
        from highspy import HighsBasisStatus

        n, program = len(self.Z), self._program
        # A cut in the basis has no effect; the basis of the others remains one.
        idle = [q for q, status in enumerate(program.getBasis().row_status[n:]) if status == HighsBasisStatus.kBasic]
        if idle:
            program.deleteRows(len(idle), np.array(idle, dtype=np.int32) + n)
            self.cuts = [cut for q, cut in enumerate(self.cuts) if q not in set(idle)]
            self.cut_prices = np.delete(self.cut_prices, idle)
        new = violated(self.groups, self.shares, self.k, n, self.cuts)
        if new:
            rows = counts(new, self._records_of(self.groups)).tocsr()
            most, least = np.array([cut.room for cut in new], dtype=float), np.full(len(new), -np.inf)
            program.addRows(len(new), least, most, rows.nnz, rows.indptr[:-1], rows.indices, rows.data)
            self.cuts += new
        return len(new)

    def picked(self, most: float, known: NDArray[Any], seconds: float, nodes: int) -> NDArray[np.int64] | None:
        """Choose whole groups with the smallest total cost, each record in one; ``None`` if none was found in time.

        Parameters
        ----------
        most
            Cost of a known partition. Groups that alone raise the relaxation above it cannot be in a better one.
        known
            The known partition.
        seconds, nodes
            Limits of the tree of the integer program.
        """
        from highspy import HighsSolution, HighsVarType

        value = self.solve()
        mine = {tuple(np.flatnonzero(known == g).tolist()) for g in np.unique(known)}
        start = np.array([group in mine for group in self.groups])
        useful = start | (self.reduced <= most - value + 1e-9)
        chosen, tree = np.flatnonzero(useful), _quiet()
        tree.passModel(self._program.getModel())
        useless = np.flatnonzero(~useful).astype(np.int32)
        tree.deleteCols(len(useless), useless)
        tree.changeColsIntegrality(
            len(chosen), np.arange(len(chosen), dtype=np.int32), np.full(len(chosen), HighsVarType.kInteger)
        )
        for option, setting in (("mip_max_nodes", nodes), ("mip_rel_gap", PRECISE), ("time_limit", seconds)):
            tree.setOptionValue(option, setting)
        for option in SLOW:
            tree.setOptionValue(option, False)
        if start.sum() == len(mine):
            first = HighsSolution()
            first.col_value = start[chosen].astype(float)
            tree.setSolution(first)
        _run_so_that_it_can_be_interrupted(tree)
        picked = [self.groups[chosen[j]] for j in np.flatnonzero(np.array(tree.getSolution().col_value) > 0.5)]
        labels = np.full(len(self.Z), -1)
        for g, group in enumerate(picked):
            labels[list(group)] = g
        once = sum(map(len, picked)) == len(self.Z) and (labels >= 0).all()
        return labels if once else None

    def _run(self, variant: int) -> None:
        from highspy import HighsModelStatus

        self._program.setOptionValue("simplex_strategy", variant)
        self._program.run()
        if self._program.getModelStatus() != HighsModelStatus.kOptimal:
            self._program.clearSolver()  # once more, from nothing
            self._program.run()
        status = self._program.getModelStatus()
        if status != HighsModelStatus.kOptimal:
            raise SDCFailure(f"the linear program could not be solved: {self._program.modelStatusToString(status)}")

    def _take_groups(self) -> None:
        """Give the program the groups that it does not have yet."""
        from scipy.sparse import vstack

        new = list(self.pool)[self._program.getNumCol() :]
        if not new:
            return
        A = self._records_of(new)
        if self.cuts:
            A = vstack([A, counts(self.cuts, A)]).tocsc()
        cost, none = np.array([self.pool[group] for group in new]), np.zeros(len(new))
        self._program.addCols(len(new), cost, none, np.full(len(new), np.inf), A.nnz, A.indptr[:-1], A.indices, A.data)

    def _drop_groups(self, which: NDArray[np.int64]) -> None:
        self._program.deleteCols(len(which), which.astype(np.int32))
        left = np.delete(np.arange(len(self.groups)), which)
        self.groups = [self.groups[j] for j in left]
        self.shares, self.reduced = self.shares[left], self.reduced[left]
        self.pool = {group: self.pool[group] for group in self.groups}

    def _cut_tables(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Cuts of each record (padded with −1), and d and price of each cut."""
        lists: list[list[int]] = [[] for _ in self.Z]
        for q, cut in enumerate(self.cuts):
            if self.cut_prices[q] > 0.0:
                for i in cut.records:
                    lists[i].append(q)
        cuts_of = np.full((len(self.Z), max(1, *map(len, lists))), -1)
        for i, mine in enumerate(lists):
            cuts_of[i, : len(mine)] = mine
        return cuts_of, np.array([cut.d for cut in self.cuts] or [1]), np.append(self.cut_prices, 0.0)

    def _join(self, rows: NDArray[np.int64]) -> None:
        for row in rows:
            self.add(row[row >= 0])

    def _records_of(self, groups: list[Group]) -> Any:
        """Incidence matrix, records × groups: 1 if a record is in a group."""
        from scipy.sparse import csc_matrix

        starts = np.cumsum([0, *map(len, groups)])
        return csc_matrix((np.ones(starts[-1]), np.concatenate(groups), starts), shape=(len(self.Z), len(groups)))


def _quiet() -> Highs:
    """Program of HiGHS that prints nothing and uses one thread, so that results are always the same."""
    from highspy import Highs

    program = Highs()  # type: ignore[no-untyped-call]
    program.setOptionValue("output_flag", False)
    program.setOptionValue("threads", 1)
    return program


def _run_so_that_it_can_be_interrupted(program: Highs) -> None:
    """Run a program in a thread, because Ctrl-C is noticed only where Python runs."""
    program.HandleUserInterrupt = True
    program.startSolve()
    try:
        while not program.wait(0.1)[0]:
            pass
    except BaseException:
        program.cancelSolve()  # type: ignore[no-untyped-call]
        program.wait()
        raise


def neighbors(Z: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """Each record, followed by its nearest others."""
    from scipy.spatial import cKDTree

    near = np.asarray(cKDTree(Z).query(Z, k=min(max(NEAREST, 4 * k), len(Z)))[1], dtype=np.int64)
    for i, row in enumerate(near):  # duplicates may come before the record
        row[:] = np.concatenate([[i], row[row != i][: len(row) - 1]])
    return np.ascontiguousarray(near)
