"""CellSearch: protected files by millions of small changes, in compiled code."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pymoo.core.algorithm import Algorithm
from pymoo.core.population import Population
from pymoo.core.termination import Termination
from pymoo.util.display.multi import MultiObjectiveOutput

from sdc_problems._validation import number, whole
from sdc_problems.algorithms.masking._files import masking_only, violation
from sdc_problems.errors import SDCError
from sdc_problems.methods.perturbation._rank_shuffle import rank_shuffle
from sdc_problems.parallel._process import thread_count

SLICES = 40  # most times that a file is measured during the search
FEWEST_SLICES = 8  # for a small budget: a measurement takes as long as some ten thousand moves
PER_SLICE = 50_000  # fewest moves between two measurements
MOVES = {True: 2_000, False: 4_000}  # per record and attribute, if no limit is given; numeric, categorical
SMOOTH = 0.4  # share of the budget that a numeric file spends on the loss that has a slope everywhere
HOT, COLD = 3.0, 0.1  # temperatures of a categorical file in points of the score, divided by the records
LOOKING = 10.0  # with a time limit, a slice takes at least this many times as long as a measurement
PIECE = 20_000  # moves between two checks of the clock
LOSSES = ("pil", "il_categorical")
RISKS = ("dr_numeric", "dr_guarded", "dr_categorical")
FRONT = tuple(w / 10 for w in range(1, 10))


class Milestone(NamedTuple):
    """Milestone of a search: the smallest weighted score so far, and the work done by then."""

    moves: int
    seconds: float
    score: float


class BudgetSpent(Termination):
    """Termination by the limit of the search itself."""

    def _update(self, algorithm: Any) -> float:
        return float(algorithm.progress)


class Island:
    """File that a search changes: its state, its weights and its random numbers."""

    def __init__(self, state: Any, aim: Sequence[float], seed: int) -> None:
        self.state = state
        self.aim = np.array([*aim, 0.0])  # the last entry is the probabilistic linkage when it was last measured
        self.seed = np.array([seed], dtype=np.uint64)
        self.score = np.inf
        self.moves = 0

    def weighted(self, loss: float, risk: float) -> float:
        """Score that the search minimizes for this file."""
        parts = self.aim[0] * loss, self.aim[1] * risk
        return float(max(parts) if self.aim[2] else sum(parts))


class CellSearch(Algorithm):
    """Search for protected files by exchanging and changing single cells, millions of times.

    Numeric files start as a rank shuffle, a synthetic file with the original's values, and exchange two values of a
    column at a time: first by a loss that has a slope even where PIL is flat, then by PIL itself. Categorical files
    start from the best start files and are annealed, one category at a time. The result of a numeric search is a
    synthetic file, as the problem's ``describe`` says: no other kind of file scores as low.

    Parameters
    ----------
    time_limit
        Seconds of the search. The result then depends on the machine.
    move_limit
        Number of changes to try, for all files together; the same seed gives the same result, with any number of
        threads. If neither limit is given: 2,000 per cell of a numeric file and 4,000 of a categorical one.
    weights
        Weights of the loss, for two objectives (the risk has the rest): each gives two points of the front, one that
        minimizes the weighted sum and one that minimizes the larger of the weighted two. By default 0.1 to 0.9.
    islands
        Number of files per point of the front, which are searched independently.
    threads
        Number of files worked on at once; by default as many as there are processors. Results do not depend on it under
        ``move_limit``.

    Attributes
    ----------
    trajectory
        The best score after each slice of the budget, with seconds and moves.

    Notes
    -----
    Probabilistic linkage is measured for each file after every slice, which is a fortieth of the budget (of a small one
    up to an eighth), and counts as a constant in between; the files returned are measured exactly. Objectives:
    ``score_mean``, ``score_max``, or loss and risk.

    Examples
    --------
    >>> import pandas as pd
    >>> from pymoo.optimize import minimize
    >>> from sdc_problems import MaskingProblem, Microdata
    >>> frame = pd.DataFrame({"sex": list("fmfmffmm") * 5, "town": list("oorrvvoo") * 5})
    >>> data = Microdata.from_frame(frame, quasi_identifiers=["sex", "town"])
    >>> problem = MaskingProblem(data, objectives=("score_max",))
    >>> result = minimize(problem, CellSearch(move_limit=50_000), seed=1)
    >>> bool(result.F[0] < problem.evaluate(list(problem.starts().values())).min())
    True
    """

    pop: Any

    def __init__(
        self,
        *,
        time_limit: float | None = None,
        move_limit: int | None = None,
        weights: Sequence[float] | None = None,
        islands: int = 1,
        threads: int | None = None,
    ) -> None:
        super().__init__(termination=BudgetSpent(), output=MultiObjectiveOutput())
        self.time_limit = None if time_limit is None else number(time_limit, "time_limit", low=0.0, high=1e9)
        self.move_limit = None if move_limit is None else whole(move_limit, "move_limit", least=1)
        self.weights = None if weights is None else tuple(number(w, "weights", low=0.0, high=1.0) for w in weights)
        self.islands = whole(islands, "islands", least=1)
        self.threads = None if threads is None else whole(threads, "threads", least=1)
        self.trajectory: list[Milestone] = []
        self._files: list[Island] = []
        self._slices = 0
        self._began = 0.0
        self._looking = 0.0  # time when the last measurement began
        self._looked = 0.0  # time that it took

    @property
    def moves(self) -> int:
        """Number of changes tried so far."""
        return sum(island.moves for island in self._files)

    @property
    def progress(self) -> float:
        """Share of the budget that is used."""
        return min(1.0, max(self._slices / self._planned, self._elapsed()))

    @property
    def _planned(self) -> int:
        """Number of slices of the budget."""
        if self.time_limit is not None or not self._files:
            return SLICES
        return min(SLICES, max(FEWEST_SLICES, self._each() // PER_SLICE))

    def _each(self) -> int:
        """Number of moves for each file."""
        if self.move_limit is not None:
            return max(1, self.move_limit // len(self._files))
        shape: tuple[int, int] = self._files[0].state.shape
        return MOVES[self.problem.numeric] * shape[0] * shape[1]

    def _elapsed(self) -> float:
        if self.time_limit is None or not self._began:
            return 0.0
        return (time.perf_counter() - self._began) / self.time_limit if self.time_limit else 1.0

    def _setup(self, problem: Any, **kwargs: object) -> None:
        masking_only(problem, "CellSearch")
        names = tuple(o.name for o in problem.objectives)
        other = [r.objective.name for r in problem.requirements if r.objective.name != "copies"]
        if other:
            raise SDCError(f"CellSearch keeps to a requirement of copies only, not of {other[0]!r}: use NSGA-II")
        if names in (("score_mean",), ("score_max",)):
            if self.weights is not None:
                raise SDCError(f"weights= are for two objectives: {names[0]} has its own")
            larger = names == ("score_max",)
            self._aims: list[tuple[float, float, float]] = [(1.0, 1.0, 1.0) if larger else (0.5, 0.5, 0.0)]
            risks = {problem.engine.made_of["score_mean"][1]}
        elif len(names) == 2 and names[0] in LOSSES and names[1] in RISKS:
            # A sum finds better files; the larger of the two also finds those in the concave parts of a front.
            self._aims = [(w, 1.0 - w, larger) for w in self.weights or FRONT for larger in (0.0, 1.0)]
            risks = {names[1]}
        else:
            raise SDCError(
                f"CellSearch lowers score_mean, score_max, or a loss and a risk, not {names}: choose those, or use"
                " NSGA-II"
            )
        self._guard = "dr_guarded" in risks
        copied = [r.high for r in problem.requirements if r.objective.name == "copies"]
        self._most_copies = int(min(copied, default=100.0) * len(problem.data) / 100.0)

    def _initialize_infill(self) -> Any:
        assert self.random_state is not None
        seeds = np.random.SeedSequence(int(self.random_state.integers(2**63))).spawn(len(self._aims) * self.islands)
        loss, risk = self._parts()
        if self.problem.numeric:
            original = self.problem.original()
            rows = [self.problem.encode(rank_shuffle(original, rng=np.random.default_rng(seed))) for seed in seeds]
        else:
            starts = np.stack(list(self.problem.baselines().values()))
            best = self._best_starts(starts, loss, risk)
            rows = [starts[best[e // self.islands][e % self.islands % len(starts)]] for e in range(len(seeds))]
        opened = [self.problem.engine.open(self.problem._cells(row.astype(self.problem.dtype))) for row in rows]
        words = [int(seed.generate_state(1, np.uint64)[0]) | 1 for seed in seeds]
        self._files = [
            Island(state, self._aims[e // self.islands], word)
            for e, (state, word) in enumerate(zip(opened, words, strict=True))
        ]
        self._compile()
        self._began = time.perf_counter()
        return self._proposed()

    def _best_starts(self, starts: NDArray[Any], loss: str, risk: str) -> list[list[int]]:
        """Start files with the smallest score for each aim, as many as there are islands.

        Probabilistic linkage takes most of the time, and without it a risk can only be smaller: a file that is not
        among the best without it is not linked.
        """
        least = self.problem._measure(starts, (loss, "id_rank", "guess", "dbrl"))
        values = np.stack([least[:, 0], (least[:, 1:3].max(axis=1) if self._guard else least[:, 1]) + least[:, 3]])
        values[1] /= 2.0
        linked = np.zeros(len(starts), dtype=bool)
        chosen = []
        for wl, wr, larger in self._aims:
            while True:
                scores = np.maximum(wl * values[0], wr * values[1]) if larger else wl * values[0] + wr * values[1]
                first = np.argsort(scores, kind="stable")[: self.islands]
                unknown = first[~linked[first]]
                if not len(unknown):
                    break
                values[1, unknown] = self.problem._measure(starts[unknown], (risk,))[:, 0]
                linked[unknown] = True
            chosen.append(first.tolist())
        return chosen

    def _parts(self) -> tuple[str, str]:
        """Names of the loss and the risk."""
        names = tuple(o.name for o in self.problem.objectives)
        loss, risk = names if len(names) == 2 else self.problem.engine.made_of["score_mean"]
        return loss, risk

    def _compile(self) -> None:
        """Compile the moves on a spare file, before the clock starts."""
        spare = Island(self.problem.engine.open(self.problem.cells(self.problem.untouched)), self._aims[0], 1)
        self._walk(spare, 1, True, 0.0, 0.0)
        self._walk(spare, 1, False, 0.0, 0.0)

    def _infill(self) -> Any:
        begin = self.progress
        end = (self._slices + 1) / self._planned
        if self.time_limit is not None:  # measuring must not use up the time of the search
            end = begin + max(1 / SLICES, min(LOOKING * self._looked / max(self.time_limit, 1e-9), 0.25))
        with ThreadPoolExecutor(min(thread_count(self.threads), len(self._files))) as pool:
            list(pool.map(lambda island: self._slice(island, begin, end), self._files))
        self._slices = self._slices + 1 if self.time_limit is None else 0
        return self._proposed()

    def _slice(self, island: Island, begin: float, end: float) -> None:
        """Work on one file from one share of the budget to the next."""
        smooth = self.problem.numeric and begin < SMOOTH
        if self.time_limit is None:
            each = self._each()
            self._walk(island, max(1, int(each * end) - int(each * begin)), smooth, begin, end)
            return
        stop = self._began + min(end, 1.0) * self.time_limit
        done = False
        while not done:
            # A piece covers at most a slice's share of the cooling, so that the temperature follows the clock.
            now = min(max(self._elapsed(), begin), end)
            self._walk(island, PIECE, smooth, now, now)
            done = time.perf_counter() >= stop

    def _walk(self, island: Island, moves: int, smooth: bool, begin: float, end: float) -> None:
        island.moves += moves
        if self.problem.numeric:
            columns = np.array([j for e, j in enumerate(self.problem.free) if self.problem.tops[e] > 0], dtype=np.int64)
            sums = {j: (left, factor) for left, terms in self.problem.sums().items() for j, factor in terms.items()}
            if len(columns):
                island.state.walk(
                    moves, columns=columns, sums=sums, aim=island.aim, most_copies=self._most_copies, smooth=smooth,
                    temperature=0.0, seed=island.seed,
                )  # fmt: skip
            return
        n = island.state.shape[0]
        hot, cold = (HOT / n * (COLD / HOT) ** share for share in (begin, end))
        island.state.walk(moves, aim=island.aim, guard=self._guard, hot=hot, cold=cold, seed=island.seed)

    def _proposed(self) -> Any:
        """Current files, to be measured; the probabilistic linkage of each counts from here on."""
        self._looking = time.perf_counter()
        with ThreadPoolExecutor(min(thread_count(self.threads), len(self._files))) as pool:
            linked = list(pool.map(lambda island: self.problem.engine.prl(island.state.codes), self._files))
        rows = []
        for island, value in zip(self._files, linked, strict=True):
            island.aim[3] = value
            rows.append(island.state.codes[:, list(self.problem.free)].ravel().astype(self.problem.dtype))
        return Population.new("X", np.stack(rows))

    def _initialize_advance(self, infills: Any = None, **kwargs: object) -> None:
        self._note(infills)

    def _advance(self, infills: Any = None, **kwargs: object) -> None:
        for e, (island, old, new) in enumerate(zip(self._files, self.pop, infills, strict=True)):
            if (violation(new), _score(island, new)) <= (violation(old), _score(island, old)):
                self.pop[e] = new
        self._note(self.pop)

    def _note(self, population: Any) -> None:
        now = time.perf_counter()
        self._looked = now - self._looking
        for island, one in zip(self._files, population, strict=True):
            if violation(one) == 0:
                island.score = min(island.score, _score(island, one))
        seconds = now - self._began if self.trajectory else 0.0
        self.trajectory.append(Milestone(self.moves, seconds, min(island.score for island in self._files)))

    def checkpoint(self) -> dict[str, NDArray[Any]]:
        """Return the state from which a study can continue, together with the population."""
        files = self._files
        return {
            "codes": np.stack([island.state.codes for island in files]).astype(np.int32),
            "aims": np.stack([island.aim for island in files]),
            "seeds": np.concatenate([island.seed for island in files]),
            "scores": np.array([island.score for island in files]),
            "moves": np.array([island.moves for island in files]),
            "slices": np.array([self._slices]),
        }

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Restore the files; time used before is not counted."""
        self._files = []
        for e, codes in enumerate(state["codes"].astype(np.int64)):
            island = Island(self.problem.engine.open(codes), state["aims"][e, :3].tolist(), int(state["seeds"][e]))
            island.aim[3], island.score, island.moves = state["aims"][e, 3], state["scores"][e], int(state["moves"][e])
            self._files.append(island)
        self._slices = int(state["slices"][0])
        self._compile()
        self._began = self._looking = time.perf_counter()
        self._note(self.pop)


def _score(island: Island, one: Any) -> float:
    """Score of a measured file: its single objective, or loss and risk with the weights of its island."""
    return float(one.F[0]) if len(one.F) == 1 else island.weighted(*one.F)
