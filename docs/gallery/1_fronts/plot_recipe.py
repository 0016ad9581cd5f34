"""
Recipes: which method for which column
======================================

A recipe gives each column a method and its strength, for numbers and categories of one file.
"""

import matplotlib.pyplot as plt
import numpy as np
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.optimize import minimize

from sdc_problems import RecipeProblem, load

columns = ["age", "hours", "education", "marital_status"]
people = load("people").data.with_roles(quasi_identifiers=columns).take(range(300))
problem = RecipeProblem(people, methods=["mdav", "mondrian", "rank-swap", "recode-rare", "pram"])
sweeps = np.array(list(problem.baselines().values()))
result = minimize(problem, NSGA2(pop_size=30, **{**problem.operators(), "sampling": sweeps}), ("n_gen", 8), seed=1)

fig, ax = plt.subplots(layout="constrained")
ax.scatter(*problem.evaluate(sweeps).T, marker="D", s=16, color="tab:orange", label="one method at a time")
ax.plot(*result.F[result.F[:, 0].argsort()].T, "o-", ms=4, drawstyle="steps-post", label="recipes")
ax.set(xlabel="information loss, il_mixed (%)", ylabel="disclosure risk, dr_mixed (%)")
ax.legend(frameon=False)
plt.show()

# %%
# The recipe with the smallest sum of both:

print(problem.decode(result.X[result.F.sum(axis=1).argmin()]))
