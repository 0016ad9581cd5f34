"""Cuts hold for every partition, the kernel finds what plain Python does, and groups count as often as they should."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csc_matrix

from sdc_problems.methods.bounds._cuts import CUTS_PER_RECORD, CUTS_PER_ROUND, Cut, counts, violated
from sdc_problems.methods.bounds._subset_rows import LEAST_EXCESS, TOWARDS, grow


def relaxed(seed: int, n: int, k: int, m: int) -> tuple[list[tuple[int, ...]], np.ndarray]:
    """Groups and shares such that each record is in groups with a total of 1 at most."""
    rng = np.random.default_rng(seed)
    groups = sorted({tuple(sorted(rng.choice(n, rng.integers(k, 2 * k), replace=False).tolist())) for _ in range(m)})
    shares = rng.choice([0.25, 0.5, 0.5, 1 / 3], len(groups))
    return groups, shares


def plain_growth(
    start: list[int], d: int, largest: int, groups: list[tuple[int, ...]], shares: np.ndarray
) -> list[tuple[tuple[int, ...], float]]:
    S, found = list(start), []
    while True:
        inside = [len(set(group) & set(S)) for group in groups]
        taken = sum(share * (count // d) for share, count in zip(shares, inside, strict=True))
        if taken > len(S) // d + LEAST_EXCESS:
            found.append((tuple(S), taken - len(S) // d))
        if len(S) >= largest:
            return found
        gain: dict[int, float] = {}
        for group, share, count in zip(groups, shares, inside, strict=True):
            if count:
                step = share if (count + 1) % d == 0 else share * TOWARDS * (count % d + 1) / d
                for i in set(group) - set(S):
                    gain[i] = gain.get(i, 0.0) + step
        if not gain:
            return found
        most = max(gain.values())
        S.append(min(i for i, value in gain.items() if value > most - 1e-12))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 6))
def test_the_kernel_grows_the_sets_of_plain_python(seed: int, d: int) -> None:
    n = 14
    groups, shares = relaxed(seed, n, 3, 12)
    # Shares without ties: sums in another order may round differently.
    shares = shares + np.random.default_rng(seed).uniform(0.0, 0.05, len(shares))
    first = np.cumsum([0, *map(len, groups)])
    members = np.concatenate(groups)
    order = np.argsort(members, kind="stable")
    of = (np.searchsorted(members[order], np.arange(n + 1)), np.repeat(np.arange(len(groups)), np.diff(first))[order])
    starts = np.array([[*group[:3], -1] for group in groups])
    sets, excess = grow(starts, d, 11, first, members, shares, *of)
    for s, group in enumerate(groups):
        plain = plain_growth(list(group[:3]), d, 11, groups, shares)
        lengths = np.flatnonzero(excess[s])
        assert [tuple(sets[s, :length].tolist()) for length in lengths] == [S for S, _ in plain]
        assert excess[s, lengths] == pytest.approx([value for _, value in plain])


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 4))
def test_cuts_are_violated_by_the_relaxation_and_kept_by_every_partition(seed: int, k: int) -> None:
    n = 16
    groups, shares = relaxed(seed, n, k, 14)
    cuts = violated(groups, shares, k, n, [])
    assert len(cuts) <= CUTS_PER_ROUND
    rng = np.random.default_rng(seed)
    for cut in cuts:
        S = set(cut.records)
        assert len(S) == len(cut.records)
        assert cut.room == len(S) // cut.d
        assert sum(share * (len(S & set(g)) // cut.d) for g, share in zip(groups, shares, strict=True)) > cut.room
        for _ in range(20):
            parts = np.split(rng.permutation(n), np.sort(rng.choice(np.arange(1, n), 3, replace=False)))
            assert sum(len(S & set(part.tolist())) // cut.d for part in parts) <= cut.room
    assert not set(violated(groups, shares, k, n, cuts)) & set(cuts)
    each = np.bincount([i for cut in cuts for i in cut.records], minlength=n)
    assert each.min() <= CUTS_PER_RECORD + 1


def test_five_half_groups_in_a_cycle_are_cut_off() -> None:
    groups = [(0, 1, 2, 3, 4), (3, 4, 5, 6, 7), (5, 6, 7, 8, 9), (8, 9, 10, 11, 12), (10, 11, 12, 0, 1)]
    groups = [tuple(sorted(group)) for group in groups]
    cuts = violated(groups, np.full(5, 0.5), 5, 13, [])
    assert any(cut.d == 5 and len(cut.records) == 13 for cut in cuts)


def test_whole_groups_violate_nothing() -> None:
    assert violated([(0, 1, 2), (3, 4, 5)], np.ones(2), 3, 6, []) == []


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000))
def test_groups_count_once_for_every_d_of_their_records(seed: int) -> None:
    groups, _ = relaxed(seed, 12, 3, 9)
    rng = np.random.default_rng(seed)
    cuts = [Cut(tuple(sorted(rng.choice(12, 5, replace=False).tolist())), int(rng.integers(2, 4))) for _ in range(6)]
    starts = np.cumsum([0, *map(len, groups)])
    A = csc_matrix((np.ones(starts[-1]), np.concatenate(groups), starts), shape=(12, len(groups)))
    plain = [[len(set(cut.records) & set(group)) // cut.d for group in groups] for cut in cuts]
    assert counts(cuts, A).toarray().tolist() == plain
