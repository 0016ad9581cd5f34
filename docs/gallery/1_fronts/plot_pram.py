"""
Post-randomization: transition matrices
=======================================

A value changes at random by a matrix of probabilities. The matrices are the solution; loss and risk are expected
values.
"""

import matplotlib.pyplot as plt
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.optimize import minimize

from sdc_problems import PRAMProblem, load

data = load("people").data.take(range(1000))
problem = PRAMProblem(data, columns=["marital_status", "income"], evaluation="expected", diagonal=(0.3, 1.0))
result = minimize(problem, NSGA2(pop_size=40, **problem.operators()), ("n_gen", 30), seed=1)

# %%
# Left the front, right the matrix of one solution: the probability that a value (row) is released as another (column).

middle = result.X[result.F.sum(axis=1).argmin()]
matrix = problem.decode(middle)["marital_status"]
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
left.scatter(*result.F.T, s=14)
left.set(xlabel="information loss (%)", ylabel="disclosure risk (%)")
shown = right.imshow(matrix, vmin=0, vmax=1, cmap="Blues")
right.set_xticks(range(len(matrix)), matrix.columns, rotation=40, ha="right", fontsize=8)
right.set_yticks(range(len(matrix)), matrix.index, fontsize=8)
fig.colorbar(shown, ax=right, label="probability")
plt.show()
