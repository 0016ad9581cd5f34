"""Every measure, against the contract of measures and against the inputs that break naive ones."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import sdc_problems.evaluators as package
from sdc_problems import SDCError, evaluators
from sdc_problems.evaluators import graph
from sdc_problems.evaluators.boxes import boxes, nondominated_boxes
from sdc_problems.evaluators.edits import Edit, find_edits
from sdc_problems.evaluators.indicators import stored_negated
from sdc_problems.evaluators.information_loss.categorical import chi2_statistic
from sdc_problems.evaluators.information_loss.numeric import location_and_scale, sst
from sdc_problems.testing import MeasureContract

Make = Callable[[np.random.Generator, int], tuple[np.ndarray, ...]]


class Case(NamedTuple):
    measure: Callable[..., Any]
    make: Make  # valid positional arguments for n records
    options: dict[str, Any] = {}  # noqa: RUF012
    same_rows: bool = True  # the arguments must have one length
    by_record: bool = False  # it tells of each record, so that their order matters


def tables(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    X = rng.normal(size=(n, 3))
    return X, X + 0.3 * rng.normal(size=X.shape)


def codes(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    X = rng.integers(0, 4, size=(n, 3))
    return X, np.where(rng.random(X.shape) < 0.3, rng.integers(0, 4, size=X.shape), X)


MIXED_KINDS = ("numeric", "ordinal", "numeric", "nominal")


def mixed_tables(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    (X, Y), (codes_x, codes_y) = tables(rng, n), codes(rng, n)
    return tuple(np.column_stack([a[:, 0], b[:, 0], a[:, 1], b[:, 1]]) for a, b in ((X, codes_x), (Y, codes_y)))


def table_and_labels(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    return rng.normal(size=(n, 3)), rng.integers(0, 5, size=n)


def two_labels(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    return rng.integers(0, 5, size=n), rng.integers(0, 4, size=n)


def labels_and_weights(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    return rng.integers(0, 5, size=n), rng.uniform(1, 20, size=n)


def risks_and_labels(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    return rng.uniform(0, 1, size=n), rng.integers(0, 5, size=n)


def three_labels(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    return (*two_labels(rng, n), rng.integers(0, 3, size=n))


def one_label(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    return (rng.integers(0, 5, size=n),)


def one_table(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    return (rng.normal(size=(n, 3)),)


def one_code_table(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    return (rng.integers(0, 4, size=(n, 3)),)


def starred_codes(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    return rng.integers(0, 3, size=(n, 3)), rng.random((n, 3)) < 0.3


def two_vectors(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    return rng.integers(1, 9, size=n), rng.integers(1, 9, size=n)


def leaves(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    return rng.integers(1, 4, size=(n, 2)), np.array([5, 3])


def transitions(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    P = rng.random((n, n)) + 0.01
    return P / P.sum(axis=1, keepdims=True), rng.integers(1, 50, size=n)


def fronts(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    return rng.random((n, 2)), rng.random((n, 2)) / 2


def coded_graph(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    if n == 1:
        return (*codes(rng, 2), np.array([[0, 1]]))  # a link needs two
    return (*codes(rng, n), np.stack([np.arange(n - 1), np.arange(1, n)], axis=1))


def clustered_graph(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    return coded_graph(rng, n)[0][:, 0], coded_graph(rng, n)[2]


def linked_codes(rng: np.random.Generator, n: int) -> tuple[np.ndarray, ...]:
    return coded_graph(rng, n)[1:]


def suppressed_mask(classes: Any) -> Any:
    return evaluators.suppress_small_classes(classes, limit=0).mask


def numbers_of(measure: Callable[..., Any]) -> Callable[..., Any]:
    """The first numbers of a result that is a record of several."""

    def flat(*args: Any, **options: Any) -> Any:
        return np.asarray(list(measure(*args, **options)[:3]), dtype=float)

    flat.__wrapped__ = measure  # type: ignore[attr-defined]
    return flat


def special_scores(quasi_identifiers: object) -> Any:
    return evaluators.special_uniques(quasi_identifiers).scores


CASES: dict[str, Case] = {
    "average_class_size": Case(evaluators.average_class_size, one_label),
    "bivariate_difference": Case(evaluators.bivariate_difference, three_labels),
    "candidate_counts": Case(lambda X, Y: evaluators.candidate_counts(X, Y, [None] * 3), codes, by_record=True),
    "category_distance": Case(
        evaluators.category_distance, two_labels, {"kind": "ordinal", "n_categories": 5}, by_record=True
    ),
    "chi2_difference": Case(evaluators.chi2_difference, three_labels),
    "class_closeness": Case(evaluators.class_closeness, two_labels, by_record=True),
    "class_sizes": Case(evaluators.class_sizes, one_label, by_record=True),
    "classical_score": Case(numbers_of(evaluators.classical_score), tables),
    "clustering_loss": Case(evaluators.clustering_loss, two_labels),
    "cm": Case(evaluators.cm, two_labels),
    "copies": Case(evaluators.copies, tables),
    "ctbil": Case(evaluators.ctbil, codes),
    "dbil": Case(evaluators.dbil, codes, {"kinds": "ordinal"}),
    "discernibility": Case(evaluators.discernibility, one_label),
    "distance_linkage": Case(evaluators.distance_linkage, tables),
    "distinct_l": Case(evaluators.distinct_l, two_labels),
    "dr_categorical": Case(evaluators.dr_categorical, codes),
    "broken_edits": Case(lambda Y: evaluators.broken_edits(Y, [Edit(0, (1, 2), (1, 1))]), one_table),
    "dr_guarded": Case(evaluators.dr_guarded, codes),
    "dr_numeric": Case(evaluators.dr_numeric, tables),
    "dr_mixed": Case(evaluators.dr_mixed, mixed_tables, {"kinds": MIXED_KINDS}),
    "dr_linkage": Case(evaluators.dr_linkage, tables),
    "ebil": Case(evaluators.ebil, codes),
    "entropy_l": Case(evaluators.entropy_l, two_labels),
    "entropy_loss": Case(evaluators.entropy_loss, codes),
    "entropy_loss_percent": Case(evaluators.entropy_loss_percent, codes),
    "equivalence_classes": Case(evaluators.equivalence_classes, one_code_table, by_record=True),
    "expectation_ratio": Case(evaluators.expectation_ratio, transitions),
    "mean_interval_disclosure": Case(evaluators.mean_interval_disclosure, tables),
    "mean_expectation_ratio": Case(evaluators.mean_expectation_ratio, transitions),
    "guess": Case(evaluators.guess, codes),
    "glm": Case(evaluators.glm, leaves, same_rows=False),
    "glm_percent": Case(evaluators.glm_percent, leaves, same_rows=False),
    "il_statistics": Case(evaluators.il_statistics, tables),
    "il_categorical": Case(evaluators.il_categorical, codes),
    "il_mixed": Case(evaluators.il_mixed, mixed_tables, {"kinds": MIXED_KINDS}),
    "il_components": Case(numbers_of(evaluators.il_components), tables),
    "il_sse": Case(evaluators.il_sse, table_and_labels),
    "interval_disclosure_rank": Case(evaluators.interval_disclosure_rank, tables),
    "interval_disclosure_value": Case(evaluators.interval_disclosure_value, tables),
    "jaccard_index": Case(evaluators.jaccard_index, two_labels),
    "k_anonymity": Case(evaluators.k_anonymity, one_label),
    "k_wildcard": Case(evaluators.k_wildcard, starred_codes),
    "link_ties": Case(evaluators.link_ties, tables, by_record=True),
    "match_probabilistically": Case(lambda X, Y: evaluators.match_probabilistically(X, Y).share, codes),
    "pair_agreement": Case(evaluators.pair_agreement, two_labels),
    "pil": Case(evaluators.pil, tables),
    "pil_components": Case(numbers_of(evaluators.pil_components), tables),
    "probabilistic_linkage": Case(evaluators.probabilistic_linkage, codes),
    "rand_index": Case(evaluators.rand_index, two_labels),
    "recursive_c": Case(evaluators.recursive_c, two_labels, {"l": 2}),
    "recursive_l": Case(evaluators.recursive_l, two_labels, {"c": 2.0}),
    "sensitive_counts": Case(evaluators.sensitive_counts, two_labels, by_record=True),
    "record_change": Case(evaluators.record_change, tables),
    "regression_change": Case(evaluators.regression_change, tables),
    "rsrl": Case(evaluators.rsrl, tables, {"percent": 10}),
    "spread_index": Case(evaluators.spread_index, two_vectors),
    "spread_k": Case(evaluators.spread_k, one_label),
    "spread_l": Case(evaluators.spread_l, two_labels),
    "sse": Case(evaluators.sse, table_and_labels),
    "suppress_small_classes": Case(suppressed_mask, one_label, by_record=True),
    "t_closeness": Case(evaluators.t_closeness, two_labels, {"distance": "ordered"}),
    "wallace_index": Case(evaluators.wallace_index, two_labels),
    "wildcard_class_sizes": Case(evaluators.wildcard_class_sizes, starred_codes, by_record=True),
    "z_scores": Case(evaluators.z_scores, one_table, by_record=True),
    "alpha": Case(evaluators.alpha, two_labels),
    "beta_likeness": Case(evaluators.beta_likeness, two_labels),
    "delta_disclosure": Case(evaluators.delta_disclosure, two_labels),
    "household_risk": Case(evaluators.household_risk, risks_and_labels, by_record=True),
    "individual_risk": Case(evaluators.individual_risk, labels_and_weights, by_record=True),
    "population_counts": Case(evaluators.population_counts, labels_and_weights, by_record=True),
    "special_uniques": Case(
        lambda quasi_identifiers: evaluators.special_uniques(quasi_identifiers).scores, one_code_table, by_record=True
    ),
    "additive_epsilon": Case(evaluators.additive_epsilon, fronts, same_rows=False),
    "convergence_error": Case(evaluators.convergence_error, fronts, same_rows=False),
    "hypervolume": Case(
        evaluators.hypervolume, lambda rng, n: (rng.random((n, 2)), np.array([2.0, 2.0])), same_rows=False
    ),
    "igd_plus": Case(evaluators.igd_plus, fronts, same_rows=False),
    "representation_ratio": Case(
        lambda F, front: evaluators.representation_ratio(F, front, 0.1), fronts, same_rows=False
    ),
}

BESIDE: dict[str, Case] = {
    "aamil": Case(graph.aamil, coded_graph, same_rows=False),
    "aamil_by_attribute": Case(graph.aamil_by_attribute, coded_graph, same_rows=False),
    "assortativity": Case(graph.assortativity, linked_codes, same_rows=False),
    "cdil": Case(graph.cdil, codes),
    "dbil_graph": Case(graph.dbil_graph, codes),
    "degree_risk": Case(graph.degree_risk, linked_codes, same_rows=False),
    "ego_risk": Case(graph.ego_risk, coded_graph, same_rows=False),
    "homophily": Case(graph.homophily, coded_graph, same_rows=False),
    "il_graph": Case(graph.il_graph, coded_graph, same_rows=False),
    "mixing": Case(graph.mixing, coded_graph, same_rows=False),
    "ngil": Case(graph.ngil, lambda rng, n: (codes(rng, n)[0], one_label(rng, n)[0])),
    "nsil": Case(graph.nsil, clustered_graph, same_rows=False),
    "boxes": Case(
        lambda F, epsilon: boxes(F, epsilon, maximized=False),
        lambda rng, n: (rng.random((n, 2)), np.ones(2)),
        same_rows=False,
    ),
    "find_edits": Case(lambda X: len(find_edits(X)), one_table),
    "chi2_statistic": Case(chi2_statistic, two_labels),
    "location_and_scale": Case(numbers_of(location_and_scale), one_table),
    "nondominated_boxes": Case(nondominated_boxes, one_code_table),
    "sst": Case(sst, one_table),
    "stored_negated": Case(stored_negated, one_table),
}


def test_every_measure_of_the_package_is_here() -> None:
    of_two_numbers = {"score_mean", "score_max"}
    no_measures = {name for name in package.__all__ if name[0].isupper()}
    assert (set(CASES) - set(BESIDE)) | of_two_numbers | no_measures == set(package.__all__)


@pytest.mark.parametrize("folder", ["information_loss", "linkage"])
def test_a_folder_exports_what_the_package_exports_of_it(folder: str) -> None:
    inner = importlib.import_module(f"sdc_problems.evaluators.{folder}")
    assert len(inner.__all__) > 5
    assert dir(inner) == sorted(inner.__all__)
    assert all(getattr(inner, name) is getattr(package, name) for name in inner.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'sst'"):
        inner.sst


CASES |= BESIDE


def suite(name: str) -> type:
    case = CASES[name]

    def measure(self: Any, *args: Any) -> Any:
        return case.measure(*args, **case.options)

    def arguments(self: Any, rng: np.random.Generator) -> tuple[Any, ...]:
        return case.make(rng, 12)

    members: dict[str, Any] = {"measure": measure, "arguments": arguments}
    if not case.same_rows:
        members["test_refuses_tables_of_different_lengths"] = None
    return type(f"Test_{name}", (MeasureContract,), members)


for _name in CASES:
    globals()[f"Test_{_name}"] = suite(_name)


@pytest.mark.parametrize("name", CASES)
def test_an_error_names_the_argument(name: str, rng: np.random.Generator) -> None:
    case = CASES[name]
    args = case.make(rng, 8)
    names = list(inspect.signature(case.measure).parameters)
    for position, argument in enumerate(args):
        for spoiled in (np.full(argument.shape, np.nan), np.full(argument.shape, np.inf), argument[:0]):
            given = [spoiled if e == position else a for e, a in enumerate(args)]
            with pytest.raises(SDCError, match=rf"\b{names[position]}\b"):
                case.measure(*given, **case.options)


@pytest.mark.parametrize(
    "name", [n for n, c in CASES.items() if c.same_rows and len(c.make(np.random.default_rng(0), 4)) > 1]
)
def test_an_error_of_different_shapes_names_both_or_the_odd_one(name: str, rng: np.random.Generator) -> None:
    case = CASES[name]
    args = list(case.make(rng, 8))
    args[-1] = args[-1][:-1]
    with pytest.raises(SDCError, match=r"shape|entries"):
        case.measure(*args, **case.options)


@pytest.mark.parametrize("name", [n for n in CASES if n not in ("suppress_small_classes",)])
def test_one_record_is_measured(name: str, rng: np.random.Generator) -> None:
    case = CASES[name]
    args = case.make(rng, 1)
    result = np.asarray(case.measure(*args, **case.options), dtype=float)
    assert not np.isnan(result).any()


@pytest.mark.parametrize("name", CASES)
def test_equal_records_are_measured(name: str, rng: np.random.Generator) -> None:
    case = CASES[name]
    args = [np.broadcast_to(a[:1], a.shape).copy() if case.same_rows else a for a in case.make(rng, 9)]
    if case.make is transitions:
        args = list(case.make(rng, 9))
    result = np.asarray(case.measure(*args, **case.options), dtype=float)
    assert not np.isnan(result).any()


LABELLED = [n for n, c in CASES.items() if c.make in (codes, two_labels, three_labels, one_label, one_code_table)]


@pytest.mark.parametrize("name", LABELLED)
def test_one_category_is_measured(name: str) -> None:
    case = CASES[name]
    args = [np.zeros_like(a) for a in case.make(np.random.default_rng(3), 9)]
    result = np.asarray(case.measure(*args, **case.options), dtype=float)
    assert not np.isnan(result).any()


@pytest.mark.parametrize("name", [n for n in LABELLED if n != "category_distance"])
def test_a_million_categories_are_measured(name: str, rng: np.random.Generator) -> None:
    """Domains of 10^6 categories: no table as large as the domain, no overflow of the combined key."""
    case = CASES[name]
    args = [rng.integers(0, 10**6, size=a.shape) for a in case.make(rng, 300)]
    result = np.asarray(case.measure(*args, **case.options), dtype=float)
    assert not np.isnan(result).any()


@pytest.mark.parametrize("name", CASES)
def test_the_arguments_stay_as_they_are(name: str, rng: np.random.Generator, unchanged: Callable[..., None]) -> None:
    case = CASES[name]
    unchanged(case.measure, *case.make(rng, 10), **case.options)


@pytest.mark.parametrize("name", CASES)
def test_text_is_refused(name: str, rng: np.random.Generator) -> None:
    case = CASES[name]
    args = list(case.make(rng, 6))
    args[0] = args[0].astype(str)
    with pytest.raises(SDCError, match="must hold numbers"):
        case.measure(*args, **case.options)


# Measures of records, not of places: shuffling the records of all arguments together changes nothing.
ROW_FREE = [n for n, c in CASES.items() if c.same_rows and c.make is not transitions and not c.by_record]


@pytest.mark.parametrize("name", ROW_FREE)
def test_the_order_of_the_records_does_not_matter(name: str, rng: np.random.Generator) -> None:
    case = CASES[name]
    args = case.make(rng, 60)
    order = rng.permutation(60)
    first = np.asarray(case.measure(*args, **case.options), dtype=float)
    second = np.asarray(case.measure(*(a[order] for a in args), **case.options), dtype=float)
    np.testing.assert_allclose(second, first, rtol=1e-9, atol=1e-9)
