"""Microaggregation in blocks: groups within the limits, the same bytes wherever and however blocks are done."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import threading
import time

import numpy as np
import pytest

from sdc_problems import SDCError
from sdc_problems.algorithms import microaggregate_blocks
from sdc_problems.algorithms.microaggregation import blocks as module
from sdc_problems.evaluators.information_loss.numeric import sse
from sdc_problems.methods import mdav
from sdc_problems.methods.partition._attributes import z_scores

X = np.random.default_rng(1).normal(size=(1_500, 3)) ** 3


@pytest.mark.parametrize("k", [3, 10])
def test_groups_are_of_k_records_and_lose_less_than_mdav_in_parts(k: int) -> None:
    found = microaggregate_blocks(X, k, part=800, block=400, moves=100, seed=5)
    sizes = np.bincount(found.labels)
    assert sizes.min() >= k
    assert sizes.max() < 2 * k
    assert found.sizes[:2].tolist() == [750, 750]
    assert found.sizes[2:].max() <= 2 * 400
    assert found.sizes.sum() == len(X) * (1 + module.TURNS)
    assert len(found.seconds) == len(found.sizes)
    assert found.sse == pytest.approx(sse(z_scores(X), found.labels), rel=1e-12)
    alone = microaggregate_blocks(X, k, part=800, moves=0)
    assert alone.sse == alone.mdav_sse == found.mdav_sse
    assert found.sse < 0.98 * found.mdav_sse


def test_one_part_without_a_search_is_mdav() -> None:
    found = microaggregate_blocks(X, 4, moves=0)
    assert found.labels.tolist() == mdav(X, 4).tolist()


def test_a_turn_with_other_borders_improves_what_the_last_one_could_not_reach() -> None:
    losses = [microaggregate_blocks(X, 3, block=60, moves=1_000 * n, turns=n).sse for n in (1, 4)]
    assert losses[1] < 0.98 * losses[0]


def test_the_seed_and_nothing_else_decides() -> None:
    first = microaggregate_blocks(X, 3, block=400, moves=40, seed=1)
    assert microaggregate_blocks(X, 3, block=400, moves=40, seed=1).labels.tobytes() == first.labels.tobytes()
    assert microaggregate_blocks(X, 3, block=400, moves=40, seed=2).labels.tobytes() != first.labels.tobytes()


def test_records_that_are_all_alike_end_at_once() -> None:
    found = microaggregate_blocks(np.ones((50, 2)), 3, block=20, moves=10**6)
    assert found.sse == 0.0
    assert np.bincount(found.labels).min() >= 3


def test_as_a_method_it_says_what_the_search_gained() -> None:
    made = module.in_blocks(X, 3, rng=np.random.default_rng(1), part=800, block=400, moves=100, turns=2)
    assert np.bincount(made.labels).min() == 3
    (said,) = made.sentences
    assert re.match(r"Grouped in blocks: MDAV in 2 parts, then a search in \d+ blocks in 2 turns; the sum of", said)
    assert module.in_blocks(X, 3, rng=np.random.default_rng(1), moves=0).sentences == (
        "Grouped in blocks: MDAV in 1 part, without a search.",
    )


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(SDCError, match="block must be"):
        microaggregate_blocks(X, 10, block=39)
    with pytest.raises(SDCError, match="part must be"):
        microaggregate_blocks(X, 10, part=39)
    with pytest.raises(SDCError, match="workers must be"):
        microaggregate_blocks(X, 3, workers=0)


def test_pieces_hold_whole_groups_and_every_record_once(rng: np.random.Generator) -> None:
    Z = rng.normal(size=(500, 3))
    labels = mdav(Z, 4)
    groups = module.Groups.of(Z, labels)
    assert groups.errors.sum() == pytest.approx(sse(Z, labels), rel=1e-12)
    weights = groups.weights(60)
    assert weights.sum() == pytest.approx(1.0)
    for drawn in (None, rng):
        blocks = module.cut(groups.means, weights, 60 / 500, drawn)
        records = [groups.members(block) for block in blocks]
        assert sorted(np.concatenate(records).tolist()) == list(range(500))
        assert max(map(len, records)) <= 2 * 60
        assert max(weights[block].sum() for block in blocks) <= 60 / 500
        assert len({int(g) for inside in records for g in set(labels[inside])}) == labels.max() + 1
        assert sum(len(set(labels[inside])) for inside in records) == labels.max() + 1


def test_a_block_has_several_groups_however_large_the_error_of_one(rng: np.random.Generator) -> None:
    Z = rng.normal(size=(400, 2))
    Z[:4] *= 1e6
    groups = module.Groups.of(Z, mdav(Z, 4))
    blocks = module.cut(groups.means, groups.weights(80), 80 / 400)
    assert min(map(len, blocks)) >= module.LEAST_GROUPS // 2


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_any_number_of_threads_gives_the_same_bytes(threads: int) -> None:
    expected = microaggregate_blocks(X, 3, part=300, block=100, moves=200)
    found = microaggregate_blocks(X, 3, part=300, block=100, moves=200, threads=threads)
    assert found.labels.tobytes() == expected.labels.tobytes()
    assert found.sse == expected.sse


@pytest.mark.slow
def test_processes_of_which_one_dies_give_the_same_bytes() -> None:
    expected = microaggregate_blocks(X, 3, part=300, block=100, moves=2_000)
    killed: list[int] = []

    def kill_one() -> None:
        while not killed:
            for child in multiprocessing.active_children():
                if child.pid is not None and child.name.startswith("SpawnProcess"):
                    os.kill(child.pid, signal.SIGKILL)  # at its start, long before the pool has nothing left to do
                    killed.append(child.pid)
                    return
            time.sleep(0.001)

    thread = threading.Thread(target=kill_one, daemon=True)
    thread.start()
    found = microaggregate_blocks(X, 3, part=300, block=100, moves=2_000, workers=2)
    assert killed, "no worker was killed"
    assert found.labels.tobytes() == expected.labels.tobytes()
    assert found.sse == expected.sse


@pytest.mark.slow
def test_a_dask_cluster_of_which_one_worker_dies_gives_the_same_bytes() -> None:
    distributed = pytest.importorskip("distributed")
    expected = microaggregate_blocks(X, 3, part=300, block=100, moves=500)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=":0", silence_logs=50
    ) as cluster:
        with distributed.Client(cluster, set_as_default=False) as client:
            one = next(iter(client.run(os.getpid).values()))
        threading.Timer(0.3, os.kill, (one, signal.SIGKILL)).start()
        found = microaggregate_blocks(X, 3, part=300, block=100, moves=500, scheduler=cluster.scheduler_address)
    assert found.labels.tobytes() == expected.labels.tobytes()
