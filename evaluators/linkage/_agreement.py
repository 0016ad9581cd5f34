"""Kernels of probabilistic linkage: agreement patterns of all pairs, and EM on their counts."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from sdc_problems._kernel import kernel
from sdc_problems._validation import FloatArray

_PAIRS = 2**20  # pairs of rows that are counted at once
_EDGE = 1e-9  # smallest distance of probabilities from 0 and 1, because their logarithms are the weights
NUDGE = 0.1  # of the way from P(agree | other) to 1: where P(agree | match) begins again if both are equal


def _plain_patterns(A: Any, B: Any, reach: Any) -> Any:
    patterns = np.zeros((len(A), len(B)), dtype=np.int64)
    for j in range(A.shape[1]):
        patterns |= (np.abs(A[:, j, None] - B[None, :, j]) <= reach[j]) * (np.int64(1) << j)
    return patterns


@kernel(cost=lambda A, B, reach: 1e-5 + A.size * len(B) * 4e-9, plain=_plain_patterns)
def agreement_patterns(A: Any, B: Any, reach: Any) -> Any:
    """Agreement pattern of each pair of rows: bit j is set if the values of attribute j differ by at most its reach."""
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


def pattern_counts(patterns: Any, records_x: Any, records_y: Any, n_patterns: int) -> Any:
    """Number of pairs of records with each agreement pattern; a pair of distinct rows counts for all equal records."""
    count = np.zeros(n_patterns)
    step = max(1, _PAIRS // patterns.shape[1])
    for begin in range(0, len(patterns), step):
        some = slice(begin, begin + step)
        pairs = records_x[some, None] * records_y[None, :]
        count += np.bincount(patterns[some].ravel(), weights=pairs.ravel(), minlength=n_patterns)
    return count


@kernel(cost=lambda agrees, *_: 1e-5 + agrees.size * 1e-6)
def _em_step(agrees: Any, count: Any, prevalence: float, old: Any, new: Any) -> Any:
    """One iteration of EM on the parameters (m_1 … m_p, u_1 … u_p).

    Returns the log-likelihood and the number of matching pairs under the old parameters.
    """
    k, p = agrees.shape
    prior = math.log(prevalence / (1.0 - prevalence))
    rest_prior = math.log(1.0 - prevalence)
    agree_u, differ_u, agree_gain, differ_gain = np.empty(p), np.empty(p), np.empty(p), np.empty(p)
    for j in range(p):
        agree_u[j], differ_u[j] = math.log(old[p + j]), math.log(1.0 - old[p + j])
        agree_gain[j], differ_gain[j] = math.log(old[j]) - agree_u[j], math.log(1.0 - old[j]) - differ_u[j]
    total = 0.0
    likelihood = 0.0
    matched = 0.0
    matched_agree = np.zeros(p)
    all_agree = np.zeros(p)
    for e in range(k):
        total += count[e]
        gain = prior
        other = rest_prior
        for j in range(p):
            if agrees[e, j]:
                gain += agree_gain[j]
                other += agree_u[j]
            else:
                gain += differ_gain[j]
                other += differ_u[j]
        # log(1 + exp(gain)) without overflow
        less = math.exp(-abs(gain))
        likelihood += count[e] * (other + max(gain, 0.0) + math.log1p(less))
        weight = count[e] * (1.0 if gain >= 0.0 else less) / (1.0 + less)
        matched += weight
        for j in range(p):
            if agrees[e, j]:
                matched_agree[j] += weight
                all_agree[j] += count[e]
    rest = total - matched
    for j in range(p):
        m = matched_agree[j] / matched if matched > 0.0 else old[j]
        u = (all_agree[j] - matched_agree[j]) / rest if rest > 0.0 else old[p + j]
        if m < u:  # subject to m ≥ u, the likelihood is largest where both equal the share of all pairs
            m = u = all_agree[j] / total
        new[j] = min(max(m, _EDGE), 1.0 - _EDGE)
        new[p + j] = min(max(u, _EDGE), 1.0 - _EDGE)
    return likelihood, matched


class Estimate(NamedTuple):
    """Estimate by EM: P(agree | match) and P(agree | other) per attribute.

    Also the posterior share of matches, the number of iterations, and whether no probability changed by more than the
    tolerance in the last iteration.
    """

    m: FloatArray
    u: FloatArray
    prevalence: float
    iterations: int
    converged: bool


def expectation_maximisation(
    agrees: Any, count: Any, prevalence: float, max_iterations: int, tolerance: float
) -> Estimate:
    """EM estimates of P(agree | match) and P(agree | other) per attribute, independent within both classes of pairs.

    The prior share of matches (``prevalence``) is fixed, and P(agree | match) is kept from falling below
    P(agree | other). Where both are equal at the end, an iteration cannot leave: it is tried again from nearby, and the
    more likely estimate is returned.
    """
    p = agrees.shape[1]
    found = _climbed(agrees, count, prevalence, np.repeat([0.9, 0.1], p), max_iterations, tolerance)
    stuck = found.m <= found.u
    if not found.converged or not stuck.any():
        return found
    m = np.where(stuck, found.u + NUDGE * (1.0 - found.u), found.m)
    left = max_iterations - found.iterations
    again = _climbed(agrees, count, prevalence, np.concatenate([m, found.u]), left, tolerance)
    if not again.converged:
        return found
    unused = np.empty(2 * p)
    before, after = (
        _em_step(agrees, count, prevalence, np.concatenate([one.m, one.u]), unused)[0] for one in (found, again)
    )
    best = again if after > before + 1e-9 * abs(before) else found
    return best._replace(iterations=found.iterations + again.iterations)


def _climbed(
    agrees: Any, count: Any, prevalence: float, start: FloatArray, max_iterations: int, tolerance: float
) -> Estimate:
    """Estimate of EM from a start.

    EM alone takes thousands of iterations if there are few attributes with little information. Therefore, two
    iterations are followed by a leap in their direction (SQUAREM, Varadhan and Roland 2008). A leap that decreases the
    likelihood is undone, and later leaps are shorter.
    """
    p = agrees.shape[1]
    total = count.sum()
    first, second, leap, after = np.empty(2 * p), np.empty(2 * p), np.empty(2 * p), np.empty(2 * p)
    matched = 0.0
    longest = 4.0  # longest leap: grows while leaps increase the likelihood
    iteration = 0
    while iteration < max_iterations:
        _, matched = _em_step(agrees, count, prevalence, start, first)
        iteration += 1
        if np.abs(first - start).max() <= tolerance:
            return Estimate(first[:p], first[p:], matched / total, iteration, True)
        if iteration >= max_iterations:
            start[:] = first
            break
        likelihood, matched = _em_step(agrees, count, prevalence, first, second)
        iteration += 1
        if np.abs(second - first).max() <= tolerance:
            return Estimate(second[:p], second[p:], matched / total, iteration, True)
        step = first - start
        bend = second - first - step
        curvature = np.sqrt((bend * bend).sum())
        length = min(np.sqrt((step * step).sum()) / curvature, longest) if curvature > 0.0 else 1.0
        if length <= 1.0 or iteration >= max_iterations:
            start[:] = second
            continue
        for j in range(p):
            far = start[p + j] + 2.0 * length * step[p + j] + length * length * bend[p + j]
            leap[p + j] = min(max(far, _EDGE), 1.0 - _EDGE)
            far = start[j] + 2.0 * length * step[j] + length * length * bend[j]
            if far < leap[p + j]:  # a leap does not meet a bound that steps may never reach, and where they would stay
                leap[j], leap[p + j] = second[j], second[p + j]
            else:
                leap[j] = min(far, 1.0 - _EDGE)
        reached, _ = _em_step(agrees, count, prevalence, leap, after)
        iteration += 1
        if reached >= likelihood:
            start[:] = after
            longest = 4.0 * longest if length == longest else longest
        else:
            start[:] = second
            longest = max(length / 4.0, 2.0)
    return Estimate(start[:p].copy(), start[p:].copy(), matched / total, iteration, False)
