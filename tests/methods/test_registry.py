"""The method registry: what each method says of itself is what its function does, and other packages add their own."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sdc_problems import Hierarchy, MicroaggregationProblem, Microdata, SDCError
from sdc_problems.methods import Method, Recoded, available, find
from sdc_problems.methods._apply import apply, recoded
from sdc_problems.methods.registry import FORMS, Partitioned, built_in
from sdc_problems.studies.release import _protect, protect

METHODS = list(built_in().values())
N = 12
CODES = {"numeric": ["age", "wage"], "ordinal": ["school"], "nominal": ["town"]}


@pytest.fixture
def data() -> Microdata:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({
        "age": rng.integers(18, 80, N),
        "wage": rng.normal(30, 5, N).round(1),
        "school": rng.choice(["low", "mid", "high"], N),
        "town": rng.choice(["Olot", "Reus"], N),
    })  # fmt: skip
    return Microdata.from_frame(frame, quasi_identifiers=list(frame.columns), orders={"school": ["low", "mid", "high"]})


def hierarchies(data: Microdata) -> dict[str, Hierarchy]:
    return {name: Hierarchy.suppression(data.categories(name)) for name in data.names}


def outcome(method: Method, data: Microdata, columns: list[str], **options: object) -> np.ndarray | Recoded:
    options = {**method.example, **options}
    if method.takes("epochs"):
        options["epochs"] = 20
    if method.takes("moves"):
        options["moves"] = 1000
    roles = data.with_roles(quasi_identifiers=columns)
    return apply(
        method,
        roles,
        k=3 if method.takes_k else None,
        hierarchies={name: hierarchies(data)[name] for name in columns},
        rng=np.random.default_rng(1),
        problem=lambda: MicroaggregationProblem(roles, 3),
        options=options,
    )


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
def test_a_method_returns_its_form_for_every_kind_that_it_accepts(method: Method, data: Microdata) -> None:
    columns = [name for kind in method.kinds for name in CODES[kind]]
    columns = columns[:1] if method.one_column else columns
    columns = [name for value in method.example.values() if isinstance(value, dict) for name in value] or columns
    found = outcome(method, data, columns)
    new = recoded(method, data, found, columns=columns)
    assert new.sentences, "a person reads what was done"
    assert set(new.columns) <= set(columns)
    assert all(len(cells) == N for cells in new.columns.values())
    if method.form == "partition":
        assert np.bincount(found.labels if isinstance(found, Partitioned) else found).min() >= 3
        assert method.guarantee == "k"
    elif method.form == "cells":
        assert found.shape == (N, len(columns))
    else:
        assert set(found.columns) <= set(columns)


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
def test_what_a_method_says_of_itself(method: Method) -> None:
    assert method.title
    assert method.formula
    assert method.use.endswith(".")
    assert method.avoid.endswith(".")
    assert method.form in FORMS
    assert all(option.help for option in method.options), "every option is documented"
    assert not method.signature.keys() & method.fixed.keys() - set(method.signature)
    assert method.takes_k or method.guarantee is None
    assert method.random == ("rng" in method.signature)


def by_hand(name: str, data: Microdata, columns: list[str], **options: object) -> dict[str, list]:
    method = find(name)
    roles = data.with_roles(quasi_identifiers=columns)
    rng = np.random.default_rng(1)
    k, within = options.pop("k", None), options.pop("within", ())
    found = apply(method, roles, rng=rng, hierarchies=hierarchies(data), k=k, within=within, options=options)
    return {column: cells.tolist() for column, cells in recoded(method, roles, found).columns.items()}


@pytest.fixture
def small() -> Microdata:
    frame = pd.DataFrame({
        "age": [20, 30, 40, 95],
        "school": ["low", "mid", "high", "high"],
        "town": ["Olot", "Vic", "Vic", "Reus"],
    })  # fmt: skip
    return Microdata.from_frame(frame, quasi_identifiers=list(frame.columns), orders={"school": ["low", "mid", "high"]})


@pytest.mark.parametrize(
    ("name", "column", "options", "cells"),
    [
        ("top-code", "age", {"threshold": 40}, [20, 30, 40, 40]),
        ("top-code", "age", {"threshold": {"age": 35}, "by": "median"}, [20, 30, 68, 68]),
        ("top-code", "school", {"categories": 2}, ["low", "mid", "mid", "mid"]),
        ("bottom-code", "age", {"threshold": 30}, [30, 30, 40, 95]),
        ("bottom-code", "school", {"categories": 2}, ["mid", "mid", "high", "high"]),
        ("recode-rare", "town", {"categories": 2}, ["Olot", "Vic", "Vic", "Olot"]),
        ("recode-map", "town", {"groups": {"town": [["Reus", "Vic"]]}}, ["Olot", "Vic", "Vic", "Vic"]),
        ("recode-level", "town", {"level": 1}, ["*"] * 4),
        ("recode-intervals", "age", {"breaks": {"age": [0, 30, 99]}}, ["[0, 30)", "[30, 99]", "[30, 99]", "[30, 99]"]),
        ("recode-intervals", "age", {"bins": 1, "show": "median"}, [35] * 4),
        ("mondrian", "age", {"k": 2, "summary": "mean"}, [25, 25, 68, 68]),
        ("mondrian", "school", {"k": 2}, ["low to mid", "low to mid", "high", "high"]),
        ("rank-swap", "age", {"window": 1, "ties": "record"}, [30, 20, 95, 40]),
    ],
)  # fmt: skip
def test_cells_of_masking_methods_by_hand(small: Microdata, name: str, column: str, options: dict, cells: list) -> None:
    assert by_hand(name, small, [column], **options) == {column: cells}


def test_a_near_word_is_suggested(small: Microdata) -> None:
    with pytest.raises(SDCError, match=r"not 'corelated'; did you mean 'correlated'\?"):
        by_hand("add-noise", small, ["age"], amplitude=0.1, structure="corelated")


def test_sentences_count_the_cells_that_changed(small: Microdata) -> None:
    for name, columns, options, said in (
        ("rank-swap", ["age", "school"], {"window": 1, "ties": "record"},
         "Values change places with values of near rank. Cells changed of 4: age 4, school 2."),
        ("top-code", ["age"], {"threshold": 30}, "In age values above a limit become one value: 2 of 4 cells changed."),
        ("recode-map", ["town"], {"groups": {"town": [["Reus", "Vic"]]}},
         "town with 1 fewer categories: 1 of 4 cells changed."),
        ("swap-records", ["age", "town"], {"percent": 100, "within": ["town"]},
         "2 of 4 records exchanged age with one that agrees in town."),
        ("recode-intervals", ["age"], {"breaks": {"age": [0, 10, 99]}}, "age in 2 intervals, 1 of them empty (given)."),
    ):  # fmt: skip
        roles = small.with_roles(quasi_identifiers=columns)
        method = find(name)
        within = options.pop("within", ())
        found = apply(method, roles, rng=np.random.default_rng(1), within=within, options=options)
        assert recoded(method, roles, found).sentences[0] == said


def test_swapped_records_agree_where_they_should(small: Microdata) -> None:
    found = by_hand("swap-records", small, ["age", "town"], percent=100, within=["town"])
    assert found == {"age": [20, 40, 30, 95]}, "only the two of Vic can exchange their ages"


def test_missing_cells_stay_where_they_are() -> None:
    frame = pd.DataFrame({"school": ["low", None, "mid", "high"] * 3, "town": ["Olot", "Vic", None, "Vic"] * 3})
    data = Microdata.from_frame(
        frame, quasi_identifiers=["school", "town"], orders={"school": ["low", "mid", "high"]}, missing="category"
    )
    for name, column, options in (
        ("rank-swap", "school", {"window": 4}),
        ("top-code", "school", {"categories": 2}),
        ("recode-rare", "town", {"categories": 2}),
    ):
        cells = pd.Series(by_hand(name, data, [column], **options)[column])
        assert cells.isna().tolist() == frame[column].isna().tolist(), name
        assert (cells != frame[column]).sum() > cells.isna().sum(), name


@pytest.mark.parametrize(
    ("name", "columns", "options", "message"),
    [
        ("top-code", ["age"], {"categories": 1}, "column 'age' is numeric: give threshold or percent"),
        ("top-code", ["school"], {"percent": 95}, "column 'school' is ordinal: give categories"),
        ("top-code", ["age"], {"threshold": {"aeg": 3}}, "did you mean 'age'"),
        ("top-code", ["age"], {}, "give exactly one of threshold, percent, categories"),
        ("recode-map", ["town"], {"groups": {"town": [["Olot", "Vich"]]}}, "column 'town' does not have: 'Vich'"),
        ("recode-map", ["town"], {"groups": {"town": ["Olot"]}}, "must be lists of categories"),
        ("recode-intervals", ["age"], {"breaks": {"wage": [0, 1]}}, "not one of the columns to protect"),
        ("swap-records", ["town"], {"percent": 50, "within": ["town"]}, "nothing would be exchanged"),
        ("recode-rare", ["town"], {"categories": 9}, "column 'town' has 3"),
        ("generalize", ["town"], {"levels": {"school": 1}}, "changes column 'school', which is not one of"),
    ],
)  # fmt: skip
def test_wrong_options_of_masking_methods_name_the_column(
    small: Microdata, name: str, columns: list[str], options: dict, message: str
) -> None:
    with pytest.raises(SDCError) as error:
        by_hand(name, small, columns, **options)
    assert message in str(error.value)


def test_all_forms_and_both_rooms_are_there() -> None:
    assert {method.form for method in METHODS} == set(FORMS)
    assert {method.name for method in METHODS if method.search} == {
        "memetic", "memetic-blocks", "hybrid", "hybrid-one-step", "ga", "lattice", "precluster"
    }  # fmt: skip
    assert len({method.name for method in METHODS}) == len(METHODS)
    with pytest.raises(SDCError, match="form of method 'x'"):
        Method("x", "x", "math:sin", "row")


def test_names_and_help_need_neither_pymoo_nor_numba() -> None:
    code = """
import sys
from sdc_problems.methods import available, find
assert find("memetic").title and len(available()) > 10
assert not {"pymoo", "numba", "pandas", "scipy"} & set(sys.modules), sys.modules.keys() & {"pymoo", "numba", "pandas"}
find("mdav").options
assert "pymoo" not in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("mdav", {"gama": 1}, "method mdav has no option 'gama' (its options: standardize)"),
        ("v-mdav", {"gama": 1}, "did you mean 'gamma'?"),
        ("univariate", {"gamma": 1}, "(it has none)"),
        ("mhm", {"order": "nearest"}, "has no option 'order'"),
        ("generalize", {}, "method generalize needs levels"),
    ],
)
def test_wrong_options_are_a_sentence(name: str, options: dict, message: str) -> None:
    with pytest.raises(SDCError) as error:
        find(name).arguments(options)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("mdav", {}, "method mdav needs k"),
        ("pram", {"k": 3, "columns": ["town"]}, "method pram promises no k: omit k"),
        ("v-mdav", {"k": 3}, f"'school' is ordinal: use {', '.join(m.name for m in METHODS if len(m.kinds) == 3)}"),
        ("univariate", {"k": 3, "columns": ["age", "wage"]}, "for one column, not for 2"),
        ("lattice", {"k": 3}, "method lattice needs hierarchies"),
        ("pram", {"columns": ["town"]}, "method pram needs rng"),
        ("memetic", {"k": 3, "columns": ["age"]}, "method memetic needs problem"),
        ("mdav", {"k": 3, "columns": []}, "no columns to protect"),
        ("mdav", {"k": 3, "columns": ["agee"]}, "did you mean 'age'"),
    ],
)
def test_what_a_method_cannot_do_is_a_sentence(data: Microdata, name: str, given: dict, message: str) -> None:
    with pytest.raises(SDCError) as error:
        apply(find(name), data, **given)
    assert message in str(error.value)


def test_a_method_that_returns_something_else_is_refused(data: Microdata) -> None:
    columns = ["age"]
    for form, word in (("partition", r"shape \(12,\)"), ("cells", r"shape \(12, 1\)"), ("table", "a Recoded")):
        odd = Method("odd", "odd", f"{__name__}:first_three", form)
        with pytest.raises(SDCError, match=word):
            apply(odd, data, columns=columns)


def first_three(X: np.ndarray) -> np.ndarray:
    return X[:3]


def by_column(x: np.ndarray, *, by: float = 1.0) -> np.ndarray:
    return x + by


def test_a_function_of_one_column_is_applied_to_each(data: Microdata) -> None:
    shift = Method("shift", "shift", f"{__name__}:by_column", "cells", kinds=("numeric",))
    found = apply(shift, data, columns=["age", "wage"], options={"by": 2.0})
    np.testing.assert_array_equal(found, data.values(["age", "wage"]) + 2.0)


PLUGIN = '''
"""Methods of another package."""
from sdc_problems.methods import Method

METHOD = Method("halve", "halves of the file", "halving:halve", "partition", guarantee="k")
WRONG = 3

def halve(X, k, *, swap: bool = False):
    """Two halves."""
    return [int((i < len(X) // 2) != swap) for i in range(len(X))]
'''


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "halving.py").write_text(PLUGIN)
    info = tmp_path / "halving-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: halving\nVersion: 1.0\n")
    entries = "halve = halving:METHOD\nbroken = halving:NOTHING\nodd = halving:WRONG\nmdav = halving:METHOD\n"
    (info / "entry_points.txt").write_text(f"[sdc_problems.methods]\n{entries}")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "halving", raising=False)
    return tmp_path


@pytest.mark.usefixtures("plugin")
def test_another_package_adds_a_method(data: Microdata) -> None:
    method = find("halve")
    assert [option.name for option in method.options] == ["swap"]
    labels = apply(method, data, columns=["age"], k=3, options={"swap": True})
    assert labels.tolist() == [0] * 6 + [1] * 6
    assert find("mdav") is built_in()["mdav"], "a built-in name is not taken over"
    with pytest.raises(SDCError, match="method 'broken' of halving cannot be loaded"):
        find("broken")
    with pytest.raises(SDCError, match="entry point 'odd' of halving must lead to a Method"):
        find("odd")
    with pytest.warns(UserWarning, match="cannot be loaded|must lead"):
        names = list(available())
    assert names == [*built_in(), "halve"]


def test_more_records_than_a_method_can_protect_are_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pd.DataFrame({"age": [20, 60, 21, 61, 22, 62, 23, 63], "town": ["Olot", "Reus"] * 4})
    data = Microdata.from_frame(frame, quasi_identifiers=["age"])
    small = replace(find("mdav"), most_records=4)
    refusal = "method mdav is for up to 4 records at once, and these are 8: use .*mondrian.* strata of fewer"
    with pytest.raises(SDCError, match=refusal):
        apply(small, data, k=2)
    monkeypatch.setattr(_protect, "find", lambda name: small if name == "mdav" else find(name))
    with pytest.raises(SDCError, match=refusal):
        protect(data, method="mdav", k=2)
    assert protect(data, method="mdav", k=2, within=["town"]).guarantees[-1].holds  # 4 records in each


def test_a_method_without_a_limit_promises_k_to_any_number_of_records() -> None:
    able = {m.name for m in built_in().values() if m.guarantee == "k" and m.most_records is None and not m.one_column}
    assert {"lattice", "mondrian"} <= able
