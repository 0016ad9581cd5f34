"""
Microaggregation: loss against the smallest group
=================================================

A row of ``X`` is a cluster per record. Every k has its own best partition; the memetic search improves the partitions
that MDAV makes.
"""

import matplotlib.pyplot as plt
from pymoo.optimize import minimize

from sdc_problems import MicroaggregationProblem, load
from sdc_problems.algorithms import MemeticMicroaggregation
from sdc_problems.evaluators import il_sse
from sdc_problems.methods import mdav

data = load("firms").data.take(range(200))
columns = data.quasi_identifiers[:3]
X = data.frame()[list(columns)].to_numpy(float)
sizes = [3, 4, 5, 7, 10, 15, 20]

simple, searched = [], []
for k in sizes:
    problem = MicroaggregationProblem(data, k, columns=columns, objectives=("il_sse",))
    result = minimize(problem, MemeticMicroaggregation(move_limit=150_000), seed=1)
    searched.append(float(result.F.min()))
    simple.append(il_sse(X, mdav(X, k)))

fig, ax = plt.subplots(layout="constrained")
ax.plot(sizes, simple, "s--", color="0.5", label="MDAV")
ax.plot(sizes, searched, "o-", label="memetic search")
ax.set(xlabel="k, records of the smallest group", ylabel="information loss, il_sse (%)", ylim=(0, None))
ax.legend(frameon=False)
plt.show()
