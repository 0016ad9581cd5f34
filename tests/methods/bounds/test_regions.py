"""Regions are smaller than the table, cover it, and leave the rest of a partition alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sdc_problems.methods import mdav
from sdc_problems.methods.bounds import _regions as module
from sdc_problems.methods.bounds._regions import improved_by_regions


def test_regions_of_all_sizes_cover_the_table() -> None:
    Z = np.random.default_rng(1).normal(size=(300, 2))
    labels = mdav(Z, 3, standardize=False)
    seen: list[NDArray[np.int64]] = []

    def improve(region: NDArray[np.int64]) -> None:
        seen.append(region)

    yielded = list(improved_by_regions(Z, labels, improve))
    assert len(yielded) == len(seen)
    assert all(len(np.unique(labels[region])) in module.SIZES for region in seen)
    assert all(len(region) == np.isin(labels, np.unique(labels[region])).sum() for region in seen)
    sizes = [len(np.unique(labels[region])) for region in seen]
    assert sizes == sorted(sizes)
    for size in (20, 40, 80):
        covered = np.concatenate([region for region, m in zip(seen, sizes, strict=True) if m == size])
        assert len(np.unique(covered)) == len(Z)
    for found in yielded:
        assert len({*zip(found.tolist(), labels.tolist(), strict=True)}) == len(np.unique(labels))


def test_improved_groups_replace_those_of_the_region() -> None:
    Z = np.random.default_rng(1).normal(size=(120, 2))
    labels = np.arange(120) % 40
    first: list[NDArray[np.int64]] = []

    def improve(region: NDArray[np.int64]) -> list[NDArray[np.int64]] | None:
        if first:
            return None
        first.append(region)
        return [region[:30], region[30:]]

    *_, found = improved_by_regions(Z, labels, improve)
    region = first[0]
    assert len(np.unique(found[region])) == 2
    rest = np.setdiff1d(np.arange(120), region)
    assert len({*zip(found[rest].tolist(), labels[rest].tolist(), strict=True)}) == len(np.unique(labels[rest])) == 20
    assert not set(found[rest]) & set(found[region])
