"""
An operator of your own
=======================

An operator takes rows of integers and a generator, and returns rows: it never sees the data. This mutation moves one
level of a generalization up or down by a larger step with small probability.
"""

import matplotlib.pyplot as plt
import numpy as np
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.core.mutation import Mutation
from pymoo.optimize import minimize

from sdc_problems.evaluators import hypervolume
from sdc_problems.suite import instance


class LongSteps(Mutation):
    """Move one variable of each row by a step from a heavy-tailed distribution."""

    def _do(self, problem, X, *args, random_state, **kwargs):
        out = X.copy()
        rows, columns = np.arange(len(X)), random_state.integers(0, X.shape[1], size=len(X))
        steps = random_state.geometric(0.6, size=len(X)) * random_state.choice([-1, 1], size=len(X))
        moved = out[rows, columns].astype(int) + steps
        out[rows, columns] = np.clip(moved, problem.xl[columns], problem.xu[columns])
        return out


# %%
# The benchmark instance knows its front, so the two mutations can be compared by the share of its hypervolume.

found = instance("pbg-people-k-glm@1")
CORNER = found.scaled(found.reference[None, :])[0]
reference = hypervolume(found.scaled(found.front), CORNER)
shares = {}
for name, changed in {"the problem's own": {}, "long steps": {"mutation": LongSteps()}}.items():
    shares[name] = []
    for seed in range(1, 6):
        problem = found.problem()
        algorithm = NSGA2(pop_size=30, **{**problem.operators(), **changed})
        result = minimize(problem, algorithm, ("n_eval", 400), seed=seed)
        value = hypervolume(found.scaled(result.F), CORNER)
        shares[name].append(value / reference)

fig, ax = plt.subplots(layout="constrained")
for place, values in enumerate(shares.values()):
    ax.plot([place] * len(values), values, "o", alpha=0.7)
ax.set_xticks(range(len(shares)), shares)
ax.set(ylabel="share of the exact front's hypervolume", xlim=(-0.5, len(shares) - 0.5))
plt.show()
