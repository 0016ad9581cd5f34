"""
Preclustering: every solution measured
======================================

Records are clustered first, and each cluster is protected by itself. Method, joining rule, k and number of clusters
are few enough to be enumerated.
"""

import matplotlib.pyplot as plt

from sdc_problems import PreclusterProblem, load

data = load("people").data.take(range(1000))
problem = PreclusterProblem(data, columns=["education", "income"], k_max=15, clusters_max=10)
exact = problem.enumerate_front()
values = problem.natural(exact.F)

fig, ax = plt.subplots(layout="constrained")
ax.plot(*values[:, :2].T, "o-", ms=4, drawstyle="steps-post")
ax.set(xlabel=str(problem.objectives[0]), ylabel=str(problem.objectives[1]))
ax.set_title(f"exact front: {len(exact.F)} of {exact.n_candidates:,} solutions")
plt.show()

print("\n".join(problem.describe(exact.X[0])))
