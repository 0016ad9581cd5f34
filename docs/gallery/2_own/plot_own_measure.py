"""
An objective of your own
========================

An ``Objective`` with a function is measured on the released codes of every candidate: it can be optimized, required,
and drawn like any other. Here: how many of the original combinations of two columns are still there.
"""

import matplotlib.pyplot as plt
import numpy as np
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.optimize import minimize

from sdc_problems import Objective, PBGProblem, load


def combinations_lost(released, original):
    """Percent of the different combinations of all columns that cannot be told apart any more."""
    return 100 * (1 - len(np.unique(released, axis=0)) / len(np.unique(original, axis=0)))


lost = Objective(
    "combinations_lost",
    "combinations that look alike",
    "min",
    (0, 100),
    "%",
    meaning="Percent of the different combinations of values that cannot be told apart any more.",
    formula="100 * (1 - combinations released / combinations of the original)",
    function=combinations_lost,
)
people = load("people")
problem = PBGProblem(people.data.take(range(1000)), people.hierarchies, objectives=("k", lost))
result = minimize(problem, NSGA2(pop_size=30, **problem.operators()), ("n_gen", 12), seed=1)
k, percent = problem.natural(result.F).T

fig, ax = plt.subplots(layout="constrained")
ax.scatter(k, percent, s=18)
ax.set(xscale="log", xlabel="smallest class k", ylabel=str(lost))
plt.show()
print(lost.sentence)
