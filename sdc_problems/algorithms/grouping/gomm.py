"""GOMM and D-GOMM: a (μ+λ) search with a fixed number of applications of every grouping operator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pymoo.core.algorithm import Algorithm
from pymoo.core.population import Population
from pymoo.operators.survival.rank_and_crowding import RankAndCrowding
from pymoo.util.display.column import Column
from pymoo.util.display.output import Output

from sdc_problems._genomes import first_unknown
from sdc_problems._validation import whole
from sdc_problems.algorithms._checks import unconstrained
from sdc_problems.algorithms.grouping.operator_analysis import children_table, summarize
from sdc_problems.errors import SDCError, did_you_mean
from sdc_problems.operators.canonical import restricted_growth
from sdc_problems.operators.duplicates import row_keys
from sdc_problems.operators.grouping import MUTATIONS, GroupCrossover, RandomGroupings
from sdc_problems.operators.portfolio import Genealogy, Portfolio, Share

if TYPE_CHECKING:
    import pandas as pd

GENERATIONS = 100
PATIENCE = 5  # generations without a survivor after which D-GOMM retires an operator


class GOMMOutput(Output):
    """Best and mean of the first objective, mean number of groups, and number of active operators."""

    def __init__(self) -> None:
        super().__init__()
        self.best = Column("best", width=10)
        self.mean = Column("mean", width=10)
        self.groups = Column("groups", width=7)
        self.active = Column("operators", width=9)
        self.columns += [self.best, self.mean, self.groups, self.active]

    def update(self, algorithm: Any) -> None:
        """Read the population."""
        super().update(algorithm)
        F, X = algorithm.pop.get("F", "X")
        self.best.set(F[:, 0].min())
        self.mean.set(F[:, 0].mean())
        self.groups.set(float(X.max(axis=1).mean() + 1))
        self.active.set(len(algorithm.portfolio.active))


class GOMM(Algorithm):
    """The genetic optimizer for multivariate microaggregation, which records the effect of every operator.

    Generation 0 is a population of random groupings. Each generation applies the group crossover and each of the five
    mutations a fixed number of times to parents drawn at random, and keeps the best of parents and children: by cost
    if there is one objective (parents first among equals, as in the paper's merge), by non-dominated sorting and
    crowding if there are several.

    Parameters
    ----------
    pop_size
        Number of groupings in the population.
    crossovers
        Number of crossovers per generation; each makes two children.
    mutations
        Number of children of each mutation per generation, or a number for each by name: ``group_create``,
        ``group_eliminate``, ``group_split``, ``element_swap``, ``element_move``; those not named are not applied.
    dynamic
        Whether an operator is retired if all its children are discarded in five successive generations (D-GOMM). The
        search ends when no operator is left.
    eliminate_duplicates
        Whether groupings that were evaluated before, in any generation, are left out. By default, they are not for one
        objective, as in the paper, and they are for several, where copies would crowd out the front.
    start
        First groupings of the initial population, one row of X each, such as a problem's baselines; the others are
        random.

    Attributes
    ----------
    portfolio
        The operators, with a mark of those that are still active.

    Notes
    -----
    Balasch-Masoliver (2010), §3.1, §3.4 and §3.5. With the defaults, 100 generations make 10,000 children, so 10,200
    groupings are evaluated. Without a termination there are 100 generations.

    Examples
    --------
    >>> import pandas as pd
    >>> from pymoo.optimize import minimize
    >>> from sdc_problems import GOMMProblem, Microdata
    >>> values = np.random.default_rng(1).normal(size=(60, 4)).round(2)
    >>> frame = pd.DataFrame(values, columns=["height", "weight", "income", "rent"])
    >>> data = Microdata.from_frame(frame, quasi_identifiers=list(frame))
    >>> problem = GOMMProblem(data, k=10, objectives=("score_mean",))
    >>> result = minimize(problem, GOMM(pop_size=10, crossovers=2, mutations=1), ("n_gen", 5), seed=1)
    >>> problem.decode(result.X).groups
    (('height', 'rent'), ('weight', 'income'))
    >>> log = result.algorithm.operator_log
    >>> log[log.operator == "group_split"].created.sum()
    np.int64(5)
    """

    def __init__(
        self,
        *,
        pop_size: int = 200,
        crossovers: int = 25,
        mutations: int | Mapping[str, int] = 10,
        dynamic: bool = False,
        eliminate_duplicates: bool | None = None,
        start: ArrayLike | None = None,
    ) -> None:
        super().__init__(termination=("n_gen", GENERATIONS), output=GOMMOutput())
        self.pop_size = whole(pop_size, "pop_size", least=2)
        self.dynamic = bool(dynamic)
        self._unique = eliminate_duplicates
        self._start = start
        shares = [Share("crossover", GroupCrossover(), whole(crossovers, "crossovers"))]
        for name, count in _counts(mutations).items():
            shares.append(Share(name, MUTATIONS[name](), count))
        if not any(share.count for share in shares):
            raise SDCError("crossovers and mutations are all 0, so nothing would be searched: give one of them")
        self.portfolio = Portfolio(shares, patience=PATIENCE if dynamic else None)
        self._genealogy = Genealogy(self.portfolio.width)
        self._generations: list[dict[str, float]] = []
        self._off = Population()
        self._numbers = np.empty(0, dtype=np.int64)  # of the population's members in the genealogy
        self._costs: dict[bytes, NDArray[np.float64]] = {}  # of every grouping that was evaluated

    @property
    def operator_log(self) -> pd.DataFrame:
        """Table of each generation and operator: the children it made, and what happened to them.

        ``created`` is the number of children, of which ``evaluated`` were measured; ``survived`` is how many were
        selected in their generation, ``used`` how many were a parent later, ``improved`` and ``worsened`` how many were
        better or worse than their parent (or than the mean of two); ``clones`` of a parent are neither. Then follow
        their mean ``lifetime`` in generations and mean ``efficiency`` in percent (chapter 4 of the paper).
        """
        return summarize(self.children)

    @property
    def children(self) -> pd.DataFrame:
        """One row per child: operator, parents, costs, whether it is a clone, lifetime, whether used, efficiency."""
        names = [objective.name for objective in getattr(self.problem, "objectives", ())]
        return children_table(self._genealogy.table(len(self._generations) - 1), self.portfolio.names, names)

    @property
    def generation_log(self) -> pd.DataFrame:
        """One row per generation: evaluations so far, best and mean of each objective, mean number of groups."""
        import pandas as pd

        return pd.DataFrame(self._generations)

    # -- pymoo's steps --------------------------------------------------------------------------------------------

    def _setup(self, problem: Any, **kwargs: object) -> None:
        unconstrained(problem, type(self).__name__)
        if (np.asarray(problem.xl) != 0).any() or (np.asarray(problem.xu) != problem.n_var - 1).any():
            raise SDCError(
                f"{type(problem).__name__} has no groupings for GOMM to vary: there every variable is a group number"
                " from 0 to the number of variables − 1, as in GOMMProblem"
            )
        if self._unique is None:
            self._unique = problem.n_obj > 1

    def _initialize(self) -> None:
        super()._initialize()
        self.n_iter = 0  # the first population does not count among the paper's hundred generations

    def _initialize_infill(self) -> Population:
        pop = RandomGroupings()(self.problem, self.pop_size, random_state=self.random_state)
        if self._start is not None:
            given = restricted_growth(self.problem.genomes(self._start))[: self.pop_size]
            pop[: len(given)].set("X", given)
        return self._unseen(pop) if self._unique else pop

    def _initialize_advance(self, infills: Any = None, **kwargs: object) -> None:
        self.n_iter = 0  # pymoo has just set it to 1
        self._remember(infills.get("X"), infills.get("F"))
        self._numbers = self._genealogy.born(0, infills.get("F"))
        self._select(infills, np.arange(len(infills)))
        self._note()

    def _infill(self) -> Population | None:
        if not self.portfolio.active:
            return None
        self._off = self.portfolio.breed(self.problem, self.pop, random_state=self.random_state)
        fresh = self._unseen(self._off) if self._unique else self._off
        return Population.create(*fresh)

    def _advance(self, infills: Any = None, **kwargs: object) -> None:
        if infills is None:
            self.termination.force_termination = True
            return
        measured = {id(child) for child in infills}
        evaluated = np.array([id(child) in measured for child in self._off])
        born = self._enter(evaluated)
        self._genealogy.discarded(born[~evaluated], self.n_iter)
        made = self._off.get("sdc_operator")
        self._select(Population.merge(self.pop, infills), np.concatenate([self._numbers, born[evaluated]]))
        lives = np.isin(born, self._numbers)
        self.portfolio.observe({name: int(lives[made == i].sum()) for i, name in enumerate(self.portfolio.names)})
        self._note()

    def _set_optimum(self) -> None:
        if self.problem.n_obj == 1:
            self.opt = self.pop[:1]  # the population is sorted
        else:
            super()._set_optimum()

    def _unseen(self, pop: Population) -> Population:
        """Keep individuals that were never evaluated, each once."""
        return pop[list(first_unknown(row_keys(pop.get("X")), self._costs).values())]

    def _remember(self, X: NDArray[Any], F: NDArray[np.float64]) -> None:
        self._costs.update(zip(row_keys(X), F, strict=True))

    def _enter(self, evaluated: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Add all children of this generation to the genealogy, including those left out as duplicates."""
        X, parents = self._off.get("X", "sdc_parents")
        if evaluated.any():
            self._remember(X[evaluated], self._off[evaluated].get("F"))
        parent_x = np.where((parents >= 0)[:, :, None], self.pop.get("X")[parents], -1)
        return self._genealogy.born(
            self.n_iter,
            np.array([self._costs[key] for key in row_keys(X)]),
            operator=self._off.get("sdc_operator"),
            parents=np.where(parents >= 0, self._numbers[parents], -1),
            clone=(parent_x == X[:, None, :]).all(axis=2).any(axis=1),
            evaluated=evaluated,
        )

    def _select(self, merged: Population, numbers: NDArray[np.int64]) -> None:
        """Keep the pop_size best; the others are recorded as discarded in this generation."""
        if self.problem.n_obj == 1:
            kept = np.argsort(merged.get("F")[:, 0], kind="stable")[: self.pop_size]
        else:
            n_survive = min(self.pop_size, len(merged))
            best = RankAndCrowding().do(self.problem, merged, n_survive=n_survive, random_state=self.random_state)
            place = {id(individual): i for i, individual in enumerate(merged)}
            kept = np.array([place[id(individual)] for individual in best])
        self._genealogy.discarded(np.delete(numbers, kept), self.n_iter)
        self.pop, self._numbers = merged[kept], numbers[kept]

    def _note(self) -> None:
        F, X = self.pop.get("F", "X")
        row: dict[str, float] = {"generation": self.n_iter, "evaluations": self.evaluator.n_eval}
        for j in range(F.shape[1]):
            objectives = getattr(self.problem, "objectives", None)
            name = objectives[j].name if objectives else f"f{j}"
            row[f"best_{name}"], row[f"mean_{name}"] = F[:, j].min(), F[:, j].mean()
        row["groups"] = X.max(axis=1).mean() + 1.0
        row["operators"] = len(self.portfolio.active)
        self._generations.append(row)


def _counts(mutations: int | Mapping[str, int]) -> dict[str, int]:
    if not isinstance(mutations, Mapping):
        return dict.fromkeys(MUTATIONS, whole(mutations, "mutations"))
    for name in mutations:
        if name not in MUTATIONS:
            raise SDCError(
                f"unknown mutation {name!r}{did_you_mean(str(name), MUTATIONS)} (known: {', '.join(MUTATIONS)})"
            )
    return {name: whole(mutations.get(name, 0), f"mutations[{name!r}]") for name in MUTATIONS}
