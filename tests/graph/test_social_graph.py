"""Graphs in and out: every format, every way a file can be wrong."""

from __future__ import annotations

import gzip
import pickle
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sdc_problems import Microdata, SDCError
from sdc_problems._slices import listening
from sdc_problems.graph import ProtectedGraph, SocialGraph, _edge_list, _markup

networkx = pytest.importorskip("networkx")

PEOPLE = "id,town,age\n1,Olot,30\n2,Reus,40\n3,Reus,50\n4,Vic,60\n"


def write(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


def read(tmp_path: Path, edges: str, people: str = PEOPLE, name: str = "links.csv", **options: object) -> SocialGraph:
    return SocialGraph.from_csv(
        write(tmp_path / "people.csv", people), write(tmp_path / name, edges), quasi_identifiers=["town"], **options
    )


def test_pairs_become_sorted_arcs(tmp_path: Path) -> None:
    graph = read(tmp_path, "source,target\n3,1\n2,3\n")
    assert graph.edges.tolist() == [[0, 2], [1, 2]]
    assert graph.indptr.tolist() == [0, 1, 2, 4, 4]
    assert graph.indices.tolist() == [2, 2, 0, 1]
    assert graph.degrees.tolist() == [1, 1, 2, 0]
    assert graph.notes == ("1 node(s) have no link; they are kept, in releases too.",)
    assert graph.data.identifiers == ("id",)


@pytest.mark.parametrize(
    ("edges", "name", "directed"),
    [
        ("Id,Source,Target,Type,Weight\n0,1,2,Undirected,1.0\n1,2,3,Undirected,1.0\n", "a.csv", False),
        ("Source;Target;Type\n1;2;Directed\n2;3;Directed\n", "a.csv", True),
        ("# Nodes: 4\n# FromNodeId\tToNodeId\n1\t2\n2\t3\n", "a.txt", False),
        ("1 2\n2 3\n", "a.txt", False),
        ("\ufeffSOURCE,TARGET\n1.0,2.0\n2,3.0\n", "a.csv", False),
        ('"source","target"\n"1","2"\n"2","3"\n', "a.csv", False),
    ],
)
def test_lists_as_gephi_and_snap_write_them(tmp_path: Path, edges: str, name: str, directed: bool) -> None:
    graph = read(tmp_path, edges, name=name)
    assert graph.directed is directed
    assert graph.edges.tolist() == [[0, 1], [1, 2]]


@pytest.mark.parametrize("end", ["xlsx", "parquet"])
def test_tables_of_other_programs(tmp_path: Path, end: str) -> None:
    pytest.importorskip("openpyxl" if end == "xlsx" else "pyarrow")
    people = pd.DataFrame({"Id": [7.0, 8.0, 9.0], "town": ["a", None, "b"], "age": [30, 40, 50]})
    links = pd.DataFrame({"Source": [7, 9], "Target": [8.0, 8.0], "Weight": [1.5, 2.0], "Label": [None, "x"]})
    for frame, name in ((people, "people"), (links, "links")):
        (frame.to_excel if end == "xlsx" else frame.to_parquet)(tmp_path / f"{name}.{end}", index=False)
    paths = tmp_path / f"people.{end}", tmp_path / f"links.{end}"
    graph = SocialGraph.from_csv(*paths, weight="Weight", quasi_identifiers=["town", "age"])
    assert graph.edges.tolist() == [[0, 1], [1, 2]]
    assert graph.edge_weights is not None
    assert graph.edge_weights.tolist() == [1.5, 2.0]
    assert graph.data.identifiers == ("Id",)
    links.assign(Target=[8.0, None]).to_parquet(tmp_path / "blank.parquet")
    with pytest.raises(SDCError, match="the first is the target at line 3 of blank"):
        SocialGraph.from_csv(paths[0], tmp_path / "blank.parquet")


def test_a_compressed_list_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"# comment\n1 2\n"))
    graph = SocialGraph.from_csv(write(tmp_path / "p.csv", PEOPLE), tmp_path / "a.txt.gz")
    assert graph.n_links == 1


@pytest.mark.parametrize(
    "people", ["\ufeff" + PEOPLE, PEOPLE.replace(",", ";"), '"Id","town"\n"1","a"\n"2","b"\n3,a\n4,b\n']
)
def test_tables_of_nodes_with_bom_semicolons_or_quotes(tmp_path: Path, people: str) -> None:
    graph = read(tmp_path, "source,target\n1,4\n", people)
    assert graph.edges.tolist() == [[0, 3]]


@pytest.mark.parametrize(
    ("edges", "sentence"),
    [
        (
            "source,target\n1,9\n2,3\n8,9\n",
            "2 link(s) have an end that is not a node, the first is the target at line 2 of",
        ),
        ("source,target\n1,\n", "1 link(s) have a blank end, the first is the target at line 2"),
        ("source,target\n1,2\n\n2,2\n", "lead from a node to itself, the first at line 4"),
        ("source,target\n1,2\n1,2\n", "1 link(s) are named more than once, the first again at line 3"),
        ("source,target\n1,2\n2,1\n3,1\n", "stand in both directions and others in one, the first at line 3"),
        ("a,b\n1,2\n", "no columns for the two ends of a link in its first line: name them with source= and target="),
        ("source,b\n1,2\n", "no column for the target of a link"),
        ("source,target\n", "has no link"),
        ("", "has no link"),
        ("source,target\n1\n", "line 2 of links.csv has 1 cell(s)"),
        ("source,target,type\n1,2,Directed\n2,3,Undirected\n", "has directed and undirected links"),
    ],
)
def test_links_that_cannot_be_used_are_named_by_their_place(tmp_path: Path, edges: str, sentence: str) -> None:
    with pytest.raises(SDCError, match=re.escape(sentence)) as caught:
        read(tmp_path, edges)
    assert "\n" not in str(caught.value)


def test_weights(tmp_path: Path) -> None:
    graph = read(tmp_path, "source,target,w\n3,1,2.5\n2,3,1\n", weight="w")
    assert graph.edge_weights is not None
    assert graph.edge_weights.tolist() == [2.5, 1.0]
    for bad in ("0", "-1", "inf", "nan"):
        with pytest.raises(SDCError, match="not positive finite numbers, the first at line 3"):
            read(tmp_path, f"source,target,w\n3,1,2.5\n2,3,{bad}\n", weight="w")
    with pytest.raises(SDCError, match="the weight is not a number"):
        read(tmp_path, "source,target,w\n3,1,heavy\n", weight="w")
    assert "left out: w." in " ".join(read(tmp_path, "source,target,w\n3,1,2.5\n").notes)


def test_ways_out_of_loops_and_repetitions(tmp_path: Path) -> None:
    graph = read(tmp_path, "source,target\n1,1\n1,2\n", self_loops="drop")
    assert graph.n_links == 1
    assert "left out" in graph.notes[0]
    graph = read(tmp_path, "source,target\n1,2\n2,1\n1,3\n", repeated="sum")
    assert graph.edges.tolist() == [[0, 1], [0, 2]]
    assert graph.edge_weights is not None
    assert graph.edge_weights.tolist() == [2.0, 1.0]
    merged = read(tmp_path, "source,target\n1,2\n2,1\n1,3\n3,1\n")
    assert merged.n_links == 2
    assert merged.notes[0] == "Every link stood in both directions: 4 lines are 2 undirected links."
    assert read(tmp_path, "source,target\n1,2\n2,1\n1,3\n", directed=True).n_links == 3


def test_nodes_are_distinct_and_named(tmp_path: Path) -> None:
    with pytest.raises(SDCError, match="node 2 has the identifier of node 1"):
        read(tmp_path, "source,target\n1,2\n", "id,town\n1,a\n1.0,b\n2,a\n3,b\n")
    with pytest.raises(SDCError, match="node 2 has a blank identifier"):
        read(tmp_path, "source,target\n1,3\n", "id,town\n1,a\n,b\n2,a\n3,b\n")
    with pytest.raises(SDCError, match="no column 'id'"):
        read(tmp_path, "source,target\n1,3\n", "name,town\n1,a\n2,b\n")


def test_ids_are_compared_as_text(tmp_path: Path) -> None:
    people = pd.DataFrame({"id": [7.0, 8.0], "town": ["a", "b"]})
    links = pd.DataFrame({"source": ["7"], "target": [8]})
    assert SocialGraph.from_frames(people, links).edges.tolist() == [[0, 1]]


def graphs() -> list[object]:
    out: list[object] = []
    for kind in (networkx.Graph, networkx.DiGraph):
        G = kind()
        G.add_node("a", town="Olot & <Vic>", age=3, tall=True)
        G.add_node("b", town="Reus", age=4, tall=False)
        G.add_node("c", town="Reus", age=5, tall=False)
        G.add_edge("a", "b", since=1999)
        G.add_edge("c", "b", since=2001)
        out.append(G)
    return out


@pytest.mark.parametrize("G", graphs(), ids=["undirected", "directed"])
@pytest.mark.parametrize("form", ["graphml", "gml", "networkx"])
def test_what_networkx_writes(tmp_path: Path, G: object, form: str) -> None:
    options = {"quasi_identifiers": ["town"]}
    if form == "networkx":
        graph = SocialGraph.from_networkx(G, **options)
    elif form == "graphml":
        networkx.write_graphml(G, tmp_path / "g")
        graph = SocialGraph.from_graphml(tmp_path / "g", **options)
    else:
        networkx.write_gml(G, tmp_path / "g", stringizer=str)
        graph = SocialGraph.from_gml(tmp_path / "g", **options)
    assert graph.directed is G.is_directed()
    assert graph.edges.tolist() == ([[0, 1], [2, 1]] if graph.directed else [[0, 1], [1, 2]])
    assert graph.data.frame()["town"].tolist() == ["Olot & <Vic>", "Reus", "Reus"]
    assert graph.data.frame()["age"].tolist() == [3, 4, 5]
    assert "left out: since" in graph.notes[0]


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("form", ["graphml", "gml", "igraph"])
def test_what_igraph_writes(tmp_path: Path, form: str, directed: bool) -> None:
    igraph = pytest.importorskip("igraph")
    g = igraph.Graph(n=3, edges=[(0, 1), (2, 1)], directed=directed)
    g.vs["town"] = ["Olot", "Reus", "Réus"]
    g.es["heavy"] = [2.0, 3.0]
    if form == "igraph":
        graph = SocialGraph.from_igraph(g, weight="heavy")
    else:
        getattr(g, f"write_{form}")(str(tmp_path / "g"))
        graph = getattr(SocialGraph, f"from_{form}")(tmp_path / "g", weight="heavy")
    assert graph.directed is directed
    assert graph.edges.tolist() == ([[0, 1], [2, 1]] if directed else [[0, 1], [1, 2]])
    assert graph.data.frame()["town"].tolist() == ["Olot", "Reus", "Réus"]
    assert graph.edge_weights is not None
    assert graph.edge_weights.tolist() == [2.0, 3.0]


def graphml(body: str, keys: str = "", default: str = "undirected") -> str:
    return (
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
        f'{keys}<graph edgedefault="{default}">{body}</graph></graphml>'
    )


NODES = '<node id="a"/><node id="b"/>'
TOWN = '<key id="t" for="node" attr.name="town" attr.type="string"/>'


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('<!DOCTYPE x [<!ENTITY e "x">]>' + graphml(NODES), "a document type or entity is declared"),
        (graphml('<node id="a"><data key="q">1</data></node>'), "a value's key is not declared"),
        (
            graphml(NODES, TOWN + TOWN.replace('"t"', '"u"').replace("string", "int")),
            "attribute 'town' is declared as string and as int",
        ),
        (graphml(f'<node id="a"><graph edgedefault="directed">{NODES}</graph></node>'), "a node contains a graph"),
        (graphml(NODES + "<hyperedge/>"), "a hyperedge stands here"),
        (
            graphml(NODES + '<edge source="a" target="b" directed="true"/>'),
            "directed and undirected links are mixed",
        ),
        (graphml(NODES + '<edge source="a" target="c"/>'), "have an end that is not a node"),
        (graphml(NODES), "there is no link"),
        (graphml('<node id="a"/><node id="a"/><edge source="a" target="a"/>'), "node 2 has the identifier of node 1"),
        (
            graphml('<node id="a"><data key="t">x</data></node>' + NODES[14:], TOWN.replace('"town"', '"id"')),
            "attribute 'id' of the nodes of g.graphml is blank or repeated",
        ),
        (
            graphml('<node id="a"><data key="t">1</data></node>', TOWN.replace("string", "int")) + "<",
            "not well-formed XML",
        ),
        (graphml('<node id="a"><data key="t">x</data></node>', TOWN.replace("string", "int")), "'town' is no int"),
    ],
)
def test_graphml_that_cannot_be_used(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(SDCError, match=re.escape(sentence)):
        SocialGraph.from_graphml(write(tmp_path / "g.graphml", text))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("graph [ node [ id 1 ]", "line 1 of g.gml: a bracket is not closed"),
        ("graph [\n node [ town 1 ] ]", "line 2 of g.gml: a node has no id"),
        ("graph [ node [ id 1 ] edge [ source 1 ] ]", "a link needs a source and a target"),
        ('graph [ node [ id 1 town "a" town "b" ] ]', "'town' is given twice"),
        ("graph [ ] graph [ ]", "holds 2 graphs"),
        ("anna,bert\n1,2\n", "line 1 of g.gml: a key has no value; is this GML?"),
        ("graph [ node [ id 1 ] node [ id 1 ] edge [ source 1 target 1 ] ]", "node 2 has the identifier of node 1"),
        (b"graph [ label \xff ]", "g.gml is not utf-8 (byte 14): save it as UTF-8"),
    ],
)
def test_gml_that_cannot_be_used(tmp_path: Path, text: str | bytes, sentence: str) -> None:
    (tmp_path / "g.gml").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(SDCError, match=re.escape(sentence)) as caught:
        SocialGraph.from_gml(tmp_path / "g.gml")
    assert "anna" not in str(caught.value)


def test_drawings_of_other_programs_are_ignored_with_a_note(tmp_path: Path) -> None:
    keys = TOWN + '<key id="y" for="node" yfiles.type="nodegraphics"/>'
    body = (
        '<node id="a"><data key="t">x</data><data key="y"><y:Shape xmlns:y="u"/></data></node><node id="b"/>'
        '<edge source="a" target="b"/>'
    )
    graph = SocialGraph.from_graphml(write(tmp_path / "g.graphml", graphml(body, keys)))
    assert "other programs" in graph.notes[0]
    assert graph.data.names == ("id", "town")


def test_sparse_matrices(tmp_path: Path) -> None:
    from scipy.sparse import coo_array

    data = Microdata.from_frame(pd.DataFrame({"town": ["a", "b", "c"]}))
    A = coo_array(([1, 1], ([0, 1], [1, 2])), shape=(3, 3))
    assert SocialGraph.from_sparse(A, data).directed
    graph = SocialGraph.from_sparse(A + A.T, data)
    assert graph.edges.tolist() == [[0, 1], [1, 2]]
    with pytest.raises(SDCError, match="shape"):
        SocialGraph.from_sparse(A, Microdata.from_frame(pd.DataFrame({"town": ["a", "b"]})))
    with pytest.raises(SDCError, match="not symmetric"):
        SocialGraph.from_sparse(A, data, directed=False)


def test_a_graph_is_one_value(tmp_path: Path) -> None:
    graph = read(tmp_path, "source,target\n3,1\n2,3\n")
    again = pickle.loads(pickle.dumps(graph))
    assert again == graph
    assert again.edges.tolist() == graph.edges.tolist()
    assert len(pickle.dumps(graph)) < 5000
    assert read(tmp_path, "source,target\n3,1\n2,1\n") != graph
    with pytest.raises(SDCError, match="not a record"):
        SocialGraph(graph.data, np.array([[0, 9]]))


def protected() -> ProtectedGraph:
    nodes = pd.DataFrame({"id": [1, 2, 3], "town": ["a", 'b"<', None], "age": [1.5, 2.0, 3.0]})
    return ProtectedGraph(nodes, pd.DataFrame({"source": [1, 2], "target": [2, 3], "n": [4, 5]}), False)


def test_who_waits_for_large_files_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_edge_list, "TOLD", 2)
    monkeypatch.setattr(_markup, "TOLD", 20)
    monkeypatch.setattr(_markup, "_PART", 300)
    told: list[tuple[str, int, int]] = []
    with listening(lambda *said: told.append(said)):
        graph = read(tmp_path, "source,target\n3,1\n2,3\n1,4\n")
        assert told[:3] == [("links read", 2, 5), ("links read", 4, 5), ("links read", 5, 5)]
        published = ProtectedGraph(
            graph.data.frame(), pd.DataFrame(graph.edges + 1, columns=["source", "target"]), False
        )
        for how in ("graphml", "gml"):
            path = getattr(published, f"to_{how}")(tmp_path / "g")
            told.clear()
            assert getattr(SocialGraph, f"from_{how}")(path).n_links == 3
            assert len(told) > 2
            assert {what for what, *_ in told} == {"file read"}
            assert all(0 <= done <= total for _, done, total in told)


@pytest.mark.parametrize("how", ["graphml", "gml"])
def test_published_cells_come_back(tmp_path: Path, how: str) -> None:
    nodes = pd.DataFrame(
        {
            "id": [1, 2, 3],
            "town": ["a", 'b"<&;\n\ré', None],
            "n": [1e-5, 3e16, -2.5],
            "ok": [True, False, True],
            "count": pd.array([7, None, 9], dtype="Int64"),
        }
    )
    links = pd.DataFrame({"source": [3, 1], "target": [1, 2], "n": [4, 5]})  # a name that nodes have, of another type
    graph = ProtectedGraph(nodes, links, True)
    path = getattr(graph, f"to_{how}")(tmp_path / f"g.{how}")
    G = getattr(networkx, f"read_{how}")(path)
    assert G.is_directed()
    assert dict(G.nodes(data=True)) == {
        "1": {"town": "a", "n": 1e-5, "ok": True, "count": 7},
        "2": {"town": 'b"<&;\n\ré', "n": 3e16, "ok": False},
        "3": {"n": -2.5, "ok": True, "count": 9},
    }
    assert dict(G.edges) == {("3", "1"): {"n": 4}, ("1", "2"): {"n": 5}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # igraph does not know all entities of GML
        assert pytest.importorskip("igraph").Graph.Read(str(path)).get_edgelist() == [(2, 0), (0, 1)]
    again = getattr(SocialGraph, f"from_{how}")(path)
    assert again.directed
    assert again.edges.tolist() == [[0, 1], [2, 0]]


def test_cells_that_markup_cannot_hold(tmp_path: Path) -> None:
    links = pd.DataFrame({"source": [1], "target": [2]})
    bell = ProtectedGraph(pd.DataFrame({"id": [1, 2], "town": ["a\x07", "b"]}), links, False)
    with pytest.raises(SDCError, match="column 'town' holds a control character, which GraphML cannot: write CSV"):
        bell.to_graphml(tmp_path / "g")
    for name in ("home town", "label"):
        odd = ProtectedGraph(pd.DataFrame({"id": [1, 2], name: ["a", "b"]}), links, False)
        with pytest.raises(SDCError, match=f"column '{name}' cannot be an attribute in GML"):
            odd.to_gml(tmp_path / "g")
        assert odd.to_graphml(tmp_path / "g").exists()


def test_what_is_published_opens_elsewhere(tmp_path: Path) -> None:
    graph = protected()
    nodes, edges = graph.to_csv(tmp_path / "out")
    assert pd.read_csv(nodes)["age"].tolist() == [1.5, 2.0, 3.0]
    assert pd.read_csv(edges).to_numpy().tolist() == [[1, 2, 4], [2, 3, 5]]
    G = networkx.read_graphml(graph.to_graphml(tmp_path / "g.graphml"))
    assert G.nodes["2"] == {"town": 'b"<', "age": 2.0}
    assert G.edges["1", "2"] == {"n": 4}
    H = graph.to_networkx()
    assert H.nodes[1]["town"] == "a"
    assert H.edges[2, 3] == {"n": 5}
    g = pytest.importorskip("igraph") and graph.to_igraph()
    assert g.get_edgelist() == [(0, 1), (1, 2)]
    assert g.vs["age"] == [1.5, 2.0, 3.0]
    assert graph.to_sparse().toarray().tolist() == [[0, 4, 0], [4, 0, 5], [0, 5, 0]]
    again = SocialGraph.from_csv(nodes, edges, weight="n")
    assert again.edges.tolist() == [[0, 1], [1, 2]]
