"""Verdicts on shuffled files: paired by the rows that are given, or without pairs and saying so."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sdc_problems import Microdata, SDCError, evaluators
from sdc_problems.studies.verdict import verdict
from sdc_problems.studies.verdict.leaves import Leaves

N = 120
PAIRS = {"dbrl", "certain_links", "prl", "id_value_raw", "id_rank", "unchanged_cells", "il_statistics", "dbil", "ebil",
         "il_categorical", "entropy_loss_percent", "chi2", "bivariate", "discernibility", "cm"}  # fmt: skip


@pytest.fixture
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    return pd.DataFrame({
        "age": rng.integers(20, 60, N),
        "pay": rng.normal(30, 4, N).round(1),
        "town": rng.choice(["Olot", "Reus", "Vic"], N),
        "ill": rng.choice(["no", "yes"], N),
    })  # fmt: skip


def microdata(frame: pd.DataFrame, **options: Any) -> Microdata:
    return Microdata.from_frame(frame, quasi_identifiers=["age", "pay", "town"], sensitive=["ill"], **options)


def generalised(frame: pd.DataFrame) -> pd.DataFrame:
    low = frame["age"] // 10 * 10
    return frame.assign(age=low.astype(str) + "-" + (low + 9).astype(str), pay=frame["pay"].round(), town="*")


def test_rows_pair_a_shuffled_file_as_if_it_were_in_order(frame: pd.DataFrame) -> None:
    data, after = microdata(frame), generalised(frame)
    order = np.random.default_rng(2).permutation(N)
    shuffled = after.iloc[order].reset_index(drop=True)
    assert verdict(data, shuffled, rows=order).payload() == verdict(data, after, same_rows=True).payload()


def test_records_that_were_left_out_count_as_suppressed(frame: pd.DataFrame) -> None:
    data, after = microdata(frame), generalised(frame).assign(town=frame["town"])
    kept = np.random.default_rng(2).permutation(N)[:100]
    lost = np.setdiff1d(np.arange(N), kept)
    starred = after.astype(object)
    starred.loc[lost, ["age", "pay", "town"]] = "*"
    found = verdict(data, after.iloc[kept].reset_index(drop=True), rows=kept)
    assert found.n_suppressed == 20
    assert found.payload() == verdict(data, starred, same_rows=True).payload()


def test_rows_number_the_records_of_the_file_and_not_those_without_gaps(frame: pd.DataFrame) -> None:
    gaps = frame.astype({"town": object}).copy()
    gaps.loc[[0, 5, N - 1], "town"] = None
    data = microdata(gaps, missing="drop")
    assert np.array_equal(data.rows, np.setdiff1d(np.arange(N), [0, 5, N - 1]))
    after = generalised(gaps).assign(town="*")
    order = np.random.default_rng(2).permutation(N)
    found = verdict(data, after.iloc[order].reset_index(drop=True), rows=order)
    whole = verdict(data, after.drop(index=[0, 5, N - 1]).reset_index(drop=True), same_rows=True)
    assert found.payload() == whole.payload()


def test_what_needs_no_pairs_is_measured_and_the_rest_is_named(frame: pd.DataFrame) -> None:
    data, after = microdata(frame), generalised(frame).assign(town=np.roll(frame["town"], 7))
    order = np.random.default_rng(2).permutation(N)
    shuffled = after.iloc[order].reset_index(drop=True)
    found = verdict(data, shuffled, shuffled=True, leaf_counts={"age": Leaves(40, {f"{a}0-{a}9": 10 for a in "2345"})})
    paired = verdict(data, after, same_rows=True)
    for name in ("k", "groups_below_5", "average_group", "distinct_l", "revealed", "entropy_l", "t", "ctbil"):
        assert found.value(name) == paired.value(name), name
    pil = evaluators.pil(frame[["pay"]].to_numpy(), after[["pay"]].to_numpy())
    assert found.value("pil") == pytest.approx(pil), "the order of the rows does not matter"
    assert not PAIRS & {m.name for m in found.measures}
    assert found.weakest is None
    assert found.payload()["weakest_records"] is None
    assert "the rows are shuffled" in found.risk
    assert "because the rows are not paired" in found.utility
    assert sum("without the rows file they cannot be paired" in s.why for s in found.skipped) >= 2
    assert "(--rows)" in found.notes[0]


def test_records_may_be_missing_without_pairs(frame: pd.DataFrame) -> None:
    data = microdata(frame)
    kept = generalised(frame).assign(town=frame["town"], pay="*").iloc[:100]
    ages = {"age": Leaves(40, {f"{a}0-{a}9": 10 for a in "2345"})}
    found = verdict(data, kept, shuffled=True, leaf_counts=ages)
    assert (found.n_records, found.n_suppressed) == (N, 20)
    cells = np.full((N, 3), [10, data.attribute("pay").n_categories, 1])
    sizes = [40, data.attribute("pay").n_categories, 3]
    lost = np.arange(N) >= 100
    assert found.value("glm_percent") == pytest.approx(evaluators.glm_percent(cells, sizes, suppressed=lost))
    with pytest.raises(SDCError, match="different numbers of records"):
        verdict(data, pd.concat([kept, kept]), shuffled=True)


def test_evaluate_says_that_the_rows_were_shuffled(
    frame: pd.DataFrame, tmp_path: Path, sdc: Callable[..., Any]
) -> None:
    frame.to_csv(tmp_path / "in.csv", index=False)
    out, rows = tmp_path / "out.csv", tmp_path / "out.csv.rows.csv"
    how = ("--method", "mdav", "--k", 4, "--columns", "age,pay", "--sensitive", "ill", "--keep", "town")
    sdc("protect", tmp_path / "in.csv", *how, "--out", out)
    pair = ("evaluate", tmp_path / "in.csv", out, "--quasi-identifiers", "age,pay", "--sensitive", "ill")
    full = json.loads(sdc(*pair, "--json").out)
    assert full["weakest_records"] is not None
    rows.rename(tmp_path / "elsewhere.csv")
    said = sdc(*pair).out
    assert "Risk: not known: the rows are shuffled" in " ".join(said.split())
    assert "Weakest records" not in said
    assert json.loads(sdc(*pair, "--json").out)["weakest_records"] is None
    assert json.loads(sdc(*pair, "--rows", tmp_path / "elsewhere.csv", "--json").out) == full
    (tmp_path / "out.csv.certificate.json").unlink()  # of another tool's file nothing says that it was shuffled
    assert "the rows seem to be in a different order" in sdc(*pair, code=2).err
