"""
Watching a search: a callback
=============================

pymoo calls a callback after every generation. Here it keeps the front, and the hypervolume is drawn afterwards.
"""

import matplotlib.pyplot as plt
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.core.callback import Callback
from pymoo.optimize import minimize

from sdc_problems.evaluators import hypervolume
from sdc_problems.suite import instance


class Fronts(Callback):
    """Keep the front of every generation."""

    def __init__(self):
        super().__init__()
        self.fronts = []

    def notify(self, algorithm):
        self.fronts.append((algorithm.evaluator.n_eval, algorithm.opt.get("F").copy()))


found = instance("pbg-people-k-glm@1")
problem = found.problem()
kept = Fronts()
minimize(problem, NSGA2(pop_size=30, **problem.operators()), ("n_gen", 25), seed=1, callback=kept)

corner = found.scaled(found.reference[None, :])[0]
best = hypervolume(found.scaled(found.front), corner)
evaluations, shares = zip(*((n, hypervolume(found.scaled(F), corner) / best) for n, F in kept.fronts), strict=True)

fig, ax = plt.subplots(layout="constrained")
ax.plot(evaluations, shares, "o-", ms=3)
ax.axhline(1, color="0.6", lw=1)
ax.set(xlabel="evaluations", ylabel="share of the exact front's hypervolume")
plt.show()
