"""Regions of a partition: the groups around one, which are replaced by the best partition of their records."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

SIZES = (20, 40, 80, 120)
"""Groups of a region. Small ones are solved in a fraction of a second; large ones begin with what these have found."""

Improve = Callable[[NDArray[np.int64]], list[NDArray[np.int64]] | None]
"""Called with the records of a region; returns better groups of them, if there are any."""


def improved_by_regions(
    Z: NDArray[np.float64], labels: NDArray[np.int64], improve: Improve
) -> Iterator[NDArray[np.int64]]:
    """Improve a partition region by region, smaller than the table; yields the labels after each region.

    A region consists of the groups nearest to the one with the largest error that is not settled. If it is not
    improved, the half nearest to that one is settled for regions of this size.
    """
    groups = [np.flatnonzero(labels == g) for g in np.unique(labels)]
    for size in SIZES:
        settled: set[bytes] = set()
        while size < len(groups):
            means = np.array([Z[group].mean(axis=0) for group in groups])
            errors = [
                -1.0 if group.tobytes() in settled else float(np.square(Z[group] - mean).sum())
                for group, mean in zip(groups, means, strict=True)
            ]
            worst = int(np.argmax(errors))
            if errors[worst] < 0.0:
                break
            near = np.argsort(np.square(means - means[worst]).sum(axis=1), kind="stable")[:size]
            better = improve(np.sort(np.concatenate([groups[g] for g in near])))
            if better is None:
                settled.update(groups[g].tobytes() for g in [worst, *near[: size // 2]])
            else:
                groups = [group for g, group in enumerate(groups) if g not in set(near.tolist())] + better
            found = np.empty(len(Z), dtype=np.int64)
            for g, group in enumerate(groups):
                found[group] = g
            yield found
