"""Groups of small reduced cost are found completely."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdc_problems.evaluators.information_loss import sse
from sdc_problems.methods.bounds._nearest import half_to_nearest
from sdc_problems.methods.bounds._pricing import PER_RECORD, cheap_groups, searched_groups
from sdc_problems.methods.bounds._relaxation import neighbors


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 4), st.integers(1, 3), st.booleans())
def test_all_cheap_groups_are_found(seed: int, k: int, p: int, doubles: bool) -> None:
    rng = np.random.default_rng(seed)
    n, n_cuts = 12, 4
    Z = rng.normal(size=(n, p))
    if doubles:
        Z[3] = Z[4] = Z[5]
    prices = rng.uniform(0.0, 2.0 / k, n)
    sets = [rng.choice(n, 5, replace=False) for _ in range(n_cuts)]
    d, cut_price = rng.integers(2, 4, n_cuts), rng.uniform(0.0, 0.5, n_cuts)
    cuts_of = np.full((n, n_cuts + 1), -1)
    for i in range(n):
        mine = [q for q in range(n_cuts) if i in sets[q]]
        cuts_of[i, : len(mine)] = mine

    def plain(group: tuple[int, ...]) -> float:
        cuts = sum(cut_price[q] * (len(set(group) & set(sets[q].tolist())) // d[q]) for q in range(n_cuts))
        return float(sse(Z[list(group)], np.zeros(len(group), dtype=int)) - prices[list(group)].sum() + cuts)

    cheap = {
        group: value for m in range(k, 2 * k) for group in combinations(range(n), m) if (value := plain(group)) < -1e-7
    }
    dearest = np.argsort(np.argsort(-prices))
    wanted = set()
    for root in range(n):
        mine = [group for group in cheap if min(group, key=lambda i: dearest[i]) == root]
        wanted |= set(sorted(mine, key=lambda group: cheap[group])[:PER_RECORD])
    arguments = (prices, cuts_of, d, cut_price, 1e-7)
    found, undercut, left = cheap_groups(Z, k, half_to_nearest(Z, k), *arguments, 10**7)
    assert left > 0
    by_root = {min(group, key=lambda i: dearest[i]): 0.0 for group in cheap}
    for group, value in cheap.items():
        root = min(group, key=lambda i: dearest[i])
        by_root[root] = min(by_root[root], value)
    assert undercut == pytest.approx(-sum(by_root.values()))
    assert {tuple(sorted(row[row >= 0].tolist())) for row in found} == wanted
    searched = searched_groups(Z, k, neighbors(Z, k), *arguments)
    assert {tuple(sorted(row[row >= 0].tolist())) for row in searched} <= set(cheap)


def test_going_through_all_groups_is_given_up_when_told() -> None:
    Z = np.random.default_rng(1).normal(size=(40, 2))
    no_cuts = (np.full((40, 1), -1), np.ones(1, dtype=np.int64), np.zeros(1))
    *_, left = cheap_groups(Z, 3, half_to_nearest(Z, 3), np.full(40, 5.0), *no_cuts, 1e-7, 100)
    assert left == 0
