"""Shared by several benchmarks: CPU time, numbers to protect, and MDAV as one writes it in numpy."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np


def cpu(work: Callable[[], object], times: int = 3) -> float:
    """Shortest CPU time of a few calls."""
    best = np.inf
    for _ in range(times):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def skewed(rng: np.random.Generator, records: int, columns: int) -> np.ndarray:
    """Numbers that depend on each other, most of them small."""
    common = rng.normal(size=(records, 2)) @ rng.normal(size=(2, columns))
    return np.exp(0.7 * (common + rng.normal(size=(records, columns))))


def plain_mdav(Z: np.ndarray, k: int) -> np.ndarray:
    """MDAV-generic: two clusters while 3k records are left, one while 2k are, the rest together."""
    labels = np.empty(len(Z), dtype=int)
    left = np.arange(len(Z))
    cluster = 0
    while len(left) >= 2 * k:
        rounds = 2 if len(left) >= 3 * k else 1
        center = Z[left].mean(axis=0)
        for _ in range(rounds):
            center = Z[left[np.argmax(((Z[left] - center) ** 2).sum(axis=1))]]
            nearest = np.argsort(((Z[left] - center) ** 2).sum(axis=1), kind="stable")[:k]
            labels[left[nearest]] = cluster
            left = np.delete(left, nearest)
            cluster += 1
    labels[left] = cluster
    return labels
