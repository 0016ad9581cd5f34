"""
A problem of your own
=====================

The smallest complete problem: each bit says whether a column is blanked out. A subclass of ``SDCProblem`` says what a
row of ``X`` means, how it is measured and what it releases; the searches, reports and the contract suite then work
with it.
"""

import matplotlib.pyplot as plt
import numpy as np
from pymoo.algorithms.moo.nsga2 import NSGA2
from pymoo.core.mutation import Mutation
from pymoo.core.repair import NoRepair
from pymoo.core.sampling import Sampling
from pymoo.operators.crossover.ux import UniformCrossover
from pymoo.optimize import minimize

from sdc_problems import Objective, SDCProblem, load

K = Objective("k", "smallest class", "max", (1, np.inf), "records", meaning="Records in the smallest class.")
BLANKED = Objective("blanked", "blanked columns", "min", meaning="Columns that are blanked out.")


class RandomBits(Sampling):
    """Random rows of bits."""

    def _do(self, problem, n_samples, *args, random_state, **kwargs):
        return random_state.integers(0, 2, size=(n_samples, problem.n_var), dtype=problem.dtype)


class FlipOne(Mutation):
    """Flip one bit of each row."""

    def _do(self, problem, X, *args, random_state, **kwargs):
        out = X.copy()
        rows, columns = np.arange(len(X)), random_state.integers(0, problem.n_var, size=len(X))
        out[rows, columns] = 1 - out[rows, columns]
        return out


class BlankColumns(SDCProblem):
    """Which quasi-identifiers to blank out."""

    def __init__(self, data, *, objectives=("k", "blanked"), require=None):
        catalogue = {"k": K, "blanked": BLANKED}
        options = {"objectives": objectives, "catalogue": catalogue, "require": require}
        super().__init__(data=data, n_var=len(data.quasi_identifiers), xl=0, xu=1, dtype=np.int8, **options)

    def _compile(self):
        return self.data.codes()

    def _measure(self, X, names):
        values = np.empty((len(X), len(names)))
        for row, x in enumerate(X):
            sizes = np.unique(self.engine * (x == 0), axis=0, return_counts=True)[1]
            known = {"k": sizes.min(), "blanked": x.sum()}
            values[row] = [known[name] for name in names]
        return values

    def _tables(self, x):
        original = self.data.codes()
        yield np.where(x == 1, -1, original), original

    def _operators(self):
        return {
            "sampling": RandomBits(),
            "crossover": UniformCrossover(),
            "mutation": FlipOne(),
            "repair": NoRepair(),
        }

    def decode(self, x):
        return tuple(name for name, bit in zip(self.data.quasi_identifiers, self.genome(x), strict=True) if bit)

    def describe(self, x):
        return (f"blank out {', '.join(self.decode(x)) or 'nothing'}",)

    def release(self, x, *, seed=None):
        return self._publishable().assign(**dict.fromkeys(self.decode(x), "*"))

    def baselines(self):
        return {"nothing": np.zeros(self.n_var, self.dtype), "everything": np.ones(self.n_var, self.dtype)}


# %%
# It runs under any algorithm of pymoo, and with so few solutions its front can be enumerated.

problem = BlankColumns(load("people").data)
result = minimize(problem, NSGA2(pop_size=30, **problem.operators()), ("n_gen", 15), seed=1)
values = problem.natural(result.F)

fig, ax = plt.subplots(layout="constrained")
ax.scatter(values[:, 1], values[:, 0], s=24)
ax.set(xlabel="columns blanked out", ylabel="smallest class k", yscale="log")
plt.show()

for x in result.X[values[:, 1].argsort()][:4]:
    print(problem.describe(x)[0])
