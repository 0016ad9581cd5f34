"""
Masking: the protected file itself
==================================

Every protected cell is a variable. The search starts from files that usual methods made and changes single cells.
"""

import matplotlib.pyplot as plt
from pymoo.optimize import minimize

from sdc_problems import MaskingProblem, load
from sdc_problems.algorithms import CellSearch

data = load("people").data.take(range(300))
columns = ["education", "marital_status", "income"]
problem = MaskingProblem(data, columns=columns, objectives=("il_categorical", "dr_guarded"))
result = minimize(problem, CellSearch(move_limit=400_000, weights=(0.2, 0.35, 0.5, 0.65, 0.8)), seed=1)

started = {name: problem.evaluate(x) for name, x in problem.baselines().items()}

fig, ax = plt.subplots(layout="constrained")
ax.scatter(*zip(*started.values(), strict=True), marker="D", s=22, color="tab:orange", label="files of usual methods")
ax.plot(*result.F[result.F[:, 0].argsort()].T, "o-", ms=4, drawstyle="steps-post", label="search of cells")
ax.set(xlabel="information loss, il_categorical (%)", ylabel="disclosure risk, dr_guarded (%)")
ax.legend(frameon=False)
plt.show()
