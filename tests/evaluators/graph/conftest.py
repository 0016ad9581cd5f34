"""Graphs that the tests of this folder share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

Graph = tuple[np.ndarray, np.ndarray]


def formula_graph(n: int) -> Graph:
    """Codes and links that formulas give."""
    i = np.arange(n)
    codes = np.stack([i * (i + 1) // 2 % 4, (i * i % 5) // 2, (3 * i // 2) % 3], axis=1)
    links = [(a, b) for a in range(n) for b in range(a + 1, n) if (a * a + 3 * a * b + b * b) % 7 in (1, 2)]
    return codes, np.array(links)


def blocks(n: int, k: int) -> np.ndarray:
    return np.minimum(np.arange(n) // k, n // k - 1)


def modes(codes: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Most frequent code of each cluster in place of its nodes', the smallest one first."""
    out = codes.copy()
    for g in np.unique(labels):
        inside = labels == g
        for j in range(codes.shape[1]):
            out[inside, j] = np.bincount(codes[inside, j]).argmax()
    return out


@pytest.fixture(scope="session")
def formula() -> Callable[[int], Graph]:
    return formula_graph


@pytest.fixture
def published(public: Callable[[str], Path]) -> Callable[[str], Graph]:
    """``published("lazega")``: codes in the order of the values in the file, 0 a value like others; and links."""
    files = {"lazega": ("graph_lazega_nodes.csv", "graph_lazega_cowork_edges.csv", 1),
             "caltech36": ("graph_caltech36_nodes.csv", "graph_caltech36_edges.csv", 0)}  # fmt: skip

    def read(name: str) -> Graph:
        nodes, links, first = files[name]
        table = pd.read_csv(public(nodes)).iloc[:, 1:].to_numpy()
        codes = np.stack([np.unique(column, return_inverse=True)[1] for column in table.T], axis=1)
        pairs = np.sort(pd.read_csv(public(links)).to_numpy() - first, axis=1)
        return codes, np.unique(pairs, axis=0)

    return read
