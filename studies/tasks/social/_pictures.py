"""Pictures of a clustering of nodes: mixing before and after, clusters, and what links reveal to an intruder."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sdc_problems._tables.columns import label
from sdc_problems.evaluators._codes import dense, row_labels
from sdc_problems.microdata import Kind
from sdc_problems.studies.report.picture_types import Bars, Graph, Link, Node, Picture, State
from sdc_problems.studies.report.small_counts import LEAST

MOST_CATEGORIES = 9  # of an attribute in the picture of mixing; the others are joined
MOST_CLUSTERS = 60  # drawn with their links
STEPS = 150  # of the layout algorithm for clusters


def pictures(problem: Any, x: NDArray[Any]) -> list[Picture]:
    """Draw how categories mix and what links still reveal."""
    labels = problem.labels(x)
    sizes = np.bincount(labels)
    return [
        betrayed(problem, labels),
        *mixing(problem, x, labels),
        *clusters(problem, labels, sizes),
        Bars.of_sizes(sizes[sizes > 0], title="Cluster sizes", across="nodes in the cluster", up="clusters"),
    ]


def betrayed(problem: Any, labels: NDArray[np.int64]) -> Bars:
    """Shares of the nodes with fewer than k look-alikes, by the intruder's knowledge."""
    n, told = len(labels), problem.exposure
    code, number = problem.engine.values(labels)
    numbers = [np.unique(column, return_inverse=True)[1] for column in number.T]
    released = row_labels(np.column_stack([code, *numbers]))[0][labels]
    with_degree = row_labels(np.column_stack([released, dense(problem.engine.degrees)[0]]))[0]

    def rare(numbers: NDArray[np.int64]) -> int:
        return int((np.bincount(numbers)[numbers] < problem.k).sum())

    counts = {
        "attributes": rare(released),
        "degree": told.degree,
        "attributes, degree": rare(with_degree),
        "degree, triangles": told.links,
        **({} if told.ego is None else {"neighborhood": told.ego}),
    }
    shown = {name: count for name, count in counts.items() if count == 0 or count >= LEAST}
    return Bars(
        title="What an intruder learns",
        caption=f"Share of the {n:,} nodes that look like fewer than {problem.k} nodes, by what the intruder knows:"
        " released attributes, the number of links, the number of links among the neighbors, or all links of the"
        " neighborhood. A release of super-nodes shows no links of single nodes.",
        labels=tuple(shown),
        values=tuple(100.0 * count / n for count in shown.values()),
        across="what the intruder knows",
        up="% of nodes singled out",
        summary=f"{100.0 * counts['attributes, degree'] / n:.3g} % by attributes and degree",
    )


def mixing(problem: Any, x: NDArray[Any], labels: NDArray[np.int64]) -> list[Graph]:
    """Links between the categories of the attribute that they follow most, before and after."""
    strength, names = np.abs(problem.engine.homophily_before), problem.attributes
    plain = [name not in problem.hierarchies for name in names]
    j = int(np.argmax(np.where(plain, strength, strength - 2.0)))  # columns with hierarchies have too many categories
    before, after = (_texts(problem, frame, names[j]) for frame in (problem.data.frame(), problem.release(x)))
    kinds, count = np.unique(before, return_counts=True)
    order = np.lexsort((kinds, -count))
    shown = [str(kinds[i]) for i in order[:MOST_CATEGORIES] if count[i] >= LEAST]
    while shown and 0 < min((~np.isin(texts, shown)).sum() for texts in (before, after)) < LEAST:
        shown.pop()  # until the rest is large enough
    if len(shown) < 2:
        return []
    shown = sorted(shown)
    rest = bool((~np.isin(before, shown)).any() or (~np.isin(after, shown)).any())
    places = Graph.around([*shown, *(["others"] if rest else [])])
    r = problem.engine.homophily_after(labels)[j]
    states = tuple(_state(problem, name, texts, shown) for name, texts in (("original", before), ("released", after)))
    summary = f"assortativity {problem.engine.homophily_before[j]:.2f}, then {r:.2f}"
    caption = (
        f"Links between people by {names[j]}, which links follow most. A ring stands for links among equals. Newman's"
        f" assortativity is {problem.engine.homophily_before[j]:.2f} in the original and {r:.2f} in the release."
    )
    return [
        Graph(
            title=f"Mixing by {names[j]}", caption=caption, nodes=places, states=states, size="share of the nodes",
            value="share of the links", unit="%", summary=summary,
        )
    ]  # fmt: skip


def _texts(problem: Any, frame: Any, name: str) -> NDArray[Any]:
    """Categories of a column as text; numbers in quarters of the original's range."""
    if problem.data.attribute(name).kind is Kind.NUMERIC:
        cuts = np.quantile(problem.data.values(name)[:, 0], [0.25, 0.5, 0.75])
        at = np.searchsorted(cuts, frame[name].to_numpy(dtype=np.float64), side="right")
        found: NDArray[Any] = np.array(["lowest quarter", "second quarter", "third quarter", "highest quarter"])[at]
        return found
    return np.array(["?" if cell is None or cell != cell else label(cell) for cell in frame[name]])


def _state(problem: Any, name: str, texts: NDArray[Any], shown: list[str]) -> State:
    place = {text: i for i, text in enumerate(shown)}
    at = np.array([place.get(text, len(shown)) for text in texts])
    rooms = len(shown) + 1
    sizes = np.bincount(at, minlength=rooms)
    ends = np.sort(at[problem.graph.edges], axis=1)
    pairs, count = np.unique(ends, axis=0, return_counts=True)
    share = 100.0 / len(ends)
    links = tuple(
        Link(int(a), int(b), float(c * share) if c >= LEAST else None) for (a, b), c in zip(pairs, count, strict=True)
    )
    last = rooms if sizes[-1] or (at == len(shown)).any() else rooms - 1
    kept = [100.0 * size / len(at) if size >= LEAST else 0.0 for size in sizes[:last]]
    return State(name, tuple(kept), links)


def clusters(problem: Any, labels: NDArray[np.int64], sizes: NDArray[np.int64]) -> list[Graph]:
    """Clusters with the links between them, as in a release of super-nodes; none if there are too many."""
    if not 1 < len(sizes) <= MOST_CLUSTERS:
        return []
    ends = np.sort(labels[problem.graph.edges], axis=1)
    pairs, count = np.unique(ends, axis=0, return_counts=True)
    code, number = problem.engine.values(labels)
    table = problem.engine.table
    changed = table.codes != code[labels].T
    for j, at in enumerate(table.number):
        if at >= 0:
            changed[j] = table.values[at] != number[labels, at]
    shades = np.bincount(labels, weights=changed.mean(axis=0)) / sizes
    places = _layout(len(sizes), pairs, count)
    state = State(
        f"{len(sizes)} clusters",
        tuple(float(max(size, LEAST)) for size in sizes),
        tuple(Link(int(a), int(b), float(c) if c >= LEAST else None) for (a, b), c in zip(pairs, count, strict=True)),
        tuple(np.clip(shades, 0.0, 1.0).round(3).tolist()),
    )
    return [
        Graph(
            title="Clusters and their links",
            caption="What a release of super-nodes shows: which nodes are linked within and between clusters is hidden."
            " A ring stands for links within a cluster; fewer than five links are a thin line.",
            nodes=tuple(Node("", float(a), float(b)) for a, b in places),
            states=(state,), size=f"nodes, {LEAST} or fewer alike", value="links", shade="cells that changed",
            summary=f"{len(sizes)} clusters",
        )
    ]  # fmt: skip


def _layout(n: int, pairs: NDArray[np.int64], count: NDArray[np.int64]) -> NDArray[np.float64]:
    """Places in a square: linked nodes attract, all repel each other (Fruchterman and Reingold 1991)."""
    angle = 2 * np.pi * np.arange(n) / n
    at = 0.5 + 0.4 * np.column_stack([np.sin(angle), np.cos(angle)])
    weight = np.zeros((n, n))
    weight[pairs[:, 0], pairs[:, 1]] = np.sqrt(count)
    weight += weight.T
    np.fill_diagonal(weight, 0.0)
    ideal = 1.0 / np.sqrt(n)
    for step in range(STEPS):
        apart = at[:, None, :] - at[None, :, :]
        far = np.sqrt((apart**2).sum(axis=2)) + 1e-6
        force = ideal**2 / far**2 - weight / max(weight.max(), 1.0) * far / ideal - 0.02
        np.fill_diagonal(force, 0.0)
        move = (force[:, :, None] * apart).sum(axis=1)
        length = np.sqrt((move**2).sum(axis=1)) + 1e-12
        at += move / length[:, None] * np.minimum(length, 0.1 * (1 - step / STEPS))[:, None]
    low, high = at.min(axis=0), at.max(axis=0)
    placed: NDArray[np.float64] = (at - low) / np.maximum(high - low, 1e-9)
    return placed.round(4)
