"""Kernels of probabilistic linkage: agreement patterns of all pairs, and EM on their counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdc_problems.kernel import kernel

_EDGE = 1e-9  # probabilities stay this far from 0 and 1: their logarithms are the weights


@kernel()
def agreement_patterns(A: Any, B: Any, reach: Any) -> Any:
    """Bit j of a pair's pattern is set when attribute j agrees: the values lie within its reach of each other."""
    n, p = A.shape
    m = len(B)
    patterns = np.empty((n, m), dtype=np.int64)
    for i in range(n):
        for k in range(m):
            bits = 0
            for j in range(p):
                if abs(A[i, j] - B[k, j]) <= reach[j]:
                    bits |= 1 << j
            patterns[i, k] = bits
    return patterns


@kernel()
def pattern_counts(patterns: Any, records_x: Any, records_y: Any, n_patterns: int) -> Any:
    """How many pairs of records have each pattern: each pair of distinct rows counts for all records equal to them."""
    count = np.zeros(n_patterns)
    for i in range(patterns.shape[0]):
        for k in range(patterns.shape[1]):
            count[patterns[i, k]] += records_x[i] * records_y[k]
    return count


@kernel()
def expectation_maximisation(agrees: Any, count: Any, prevalence: float, max_iterations: int, tolerance: float) -> Any:
    """P(agree | match) and P(agree | other) per attribute, independent within each of the two classes of pairs.

    The share of matches before looking (``prevalence``) is given and stays; P(agree | match) is kept from falling
    below P(agree | other). Returns both, the share of matches after looking, the number of iterations, and whether
    no probability moved by more than the tolerance in the last one.
    """
    k, p = agrees.shape
    m = np.full(p, 0.9)
    u = np.full(p, 0.1)
    total = count.sum()
    matched = 0.0
    prior = np.log(prevalence / (1.0 - prevalence))
    for iteration in range(1, max_iterations + 1):
        agree_gain = np.log(m / u)
        differ_gain = np.log((1.0 - m) / (1.0 - u))
        matched = 0.0
        matched_agree = np.zeros(p)
        all_agree = np.zeros(p)
        for e in range(k):
            gain = prior
            for j in range(p):
                gain += agree_gain[j] if agrees[e, j] else differ_gain[j]
            weight = count[e] / (1.0 + np.exp(-gain))
            matched += weight
            for j in range(p):
                if agrees[e, j]:
                    matched_agree[j] += weight
                    all_agree[j] += count[e]
        moved = 0.0
        for j in range(p):
            rest = total - matched
            new_u = min(max((all_agree[j] - matched_agree[j]) / rest, _EDGE), 1.0 - _EDGE) if rest > 0.0 else u[j]
            new_m = min(max(matched_agree[j] / matched, new_u), 1.0 - _EDGE) if matched > 0.0 else m[j]
            moved = max(moved, abs(new_m - m[j]), abs(new_u - u[j]))
            m[j] = new_m
            u[j] = new_u
        if moved <= tolerance:
            return m, u, matched / total, iteration, True
    return m, u, matched / total, max_iterations, False
