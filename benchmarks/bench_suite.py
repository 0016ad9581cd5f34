"""Suite of instances: CPU seconds to prove its fronts again, two ways to a front of groupings, and the gallery.

python benchmarks/bench_suite.py            prove the core again, and both ways to a front of groupings
python benchmarks/bench_suite.py --gallery docs/figures/suite.png
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from sdc_problems import GOMMProblem
from sdc_problems.suite import Instance, instance, instances, prove

LIMIT = 300.0  # CPU seconds for all fronts of the core that are proven by the way


def seconds(function, *arguments):  # type: ignore[no-untyped-def]
    began = time.process_time()
    function(*arguments)
    return time.process_time() - began


def proofs() -> None:
    total = 0.0
    for found in instances("core"):
        if not found.stored:
            took = seconds(prove, found)
            total += took
            print(f"{found.id:36} {len(found.front):4} points  {took:6.1f} s", flush=True)
    print(f"all of them: {total:.0f} s of CPU, {'within' if total <= LIMIT else 'ABOVE'} the {LIMIT:.0f} s allowed")


def two_ways() -> None:
    """Both are of this machine and this hour: their ratio is what counts."""
    took = {}
    for name in ("gomm-firms12-il-id", "gomm-firms9-il-dr"):
        found = instance(name)
        problem = found.problem(threads=1)
        assert isinstance(problem, GOMMProblem)
        problem.evaluate(found.front_x[:2])  # compiled
        took[name] = seconds(found.problem(threads=1).enumerate_front)
    programme, enumeration = took.values()
    print(f"subset program, 12 attributes: {programme:.1f} s; 9 with linkage, each: {enumeration:.1f} s")
    print(f"ratio {programme / enumeration:.2f}, {'within' if programme < enumeration else 'ABOVE'} the 1 allowed")


def gallery(file: Path) -> None:
    """Every front of the core, two objectives of each."""
    import matplotlib.pyplot as plt

    core = instances("core")
    figure, axes = plt.subplots(-(-len(core) // 4), 4, figsize=(12, 2.3 * -(-len(core) // 4)), layout="constrained")
    for axis in axes.flat[len(core) :]:
        axis.set_visible(False)
    for axis, found in zip(axes.flat, core, strict=False):
        draw(axis, found)
    figure.savefig(file, dpi=90)


def draw(axis, found: Instance) -> None:  # type: ignore[no-untyped-def]
    values = found.natural(found.front)
    first, last = 0, found.n_objectives - 1
    axis.plot(values[:, first], values[:, last], ".", markersize=3, color="#1f5f8b")
    if found.bound is not None:
        bound = found.natural(found.bound)
        axis.plot(bound[:, first], bound[:, last], "|", markersize=5, color="#b05a00")
    for scale, column in ((axis.set_xscale, first), (axis.set_yscale, last)):
        if values[:, column].min() > 1e-6 * values[:, column].max() and np.ptp(np.log10(values[:, column])) > 2:
            scale("log")
    axis.set_title(found.id, fontsize=7.5)
    axis.set_xlabel(found.objectives[first], fontsize=7)
    axis.set_ylabel(found.objectives[last], fontsize=7)
    axis.tick_params(labelsize=6)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gallery", type=Path)
    chosen = parser.parse_args()
    if chosen.gallery is not None:
        gallery(chosen.gallery)
    else:
        two_ways()
        proofs()
