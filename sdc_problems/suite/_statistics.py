"""Statistics of benchmarks: comparisons of pairs of algorithms, with effect sizes and adjusted p-values (Holm)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
Samples = Mapping[str, Mapping[str, Sequence[float]]]
"""Values of an indicator by instance and algorithm, one for each seed."""


def holm(p: ArrayLike) -> FloatArray:
    """Adjust p-values for many tests (Holm 1979).

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    values = np.asarray(p, dtype=float)
    order = np.argsort(values, kind="stable")
    raised = np.minimum(values[order] * np.arange(len(values), 0, -1), 1.0)
    adjusted = np.empty_like(values)
    adjusted[order] = np.maximum.accumulate(raised) if len(raised) else raised
    return adjusted


def a12(first: ArrayLike, second: ArrayLike) -> float:
    """Effect size A12 (Vargha & Delaney 2000): how often a value of the first is smaller; ties count half.

    Examples
    --------
    >>> a12([1, 2], [2, 3])
    0.875
    """
    a, b = np.asarray(first, dtype=float)[:, None], np.asarray(second, dtype=float)[None, :]
    return float(((a < b) + 0.5 * (a == b)).mean())


@dataclass(frozen=True)
class Pair:
    """Comparison of two algorithms on one instance, or over all instances (``instance`` is then empty).

    Attributes
    ----------
    p, p_holm
        Two-sided p-value, and the p-value adjusted for all tests that were made together.
    effect
        A12: probability that the first is better (smaller) for a seed; over instances, in an instance's median.
    """

    instance: str
    first: str
    second: str
    p: float
    p_holm: float
    effect: float


def pairs_by_instance(samples: Samples) -> list[Pair]:
    """Mann-Whitney tests of all pairs of algorithms on each instance, adjusted over all pairs and instances.

    Parameters
    ----------
    samples
        Values of an indicator for which less is better. An algorithm with fewer than three seeds on an instance is not
        tested.
    """
    from scipy.stats import mannwhitneyu

    found = []
    for instance, values in samples.items():
        tested = [name for name, sample in values.items() if len(sample) >= 3]
        for first, second in combinations(tested, 2):
            a, b = values[first], values[second]
            p = 1.0 if set(a) == set(b) and len(set(a)) == 1 else float(mannwhitneyu(a, b).pvalue)
            found.append((instance, first, second, p, a12(a, b)))
    adjusted = holm([row[3] for row in found])
    return [Pair(i, a, b, p, float(q), e) for (i, a, b, p, e), q in zip(found, adjusted, strict=True)]


def block(samples: Mapping[str, Mapping[str, object]]) -> tuple[list[str], list[str]]:
    """Instances and algorithms that can be compared over instances: each of the algorithms has run on each instance.

    An algorithm that ran on few instances, such as one for a single task, is left out if more comparisons of pairs
    on instances are possible without it.

    Parameters
    ----------
    samples
        Results of each algorithm on each instance.

    Examples
    --------
    >>> both = {"a": [1], "b": [2]}
    >>> block({"one": {**both, "c": [1]}, "two": both, "three": both, "four": both})
    (['one', 'two', 'three', 'four'], ['a', 'b'])
    """
    ran = {name: [i for i, by in samples.items() if by.get(name)] for values in samples.values() for name in values}
    best: tuple[list[str], list[str]] = ([], list(ran))
    most = -1
    for least in sorted({len(where) for where in ran.values()}):
        names = [name for name, where in ran.items() if len(where) >= least]
        shared = [i for i in samples if all(i in ran[name] for name in names)]
        compared = len(shared) * len(names) * (len(names) - 1)
        if compared > most:
            best, most = (shared, names), compared
    return best


def medians(samples: Samples) -> tuple[list[str], list[str], FloatArray]:
    """Instances and algorithms from ``block``, and the medians (instances × algorithms)."""
    shared, algorithms = block(samples)
    M = np.array([[float(np.median(samples[i][name])) for name in algorithms] for i in shared])
    return shared, algorithms, M.reshape(len(shared), len(algorithms))


def pairs_over_instances(samples: Samples) -> list[Pair]:
    """Wilcoxon tests of all pairs of algorithms on the instances' medians, adjusted over all pairs.

    Parameters
    ----------
    samples
        Values of an indicator for which less is better; instances and algorithms are those of ``block``.
    """
    from scipy.stats import wilcoxon

    _, algorithms, M = medians(samples)
    found = []
    for i, j in combinations(range(len(algorithms)), 2):
        a, b = M[:, i], M[:, j]
        different = a != b
        p = float(wilcoxon(a[different], b[different]).pvalue) if different.any() else 1.0
        effect = float(((a < b) + 0.5 * (a == b)).mean()) if len(a) else 0.5
        found.append((algorithms[i], algorithms[j], p, effect))
    adjusted = holm([row[2] for row in found])
    return [Pair("", a, b, p, float(q), e) for (a, b, p, e), q in zip(found, adjusted, strict=True)]


def mean_ranks(samples: Samples) -> dict[str, float]:
    """Mean rank of each algorithm's median over the instances of ``block``; 1 is best, ties share."""
    from scipy.stats import rankdata

    _, algorithms, M = medians(samples)
    ranks = rankdata(M, axis=1).mean(axis=0) if len(M) else np.full(len(algorithms), np.nan)
    return dict(zip(algorithms, map(float, ranks), strict=True))


def alike(ranks: Mapping[str, float], pairs: Sequence[Pair], *, alpha: float = 0.05) -> list[tuple[str, ...]]:
    """Groups of algorithms, adjacent in rank, of which no pair differs: the bars of a critical-difference diagram.

    Parameters
    ----------
    ranks
        As from ``mean_ranks``.
    pairs
        As from ``pairs_over_instances``.
    alpha
        Level of the adjusted tests.

    Examples
    --------
    >>> alike({"a": 1.0, "b": 2.0, "c": 3.0}, [Pair("", "a", "c", 0.01, 0.03, 1.0)])
    [('a', 'b'), ('b', 'c')]
    """
    differ = {frozenset((pair.first, pair.second)) for pair in pairs if pair.p_holm < alpha}
    order = sorted(ranks, key=lambda name: ranks[name])
    groups: list[tuple[str, ...]] = []
    for i in range(len(order)):
        j = i
        while j + 1 < len(order) and all(frozenset((order[j + 1], name)) not in differ for name in order[i : j + 1]):
            j += 1
        group = tuple(order[i : j + 1])
        if len(group) > 1 and not any(set(group) <= set(known) for known in groups):
            groups.append(group)
    return groups
