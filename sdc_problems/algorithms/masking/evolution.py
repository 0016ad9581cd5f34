"""MaskEvolution: evolution of protected files as in its source, with one mutation or crossover per generation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pymoo.core.algorithm import Algorithm
from pymoo.core.population import Population
from pymoo.util.display.single import SingleObjectiveOutput

from sdc_problems._validation import choice, number, whole
from sdc_problems.algorithms.masking._files import individual, masking_only, not_worse
from sdc_problems.errors import SDCError
from sdc_problems.operators.cells import BlockCrossover, CellMutation

GENERATIONS = 1000
LAG = 0.01  # share of the records that may change before a file's probabilistic linkage is measured again
PRL = ("auto", "lagged", "exact")


class MaskEvolution(Algorithm):
    """Evolve a population of protected files, one change in each generation.

    A generation is a mutation or a crossover, at random. A mutation changes one cell of a file drawn from all; a
    crossover exchanges a block of cells between one of the best files and another. Files are drawn in proportion to
    1 / score. A child replaces its own parent, the one that most of its cells are from, unless it is worse (elitism and
    deterministic crowding).

    Parameters
    ----------
    leaders
        Number of the best files from which the first parent of a crossover is drawn.
    crossover_prob
        Probability of crossover instead of mutation.
    prl
        Probabilistic linkage, which cannot be updated for single changes: "exact" measures it for every child; "lagged"
        continues with a file's last one and measures it again for every new best file and after 1 % of the file's
        records have changed. "auto" is "lagged" for numbers and "exact" for categories, where it is measured only for
        children that would win without it.
    mutation, crossover
        Other operators for cells.

    Attributes
    ----------
    accepted
        Number of children that replaced a parent so far.

    Notes
    -----
    Marés (2013), Algorithm 5. It does not state the probability of crossover (its run times are the plain average of
    both kinds of generation) nor the number of leaders; its Eq. 3.3 as printed prefers bad files, its text good ones.
    The population consists of the problem's start files. 1,000 generations if no termination is given.

    Examples
    --------
    >>> import pandas as pd
    >>> from pymoo.optimize import minimize
    >>> from sdc_problems import MaskingProblem, Microdata
    >>> frame = pd.DataFrame({"sex": list("fmfmffmm") * 5, "town": list("oorrvvoo") * 5})
    >>> data = Microdata.from_frame(frame, quasi_identifiers=["sex", "town"])
    >>> problem = MaskingProblem(data, objectives=("score_max",))
    >>> result = minimize(problem, MaskEvolution(), ("n_gen", 200), seed=1)
    >>> bool(result.F[0] < problem.evaluate(list(problem.starts().values())).min())
    True
    """

    pop: Any

    def __init__(
        self,
        *,
        leaders: int = 2,
        crossover_prob: float = 0.5,
        prl: Literal["auto", "lagged", "exact"] = "auto",
        mutation: Any = None,
        crossover: Any = None,
    ) -> None:
        super().__init__(termination=("n_gen", GENERATIONS), output=SingleObjectiveOutput())
        self.leaders = whole(leaders, "leaders", least=1)
        self.crossover_prob = number(crossover_prob, "crossover_prob", low=0.0, high=1.0)
        self.prl = choice(prl, "prl", PRL)
        self.mutation = CellMutation() if mutation is None else mutation
        self.crossover = BlockCrossover() if crossover is None else crossover
        self.accepted = 0
        self._states: list[Any] = []
        self._linked: list[float] = []  # probabilistic linkage of each file, when last measured
        self._changed: list[set[int]] = []  # records changed since
        self._parents: list[int] = []

    def _setup(self, problem: Any, **kwargs: object) -> None:
        masking_only(problem, "MaskEvolution")
        if problem.n_obj != 1:
            raise SDCError(
                f"MaskEvolution compares one number, but the problem has {problem.n_obj} objectives: choose one, such"
                " as objectives=('score_mean',), or search the front with CellSearch or NSGA-II"
            )
        self._lagged = self.prl == "lagged" or (self.prl == "auto" and problem.numeric)
        measured = (o.name for o in problem.measured_objectives if o.function is None)
        self._needs_prl = "prl" in problem.engine.parts(measured)

    def _initialize_infill(self) -> Any:
        rows = np.stack(list(self.problem.starts().values()))
        if len(rows) < 2:
            raise SDCError("MaskEvolution crosses files: the problem has fewer than two start files")
        return Population.new("X", rows)

    def _initialize_advance(self, infills: Any = None, **kwargs: object) -> None:
        engine = self.problem.engine
        self._states = [engine.open(self.problem._cells(one.X)) for one in self.pop]
        self._linked = [engine.prl(state.codes) if self._needs_prl else 0.0 for state in self._states]
        self._changed = [set() for _ in self._states]

    def checkpoint(self) -> dict[str, NDArray[Any]]:
        """Return the state from which a study can continue, together with the population."""
        changed = np.zeros((len(self._changed), len(self.problem.data)), dtype=np.bool_)
        for i, records in enumerate(self._changed):
            changed[i, list(records)] = True
        return {
            "linked": np.array(self._linked),
            "changed": np.packbits(changed, axis=1),
            "accepted": np.array([self.accepted]),
        }

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Restore the files, each with its linkage."""
        problem, n = self.problem, len(self.problem.data)
        self._states = [problem.engine.open(problem._cells(one.X)) for one in self.pop]
        self._linked = [float(linked) for linked in state["linked"]]
        self._changed = [set(np.flatnonzero(row).tolist()) for row in np.unpackbits(state["changed"], axis=1)[:, :n]]
        self.accepted = int(state["accepted"][0])
        for i, (one, file) in enumerate(zip(self.pop, self._states, strict=True)):
            measures = self._measures(file.measures, self._linked[i]) | self._copies(file)
            self.pop[i] = individual(problem, one.X, measures)

    def _infill(self) -> Any:
        assert self.random_state is not None
        rng, F = self.random_state, self.pop.get("F")[:, 0]
        chance = 1.0 / np.maximum(F, 1e-9)
        if rng.random() < self.crossover_prob:
            order = np.lexsort((F, self.pop.get("CV")[:, 0]))
            best = order[: min(self.leaders, len(F) - 1)]
            first = int(rng.choice(best, p=chance[best] / chance[best].sum()))
            others = np.array([i for i in range(len(F)) if i != first])
            second = int(rng.choice(others, p=chance[others] / chance[others].sum()))
            self._parents = [first, second]
            pair = np.stack([self.pop[first].X, self.pop[second].X])[:, None, :]
            rows = self.crossover._do(self.problem, pair, random_state=rng)[:, 0]
        else:
            parent = int(rng.choice(len(F), p=chance / chance.sum()))
            self._parents = [parent]
            rows = self.mutation._do(self.problem, self.pop[parent].X[None, :].copy(), random_state=rng)
        children = [self._child(i, row) for i, row in zip(self._parents, rows, strict=True)]
        self.evaluator.n_eval += len(children)
        return Population.create(*children)

    def _child(self, i: int, row: NDArray[Any]) -> Any:
        """Child of file i, measured as a change of it; the change is kept if the child is not worse."""
        problem, state = self.problem, self._states[i]
        before, codes = state.codes, problem._cells(row)
        cells = np.argwhere(codes != before)
        if len(cells) == 0:
            return individual(problem, row, self._measures(state.measures, self._linked[i]) | self._copies(state))
        best = min((one.F[0] for one in self.pop if one.feas), default=np.inf)
        linked = self._linked[i]
        said = state.propose(cells, codes[cells[:, 0], cells[:, 1]])
        child = individual(problem, row, self._measures(said, linked if self._lagged else 0.0) | {"copies": 0.0})
        if self._needs_prl and not_worse(child, self.pop[i]) and (not self._lagged or child.F[0] <= best):
            linked = problem.engine.prl(codes)
            child = individual(problem, row, self._measures(said, linked) | {"copies": 0.0})
        if not problem.requirements and not not_worse(child, self.pop[i]):
            state.discard()
            return child
        state.commit()
        said = state.settle()  # a resumed evolution opens its files again and must continue with the same bytes
        child = individual(problem, row, self._measures(said, linked) | self._copies(state))
        if not not_worse(child, self.pop[i]):
            state.propose(cells, before[cells[:, 0], cells[:, 1]])
            state.commit()
            state.settle()
            return child
        if linked != self._linked[i]:
            self._linked[i] = linked
            self._changed[i] = set()
        self._changed[i].update(cells[:, 0].tolist())
        if self._lagged and self._needs_prl and len(self._changed[i]) > LAG * len(problem.data):
            self._linked[i], self._changed[i] = problem.engine.prl(codes), set()
            child = individual(problem, row, self._measures(said, self._linked[i]) | self._copies(state))
        child.data["sdc_parent"] = i
        return child

    def _measures(self, said: Any, linked: float) -> dict[str, float]:
        made: dict[str, float] = self.problem.engine.combine({**said, "prl": linked})
        return made

    def _copies(self, state: Any) -> dict[str, float]:
        return {"copies": state.copies()} if self.problem.numeric and self.problem.requirements else {}

    def _advance(self, infills: Any = None, **kwargs: object) -> None:
        for child in infills:
            if "sdc_parent" in child.data:
                self.pop[child.data["sdc_parent"]] = child
                self.accepted += 1
