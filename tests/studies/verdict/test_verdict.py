from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest

from sdc_problems import Hierarchy, Microdata, SDCError, evaluators
from sdc_problems.evaluators.linkage import probabilistic
from sdc_problems.studies.verdict import Verdict, verdict
from sdc_problems.studies.verdict.leaves import Leaves, leaf_counts

N = 120


@pytest.fixture
def numbers(rng: np.random.Generator) -> pd.DataFrame:
    X = rng.normal(loc=100.0, scale=10.0, size=(N, 3)).round(3)
    return pd.DataFrame(X, columns=["income", "rent", "debt"]).assign(ill=rng.integers(0, 2, N).astype(str) + "!")


@pytest.fixture
def people(rng: np.random.Generator) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "age": rng.integers(20, 60, N),
            "town": rng.choice(["Olot", "Reus", "Vic", "Salt"], N),
            "job": rng.choice(["cook", "nurse", "clerk"], N),
            "illness": rng.choice(["flu", "cold", "none"], N, p=[0.2, 0.2, 0.6]),
        }
    )


def of_numbers(before: pd.DataFrame, after: pd.DataFrame) -> Verdict:
    data = Microdata.from_frame(before, quasi_identifiers=["income", "rent", "debt"], sensitive=["ill"])
    return verdict(data, after)


def of_people(before: pd.DataFrame, after: pd.DataFrame, quasi: tuple[str, ...] = ("age", "town", "job")) -> Verdict:
    return verdict(Microdata.from_frame(before, quasi_identifiers=quasi, sensitive=["illness"]), after)


def test_perturbed_numbers(numbers: pd.DataFrame, rng: np.random.Generator) -> None:
    after = numbers.copy()
    after[["income", "rent", "debt"]] += rng.normal(scale=2.0, size=(N, 3)).round(3)
    found = of_numbers(numbers, after)
    X, Y = numbers.iloc[:, :3].to_numpy(), after.iloc[:, :3].to_numpy()
    assert found.value("dbrl") == pytest.approx(evaluators.distance_linkage(X, Y))
    assert found.value("prl") == pytest.approx(evaluators.probabilistic_linkage(X, Y, kinds="numeric"))
    assert found.value("id_value_raw") == pytest.approx(evaluators.interval_disclosure_value(X, Y))
    assert found.value("il_statistics") == pytest.approx(evaluators.il_statistics(X, Y))
    assert found.value("pil") == pytest.approx(evaluators.pil(X, Y))
    score = evaluators.classical_score(X, Y)
    assert found.value("score_classical") == pytest.approx(score.score_classical)
    assert found.value("score_classical_max") == pytest.approx(max(score.il_statistics, score.dr_classical))
    assert found.weakest == int((evaluators.link_ties(X, Y) == 1).sum())
    assert {s.label for s in found.skipped} >= {"CTBIL, DBIL, EBIL", "GLM, entropy loss"}
    assert any("the linkages measure the risk" in note for note in found.notes)


def test_perturbed_categories(people: pd.DataFrame, rng: np.random.Generator) -> None:
    after = people.copy()
    moved = rng.random(N) < 0.3
    after.loc[moved, "town"] = rng.permutation(people.loc[moved, "town"])
    found = of_people(people, after, ("town", "job"))
    X = np.stack([people[c].factorize(sort=True)[0] for c in ("town", "job")], axis=1)
    Y = np.stack([after[c].factorize(sort=True)[0] for c in ("town", "job")], axis=1)
    assert found.value("ctbil") == pytest.approx(evaluators.ctbil(X, Y))
    assert found.value("dbil") == pytest.approx(evaluators.dbil(X, Y))
    assert found.value("ebil") == pytest.approx(evaluators.ebil(X, Y))
    il, dr = evaluators.il_categorical(X, Y), evaluators.dr_categorical(X, Y)
    assert found.value("score_mean") == pytest.approx((il + dr) / 2)
    z = people["illness"].factorize(sort=True)[0]
    moved_counts = np.mean([evaluators.bivariate_difference(X[:, j], Y[:, j], z) for j in range(2)])
    assert found.value("bivariate", of="illness") == pytest.approx(moved_counts)


def generalised(people: pd.DataFrame) -> pd.DataFrame:
    low = people.age // 20 * 20
    return people.assign(age=low.astype(str) + "-" + (low + 19).astype(str), town="*")


def test_generalised_labels(people: pd.DataFrame) -> None:
    after = generalised(people)
    found = of_people(people, after)
    groups = after.groupby(["age", "town", "job"])
    sizes = groups.size()
    assert found.value("k") == sizes.min()
    assert found.value("distinct_l", of="illness") == groups["illness"].nunique().min()
    assert found.value("average_group") == pytest.approx(sizes.mean())
    assert found.value("smallest_groups") == (sizes[sizes == sizes.min()]).sum()
    before = people.groupby(["age", "town", "job"]).size()
    k = next(m for m in found.measures if m.name == "k")
    assert k.before == before.min()
    # Nearest among generalized records is any record of the own group.
    assert found.value("dbrl") == pytest.approx(100 * len(sizes) / N)
    ages = np.sort(people.age.unique())
    leaves = people.age.map(lambda a: ((ages >= a // 20 * 20) & (ages <= a // 20 * 20 + 19)).sum())
    glm = (((leaves - 1) / (len(ages) - 1)).sum() + N) / (3 * N)
    assert found.value("glm_percent") is None  # no hierarchy is known
    assert found.value("glm_occurring_percent") == pytest.approx(100 * glm)
    assert found.value("glm_occurring") == pytest.approx(3 * N * glm)
    assert not {"k_wildcard", "dbrl_complete"} & {m.name for m in found.measures}  # a column of stars is one label
    assert found.value("id_value_raw") is None
    assert "generalized labels" in next(s.why for s in found.skipped if s.group.startswith("Scores"))


def test_glm_counts_the_leaves_of_the_hierarchies(people: pd.DataFrame) -> None:
    after = generalised(people)
    after.loc[3:9, "job"] = "*"
    after.loc[:2, ["age", "town", "job"]] = "*"
    ages = Hierarchy.intervals(range(120), [20])  # twice as many ages as occur
    published = {"age": set(after["age"]), "town": set(after["town"])}
    counts = leaf_counts({"age": ages, "town": Hierarchy.suppression(people["town"])}, published)
    assert counts["age"] == Leaves(120, {"20-39": 20, "40-59": 20})
    data = Microdata.from_frame(people, quasi_identifiers=["age", "town", "job"])
    found = verdict(data, after, leaf_counts=counts)
    total = (N - 3) * (19 / 119 + 1) + 7 + 3 * 3
    assert found.value("glm") == pytest.approx(total)
    assert found.value("glm_percent") == pytest.approx(100 * total / (3 * N))
    assert found.value("glm_occurring") is None
    assert "by the leaves of the hierarchies" in next(m for m in found.measures if m.name == "glm").sentence
    partly = verdict(data, after, leaf_counts={"town": counts["town"]})
    assert partly.value("glm") is None
    assert "no hierarchy of age is known" in next(m for m in partly.measures if m.name == "glm_occurring").sentence


def test_suppressed_records_are_counted_apart(people: pd.DataFrame) -> None:
    after = generalised(people)
    after.loc[:9, ["age", "town", "job"]] = "*"
    found = of_people(people, after)
    left = after.iloc[10:]
    assert found.n_suppressed == 10
    assert found.value("k") == left.groupby(["age", "town", "job"]).size().min()
    assert "10 records are suppressed" in found.risk
    assert found.value("cm", of="illness") == 10 + sum(
        len(g) - g["illness"].value_counts().max() for _, g in left.groupby(["age", "town", "job"])
    )


def test_untouched_files_lose_nothing_and_hide_nothing(people: pd.DataFrame) -> None:
    found = of_people(people, people)
    assert found.value("unchanged_cells") == 100.0
    assert found.value("pil") == found.value("il_categorical") == 0.0
    assert found.utility == "none that these measures detect"
    sizes = people.groupby(["age", "town", "job"]).size()
    assert found.weakest == (sizes == 1).sum()


def candidates(
    before: pd.DataFrame, after: pd.DataFrame, quasi: list[str], stands_for: dict[str, set[str]]
) -> list[int]:
    """Published records that each original record may be, cell by cell in plain Python."""
    original, published = before[quasi].astype(str).to_numpy(), after[quasi].astype(str).to_numpy()
    return [
        sum(all(b in ("*", a) or a in stands_for.get(b, ()) for a, b in zip(x, y, strict=True)) for y in published)
        for x in original
    ]


def starred(people: pd.DataFrame) -> pd.DataFrame:
    """One cell starred in each of three columns."""
    after = people.astype(object)
    for row, name in enumerate(["age", "town", "job"]):
        after.loc[row, name] = "*"
    return after


def test_two_starred_records_do_not_hide_all_others(rng: np.random.Generator) -> None:
    n = 400
    before = pd.DataFrame({"age": rng.permutation(n), "town": ["Olot", "Vic"] * 200})
    after = before.astype(object)
    after.loc[:1, "age"] = "*"  # one of each town, which might be anybody
    found = of_people_like(before, after, ["age", "town"])
    assert found.weakest == 2  # the starred ones
    assert before[2:].drop_duplicates().shape[0] == 398 == found.value("certain_complete")
    assert "2 of them for certain; 398 for certain if the intruder ignores starred records" in found.risk


def test_few_stars_hide_nobody(rng: np.random.Generator) -> None:
    """400 records that four quasi-identifiers tell apart: three stars may not take the columns out of the linkage."""
    n = 400
    before = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n), "zip": rng.integers(100, 140, n), "town": rng.choice(["Olot", "Vic"], n),
            "job": rng.choice(list("abcdefghij"), n),
        }
    )  # fmt: skip
    quasi = list(before)
    untouched, hidden = of_people_like(before, before, quasi), of_people_like(before, starred(before), quasi)
    assert untouched.weakest > 390
    assert hidden.weakest >= untouched.weakest - 6
    assert hidden.value("dbrl") > 97.0  # type: ignore[operator]
    assert "for certain" in hidden.risk
    assert f"{hidden.weakest:,} of them for certain" in hidden.risk
    expected = candidates(before, starred(before), quasi, {})
    assert hidden.weakest == expected.count(1)
    assert hidden.value("dbrl") == pytest.approx(100 * sum(1 / c for c in expected) / n)
    assert "3 of 1,600 cells are starred" in hidden.utility
    assert "nothing" not in hidden.utility
    assert hidden.value("entropy_loss_percent") > 0.0  # type: ignore[operator]
    assert {fate for *_, fate in hidden.columns} == {"starred", "unchanged"}


def of_people_like(before: pd.DataFrame, after: pd.DataFrame, quasi: list[str]) -> Verdict:
    return verdict(Microdata.from_frame(before, quasi_identifiers=quasi), after)


def test_k_counts_a_star_as_a_value_and_k_wildcard_as_any(people: pd.DataFrame) -> None:
    quasi = ["town", "job"]
    after = people.astype(object)
    after.loc[0, "town"] = "*"
    found = of_people_like(people, after, quasi)
    assert found.value("k") == after.groupby(quasi).size().min() == 1
    cells = after[quasi].to_numpy()
    fits = [sum(all("*" in (a, b) or a == b for a, b in zip(x, y, strict=True)) for y in cells) for x in cells]
    assert found.value("k_wildcard") == min(fits)
    assert of_people_like(people, people, quasi).value("k_wildcard") is None  # k says the same


def test_numbers_with_stars_are_measured_where_they_are_shown(numbers: pd.DataFrame, rng: np.random.Generator) -> None:
    after = numbers.copy().astype(object)
    after["rent"] = (numbers["rent"] + rng.normal(size=N)).round(3)
    after.loc[:4, "income"] = "*"
    found = of_numbers(numbers, after)
    X, Y = numbers.iloc[5:, :3].to_numpy(float), after.iloc[5:, :3].to_numpy(float)
    assert found.value("il_statistics") == pytest.approx(evaluators.il_statistics(X, Y))
    assert found.value("id_value_raw") == pytest.approx(evaluators.interval_disclosure_value(X, Y))
    assert "(of the 115 records without a star there)" in next(m for m in found.measures if m.name == "pil").sentence
    assert "stars have no distance" in next(s.why for s in found.skipped if s.group.startswith("Scores"))


def test_stars_that_are_near_to_everybody_do_not_hide_perturbed_records(numbers: pd.DataFrame) -> None:
    """A record with a single number left is nearer to most people than their own, noisy, record."""
    after = numbers.assign(**(numbers[["income", "rent", "debt"]] + 0.7).round(3)).astype(object)
    after.loc[:39, ["rent", "debt"]] = "*"
    data = Microdata.from_frame(numbers, quasi_identifiers=["income", "rent", "debt"])
    found = verdict(data, after, linkage_limit=1)
    complete = slice(40, None)
    alone = evaluators.link_ties(numbers.iloc[complete, :3].to_numpy(), after.iloc[complete, :3].to_numpy(float))
    assert found.value("dbrl_complete") == pytest.approx(100 * (1 / alone[alone > 0]).sum() / N)
    assert found.weakest >= (alone == 1).sum()
    assert found.value("dbrl") < found.value("dbrl_complete") / 2  # type: ignore[operator]
    assert f"re-identifies about {(1 / alone[alone > 0]).sum():.0f} of 120" in found.risk


def test_local_recoding_stays_in_the_linkage(people: pd.DataFrame) -> None:
    after = people.astype(object)
    after.loc[::2, "town"] = "Catalonia"
    after.loc[::2, "age"] = (people["age"] // 10 * 10).map(lambda low: f"{low}-{low + 9}")[::2]
    quasi = ["age", "town", "job"]
    found = of_people(people, after, tuple(quasi))
    stands_for = {"Catalonia": set(people["town"][::2])}
    stands_for |= {f"{low}-{low + 9}": {str(age) for age in range(low, low + 10)} for low in range(0, 100, 10)}
    expected = candidates(people, after, quasi, stands_for)
    assert found.value("dbrl") == pytest.approx(100 * sum(1 / c for c in expected) / N)
    assert found.weakest == expected.count(1)
    assert not any("linkage does without" in note for note in found.notes)
    alone = of_people(people, after.assign(age=people["age"]), ("town",))
    assert alone.value("dbrl") is not None
    assert "re-identifies about" in alone.risk


def test_labels_of_values_here_and_there_are_counted_all_the_same(
    people: pd.DataFrame, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    after = people.astype(object)
    after["town"] = "area " + pd.Series(rng.integers(0, 4, N).astype(str))  # each for towns all over the place
    after.loc[rng.random(N) < 0.1, "job"] = "*"
    usual = of_people(people, after)
    monkeypatch.setattr("sdc_problems.evaluators.linkage.candidates._MOST_BOXES", 1)
    assert of_people(people, after) == usual


def test_many_records_go_without_the_probabilistic_linkage(people: pd.DataFrame) -> None:
    data = Microdata.from_frame(people, quasi_identifiers=["town", "job"])
    different = len(people[["town", "job"]].drop_duplicates())
    assert verdict(data, people, linkage_limit=different).value("prl") is not None, "fewer differ than there are"
    found = verdict(data, people, linkage_limit=different - 1)
    assert found.value("prl") is None
    why = next(s.why for s in found.skipped if s.label == "probabilistic linkage")
    assert why.startswith(f"there are more than {different - 1} different records ({different})")
    assert "no sensitive attribute was named" in {s.why for s in found.skipped}


@pytest.mark.parametrize("kind", ["numbers", "categories"])
def test_the_limit_of_linkage_is_on_pairs_in_the_scores_too(numbers: pd.DataFrame, kind: str) -> None:
    """More different originals than the limit, but few different records that they are compared with."""
    if kind == "numbers":
        frame, name = numbers[["income"]], "income"
        after = frame.copy()
        after["income"] = after["income"].rank().floordiv(30).mul(10.0)
    else:
        frame = pd.DataFrame({"town": [f"town {i}" for i in range(N)]})
        after, name = frame.copy(), "town"
        after["town"] = np.repeat(frame["town"].to_numpy()[:4], N // 4)
    found = verdict(Microdata.from_frame(frame, quasi_identifiers=[name]), after, linkage_limit=N // 2)
    assert not {"score", "probabilistic linkage"} & {s.label for s in found.skipped}
    assert found.value("prl") is not None
    assert found.value("score_classical" if kind == "numbers" else "score_mean") is not None


def test_roles_can_be_given_or_are_those_of_the_table(people: pd.DataFrame) -> None:
    declared = of_people(people, people)
    data = Microdata.from_frame(people)
    assert verdict(data, people, quasi_identifiers=["age", "town", "job"], sensitive=["illness"]) == declared
    with pytest.raises(SDCError, match="name at least one quasi-identifier"):
        verdict(data, people)


def test_everything_lies_in_its_range(people: pd.DataFrame, numbers: pd.DataFrame, rng: np.random.Generator) -> None:
    noisy = numbers.copy()
    noisy["rent"] = rng.permutation(noisy["rent"])
    for found in (of_people(people, generalised(people)), of_people(people, people), of_numbers(numbers, noisy)):
        for m in found.measures:
            assert math.isfinite(m.value)
            assert m.low - 1e-9 <= m.value <= (math.inf if m.high is None else m.high + 1e-9), m.name
            assert m.better in ("lower", "higher")
            assert m.sentence[0].isupper() or m.sentence[0].isdigit()
            assert m.sentence.endswith(".")


def test_the_payload_is_versioned_plain_json_without_cells(people: pd.DataFrame) -> None:
    found = of_people(people, generalised(people))
    text = json.dumps(found.payload(), allow_nan=False)
    payload = json.loads(text)
    assert payload["schema"] == "sdc.verdict/2"
    assert {m["name"] for m in payload["measures"]} >= {"k", "distinct_l", "t", "dbrl", "glm_occurring_percent"}
    assert all(s["why"] for s in payload["not_applicable"])
    for cell in ("Olot", "nurse", "20-39", "none"):
        assert f'"{cell}"' not in text
        assert f" {cell} " not in text.replace("from none", "")


def test_exchanged_values_are_a_loss_though_every_column_is_as_it_was() -> None:
    frame = pd.DataFrame({"age": [20, 30, 40, 50, 60, 70], "ill": list("abcabc")})
    data = Microdata.from_frame(frame, quasi_identifiers=["age"], sensitive=["ill"])
    swapped = frame.assign(age=[30, 20, 50, 40, 60, 70])
    found = verdict(data, swapped, same_rows=True)
    assert found.value("pil") == 0
    assert found.utility == "66.7 % of the cells of the quasi-identifiers have other values"
    assert verdict(data, frame).utility == "none that these measures detect"
    starred = frame.astype(object).copy()
    starred.loc[0, "age"] = "*"
    assert "1 of 6 records are suppressed (16.7 %)" in verdict(data, starred).utility


def test_the_probabilistic_linkage_is_solved_once(
    numbers: pd.DataFrame, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    solved = []
    solve = probabilistic.link_rows
    monkeypatch.setattr(probabilistic, "link_rows", lambda *args, **more: solved.append(1) or solve(*args, **more))
    after = numbers.copy()
    after[["income", "rent", "debt"]] += rng.normal(size=(N, 3)).round(3)
    found = of_numbers(numbers, after)
    assert {"prl", "score_classical"} <= {measure.name for measure in found.measures}
    assert len(solved) == 1  # the score asks for it as well
