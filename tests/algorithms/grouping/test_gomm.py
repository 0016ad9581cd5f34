"""GOMM and D-GOMM: counts, selection, attribution, retirement, and the log of every operator."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pymoo.core.callback import Callback
from pymoo.optimize import minimize
from pymoo.problems.multi.zdt import ZDT1

from sdc_problems import GOMMProblem, MicroaggregationProblem, Microdata, SDCError
from sdc_problems.algorithms import GOMM
from sdc_problems.algorithms.grouping.operator_analysis import LOG_COLUMNS, efficiency_ranges, unused_share
from sdc_problems.datasets import load
from sdc_problems.methods.partition._attribute_groups import CENSUS, handmade_groups
from sdc_problems.operators.canonical import restricted_growth
from sdc_problems.operators.grouping import MUTATIONS

OPERATORS = {"crossover", *MUTATIONS}


def problem(*objectives: str, p: int = 7) -> GOMMProblem:
    rng = np.random.default_rng(2)
    base = rng.normal(size=(50, 2))
    values = np.column_stack([base, base @ rng.normal(size=(2, p - 2)) + 0.5 * rng.normal(size=(50, p - 2))])
    frame = pd.DataFrame(values.round(3)).rename(columns=lambda j: f"a{j + 1}")
    return GOMMProblem(
        Microdata.from_frame(frame, quasi_identifiers=list(frame)), 5, objectives=objectives or ("score_mean",)
    )


def run(algorithm: GOMM, *objectives: str, n_gen: int = 12, seed: int = 1, **options: Any) -> Any:
    return minimize(problem(*objectives), algorithm, ("n_gen", n_gen), seed=seed, **options)


def small(**options: Any) -> GOMM:
    return GOMM(**{"pop_size": 20, "crossovers": 3, "mutations": 2, **options})


# -- the search -------------------------------------------------------------------------------------------------------


def test_counts_are_those_of_the_thesis() -> None:
    """200 + 100·(2·25 + 5·10) = 10,200 evaluations with the defaults; the same sum on a small scale."""
    defaults = GOMM()
    made = sum(share.count * share.operator.n_offsprings for share in defaults.portfolio.shares[:1])
    made += sum(share.count for share in defaults.portfolio.shares[1:])
    assert defaults.pop_size + 100 * made == 10_200
    result = run(small(), n_gen=12)
    assert result.algorithm.evaluator.n_eval == 20 + 12 * (2 * 3 + 5 * 2)
    assert result.algorithm.generation_log.generation.tolist() == list(range(13))


def test_a_hundred_generations_without_a_termination() -> None:
    result = minimize(problem(), GOMM(pop_size=4, crossovers=1, mutations=0), seed=1)
    assert result.algorithm.evaluator.n_eval == 4 + 100 * 2


def test_same_seed_same_bytes() -> None:
    for objectives in (("score_mean",), ("il_sse", "dr_linkage")):
        first, second = run(small(dynamic=True), *objectives), run(small(dynamic=True), *objectives)
        assert first.pop.get("X").tobytes() == second.pop.get("X").tobytes()
        pd.testing.assert_frame_equal(first.algorithm.children, second.algorithm.children)
    assert (
        run(small(), seed=2).algorithm.children.score_mean.tolist()
        != run(small(), seed=3).algorithm.children.score_mean.tolist()
    )


def test_the_best_of_parents_and_children_survive() -> None:
    """The whole run told again by a plain loop over the table of children: merge, sort, cut."""
    result = run(small())
    children = result.algorithm.children
    first = {int(n): c for n, c in zip(range(20), result.algorithm._genealogy.table(12)["F"][:20, 0], strict=True)}
    alive = dict(sorted(first.items(), key=lambda entry: entry[1]))
    for generation, made in children.groupby("generation"):
        costs = {**alive, **dict(zip(made.number, made.score_mean, strict=True))}  # parents first among equals
        alive = dict(sorted(costs.items(), key=lambda entry: entry[1])[:20])
        died = made[~made.number.isin(list(alive))]
        assert not died.survived.any()
        assert made[made.number.isin(list(alive))].survived.all()
        best = result.algorithm.generation_log.set_index("generation").best_score_mean[generation]
        assert best == min(alive.values())
    assert sorted(alive) == sorted(result.algorithm._numbers.tolist())
    assert result.F[0] == min(alive.values())


def test_the_best_cost_never_rises() -> None:
    log = run(small()).algorithm.generation_log
    assert (log.best_score_mean.diff().dropna() <= 0).all()
    assert (log.mean_score_mean.diff().dropna() <= 0).all()


def test_finds_the_optimum_of_a_small_table() -> None:
    result = run(GOMM(pop_size=60, crossovers=8, mutations=3), n_gen=40)
    front = problem().enumerate_front().F
    assert result.F[0] == front[0, 0]


def test_starts_from_groupings_that_are_given() -> None:
    task = problem()
    given = list(task.baselines().values())
    result = run(small(start=given), n_gen=1)
    assert result.F[0] <= task.evaluate(np.array(given)).min()
    first = result.algorithm._genealogy.table(1)["F"][: len(given), 0]
    np.testing.assert_array_equal(first, task.evaluate(np.array(given))[:, 0])
    with pytest.raises(SDCError, match="must have 7 columns"):
        run(small(start=[[0, 1]]), n_gen=1)


def test_several_objectives_keep_a_front_without_copies() -> None:
    result = run(small(), "il_sse", "dr_linkage", n_gen=20)
    F, X = result.F, result.X
    assert len({x.tobytes() for x in X}) == len(X)
    assert not any(((F <= f).all(axis=1) & (F < f).any(axis=1)).any() for f in F)
    assert len(F) > 5
    log = result.algorithm.operator_log
    assert log.evaluated.sum() < log.created.sum()
    assert result.algorithm.evaluator.n_eval == 20 + log.evaluated.sum()


def test_verbose_run_prints_the_columns(capsys: pytest.CaptureFixture[str]) -> None:
    run(small(), n_gen=2, verbose=True)
    out = capsys.readouterr().out
    assert "groups" in out
    assert "operators" in out


# -- D-GOMM -----------------------------------------------------------------------------------------------------------


def test_an_operator_is_retired_after_five_useless_generations() -> None:
    result = run(small(dynamic=True), n_gen=60)
    log = result.algorithm.operator_log
    survived = log.pivot_table(index="generation", columns="operator", values="survived")
    assert len(result.algorithm.portfolio.active) < 6
    for name, column in survived.items():
        counts = column.dropna().tolist()
        assert column.index[: len(counts)].tolist() == list(range(1, len(counts) + 1)), "no generation was left out"
        for end in range(5, len(counts)):
            assert any(counts[end - 5 : end]), f"{name} was applied after five useless generations"
        if name not in result.algorithm.portfolio.active:
            assert not any(counts[-5:])


def test_the_search_ends_with_its_last_operator() -> None:
    result = run(small(dynamic=True), n_gen=500)
    assert result.algorithm.portfolio.active == ()
    assert result.algorithm.n_iter < 500
    assert result.F is not None


def test_gomm_retires_nobody() -> None:
    result = run(small(), n_gen=40)
    assert len(result.algorithm.portfolio.active) == 6
    assert result.algorithm.operator_log.groupby("operator").size().tolist() == [40] * 6


# -- the log ----------------------------------------------------------------------------------------------------------


def test_log_has_a_row_per_generation_and_operator() -> None:
    log = run(small()).algorithm.operator_log
    assert tuple(log.columns) == LOG_COLUMNS
    assert set(log.operator) == OPERATORS
    assert len(log) == 12 * 6
    assert (log[log.operator == "crossover"].created == 6).all()
    assert (log[log.operator != "crossover"].created == 2).all()
    assert (log.evaluated == log.created).all(), "the thesis evaluates clones too"
    for column in ("survived", "used", "improved", "worsened", "clones"):
        assert (log[column] >= 0).all()
        assert (log[column] <= log.created).all()
    assert (log.improved + log.worsened + log.clones <= log.created).all()
    assert (log.used <= log.survived).all(), "who never entered the population was never a parent"
    assert (log[log.generation == 12].lifetime == 0).all(), "the search ends in the generation of their birth"
    assert (log[log.generation == 12].used == 0).all()
    assert unused_share(log).between(0, 100).all()


def test_log_tells_what_the_children_did() -> None:
    algorithm = run(small()).algorithm
    children, log = algorithm.children, algorithm.operator_log.set_index(["generation", "operator"])
    costs = dict(enumerate(algorithm._genealogy.table(12)["F"][:, 0]))
    for key, group in children.groupby(["generation", "operator"]):
        improved = worsened = 0
        efficiencies = []
        for child in group.itertuples():
            parents = [costs[n] for n in (child.parent_1, child.parent_2) if n >= 0]
            assert len(parents) == (2 if child.operator == "crossover" else 1)
            reference = sum(parents) / len(parents)
            ratio = child.score_mean / reference
            efficiencies.append(100 * (1 - ratio) if ratio <= 1 else 100 * (1 / ratio - 1))
            if not child.clone:
                improved += child.score_mean < reference
                worsened += child.score_mean > reference
        assert log.loc[key, "improved"] == improved
        assert log.loc[key, "worsened"] == worsened
        assert log.loc[key, "efficiency"] == pytest.approx(np.mean(efficiencies))
        assert log.loc[key, "lifetime"] == group.lifetime.mean()
    later = children[children.generation > 1]
    used = set(later.parent_1) | set(later.parent_2)
    assert children.used.tolist() == [n in used for n in children.number]


def test_clones_are_children_that_equal_a_parent() -> None:
    class Genomes(Callback):
        def __init__(self) -> None:
            super().__init__()
            self.x: list[bytes] = []

        def notify(self, algorithm: Any) -> None:
            self.x += [x.tobytes() for x in algorithm.off.get("X")]  # everybody, in the order of birth

    result = run(small(), callback=Genomes())
    x = result.algorithm.callback.x
    for child in result.algorithm.children.itertuples():
        parents = [x[n] for n in (child.parent_1, child.parent_2) if n >= 0]
        assert child.clone == (x[child.number] in parents)
    assert result.algorithm.children.clone.any()


def test_log_can_be_read_while_the_search_runs() -> None:
    class Reader(Callback):
        def __init__(self) -> None:
            super().__init__()
            self.rows: list[int] = []

        def notify(self, algorithm: Any) -> None:
            self.rows.append(len(algorithm.operator_log))
            assert (algorithm.children.lifetime >= 0).all()

    assert run(small(), n_gen=3, callback=Reader()).algorithm.callback.rows == [0, 6, 12, 18]


def test_efficiency_ranges_enclose_the_mean() -> None:
    algorithm = run(small()).algorithm
    ranges = efficiency_ranges(algorithm.children).merge(algorithm.operator_log, on=["generation", "operator"])
    assert len(ranges) == len(algorithm.operator_log)
    assert (ranges.best >= ranges.mean_improvement - 1e-9).all()
    assert (ranges.worst <= ranges.mean_worsening + 1e-9).all()
    assert ((ranges.efficiency <= ranges.best + 1e-9) & (ranges.efficiency >= ranges.worst - 1e-9)).all()


def test_population_stays_canonical() -> None:
    X = run(small()).pop.get("X")
    assert X.dtype == np.int16
    np.testing.assert_array_equal(restricted_growth(X), X)


# -- each operator alone, and bad input -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(MUTATIONS))
def test_an_operator_alone(name: str) -> None:
    log = run(small(crossovers=0, mutations={name: 10}), n_gen=3).algorithm.operator_log
    assert set(log.operator) == {name}
    assert (log.created == 10).all()


def test_bad_options_are_refused() -> None:
    for options, text in (
        ({"pop_size": 1}, "pop_size"),
        ({"crossovers": -1}, "crossovers"),
        ({"mutations": 2.5}, "mutations"),
        ({"mutations": {"element_mvoe": 3}}, "did you mean 'element_move'"),
        ({"crossovers": 0, "mutations": 0}, "nothing would be searched"),
    ):
        with pytest.raises(SDCError, match=text):
            GOMM(**options)
    with pytest.raises(TypeError):
        GOMM(population=3)  # type: ignore[call-arg]


def test_problems_without_groupings_are_refused() -> None:
    data = problem().data
    for other, name in ((MicroaggregationProblem(data, 5), "MicroaggregationProblem"), (ZDT1(), "ZDT1")):
        with pytest.raises(SDCError, match=f"{name} has no groupings"):
            minimize(other, small(), ("n_gen", 1), seed=1)


# -- the statements that must hold, on the thesis' data ---------------------------------------------------------------


@pytest.mark.slow
def test_census_groups_grow_with_k_and_gomm_beats_what_is_made_by_hand(public: Callable[[str], Path]) -> None:
    assert public("census.csv")
    data = load("census").data.with_roles(quasi_identifiers=CENSUS)
    groups = []
    for k in (5, 10, 25, 50, 100):
        task = GOMMProblem(data, k, objectives=("score_mean",))
        fixed = minimize(task, GOMM(), ("n_gen", 100), seed=1)
        dynamic = minimize(task, GOMM(dynamic=True), ("n_gen", 100), seed=1)
        assert fixed.algorithm.evaluator.n_eval == 10_200
        assert dynamic.algorithm.evaluator.n_eval < 10_200
        assert dynamic.F[0] <= 1.03 * fixed.F[0]
        by_hand = [task.encode(grouping) for grouping in handmade_groups(CENSUS).values()]
        by_hand += [task.baselines()["one group"], task.baselines()["univariate"]]
        assert fixed.F[0] <= task.evaluate(np.array(by_hand)).min()
        groups.append(len(task.decode(fixed.X).groups))
    assert groups == sorted(groups)
    assert groups[0] == 1
    assert groups[-1] > 1
