"""
Social graphs: people and their links
=====================================

Every combination of attributes becomes common to at least k people; the links stay. What attributes and the number of
links still tell an intruder is measured.
"""

import matplotlib.pyplot as plt
import numpy as np
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.optimize import minimize

from sdc_problems import SocialGraphProblem, load

crawl = load("crawl")
graph = crawl.graph.take(range(120)) if hasattr(crawl.graph, "take") else crawl.graph
problem = SocialGraphProblem(graph, k=3, objectives=("il_graph", "dr_degree"))
result = minimize(problem, NSGA2(pop_size=30, **problem.operators()), ("n_gen", 12), seed=1)
known = np.array(list(problem.baselines().values()))

fig, ax = plt.subplots(layout="constrained")
ax.scatter(*problem.evaluate(known).T, marker="D", s=22, color="tab:orange", label="without a search")
ax.plot(*result.F[result.F[:, 0].argsort()].T, "o-", ms=4, drawstyle="steps-post", label="NSGA-II")
ax.set(xlabel="information loss, il_graph", ylabel="risk by attributes and degree, dr_degree")
ax.legend(frameon=False)
plt.show()
