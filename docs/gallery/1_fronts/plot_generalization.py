"""
Generalization: exact front and search
======================================

Each attribute is generalized to a level of its hierarchy. The lattice of all levels is small enough to be measured
completely here, so a search can be compared with the truth.
"""

import matplotlib.pyplot as plt
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.optimize import minimize

from sdc_problems import PBGProblem, load

people = load("people")
problem = PBGProblem(
    people.data, people.hierarchies, objectives=("k", "glm"), max_suppression=0.01, suppression="budget"
)
exact = problem.enumerate_front()
result = minimize(problem, NSGA2(pop_size=40, **problem.operators()), ("n_gen", 15), seed=1)

# %%
# ``k`` is maximized, so ``F`` stores it negated; ``natural`` gives values as a person reads them.

fig, ax = plt.subplots(layout="constrained")
k, glm = problem.natural(exact.F).T
ax.step(k, glm, where="pre", color="0.6", label=f"exact front ({len(exact.F)} points)")
k, glm = problem.natural(result.F).T
ax.scatter(k, glm, s=18, label=f"NSGA-II, {result.algorithm.evaluator.n_eval} evaluations", zorder=3)
ax.set(xscale="log", xlabel="smallest class k", ylabel="general loss metric (GLM)")
ax.legend(frameon=False)
plt.show()

# %%
# What one solution does to the data, in sentences:

middle = result.X[len(result.X) // 2]
print("\n".join(problem.describe(middle)))
