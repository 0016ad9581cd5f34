"""Exact front of a lattice by boxes of nodes: bounds from the corners of a box rule out nodes without measuring them.

The lattice is a box, and so are the parts that it is cut into. The best value of each objective that any node of a box
can have follows from the box's two corners (`LatticeEngine.corners`). A box is dropped if a measured node beats these
bounds, or if they break a requirement. Otherwise it is made smaller, by the levels that lose more than its coarsest
node can afford and by what measured nodes elsewhere rule out (`_lattice_tags`), and cut in two. A box of one node is
measured. When no box is left, the measured nodes hold the front: no node was dropped without a measured one that is
better.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems.evaluators.lattice import LOSSES, Corner
from sdc_problems.front import Front, minimal
from sdc_problems.problems._lattice_tags import SLACK, Tags

if TYPE_CHECKING:
    from sdc_problems.problems.generalization import PBGProblem

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

AT_ONCE = 256  # boxes whose corners are measured together
FIRST = 0.25  # share of the limit that the first descent may use
EARLY, HOPELESS = 0.1, 10.0  # from this share of the limit on, an estimate of this many limits ends the search


@dataclass
class Box:
    """Nodes from ``low`` to ``high``, and what is known about these two."""

    low: Ints
    high: Ints
    finest: Floats | None = None
    """Measures of ``low`` without suppression."""
    coarsest: Corner | None = None
    weight: float = 1.0
    """Probability that halving the lattice at random, again and again, leads to this box."""

    @property
    def n_nodes(self) -> int:
        """Number of nodes in the box."""
        return math.prod((self.high - self.low + 1).tolist())


class BoxSearch:
    """Search for the exact front of a lattice that measures only few of its nodes.

    Parameters
    ----------
    problem
        The problem; all its objectives and requirements are measures of its engine.
    limit
        Largest number of nodes to measure.
    """

    def __init__(self, problem: PBGProblem, *, limit: int) -> None:
        self.problem, self.limit = problem, limit
        self.engine = problem.engine
        self.top = self.engine.n_levels - 1
        self.names = list(self.engine.measures)
        n_obj = len(problem.objectives)
        self.losses = np.array([name in LOSSES for name in self.names])
        # The loss of ``low`` without suppression follows from the levels, unless it depends on the classes.
        self.by_levels = np.array([name.startswith("glm") for name in self.names])
        self.needs_finest = any(name in ("cm", "discernibility") for name in self.names)
        at = [j for j in range(n_obj) if self.by_levels[j]]
        self.pivot = at[0] if at else None
        self.levels = self.engine.level_losses()
        scale = 1.0 if self.pivot is None or self.names[self.pivot] == "glm" else self._percent(1.0)
        self.cost = [losses * scale for losses in self.levels]
        self.tags = Tags(self.cost)
        self.tagged: list[Floats] = []  # for each tag, the best values of the finer nodes
        self.told = 0  # tags whose reach was set by the current front
        self.n_nodes, self.n_open, self.n_measured = problem.n_nodes, problem.n_nodes, 0
        self.needed = math.inf
        self.front = Front(np.empty((0, problem.n_var), problem.dtype), np.empty((0, n_obj)), 0)

    def seconds(self, patience: float) -> float:
        """Estimate the seconds that ``run`` takes, from its progress in so many seconds; infinity if there is none."""
        start = time.perf_counter()
        front = self.run(None, until=start + patience)
        took = time.perf_counter() - start
        return took if front is not None else took * self.needed / max(1, self.n_measured)

    def run(self, progress: Callable[[int, int], object] | None, *, until: float = math.inf) -> Front | None:
        """Front with all its ties; None if it takes more nodes than the limit, or longer than ``until``.

        The number of nodes it takes, ``needed``, is estimated from the share of the tree of boxes that is done (Kilby
        and others 2006, "Estimating search tree size"): each leaf counts by the probability that a random descent ends
        in it.
        """
        self._descend(until)
        n_first = self.n_measured
        boxes = [Box(np.zeros_like(self.top), self.top.copy())]
        while boxes:
            done = 1.0 - sum(box.weight for box in boxes)
            self.needed = n_first + (self.n_measured - n_first) / done if done > 0 else math.inf
            tried = done > 0 and self.n_measured - n_first >= EARLY * self.limit
            early = tried and self.needed > HOPELESS * self.limit
            if early or self.n_measured >= self.limit or time.perf_counter() > until:
                return None
            part = boxes[-AT_ONCE:]
            del boxes[-AT_ONCE:]
            for box in self._left(part):
                boxes += self._halves(box)
            self.n_open = sum(box.n_nodes for box in boxes)
            if progress is not None and boxes:
                progress(self.n_nodes - self.n_open, self.n_nodes)
        return self.front

    # -- measuring ------------------------------------------------------------------------------------------------

    def _corners(self, nodes: Ints) -> list[Corner]:
        """Corners of nodes; the front so far is kept."""
        found: list[Corner] = self.engine.corners(nodes)
        self.n_measured += len(nodes)
        last = 0 if self.problem.suppression == "free" else -1
        counts = [len(made.thresholds[last:]) for made in found]
        columns = [
            np.repeat(nodes, counts, axis=0),
            np.concatenate([made.thresholds[last:] for made in found])[:, None],
        ]
        X = np.column_stack(columns)[:, : self.problem.n_var].astype(self.problem.dtype)
        part = self.problem._part(X, np.concatenate([made.values[last:] for made in found]))
        better = (X[:0], part[1][:0], part[2][:0]) if not len(self.front.X) else self._kept()
        front = minimal([better, part], ties=True)
        fresh = np.ones(len(front.X), dtype=np.bool_)  # a node may be the corner of several boxes
        fresh[1:] = (front.X[1:] != front.X[:-1]).any(axis=1)
        if len(front.F[fresh]) != len(self.front.F) or not np.array_equal(front.F[fresh], self.front.F):
            self.told = 0
        self.front = front._replace(X=front.X[fresh], F=front.F[fresh])
        self.tagged += [made.finer for made in found]
        self.tags.add(nodes, self._spare([made.finer for made in found]))
        return found

    def _retell(self) -> None:
        """Set the reach of the tags again, if there is a better front and many more tags."""
        if 2 * self.told < self.tags.n:
            self.tags.tell(self._spare(self.tagged))
            self.told = self.tags.n

    def _kept(self) -> tuple[NDArray[Any], Floats, NDArray[np.bool_]]:
        return self.front.X, self.front.F, np.ones(len(self.front.X), dtype=np.bool_)

    def _descend(self, until: float) -> None:
        """Walk from the two ends of the lattice to the front: measure the nodes next to the front so far."""
        known, nodes = set[bytes](), np.array([np.zeros_like(self.top), self.top])
        while len(nodes) and self.n_measured < FIRST * self.limit and time.perf_counter() <= until:
            known.update(row.tobytes() for row in nodes)
            self._corners(nodes)
            around = self._around(np.unique(self.front.X[:, : len(self.top)].astype(np.int64), axis=0), known)
            nodes = np.array(around, dtype=np.int64).reshape(-1, len(self.top))
            if len(nodes):
                self._retell()
                nodes = nodes[self.tags.tighten(nodes.copy(), nodes.copy())]

    def _around(self, nodes: Ints, known: set[bytes]) -> list[Ints]:
        """Unknown nodes one step up or down, or one up and one down."""
        found: dict[bytes, Ints] = {}
        steps = np.eye(len(self.top), dtype=np.int64)
        moves = [sign * step for step in steps for sign in (1, -1)]
        moves += [up - down for i, up in enumerate(steps) for j, down in enumerate(steps) if i != j]
        for move in moves:
            moved = nodes + move
            for row in moved[((moved >= 0) & (moved <= self.top)).all(axis=1)]:
                key = row.tobytes()
                if key not in known:
                    found[key] = row
        return list(found.values())

    # -- boxes ----------------------------------------------------------------------------------------------------

    def _left(self, boxes: list[Box]) -> Iterator[Box]:
        """Boxes of several nodes that may reach the front, made as small as the losses of their levels allow."""
        while boxes:
            boxes = self._tightened(boxes)
            if not boxes:
                return
            self._measure(boxes)
            room = self._room(boxes)
            again = []
            for box, most in zip(boxes, room.tolist(), strict=True):
                if most < 0 or (box.low == box.high).all():
                    continue
                high = self._affordable(box, most)
                if (high == box.high).all():
                    yield box
                else:
                    again.append(Box(box.low, high, box.finest, weight=box.weight))
            boxes = again

    def _tightened(self, boxes: list[Box]) -> list[Box]:
        """Boxes without the nodes that measured nodes elsewhere rule out."""
        self._retell()
        low, high = np.array([box.low for box in boxes]), np.array([box.high for box in boxes])
        alive = self.tags.tighten(low, high)
        found = []
        for number in np.flatnonzero(alive).tolist():
            box = boxes[number]
            finest = box.finest if (low[number] == box.low).all() else None
            coarsest = box.coarsest if (high[number] == box.high).all() else None
            found.append(Box(low[number], high[number], finest, coarsest, box.weight))
        return found

    def _measure(self, boxes: list[Box]) -> None:
        unknown = [box for box in boxes if box.coarsest is None]
        if unknown:
            for box, made in zip(unknown, self._corners(np.array([box.high for box in unknown])), strict=True):
                box.coarsest = made
        fresh = [box for box in boxes if box.finest is None]
        if not fresh:
            return
        low = np.array([box.low for box in fresh])
        found = np.zeros((len(fresh), len(self.names)))
        if self.needs_finest:
            found = np.array([made.values[0] for made in self._corners(low)])
        else:
            loss = np.zeros(len(low))
            for a, losses in enumerate(self.levels):
                loss += losses[low[:, a]]
            for column, name in enumerate(self.names):
                if self.by_levels[column]:
                    found[:, column] = loss if name == "glm" else self._percent(loss)
        for box, values in zip(fresh, found, strict=True):
            box.finest = values

    def _percent(self, loss: Any) -> Any:
        return 100.0 * (loss / (self.engine.n_records * len(self.top)))

    def _room(self, boxes: list[Box]) -> Floats:
        """Loss that each box may add before measured nodes are better than all its nodes; negative if they are."""
        bounds = []
        for box in boxes:
            assert box.coarsest is not None
            assert box.finest is not None
            bounds.append(np.where(self.losses, box.finest + box.coarsest.finer, box.coarsest.finer))
        return self._spare(bounds)

    def _spare(self, parts: list[Floats]) -> Floats:
        """Loss that may be added to the best of each part's rows before a measured node is better than all rows."""
        values, owner = np.concatenate(parts), np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        met = np.ones(len(values), dtype=np.bool_)
        for requirement in self.problem.requirements:
            best = values[:, self.names.index(requirement.objective.name)]
            met &= best >= requirement.low if requirement.objective.sense == "max" else best <= requirement.high
        values, owner = values[met], owner[met]
        bounds = self.problem.minimized(values[:, : len(self.problem.objectives)])
        room = np.full(len(parts), -np.inf)
        np.maximum.at(room, owner, spare(bounds, self.front.F, self.pivot))
        return room

    def _affordable(self, box: Box, room: float) -> Ints:
        """Coarsest node of a box, without the levels that lose more than the room allows."""
        if self.pivot is None or not np.isfinite(room):
            return box.high
        high = box.high.copy()
        for a, cost in enumerate(self.cost):
            more = cost[box.low[a] : box.high[a] + 1] - cost[box.low[a]]
            high[a] = box.low[a] + np.searchsorted(more, room + SLACK * (room + cost[box.low[a]] + 1), "right") - 1
        return high

    def _halves(self, box: Box) -> list[Box]:
        """Cut a box in two where its levels differ most in what they lose."""
        ranges = [cost[high] - cost[low] for cost, low, high in zip(self.cost, box.low, box.high, strict=True)]
        several = box.high > box.low
        a = int(np.argmax(np.where(several, ranges, -1.0)))
        low, high, cost = int(box.low[a]), int(box.high[a]), self.cost[a]
        middle = int(np.searchsorted(cost[low : high + 1], (cost[low] + cost[high]) / 2, side="right")) - 1 + low
        middle = min(max(middle, low), high - 1)
        finer, coarser = box.high.copy(), box.low.copy()
        finer[a], coarser[a] = middle, middle + 1
        half = box.weight / 2
        return [Box(coarser, box.high, None, box.coarsest, half), Box(box.low, finer, box.finest, None, half)]


def spare(bounds: Floats, front: Floats, pivot: int | None) -> Floats:
    """Amount by which each bound may get worse in the pivot until a row of the front is better; negative if one is.

    Parameters
    ----------
    bounds, front
        Rows of minimized objectives.
    pivot
        Column that may get worse. If None, the result is infinite where no row is better.

    Examples
    --------
    >>> spare(np.array([[1.0, 5.0], [2.0, 5.0], [0.0, 5.0]]), np.array([[1.0, 7.0], [2.0, 4.0]]), 1).tolist()
    [2.0, -1.0, inf]
    """
    found = np.full(len(bounds), np.inf)
    if not len(front):
        return found
    at_once = max(1, 4_000_000 // front.size)
    column = 0 if pivot is None else pivot
    others = [j for j in range(front.shape[1]) if j != column]
    for start in range(0, len(bounds), at_once):
        part = bounds[start : start + at_once]
        reached = np.ones((len(part), len(front)), dtype=np.bool_)
        strictly = np.zeros_like(reached)
        for j in others:
            reached &= front[:, j] <= part[:, j, None]
            strictly |= front[:, j] < part[:, j, None]
        more = front[:, column] - part[:, column, None]
        worse = (reached & ((more < 0) | ((more == 0) & strictly))).any(axis=1)
        if pivot is not None:
            found[start : start + at_once] = np.where(reached, more, np.inf).min(axis=1)
        found[start : start + at_once][worse] = np.minimum(found[start : start + at_once][worse], -1.0)
    return found
