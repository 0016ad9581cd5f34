"""``sdc protect`` and ``sdc evaluate`` of people with their links: both releases, one sentence for wrong input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from sdc_problems import datasets, protect
from sdc_problems.errors import SDCError
from sdc_problems.studies.cli import cli


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = datasets.crawl(60, 150)
    people = made.data.frame().assign(id=[f"u{i}" for i in range(60)])
    people["age"] = np.random.default_rng(1).integers(18, 80, 60)
    people.to_csv(tmp_path / "people.csv", index=False)
    friends = pd.DataFrame([(f"u{a}", f"u{b}") for a, b in made.edges], columns=["Source", "Target"])
    friends.assign(Type="Undirected", Id=range(len(friends)), Weight=1.0).to_csv(tmp_path / "friends.csv", index=False)
    graph = networkx.from_pandas_edgelist(friends, "Source", "Target")
    networkx.set_node_attributes(graph, people.set_index("id").to_dict("index"))
    networkx.write_graphml(graph, tmp_path / "graph.graphml")
    return tmp_path


def sdc(folder: Path, command: str, *words: str) -> Result:
    return CliRunner().invoke(cli, [command, *(str(folder / w) if "." in w else w for w in words)])


LINKED = (
    "people.csv",
    "--edges",
    "friends.csv",
    "--method",
    "mdav",
    "--k",
    "4",
    "--columns",
    "topic1,age",
    "--keep",
    "topic2",
)


def released(folder: Path, name: str = "out.csv") -> networkx.Graph:
    nodes, edges = pd.read_csv(folder / name), pd.read_csv(folder / f"{name}.edges.csv")
    graph = networkx.from_pandas_edgelist(edges, edge_attr="links" if "links" in edges else None)
    graph.add_nodes_from(nodes.set_index("id").to_dict("index").items())
    return graph


@pytest.mark.parametrize("original", ["people.csv", "graph.graphml"])
def test_nodes_and_links(original: str, folder: Path) -> None:
    words = LINKED if original == "people.csv" else (original, *LINKED[3:])
    done = sdc(folder, "protect", *words, "--out", "out.csv")
    assert done.exit_code == 0, done.output
    assert "The links stay, and betray people: of 60 nodes," in done.output.replace("\n", " ")
    assert "links: " in done.output
    before = networkx.read_graphml(folder / "graph.graphml")
    after = released(folder)
    assert networkx.is_isomorphic(before, after)
    nodes = pd.read_csv(folder / "out.csv")
    assert list(nodes.columns) == ["id", "topic1", "topic2", "age"]
    assert nodes.groupby(["topic1", "age"]).size().min() >= 4
    certificate = json.loads((folder / "out.csv.certificate.json").read_text())
    assert all(promise["holds"] for promise in certificate["guarantees_checked_in_the_file"])
    assert certificate["graph"]["form"] == "nodes"
    assert certificate["seed"] is None
    assert (folder / "out.csv.rows.csv").is_file()
    beside = ("people.csv", "--edges", "friends.csv") if original == "people.csv" else (original,)
    known = ("--quasi-identifiers", "topic1,age", "--keep", "topic2")
    done = sdc(folder, "evaluate", beside[0], "out.csv", *beside[1:], *known, "--json")
    assert '"dr_degree"' in done.stdout


def opened(path: Path) -> networkx.Graph:
    return (networkx.read_gml if path.suffix == ".gml" else networkx.read_graphml)(path)


@pytest.mark.parametrize("out", ["out.graphml", "out.gml"])
@pytest.mark.parametrize("original", ["people.csv", "graph.graphml"])
def test_one_file_of_nodes_and_links(original: str, out: str, folder: Path) -> None:
    words = LINKED if original == "people.csv" else (original, *LINKED[3:])
    done = sdc(folder, "protect", *words, "--out", out)
    assert done.exit_code == 0, done.output
    assert not (folder / f"{out}.edges.csv").exists()
    assert "\nlinks: " not in done.output
    after = opened(folder / out)
    assert networkx.is_isomorphic(networkx.read_graphml(folder / "graph.graphml"), after)
    nodes = pd.DataFrame.from_dict(dict(after.nodes(data=True)), orient="index")
    assert list(nodes.columns) == ["topic1", "topic2", "age"]
    assert nodes.groupby(["topic1", "age"]).size().min() >= 4
    assert sorted(map(int, after)) == list(range(1, 61))
    certificate = json.loads((folder / f"{out}.certificate.json").read_text())
    assert certificate["graph"]["file_of_links"] == out
    assert certificate["graph"]["sha256_of_links"] == certificate["output"]["sha256"]
    names = {promise["name"] for promise in certificate["guarantees_checked_in_the_file"]}
    assert {"identifiers", "links changed", "degrees changed", "k"} <= names
    beside = ("people.csv", out, "--edges", "friends.csv") if original == "people.csv" else (original, out)
    measured = sdc(folder, "evaluate", *beside, "--quasi-identifiers", "topic1,age", "--keep", "topic2", "--json")
    assert measured.exit_code == 0, measured.output
    values = {measure["name"]: measure["value"] for measure in json.loads(measured.stdout)["measures"]}
    assert values["dr_degree"] == pytest.approx(certificate["graph"]["by_attributes_and_degree"])
    assert values["exposed_ego"] == certificate["graph"]["exposed_by_links_alone"]["neighbourhood"]
    assert values["k"] == 4
    assert 0 < values["aamil"] < 1


def test_super_nodes_in_one_file(folder: Path) -> None:
    assert sdc(folder, "protect", *LINKED, "--out", "out.gml", "--form", "supernodes").exit_code == 0
    groups = opened(folder / "out.gml")
    assert sum(size for _, size in groups.nodes(data="size")) == 60
    inner = sum(links for _, links in groups.nodes(data="inner_links"))
    assert inner + sum(links for *_, links in groups.edges(data="links")) == 150
    beside = ("people.csv", "out.gml", "--edges", "friends.csv", "--quasi-identifiers", "topic1,age")
    measured = json.loads(sdc(folder, "evaluate", *beside, "--json").stdout)
    assert {measure["name"]: measure["value"] for measure in measured["measures"]}["super_node"] == 4


def test_the_page_of_a_file_says_what_degrees_tell(folder: Path) -> None:
    usual = (*LINKED, "--out", "out.csv", "--report", "page.html", "--overwrite")
    assert sdc(folder, "protect", *usual).exit_code == 0
    page = (folder / "page.html").read_text()
    share = json.loads((folder / "out.csv.certificate.json").read_text())["graph"]["by_attributes_and_degree"]
    assert f"how many links the person has finds the right one in {100 * share:.3g} % of the cases in the file" in page
    assert "of the cases in the original" in page
    assert sdc(folder, "protect", *usual, "--form", "supernodes").exit_code == 0
    page = (folder / "page.html").read_text()
    assert "how many links" not in page
    assert "finds the right record in 25 % of the cases in the file" in page
    assert "0 of 60 records were left out" in page


def test_links_alone_from_a_graph_file(folder: Path) -> None:
    igraph = pytest.importorskip("igraph")
    pairs = networkx.from_pandas_edgelist(pd.read_csv(folder / "friends.csv"), "Source", "Target")
    networkx.write_graphml(pairs, folder / "plain.graphml")
    networkx.write_gml(pairs, folder / "label.gml")  # nodes are numbers, and their names labels
    names = list(pairs)
    ends = [(names.index(a), names.index(b)) for a, b in pairs.edges]
    other = igraph.Graph(n=len(names), edges=ends, vertex_attrs={"name": names, "town": ["x"] * len(names)})
    other.write_graphml(str(folder / "name.graphml"))  # nodes are n0, n1 …
    usual = ("--method", "mdav", "--k", "4", "--columns", "topic1,age", "--seed", "7", "--out", "out.csv")
    assert sdc(folder, "protect", "people.csv", "--edges", "friends.csv", *usual).exit_code == 0
    wanted = (folder / "out.csv.edges.csv").read_bytes()
    for name in ("plain.graphml", "label.gml", "name.graphml"):
        done = sdc(folder, "protect", "people.csv", "--edges", name, *usual, "--overwrite")
        assert done.exit_code == 0, done.output
        assert (folder / "out.csv.edges.csv").read_bytes() == wanted
        assert ("Attributes of the nodes of name.graphml are left out" in done.output) == (name == "name.graphml")


def test_links_of_what_is_replaced_go(folder: Path) -> None:
    assert sdc(folder, "protect", *LINKED, "--out", "out.csv").exit_code == 0
    assert (folder / "out.csv.edges.csv").exists()
    plain = ("people.csv", *LINKED[3:], "--out", "out.csv")
    for name in ("out.csv", "out.csv.certificate.json", "out.csv.mapping.csv", "out.csv.rows.csv"):
        (folder / name).unlink()
    done = sdc(folder, "protect", *plain)
    assert "out.csv.edges.csv' already exists" in str(done.exception)
    assert sdc(folder, "protect", *plain, "--overwrite").exit_code == 0
    assert (folder / "out.csv").exists()
    assert not (folder / "out.csv.edges.csv").exists()


def test_super_nodes_and_json(folder: Path) -> None:
    done = sdc(folder, "protect", *LINKED, "--out", "out.csv", "--form", "supernodes", "--json")
    assert done.exit_code == 0, done.output
    said = json.loads(done.stdout)
    assert said["links"] == "out.csv.edges.csv"
    assert said["graph"]["super_nodes"] == said["groups"] == released(folder).number_of_nodes()
    nodes = pd.read_csv(folder / "out.csv")
    assert list(nodes.columns) == ["id", "topic1", "age", "size", "inner_links"]
    assert (nodes["size"].min(), nodes["size"].sum()) == (4, 60)


def test_the_seed_of_the_order_repeats_it(folder: Path) -> None:
    for name, seed in (("a.csv", "7"), ("b.csv", "7"), ("c.csv", "8")):
        assert sdc(folder, "protect", *LINKED, "--out", name, "--seed", seed).exit_code == 0
    one, two, three = ((folder / name).read_bytes() for name in ("a.csv", "b.csv", "c.csv"))
    assert one == two != three
    assert '"7"' not in (folder / "a.csv.certificate.json").read_text()


def test_links_released_elsewhere_are_random(folder: Path) -> None:
    words = (
        "--edges",
        "friends.csv",
        "--method",
        "rank-swap",
        "--columns",
        "age",
        "--keep",
        "topic1",
        "--window",
        "20",
    )
    done = sdc(folder, "protect", "people.csv", *words, "--out", "out.csv")
    assert done.exit_code == 0, done.output
    assert released(folder).number_of_edges() == 150


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--edges", "absent.csv"), "absent.csv"),
        (("--edges", "people.csv"), "name them with --links source= and --links target="),
        (("--form", "supernodes"), "--form is for records with links"),
        (("--links", "id=id"), "--links says how to read links: name their file by --edges"),
        (("--edges", "friends.csv", "--links", "id"), "--links 'id' is not NAME=VALUE"),
        (("--edges", "friends.csv", "--links", "loops=drop"), "[--links] has no key 'loops'"),
        (("--edges", "friends.csv", "--links", "directed=maybe"), "--links.directed"),
        (("--edges", "friends.csv", "--links", "id=who"), "the nodes have no column 'who': name it with --links id="),
        (("--edges", "friends.csv", "--links", "source=x"), "has no column 'x'"),
        (("--edges", "friends.csv", "--links", "weight=Type"), "line 2 of friends.csv: the weight is not a number"),
        (
            ("--edges", "friends.csv", "--links", "directed=true"),
            "are undirected: omit --links directed=",
        ),
        (("--edges", "loops.csv"), "give --links self_loops=drop to leave them out"),
        (("--edges", "twice.csv"), "give --links repeated=sum"),
        (("--edges", "strangers.csv"), "1 link(s) have an end that is not a node, the first is the target at line 2"),
        (("--edges", "friends.csv", "--columns", "id"), "column 'id' names the nodes"),
        (("--edges", "friends.csv", "--k", "50"), "k"),
        (("--edges", "friends.csv", "--rows-seed", "3"), "always shuffled, by --seed"),
        (("--edges", "friends.csv", "--out", "friends.csv"), "or another input: nothing is written"),
        (("--out", "out.graphml"), "would be GraphML, which needs links: name a CSV file"),
        (("--edges", "friends.csv", "--out", "out.gml.gz"), "omit .gz"),
        (("--edges", "graph.graphml", "--links", "source=Source"), "omit --links source="),
        (("--edges", "graph.graphml", "--links", "weight=w"), "have no attribute 'w'"),
        (("--edges", "graph.graphml", "--links", "directed=true"), "are undirected: omit --links directed="),
        (("--edges", "empty.graphml"), "empty.graphml has no link"),
    ],
)
def test_wrong_links_are_one_sentence(words: tuple[str, ...], says: str, folder: Path) -> None:
    (folder / "loops.csv").write_text("Source,Target\nu1,u2\nu3,u3\n")
    (folder / "twice.csv").write_text("Source,Target\nu1,u2\nu1,u2\n")
    (folder / "strangers.csv").write_text("Source,Target\nu1,nobody\n")
    (folder / "empty.graphml").write_text('<graphml><graph edgedefault="undirected"><node id="u1"/></graph></graphml>')
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    usual = ["--k", "4", "--columns", "topic1,age", "--keep", "topic2", "--out", "out.csv"]
    for option in words[::2]:
        if option in usual:
            at = usual.index(option)
            del usual[at : at + 2]
    done = sdc(folder, "protect", "people.csv", "--method", "mdav", *words, *usual)
    assert isinstance(done.exception, SDCError), done.output
    assert says in str(done.exception)
    assert "\n" not in str(done.exception)
    assert "nobody" not in str(done.exception)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.fixture
def rare(folder: Path) -> Path:
    """One person is alone with a town, so that it loses least to suppress that record."""
    people = pd.read_csv(folder / "people.csv")[["id"]].assign(sex=["f", "m"] * 30, town=["a", "a", "b", "b"] * 15)
    people.loc[7, "town"] = "z"
    people.to_csv(folder / "rare.csv", index=False)
    return folder


def test_nodes_that_are_suppressed_stay_with_their_links(rare: Path) -> None:
    usual = ("rare.csv", "--edges", "friends.csv", "--k", "5", "--quasi-identifiers", "sex,town", "--out", "out.csv")
    some = ("--max-suppression", "3 records")
    done = sdc(rare, "protect", *usual, *some)
    assert done.exit_code == 0, done.output
    certificate = json.loads((rare / "out.csv.certificate.json").read_text())
    assert certificate["method"] == "lattice"
    assert certificate["graph"]["exposed_by_links_alone"]["fewer_than"] == 5
    nodes = pd.read_csv(rare / "out.csv")
    assert (nodes["town"] == "*").sum() == 1
    assert networkx.is_isomorphic(networkx.read_graphml(rare / "graph.graphml"), released(rare))
    done = sdc(rare, "protect", *usual, *some, "--overwrite", "--suppressed", "drop")
    assert "their links would end nowhere" in str(done.exception)
    done = sdc(rare, "protect", *usual, "--overwrite", "--form", "supernodes")
    assert done.exit_code == 0, done.output
    nodes = pd.read_csv(rare / "out.csv")
    assert nodes["size"].min() >= 5
    assert nodes["size"].sum() == 60
    done = sdc(rare, "protect", *usual, *some, "--overwrite", "--form", "supernodes", "--method", "lattice")
    assert "1 record(s) are suppressed and would be single super-nodes" in str(done.exception)


def test_methods_that_leave_records_out_or_make_no_groups(folder: Path) -> None:
    graph = datasets.crawl(60, 150).graph.with_roles(quasi_identifiers=["topic1", "topic2"], identifiers=["id"])
    options: dict[str, Any] = {"k": 4, "keep": []}
    with pytest.raises(SDCError, match="this protection forms no groups of records"):
        protect(graph, method="pram", graph_form="supernodes", keep=[])
    alike = protect(graph, method="mondrian", graph_form="supernodes", **options)
    assert alike.frame["size"].min() >= 4
    assert alike.frame["size"].sum() == 60
    done = protect(graph, method="mdav", graph_form="supernodes", **options)
    assert done.links is not None
    assert done.frame["size"].sum() == 60
    assert done.links.published.edges["links"].sum() + done.frame["inner_links"].sum() == 150


def evaluate(folder: Path, *more: str) -> dict[str, Any]:
    words = ("people.csv", "out.csv", "--edges", "friends.csv", "--quasi-identifiers", "topic1,age", "--keep", "topic2")
    done = sdc(folder, "evaluate", *words, *more, "--json")
    assert done.exit_code == 0, (done.output, done.exception)
    said = json.loads(done.stdout)
    return {**said, "values": {measure["name"]: measure["value"] for measure in said["measures"]}}


def test_a_pair_of_graphs_is_measured(folder: Path) -> None:
    assert sdc(folder, "protect", *LINKED, "--out", "out.csv").exit_code == 0
    certificate = json.loads((folder / "out.csv.certificate.json").read_text())["graph"]
    values = evaluate(folder)["values"]
    told = certificate["exposed_by_links_alone"]
    assert [values[f"exposed_{name}"] for name in ("degree", "links", "ego")] == [
        told["degree"], told["links"], told["neighbourhood"],
    ]  # fmt: skip
    assert values["dr_degree"] == pytest.approx(certificate["by_attributes_and_degree"])
    assert values["k"] == 4
    people, nodes = pd.read_csv(folder / "people.csv"), pd.read_csv(folder / "out.csv")
    before, after = people["topic1"].value_counts(), nodes["topic1"].value_counts()
    deciles = np.unique(np.quantile(people["age"], np.arange(1, 10) / 10))
    ages = [np.bincount(np.searchsorted(deciles, t["age"], side="right"), minlength=10) for t in (people, nodes)]
    lost = before.sub(after, fill_value=0).abs().sum() + np.abs(ages[0] - ages[1]).sum()
    assert values["cdil"] == pytest.approx(lost / (2 * 60) / 2)
    assert 0 < values["aamil"] <= 1
    assert 0 < values["mixing"] <= 1
    assert 0 <= values["ego_risk"] <= 1


def test_without_its_rows_file_nothing_is_said_of_who_is_who(folder: Path) -> None:
    assert sdc(folder, "protect", *LINKED, "--out", "out.csv").exit_code == 0
    paired = evaluate(folder)["values"]
    (folder / "out.csv.rows.csv").unlink()
    found = evaluate(folder)
    assert not {"aamil", "mixing", "ego_risk"} & set(found["values"])
    assert [entry["why"] for entry in found["not_applicable"] if "AAMIL" in entry["label"]]
    for name in ("exposed_ego", "dr_degree", "homophily", "cdil", "transitivity"):
        assert found["values"][name] == pytest.approx(paired[name])


def test_super_nodes_are_measured(folder: Path) -> None:
    assert sdc(folder, "protect", *LINKED, "--out", "out.csv", "--form", "supernodes").exit_code == 0
    values = evaluate(folder)["values"]
    assert values["super_node"] == 4
    assert values["links"] == 150
    assert 0 < values["nsil"] < 1
    assert "exposed_ego" not in values


def test_what_a_wrong_pair_of_graphs_is_told(folder: Path) -> None:
    assert sdc(folder, "protect", *LINKED, "--out", "out.csv").exit_code == 0
    words = ("people.csv", "out.csv", "--quasi-identifiers", "topic1,age", "--keep", "topic2")
    done = sdc(folder, "evaluate", *words, "--protected-edges", "out.csv.edges.csv")
    assert done.exit_code == 2
    assert "name the links of ORIGINAL, too, by --edges" in done.output
    assert sdc(folder, "protect", *LINKED, "--out", "out.graphml").exit_code == 0
    both = ("people.csv", "out.graphml", "--quasi-identifiers", "topic1,age")
    assert "name those of ORIGINAL, too, by --edges" in str(sdc(folder, "evaluate", *both).exception)
    done = sdc(folder, "evaluate", *both, "--edges", "friends.csv", "--protected-edges", "friends.csv")
    assert "omit --protected-edges" in str(done.exception)
    (folder / "out.csv.edges.csv").rename(folder / "moved.csv")
    done = sdc(folder, "evaluate", *words, "--edges", "friends.csv")
    assert "name it by --protected-edges" in str(done.exception)
    assert evaluate(folder, "--protected-edges", "moved.csv")["values"]["k"] == 4
    (folder / "moved.csv").write_text("source,target\n1,99\n")
    done = sdc(folder, "evaluate", *words, "--edges", "friends.csv", "--protected-edges", "moved.csv")
    assert "1 link(s) have an end that is not a node" in str(done.exception)
    files = ("--protected-edges", "moved.csv", "--quasi-identifiers", "age")
    done = sdc(folder, "evaluate", "people.csv", "--edges", "friends.csv", *files)
    assert done.exit_code == 2
    assert "name PROTECTED, too" in done.output


def test_a_graph_alone_is_measured_as_it_is(folder: Path) -> None:
    known = ("--quasi-identifiers", "topic1,age", "--json")
    pairs = sdc(folder, "evaluate", "people.csv", "--edges", "friends.csv", *known)
    assert pairs.exit_code == 0, pairs.output
    graph = networkx.read_graphml(folder / "graph.graphml")
    values = {measure["name"]: measure["value"] for measure in json.loads(pairs.stdout)["measures"]}
    assert values["transitivity"] == pytest.approx(networkx.transitivity(graph))
    degrees = pd.Series(dict(graph.degree))
    assert values["exposed_degree"] == (degrees.map(degrees.value_counts()) < 2).sum()
    people = pd.read_csv(folder / "people.csv").set_index("id").assign(degree=degrees)
    assert values["dr_degree"] == pytest.approx(len(people[["topic1", "age", "degree"]].drop_duplicates()) / 60)
    whole = json.loads(sdc(folder, "evaluate", "graph.graphml", *known).stdout)["measures"]
    assert {measure["name"]: measure["value"] for measure in whole} == pytest.approx(values)
    assert {"Links of the graph"} == {m["group"] for m in whole if m["name"] in ("dr_degree", "transitivity")}


def test_columns_of_a_graph_file_are_scanned(folder: Path) -> None:
    done = sdc(folder, "scan", "graph.graphml")
    assert done.exit_code == 0, done.output
    assert "60 records, 6 columns" in done.output
    assert "sdc protect" in done.output
    for command, *more in (("scan",), ("evaluate", "--quasi-identifiers", "age")):
        done = sdc(folder, command, "graph.graphml", *more, "--delimiter", ";")
        assert "--delimiter is for CSV files, and graph.graphml is not one" in str(done.exception)
