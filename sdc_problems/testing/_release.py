"""Contract of releases: a row of X is one solution and one table, and its measures are true of that table."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pymoo.core.population import Population

from sdc_problems._genomes import row_keys
from sdc_problems.problem import SDCProblem
from sdc_problems.testing.operators import OperatorContract

SAMPLED = 6  # rows whose tables are compared
VARIED = 4  # variables that are set to the ends of their bounds
NEAR = 0.1  # share of the cells by which two draws of a random release may differ


def _labels(cells: Sequence[Any] | NDArray[Any] | pd.Series) -> NDArray[np.int64]:
    """Number of each cell's value; gaps are a value, and equal numbers are the same value whatever their type."""
    return np.asarray(pd.factorize(np.asarray(cells), use_na_sentinel=False)[0], dtype=np.int64)


def _changed(released: pd.Series, original: pd.Series) -> float:
    """Share of the cells that differ from the original."""
    both = _labels(pd.concat([released.astype(object), original.astype(object)]))
    return float((both[: len(released)] != both[len(released) :]).mean())


def _smallest(table: NDArray[Any]) -> int:
    return int(np.unique(table, axis=0, return_counts=True)[1].min())


def _same_classes(one: NDArray[np.int64], other: NDArray[np.int64]) -> bool:
    """Whether records share a value in one column exactly if they share one in the other."""
    n = len(np.unique(np.column_stack([one, other]), axis=0))
    return n == len(np.unique(one)) == len(np.unique(other))


class ReleaseContract(OperatorContract):
    """Promises about releases; `ProblemContract` includes them.

    Attributes
    ----------
    alike
        Reason why two rows in canonical form that mean different things may release the same table, if the task
        allows that, such as "methods may agree by chance".
    """

    alike: str = ""

    def solution(self, problem: SDCProblem, x: NDArray[Any]) -> object:
        """Return what a row means, by default its `decode`: of the rows that share it, at most one is canonical."""
        return pickle.dumps(problem.decode(x))

    def protected(self, problem: SDCProblem) -> list[str]:
        """Name the columns of `_tables`, in order; by default ``attributes``, or the quasi-identifiers."""
        return list(getattr(problem, "attributes", problem.data.quasi_identifiers))

    def neighbors(self, problem: SDCProblem) -> NDArray[Any]:
        """Rows in canonical form, each once: samples, and one of these with single variables set to their bounds."""
        rows = self.sample(problem, SAMPLED, seed=6)
        changed = []
        for j in np.random.default_rng(6).permutation(problem.n_var)[:VARIED]:
            for value in {int(problem.xl[j]), int(problem.xu[j]), max(int(problem.xl[j]), int(problem.xu[j]) - 1)}:
                row = rows[0].copy()
                row[j] = value
                changed.append(row)
        X = np.concatenate([rows, changed])
        repair = self.operators(problem).get("repair")
        if repair is not None:
            X = repair(problem, Population.new("X", X), random_state=np.random.default_rng(0)).get("X")
        return np.asarray(X[sorted({key: i for i, key in enumerate(row_keys(X))}.values())])

    def test_rows_in_canonical_form_are_different_solutions(self) -> None:
        """Check that canonical rows mean different solutions; otherwise a search measures one solution many times."""
        problem = self.make()
        released: list[tuple[list[int], pd.DataFrame, object]] = []
        for x in self.neighbors(problem):
            table, solution = problem.release(x, seed=1), self.solution(problem, x)
            for other, known, known_solution in released:
                if known.equals(table) and (not self.alike or solution == known_solution):
                    what = "decode to the same" if solution == known_solution else "release the same table"
                    raise AssertionError(
                        f"rows {other} and {x.tolist()} are both in canonical form and {what}: the repair in"
                        " _operators() must turn one into the other, or alike must say why this may be"
                    )
            released.append((x.tolist(), table, solution))

    def test_release_is_the_table_that_is_measured(self) -> None:
        """Check that `_tables`, from which objectives are computed, and `release` agree on every cell and on k."""
        problem = self.make()
        names, before = self.protected(problem), problem.data.frame().reset_index(drop=True)
        shares, draws = [], []
        for x in [*self.sample(problem, SAMPLED, seed=6), *list(problem.baselines().values())[:2]]:
            tables = [(np.asarray(released), np.asarray(original)) for released, original in problem._tables(x)]
            table = problem.release(x)
            for released, original in tables:
                assert released.shape[1] == len(names), (
                    f"_tables has {released.shape[1]} columns, not one for each of {names}: protected() can name them"
                )
                for name, column in zip(names, original.T, strict=True):
                    assert _same_classes(_labels(before[name]), _labels(column)), (
                        f"_tables: the codes of the original {name!r} are not those of the data"
                    )
            drawn = len(tables) > 1 or not problem.release(x).equals(table)
            if not drawn:
                self._assert_is_measured(problem, x, table, tables[0][0])
            if len(table) == len(before):
                changed = [_changed(table[name], before[name]) for name in names]
                shares.append((changed, np.mean([(r != o).mean(axis=0) for r, o in tables], axis=0)))
                draws.append(drawn)
        for j, name in enumerate(names):
            one, other = (np.array([share[side][j] for share in shares]) for side in (0, 1))
            assert one.any() == other.any(), (
                f"{name!r} is {'changed' if one.any() else 'unchanged'} in the releases but not in _tables"
            )
            differ = abs((one - other)[draws].mean()) if any(draws) else 0.0
            assert differ <= NEAR, (
                f"the share of the cells of {name!r} that release changes differs by {differ:.0%} from that in _tables"
            )

    def _assert_is_measured(
        self, problem: SDCProblem, x: NDArray[Any], table: pd.DataFrame, codes: NDArray[Any]
    ) -> None:
        """Check that equal cells of the release are equal codes, and that k is the same in both and in the figures."""
        names, row = self.protected(problem), x.tolist()
        if len(table) < len(codes):  # suppressed records are left out
            codes = codes[(codes >= 0).any(axis=1)]
        assert len(table) == len(codes), f"release({row}) has {len(table)} records, _tables {len(codes)}"
        if not len(table):
            return
        labels = np.column_stack([_labels(table[name]) for name in names])
        for j, name in enumerate(names):
            assert _same_classes(labels[:, j], _labels(codes[:, j])), (
                f"cells of {name!r} that are equal in release({row}) differ in _tables, or the other way round"
            )
        figures = problem.figures(x)
        if "k" in figures:
            counted = {"release": _smallest(labels), "_tables": _smallest(codes), "figures": figures["k"]}
            assert len(set(counted.values())) == 1, f"k of {row} is not one number: {counted}"

    def test_release_has_a_promise_that_is_checked(self) -> None:
        assert type(self).check_release is not ReleaseContract.check_release, (
            "nothing checks what your problem promises: define check_release(self, problem, x, released), which asserts"
            " it of a released table; k, if figures has it, is counted without it"
        )

    def check_release(self, problem: SDCProblem, x: NDArray[Any], released: pd.DataFrame) -> None:
        """Assert what the problem promises of a released table; what every problem promises is asserted before."""
