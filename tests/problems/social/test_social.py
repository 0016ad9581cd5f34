"""SocialGraphProblem: the source's example, published graphs, releases, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sdc_problems import Hierarchy, Microdata, SDCError, SocialGraph, SocialGraphProblem
from sdc_problems.errors import SDCWarning
from sdc_problems.evaluators.graph._links import arcs
from sdc_problems.evaluators.node_clusters import Column
from sdc_problems.evaluators.node_clusters.table import node_table
from sdc_problems.problems.social._baselines import nearest_clusters, sangreea

US = [("United States", 5), ("World", 7)]
NEW_YORK = [("New York City", 1), ("New York State", 4), *US]
PLACES = Hierarchy.from_typed_paths(
    [[("Brooklyn", 0), *NEW_YORK], [("Manhattan", 0), *NEW_YORK], [("Washington DC", 1), *US], NEW_YORK, US]
)
TOPICS = ("topic1", "topic2", "topic3")


def chapter() -> SocialGraph:
    """Figure 6.5, completed."""
    people = pd.DataFrame({
        "id": [1, 2, 3],
        "place": ["Washington DC", "United States", "New York City"],
        "topic1": ["Technology", "Technology", "Politics"],
        "topic2": ["Politics", "Sports", "Sports"],
        "topic3": ["Culture", "Religion", "Weather"],
    })  # fmt: skip
    # The smallest graph for k = 2 has four nodes: the other two keep to themselves.
    more = pd.DataFrame({"id": [4, 5, 6], "place": "Brooklyn", **dict.fromkeys(TOPICS[:2], "Sports"), "topic3": "Film"})
    more["topic2"] = "Chess"
    links = pd.DataFrame({"source": [1, 2], "target": [2, 3]})
    return SocialGraph.from_frames(pd.concat([people, more]), links, quasi_identifiers=["place", *TOPICS])


def test_the_example_of_the_source() -> None:
    problem = SocialGraphProblem(chapter(), 3, objectives=("aamil",), hierarchies={"place": PLACES}, ranked=[TOPICS])
    x = [0, 0, 0, 1, 1, 1]
    released = problem.release(x)
    assert released.loc[1, ["place", *TOPICS]].tolist() == ["United States", "Technology", "Politics", "Sports"]
    assert released.loc[5, ["place", *TOPICS]].tolist() == ["Brooklyn", "Sports", "Chess", "Film"]
    # Half of the nodes and no link are added: sums over arcs stay, means over nodes halve.
    aamil, cdil, dbil = problem.engine.losses(np.array(x))
    assert aamil.tolist() == [0.5, 0.25, 0.75, 1.0]
    assert (2 * cdil).tolist() == pytest.approx([2 / 3, 1 / 3, 2 / 3, 1.0])
    assert 2 * dbil.mean() == pytest.approx(0.595238, abs=1e-6)
    assert problem.figures(x)["mixing"] == pytest.approx(np.mean([1.0, 0.5, 1.0, 1.0]))
    assert problem.figures(x)["coarser"] == pytest.approx(2 / 24)
    assert problem.figures(x)["untrue"] == pytest.approx(6 / 24)


def test_distances_and_common_places() -> None:
    problem = SocialGraphProblem(
        SocialGraph.from_frames(
            pd.DataFrame({"id": range(4), "place": ["Brooklyn", "United States", "Washington DC", "Manhattan"]}),
            pd.DataFrame({"source": [0], "target": [1]}),
            quasi_identifiers=["place"],
        ),
        2,
        hierarchies={"place": PLACES},
    )
    assert problem.engine.distances(0).tolist() == pytest.approx([0, 5 / 7, 1, 1])
    assert problem.release([0, 1, 1, 0])["place"].tolist() == ["New York City", *["United States"] * 2, "New York City"]
    assert problem.release([0, 1, 0, 1])["place"].tolist() == ["United States"] * 4


# -- baselines --------------------------------------------------------------------------------------------------------


@pytest.fixture
def published(public: Callable[[str], Path]) -> Callable[[str], Any]:
    """``published("lazega", k)``: a problem whose attributes are all nominal, in the order of the file's values."""
    files = {
        "lazega": ("graph_lazega_nodes.csv", "graph_lazega_cowork_edges.csv"),
        "caltech36": ("graph_caltech36_nodes.csv", "graph_caltech36_edges.csv"),
    }

    def read(name: str, k: int, objectives: tuple[str, ...] = ("il_graph",)) -> SocialGraphProblem:
        nodes, links = (public(file) for file in files[name])
        names = pd.read_csv(nodes, nrows=0).columns[1:].tolist()
        graph = SocialGraph.from_csv(
            nodes, links, quasi_identifiers=names, kinds=dict.fromkeys(names, "nominal"), na_values=()
        )
        return SocialGraphProblem(graph, k, objectives=objectives, threads=1)

    return read


LOSSES = {
    "lazega": {2: (0.130626, 0.136, 0.232059), 3: (0.164849, 0.169, 0.320545), 5: (0.212660, 0.228, 0.384762),
               10: (0.302081, 0.286, 0.457749)},
    "caltech36": {2: (0.132714, 0.144, 0.096396), 3: (0.164659, 0.167, 0.128645), 5: (0.201341, 0.207, 0.157166),
                  10: (0.242864, 0.259, 0.178248)},
}  # fmt: skip


@pytest.mark.parametrize("name", LOSSES)
def test_baselines_of_published_graphs(name: str, published: Callable[..., Any]) -> None:
    for k, (chapters, by_mdav, structural) in LOSSES[name].items():
        problem = published(name, k, ("il_graph", "nsil"))
        found = problem.baselines()
        in_order = nearest_clusters(problem.engine.table, k, seeds=np.arange(len(problem.data)))
        rows = np.array([in_order, found["MDAV"], found["SaNGreeA, α = 0, β = 1"]])
        loss, structure = problem.engine.measure(rows, ("il_graph", "nsil")).T
        assert loss[0] == pytest.approx(chapters, abs=1e-6)
        assert loss[1] == pytest.approx(by_mdav, abs=6e-4)
        assert structure[2] == pytest.approx(structural, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "single", "both", "homophily"),
    [
        ("lazega", (31, 42, 22, 0, 0, 23, 9), 0, {2: (0.566093, 0.371696), 5: (0.572285, 0.315583)}),
        ("caltech36", (431, 281, 41, 76, 82, 112, 18), 4, {4: (0.349153, 0.211388)}),
    ],
)
def test_risks_of_published_graphs(
    name: str, single: tuple[int, ...], both: int, homophily: dict, published: Callable[..., Any]
) -> None:
    engine = published(name, 3).engine
    labels = nearest_clusters(engine.table, 3, seeds=np.arange(engine.n))
    assert [int((engine.ego_matches(labels, [j]).found > 0).sum()) for j in range(7)] == list(single)
    found = engine.ego_matches(labels)
    assert ((found.found > 0).sum(), found.right.sum()) == (both, both)
    for j, (before, after) in homophily.items():
        assert engine.homophily_before[j] == pytest.approx(before, abs=1e-6)
        assert engine.homophily_after(labels)[j] == pytest.approx(after, abs=1e-6)


def test_matches_of_a_published_graph_are_those_of_networkx(published: Callable[..., Any]) -> None:
    networkx = pytest.importorskip("networkx")
    problem = published("caltech36", 3)
    engine, name = problem.engine, problem.attributes.index("dorm")
    labels = nearest_clusters(engine.table, 3, seeds=np.arange(engine.n))
    before, after = engine.table.codes[name], engine.values(labels)[0][labels, name]
    G = networkx.Graph(problem.graph.edges.tolist())

    def ego(v: int, values: np.ndarray) -> Any:
        one = networkx.ego_graph(G, v)
        networkx.set_node_attributes(one, {u: (int(values[u]), u == v) for u in one}, "is")
        return one

    found = engine.ego_matches(labels, [name]).found
    same = networkx.algorithms.isomorphism.categorical_node_match("is", None)
    degree = dict(G.degree())
    few = [v for v in G if degree[v] <= 6]
    release = {u: ego(u, after) for u in few}
    for v in few:
        mine = ego(v, before)
        matched = sum(degree[u] == degree[v] and networkx.is_isomorphic(mine, release[u], same) for u in few)
        assert found[v] == matched


def plain_sangreea(codes: np.ndarray, A: np.ndarray, k: int, alpha: float, beta: float) -> np.ndarray:
    n, p = codes.shape

    def far(i: int, j: int) -> int:
        return sum(A[i, h] != A[j, h] for h in range(n) if h not in (i, j))

    def unlike(nodes: list[int]) -> int:
        return sum(len(set(codes[nodes, j])) > 1 for j in range(p))

    left, clusters = sorted(range(n), key=lambda v: (-A[v].sum(), v)), []
    while len(left) >= k:
        cluster = [left[0]]
        while len(cluster) < k:
            rest = sorted(set(left) - set(cluster))
            cost = {
                v: alpha * unlike([*cluster, v]) / p
                + beta * (sum(far(v, u) for u in cluster) / (len(cluster) * (n - 2)))
                for v in rest
            }
            cluster.append(min(rest, key=lambda v: (cost[v], v)))
        clusters.append(cluster)
        left = [v for v in left if v not in cluster]
    for v in sorted(left):
        cost = [
            alpha * ((len(c) + 1) * unlike([*c, v]) - len(c) * unlike(c)) / p
            + beta * (sum(far(v, u) for u in c) / (len(c) * (n - 2)))
            for c in clusters
        ]
        clusters[int(np.argmin(cost))].append(v)
    out = np.empty(n, dtype=int)
    for c, nodes in enumerate(clusters):
        out[nodes] = c
    return out


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("alpha", "beta"), [(1, 0), (0.5, 0.5), (0, 1)])
def test_sangreea_is_its_plain_twin(seed: int, alpha: float, beta: float) -> None:
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(8, 20)), int(rng.integers(2, 4))
    codes = rng.integers(0, 3, size=(n, 3))
    A = np.triu(rng.random((n, n)) < 0.3, 1)
    A[0, 1] = True
    found = sangreea(codes.T, arcs(np.argwhere(A), n), k, alpha=alpha, beta=beta)
    expected = plain_sangreea(codes, (A | A.T).astype(int), k, alpha, beta)
    np.testing.assert_array_equal(found[:, None] == found, expected[:, None] == expected)


@pytest.mark.parametrize("seed", range(4))
def test_algorithm_14_is_its_plain_twin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(8, 20)), int(rng.integers(2, 4))
    codes = rng.integers(0, 3, size=(n, 4))
    seeds = rng.permutation(n)
    left, expected = list(range(n)), np.zeros(n, dtype=int)
    clusters = n // k if n % k == 0 else n // k - 1
    for c in range(1, clusters + 1):
        first = next(v for v in seeds if v in left)
        left.remove(first)
        near = sorted(left, key=lambda v: ((codes[v] != codes[first]).sum(), v))[: k - 1]
        left = [v for v in left if v not in near]
        expected[[first, *near]] = c
    found = nearest_clusters(node_table([Column(c.astype(np.int32), 3) for c in codes.T]), k, seeds=seeds)
    np.testing.assert_array_equal(found[:, None] == found, expected[:, None] == expected)


def test_large_graphs_have_baselines_too() -> None:
    n = 20_002
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"id": range(n), "a": rng.integers(0, 50, n), "b": rng.choice(list("xyz"), n)})
    links = pd.DataFrame({"source": np.arange(n - 1), "target": np.arange(1, n)})
    graph = SocialGraph.from_frames(frame, links, quasi_identifiers=["a", "b"], kinds={"a": "nominal"})
    problem = SocialGraphProblem(graph, 3, objectives=("dbil_graph", "k"))
    found = problem.baselines()
    assert list(found) == ["degree blocks", "attribute blocks"]
    loss, k = problem.natural(problem.evaluate(np.array(list(found.values())))).T
    assert loss[1] < 0.05 < loss[0]
    assert k.min() == 3
    near = problem.neighbours
    assert near.shape == (n, 16)
    same = problem.data.codes()[near[:, 0]] == problem.data.codes()
    assert same.all(axis=1).mean() > 0.99


def test_objectives_say_what_they_are() -> None:
    problem = SocialGraphProblem(triangle_and_path(), 2, k_max=3)
    every = problem.with_objectives(list(problem.catalogue))
    for x in every.baselines().values():
        values = dict(zip(every.catalogue, every.natural(every.evaluate(x)).tolist(), strict=True))
        figures = every.figures(x)
        for name, objective in every.catalogue.items():
            assert objective.meaning.endswith(".")
            assert objective.source
            assert objective.bounds[0] <= values[name] <= objective.bounds[1]
            assert figures[name] == values[name]
        for name in ("il_graph", "score_mean", "score_max"):  # formulas of others
            formula = every.catalogue[name].formula
            assert eval(formula, {"max": max}, values) == pytest.approx(values[name])  # noqa: S307 -- our own
    no_sensitive = SocialGraphProblem(triangle_and_path().with_roles(quasi_identifiers=["town"], identifiers=["id"]), 2)
    with pytest.raises(SDCError, match="'l' needs a sensitive attribute"):
        no_sensitive.with_objectives(["l"])
    assert "l" not in no_sensitive.figures([0, 0, 0, 1, 1, 1])


# -- releases ---------------------------------------------------------------------------------------------------------


def triangle_and_path(*, directed: bool = False, weights: bool = False) -> SocialGraph:
    people = pd.DataFrame({
        "id": list("abcdef"),
        "town": ["Olot", "Olot", "Vic", "Reus", "Reus", "Vic"],
        "age": [20, 30, 40, 50, 60, 75],
        "flu": ["yes", "no", "no", "yes", "no", "no"],
    })  # fmt: skip
    links = pd.DataFrame({"source": list("aabcd"), "target": list("bccde"), "w": [1.0, 2.0, 3.0, 4.0, 5.0]})
    return SocialGraph.from_frames(
        people,
        links,
        directed=directed,
        weight="w" if weights else None,
        quasi_identifiers=["town", "age"],
        sensitive=["flu"],
    )


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weights", [False, True])
def test_nodes_and_links_are_released_under_fresh_ids(directed: bool, weights: bool, tmp_path: Path) -> None:
    problem = SocialGraphProblem(triangle_and_path(directed=directed, weights=weights), 3)
    released = problem.release_graph([0, 0, 0, 1, 1, 1], seed=3)
    assert released.nodes["id"].tolist() == [1, 2, 3, 4, 5, 6]
    assert released.nodes.columns.tolist() == ["id", "town", "age", "flu"]
    assert released.nodes.groupby(["town", "age"]).size().tolist() == [3, 3]
    assert released.counts == {"nodes": 6, "links": 5, "smallest_combination": 3}
    assert released.directed is directed
    # The same graph up to the names: weights tell the links apart.
    again = SocialGraph.from_frames(
        released.nodes, released.edges, directed=directed, weight="weight" if weights else None, id="id"
    )
    assert sorted(again.degrees) == sorted(problem.graph.degrees)
    if weights:
        assert sorted(released.edges["weight"]) == [1.0, 2.0, 3.0, 4.0, 5.0]
    nodes, edges = released.to_csv(tmp_path)
    assert SocialGraph.from_csv(nodes, edges, directed=directed).n_links == 5
    other, same = problem.release_graph([0, 0, 0, 1, 1, 1]), problem.release_graph([0, 0, 0, 1, 1, 1], seed=3)
    assert same.nodes.equals(released.nodes)
    orders = {tuple(problem.release_graph([0, 0, 0, 1, 1, 1]).nodes["flu"]) for _ in range(20)}
    assert len(orders) > 1, "the order is drawn from the system"
    assert other.counts == released.counts


@pytest.mark.parametrize("directed", [False, True])
def test_clusters_are_released_as_super_nodes(directed: bool) -> None:
    problem = SocialGraphProblem(triangle_and_path(directed=directed), 3)
    released = problem.release_graph([0, 0, 0, 1, 1, 1], form="supernodes", seed=1)
    assert released.nodes.columns.tolist() == ["id", "town", "age", "size", "inner_links"]
    rows = released.nodes.set_index("town")
    assert rows.loc["Olot", ["age", "size", "inner_links"]].tolist() == [30.0, 3, 3]
    assert rows.loc["Reus", ["size", "inner_links"]].tolist() == [3, 1]
    assert released.edges.columns.tolist() == ["source", "target", "links"]
    assert released.edges["links"].tolist() == [1]
    if directed:
        assert (
            released.edges[["source", "target"]].to_numpy().ravel().tolist()
            == rows.loc[["Olot", "Reus"], "id"].tolist()
        )
    assert released.counts == {"nodes": 6, "links": 5, "clusters": 2, "smallest_cluster": 3}
    assert sum(released.nodes["inner_links"]) + sum(released.edges["links"]) == 5


def test_the_extracted_table_can_be_protected_again() -> None:
    problem = SocialGraphProblem(triangle_and_path(), 3)
    table = problem.microdata([0, 0, 0, 1, 1, 1])
    assert isinstance(table, Microdata)
    assert table.quasi_identifiers == ("town", "age", "degree")
    assert table.sensitive == ("flu",)
    assert table.frame()["degree"].tolist() == [2, 2, 3, 2, 1, 0]
    assert "id" not in table.names
    combinations = table.frame().groupby(["town", "age", "degree"]).size()
    assert combinations.min() == 1, "with the degree, k no longer holds"


def test_a_person_is_told_what_becomes_untrue_and_what_links_betray() -> None:
    problem = SocialGraphProblem(triangle_and_path(), 3)
    sentences = problem.describe([0, 0, 0, 1, 1, 1])
    assert "2 clusters of 3 nodes" in sentences[0]
    assert "most frequent value or the mean" in sentences[0]
    assert "58.3 % of the cells become untrue of the person, 0.0 % become coarser" in sentences[2]
    assert "of 6 nodes, 3 have a number of links that fewer than 3 share" in sentences[4]
    assert problem.exposure == (3, 6, 6)
    assert str(problem.decode([0, 0, 0, 1, 1, 1])) == "2 clusters of 3 nodes"
    assert problem.decode([0, 0, 0, 1, 1, 1]).k == 3


def test_the_front_of_a_few_nodes_is_exact() -> None:
    problem = SocialGraphProblem(triangle_and_path(), 2, objectives=("il_graph", "dr_degree"))
    assert problem.n_candidates == 15 + 10
    front = problem.enumerate_front()
    assert front.n_candidates == 25
    assert front.F.min(axis=0)[1] == pytest.approx(4 / 6)


# -- refused ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"k": 1}, "k must be a whole number ≥ 2"),
        ({"k": 4}, "k = 4 is too large for 6 records"),
        ({"k": 3, "k_max": 2}, "k_max = 2 is smaller than k = 3"),
        ({"k": 2, "objectives": ("il",)}, "unknown objective 'il'"),
        ({"k": 2, "hierarchies": {"city": PLACES}}, "hierarchies names 'city', which is not a quasi-identifier"),
        (
            {"k": 2, "hierarchies": {"town": PLACES}},
            "3 of the 3 values of column 'town' are missing from its hierarchy",
        ),
        ({"k": 2, "aggregate": {"town": "mean"}}, "aggregate 'mean' does not fit column 'town'"),
        ({"k": 2, "aggregate": {"town": "most"}}, "aggregate of 'town' must be one of mode, median, mean, generalize"),
        ({"k": 2, "aggregate": {"town": "generalize"}}, "give it a hierarchy"),
        ({"k": 2, "ranked": [("town", "age")]}, "column 'age' is numeric"),
        ({"k": 2, "ranked": [("town",)]}, "a ranking needs at least two columns"),
        ({"k": 2, "ranked": ["town"]}, "a list of rankings"),
        ({"k": 2, "ranked": [("town", "town")]}, "column 'town' stands in a ranking twice"),
    ],
)
def test_problems_that_cannot_be_stated(options: dict[str, Any], sentence: str) -> None:
    options = dict(options)
    with pytest.raises(SDCError, match=sentence) as caught:
        SocialGraphProblem(triangle_and_path(), options.pop("k"), **options)
    for cell in ("Olot", "Reus", "Vic"):
        assert cell not in str(caught.value)


def ranked(first: list[str | None], second: list[str | None]) -> SocialGraphProblem:
    people = pd.DataFrame({"id": range(4), "one": first, "two": second})
    links = pd.DataFrame({"source": [0, 1], "target": [1, 2]})
    graph = SocialGraph.from_frames(people, links, quasi_identifiers=["one", "two"])
    return SocialGraphProblem(graph, 2, ranked=[("one", "two")])


def test_rankings() -> None:
    with pytest.raises(SDCError, match=r"1 record\(s\) name one value twice in one, two, the first is record 3"):
        ranked(["a", "b", "c", "a"], ["b", "a", "c", "c"])
    with pytest.raises(SDCError, match="have no value in common"):
        ranked(["a", "b", "c", "a"], ["x", "y", "z", "x"])
    problem = ranked(["a", "a", "b", None], ["b", None, "a", None])
    released = problem.release([0, 1, 1, 0])
    # Nodes 2 and 3: a has 2 + 1 points, b has 2. Nodes 1 and 4: a has 2, b has 1.
    assert released[["one", "two"]].to_numpy().tolist() == [["a", "b"]] * 4
    lonely = problem.release([0, 1, 0, 1])
    assert lonely["one"].tolist() == ["a"] * 4
    assert lonely["two"].isna().tolist() == [False, True, False, True]


def test_labels_that_stand_for_two_groups_are_refused() -> None:
    ambiguous = Hierarchy.from_levels({"Olot": ["Vic", "*"], "Reus": ["Vic", "*"], "Vic": ["Osona", "*"]})
    with pytest.raises(SDCError, match="stands for another group"):
        SocialGraphProblem(triangle_and_path(), 2, hierarchies={"town": ambiguous}).engine


def test_a_column_with_only_different_values_warns() -> None:
    people = pd.DataFrame({"id": range(4), "job": list("abcd"), "sex": list("ffmm")})
    links = pd.DataFrame({"source": [0, 1], "target": [1, 2]})
    graph = SocialGraph.from_frames(people, links, quasi_identifiers=["job", "sex"])
    with pytest.warns(SDCWarning, match="column 'job' has as many different values as there are nodes"):
        SocialGraphProblem(graph, 2)


def test_no_quasi_identifier() -> None:
    graph = triangle_and_path().with_roles(identifiers=["id"])
    with pytest.raises(SDCError, match="no quasi-identifiers were declared"):
        SocialGraphProblem(graph, 2)
