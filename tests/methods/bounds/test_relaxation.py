"""A program that is kept gives what a program from nothing gives, also after groups and cuts come and go."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from sdc_problems.evaluators.information_loss import sse
from sdc_problems.methods import mdav
from sdc_problems.methods.bounds import _relaxation as module
from sdc_problems.methods.bounds._relaxation import Relaxation


def from_nothing(relaxed: Relaxation) -> float:
    """Value of the relaxation by another program."""
    n, groups = len(relaxed.Z), list(relaxed.pool)
    A = np.array([[i in group for group in groups] for i in range(n)], dtype=float)
    counted = [[len(set(cut.records) & set(group)) // cut.d for group in groups] for cut in relaxed.cuts]
    solved = linprog(
        list(relaxed.pool.values()),
        A_eq=A,
        b_eq=np.ones(n),
        A_ub=np.array(counted) if counted else None,
        b_ub=[len(cut.records) // cut.d for cut in relaxed.cuts] or None,
    )
    return float(solved.fun)


@example(0, 4, True)  # with few groups and many cuts, those of the known partition must stay
@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 4), st.booleans())
def test_the_value_is_that_of_a_program_from_nothing(seed: int, k: int, few: bool) -> None:
    Z = np.random.default_rng(seed).normal(size=(30, 2))
    with pytest.MonkeyPatch.context() as patch:
        if few:
            patch.setattr(module, "LARGEST_POOL", 120)
            patch.setattr(module, "KEPT", 80)
        relaxed = Relaxation(Z, k, mdav(Z, k, standardize=False))
        for _ in range(12):
            value = relaxed.solve()
            assert value == pytest.approx(from_nothing(relaxed), rel=1e-7)
            reduced = dict(zip(relaxed.groups, relaxed.reduced, strict=True))
            for group, share in zip(relaxed.groups, relaxed.shares, strict=True):
                counted = sum(
                    price * (len(set(cut.records) & set(group)) // cut.d)
                    for cut, price in zip(relaxed.cuts, relaxed.cut_prices, strict=True)
                )
                cost = sse(Z[list(group)], np.zeros(len(group), dtype=int))
                assert reduced[group] == pytest.approx(cost - relaxed.prices[list(group)].sum() + counted, abs=1e-7)
                assert share < 1e-7 or reduced[group] == pytest.approx(0.0, abs=1e-6)
            if not relaxed.search(1e-6) and not relaxed.go_through(1e-6, 10**7)[0] and not relaxed.separate():
                break


def test_whole_groups_are_picked_among_useful_ones_only() -> None:
    Z = np.random.default_rng(3).normal(size=(40, 2))
    known = mdav(Z, 4, standardize=False)
    relaxed = Relaxation(Z, 4, known)
    while True:
        value = relaxed.solve()
        if not relaxed.search(1e-6) + relaxed.go_through(1e-6, 10**7)[0] + relaxed.separate():
            break
    most = sse(Z, known)
    relaxed.go_through(value - most, 10**7)
    picked = relaxed.picked(most, known, 60.0, 1_000)
    assert picked is not None
    assert np.bincount(picked).min() >= 4
    assert value * (1 - 1e-6) <= sse(Z, picked) < most
    # A groups whose reduced cost exceeds the difference is not in a better partition: without them nothing changes.
    relaxed.go_through(-1e9, 10**7)
    again = relaxed.picked(most, known, 60.0, 1_000)
    assert again is not None
    assert sse(Z, again) == pytest.approx(sse(Z, picked), rel=1e-4)
    assert relaxed.picked(most, known, 0.0, 1_000) is None or sse(Z, known) == most


def test_ctrl_c_ends_an_integer_program(monkeypatch: pytest.MonkeyPatch) -> None:
    Z = np.random.default_rng(3).normal(size=(60, 3))
    known = mdav(Z, 3, standardize=False)
    relaxed = Relaxation(Z, 3, known)
    relaxed.solve()
    relaxed.search(-1.0)
    from highspy import Highs

    def interrupted(self: Highs, timeout: float = -1.0) -> tuple[bool, object]:
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(Highs, "wait", interrupted)
    with pytest.raises(KeyboardInterrupt):
        relaxed.picked(sse(Z, known), known, 60.0, 1_000)
    assert relaxed.picked(sse(Z, known), known, 60.0, 1_000) is not None
