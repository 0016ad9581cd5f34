"""Fixtures that every test may use."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

# Seeded: the same examples everywhere; no deadline, because the first call of a kernel compiles it.
settings.register_profile(
    "fixed", derandomize=True, deadline=None, max_examples=50, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("fixed")


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20100621)


@pytest.fixture
def public() -> Callable[[str], Path]:
    """``public("census.csv")``: a public data file, or a skip that says why."""

    def find(name: str) -> Path:
        home = os.environ.get("SDC_DATA_HOME")
        if not home or not (Path(home) / name).is_file():
            pytest.skip(f"needs {name} in $SDC_DATA_HOME")
        return Path(home) / name

    return find


@pytest.fixture
def unchanged() -> Callable[..., None]:
    """``unchanged(f, *arrays, **options)``: call f and prove that it left its array arguments as they were."""

    def call(function: Callable[..., object], *args: object, **kwargs: object) -> None:
        arrays = [a for a in (*args, *kwargs.values()) if isinstance(a, np.ndarray)]
        before = [a.copy() for a in arrays]
        function(*args, **kwargs)
        for array, copy in zip(arrays, before, strict=True):
            assert array.dtype == copy.dtype
            np.testing.assert_array_equal(array, copy)

    return call
