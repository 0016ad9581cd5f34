"""Picture types: plain values, refused where they do not fit together, without small counts, drawn as they are."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure

from sdc_problems import SDCError
from sdc_problems.studies.report.picture_types import (
    TYPES,
    Bars,
    Block,
    Blocks,
    Formula,
    Graph,
    Lattice,
    Levels,
    Line,
    Lines,
    Link,
    Matrix,
    Neighbour,
    Picture,
    State,
    Table,
)
from sdc_problems.studies.report.pictures import drawn
from sdc_problems.studies.report.plots import rendered
from sdc_problems.studies.report.small_counts import LEAST

BARS = Bars(title="Sizes", labels=("3", "4–5"), values=(7, 5), across="records", up="clusters", summary="12 clusters")
LINES = Lines(
    title="Course", places=(0.0, 1.0, 2.0), lines=(Line("a", (1.0, 2.0, 4.0)), Line("b", (3.0, 2.0, 1.0))),
    across="k", up="loss",
)  # fmt: skip
MATRIX = Matrix(
    title="town: where it goes", name="town", row_labels=("a", "b"), column_labels=("a", "b", "c"),
    shares=((0.5, 0.25, 0.25), (0.0, 1.0, 0.0)), records=((10.0, 3.0, 0.2), (0.0, 7.4, 4.6)), summary="kept",
)  # fmt: skip
BLOCKS = Blocks(
    title="Groups", blocks=(Block(("a", "b"), 1.5), Block(("c",), 0.0)), items="together", value="lost", unit="%"
)  # fmt: skip
LATTICE = Lattice(
    title="Levels",
    attributes=(Levels("age", 1, ("as it is", "bands", "hidden")), Levels("sex", 0, ("as it is", "hidden"))),
    neighbours=(Neighbour(0, 1, (2.0, 3.0)), Neighbour(0, -1, (1.0, 9.0)), Neighbour(1, 1, (4.0, 2.0))), across="level",
)  # fmt: skip
FORMULA = Formula(title="Equation", text="N - freq_j")
GRAPH = Graph(
    title="Mixing", nodes=Graph.around(["north", "south", "others"]), size="share of the nodes", value="share of links",
    unit="%", shade="cells that changed", summary="0.5, then 0.4",
    states=(
        State("original", (50.0, 30.0, 20.0), (Link(0, 0, 40.0), Link(0, 1, 60.0)), (0.0, 0.5, 1.0)),
        State("released", (60.0, 40.0, 0.0), (Link(0, 1, 95.0), Link(1, 2, None))),
    ),
)  # fmt: skip
TABLE = Table(title="Steps", head=("column", "method", "cost"), lines=(("age", "mdav", 2.345), ("sex", "", 0.0)))
EVERY: list[Picture] = [BARS, LINES, MATRIX, BLOCKS, LATTICE, GRAPH, TABLE, FORMULA]


def test_every_type_is_tried_here() -> None:
    assert {type(picture) for picture in EVERY} == set(TYPES.values())
    assert all(picture.type == name for name, picture in zip(TYPES, EVERY, strict=True))


@pytest.mark.parametrize("picture", EVERY, ids=lambda p: p.type)
def test_a_picture_is_json(picture: Picture) -> None:
    said = picture.as_dict()
    assert said["type"] == picture.type
    assert json.loads(json.dumps(said, allow_nan=False)) == said


def test_rows_of_a_table() -> None:
    assert BARS.rows() == [("Sizes", "12 clusters")]
    assert MATRIX.rows() == [("town", "kept")]
    assert GRAPH.rows() == [("Mixing", "0.5, then 0.4")]
    assert LATTICE.rows() == [("age", "bands"), ("sex", "as it is")]
    assert TABLE.rows() == [("age", "mdav, 2.35"), ("sex", "0")]
    assert BLOCKS.rows() == [
        ("a", "with b (group 1)"), ("b", "with a (group 1)"), ("c", "with none: on its own (group 2)")
    ]  # fmt: skip


def test_a_matrix_shows_no_small_number_of_records() -> None:
    assert MATRIX.records == ((10, None, 0), (0, 7, 5))


@given(st.lists(st.integers(2, 12), min_size=1, max_size=80))
def test_bars_of_sizes_stand_for_at_least_five(sizes: list[int]) -> None:
    picture = Bars.of_sizes(sizes, title="Sizes", across="records", up="clusters")
    assert sum(picture.values) == len(sizes)
    assert len(picture.values) == 1 or min(picture.values) >= LEAST
    assert picture.labels[0].startswith(str(min(sizes)))


def test_what_is_not_finite_and_what_is_too_long() -> None:
    said = Bars(title="t", labels=("x" * 200,), values=(np.float64("nan"),), across="", up="").as_dict()
    assert said["values"] == [None]
    assert len(said["labels"][0]) == 80


@pytest.mark.parametrize(
    "make",
    [
        lambda: Bars(title="it", labels=("a",), values=(1.0, 2.0), across="", up=""),
        lambda: Lines(title="it", places=(1.0,), lines=(Line("a", (1.0, 2.0)),), across="", up=""),
        lambda: Matrix(title="it", name="", row_labels=("a",), column_labels=("a",), shares=((1.0, 0.0),)),
        lambda: Graph(title="it", nodes=Graph.around(["a"]), states=(State("", (1.0, 2.0), ()),), size="", value=""),
        lambda: Graph(
            title="it", nodes=Graph.around(["a"]), states=(State("", (1.0,), (), (1.0, 1.0)),), size="", value=""
        ),
        lambda: Graph(
            title="it", nodes=Graph.around(["a"]), states=(State("", (1.0,), (Link(0, 1, 1.0),)),), size="", value=""
        ),
        lambda: Table(title="it", head=("a", "b"), lines=(("c",),)),
        lambda: Lattice(title="it", attributes=(Levels("age", 2, ("all", "none")),)),
    ],
)
def test_parts_that_do_not_fit_together(make: Any) -> None:
    with pytest.raises(SDCError, match="picture 'it': "):
        make()


def texts(figure: Figure) -> str:
    import matplotlib.text

    return "|".join(text.get_text() for text in figure.findobj(matplotlib.text.Text))  # type: ignore[attr-defined]


@pytest.mark.parametrize("picture", EVERY, ids=lambda p: p.type)
def test_each_type_is_drawn(picture: Picture) -> None:
    words = {
        "bars": ["4–5", "clusters", "7"], "lines": ["loss", "b"], "matrix": ["town", "0.50", "c"],
        "blocks": ["1.5 %", "lost"], "lattice": ["1 of 2: bands", "level"], "formula": ["N - freq_j"],
        "table": ["column", "mdav", "2.35"],
        "graph": ["north", "released", "width: share of links [%]", "dark: cells that changed"],
    }  # fmt: skip
    figure = drawn([picture], title="1-1")
    assert rendered(figure, "png").startswith(b"\x89PNG")
    for word in [*words[picture.type], "1-1"]:
        assert word in texts(figure)


def test_several_pictures_are_drawn_below_each_other() -> None:
    figure = drawn([MATRIX, MATRIX, FORMULA, BARS, LATTICE], title="all")
    assert len(figure.subfigs) == 3
    assert rendered(figure, "svg") == rendered(drawn([MATRIX, MATRIX, FORMULA, BARS, LATTICE], title="all"), "svg")
    assert "Sizes" in texts(figure)


def test_no_picture_at_all_is_said() -> None:
    assert "too large for a picture" in texts(drawn([], title="none"))
