"""Seeded social graphs like those that Marés (2013) crawled, in size and kind. No node is a real person.

Every draw comes from the raw 64-bit stream of PCG64, which numpy promises never to change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

    from sdc_problems.hierarchy import Hierarchy

NODES, LINKS, SEED = 306, 342, 3
FEWEST = 20
QUASI_IDENTIFIERS = ("place", "topic1", "topic2", "topic3")
TOPICS = (
    "art", "books", "business", "cars", "education", "fashion", "film", "food", "games", "health", "music", "news",
    "politics", "religion", "science", "sports", "technology", "travel",
)  # fmt: skip
CONTINENTS = ("Northland", "Eastland", "Southland")
BARE = 4  # countries of each continent of which only the name is known
WORLD = "World"

# levels of the types of places (Marés 2013, Table 6.1)
QUARTER, TOWN, STATE, COUNTRY, CONTINENT, TOP = 0, 1, 4, 5, 6, 7

Branch = list[tuple[str, int]]


def branches() -> list[Branch]:
    """Every place with the larger places that contain it: 216 quarters of 108 towns, and 12 countries without towns."""
    found: list[Branch] = []
    for continent in CONTINENTS:
        above = [(continent, CONTINENT), (WORLD, TOP)]
        for c in range(4):
            country = f"{continent} {'ABCD'[c]}"
            for s in range(3):
                state = f"{country}{s + 1}"
                for t in range(3):
                    town = f"{state} town {t + 1}"
                    larger = [(town, TOWN), (state, STATE), (country, COUNTRY), *above]
                    found.append(larger)
                    found += [[(f"{town}, {quarter}", QUARTER), *larger] for quarter in ("old", "new")]
        found += [[(f"{continent} {'EFGH'[c]}", COUNTRY), *above] for c in range(BARE)]
    return found


def hierarchy() -> Hierarchy:
    """Hierarchy of the places."""
    from sdc_problems.hierarchy import Hierarchy

    return Hierarchy.from_typed_paths(branches(), name="place")


class _Draws:
    """Uniform numbers from the raw stream."""

    def __init__(self, seed: int) -> None:
        self.stream = np.random.PCG64(seed)

    def uniform(self) -> float:
        return (int(self.stream.random_raw()) >> 11) * 2.0**-53

    def below(self, n: int) -> int:
        return int(self.uniform() * n)

    def of(self, cumulative: NDArray[np.float64]) -> int:
        return int(np.searchsorted(cumulative, self.uniform() * cumulative[-1], side="right"))

    def order(self, n: int) -> list[int]:
        found = list(range(n))
        for i in range(n - 1, 0, -1):
            j = self.below(i + 1)
            found[i], found[j] = found[j], found[i]
        return found


def _zipf(n: int, exponent: float) -> NDArray[np.float64]:
    out: NDArray[np.float64] = np.cumsum(1.0 / np.arange(1, n + 1) ** exponent)
    return out


def draw(n: int, m: int, seed: int) -> tuple[pd.DataFrame, NDArray[np.int64]]:
    """Nodes and links of one graph.

    Parameters
    ----------
    n, m
        Number of nodes and of links; at least n − 1 links.
    seed
        Seed of all random numbers.
    """
    import pandas as pd

    places = branches()
    country = [next(name for name, level in branch if level >= COUNTRY) for branch in places]
    draws = _Draws(seed)
    rank, popular = _zipf(len(places), 0.9), _zipf(len(TOPICS), 0.8)
    by_rank, topic_by_rank = draws.order(len(places)), draws.order(len(TOPICS))
    place: list[int] = []
    topics: list[tuple[int, ...]] = []
    links: set[tuple[int, int]] = set()
    for i in range(n):
        friend = draws.below(i) if i else -1
        if i:
            links.add((friend, i))
        copied = i > 0 and draws.uniform() < 0.4
        place.append(place[friend] if copied else by_rank[draws.of(rank)])
        if i > 0 and draws.uniform() < 0.4:
            topics.append(topics[friend])
        else:
            mine: list[int] = []
            while len(mine) < 3:
                topic = topic_by_rank[draws.of(popular)]
                if topic not in mine:
                    mine.append(topic)
            topics.append(tuple(mine))
    while len(links) < m:
        a, b = draws.below(n), draws.below(n)
        alike = 0.4 * (topics[a][0] == topics[b][0]) + 0.4 * (country[place[a]] == country[place[b]])
        if a != b and draws.uniform() < 0.2 + alike:
            links.add((min(a, b), max(a, b)))
    frame = pd.DataFrame({"id": np.arange(1, n + 1), "place": [places[p][0][0] for p in place]})
    for r in range(3):
        frame[f"topic{r + 1}"] = [TOPICS[mine[r]] for mine in topics]
    return frame, np.array(sorted(links), dtype=np.int64)
