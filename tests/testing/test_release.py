"""The contract suite fails each problem that releases, measures or spells something else than it says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pymoo.core.repair import NoRepair, Repair

from sdc_problems.testing import ProblemContract


class CapAtOne(Repair):
    def _do(self, problem: Any, X: Any, **kwargs: Any) -> Any:
        return np.minimum(X, 1).astype(X.dtype)


class NextColumn(Repair):
    """Moves every bit: applied again, it does not leave what it has made."""

    def _do(self, problem: Any, X: Any, **kwargs: Any) -> Any:
        return np.roll(X, 1, axis=1)


@pytest.fixture(scope="module")
def example(column_suppression: Callable[[], Any]) -> Any:
    """A problem in which 1 and 2 blank a column, so that it needs a repair."""
    base: Any = type(column_suppression())
    data = column_suppression().data

    class Example(base):  # type: ignore[misc]
        repair: Repair = CapAtOne()

        def __init__(self) -> None:
            super().__init__(data)
            self.xu[:] = 2

        def _measure(self, X: Any, names: Any) -> Any:
            return super()._measure(np.minimum(X, 1), names)

        def _tables(self, x: Any) -> Any:
            return super()._tables(np.minimum(x, 1))

        def _operators(self) -> dict[str, Any]:
            return {**super()._operators(), "repair": self.repair}

    return Example


def suite_of(problem: Any) -> Any:
    class Suite(ProblemContract):
        def make(self) -> Any:
            return problem()

        def check_release(self, problem: Any, x: Any, released: Any) -> None:
            """Nothing: what the suite finds, it finds by itself."""

    return Suite()


def check(problem: Any) -> None:
    suite = suite_of(problem)
    suite.test_samples_are_valid()
    suite.test_rows_in_canonical_form_are_different_solutions()
    suite.test_release_is_the_table_that_is_measured()


def test_a_sound_problem_passes(example: Any) -> None:
    check(example)


def test_a_repair_that_leaves_two_spellings_fails(example: Any) -> None:
    class NoCanonicalForm(example):  # type: ignore[misc]
        repair = NoRepair()

    with pytest.raises(AssertionError, match="both in canonical form and decode to the same"):
        check(NoCanonicalForm)


def test_a_repair_that_is_not_done_at_once_fails(example: Any) -> None:
    class Restless(example):  # type: ignore[misc]
        repair = NextColumn()

    with pytest.raises(AssertionError, match="the repair changes it"):
        check(Restless)


def test_two_rows_with_one_release_fail_unless_the_suite_says_why(example: Any) -> None:
    class Same(example):  # type: ignore[misc]
        def release(self, x: Any, *, seed: int | None = None) -> Any:
            return super().release(np.where(np.arange(self.n_var) < 2, 0, x))

    with pytest.raises(AssertionError, match="both in canonical form and release the same table"):
        check(Same)
    suite = suite_of(Same)
    suite.alike = "some columns are never released"
    suite.test_rows_in_canonical_form_are_different_solutions()


def test_tables_that_are_not_the_released_ones_fail(example: Any) -> None:
    class Untouched(example):  # type: ignore[misc]
        def _tables(self, x: Any) -> Any:
            yield self.data.codes(), self.data.codes()

    with pytest.raises(AssertionError, match="differ in _tables"):
        check(Untouched)

    class NoOriginal(example):  # type: ignore[misc]
        def _tables(self, x: Any) -> Any:
            yield from ((released, released.copy()) for released, _ in super()._tables(x))

    with pytest.raises(AssertionError, match="not those of the data"):
        check(NoOriginal)

    class Wide(example):  # type: ignore[misc]
        def _tables(self, x: Any) -> Any:
            yield from ((released[:, :-1], original[:, :-1]) for released, original in super()._tables(x))

    with pytest.raises(AssertionError, match=r"protected\(\) can name them"):
        check(Wide)


def test_a_release_that_protects_nothing_fails(example: Any) -> None:
    class Unprotected(example):  # type: ignore[misc]
        def release(self, x: Any, *, seed: int | None = None) -> Any:
            return self._publishable()

    suite = suite_of(Unprotected)
    with pytest.raises(AssertionError, match=r"differ in _tables, or the other way round"):
        suite.test_release_is_the_table_that_is_measured()

    class Neither(Unprotected):
        def _tables(self, x: Any) -> Any:
            yield self.data.codes(), self.data.codes()

    with pytest.raises(AssertionError, match=r"k of .* is not one number"):
        suite_of(Neither).test_release_is_the_table_that_is_measured()


def test_a_k_that_is_not_counted_fails(example: Any) -> None:
    class Boastful(example):  # type: ignore[misc]
        def _measure(self, X: Any, names: Any) -> Any:
            return super()._measure(X, names) * [2 if name == "k" else 1 for name in names]

    with pytest.raises(AssertionError, match=r"k of .* is not one number: \{'release': \d+, '_tables': \d+"):
        check(Boastful)


def test_a_drawn_release_is_compared_by_how_much_it_changes(example: Any) -> None:
    class Drawn(example):  # type: ignore[misc]
        moved, told = 0.5, 0.5

        def _moved(self, seed: Any, share: float) -> Any:
            codes, rng = self.data.codes().copy(), np.random.default_rng(seed)
            for j in range(codes.shape[1]):
                at = np.flatnonzero(rng.random(len(codes)) < share)
                codes[at, j] = rng.permutation(codes[at, j])
            return codes

        def _tables(self, x: Any) -> Any:
            yield self._moved(1, self.told), self.data.codes()

        def release(self, x: Any, *, seed: int | None = None) -> Any:
            frame, codes = self._publishable(), self._moved(seed, self.moved)
            for j, name in enumerate(self.data.quasi_identifiers):
                frame[name] = self.data.attribute(name).cells(codes[:, j])
            return frame

    suite_of(Drawn).test_release_is_the_table_that_is_measured()
    for told, match in ((0.0, "changed in the releases but not in _tables"), (0.1, "differs by")):
        Drawn.told = told
        with pytest.raises(AssertionError, match=match):
            suite_of(Drawn).test_release_is_the_table_that_is_measured()


def test_a_suite_without_check_release_is_told_so(example: Any) -> None:
    class Silent(ProblemContract):
        def make(self) -> Any:
            return example()

    with pytest.raises(AssertionError, match="define check_release"):
        Silent().test_release_has_a_promise_that_is_checked()
    suite_of(example).test_release_has_a_promise_that_is_checked()


def test_identifiers_are_looked_for_whatever_check_release_does(example: Any) -> None:
    class Named(example):  # type: ignore[misc]
        def release(self, x: Any, *, seed: int | None = None) -> Any:
            return self.data.frame().reset_index(drop=True).assign(**dict.fromkeys(self.decode(x), "*"))

    with pytest.raises(AssertionError, match="'name' is published"):
        suite_of(Named).test_decode_describe_release_are_total()
