"""Columns of a released file: none leaves unseen, and none that looks like an identifier leaves unasked."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sdc_problems import Hierarchy, Microdata, PBGProblem, SDCError, protect
from sdc_problems.microdata import Role
from sdc_problems.roles import scan
from sdc_problems.studies.release._columns import Columns, SingledOut, columns_that_leave, sentences, singled_out
from sdc_problems.studies.web.payload import Source, overview

Sdc = Callable[..., Any]
N = 60


@pytest.fixture
def frame() -> pd.DataFrame:
    rng = np.random.default_rng(4)
    return pd.DataFrame(
        {
            "patient": [f"p{i}" for i in range(N)],
            "age": rng.integers(20, 60, N),
            "town": rng.choice(["Olot", "Reus", "Vic"], N),
            "born": rng.integers(1, 60, N),
            "floor": rng.integers(0, 4, N),
            "ill": rng.choice(["yes", "no"], N),
        }
    )


def alone(frame: pd.DataFrame, names: list[str]) -> int:
    """Records that are the only ones of their kind, by plain pandas."""
    return int((frame.groupby(names)[names[0]].transform("size") == 1).sum())


def study(tmp_path: Path, frame: pd.DataFrame, data: str = "") -> Path:
    frame.to_csv(tmp_path / "mine.csv", index=False)
    text = f'[data]\nfile = "mine.csv"\nquasi_identifiers = ["age", "town"]\nsensitive = ["ill"]\n{data}\n'
    text += "[data.hierarchies]\nage = {intervals = [5, 10, 20]}\ntown = {suppression = true}\n"
    text += '[problem]\ntask = "pbg"\n[algorithm]\nname = "NSGA2"\npop_size = 6\n[termination]\ngenerations = 2\n'
    (tmp_path / "study.toml").write_text(text)
    return tmp_path / "study.toml"


def test_a_column_without_a_role_that_is_nearly_unique_is_refused(frame: pd.DataFrame) -> None:
    data = Microdata.from_frame(frame, quasi_identifiers=["age", "town"], sensitive=["ill"])
    with pytest.raises(SDCError, match="column 'patient' has no role and 60 of its 60 values occur once") as error:
        columns_that_leave(data, data.quasi_identifiers)
    assert "p17" not in str(error.value)
    assert columns_that_leave(data, data.quasi_identifiers, ["patient"]).unchanged == ("patient",)


@pytest.mark.parametrize(("once", "refused"), [(30, True), (29, False)])
def test_the_limit_is_half_of_the_values_that_are_there(once: int, refused: bool) -> None:
    values: list[Any] = [f"x{i}" for i in range(once)] + ["y"] * (60 - once) + [None] * 20
    frame = pd.DataFrame({"age": np.arange(80) % 7, "key": values})
    data = Microdata.from_frame(frame, quasi_identifiers=["age"], missing="category")
    if refused:
        with pytest.raises(SDCError, match=f"{once} of its 60 values occur once"):
            columns_that_leave(data, ["age"])
    else:
        assert columns_that_leave(data, ["age"]).unchanged == ("key",)


def test_protect_and_scan_agree_on_what_names_a_person(tmp_path: Path, sdc: Sdc) -> None:
    rng = np.random.default_rng(8)
    people = [
        f"{first} {last}"
        for first in ("Ute", "Max", "Eva", "Jan")
        for last in ("Lange", "Roth", "Abel", "Wolf", "Beck", "Horn")
    ]
    days = pd.Timestamp("1930-01-01") + pd.to_timedelta(rng.integers(0, 600, 400), unit="D")
    frame = pd.DataFrame(
        {"name": rng.choice(people, 400), "born": days.strftime("%d.%m.%Y"), "age": rng.integers(20, 60, 400)}
    )
    frame.to_csv(tmp_path / "in.csv", index=False)
    assert set(scan(Microdata.from_frame(frame)).named(Role.IDENTIFIER)) == {"name"}  # of 24 names none occurs once
    given = ["--k", 5, "--columns", "age", "--out", tmp_path / "out.csv"]
    error = sdc("protect", tmp_path / "in.csv", *given, code=2).err
    assert "column 'name' has no role and its name says that it names persons" in error
    assert "column 'born' has no role and" in error
    assert "--identifiers name,born" in error
    assert not (tmp_path / "out.csv").exists()


def test_columns_that_nobody_asked_for_are_warned_of(frame: pd.DataFrame, tmp_path: Path, sdc: Sdc) -> None:
    frame.to_csv(tmp_path / "in.csv", index=False)
    given = ["--k", 5, "--columns", "age,town", "--sensitive", "ill", "--identifiers", "patient"]
    found = sdc("protect", tmp_path / "in.csv", *given, "--out", tmp_path / "out.csv")
    count = alone(pd.read_csv(tmp_path / "out.csv"), ["born", "floor"])
    assert f"published unchanged (born, floor): in them, {count} of 60 records are unique" in found.err
    assert "--keep" in found.err
    asked = sdc("protect", tmp_path / "in.csv", *given, "--keep", "born,floor", "--out", tmp_path / "b.csv")
    assert "unchanged" not in asked.err


def test_keep_is_the_complete_list_of_unchanged_columns(frame: pd.DataFrame) -> None:
    roles = {"quasi_identifiers": ["age", "town"], "sensitive": ["ill"], "identifiers": ["patient"]}
    data = Microdata.from_frame(frame, **roles)
    everything = columns_that_leave(data, data.quasi_identifiers)
    assert (everything.unchanged, everything.left_out, everything.sensitive) == (("born", "floor"), (), ("ill",))
    some = columns_that_leave(data, data.quasi_identifiers, ["floor"])
    assert (some.unchanged, some.left_out, some.identifiers) == (("floor",), ("born",), ("patient",))
    assert list(some.leaving(frame).columns) == ["age", "town", "floor", "ill"]
    for name, says in (
        ("patient", "a direct identifier, which is never released: remove it from keep"),
        ("age", "is protected"),
        ("ill", "a sensitive column"),
        ("flor", "did you mean 'floor'"),
    ):
        with pytest.raises(SDCError, match=says):
            columns_that_leave(data, data.quasi_identifiers, [name])


def test_a_quasi_identifier_that_is_not_protected_counts_as_unchanged(frame: pd.DataFrame) -> None:
    data = Microdata.from_frame(frame, quasi_identifiers=["age", "town"], identifiers=["patient"])
    columns = columns_that_leave(data, ["town"])
    assert columns.unchanged == ("age", "born", "floor", "ill")
    found = singled_out(frame.astype(str), columns)
    assert found.unchanged == alone(frame, list(columns.unchanged))
    assert found.together == alone(frame, ["town", *columns.unchanged])


def test_protect_says_what_leaves_unchanged_and_whom_it_singles_out(
    frame: pd.DataFrame, tmp_path: Path, sdc: Sdc
) -> None:
    frame.to_csv(tmp_path / "in.csv", index=False)
    given = ["--k", 5, "--columns", "age,town", "--sensitive", "ill", "--out", tmp_path / "out.csv"]
    assert "'patient' has no role" in sdc("protect", tmp_path / "in.csv", *given, code=2).err
    assert not (tmp_path / "out.csv").exists()
    said = " ".join(sdc("protect", tmp_path / "in.csv", *given, "--identifiers", "patient").out.split())
    after = pd.read_csv(tmp_path / "out.csv")
    counts = alone(after, ["born", "floor"]), alone(after, ["age", "town", "born", "floor"])
    everything = alone(after, list(after.columns))
    assert counts[0] > 0
    assert f"Unchanged: born, floor. In these columns, {counts[0]} of 60 records are unique;" in said
    assert f"together with age, town, {counts[1]} are." in said
    assert f"Sensitive, unchanged: ill. In all columns of the file together, {everything} are unique." in said
    assert "Identifiers, left out: patient." in said
    certificate = json.loads((tmp_path / "out.csv.certificate.json").read_text())
    assert certificate["columns"]["left_as_they_were"] == ["born", "floor"]
    assert certificate["columns"]["records_singled_out"] == {
        "by_columns_left_as_they_were": counts[0], "together_with_protected": counts[1], "by_all_columns": everything,
        "of": 60, "left_out_for_missing_values": 0,
    }  # fmt: skip
    sdc("protect", tmp_path / "in.csv", *given, "--overwrite", "--keep", "floor")
    assert list(pd.read_csv(tmp_path / "out.csv").columns) == ["age", "town", "floor", "ill"]


def test_the_headline_knows_the_columns_without_a_role(frame: pd.DataFrame, tmp_path: Path, sdc: Sdc) -> None:
    """No headline stands on the protected columns alone where others leave with them: counted by plain pandas."""
    holes = frame.drop(columns="patient").astype({"born": "Int64"})
    holes.loc[10:19, "born"] = pd.NA
    holes.to_csv(tmp_path / "in.csv", index=False)
    given = ["--columns", "age,town", "--sensitive", "ill", "--method", "mdav", "--k", 5]
    said = " ".join(sdc("protect", tmp_path / "in.csv", *given, "--out", tmp_path / "a.csv").out.split())
    after = pd.read_csv(tmp_path / "a.csv", dtype=str, keep_default_na=False)
    together, single = alone(after, ["age", "town", "born", "floor"]), alone(after, ["born", "floor"])
    assert together > single > 0
    headline = (
        f"{together} of 60 records ({100 * together / 60:.3g} %) are unique for an intruder who also knows born, floor"
    )
    assert f"{headline}. Loss:" in said
    assert "0 of 60 are found for certain by the quasi-identifiers." in said
    pair = [tmp_path / "in.csv", tmp_path / "a.csv", "--quasi-identifiers", "age,town", "--sensitive", "ill"]
    for extra in ((), ("--rows", tmp_path / "a.csv.rows.csv")):
        found = json.loads(sdc("evaluate", *pair, *extra, "--json").out)
        assert found["risk"].endswith(headline)
        measure = next(m for m in found["measures"] if m["name"] == "alone_besides")
        assert (measure["value"], measure["unit"]) == (together, "records")
        assert measure["sentence"].startswith(f"{single} of 60 records")
    (tmp_path / "a.csv.rows.csv").unlink()  # nobody can pair the rows; what the file gives away is counted all the same
    assert json.loads(sdc("evaluate", *pair, "--json").out)["risk"].endswith(headline)
    one = json.loads(sdc("evaluate", tmp_path / "a.csv", "--quasi-identifiers", "age,town", "--json").out)
    everything = alone(after, list(after.columns))
    assert one["risk"].endswith(
        f"{everything} of 60 records ({100 * everything / 60:.3g} %) are unique"
        " for an intruder who also knows born, floor, ill"
    )
    sdc("protect", tmp_path / "in.csv", *given, "--keep", "", "--out", tmp_path / "b.csv")
    kept = [tmp_path / "in.csv", tmp_path / "b.csv", *pair[2:], "--keep", "", "--json"]
    assert "are unique for an intruder who also knows" not in json.loads(sdc("evaluate", *kept).out)["risk"]


def test_a_release_says_it_too(frame: pd.DataFrame, tmp_path: Path, sdc: Sdc) -> None:
    said = sdc("run", study(tmp_path, frame), "--out", tmp_path / "run", "--no-pictures").err
    assert "with this study, no solution can be released: column 'patient' has no role" in said
    given = ["release", tmp_path / "run", "--solution", "baseline-Datafly, k = 5", "--out", tmp_path / "out.csv"]
    assert "'patient' has no role" in sdc(*given, code=2).err
    said = " ".join(sdc(*given, "--keep", "born").out.split())
    after = pd.read_csv(tmp_path / "out.csv")
    assert list(after.columns) == ["age", "town", "born", "ill"]
    assert f"Unchanged: born. In these columns, {alone(after, ['born'])} of {len(after)} records" in said
    assert "Left out, because without a role and not kept: patient, floor." in said
    certificate = json.loads((tmp_path / "out.csv.certificate.json").read_text())
    assert certificate["columns"]["left_out"] == ["patient", "floor"]
    assert "--keep born" in certificate["reproduce"][1]
    assert certificate["measured_in_the_file"]["schema"] == "sdc.verdict/2"


def test_a_study_names_what_leaves(frame: pd.DataFrame, tmp_path: Path, sdc: Sdc) -> None:
    said = sdc("run", study(tmp_path, frame, 'keep = ["floor"]'), "--out", tmp_path / "run", "--no-pictures").err
    assert "no solution can be released" not in said
    sdc("release", tmp_path / "run", "--solution", "baseline-Datafly, k = 5", "--out", tmp_path / "out.csv")
    assert list(pd.read_csv(tmp_path / "out.csv").columns) == ["age", "town", "floor", "ill"]


def test_records_dropped_for_gaps_stand_in_the_first_line(frame: pd.DataFrame, tmp_path: Path, sdc: Sdc) -> None:
    holes = frame.drop(columns="patient").astype({"age": "Int64", "born": "Int64"})
    holes.loc[:5, "age"] = pd.NA
    holes.loc[10:19, "born"] = pd.NA  # no role: it costs no record
    holes.to_csv(tmp_path / "in.csv", index=False)
    given = ["--k", 4, "--columns", "age,town", "--sensitive", "ill", "--missing", "drop"]
    said = sdc("protect", tmp_path / "in.csv", *given, "--out", tmp_path / "a.csv").out
    first = "6 of 60 records are left out: they have missing values."
    assert said.startswith(first)
    after = pd.read_csv(tmp_path / "a.csv")
    assert len(after) == 54
    assert after["born"].isna().sum() == 10
    assert f"of {len(after)} records are unique; together with" in " ".join(said.split())
    content = json.loads((tmp_path / "a.csv.certificate.json").read_text())
    assert (content["input"]["records"], content["input"]["records_dropped_for_missing_values"]) == (54, 6)
    ran = sdc("run", study(tmp_path, holes, 'missing = "drop"'), "--out", tmp_path / "run", "--no-pictures").out
    assert ran.startswith(first)
    assert first in sdc("status", tmp_path / "run").out.splitlines()
    assert json.loads(sdc("status", tmp_path / "run", "--json").out)["data"]["dropped"] == 6
    ident = "baseline-Datafly, k = 5"
    said = sdc("release", tmp_path / "run", "--solution", ident, "--out", tmp_path / "b.csv").out
    assert said.startswith(first)
    content = json.loads((tmp_path / "b.csv.certificate.json").read_text())
    assert content["what_was_done"][0] == first
    assert content["input"]["records_dropped_for_missing_values"] == 6
    measured = content["measured_in_the_file"]
    assert measured["schema"] == "sdc.verdict/2"
    assert measured["records_dropped_for_missing_values"] == 6
    assert "6 of 60 records were left out because of missing values and are not counted" in measured["risk"]
    source = Source.open(tmp_path / "run")
    detail = source.detail(ident)
    assert detail["facts"][0]["sentence"].startswith("of 60 in the original, of which 6 are left out")
    assert overview([source])["runs"][0]["kept"] == "54 records kept of 60"
    assert detail["sentences"][0] == first
    evaluated = [
        tmp_path / "in.csv",
        tmp_path / "a.csv",
        "--quasi-identifiers",
        "age,town",
        "--sensitive",
        "ill",
        "--missing",
        "drop",
    ]
    shown = sdc("evaluate", *evaluated).out
    verdict = json.loads(sdc("evaluate", *evaluated, "--json").out)
    assert (verdict["records"], verdict["records_of"]) == (54, 60)
    for text in (verdict, measured):
        assert re.search(r"re-identifies about \S+ of 54 records kept of 60 \(\S+ %; \S+ % of all 60\)", text["risk"])
        assert "6 of 60 records were left out because of missing values (10 %)" in text["utility"]
        says = {m["name"]: m["sentence"] for m in text["measures"]}
        assert all(re.search(r"\b60\b", s) for s in says.values() if "%" in s), says
        assert any(m["unit"] == "%" for m in text["measures"])
    glm = next(m for m in measured["measures"] if m["name"] == "glm_percent")
    lost = 100 * (54 * glm["value"] / 100 + 6) / 60
    assert f"{lost:.3g} % of all, if records left out" in glm["sentence"]
    # Everywhere: no sentence says a share without the records that there were.
    lines = [*shown.splitlines(), *said.splitlines(), *ran.splitlines(), *content["what_was_done"]]
    lines += detail["sentences"]
    lines += [*detail["leaving"], *(f"{f['value']} {f['unit']} {f['sentence']}" for f in detail["facts"])]
    for line in " ".join(lines).split(". "):
        if re.search(r"\d %|\d records", line) and "After each value" not in line:
            assert re.search(r"\b60\b", line), line
    for measure in content["measures"].values():
        assert measure["measured_on"] == "54 records kept of 60"
    assert content["columns"]["records_singled_out"]["left_out_for_missing_values"] == 6


def test_shares_are_of_the_records_in_the_file() -> None:
    towns = pd.DataFrame({"town": ["Vic"] * 50 + ["Olot"] * 4 + [None] * 6})
    data = Microdata.from_frame(towns, quasi_identifiers=["town"], missing="drop")
    hierarchies = {"town": Hierarchy.suppression(data.categories("town"))}
    said = " ".join(PBGProblem(data, hierarchies, max_suppression=0.1).describe([0, 5]))
    assert "4 of 60 records (6.7 %) are suppressed" in said


def test_python_protects_with_and_without_a_file(frame: pd.DataFrame, tmp_path: Path, in_order: Any) -> None:
    roles = {"quasi_identifiers": ["age", "town"], "sensitive": ["ill"], "identifiers": ["patient"]}
    data = Microdata.from_frame(frame, **roles)
    done = protect(data, method="mdav", k=5)
    assert (done.places, done.verdict, done.certificate) == (None, None, None)
    assert {g.name: g.found for g in done.guarantees}["k"] == done.frame.groupby(["age", "town"]).size().min() >= 5
    assert list(done.frame.columns) == ["age", "town", "born", "floor", "ill"]
    assert list(tmp_path.iterdir()) == []
    written = protect(data, tmp_path / "out.csv", method="mdav", k=5)
    pd.testing.assert_frame_equal(in_order(tmp_path / "out.csv"), done.frame, check_dtype=False)
    pd.testing.assert_frame_equal(written.frame, done.frame)
    assert written.places is not None
    assert written.places.mapping.is_file()
    assert written.rows == written.places.rows
    for options, says in (
        ({"method": "mdva", "k": 3}, "did you mean 'mdav'"),
        ({"method": "mdav", "k": 3, "gama": 2}, "has no option 'gama'"),
        ({"method": "mdav"}, "needs k"),
        ({"method": "mdav", "k": 3, "suppressed": "hide"}, "suppressed must be"),
    ):
        with pytest.raises(SDCError, match=says):
            protect(data, **options)


def test_what_promises_no_k_says_so_and_is_drawn_secretly(frame: pd.DataFrame, tmp_path: Path, sdc: Sdc) -> None:
    frame.to_csv(tmp_path / "in.csv", index=False)
    given = ["protect", tmp_path / "in.csv", "--method", "rank-swap", "--percent", 10, "--columns", "age"]
    given += ["--identifiers", "patient"]
    said = sdc(*given, "--out", tmp_path / "a.csv").out
    assert "guarantee: promises no k" in said
    sdc(*given, "--out", tmp_path / "b.csv")
    assert (tmp_path / "a.csv").read_bytes() != (tmp_path / "b.csv").read_bytes(), "the seed is a secret, not 1"
    before = (tmp_path / "a.csv").read_bytes()
    sdc(*given, "--out", tmp_path / "a.csv", "--overwrite")
    assert (tmp_path / "a.csv").read_bytes() == before, "replacing a file does not draw it anew in silence"
    seed = pd.read_csv(tmp_path / "a.csv.mapping.csv", dtype=str)["released"].iloc[0]
    sdc(*given, "--out", tmp_path / "c.csv", "--seed", seed)
    assert (tmp_path / "c.csv").read_bytes() == before


def test_few_records_are_not_counted_out_on_a_page() -> None:
    columns = Columns(("age",), (), ("zip", "sex"), (), ())
    assert sentences(columns, SingledOut(4, 17, 20, 90), least=5) == (
        "Unchanged: zip, sex. In these columns, fewer than 5 of 90 records are unique; together with age, 17 are.",
    )
    assert "4 of 90 records are unique" in sentences(columns, SingledOut(4, 17, 20, 90))[0]
    assert "0 of 90 records are unique" in sentences(columns, SingledOut(0, 0, 0, 90), least=5)[0]
    private = Columns(("age",), ("ill",), (), (), ())
    assert sentences(private, SingledOut(0, 9, 31, 90), least=5) == (
        "Sensitive, unchanged: ill. In all columns of the file together, 31 are unique.",
    )
    assert sentences(columns, None) == ("Unchanged: zip, sex.",)


def test_groups_of_labels_may_outnumber_the_labels(tmp_path: Path, sdc: Sdc) -> None:
    """Local recoding cuts each region of the table in its own way: its sets of labels overlap."""
    rng = np.random.default_rng(4)
    table = pd.DataFrame({"age": rng.integers(18, 80, 900), "job": rng.choice(list("abcdefghijklmnopq"), 900)})
    table["pay"] = rng.integers(0, 50, 900)
    table.to_csv(tmp_path / "in.csv", index=False)
    given = ["--method", "mondrian", "--k", 5, "--columns", "age,job,pay", "--out", tmp_path / "out.csv"]
    sdc("protect", tmp_path / "in.csv", *given, "--keep-order", "--no-rows")
    after = pd.read_csv(tmp_path / "out.csv", dtype=str)
    assert after["job"].nunique() > 2 * table["job"].nunique()
    assert after.value_counts().min() >= 5
    certificate = json.loads((tmp_path / "out.csv.certificate.json").read_text())
    assert certificate["measured_in_the_file"]["weakest_records"] == 0
    pair = ["evaluate", tmp_path / "in.csv", tmp_path / "out.csv", "--quasi-identifiers", "age,job,pay"]
    assert "k (smallest group)" in sdc(*pair).out  # each label hides several records
    strange = after.assign(job=[f"person {i}" for i in range(len(after))])
    strange.to_csv(tmp_path / "strange.csv", index=False)
    wrong = [*pair[:2], tmp_path / "strange.csv", *pair[3:]]
    assert "(--same-rows says that it is)" in sdc(*wrong, code=2).err
    sdc("protect", tmp_path / "in.csv", *given, "--overwrite")  # shuffled: its rows file says which rows correspond
    assert "k (smallest group)" in sdc(*pair).out
