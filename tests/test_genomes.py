"""The compact table of genomes finds what a dictionary finds."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdc_problems._genomes import DIGEST, GenomeNumbers, digests, first_unknown

# Few different bytes, many of them zero: keys that differ only behind a zero, or end with zeros.
KEYS = st.lists(st.sampled_from([0, 0, 1, 255]), min_size=DIGEST, max_size=DIGEST).map(bytes)


@given(st.lists(KEYS, max_size=60), st.lists(KEYS, max_size=20), st.integers(1, 8))
def test_finds_what_a_dictionary_finds(added: list[bytes], asked: list[bytes], recent: int) -> None:
    known, twin = GenomeNumbers(), dict[bytes, int]()
    known.RECENT = recent  # type: ignore[misc]
    for key in added:
        assert (key in known) == (key in twin)
        if key not in twin:
            known.add(key, len(twin))
            twin[key] = len(twin)
    assert len(known) == len(twin)
    assert known.find(asked).tolist() == [twin.get(key, -1) for key in asked]
    assert known.first_unknown(asked) == first_unknown(asked, twin)
    assert known.in_order() == b"".join(twin)


def test_a_genome_takes_few_bytes() -> None:
    known = GenomeNumbers()
    for number, key in enumerate(digests(np.arange(100_000).reshape(-1, 1))):
        known.add(key, number)
    held = known._keys.nbytes + known._numbers.nbytes + sys.getsizeof(known._recent) + 100 * len(known._recent)
    assert held / len(known) < 50


@pytest.mark.parametrize("width", [1, 4, 5000])
def test_digests_of_all_widths_have_one_length(width: int) -> None:
    X = np.arange(3 * width, dtype=np.int32).reshape(3, width)
    assert {len(key) for key in digests(X)} == {DIGEST}
    assert len(set(digests(X))) == 3
    assert digests(X[:0]) == []
