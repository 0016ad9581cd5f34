"""Contract of archives: a plain object to which ``add`` adds, which can be pickled and holds no dominated solution."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pymoo.core.population import Population


def dominated(F: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Mask of the rows that another row dominates (all minimized); the plain quadratic definition."""
    no_worse = (F[:, None, :] <= F[None, :, :]).all(axis=2)
    better = (F[:, None, :] < F[None, :, :]).any(axis=2)
    return np.asarray((no_worse & better).any(axis=0))


class ArchiveContract:
    """Inherit and define ``make(n_obj)``: an empty archive for that many minimized, non-negative objectives."""

    def make(self, n_obj: int) -> Any:
        """Build the archive under test."""
        raise NotImplementedError("a contract suite needs make(n_obj): an empty archive")

    def population(self, n: int, n_obj: int, seed: int = 0) -> Population:
        """Individuals with random small-integer objectives (with many ties) and distinct genomes."""
        rng = np.random.default_rng(seed)
        F = rng.integers(0, 12, size=(n, n_obj)).astype(float)
        return Population.new("X", np.arange(n)[:, None].astype(np.int16), "F", F)

    def test_add_returns_the_archive_itself(self) -> None:
        archive = self.make(2)
        assert archive.add(self.population(5, 2)) is archive

    def test_holds_only_what_nothing_seen_dominates(self) -> None:
        for n_obj in (2, 3, 4):
            pop = self.population(300, n_obj, seed=n_obj)
            archive = self.make(n_obj)
            for start in range(0, 300, 50):
                archive.add(pop[start : start + 50])
            F = pop.get("F")
            minimal = {tuple(f) for f in F[~dominated(F)]}
            assert len(archive)
            assert {tuple(f) for f in archive.F} <= minimal

    def test_rows_belong_together(self) -> None:
        pop = self.population(200, 3)
        archive = self.make(3).add(pop)
        X, F = pop.get("X"), pop.get("F")
        for x, f in zip(archive.X, archive.F, strict=True):
            np.testing.assert_array_equal(F[x[0]], f)
        assert archive.X.dtype == X.dtype

    def test_batches_do_not_matter(self) -> None:
        pop = self.population(200, 3, seed=4)
        whole, pieces = self.make(3).add(pop), self.make(3)
        for individual in range(len(pop)):
            pieces.add(pop[individual : individual + 1])
        np.testing.assert_array_equal(whole.F, pieces.F)
        np.testing.assert_array_equal(whole.X, pieces.X)

    def test_pickle_and_copy_keep_the_state(self) -> None:
        pop = self.population(100, 2)
        archive = self.make(2).add(pop[:60])
        again = pickle.loads(pickle.dumps(archive))  # noqa: S301 -- our own bytes
        for twin in (again, copy.deepcopy(archive)):
            np.testing.assert_array_equal(twin.F, archive.F)
            twin.add(pop[60:])
        archive.add(pop[60:])
        np.testing.assert_array_equal(again.F, archive.F)

    def test_what_is_added_is_not_modified_nor_shared(self) -> None:
        pop = self.population(50, 2)
        before = pop.get("F").copy()
        archive = self.make(2).add(pop)
        held = archive.F.copy()
        pop.set("F", np.zeros_like(before))
        np.testing.assert_array_equal(archive.F, held)
