"""Links in the data section of a study: every format that is read, and what is refused in one sentence."""

from __future__ import annotations

import gzip
from pathlib import Path

import networkx
import numpy as np
import pandas as pd
import pytest

from sdc_problems import SDCError
from sdc_problems.studies.study.data import DataSection, load_table
from sdc_problems.studies.study.schema import Study

PEOPLE = pd.DataFrame({
    "Id": [f"p{i}" for i in range(12)],
    "town": ["Olot", "Reus", "Vic"] * 4,
    "age": np.arange(20, 32),
})  # fmt: skip
PAIRS = [(f"p{i}", f"p{j}") for i in range(12) for j in (i + 1, i + 3) if j < 12]
ROLES = {"quasi_identifiers": ["town", "age"]}


def written(folder: Path, name: str) -> dict[str, object]:
    """Write the graph in one of the formats; return what a study says of it."""
    PEOPLE.to_csv(folder / "people.csv", index=False)
    gephi = pd.DataFrame(PAIRS, columns=["Source", "Target"]).assign(Type="Undirected", Weight=1.0)
    lines = "".join(f"{a}\t{b}\n" for a, b in PAIRS)
    graph = networkx.Graph(PAIRS)
    networkx.set_node_attributes(graph, PEOPLE.set_index("Id").to_dict("index"))
    match name:
        case "gephi":
            gephi.to_csv(folder / "links.csv", index=False)
        case "semicolons":
            gephi.to_csv(folder / "links.csv", index=False, sep=";")
        case "snap":
            (folder / "links.txt").write_text("# FromNodeId ToNodeId\n" + lines.replace("p", ""))
            PEOPLE.assign(Id=range(12)).to_csv(folder / "people.csv", index=False)
            return {"file": "people.csv", "edges": "links.txt"}
        case "packed":
            (folder / "links.csv.gz").write_bytes(gzip.compress(gephi.to_csv(index=False).encode()))
            return {"file": "people.csv", "edges": "links.csv.gz"}
        case "graphml":
            networkx.write_graphml(graph, folder / "graph.graphml")
            return {"file": "graph.graphml"}
        case "gml":
            networkx.write_gml(graph, folder / "graph.gml")
            return {"file": "graph.gml"}
    return {"file": "people.csv", "edges": "links.csv"}


@pytest.mark.parametrize("name", ["gephi", "semicolons", "snap", "packed", "graphml", "gml"])
def test_formats(name: str, tmp_path: Path) -> None:
    table = load_table(DataSection.model_validate({**written(tmp_path, name), **ROLES}), tmp_path)
    assert table.graph is not None
    assert (table.graph.n_nodes, table.graph.n_links, table.graph.directed) == (12, len(PAIRS), False)
    assert table.data is table.graph.data
    assert table.data.quasi_identifiers == ("town", "age")
    assert len(table.data.identifiers) == 1
    assert (table.edges is None) == (name in ("graphml", "gml"))


def test_the_digest_is_of_records_and_links(tmp_path: Path) -> None:
    said = DataSection.model_validate({**written(tmp_path, "gephi"), **ROLES})
    before = load_table(said, tmp_path).digest
    lines = (tmp_path / "links.csv").read_text().splitlines(keepends=True)
    (tmp_path / "links.csv").write_text("".join(lines[:-1]))
    assert load_table(said, tmp_path).digest != before


def test_how_links_are_read(tmp_path: Path) -> None:
    written(tmp_path, "gephi")
    frame = pd.DataFrame([*PAIRS, PAIRS[0], ("p1", "p1")], columns=["a", "b"]).assign(strength=2.5)
    frame.to_csv(tmp_path / "links.csv", index=False)
    links = {"source": "a", "target": "b", "weight": "strength", "directed": True}
    said = {"file": "people.csv", "edges": "links.csv", **ROLES}
    with pytest.raises(SDCError, match=r"from a node to itself.*data\.links\.self_loops = \"drop\""):
        load_table(DataSection.model_validate({**said, "links": links}), tmp_path)
    links |= {"self_loops": "drop", "repeated": "sum"}
    graph = load_table(DataSection.model_validate({**said, "links": links}), tmp_path).graph
    assert graph is not None
    assert graph.directed
    assert graph.edge_weights is not None
    assert graph.edge_weights.max() == 5.0


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"name": "crawl", "edges": "links.csv"}, "edges is for a file only, and 'crawl' has its own"),
        ({"file": "graph.graphml", "edges": "links.csv"}, "'graph.graphml' already contains the links: omit edges"),
        ({"file": "people.csv", "links": {"id": "Id"}}, "edges names no file"),
        ({"file": "people.csv", "edges": "absent.csv"}, "there is no file .*absent.csv"),
        ({"file": "people.csv", "edges": "links.csv", "links": {"id": "name"}}, r"name it with data\.links\.id"),
        ({"file": "graph.graphml", "links": {"directed": True}}, r"omit data\.links\.directed"),
        ({"file": "people.csv", "edges": "one.csv"}, "line 2 of one.csv"),
        ({"file": "people.csv", "edges": "links.csv", "links": {"loops": "drop"}}, "has no key 'loops'"),
    ],
)
def test_wrong_links_are_one_sentence(said: dict[str, object], message: str, tmp_path: Path) -> None:
    for name in ("gephi", "graphml"):
        written(tmp_path, name)
    (tmp_path / "one.csv").write_text("Source,Target\np1,stranger\n")
    values = {
        "data": {**said, **({} if "name" in said else ROLES)},
        "problem": {"task": "social", "k": 3},
        "algorithm": {"name": "NSGA2"},
        "termination": {"generations": 1},
    }
    with pytest.raises(SDCError, match=message) as refused:
        Study.from_values(values, folder=tmp_path).build()
    assert "stranger" not in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("task", "data", "message"),
    [
        ("social", {"file": "people.csv", **ROLES}, "the task social needs links between the records"),
        ("social", {"name": "people"}, "the task social needs links"),
        (
            "gomm",
            {"file": "people.csv", "edges": "links.csv", **ROLES},
            "the task gomm does not use links: remove them",
        ),
    ],
)
def test_links_are_for_tasks_that_know_them(task: str, data: dict[str, object], message: str, tmp_path: Path) -> None:
    written(tmp_path, "gephi")
    values = {
        "data": data,
        "problem": {"task": task, "k": 3},
        "algorithm": {"name": "NSGA2"},
        "termination": {"generations": 1},
    }
    with pytest.raises(SDCError, match=message):
        Study.from_values(values, folder=tmp_path).build()
