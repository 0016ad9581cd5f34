"""
Attacking a release
===================

How many records does an intruder find again? Rank swapping keeps every column's values; an intruder who knows the
original values of the columns links each to the nearest released record.
"""

import matplotlib.pyplot as plt
import numpy as np

from sdc_problems import load
from sdc_problems.evaluators import distance_linkage, record_change
from sdc_problems.methods import mdav, microaggregate, rank_swap

data = load("firms").data.take(range(500))
X = data.frame()[list(data.quasi_identifiers[:5])].to_numpy(float)

swapped = {p: rank_swap(X, percent=p, rng=np.random.default_rng(1)) for p in (1, 2, 5, 10, 15, 20)}
merged = {k: microaggregate(X, mdav(X, k)) for k in (2, 3, 5, 10, 20, 50)}

fig, ax = plt.subplots(layout="constrained")
for name, files, marker in (("rank swapping, percent", swapped, "o"), ("microaggregation, k", merged, "s")):
    change = [record_change(X, Y) for Y in files.values()]
    found = [distance_linkage(X, Y) for Y in files.values()]
    ax.plot(change, found, marker + "-", label=name)
    for x, y, strength in zip(change, found, files, strict=True):
        ax.annotate(str(strength), (x, y), xytext=(4, 4), textcoords="offset points", fontsize=8)
ax.set(xlabel="change of a value (record_change)", ylabel="records found again by distance (%)")
ax.legend(frameon=False)
plt.show()

# %%
# Weaker intruders know fewer columns:

for columns in range(1, 6):
    share = distance_linkage(X[:, :columns], swapped[5][:, :columns])
    print(f"who knows {columns} columns finds {share:.1f} % of the records (5 % rank swapping)")
