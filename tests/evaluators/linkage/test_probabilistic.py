from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from sdc_problems import SDCError
from sdc_problems.evaluators.linkage import ConvergenceWarning, match_probabilistically, probabilistic_linkage


def pairs(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Which attributes of each pair agree."""
    return (X[:, None, :] == Y[None, :, :]).reshape(-1, X.shape[1])


def plain_em(agrees: np.ndarray, n: int, m: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """One step over all pairs one by one, the share of matches known and agreement never speaking against one.

    Also the log-likelihood before the step.
    """
    like = np.where(agrees, m, 1 - m).prod(axis=1) / n
    unlike = np.where(agrees, u, 1 - u).prod(axis=1) * (1 - 1 / n)
    weight = like / (like + unlike)
    new_u, new_m = ((1 - weight) @ agrees) / (1 - weight).sum(), (weight @ agrees) / weight.sum()
    equal = np.where(new_m < new_u, agrees.mean(axis=0), np.nan)
    new_u, new_m = (np.clip(np.where(np.isnan(equal), new, equal), 1e-9, 1 - 1e-9) for new in (new_u, new_m))
    return new_m, new_u, float(np.log(like + unlike).sum())


@given(st.integers(0, 2**32 - 1))
@example(33554433)  # a leap to where both probabilities of an attribute are equal, which steps pass by
@example(298)  # an attribute that speaks against matches: plain steps took more than 5,000
def test_em_ends_where_the_plain_step_stays(seed: int) -> None:
    """At a fixed point of the plain step, and at least as likely as where plain steps get to."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, size=(25, 4))
    Y = np.where(rng.random(X.shape) < rng.uniform(0.1, 0.9), rng.integers(0, 5, size=X.shape), X)
    result = match_probabilistically(X, Y, max_iterations=100_000)  # one of 3,000 takes more than 5,000
    assert result.converged
    m, u, likelihood = plain_em(pairs(X, Y), 25, result.m, result.u)
    np.testing.assert_allclose(result.m, m, atol=1e-5)
    np.testing.assert_allclose(result.u, u, atol=1e-5)
    np.testing.assert_allclose(result.weights_agree, np.log2(result.m / result.u), atol=1e-9)
    plain_m, plain_u = np.full(4, 0.9), np.full(4, 0.1)
    for _ in range(200):
        plain_m, plain_u, slow = plain_em(pairs(X, Y), 25, plain_m, plain_u)
    assert likelihood >= slow - 1e-3


def test_em_settles_where_attributes_tell_little(rng: np.random.Generator) -> None:
    """Independent files of three attributes: thousands of plain steps."""
    for _ in range(20):
        X, Y = rng.integers(0, 4, size=(300, 3)), rng.integers(0, 4, size=(300, 3))
        result = match_probabilistically(X, Y)
        assert result.converged
        assert result.iterations < 1000


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_the_assignment_is_optimal(seed: int) -> None:
    """The pairing that pairs equal records first weighs as much as the best of all pairings."""
    rng = np.random.default_rng(seed)
    n = 7
    X = rng.integers(0, 3, size=(n, 3))
    Y = np.where(rng.random(X.shape) < 0.4, rng.integers(0, 3, size=X.shape), X)
    result = match_probabilistically(X, Y)
    agree, differ = result.weights_agree, result.weights_differ
    gain = np.where(X[:, None, :] == Y[None, :, :], agree, differ).sum(axis=2)
    rows, columns = linear_sum_assignment(gain, maximize=True)
    best = gain[rows, columns].sum()
    optima = [
        sum(i == j for i, j in enumerate(order))
        for order in itertools.permutations(range(n))
        if gain[range(n), list(order)].sum() >= best - 1e-6
    ]
    correct = result.share * n / 100
    assert min(optima) - 1e-9 <= correct <= max(optima) + 1e-9


def test_equal_records_are_exchangeable() -> None:
    """An assignment solver returns the identity here; an intruder does not know it."""
    X = np.zeros((50, 3), dtype=int)
    assert probabilistic_linkage(X, X) == pytest.approx(2.0)
    halves = np.repeat([[0, 0, 0], [1, 1, 1]], 10, axis=0)
    assert probabilistic_linkage(halves, halves) == pytest.approx(10.0)


def test_ties_do_not_favour_the_truth(rng: np.random.Generator) -> None:
    """Nothing agrees with anything: every pairing is as good, so about one record of n is paired by chance."""
    X = np.arange(400)[:, None] * np.array([1, 1, 1])
    Y = X + 1000
    assert probabilistic_linkage(X, Y) <= 2.0
    numbers = np.sort(rng.normal(size=(400, 2)), axis=0) * 100
    assert probabilistic_linkage(numbers, numbers + 1e4, kinds="numeric") <= 2.0


@pytest.mark.filterwarnings("ignore::sdc_problems.evaluators.linkage.ConvergenceWarning")
@given(st.integers(0, 2**32 - 1))
def test_the_order_of_the_records_does_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, size=(30, 3))
    Y = np.where(rng.random(X.shape) < 0.4, rng.integers(0, 4, size=X.shape), X)
    order = rng.permutation(30)
    share = probabilistic_linkage(X, Y)
    assert probabilistic_linkage(X[order], Y[order]) == pytest.approx(share)
    assert 0.0 <= share <= 100.0


def test_distinct_untouched_records_are_all_found(rng: np.random.Generator) -> None:
    X = rng.permuted(np.tile(np.arange(60), (4, 1)), axis=1).T
    result = match_probabilistically(X, X)
    assert result.share == 100.0
    assert result.converged
    assert (result.weights_agree > 0).all()
    assert (result.weights_differ < 0).all()
    numbers = rng.normal(size=(60, 6))
    assert match_probabilistically(numbers, numbers, kinds="numeric").share > 95.0


def test_numbers_agree_within_a_share_of_their_deviation() -> None:
    X = np.array([[0.0], [10.0], [20.0], [30.0]])
    reach = X.std() * 0.1
    near = match_probabilistically(X, X + 0.999 * reach, kinds="numeric")
    far = match_probabilistically(X, X + 1.001 * reach, kinds="numeric")
    assert near.share == 100.0
    assert far.share < 100.0


def test_more_than_twenty_attributes(rng: np.random.Generator) -> None:
    X = rng.integers(0, 3, size=(40, 25))
    Y = np.where(rng.random(X.shape) < 0.2, rng.integers(0, 3, size=X.shape), X)
    assert probabilistic_linkage(X, Y) > 95.0
    few = match_probabilistically(X[:, :6], Y[:, :6])
    m, u, _ = plain_em(pairs(X[:, :6], Y[:, :6]), 40, few.m, few.u)
    np.testing.assert_allclose(few.m, m, atol=1e-5)
    np.testing.assert_allclose(few.u, u, atol=1e-5)


def test_em_that_has_not_settled_says_so(rng: np.random.Generator) -> None:
    X = rng.integers(0, 4, size=(100, 3))
    Y = rng.integers(0, 4, size=(100, 3))
    assert not match_probabilistically(X, Y, max_iterations=2).converged
    with pytest.warns(ConvergenceWarning, match="not settled after 2 iterations"):
        probabilistic_linkage(X, Y, max_iterations=2)


def test_limits_are_refused_with_the_way_out(rng: np.random.Generator) -> None:
    X, Y = rng.normal(size=(30, 2)), rng.normal(size=(30, 2))
    with pytest.raises(SDCError, match=r"link a sample, or raise limit"):
        probabilistic_linkage(X, Y, kinds="numeric", limit=10)
    with pytest.raises(SDCError, match="at most 62"):
        probabilistic_linkage(np.zeros((3, 63)), np.zeros((3, 63)))


@pytest.mark.filterwarnings("ignore::sdc_problems.evaluators.linkage.ConvergenceWarning")
def test_equal_records_do_not_count_against_the_limit(rng: np.random.Generator) -> None:
    X = rng.integers(0, 3, size=(20000, 3))
    assert probabilistic_linkage(X, X, limit=100) == pytest.approx(100 * 27 / 20000)


def test_the_same_question_again_is_answered_without_linking(monkeypatch: pytest.MonkeyPatch) -> None:
    from sdc_problems.evaluators.linkage import probabilistic

    X, Y = np.arange(12.0).reshape(6, 2), np.arange(12.0).reshape(6, 2) // 2
    first = match_probabilistically(X, Y, kinds="numeric")
    kept = first.m.copy()
    first.m[:] = 0.0  # what a caller does to a result is nobody else's matter
    monkeypatch.setattr(probabilistic, "transport", None)
    again = match_probabilistically(X, Y, kinds="numeric")
    assert (again.share, again.m.tolist()) == (first.share, kept.tolist())
    with pytest.raises(TypeError):
        match_probabilistically(X, Y + 1.0, kinds="numeric")
