"""Compiled random numbers: one word of state, the same numbers on every machine and in every thread."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems._kernel import kernel

_SCALE = 2.0**-53


@kernel(allocates=False)
def bits(state: NDArray[np.uint64]) -> Any:
    """Next 64 random bits (xorshift64*); the state must not be 0."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return x * np.uint64(2685821657736338717)


@kernel(allocates=False)
def below(state: NDArray[np.uint64], n: int) -> Any:
    """Random whole number from 0 to n − 1 (n < 2³²)."""
    return np.int64(((bits(state) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@kernel(allocates=False)
def uniform(state: NDArray[np.uint64]) -> float:
    """Random number in (0, 1)."""
    return (np.float64(bits(state) >> np.uint64(11)) + 0.5) * _SCALE
