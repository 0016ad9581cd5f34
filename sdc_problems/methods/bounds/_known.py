"""Known partition from which a bound takes its scale."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sdc_problems.errors import SDCError
from sdc_problems.methods._kernels.mdav import mdav_kernel


def known_partition(labels: object | None, Z: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """Check the labels of a partition; without any, the partition of MDAV."""
    if labels is None:
        return mdav_kernel(Z, k).astype(np.int64)
    known = np.asarray(labels)
    if known.shape != (len(Z),):
        raise SDCError(f"labels must hold one group number for each of the {len(Z)} records, not {known.shape}")
    groups, sizes = np.unique(known, return_counts=True)
    if sizes.min() < k:
        raise SDCError(f"labels: group {groups[sizes.argmin()]} has {sizes.min()} records, fewer than k = {k}")
    return known.astype(np.int64)
