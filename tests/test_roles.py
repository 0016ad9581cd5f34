"""Roles that columns propose themselves, and the combinations that identify, against counting by pandas."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sdc_problems import Microdata, SDCError, roles
from sdc_problems.microdata import Role
from sdc_problems.roles import ColumnFacts, Scan, scan

N = 400
IBANS = ["GB82WEST12345698765432", "DE89370400440532013000", "FR1420041010050500013M02606"]


def scanned(values: object, name: str) -> ColumnFacts:
    frame = pd.DataFrame({name: values, "sex": ["f", "m"] * (len(values) // 2)})  # type: ignore[arg-type]
    return scan(Microdata.from_frame(frame, missing="category")).columns[0]


@pytest.mark.parametrize(
    ("name", "values", "reason"),
    [
        ("contact", [f"p{i % 50}@clinic.org" for i in range(N)], "e-mail"),
        ("contact", [f"+34 977 {i:06d}" for i in range(N)], "telephone"),
        ("konto", IBANS * (N // 3) + IBANS[:1], "IBAN"),
        ("ref", [f"{i:03d}-{i % 90 + 10}-{i + 1000}" for i in range(N)], "insurance"),
        ("surname", [f"Smith{chr(65 + i % 26)}{chr(97 + i % 7)}" for i in range(N)], "names persons"),
        ("holder", [f"Smith {'abcdefghij'[i % 10]}{'klmnopqrst'[i // 10 % 10]}{'uvwxyz'[i // 100]}" for i in range(N)],
         "names of persons"),
        ("patient_no", np.arange(N) * 17 + 5, "number of the record"),
        ("x", np.arange(N) + 70_000, "one after another"),
        ("remark", [f"text{i}x" for i in range(N)], "occur once"),
        ("vorgang", [f"F{i * 17:05d}" for i in range(N)], "occur once"),  # no diagnoses
    ],
)  # fmt: skip
def test_direct_identifiers_are_found(name: str, values: object, reason: str) -> None:
    found = scanned(values, name)
    assert found.role is Role.IDENTIFIER
    assert reason in found.reason


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("AgeAtVisit", np.arange(N) % 80, Role.QUASI_IDENTIFIER),
        ("home", [f"0{i % 60 + 8000}" for i in range(N)], Role.QUASI_IDENTIFIER),
        ("seen", pd.date_range("2024-01-01", periods=N).strftime("%d.%m.%Y"), Role.QUASI_IDENTIFIER),
        ("main_diagnosis", list("abcd") * (N // 4), Role.SENSITIVE),
        ("dx", [f"{'EIJ'[i % 3]}{i % 30 + 10}.{i % 9}" for i in range(N)], Role.SENSITIVE),
        ("annual_income", np.linspace(1, 9e4, N), Role.SENSITIVE),
        ("version", ["1"] * N, Role.OTHER),
        ("amount", np.random.default_rng(1).normal(size=N), Role.QUASI_IDENTIFIER),
        ("product_name", ["Thing a", "Thing b"] * (N // 2), Role.OTHER),
    ],
)
def test_other_roles_follow_from_name_and_look(name: str, values: object, role: Role) -> None:
    assert scanned(values, name).role is role


def test_what_singles_out_with_others_is_a_quasi_identifier() -> None:
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"p": rng.integers(0, 20, 300), "q": rng.integers(0, 20, 300), "r": rng.integers(0, 2, 300)})
    found = scan(Microdata.from_frame(frame), largest=2)
    assert found.combinations[0].columns == ("p", "q")
    assert found.named(Role.QUASI_IDENTIFIER) == ("p", "q")
    assert "single" in found.columns[0].reason
    assert found.columns[2].role is Role.OTHER


def test_columns_with_one_value_or_none() -> None:
    frame = pd.DataFrame({"empty": pd.Series([None] * 4, dtype=object), "same": ["a"] * 4, "age": [1, 2, 3, 3]})
    found = scan(Microdata.from_frame(frame, missing="category"))
    assert [facts.reason for facts in found.columns[:2]] == ["no values", "one value"]
    assert found.columns[0].missing == 4


def alone(frame: pd.DataFrame, names: list[str]) -> int:
    return int((frame.groupby(names, dropna=False).size() == 1).sum())


def plain(frame: pd.DataFrame, names: Sequence[str], largest: int) -> list[int]:
    """For each number of columns the most records that any of them single out."""
    best: list[int] = []
    for size in range(1, min(largest, len(names)) + 1):
        most = max(alone(frame, list(chosen)) for chosen in combinations(names, size))
        if most <= max(best, default=0):
            if best:
                break
            continue
        best.append(most)
        if most >= 0.95 * len(frame):
            break
    return best


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 40), st.integers(1, 6), st.integers(0, 10**6), st.integers(1, 5))
def test_combinations_are_the_best_there_are(records: int, columns: int, seed: int, largest: int) -> None:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({f"v{j}": rng.choice(list("wxyz"), records, p=[0.6, 0.2, 0.1, 0.1]) for j in range(columns)})
    found = scan(Microdata.from_frame(frame), largest=largest)
    assert [c.singled_out for c in found.combinations] == plain(frame, found.searched, largest)
    for combination in found.combinations:
        assert alone(frame, list(combination.columns)) == combination.singled_out
        sizes = frame.groupby(list(combination.columns)).size().to_numpy()
        pairs = records * (records - 1)
        assert combination.separation == pytest.approx(1 - (sizes * (sizes - 1)).sum() / pairs)


def test_sixty_columns_are_searched_as_far_as_the_work_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    frame = pd.DataFrame({f"c{j}": rng.integers(0, 12, 600) for j in range(60)})
    monkeypatch.setattr(roles, "_WORK", 600 * 2_000)
    found: Scan = scan(Microdata.from_frame(frame), largest=3)
    assert len(found.searched) == 22  # 1,794 combinations of up to three; of 23 there are 2,047
    assert sorted([*found.searched, *found.not_searched]) == sorted(frame.columns)
    assert [len(c.columns) for c in found.combinations] in ([2, 3], [3])


def test_progress_is_told_and_may_end_the_search() -> None:
    told: list[tuple[int, int]] = []
    frame = pd.DataFrame({f"c{j}": np.random.default_rng(j).integers(0, 3, 50) for j in range(5)})
    scan(Microdata.from_frame(frame), progress=lambda done, total: told.append((done, total)))
    assert told
    assert all(0 < done <= total for done, total in told)

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        scan(Microdata.from_frame(frame), progress=stop)


def test_largest_must_be_positive() -> None:
    with pytest.raises(SDCError, match="largest"):
        scan(Microdata.from_frame(pd.DataFrame({"a": [1, 2]})), largest=0)
