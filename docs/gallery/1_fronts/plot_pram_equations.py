"""
Post-randomization by an equation
=================================

Instead of every entry of the matrices one equation is searched for, from which all matrices are made. A solution is a
formula that can be read.
"""

import matplotlib.pyplot as plt
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.optimize import minimize

from sdc_problems import PRAMEquationProblem, load

data = load("people").data.take(range(500))
problem = PRAMEquationProblem(data, columns=["marital_status", "income"])
result = minimize(problem, NSGA2(pop_size=20, **problem.operators()), ("n_gen", 10), seed=1)

fig, ax = plt.subplots(layout="constrained")
ax.scatter(*result.F.T, s=18)
ax.set(xlabel=str(problem.objectives[0]), ylabel=str(problem.objectives[1]))
plt.show()

# %%
# What one equation says, in sentences:

print("\n".join(problem.describe(result.X[result.F.sum(axis=1).argmin()])))
