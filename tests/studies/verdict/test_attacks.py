"""Files that usual scores praise and that protect nobody: the verdict says so."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sdc_problems import MaskingProblem, Microdata, evaluators
from sdc_problems.studies.verdict import Verdict, verdict

N = 150
NAMES = ["wage", "rent", "total"]


@pytest.fixture
def numbers(rng: np.random.Generator) -> pd.DataFrame:
    frame = pd.DataFrame({"wage": rng.integers(900, 9000, N), "rent": rng.integers(0, 2000, N)})
    return frame.assign(total=frame["wage"] + frame["rent"], ill=rng.choice(["yes", "no"], N))


@pytest.fixture
def people(rng: np.random.Generator) -> pd.DataFrame:
    return pd.DataFrame({"town": rng.choice(list("ORVS"), N), "job": rng.choice(list("abc"), N)})


def of(before: pd.DataFrame, after: pd.DataFrame, names: list[str]) -> Verdict:
    return verdict(Microdata.from_frame(before, quasi_identifiers=names), after, same_rows=True)


def says(found: Verdict, words: str) -> bool:
    return any(words in note for note in found.notes)


def test_rows_that_are_shifted_are_copies(numbers: pd.DataFrame) -> None:
    after = numbers.assign(**{name: np.roll(numbers[name], N // 2) for name in NAMES})
    found = of(numbers, after, NAMES)
    assert found.value("copies") == 100.0
    assert found.value("pil") == pytest.approx(0.0)
    assert says(found, "100 % of the records are in the file unchanged, perhaps in other rows")
    assert says(found, "wage, rent, total of a record say nothing about its person")
    assert found.value("sums_broken") == 0.0


def test_a_sum_that_holds_everywhere_is_counted(numbers: pd.DataFrame) -> None:
    after = numbers.copy()
    after.loc[:29, "total"] += 1
    found = of(numbers, after, NAMES)
    assert found.value("sums_broken") == 20.0
    sentence = next(m.sentence for m in found.measures if m.name == "sums_broken")
    assert "(total = wage + rent) is broken in 20 %" in sentence
    assert of(numbers, after, ["wage", "total"]).value("sums_broken") is None  # nothing to add up


def test_linkage_within_ranks_counts_towards_the_risk(numbers: pd.DataFrame, rng: np.random.Generator) -> None:
    from sdc_problems.methods import rank_swap

    X = numbers[["wage", "rent"]].to_numpy(float)
    Y = rank_swap(X, percent=14, rng=rng)
    after = numbers.assign(wage=Y[:, 0].astype(int), rent=Y[:, 1].astype(int))
    found = of(numbers, after, ["wage", "rent"])
    best = max(evaluators.rsrl(X, Y, percent=percent) for percent in (5, 10, 15, 20))
    assert found.value("rsrl") == pytest.approx(best)
    assert best > max(found.value("dbrl") or 0, found.value("prl") or 0)
    assert f"about {best * N / 100:,.0f} of {N}" in found.risk
    assert found.value("copies") == pytest.approx(evaluators.copies(X, Y))


def test_single_values_and_regressions(numbers: pd.DataFrame, rng: np.random.Generator) -> None:
    after = numbers.assign(wage=numbers["wage"] + rng.integers(-300, 300, N))
    found = of(numbers, after, ["wage", "rent"])
    X, Y = (frame[["wage", "rent"]].to_numpy(float) for frame in (numbers, after))
    assert found.value("record_change") == pytest.approx(evaluators.record_change(X, Y))
    assert found.value("regression_change") == pytest.approx(evaluators.regression_change(X, Y))
    assert not says(found, "say nothing about its person")


def test_renamed_categories_are_guessed(people: pd.DataFrame) -> None:
    after = people.assign(town=people["town"].map(dict(zip("ORVS", "RVSO", strict=True))))
    found = of(people, after, ["town", "job"])
    assert found.value("guess") == 100.0
    assert says(found, "categories of town, job are practically renamed: only 50 % are near the original ones")


def test_files_without_other_values_are_not_attacked(people: pd.DataFrame, numbers: pd.DataFrame) -> None:
    for frame, names in ((people, ["town", "job"]), (numbers, NAMES)):
        found = of(frame, frame, names)
        assert {"copies", "rsrl", "guess", "record_change"}.isdisjoint(m.name for m in found.measures)
        assert any(s.label == "copies, rank linkage, guesses" for s in found.skipped)


def test_many_records_are_not_compared_with_each_other(numbers: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    from sdc_problems.studies.verdict import attacks

    monkeypatch.setattr(attacks, "MOST_RECORDS", 100)
    found = of(numbers, numbers.assign(wage=numbers["wage"] + 7), NAMES)
    assert found.value("rsrl") is None
    assert found.value("copies") is not None, "looked for in a tree, of any number of records"
    assert any("150 records are more than 100" in s.why for s in found.skipped)


def test_scores_of_masked_files_are_those_that_a_search_lowers(
    people: pd.DataFrame, numbers: pd.DataFrame, rng: np.random.Generator
) -> None:
    after = people.assign(town=people["town"].map(dict(zip("ORVS", "RVSO", strict=True))))
    found = of(people, after, ["town", "job"])
    problem = MaskingProblem(Microdata.from_frame(people, quasi_identifiers=["town", "job"]))
    frames = [pd.Categorical(frame[name], problem.data.attribute(name).labels).codes
              for frame in (after,) for name in ("town", "job")]  # fmt: skip
    figures = problem.figures(problem.encode(np.stack(frames, axis=1)))
    assert found.value("dr_guarded") == pytest.approx(figures["dr_guarded"])
    assert found.value("score_guarded_max") == pytest.approx(figures["score_max"])
    assert found.value("dr_guarded") > found.value("score_max")  # type: ignore[operator]
    noisy = numbers.assign(wage=numbers["wage"] + rng.integers(-300, 300, N), rent=rng.permutation(numbers["rent"]))
    found = of(numbers, noisy, ["wage", "rent"])
    columns = Microdata.from_frame(numbers, quasi_identifiers=["wage", "rent"])
    masked = MaskingProblem(columns, start={"noisy": noisy})
    figures = masked.figures(masked.encode(noisy[["wage", "rent"]].to_numpy()))
    assert found.value("dr_numeric") == pytest.approx(figures["dr_numeric"])
    assert found.value("score_pil_max") == pytest.approx(figures["score_max"])
