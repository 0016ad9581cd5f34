"""
Several processes or machines: Dask
===================================

Candidates are measured on the workers of a Dask cluster; the table goes to each worker once. The result is the same,
whatever the number of workers. Here the cluster is two processes of this machine; on a real one, give the address of
its scheduler.
"""

import matplotlib.pyplot as plt
from distributed import LocalCluster
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.optimize import minimize

from sdc_problems import PBGProblem, load
from sdc_problems.parallel import DaskCluster, ParallelEvaluator

people = load("people")
problem = PBGProblem(people.data, people.hierarchies, objectives=("k", "glm"), threads=1)


def search(evaluator=None):
    """Search with the evaluator that is given."""
    given = {} if evaluator is None else {"evaluator": evaluator}
    return minimize(problem, NSGA2(pop_size=30, **given, **problem.operators()), ("n_gen", 8), seed=1)


with (
    LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
    DaskCluster(problem, scheduler=cluster.scheduler_address, workers=2) as backend,
):
    there = search(ParallelEvaluator(backend))
here = search()
print("the same front:", (there.F == here.F).all())

fig, ax = plt.subplots(layout="constrained")
for result, marker, size, name in ((here, "o", 80, "this process"), (there, "x", 25, "cluster")):
    ax.scatter(*problem.natural(result.F).T, marker=marker, s=size, label=name)
ax.set(xscale="log", xlabel="smallest class k", ylabel="GLM")
ax.legend(frameon=False)
plt.show()
