"""Risk as agencies report it: of one file, of a pair, with weights, households and a population."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sdc_problems import Microdata, SDCError
from sdc_problems.studies.verdict import Verdict, verdict

QUASI = ["age", "town"]


def people(n: int = 200, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(20, 40, n),
            "town": rng.choice(["Olot", "Reus", "Vic"], n),
            "ill": rng.choice(["yes", "no"], n),
            "weight": rng.integers(1, 30, n),
            "home": rng.integers(0, n // 2, n),
        }
    )


def taken(frame: pd.DataFrame, protected: pd.DataFrame | None = None, **options: object) -> Verdict:
    data = Microdata.from_frame(frame, quasi_identifiers=QUASI, sensitive=["ill"])
    return verdict(data, protected, **options)  # type: ignore[arg-type]


def decades(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(age=[f"{a // 10 * 10}-{a // 10 * 10 + 9}" for a in frame["age"]])


def test_one_file_alone_against_pandas() -> None:
    frame = people()
    found = taken(frame)
    sizes = frame.groupby(QUASI)["ill"].transform("size")
    assert found.value("k") == sizes.min()
    assert found.value("sample_uniques") == found.weakest == (sizes == 1).sum()
    assert found.value("prosecutor_max") == 100 / sizes.min()
    assert found.value("prosecutor_mean") == pytest.approx(100 * (1 / sizes).mean())
    assert found.value("alpha") is not None
    assert found.value("dbrl") is None
    assert f"{(sizes == 1).sum()} of 200 records" in found.risk
    assert not found.compared
    assert all(measure.before is None for measure in found.measures)
    assert any("--population" in skipped.why for skipped in found.skipped)


def test_a_starred_file_alone_counts_as_a_pair_does() -> None:
    frame = people().astype({"age": str})
    frame.loc[3, "town"] = frame.loc[9, "age"] = "*"
    found = taken(frame)
    assert found.value("k") == frame.groupby(QUASI).size().min()


def test_weights_against_pandas() -> None:
    frame = people()
    found = taken(frame, weights="weight")
    groups = frame.groupby(QUASI)["weight"]
    stands_for, sizes = groups.transform("sum"), groups.transform("size")
    assert found.value("k_map") == stands_for.min()
    assert found.value("journalist_max") == pytest.approx(100 / stands_for.min())
    assert found.value("marketer") == pytest.approx(100 * (1 / stands_for).mean())
    assert found.value("population_uniques") == pytest.approx((1 / stands_for)[sizes == 1].sum())
    largest, overall = found.value("individual_risk_max"), found.value("global_risk")
    assert largest is not None
    assert overall is not None
    assert 0 < overall <= largest <= 100


def test_households_raise_the_risk() -> None:
    frame = people()
    found = taken(frame, households="home")
    sizes = frame.groupby(QUASI)["ill"].transform("size")
    together = 1 - (1 - 1 / sizes).groupby(frame["home"]).transform("prod")
    assert found.value("household_risk_mean") == pytest.approx(100 * together.mean())
    assert found.value("household_risk_max") == pytest.approx(100 * together.max())


def test_a_population_is_counted_under_the_published_labels() -> None:
    everybody = people(1000, seed=2)
    sample = everybody.sample(150, random_state=1).reset_index(drop=True)
    population = Microdata.from_frame(everybody[["age", "town"]], kinds={"town": "nominal"})
    exact = everybody.groupby(QUASI).size()
    fits = [exact[tuple(row)] for row in sample[QUASI].itertuples(index=False)]
    alone = taken(sample, population=population)
    assert alone.value("k_map") == min(fits)
    assert alone.value("marketer") == pytest.approx(100 * np.mean([1 / f for f in fits]))
    bands = decades(everybody).groupby(QUASI).size()
    published = decades(sample)
    fits = [bands[tuple(row)] for row in published[QUASI].itertuples(index=False)]
    pair = taken(sample, published, population=population, same_rows=True)
    assert pair.value("k_map") == min(fits)
    assert pair.value("population_uniques") == sum(f == 1 for f in fits)


def test_a_population_that_lacks_the_file_does_not_look_safe() -> None:
    frame = people()
    strangers = Microdata.from_frame(frame[QUASI].assign(town="Elsewhere"), kinds={"town": "nominal"})
    found = taken(frame, population=strangers)
    assert found.value("k_map") == frame.groupby(QUASI).size().min()
    assert any("the population lacks" in note for note in found.notes)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"weights": "town"}, "numbers without gaps"),
        ({"weights": "none"}, "no column"),
        ({"households": "x"}, "no column"),
    ],
)  # fmt: skip
def test_wrong_columns_are_named(options: dict[str, str], said: str) -> None:
    with pytest.raises(SDCError, match=said):
        taken(people(), **options)


def test_weights_below_one_are_refused() -> None:
    with pytest.raises(SDCError, match="below 1"):
        taken(people().assign(weight=0.5), weights="weight")
