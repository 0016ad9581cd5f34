"""Contract of measures: a pure function of arrays that refuses invalid input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from sdc_problems.errors import SDCError


class MeasureContract:
    """Inherit and define ``measure`` and ``arguments``: every array is a table with one row (or value) per record.

    Notes
    -----
    What is checked: equal arguments give equal results and are not changed; an empty table, numbers that
    are not finite, and tables of different lengths are refused with an SDCError.

    What is not: whether the value is right. Compare it with a plain computation, and with a case worked out by hand.

    Examples
    --------
    A measure of an original and a released table::

        from mine import share_changed
        from sdc_problems.testing import MeasureContract

        class TestShareChanged(MeasureContract):
            def measure(self, original, released):
                return share_changed(original, released)

            def arguments(self, rng):
                original = rng.normal(size=(20, 3))
                return original, original + rng.normal(size=(20, 3))
    """

    def measure(self, *args: Any) -> Any:
        """Return the result of the measure under test."""
        raise NotImplementedError("a contract suite needs measure(*args): apply the function under test")

    def arguments(self, rng: np.random.Generator) -> tuple[Any, ...]:
        """Return valid arguments."""
        raise NotImplementedError("a contract suite needs arguments(rng): valid arguments")

    def _arguments(self) -> tuple[Any, ...]:
        return self.arguments(np.random.default_rng(11))

    def _spoil(self, spoil: Callable[[NDArray[Any]], NDArray[Any]]) -> None:
        """Replace each array argument in turn by an invalid one, which the measure must refuse."""
        for position, argument in enumerate(self._arguments()):
            if isinstance(argument, np.ndarray) and argument.ndim >= 1:
                args = list(self._arguments())
                args[position] = spoil(argument)
                with pytest.raises(SDCError):
                    self.measure(*args)

    def test_is_deterministic_and_changes_nothing(self) -> None:
        args = self._arguments()
        copies = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
        first, second = self.measure(*args), self.measure(*args)
        np.testing.assert_array_equal(np.asarray(first), np.asarray(second))
        for argument, before in zip(args, copies, strict=True):
            if isinstance(argument, np.ndarray):
                np.testing.assert_array_equal(argument, before)

    def test_refuses_empty_input(self) -> None:
        self._spoil(lambda a: a[:0])

    def test_refuses_numbers_that_are_not_finite(self) -> None:
        def spoil(array: NDArray[Any]) -> NDArray[Any]:
            out = array.astype(float)
            out[(0,) * out.ndim] = np.nan
            return out

        self._spoil(spoil)

    def test_refuses_tables_of_different_lengths(self) -> None:
        if sum(isinstance(a, np.ndarray) for a in self._arguments()) > 1:
            self._spoil(lambda a: a[:-1])
