"""Unmeasured nodes of a lattice around the members of an archive, and their bounds by monotonicity."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sdc_problems.algorithms.generalization._lattice_kernels import (
    COARSER_LEAST,
    COARSER_MOST,
    FINER_LEAST,
    FINER_MOST,
    learn_extremes,
    nearest,
    no_extremes,
    reaches,
)
from sdc_problems.operators.duplicates import row_keys

FloatArray = NDArray[np.float64]


class Surroundings:
    """Unmeasured nodes within a number of steps of an archive's members.

    If an objective has always risen, or always fallen, from a node to a more general one, the nodes measured above and
    below a node bound its value.

    Parameters
    ----------
    top
        Highest level of each attribute.
    reach
        Steps from a member within which nodes are considered.

    Attributes
    ----------
    nodes
        Nodes × attributes.
    numbers
        A number for each node, never reused.
    steps
        Steps from each node to the nearest member.
    chances
        A random number for each node, which decides ties.
    """

    def __init__(self, top: NDArray[np.integer], reach: int) -> None:
        self._top = np.asarray(top, dtype=np.int64)
        self._reach = reach
        self._offsets = ball(len(self._top), reach)
        self.nodes: NDArray[np.int64] = np.zeros((0, len(self._top)), dtype=np.int64)
        self.numbers: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self.steps: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self.chances: FloatArray = np.zeros(0)
        self._closest: NDArray[np.int64] = np.zeros(0, dtype=np.int64)  # number of the nearest member
        self._members: dict[bytes, int] = {}  # their numbers
        self._keys: list[bytes] = []  # of nodes
        self._known: set[bytes] = set()  # nodes here, measured nodes, and excluded ones
        self._excluded: set[bytes] = set()
        self._given = 0  # numbers used so far, for nodes and members
        self._X: NDArray[np.int64] = self.nodes  # everything measured
        self._F: FloatArray = np.zeros((0, 0))
        self._extremes = no_extremes(0, 0)
        self._rises: NDArray[np.bool_] = np.zeros(0, dtype=bool)
        self._falls: NDArray[np.bool_] = np.zeros(0, dtype=bool)

    def learn(self, X: NDArray[np.integer], F: FloatArray) -> None:
        """Remove nodes that were measured, and bound the others by them."""
        nodes: NDArray[np.int64] = X.astype(np.int64)
        if not len(self._X):
            self._F, self._extremes = F[:0], no_extremes(0, F.shape[1])
            self._rises = self._falls = np.zeros(F.shape[1], dtype=bool)
        self._X, self._F = np.concatenate([self._X, nodes]), np.concatenate([self._F, F])
        keys = set(row_keys(nodes))
        self._known |= keys
        self._excluded -= keys
        self._keep(np.array([key not in keys for key in self._keys], dtype=bool))
        learn_extremes(self.nodes, nodes, F, self._extremes)
        of_new = self._extremes_of(nodes)
        rises = ((F > of_new[FINER_LEAST]) | (F < of_new[COARSER_MOST])).any(axis=0)
        falls = ((F < of_new[FINER_MOST]) | (F > of_new[COARSER_LEAST])).any(axis=0)
        if (rises & ~self._rises).any() or (falls & ~self._falls).any():
            self._known -= self._excluded  # these bounds did not hold
            self._excluded.clear()
            self._members.clear()  # all members count as new, so that these nodes come back
        self._rises, self._falls = self._rises | rises, self._falls | falls

    def follow(self, members: NDArray[np.integer], rng: np.random.Generator) -> None:
        """Add unmeasured nodes around new members, and forget those around members that are gone."""
        nodes: NDArray[np.int64] = np.unique(members.astype(np.int64), axis=0)
        of_member = np.array([self._members.get(key, -1) for key in row_keys(nodes)])
        new = of_member < 0
        fresh, of_member[new] = nodes[new], self._given + np.arange(new.sum())
        self._given += len(fresh)
        self._members = dict(zip(row_keys(nodes), of_member.tolist(), strict=True))
        self._surround(fresh, rng)
        lost = np.flatnonzero(~np.isin(self._closest, of_member))
        self.steps[lost], which = nearest(self.nodes[lost], nodes)
        self._closest[lost] = of_member[which]
        steps, which = nearest(self.nodes, fresh)
        nearer = np.flatnonzero(steps < self.steps)
        self.steps[nearer], self._closest[nearer] = steps[nearer], of_member[new][which[nearer]]
        within = self.steps <= self._reach
        self._known.difference_update(key for key, kept in zip(self._keys, within, strict=True) if not kept)
        self._keep(within)

    def _surround(self, members: NDArray[np.int64], rng: np.random.Generator) -> None:
        around = (members[:, None, :] + self._offsets).reshape(-1, len(self._top))
        around = around[((around >= 0) & (around <= self._top)).all(axis=1)]
        fresh = {key: i for i, key in enumerate(row_keys(around)) if key not in self._known}
        nodes = around[list(fresh.values())]
        self._keys += fresh
        self._known |= fresh.keys()
        self.nodes = np.concatenate([self.nodes, nodes])
        self.numbers = np.concatenate([self.numbers, np.arange(self._given, self._given + len(nodes))])
        self._given += len(nodes)
        self.chances = np.concatenate([self.chances, rng.random(len(nodes))])
        self.steps = np.concatenate([self.steps, np.zeros(len(nodes), dtype=np.int64)])
        self._closest = np.concatenate([self._closest, np.full(len(nodes), -1)])
        self._extremes = np.concatenate([self._extremes, self._extremes_of(nodes)], axis=1)

    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Lower and upper bounds of each node's values, for objectives that have been monotonic so far."""
        low, high = np.full((2, *self._extremes.shape[1:]), -np.inf)
        high = -high
        rising, falling = self._rises & ~self._falls, ~self._rises
        for way, below, above in ((rising, FINER_MOST, COARSER_LEAST), (falling, COARSER_MOST, FINER_LEAST)):
            low[:, way], high[:, way] = self._extremes[below][:, way], self._extremes[above][:, way]
        return low, high

    def exclude(self, F: FloatArray) -> None:
        """Forget nodes that cannot be below each row of F in any objective, as long as the bounds hold."""
        useful = reaches(self.bounds()[0], F)
        self._excluded.update(key for key, kept in zip(self._keys, useful, strict=True) if not kept)
        self._keep(useful)

    def _keep(self, kept: NDArray[np.bool_]) -> None:
        if kept.all():
            return
        self.nodes, self.numbers, self.chances = self.nodes[kept], self.numbers[kept], self.chances[kept]
        self.steps, self._closest, self._extremes = self.steps[kept], self._closest[kept], self._extremes[:, kept]
        self._keys = [key for key, one in zip(self._keys, kept, strict=True) if one]

    def _extremes_of(self, nodes: NDArray[np.int64]) -> FloatArray:
        extremes = no_extremes(len(nodes), self._F.shape[1])
        learn_extremes(nodes, self._X, self._F, extremes)
        return extremes


def ball(n_var: int, reach: int) -> NDArray[np.int64]:
    """Every change of a node by at most the given number of steps, the nearest first."""
    steps = np.concatenate([np.eye(n_var, dtype=np.int64), -np.eye(n_var, dtype=np.int64)])
    found = np.zeros((1, n_var), dtype=np.int64)
    for _ in range(reach):
        found = np.concatenate([found, (found[:, None, :] + steps).reshape(-1, n_var)])
        _, first = np.unique(found, axis=0, return_index=True)
        found = found[np.sort(first)]
    return found[1:]
