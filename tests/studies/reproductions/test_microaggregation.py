"""The reproduction of the two papers on genetic microaggregation: every table, and the analysis behind one of them."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from sdc_problems.errors import SDCError
from sdc_problems.studies.reproductions import find
from sdc_problems.studies.reproductions.microaggregation import study as microaggregation
from sdc_problems.studies.reproductions.microaggregation.cells import anytime_picture, cells_table, run_cell
from sdc_problems.studies.reproductions.microaggregation.runs import (
    QUICK,
    Scale,
    clustered_records,
    hybrid,
    random_records,
    sensitivity_runs,
)
from sdc_problems.studies.reproductions.microaggregation.sensitivity import anova, best_values, recommended

TINY = Scale(
    rates=(0.0, 0.1, 1.0),
    pop_sizes=(4, 8),
    runs=2,
    epochs=20,
    long_runs=2,
    long_epochs=60,
    sizes=(20,),
    files=("Scattered",),
    hybrid_epochs=10,
    cells=(),
    cell_seconds=None,
    cell_moves=100_000,
)


def test_the_report_has_every_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(microaggregation, "QUICK", TINY)
    said: list[str] = []
    report = find("microaggregation")(quick=True, say=said.append)
    assert [table.name for table in report.tables] == [
        "table-I", "table-II-minimum", "table-II-average", "table-III", "table-IV", "table-V-anova", "table-V",
        "hybrid-scattered",
    ]  # fmt: skip
    assert len(said) == 7
    content = json.loads(report.json())
    for row in content["tables"][0]["rows"]:
        assert all(row[f"k = {k}"]["ours"] == row[f"k = {k}"]["paper"] for k in (3, 4, 5))
    for row in content["tables"][4]["rows"]:
        assert row["GA"]["ours"] >= row["optimum"]["ours"] - 1e-9
    for row in content["tables"][7]["rows"]:
        assert row["SSE (2)"]["ours"] <= row["MDAV"]["ours"]
        assert row["one-step groups"]["ours"] == row["one-step groups"]["paper"]
    assert [picture.name for picture in report.pictures] == ["figures-1-4"]


@pytest.mark.slow
def test_the_quick_one_says_what_the_papers_say(public) -> None:
    public("census.csv")
    report = find("microaggregation")(quick=True, say=lambda line: None)
    tables = {table["name"]: table for table in json.loads(report.json())["tables"]}
    for row in tables["table-II-minimum"]["rows"]:
        assert row["GA"]["ours"] < row["MDAV"]["ours"]
    for row in tables["table-V"]["rows"]:
        assert "0.1" in row["mutation"]["ours"]
    assert {name for name in tables if name.startswith("hybrid")} == {f"hybrid-{name.lower()}" for name in QUICK.files}
    for name in QUICK.files:
        for row in tables[f"hybrid-{name.lower()}"]["rows"]:
            assert row["SSE (2)"]["ours"] < row["MDAV"]["ours"]


def test_runs_do_not_depend_on_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    from sdc_problems.studies.reproductions.microaggregation import runs

    tables = []
    for threads in (1, 4):
        monkeypatch.setattr(runs, "processors", lambda n=threads: n)
        tables.append(sensitivity_runs(20, 2, TINY))
    pd.testing.assert_frame_equal(*tables)
    assert len(tables[0]) == 3 * 3 * 2 * 2


def test_the_data_are_of_the_papers_shape() -> None:
    scattered, clustered = random_records(1000, 2), clustered_records()
    assert scattered.shape == clustered.shape == (1000, 2)
    assert np.abs(scattered).max() <= 10_000
    near = np.sort(((clustered[:, None] - clustered[None]) ** 2).sum(axis=2), axis=1)[:, 2]
    assert np.sqrt(near).max() < 600  # everybody has two neighbors of his cluster
    groups, plain, found = hybrid(scattered[:240], 12, 2, 1000)
    assert groups == 20
    assert found < plain


def test_a_cell_of_the_reference_files(public) -> None:
    public("census.csv")
    run = run_cell("census", 10, move_limit=400_000)
    assert run.found < run.mhm < run.mdav == pytest.approx(14.1559, abs=5e-5)
    assert 10 <= run.sizes[0] <= run.sizes[1] <= 19
    assert run.after(np.inf) == pytest.approx(run.found)
    assert run.after(0.0) == pytest.approx(run.mhm)
    table = cells_table([run], "400,000 moves")
    assert table.rows[0][:4] == ("census", 10, f"{run.mdav:.4f}", f"{run.mhm:.4f}")
    assert run.bound is None, "none was asked for"
    assert table.rows[0][6] == "–"
    table = cells_table([replace(run, bound=9.5)], "400,000 moves")
    assert table.rows[0][6] == "9.5000"
    panel = anytime_picture([run]).figure.axes[0]
    assert [line.get_label() for line in panel.lines] == ["search", "MDAV", "MHM"]
    panel = anytime_picture([replace(run, bound=9.5)]).figure.axes[0]
    assert [line.get_label() for line in panel.lines][3] == "no partition below"
    again = run_cell("census", 10, move_limit=400_000)
    assert again.found == run.found


# -- the analysis -----------------------------------------------------------------------------------------------------


def grid(rng: np.random.Generator) -> pd.DataFrame:
    rows = [(a, b, c, r) for a in (0.0, 0.1, 0.2, 0.3) for b in (1.0, 2.0, 3.0) for c in (5.0, 6.0) for r in range(5)]
    table = pd.DataFrame(rows, columns=["a", "b", "c", "run"])
    noise = rng.normal(size=len(table)) * 0.1
    return table.assign(
        loss=np.where(table.a == 0.0, 5.0, np.where(table.a == 0.3, 2.0, 1.0)) + noise,
        effort=np.where(table.b == 1.0, 10.0, 100.0) + 50 * table.a + rng.normal(size=len(table)),
    )


def test_anova_finds_the_factors_that_matter(rng) -> None:
    table = grid(rng)
    assert anova(table, "loss", ["a", "b", "c"]).significant() == ("a",)
    assert anova(table, "effort", ["a", "b", "c"]).significant() == ("a", "b")


def test_anova_of_a_balanced_design_is_the_textbooks(rng) -> None:
    from scipy.stats import f_oneway

    table = grid(rng)
    expected = f_oneway(*(group.loss for _, group in table.groupby("a"))).pvalue
    assert anova(table, "loss", ["a"]).p["a"] == pytest.approx(expected)


@pytest.mark.parametrize("left_out", [0, 7, 40])
def test_anova_is_statsmodels_type_two(rng, left_out: int) -> None:
    formula = pytest.importorskip("statsmodels.formula.api")
    linear = pytest.importorskip("statsmodels.stats.anova")
    table = grid(rng)
    table = table.drop(rng.choice(len(table), left_out, replace=False))  # unbalanced: the factors are not orthogonal
    for response in ("loss", "effort"):
        model = formula.ols(f"{response} ~ C(a) + C(b) + C(c)", table).fit()
        expected = linear.anova_lm(model, typ=2)["PR(>F)"]
        found = anova(table, response, ["a", "b", "c"])
        assert [found.p[name] for name in "abc"] == pytest.approx([expected[f"C({n})"] for n in "abc"], rel=1e-8)
        assert found.mean_square == pytest.approx(model.mse_resid, rel=1e-10)
        assert found.freedom == model.df_resid


def test_a_factor_that_says_what_others_say_has_no_effect_of_its_own(rng) -> None:
    table = grid(rng)
    found = anova(table.assign(d=table.a), "loss", ["a", "d"])
    assert found.p == {"a": 1.0, "d": 1.0}
    assert found.freedom == len(table) - 4


def test_groups_of_the_best_are_statsmodels_tukey(rng) -> None:
    multicomp = pytest.importorskip("statsmodels.stats.multicomp")
    table = grid(rng)
    result = multicomp.pairwise_tukeyhsd(table.loss, table.a)
    values = list(result.groupsunique)
    pairs = [(values[i], values[j]) for i, j in zip(*np.triu_indices(len(values), 1), strict=True)]
    best = table.groupby("a").loss.mean().idxmin()
    alike = {
        a if b == best else b for (a, b), far in zip(pairs, result.reject, strict=True) if best in (a, b) and not far
    }
    assert set(best_values(table, "loss", "a", anova(table, "loss", ["a"]))) == alike | {best}


def test_the_statistics_need_no_extra() -> None:
    code = """
import sys
sys.modules["statsmodels"] = sys.modules["sklearn"] = None
import pandas as pd
from sdc_problems.studies.reproductions.microaggregation.sensitivity import anova
table = pd.DataFrame({"rate": [0, 0, 0, 1, 1, 1], "sse": [5.0, 5.1, 4.9, 2.0, 2.1, 1.9]})
print(anova(table, "sse", ["rate"]).significant())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "('rate',)"


def test_best_values_are_those_that_tukey_does_not_tell_apart(rng) -> None:
    from scipy.stats import tukey_hsd

    table = grid(rng)
    found = anova(table, "loss", ["a"])
    assert best_values(table, "loss", "a", found) == (0.1, 0.2)
    values = sorted(table.a.unique())
    pvalues = tukey_hsd(*(table[table.a == v].loss for v in values)).pvalue
    best = int(np.argmin([table[table.a == v].loss.mean() for v in values]))
    assert {v for v, p in zip(values, pvalues[best], strict=True) if p > 0.05} == {0.1, 0.2}


def test_effort_decides_among_the_best(rng) -> None:
    found = recommended(grid(rng), loss="loss", effort="effort", factors=["a", "b", "c"])
    assert found == {"a": (0.1,), "b": (1.0,), "c": (5.0, 6.0)}


def test_runs_that_are_all_alike_recommend_everything() -> None:
    table = pd.DataFrame({"a": [0.0, 0.0, 1.0, 1.0], "b": 1.0, "loss": 3.0, "effort": [1.0, 2.0, 1.0, 2.0]})
    assert anova(table, "loss", ["a", "b"]).significant() == ()
    assert recommended(table, loss="loss", effort="effort", factors=["a", "b"]) == {"a": (0.0, 1.0), "b": (1.0,)}
    with pytest.raises(SDCError, match="no runs"):
        anova(table[:0], "loss", ["a"])
