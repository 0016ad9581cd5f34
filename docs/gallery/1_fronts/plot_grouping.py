"""
Groups of attributes
====================

Microaggregating all attributes together loses much; each on its own protects little. The front lies between: which
attributes go together? With eight attributes there are 4,140 groupings, and the exact front is found in a moment.
"""

import matplotlib.pyplot as plt
import numpy as np

from sdc_problems import GOMMProblem, load

firms = load("firms").data
problem = GOMMProblem(firms, k=5, columns=firms.quasi_identifiers[:8], objectives=("il_sse", "id_value"))
exact = problem.enumerate_front()
rng = np.random.default_rng(1)
some = problem.operators()["sampling"](problem, 300, random_state=rng).get("X")
F = problem.evaluate(some)

fig, ax = plt.subplots(layout="constrained")
ax.scatter(*F.T, s=8, color="0.75", label="300 random groupings")
ax.plot(*exact.F.T, "o-", ms=4, drawstyle="steps-post", label=f"exact front ({len(exact.F)} points)")
baselines = problem.baselines()
for name in ("univariate", "one group"):
    ax.annotate(name, problem.evaluate(baselines[name]), fontsize=8, xytext=(4, 4), textcoords="offset points")
ax.set(xlabel="information loss, il_sse (%)", ylabel="interval disclosure, id_value (%)")
ax.legend(frameon=False)
plt.show()

# %%
# A grouping is a tuple of groups of names:

for x in exact.X[:: max(1, len(exact.X) // 4)]:
    print(problem.decode(x).groups)
