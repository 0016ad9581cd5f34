"""
Comparing algorithms: attainment surfaces
=========================================

Fronts of several seeds are summarized by the empirical attainment function: the median surface is reached by half of
the runs. Two algorithms are compared with the exact front.
"""

import matplotlib.pyplot as plt
import moocore
import numpy as np
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.optimize import minimize

from sdc_problems.suite import instance

found = instance("gomm-firms9-il-dr@1")
SEEDS = range(1, 8)


def random_search(problem, budget, seed):
    """Non-dominated solutions of random ones."""
    rng = np.random.default_rng(seed)
    F = problem.evaluate(problem.operators()["sampling"](problem, budget, random_state=rng).get("X"))
    return moocore.filter_dominated(F)


def nsga2(problem, budget, seed):
    """Front of NSGA-II with the problem's own operators."""
    return minimize(problem, NSGA2(pop_size=30, **problem.operators()), ("n_eval", budget), seed=seed).F


fig, ax = plt.subplots(layout="constrained")
ax.plot(*found.front.T, "k.", ms=5, label="exact front")
for color, search in (("tab:orange", random_search), ("tab:blue", nsga2)):
    fronts = [search(found.problem(), 300, seed) for seed in SEEDS]
    sets = np.repeat(np.arange(len(fronts)), [len(front) for front in fronts])
    surfaces = moocore.eaf(np.concatenate(fronts), sets, percentiles=[0, 50, 100])
    for percentile, style in ((0, ":"), (50, "-"), (100, ":")):
        surface = surfaces[surfaces[:, -1] == percentile, :2]
        surface = surface[surface[:, 0].argsort()]
        label = search.__name__ if percentile == 50 else None
        ax.step(*surface.T, where="post", color=color, ls=style, label=label)
ax.set(xlabel="information loss, il_sse (%)", ylabel="disclosure risk, dr_linkage (%)")
ax.legend(frameon=False, title="median (solid), best and worst (dotted)")
plt.show()
