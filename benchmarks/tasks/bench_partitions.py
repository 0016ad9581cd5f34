"""Partitions beside plain numpy, in one run: the univariate optimum and the scoring of many partitions.

    python benchmarks/tasks/bench_partitions.py

CPU seconds. The plain dynamic program is timed on fewer values and scaled, as its time grows in proportion to n.
"""

from __future__ import annotations

import argparse

import numpy as np
from plain import cpu

from sdc_problems.evaluators.information_loss.numeric import sse
from sdc_problems.evaluators.partition import PartitionEngine
from sdc_problems.methods import microaggregate_univariate

VALUES, PLAIN_VALUES = 1_000_000, 20_000


def plain_univariate(x: np.ndarray, k: int) -> float:
    """The same shortest path in numpy, a loop over the ends of groups."""
    ordered = np.sort(x)
    best = np.full(len(x) + 1, np.inf)
    best[0] = 0.0
    for end in range(k, len(x) + 1):
        for size in range(k, min(2 * k - 1, end) + 1):
            group = ordered[end - size : end]
            best[end] = min(best[end], best[end - size] + float(np.square(group - group.mean()).sum()))
    return float(best[-1])


def main() -> None:
    """Print both comparisons."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=VALUES)
    few = x[:PLAIN_VALUES]
    microaggregate_univariate(few, 3)  # compile
    for k in (3, 10, 100):
        fast = cpu(lambda k=k: microaggregate_univariate(x, k))
        line = f"univariate optimum, {VALUES:,} values, k = {k}: {fast:.3f} s"
        if k == 3:
            slow = cpu(lambda: plain_univariate(few, 3), times=1) * VALUES / PLAIN_VALUES
            found = sse(few, microaggregate_univariate(few, 3))
            same = np.isclose(found, plain_univariate(few, 3))
            line += f"; plain: {slow:.1f} s, {slow / fast:.0f} times as long; same SSE: {same}"
        print(line)
    X = rng.normal(size=(1080, 13))
    rows = rng.integers(0, 360, size=(500, 1080)).astype(np.int16)
    engine = PartitionEngine(X, threads=1)
    engine.measure(rows[:2], ("sse",))
    fast = cpu(lambda: engine.measure(rows, ("sse",)))
    slow = cpu(lambda: [sse(engine.V, row) for row in rows], times=1)
    print(f"SSE of 500 partitions, 1,080 × 13: {fast:.3f} s; one by one: {slow:.3f} s, {slow / fast:.1f} times as long")


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    main()
