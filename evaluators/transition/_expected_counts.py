"""Kernels for expected values over all possible protected files, in which every record changes independently.

A count is then a sum of independent binomials. The expectations needed, of its distance from a fixed number and of
``A log A``, follow from its transform, a product with one factor per group of equal records.
"""

from __future__ import annotations

import math
from typing import Any

from sdc_problems._kernel import kernel

_STEP = 0.4  # step of the trapezoid rule for A log A, whose error is near exp(-π²/step) = 2e-11


@kernel()
def expected_distances(size: Any, probability: Any, reference: Any) -> float:
    """``Σ_c E|A_c - a_c|`` with ``A_c = Σ_g Binomial(size_g, probability_gc)``.

    ``|k|`` is the mean of Fejér's kernel ``(1 - cos kt) / (1 - cos t)`` over N equally spaced angles whenever
    ``|k| ≤ N``. Summed over the distribution of ``A - a``, cosines become its characteristic function, which falls
    below rounding within a few standard deviations, so about a dozen angles are visited per cell. N covers all but
    1e-10 of the distribution (Bernstein's inequality).
    """
    total = 0.0
    for c in range(len(reference)):
        a = float(reference[c])
        mean = 0.0
        variance = 0.0
        for g in range(len(size)):
            p = probability[g, c]
            mean += size[g] * p
            variance += size[g] * p * (1.0 - p)
        gap = abs(mean - a)
        if a == 0.0 or variance < 1e-12 or gap * gap > 50.0 * (variance + gap / 3.0):
            total += gap  # the count is on one side of a, except for a probability below exp(-25)
            continue
        n = int(gap + math.sqrt(50.0 * variance + 70.0) + 9.0) | 1
        waves = 0.0
        for k in range(1, n // 2 + 1):
            t = 2.0 * math.pi * k / n
            cosine, sine = math.cos(t), math.sin(t)
            log_modulus = 0.0
            angle = -a * t
            for g in range(len(size)):
                p = probability[g, c]
                if p > 0.0 and log_modulus > -40.0:
                    x = 1.0 - p + p * cosine
                    y = p * sine
                    log_modulus += 0.5 * size[g] * math.log(max(x * x + y * y, 1e-300))
                    angle += size[g] * math.atan2(y, x)
            if log_modulus > -40.0:
                waves += math.exp(log_modulus) * math.cos(angle) / (1.0 - cosine)
            elif t * t * variance > 400.0:
                break
        # Mean over the N angles, with Σ 1/(1 - cos t) = (N² - 1)/6 and, at t = 0, the second moment.
        total += (variance + gap * gap + (n * n - 1.0) / 6.0 - 2.0 * waves) / n
    return total


@kernel()
def expected_x_log_x(size: Any, probability: Any) -> float:
    """``Σ_c E[A_c log A_c]`` with ``A_c = Σ_g Binomial(size_g, probability_gc)``.

    From ``log A = ∫ (e^-t - e^-At) dt/t``: with ``t = e^s``, the integrand ``E[A] e^-t - E[A e^-At]`` is smooth and
    vanishes fast on both sides, so the trapezoid rule converges exponentially. Below the first node, the integrand
    is ``t (E[A²] - E[A])``, and its nodes form a geometric series.
    """
    largest = max(float(size.sum()), 1.0)
    first = math.log(1e-5 / largest)
    n_nodes = int((math.log(40.0) - first) / _STEP) + 1
    total = 0.0
    for c in range(probability.shape[1]):
        mean = 0.0
        variance = 0.0
        for g in range(len(size)):
            p = probability[g, c]
            mean += size[g] * p
            variance += size[g] * p * (1.0 - p)
        if mean == 0.0:
            continue
        if variance < 1e-12:
            total += mean * math.log(mean)
            continue
        second = variance + mean * mean - mean
        area = second * math.exp(first) / (math.exp(_STEP) - 1.0)
        for k in range(n_nodes):
            t = math.exp(first + k * _STEP)
            gone, stays = -math.expm1(-t), math.exp(-t)
            log_transform = 0.0
            slope = 0.0
            for g in range(len(size)):
                p = probability[g, c]
                if p > 0.0:
                    log_transform += (
                        size[g] * math.log1p(-p * gone) if p * gone < 0.5 else size[g] * math.log((1.0 - p) + p * stays)
                    )
                    slope += size[g] * p / ((1.0 - p) + p * stays)
            area += stays * (mean - math.exp(log_transform) * slope)
        total += area * _STEP
    return total
