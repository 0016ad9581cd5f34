"""A study of a social graph from its files to both releases."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from sdc_problems import SocialGraph, SocialGraphProblem, datasets
from sdc_problems.errors import SDCError, SDCFailure
from sdc_problems.studies.cli import cli
from sdc_problems.studies.release import Released, _release, release
from sdc_problems.studies.report.picture_types import Graph
from sdc_problems.studies.tasks import find_task

STUDY = """
title = "friends"
[data]
file = "people.csv"
edges = "friends.csv"
quasi_identifiers = ["town", "age", "job"]
sensitive = ["flu"]
keep = ["club"]
[problem]
task = "social"
k = 3
objectives = ["il_graph", "nsil"]
[algorithm]
name = "NSGA2"
pop_size = 8
start = "baselines"
[termination]
generations = 3
"""


def files(folder: Path, n: int = 40) -> None:
    rng = np.random.default_rng(5)
    people = pd.DataFrame({
        "id": [f"p{i}" for i in rng.permutation(n)],
        "town": rng.choice(["Olot", "Reus", "Vic"], n),
        "age": rng.integers(20, 60, n),
        "job": rng.choice(["none", "office", "school"], n),
        "flu": rng.choice(["yes", "no"], n),
        "club": rng.choice(["red", "blue"], n),
        "phone": rng.integers(0, 10**6, n),
    })  # fmt: skip
    people.to_csv(folder / "people.csv", index=False)
    pairs = [(people["id"][i], people["id"][j]) for i in range(n) for j in range(i) if rng.random() < 0.1]
    pd.DataFrame(pairs, columns=["Source", "Target"]).to_csv(folder / "friends.csv", index=False)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("social")
    files(folder)
    (folder / "study.toml").write_text(STUDY)
    done = CliRunner().invoke(cli, ["run", str(folder / "study.toml"), "--out", str(folder / "run"), "--no-pictures"])
    assert done.exit_code == 0, done.output
    return folder / "run"


def best(run: Path) -> str:
    return str(pd.read_csv(run / "front.csv").iloc[0, 0])


def graph_of(done: Released) -> networkx.Graph:
    assert done.edges is not None
    nodes, edges = pd.read_csv(done.file), pd.read_csv(done.edges)
    graph = networkx.from_pandas_edgelist(edges, edge_attr="links" if "links" in edges else None)
    graph.add_nodes_from(nodes.set_index("id").to_dict("index").items())
    return graph


def promises(done: Released) -> dict[str, dict[str, Any]]:
    return {promise["name"]: promise for promise in done.content["guarantees_checked_in_the_file"]}


def test_nodes_and_links_are_released_under_fresh_identifiers(run: Path, tmp_path: Path) -> None:
    done = release(run, best(run), tmp_path / "out.csv")
    people, friends = pd.read_csv(run.parent / "people.csv"), pd.read_csv(run.parent / "friends.csv")
    nodes = pd.read_csv(done.file)
    assert list(nodes.columns) == ["id", "town", "age", "job", "flu", "club"]
    assert nodes["id"].tolist() == list(range(1, 41))
    assert nodes.groupby(["town", "age", "job"]).size().min() >= promises(done)["k"]["promised"] == 3
    before, after = networkx.from_pandas_edgelist(friends, "Source", "Target"), graph_of(done)
    before.add_nodes_from(people["id"])
    assert networkx.faster_could_be_isomorphic(before, after)
    assert networkx.is_isomorphic(before, after)
    assert nodes["flu"].tolist() != people["flu"].tolist(), "the order is random"
    assert sorted(nodes["flu"]) == sorted(people["flu"])
    assert all(promise["holds"] for promise in promises(done).values())
    assert {"identifiers", "unknown ends", "links changed", "degrees changed", "records", "k"} == set(promises(done))


def test_super_nodes_are_released(run: Path, tmp_path: Path) -> None:
    done = release(run, best(run), tmp_path / "out.csv", graph_form="supernodes")
    nodes, edges = pd.read_csv(done.file), pd.read_csv(tmp_path / "out.csv.edges.csv")
    assert list(nodes.columns) == ["id", "town", "age", "job", "size", "inner_links"]
    assert (nodes["size"].min(), nodes["size"].sum()) == (promises(done)["super-node"]["found"], 40)
    assert nodes["inner_links"].sum() + edges["links"].sum() == len(pd.read_csv(run.parent / "friends.csv"))
    assert done.content["columns"]["left_out"] == ["flu", "club", "phone"]
    assert not [said for said in done.content["what_was_done"] if "links stay" in said]
    assert done.content["graph"]["exposed_by_links_alone"] is None
    assert graph_of(done).number_of_nodes() == len(nodes)


def test_the_certificate_says_whom_the_links_betray(run: Path, tmp_path: Path) -> None:
    content = release(run, best(run), tmp_path / "out.csv").content
    said = " ".join(content["what_was_done"])
    for words in ("become untrue of the person", "assortativity", "The links stay, and betray people", "guesses among"):
        assert said.count(words) == 1, words
    entry = content["graph"]
    told = entry["exposed_by_links_alone"]
    assert told["degree"] <= told["links"] <= told["neighbourhood"] <= entry["nodes"] == 40
    assert 0 < entry["by_attributes_and_degree"] <= 1
    assert set(entry["assortativity"]) == {"town", "age", "job"}
    assert content["measured_in_the_file"]["schema"] == "sdc.verdict/2", "records are measured in the original's order"
    weakest = content["measured_in_the_file"]
    assert weakest["records"] == 40
    text = json.dumps(content)
    people = pd.read_csv(run.parent / "people.csv")
    assert not [name for name in people["id"] if f'"{name}"' in text]


def test_the_order_is_drawn_with_a_secret_seed(run: Path, tmp_path: Path) -> None:
    first = release(run, best(run), tmp_path / "a.csv")
    seed = pd.read_csv(first.mapping, dtype=str).set_index("column").loc["(seed)", "released"]
    assert str(seed) not in first.certificate.read_text()
    same = release(run, best(run), tmp_path / "b.csv", seed=int(str(seed)))
    other = release(run, best(run), tmp_path / "c.csv")
    assert first.edges is not None
    assert same.edges is not None
    assert (same.file.read_bytes(), same.edges.read_bytes()) == (first.file.read_bytes(), first.edges.read_bytes())
    assert other.file.read_bytes() != first.file.read_bytes()
    again = release(run, best(run), tmp_path / "c.csv", overwrite=True)
    assert again.file.read_bytes() == other.file.read_bytes()


def test_files_of_links_are_not_overwritten(run: Path, tmp_path: Path) -> None:
    (tmp_path / "out.csv.edges.csv").write_text("mine")
    with pytest.raises(SDCError, match=r"edges\.csv' already exists"):
        release(run, best(run), tmp_path / "out.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv.edges.csv"]


@pytest.mark.parametrize("out", ["out.csv", "out.graphml"])
@pytest.mark.parametrize(
    ("torn", "name"),
    [
        (lambda edges: edges.iloc[1:], "links changed"),
        (lambda edges: edges.assign(target=edges["target"].to_numpy()[::-1]), "links changed"),
        (lambda edges: edges.assign(target=99), "unknown ends"),
    ],
)
def test_links_that_were_not_meant_are_found_in_the_file(
    torn: Any, name: str, out: str, run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = _release.write

    def write(places: Any, frame: Any, *, graph: Any, **options: Any) -> Any:
        return honest(places, frame, graph=replace(graph, edges=torn(graph.edges)), **options)

    monkeypatch.setattr(_release, "write", write)
    with pytest.raises(SDCFailure, match=f"{name}: "):
        release(run, best(run), tmp_path / out)
    assert not list(tmp_path.iterdir())


def test_a_graph_that_changed_is_no_longer_that_of_the_run(run: Path, tmp_path: Path) -> None:
    friends = run.parent / "friends.csv"
    before = friends.read_text()
    friends.write_text("".join(before.splitlines(keepends=True)[:-1]))
    try:
        with pytest.raises(SDCError, match="changed after the run began"):
            release(run, best(run), tmp_path / "out.csv")
    finally:
        friends.write_text(before)


def test_files_that_were_moved(run: Path, tmp_path: Path) -> None:
    for name in ("people.csv", "friends.csv"):
        (run.parent / name).rename(tmp_path / name)
    try:
        with pytest.raises(SDCError, match="there is no file"):
            release(run, best(run), tmp_path / "out.csv")
        assert release(run, best(run), tmp_path / "out.csv", data=tmp_path / "people.csv").file.is_file()
    finally:
        for name in ("people.csv", "friends.csv"):
            (tmp_path / name).rename(run.parent / name)


def test_forms_are_for_graphs(run: Path, tmp_path: Path) -> None:
    study = STUDY.replace('edges = "friends.csv"\n', "").replace('"social"', '"microaggregation"')
    study = study.replace('["town", "age", "job"]', '["age"]').replace('"il_graph", "nsil"', '"il_sse", "k"')
    (run.parent / "table.toml").write_text(study)
    table = tmp_path / "table"
    done = CliRunner().invoke(cli, ["run", str(run.parent / "table.toml"), "--out", str(table), "--no-pictures"])
    assert done.exit_code == 0, done.output
    with pytest.raises(SDCError, match="releases a table without links: omit --form"):
        release(table, best(table), tmp_path / "out.csv", graph_form="supernodes")


@pytest.mark.parametrize("how", [["--workers", "2"], pytest.param(["--scheduler", "local"], marks=pytest.mark.slow)])
def test_workers_find_the_same(how: list[str], run: Path, tmp_path: Path) -> None:
    arguments = ["run", str(run.parent / "study.toml"), "--out", str(tmp_path / "run"), "--no-pictures"]
    done = CliRunner().invoke(cli, [*arguments, *how])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "run" / "front.csv").read_bytes() == (run / "front.csv").read_bytes()


def test_the_unprotected_graph_and_pictures() -> None:
    made = datasets.crawl(60)
    problem = SocialGraphProblem(
        made.graph, 3, hierarchies=made.hierarchies, objectives=("il_graph", "ego_risk", "dr_degree", "nsil", "k")
    )
    task = find_task("social")
    il, ego, degree, nsil, k = task.unprotected(problem)
    assert (il, ego, nsil, k) == (0.0, 1.0, 0.0, 1.0)
    assert degree is not None
    assert degree > 0.9
    for x in problem.baselines().values():
        (learned,) = [picture for picture in task.pictures(problem, x) if picture.title == "What an intruder learns"]
        shown = dict(zip(learned.labels, learned.values, strict=True))  # type: ignore[attr-defined]
        assert shown["attributes"] == 0.0
        assert all(value == 0 or value >= 100 * 5 / 60 for value in shown.values())


@pytest.mark.parametrize("columns", [["town"], ["age"], ["town", "age", "job"]])
def test_pictures_of_graphs_show_no_small_count(columns: list[str], tmp_path: Path) -> None:
    files(tmp_path)
    graph = SocialGraph.from_csv(tmp_path / "people.csv", tmp_path / "friends.csv", quasi_identifiers=columns)
    problem = SocialGraphProblem(graph, 3)
    x = problem.baselines()["MDAV"]
    drawn = [picture for picture in find_task("social").pictures(problem, x) if isinstance(picture, Graph)]
    mixing, clusters = drawn
    assert [state.name for state in mixing.states] == ["original", "released"]
    for state in mixing.states:
        people = [size * 40 / 100 for size in state.sizes]
        assert all(count == 0 or count > 4.99 for count in people)
        links = [link.value * graph.n_links / 100 for link in state.links if link.value is not None]
        assert all(count > 4.99 for count in links)
        hidden = sum(link.value is None for link in state.links)
        assert sum(links) <= graph.n_links + 1e-9 <= sum(links) + 4 * hidden + 1e-9
    assert all(link.value is None or link.value >= 5 for link in clusters.states[0].links)
    assert len(clusters.nodes) == len(problem.decode(x).clusters)
    assert all(0 <= node.x <= 1 and 0 <= node.y <= 1 and node.name == "" for node in clusters.nodes)
    assert min(clusters.states[0].sizes) >= 5
    before = (problem.data.frame() != problem.release(x)).loc[:, columns].to_numpy().mean()
    sizes = np.bincount(problem.labels(x))
    assert np.average(clusters.states[0].shades, weights=sizes) == pytest.approx(before, abs=0.002)
